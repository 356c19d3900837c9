/* cmd_watch.c - cocabo watch: a study in the terminal, drawn again as it goes on. */
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli.h"
#include "common/base.h"
#include "common/clock.h"
#include "common/show.h"
#include "io/best.h"
#include "io/output.h"
#include "plot/textplot.h"
#include "run/bar.h"
#include "run/signals.h"

enum { LAST = 6, BAR = 24, LINE = 400 };
enum {
  AROUND = 8,
  LEAST = 4,
  MOST = 16
}; /* rows around the history's area, and in it */

typedef struct watch_args {
  const char *every;
  cli_common common;
} watch_args;

static const front_option options[] = {
    {"--every", "TIME", "look so often (1s)", FRONT_TEXT, offsetof(watch_args, every)},
    CLI_FILE_OPTION(watch_args),
    CLI_COMMON_OPTIONS(watch_args),
    {0}};

typedef struct watcher {
  cocabo_study *study;
  cli_bar bar; /* for its words only */
  cli_state state;
  double every;
  bool terminal, json;
  int64_t seq; /* of what is shown; 0: nothing is */
  int rows;    /* that the frame on the screen takes */
} watcher;

/* ---- what there is to see -------------------------------------------------------- */

/* The best may take a model to say: it is looked for when there are new results. */
static void look(watcher *w) {
  const char *trials = cocabo_study_option(w->study, "trials");
  const int64_t complete = cocabo_study_count_state(w->study, COCABO_COMPLETE);
  cli_best best;
  if (complete != w->state.complete &&
      cli_best_find(&best, w->study, NULL) == COCABO_OK) {
    w->state = (cli_state){.has_best = best.feasible,
                           .best_number = cocabo_trial_number(best.trial),
                           .best = cocabo_trial_value(best.trial),
                           .noisy = best.noisy,
                           .expected = best.expected,
                           .best_se = best.se};
    cli_best_free(&best);
  }
  w->state.total = trials ? strtoll(trials, NULL, 10) : 0;
  w->state.complete = complete;
  w->state.failed = cocabo_study_count_state(w->study, COCABO_FAILED);
  w->state.running = cocabo_study_count_state(w->study, COCABO_RUNNING);
}

static bool is_over(const cli_state *s) {
  return s->total > 0 && s->complete + s->failed >= s->total && s->running == 0;
}

/* ---- a frame --------------------------------------------------------------------- */

static cocabo_status put_bar(const watcher *w, int columns, front_buffer *out,
                             cocabo_error *err) {
  char text[LINE];
  const cli_state *s = &w->state;
  const int64_t done = s->complete + s->failed;
  int room = columns;
  if (s->total > 0 && columns > BAR + 40) {
    const int64_t full = BAR * (done < s->total ? done : s->total) / s->total;
    CB_TRY(front_buffer_puts(out, "[", err));
    for (int i = 0; i < BAR; i++)
      CB_TRY(front_buffer_puts(out, i < full ? "#" : ".", err));
    CB_TRY(front_buffer_puts(out, "] ", err));
    room -= BAR + 3;
  }
  cli_bar_text(&w->bar, s, front_now(), text, room < LINE - 1 ? room : LINE - 1);
  return front_buffer_printf(out, err, "%s\n", text);
}

static cocabo_status put_history(const watcher *w, textplot_page page,
                                 front_buffer *out, cocabo_error *err) {
  plot_data data;
  CB_TRY(plot_data_read(&data, w->study, err));
  cocabo_status status = COCABO_OK;
  if (plot_has_any(PLOT_HISTORY, &data))
    status = textplot_draw(PLOT_HISTORY, &data, page, out, err);
  plot_data_free(&data);
  return status;
}

static cocabo_status put_trial(const cocabo_trial *trial, front_buffer *out,
                               cocabo_error *err) {
  const cocabo_trial_state state = cocabo_trial_get_state(trial);
  CB_TRY(front_buffer_printf(out, err, "%6" PRId64 "  %-11s ",
                             cocabo_trial_number(trial), cocabo_state_name(state)));
  char digits[CB_DIGITS] = "";
  if (state == COCABO_COMPLETE)
    show_number(digits, cocabo_trial_value(trial));
  CB_TRY(front_buffer_printf(out, err, "%10s  ", digits));
  CB_TRY(cli_put_shown_params(out, trial, err));
  if (state == COCABO_FAILED) {
    const char *reason = cocabo_trial_reason(trial);
    char *line = cb_strndup(reason, strcspn(reason, "\r\n"));
    if (!line)
      return cb_no_memory(err);
    cocabo_status status = front_buffer_puts(out, "  ", err);
    if (status == COCABO_OK)
      status = show_put(out, line, err);
    cb_free(line);
    CB_TRY(status);
  }
  return front_buffer_puts(out, "\n", err);
}

static cocabo_status put_last(const watcher *w, front_buffer *out, cocabo_error *err) {
  const int64_t n = cocabo_study_count(w->study), first = n > LAST ? n - LAST : 0;
  for (int64_t i = first; i < n; i++) {
    cocabo_trial *trial;
    CB_TRY(cocabo_study_trial(w->study, i, &trial, err));
    const cocabo_status status = put_trial(trial, out, err);
    cocabo_trial_free(trial);
    CB_TRY(status);
  }
  return COCABO_OK;
}

static int screen_rows(void) {
  struct winsize size;
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 4 ? size.ws_row
                                                                         : 1000;
}

/* What is left of the screen below these lines. */
static int rows_for_history(const front_buffer *above) {
  int rows = screen_rows() - 1 - AROUND;
  for (size_t i = 0; i < above->size; i++)
    rows -= above->data[i] == '\n';
  return rows < LEAST ? LEAST : rows > MOST ? MOST : rows;
}

static cocabo_status put_frame(const watcher *w, textplot_page page, front_buffer *out,
                               cocabo_error *err) {
  CB_TRY(put_bar(w, page.columns - 1, out, err));
  CB_TRY(put_last(w, out, err));
  if (w->state.complete > 0)
    CB_TRY(front_buffer_puts(out, "\n", err));
  page.rows = rows_for_history(out);
  return put_history(w, page, out, err);
}

/* ---- showing it ------------------------------------------------------------------ */

/* Of a line that is `columns` wide: a longer one would take two rows. */
static size_t cut_line(const char *line, size_t size, int columns) {
  size_t at = 0, step;
  for (int used = 0; at < size; at += step) {
    used += show_width(cb_text_decode(line + at, &step));
    if (used > columns || at + step > size)
      return at;
  }
  return at;
}

/* Over the frame before it, line by line, so that nothing flickers. What the screen has
 * no room for is left out at the end. */
static void draw(watcher *w, front_buffer *frame, int columns) {
  const char *at = frame->data, *end = at + frame->size;
  const int room = screen_rows() - 1;
  int rows = 0;
  if (w->rows > 0)
    printf("\033[%dA\r", w->rows);
  for (; at < end && rows < room; rows++) {
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    const size_t size = newline ? (size_t)(newline - at) : (size_t)(end - at);
    fwrite(at, 1, cut_line(at, size, columns - 1), stdout);
    fputs("\033[K\n", stdout);
    at += size + 1;
  }
  fputs("\033[J", stdout);
  fflush(stdout);
  w->rows = rows;
}

static cocabo_status put_json(const watcher *w, front_buffer *out, cocabo_error *err) {
  const cli_state *s = &w->state;
  CB_TRY(front_buffer_printf(out, err,
                             "{\"complete\":%" PRId64 ",\"failed\":%" PRId64
                             ",\"running\":%" PRId64 ",\"trials\":%" PRId64
                             ",\"best\":",
                             s->complete, s->failed, s->running, s->total));
  CB_TRY(front_put_json_real(out, s->has_best ? s->best : (double)NAN, err));
  return front_buffer_puts(out, "}\n", err);
}

static cocabo_status show(watcher *w, cocabo_error *err) {
  const textplot_page page = textplot_find_page();
  front_buffer out = {0};
  char text[LINE];
  cocabo_status status;
  if (w->json) {
    status = put_json(w, &out, err);
  } else if (w->terminal) {
    status = put_frame(w, page, &out, err);
  } else {
    cli_bar_text(&w->bar, &w->state, front_now(), text, LINE - 1);
    status = front_buffer_printf(&out, err, "%s\n", text);
  }
  if (status == COCABO_OK && w->terminal && !w->json) {
    draw(w, &out, page.columns);
  } else if (status == COCABO_OK) {
    cli_print(&out);
    fflush(stdout);
  }
  front_buffer_free(&out);
  return status;
}

/* On a terminal the pace is shown too, which changes by itself. */
static cocabo_status step(watcher *w, cocabo_error *err) {
  CB_TRY(cocabo_study_sync(w->study, err));
  const int64_t seq = cocabo_study_seq(w->study);
  if (seq == w->seq && (!w->terminal || w->json))
    return COCABO_OK;
  look(w);
  w->seq = seq;
  return show(w, err);
}

/* Ctrl-C is how one leaves, and no failure. */
static cocabo_status watch(watcher *w, cocabo_error *err) {
  struct pollfd signals = {cli_signals_file(), POLLIN, 0};
  for (;;) {
    CB_TRY(step(w, err));
    if (is_over(&w->state) || ferror(stdout))
      return COCABO_OK;
    (void)poll(&signals, 1, (int)(1000.0 * w->every));
    cli_signals_drain();
    if (cli_signals_stop())
      return COCABO_OK;
  }
}

static cocabo_status run(const watch_args *args, cocabo_study *study, double every,
                         cocabo_error *err) {
  watcher w = {.study = study,
               .every = every,
               .terminal = isatty(STDOUT_FILENO) == 1,
               .json = args->common.json};
  look(&w);
  w.bar = cli_bar_start(true, &w.state, front_now(), INFINITY);
  w.state.complete = 0; /* the best has still to be found */
  CB_TRY(cli_signals_catch(err));
  const cocabo_status status = watch(&w, err);
  cli_signals_release();
  return status;
}

static int watch_main(int argc, char **argv) {
  watch_args args = {0};
  cli_session session;
  cocabo_error err;
  double every = 1.0;
  if (front_args_parse(options, argc, argv, &args, NULL, &err) != COCABO_OK ||
      front_parse_duration("--every", args.every, 0.1, &every, &err) != COCABO_OK ||
      cli_open_study(&session, &args.common, COCABO_STORE_READ_ONLY, &err) != COCABO_OK)
    return cli_complain("watch", &err);
  const cocabo_status status = run(&args, session.study, fmin(every, 1e6), &err);
  cli_close(&session);
  return status == COCABO_OK ? front_finish_output("watch")
                             : cli_complain("watch", &err);
}

const cli_command cmd_watch = {
    .name = "watch",
    .summary = "Shows a study in the terminal while it runs.",
    .usage = "[--every TIME] [options]",
    .options = options,
    .details =
        "How far it is, its history, and the last trials, drawn again in place. It "
        "only\n"
        "reads, so that it can look at a study that runs anywhere. It ends with the\n"
        "study's number of trials, or with Ctrl-C; both are status 0.\n\n"
        "Where standard output is no terminal it is one line each time that something\n"
        "has happened.",
    .examples = "  cocabo watch\n"
                "  cocabo watch --study mnist --every 10s",
    .main = watch_main,
};
