/* cmd_copy.c - cocabo copy: studies from one store to another, event by event. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "common/base.h"
#include "common/clock.h"
#include "common/show.h"
#include "io/output.h"
#include "run/signals.h"

typedef struct copy_args {
  front_texts studies;
  cli_common common;
} copy_args;

static const front_option options[] = {
    {"--study", "NAME", "a study to copy (all); may be repeated", FRONT_TEXTS,
     offsetof(copy_args, studies)},
    {"--storage", "URL", "FROM where it is left out ($COCABO_STORAGE)", FRONT_TEXT,
     offsetof(copy_args, common.storage)},
    {"--json", NULL, "JSON for programs, one object a line", FRONT_FLAG,
     offsetof(copy_args, common.json)},
    {"-q, --quiet", NULL, "only errors", FRONT_FLAG, offsetof(copy_args, common.quiet)},
    {"-v, --verbose", NULL, "say more", FRONT_FLAG,
     offsetof(copy_args, common.verbose)},
    {0}};

/* ---- the bar --------------------------------------------------------------------- */

/* A copy that takes longer than `patience` shows how far it is. */
static const double patience = 2.0, pause_between = 0.1;

typedef struct bar {
  const char *study;
  bool wanted, shown;
  double since, next;
} bar;

static void draw(bar *b, int64_t done, int64_t all) {
  enum { WIDTH = 20 };
  char shown[CB_SHOWN], blocks[WIDTH + 1];
  const double share = all > 0 ? (double)done / (double)all : 0.0;
  for (int i = 0; i < WIDTH; i++)
    blocks[i] = (char)(i < (int)(WIDTH * share) ? '#' : '.');
  blocks[WIDTH] = '\0';
  fprintf(stderr, "\r[%s] %3.0f %%  copying %s\033[K", blocks, 100.0 * share,
          cb_text_show_within(shown, b->study, 40));
  fflush(stderr);
  b->shown = true;
}

static void clear_bar(void *user) {
  bar *b = user;
  if (b->shown)
    fputs("\r\033[K", stderr);
  b->shown = false;
}

static int on_progress(void *user, int64_t done, int64_t all) {
  bar *b = user;
  const double now = front_now();
  if (b->wanted && now - b->since >= patience && now >= b->next) {
    draw(b, done, all);
    b->next = now + pause_between;
  }
  return cli_signals_stop() != 0;
}

/* ---- copying --------------------------------------------------------------------- */

typedef struct copy {
  cocabo_store *from, *to;
  const cli_common *common;
  front_buffer *out;
  bar bar;
  int refused; /* studies */
} copy;

static cocabo_status put_result(const copy *c, const char *name, int64_t copied,
                                cocabo_error *err) {
  if (c->common->json) {
    CB_TRY(front_buffer_puts(c->out, "{\"name\":", err));
    CB_TRY(front_put_json_text(c->out, name, err));
    return front_buffer_printf(c->out, err, ",\"copied\":%" PRId64 "}\n", copied);
  }
  if (c->common->quiet)
    return COCABO_OK;
  CB_TRY(show_put(c->out, name, err));
  return copied > 0 ? front_buffer_printf(c->out, err, ": %" PRId64 " event%s copied\n",
                                          copied, copied == 1 ? "" : "s")
                    : front_buffer_puts(c->out, ": already there\n", err);
}

/* One that is there with another log, or that cannot be read, is named and keeps no
 * other from being copied. */
static cocabo_status copy_study(copy *c, const char *name, cocabo_error *err) {
  char shown[CB_SHOWN];
  int64_t copied = 0;
  c->bar.study = name;
  const cocabo_status status =
      cocabo_store_copy(c->from, name, c->to, on_progress, &c->bar, &copied, err);
  clear_bar(&c->bar);
  if (status == COCABO_OK)
    return put_result(c, name, copied, err);
  if (status != COCABO_E_EXISTS && !cli_is_damage(status))
    return status;
  c->refused++;
  cb_text_show(shown, name);
  if (strstr(err->message, shown))
    fprintf(stderr, "cocabo copy: %s\n", err->message);
  else
    fprintf(stderr, "cocabo copy: study \"%s\": %s\n", shown, err->message);
  return COCABO_OK;
}

static cocabo_status copy_all(copy *c, cocabo_error *err) {
  cocabo_names *names;
  char url[CB_SHOWN];
  CB_TRY(cocabo_store_studies(c->from, &names, err));
  const size_t n = cocabo_names_count(names);
  cocabo_status status = COCABO_OK;
  for (size_t i = 0; i < n && status == COCABO_OK; i++) {
    status = copy_study(c, cocabo_names_at(names, i), err);
    if (status == COCABO_E_NOT_FOUND)
      status = COCABO_OK; /* deleted while we look */
  }
  cocabo_names_free(names);
  if (n == 0)
    cli_note(c->common, "no studies in %s", show_url(url, cli_storage(c->common)));
  return status;
}

static cocabo_status copy_chosen(copy *c, const front_texts *studies,
                                 cocabo_error *err) {
  CB_TRY(cli_signals_catch(err));
  cocabo_status status = COCABO_OK;
  c->bar.since = front_now();
  if (studies->n == 0)
    status = copy_all(c, err);
  for (int i = 0; i < studies->n && status == COCABO_OK; i++)
    status = copy_study(c, studies->items[i], err);
  cli_signals_release();
  return status;
}

static cocabo_status open_and_copy(const copy_args *args, const front_texts *names,
                                   front_buffer *out, int *refused, cocabo_error *err) {
  cli_common from = args->common, to = args->common;
  cli_session source, target;
  if (names->n == 2)
    from.storage = names->items[0];
  to.storage = names->items[names->n - 1];
  CB_TRY(cli_open_store(&source, &from, COCABO_STORE_READ_ONLY, err));
  cocabo_status status = cli_open_store(&target, &to, COCABO_STORE_CREATE, err);
  if (status == COCABO_OK) {
    copy c = {.from = source.store, .to = target.store, .common = &from, .out = out};
    c.bar.wanted = !from.quiet && isatty(STDERR_FILENO) == 1;
    cli_wait_for(0.0, clear_bar, &c.bar);
    status = copy_chosen(&c, &args->studies, err);
    cli_wait_for(0.0, NULL, NULL);
    *refused = c.refused;
    cli_close(&target);
  }
  cli_close(&source);
  return status;
}

static cocabo_status parse_and_copy(int argc, char **argv, front_buffer *out,
                                    int *refused, cocabo_error *err) {
  copy_args args = {0};
  front_texts names = {0};
  CB_TRY(front_args_parse(options, argc, argv, &args, &names, err));
  if (names.n < 1 || names.n > 2)
    return cb_fail(err, COCABO_E_INVALID,
                   "want two storages, FROM and TO, or TO alone, not %d", names.n);
  if (names.n == 2 && args.common.storage)
    return cb_fail(err, COCABO_E_INVALID,
                   "--storage is FROM, which is given too: want one of them");
  return open_and_copy(&args, &names, out, refused, err);
}

/* What was copied is said also where the rest could not be. */
static int copy_main(int argc, char **argv) {
  cocabo_error err;
  front_buffer out = {0};
  int refused = 0;
  const cocabo_status status = parse_and_copy(argc, argv, &out, &refused, &err);
  if (status != COCABO_OK)
    cli_print(&out);
  const int answer = cli_answer("copy", status, &out, &err);
  return answer == FRONT_DONE && refused > 0 ? FRONT_FAILURE : answer;
}

const cli_command cmd_copy = {
    .name = "copy",
    .summary = "Copies studies from one storage to another, with all that happened.",
    .usage = "[FROM] TO [--study NAME ...] [options]",
    .options = options,
    .details =
        "FROM and TO are storage URLs, or files. Every event of a study is copied as "
        "it\n"
        "is, with its time, and in the end both are compared; leases are not copied. "
        "A\n"
        "study that TO has already is continued if it is a part of the same, so that "
        "a\n"
        "copy that was interrupted goes on and one that is old is brought up to date. "
        "One\n"
        "with the same name and another log is refused and left as it is.\n"
        "\n"
        "Exit status: 0 all is copied, 1 a study was refused or run-time failure, 2 "
        "bad\n"
        "usage or input, 130 interrupted.",
    .examples = "  cocabo copy cocabo.db backup.db\n"
                "  cocabo copy sqlite:///cocabo.db postgresql://host/db --study mnist",
    .main = copy_main,
};
