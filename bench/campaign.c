/* campaign.c - runs what is missing in a results file: lists the runs that were asked
 * for, drops those that the file has complete, hands the others to the worker
 * processes of pool.h and appends each as it comes in, so that the file can be resumed
 * after any interruption. */
#include "campaign.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "common/args.h"
#include "common/clock.h"
#include "csv.h"
#include "pool.h"
#include "progress.h"

/* A finished run's rows: borrowed from the file's old text, or owned. */
typedef struct finished {
  const char *text; /* NULL: not finished */
  size_t size;
  char *owned;
} finished;

struct bench_campaign {
  const char *path; /* as the user wrote it; borrowed */
  const bench_experiment *experiments;
  size_t n;
  front_outfile file;
  front_buffer text;   /* the file as it was found */
  bench_results found; /* in it */
  bool *ours;          /* found.n: the series is one of the experiments */
  finished *runs;      /* n */
  size_t *todo;        /* experiments to do */
  size_t n_todo;
  bench_progress progress;
};

/* ---- what is there -------------------------------------------------------------- */

/* "--async 4", or that there is none. */
static const char *describe_workers(int64_t workers, char *out, size_t size) {
  if (workers == 0)
    return "no --async";
  snprintf(out, size, "--async %lld", (long long)workers);
  return out;
}

/* The number of workers is not in a run's key, so it is one for the file. */
static cocabo_status check_workers(const bench_campaign *c, cocabo_error *err) {
  const int64_t found = c->found.workers, want = c->experiments[0].workers;
  char a[32], b[32];
  if (c->found.n == 0 || found == want)
    return COCABO_OK;
  return cb_fail(err, COCABO_E_STATE,
                 "%s has runs with %s, want %s: write to another file", c->path,
                 describe_workers(found, a, sizeof a),
                 describe_workers(want, b, sizeof b));
}

/* What to do with a run of the file that is asked for. Runs are appended whole, so a
 * cut can only have hit the last one; any other run of another length is somebody's
 * results and not to be thrown away. */
static cocabo_status judge(const bench_campaign *c, const bench_experiment *e,
                           const bench_series *s, bool *keep, cocabo_error *err) {
  const bool last = s == &c->found.series[c->found.n - 1];
  const bool begun = s->rows < bench_experiment_rows(e) &&
                     (s->init == e->init || s->rows == s->init) && s->init <= e->init;
  *keep = s->whole && s->init == e->init && s->iterations == e->iterations;
  if (*keep || !s->whole || (last && begun))
    return COCABO_OK;
  return cb_fail(
      err, COCABO_E_STATE,
      "%s has the run %.*s with --init %lld --iterations %lld, want %lld and "
      "%lld: write to another file",
      c->path, (int)s->key, s->text, (long long)s->init, (long long)s->iterations,
      (long long)e->init, (long long)e->iterations);
}

static cocabo_status plan(bench_campaign *c, cocabo_error *err) {
  for (size_t i = 0; i < c->n; i++) {
    char key[BENCH_KEY_SIZE];
    bench_experiment_key(&c->experiments[i], key);
    const bench_series *s = bench_results_find(&c->found, key);
    bool keep = false;
    if (s) {
      CB_TRY(judge(c, &c->experiments[i], s, &keep, err));
      c->ours[s - c->found.series] = true;
    }
    if (keep)
      c->runs[i] = (finished){.text = s->text, .size = s->size};
    else
      c->todo[c->n_todo++] = i;
  }
  return COCABO_OK;
}

static cocabo_status open_file(bench_campaign *c, cocabo_error *err) {
  CB_TRY(front_outfile_open(&c->file, c->path, err));
  CB_TRY(front_read_all(c->file.fd, c->path, &c->text, err));
  CB_TRY(bench_results_parse(&c->found, c->path, &c->text, true, err));
  CB_TRY(check_workers(c, err));
  c->ours = cb_calloc(c->found.n, sizeof *c->ours);
  c->runs = cb_calloc(c->n, sizeof *c->runs);
  c->todo = cb_calloc(c->n, sizeof *c->todo);
  if (!c->ours || !c->runs || !c->todo)
    return cb_no_memory(err);
  return plan(c, err);
}

cocabo_status bench_campaign_open(bench_campaign **out, const char *path,
                                  const bench_experiment *experiments, size_t n,
                                  cocabo_error *err) {
  *out = NULL;
  bench_campaign *c = cb_calloc(1, sizeof *c);
  if (!c)
    return cb_no_memory(err);
  c->path = path;
  c->experiments = experiments;
  c->n = n;
  c->file.fd = -1;
  const cocabo_status status = open_file(c, err);
  if (status == COCABO_OK)
    *out = c;
  else
    bench_campaign_free(c);
  return status;
}

void bench_campaign_free(bench_campaign *campaign) {
  if (!campaign)
    return;
  for (size_t i = 0; campaign->runs && i < campaign->n; i++)
    cb_free(campaign->runs[i].owned);
  cb_free(campaign->runs);
  cb_free(campaign->todo);
  cb_free(campaign->ours);
  bench_results_free(&campaign->found);
  front_buffer_free(&campaign->text);
  front_outfile_close(&campaign->file);
  cb_free(campaign);
}

/* ---- the file's text ------------------------------------------------------------ */

/* Runs that nobody asked for stay as they are. */
static cocabo_status append_others(const bench_campaign *c, front_buffer *text,
                                   cocabo_error *err) {
  for (size_t i = 0; i < c->found.n; i++) {
    const bench_series *s = &c->found.series[i];
    if (!c->ours[i])
      CB_TRY(front_buffer_append(text, s->text, s->size, err));
  }
  return COCABO_OK;
}

static cocabo_status append_finished(const bench_campaign *c, front_buffer *text,
                                     cocabo_error *err) {
  for (size_t i = 0; i < c->n; i++)
    CB_TRY(front_buffer_append(text, c->runs[i].text, c->runs[i].size, err));
  return COCABO_OK;
}

/* All that is finished, in the final order. */
static cocabo_status write_file(bench_campaign *c, cocabo_error *err) {
  front_buffer text = {0};
  cocabo_status status =
      front_buffer_puts(&text, bench_csv_header(c->experiments[0].workers > 0), err);
  if (status == COCABO_OK)
    status = append_others(c, &text, err);
  if (status == COCABO_OK)
    status = append_finished(c, &text, err);
  const bool same = text.size == c->text.size && c->n_todo == 0 &&
                    memcmp(text.data, c->text.data, text.size) == 0;
  if (status == COCABO_OK && !same)
    status = front_outfile_replace(&c->file, &text, err);
  front_buffer_free(&text);
  return status;
}

/* ---- doing the rest ------------------------------------------------------------- */

static void on_evaluated(void *user) {
  bench_link_step(user);
}

static cocabo_status work(void *user, size_t i, bench_link *link, front_buffer *out,
                          cocabo_error *err) {
  const bench_campaign *c = user;
  return bench_experiment_run(&c->experiments[c->todo[i]], on_evaluated, link, out,
                              err);
}

static cocabo_status done(void *user, size_t i, const char *result, size_t size,
                          cocabo_error *err) {
  bench_campaign *c = user;
  finished *run = &c->runs[c->todo[i]];
  char *copy = cb_calloc(size, 1);
  if (!copy)
    return cb_no_memory(err);
  memcpy(copy, result, size);
  *run = (finished){.text = copy, .size = size, .owned = copy};
  c->progress.runs_done++;
  return front_outfile_append(&c->file, result, size, err);
}

static void tick(void *user, int64_t steps) {
  bench_campaign *c = user;
  c->progress.evaluations_done += steps;
  bench_progress_show(&c->progress, front_now());
}

static void describe(void *user, size_t i, char *out, size_t size) {
  const bench_campaign *c = user;
  const bench_experiment *e = &c->experiments[c->todo[i]];
  snprintf(out, size, "%s with %s from seed %lld", e->problem->name, e->method->name,
           (long long)e->seed);
}

static int64_t rows_to_do(const bench_campaign *c) {
  int64_t rows = 0;
  for (size_t i = 0; i < c->n_todo; i++)
    rows += bench_experiment_rows(&c->experiments[c->todo[i]]);
  return rows;
}

/* In the parent, so that its workers share what is read. */
static cocabo_status load_problems(const bench_campaign *c, cocabo_error *err) {
  const bench_problem *loaded = NULL; /* runs of a problem follow one another */
  for (size_t i = 0; i < c->n_todo; i++) {
    const bench_problem *problem = c->experiments[c->todo[i]].problem;
    if (problem != loaded)
      CB_TRY(bench_problem_load(problem, err));
    loaded = problem;
  }
  return COCABO_OK;
}

static cocabo_status do_rest(bench_campaign *c, int jobs, bool quiet,
                             cocabo_error *err) {
  const bench_tasks tasks = {.n = c->n_todo,
                             .user = c,
                             .work = work,
                             .done = done,
                             .tick = tick,
                             .describe = describe};
  c->progress =
      bench_progress_start(quiet, (int64_t)c->n_todo, rows_to_do(c), front_now());
  const cocabo_status status = bench_pool_run(&tasks, jobs, err);
  bench_progress_end(&c->progress, front_now());
  return status;
}

cocabo_status bench_campaign_run(bench_campaign *campaign, int jobs, bool quiet,
                                 cocabo_error *err) {
  /* First without the unfinished runs, so that what is appended stands on whole lines;
   * last in order. */
  CB_TRY(load_problems(campaign, err));
  CB_TRY(write_file(campaign, err));
  if (campaign->n_todo > 0) {
    CB_TRY(do_rest(campaign, jobs, quiet, err));
    CB_TRY(write_file(campaign, err));
  }
  if (!quiet)
    fprintf(stderr, "%s: %zu of %zu runs done, %zu were there\n", campaign->path,
            campaign->n_todo, campaign->n, campaign->n - campaign->n_todo);
  return COCABO_OK;
}

/* ---- as a command --------------------------------------------------------------- */

static int exit_status(cocabo_status status) {
  if (status == COCABO_E_INTERRUPTED)
    return 128 + bench_pool_signal();
  return FRONT_FAILURE;
}

int bench_campaign_main(const char *command, const char *path,
                        const bench_experiment *experiments, size_t n, int jobs,
                        bool quiet) {
  cocabo_error err;
  bench_campaign *campaign;
  cocabo_status status = bench_campaign_open(&campaign, path, experiments, n, &err);
  if (status != COCABO_OK)
    return front_complain(command,
                          status == COCABO_E_BUSY ? FRONT_FAILURE : FRONT_USAGE, &err);
  status = bench_campaign_run(campaign, jobs, quiet, &err);
  bench_campaign_free(campaign);
  return status == COCABO_OK ? FRONT_DONE
                             : front_complain(command, exit_status(status), &err);
}
