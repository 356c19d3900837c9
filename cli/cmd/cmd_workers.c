/* cmd_workers.c - cocabo workers: who runs which trial, where, and since when. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli.h"
#include "common/base.h"
#include "io/metrics.h"
#include "io/output.h"
#include "io/table.h"

typedef struct workers_args {
  cli_common common;
} workers_args;

static const front_option options[] = {
    CLI_FILE_OPTION(workers_args), CLI_COMMON_OPTIONS(workers_args), {0}};

static const char *const titles[] = {"host", "process", "trial", "since", "lease"};
enum { N_TITLES = sizeof titles / sizeof titles[0] };

/* A lease of a running trial, or of one run of a trial. */
typedef struct worker {
  int64_t trial, attempt;
  int64_t run;        /* -1: the trial as a whole */
  char *owner;        /* owned */
  const char *host;   /* in owner; all of it where it is no process's name */
  int64_t process;    /* -1: not known */
  double since, left; /* seconds: since 1970, until the lease runs out */
  bool gone;
} worker;

typedef struct workers {
  worker *items; /* n */
  size_t n, capacity;
} workers;

/* ---- finding them ---------------------------------------------------------------- */

/* Host and process of "host:pid:...", which is cut; others stay whole. */
static void name_process(worker *w) {
  char *colon = strchr(w->owner, ':'), *end = NULL;
  w->host = w->owner;
  w->process = -1;
  if (!colon || colon == w->owner)
    return;
  const long long pid = strtoll(colon + 1, &end, 10);
  if (pid <= 0 || *end != ':')
    return;
  *colon = '\0';
  w->process = pid;
}

static cocabo_status note_lease(void *user, const cocabo_lease *lease,
                                cocabo_error *err) {
  workers *all = user;
  void *items = all->items;
  if (!cb_reserve(&items, &all->capacity, all->n + 1, sizeof *all->items))
    return cb_no_memory(err);
  all->items = items;
  char *owner = cb_strdup(lease->owner);
  if (!owner)
    return cb_no_memory(err);
  all->items[all->n++] = (worker){.trial = lease->trial,
                                  .run = lease->run,
                                  .owner = owner,
                                  .left = lease->left,
                                  .gone = lease->gone == 1};
  return COCABO_OK;
}

/* Is it the trial, or the run of it, that is held? */
static bool is_running(const cocabo_trial *trial, int64_t run) {
  size_t n = 0;
  const cocabo_run *runs = cocabo_trial_runs(trial, &n);
  if (run < 0)
    return cocabo_trial_get_state(trial) == COCABO_RUNNING;
  return run < (int64_t)n && runs[run].state == COCABO_RUN_RUNNING;
}

/* Does it hold something that is running? */
static cocabo_status look_up(const cocabo_study *study, worker *w, bool *running,
                             cocabo_error *err) {
  cocabo_trial *trial;
  *running = w->trial < cocabo_study_count(study);
  if (!*running)
    return COCABO_OK;
  CB_TRY(cocabo_study_trial(study, w->trial, &trial, err));
  *running = is_running(trial, w->run);
  w->since = cocabo_trial_started(trial);
  w->attempt = cocabo_trial_attempt(trial);
  cocabo_trial_free(trial);
  return COCABO_OK;
}

/* The leases first: what is told in the meantime is then known to be. */
static cocabo_status find_workers(const cli_session *session, workers *all,
                                  cocabo_error *err) {
  CB_TRY(cocabo_store_leases(session->store, cocabo_study_name(session->study),
                             note_lease, all, err));
  CB_TRY(cocabo_study_sync(session->study, err));
  size_t n = 0;
  for (size_t i = 0; i < all->n; i++) {
    bool running = false;
    CB_TRY(look_up(session->study, &all->items[i], &running, err));
    const worker seen = all->items[i];
    all->items[i] = all->items[n]; /* so that each is released once */
    all->items[n] = seen;
    n += running;
  }
  while (all->n > n)
    cb_free(all->items[--all->n].owner);
  return COCABO_OK;
}

static void free_workers(workers *all) {
  for (size_t i = 0; i < all->n; i++)
    cb_free(all->items[i].owner);
  cb_free(all->items);
}

/* ---- showing them ---------------------------------------------------------------- */

static const char *lease_state(const worker *w) {
  return w->gone ? "gone" : w->left <= 0.0 ? "run out" : "held";
}

static cocabo_status put_json(front_buffer *out, worker *w, cocabo_error *err) {
  CB_TRY(front_buffer_puts(out, "{\"owner\":", err));
  CB_TRY(front_put_json_text(out, w->owner, err));
  name_process(w);
  CB_TRY(front_buffer_puts(out, ",\"host\":", err));
  CB_TRY(w->process < 0 ? front_buffer_puts(out, "null,\"process\":null", err)
                        : front_put_json_text(out, w->host, err));
  if (w->process >= 0)
    CB_TRY(front_buffer_printf(out, err, ",\"process\":%" PRId64, w->process));
  CB_TRY(front_buffer_printf(out, err, ",\"trial\":%" PRId64, w->trial));
  if (w->run >= 0)
    CB_TRY(front_buffer_printf(out, err, ",\"run\":%" PRId64, w->run));
  return front_buffer_printf(out, err,
                             ",\"attempt\":%" PRId64
                             ",\"started\":%.6f,\"lease\":\"%s\",\"left\":%.3f}\n",
                             w->attempt, w->since, lease_state(w), w->left);
}

static const char *show_time(char out[static 32], double seconds) {
  const time_t when = (time_t)seconds;
  struct tm local;
  if (!isfinite(seconds) || !localtime_r(&when, &local) ||
      strftime(out, 32, "%Y-%m-%d %H:%M:%S", &local) == 0)
    return "-";
  return out;
}

static cocabo_status add_row(cli_table *table, worker *w, cocabo_error *err) {
  char process[24] = "-", trial[64], since[32], left[40];
  name_process(w);
  if (w->process >= 0)
    snprintf(process, sizeof process, "%" PRId64, w->process);
  snprintf(trial, sizeof trial, "%" PRId64, w->trial);
  if (w->run >= 0)
    snprintf(trial, sizeof trial, "%" PRId64 ", run %" PRId64, w->trial, w->run);
  snprintf(left, sizeof left, "%.0f s", ceil(w->left));
  CB_TRY(cli_table_text(table, w->host, err));
  CB_TRY(cli_table_text(table, process, err));
  CB_TRY(cli_table_text(table, trial, err));
  CB_TRY(cli_table_text(table, show_time(since, w->since), err));
  const bool held = !w->gone && w->left > 0.0;
  return cli_table_text(table, held ? left : lease_state(w), err);
}

static cocabo_status print_table(workers *all, cocabo_error *err) {
  cli_table table;
  CB_TRY(cli_table_begin(&table, N_TITLES, err));
  cocabo_status status = COCABO_OK;
  for (size_t i = 0; i < N_TITLES && status == COCABO_OK; i++)
    status = cli_table_text(&table, titles[i], err);
  cli_table_align_right(&table, 1);
  cli_table_align_right(&table, 2);
  cli_table_align_right(&table, 4);
  for (size_t i = 0; i < all->n && status == COCABO_OK; i++)
    status = add_row(&table, &all->items[i], err);
  if (status == COCABO_OK)
    status = cli_table_print(&table, err);
  cli_table_free(&table);
  return status;
}

/* What was asked for by hand is somebody's, but nobody knows whose. */
static void note_others(const cli_common *common, const cocabo_study *study, size_t n) {
  const bool by_runs = cli_has_runs(study);
  int64_t running = cocabo_study_count_state(study, COCABO_RUNNING);
  if (by_runs)
    (void)cocabo_study_runs(study, &running);
  const int64_t others = running - (int64_t)n;
  if (running == 0)
    cli_note(common, "no trial is running");
  else if (others > 0)
    cli_note(common, "%" PRId64 " running %s%s no lease", others,
             by_runs ? "run" : "trial", others == 1 ? " has" : "s have");
}

static cocabo_status show(const cli_session *session, const cli_common *common,
                          workers *all, front_buffer *out, cocabo_error *err) {
  CB_TRY(find_workers(session, all, err));
  for (size_t i = 0; i < all->n && common->json; i++)
    CB_TRY(put_json(out, &all->items[i], err));
  if (common->json)
    return COCABO_OK;
  if (all->n > 0)
    CB_TRY(print_table(all, err));
  note_others(common, session->study, all->n);
  return COCABO_OK;
}

static cocabo_status list_workers(int argc, char **argv, front_buffer *out,
                                  cocabo_error *err) {
  workers_args args = {0};
  cli_session session;
  workers all = {0};
  CB_TRY(front_args_parse(options, argc, argv, &args, NULL, err));
  CB_TRY(cli_open_study(&session, &args.common, COCABO_STORE_READ_ONLY, err));
  const cocabo_status status = show(&session, &args.common, &all, out, err);
  free_workers(&all);
  cli_close(&session);
  return status;
}

static int workers_main(int argc, char **argv) {
  cocabo_error err;
  front_buffer out = {0};
  const cocabo_status status = list_workers(argc, argv, &out, &err);
  return cli_answer("workers", status, &out, &err);
}

const cli_command cmd_workers = {
    .name = "workers",
    .summary = "Shows who runs which trial of a study, where, and since when.",
    .usage = "[--study NAME] [options]",
    .options = options,
    .details =
        "One line a running trial, or run of one, that somebody holds: the host and "
        "the\n"
        "process, the trial, when it was handed out, and for how long its lease still "
        "lasts. "
        "\"gone\""
        "\n"
        "is a process of this machine that is no more, \"run out\" one that was not "
        "heard\n"
        "of in time; whoever asks next gets their trials.\n"
        "\n"
        "JSON has the lease as held, gone or run out, the seconds that are left, and\n"
        "times in seconds since 1970.",
    .examples = "  cocabo workers --study mnist\n"
                "  cocabo workers --json | jq -r 'select(.lease == \"gone\").trial'",
    .main = workers_main,
};
