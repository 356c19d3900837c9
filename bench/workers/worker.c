/* worker.c - one of many processes that share a study, and what it costs them.
 *
 * A light process over the library, for bench/workers/run, which starts many:
 *
 *   create URL STUDY PROBLEM SAMPLER SEED TRIALS   a study with that budget
 *   work   URL STUDY PROBLEM MILLISECONDS          asks, sleeps, tells, until the
 * budget is used up; a line a trial: number, value, regret, seconds of the ask and of
 * the tell, and when it was told fill   URL STUDY PROBLEM EVENTS                a study
 * that has so many events probe  URL STUDY REPEATS                       seconds to
 * open it; then those of asks, each with one new event of another's
 *
 * Times are those of CLOCK_MONOTONIC, which the processes of a machine share.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/status.h"
#include "cocabo_store.h"
#include "common/clock.h"
#include "problem.h"

enum { BATCH = 1000 }; /* trials that fill asks for at a time */

static cocabo_status read_count(const char *text, long most, long *out,
                                cocabo_error *err) {
  char *end;
  errno = 0;
  *out = strtol(text, &end, 10);
  if (end == text || *end || errno || *out < 0 || *out > most)
    return cb_fail(err, COCABO_E_INVALID, "number is %s, want 0 .. %ld", text, most);
  return COCABO_OK;
}

static cocabo_status find_problem(const char *name, const bench_problem **out,
                                  cocabo_error *err) {
  *out = bench_problem_find(name);
  if (!*out)
    return cb_fail(err, COCABO_E_NOT_FOUND, "there is no problem %s", name);
  return bench_problem_load(*out, err);
}

/* A handle and the connection that is its own. */
typedef struct place {
  cocabo_store *store; /* NULL: the study is in memory */
  cocabo_study *study;
} place;

static void leave(place *at) {
  cocabo_study_free(at->study);
  cocabo_store_free(at->store);
  *at = (place){0};
}

/* With leases, as cocabo worker has them; an hour, because nobody renews them here. */
static cocabo_status enter(const char *url, const char *study, place *at,
                           cocabo_error *err) {
  char owner[COCABO_OWNER_SIZE];
  CB_TRY(cocabo_store_open(&at->store, url, 0, err));
  CB_TRY(cocabo_study_open(&at->study, study, at->store, err));
  CB_TRY(cocabo_owner_name(owner, err));
  return cocabo_study_lease(at->study, owner, 3600.0, err);
}

/* url NULL: in memory. */
static cocabo_status create_study(const char *url, const char *name,
                                  const bench_problem *problem,
                                  const char *const settings[3], place *at,
                                  cocabo_error *err) {
  static const char *const names[] = {"sampler", "seed", "trials"};
  cocabo_space *space = NULL;
  cocabo_options *options = cocabo_options_new();
  if (!options)
    return cb_fail(err, COCABO_E_NO_MEMORY, "no memory for options");
  cocabo_status status = cocabo_options_set(options, "direction", "maximize", err);
  for (int i = 0; i < 3 && !status; i++)
    status = cocabo_options_set(options, names[i], settings[i], err);
  if (!status)
    status = bench_problem_space(problem, &space, err);
  if (!status && url)
    status = cocabo_store_open(&at->store, url, COCABO_STORE_CREATE, err);
  if (!status)
    status = cocabo_study_create(&at->study, name, space, options, at->store, err);
  cocabo_space_free(space);
  cocabo_options_free(options);
  return status;
}

/* ---- create --------------------------------------------------------------------- */

static cocabo_status create(char **args, place at[2], cocabo_error *err) {
  const bench_problem *problem;
  CB_TRY(find_problem(args[2], &problem, err));
  const char *const settings[] = {args[3], args[4], args[5]};
  return create_study(args[0], args[1], problem, settings, &at[0], err);
}

/* ---- work ----------------------------------------------------------------------- */

static void sleep_for(long milliseconds) {
  struct timespec left = {.tv_sec = milliseconds / 1000,
                          .tv_nsec = milliseconds % 1000 * 1000000};
  while (nanosleep(&left, &left) && errno == EINTR)
    ;
}

/* Evaluates a trial that took so many seconds to ask for. */
static cocabo_status work_on(const place *at, const bench_problem *problem,
                             const cocabo_trial *trial, double asked, long pause,
                             cocabo_error *err) {
  const int64_t number = cocabo_trial_number(trial);
  double value;
  sleep_for(pause);
  CB_TRY(bench_value_of_trial(problem, trial, BENCH_PROBLEM_SEED, &value, err));
  const double start = front_now();
  CB_TRY(cocabo_study_tell(at->study, number, value, err));
  const double end = front_now();
  printf("%lld %.17g %.17g %.9f %.9f %.9f\n", (long long)number, value,
         problem->optimum - value, asked, end - start, end);
  return COCABO_OK;
}

/* BUSY is another writer's luck, not an error: it is counted on standard error. */
static cocabo_status work(char **args, place at[2], cocabo_error *err) {
  const bench_problem *problem;
  long pause;
  CB_TRY(find_problem(args[2], &problem, err));
  CB_TRY(read_count(args[3], 3600000, &pause, err));
  CB_TRY(enter(args[0], args[1], &at[0], err));
  setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
  for (;;) {
    cocabo_trial *trial;
    const double start = front_now();
    cocabo_status status;
    while ((status = cocabo_study_ask(at->study, 1, &trial, err)) == COCABO_E_BUSY)
      fprintf(stderr, "busy\n");
    if (status == COCABO_E_BUDGET)
      return COCABO_OK;
    CB_TRY(status);
    status = work_on(at, problem, trial, front_now() - start, pause, err);
    cocabo_trial_free(trial);
    CB_TRY(status);
  }
}

/* ---- fill ----------------------------------------------------------------------- */

static cocabo_status play(const bench_problem *problem, cocabo_study *study, size_t n,
                          cocabo_error *err) {
  cocabo_trial *trials[BATCH];
  CB_TRY(cocabo_study_ask(study, n, trials, err));
  cocabo_status status = COCABO_OK;
  for (size_t i = 0; i < n; i++) {
    double value;
    if (!status)
      status =
          bench_tell_trial(problem, study, trials[i], BENCH_PROBLEM_SEED, &value, err);
    cocabo_trial_free(trials[i]);
  }
  return status;
}

/* Played in memory, where that is quick, and then copied at one stroke. */
static cocabo_status fill(char **args, place at[2], cocabo_error *err) {
  const bench_problem *problem;
  long events;
  static const char *const settings[] = {"random", "0", "0"};
  CB_TRY(find_problem(args[2], &problem, err));
  CB_TRY(read_count(args[3], 100000000, &events, err));
  CB_TRY(create_study(NULL, args[1], problem, settings, &at[0], err));
  for (long left = (events - 1) / 2; left > 0; left -= BATCH)
    CB_TRY(play(problem, at->study, (size_t)(left < BATCH ? left : BATCH), err));
  CB_TRY(cocabo_store_open(&at[1].store, args[0], COCABO_STORE_CREATE, err));
  return cocabo_study_copy(at->study, args[1], at[1].store, err);
}

/* ---- probe ---------------------------------------------------------------------- */

/* One ask; another handle tells its result, so that the next ask has one event to read
 * beside its own. */
static cocabo_status probe_ask(place at[2], double *seconds, cocabo_error *err) {
  cocabo_trial *trial;
  const double start = front_now();
  CB_TRY(cocabo_study_ask(at[0].study, 1, &trial, err));
  *seconds = front_now() - start;
  const int64_t number = cocabo_trial_number(trial);
  cocabo_trial_free(trial);
  return cocabo_study_tell(at[1].study, number, 1.0 / (2.0 + (double)number), err);
}

static cocabo_status probe(char **args, place at[2], cocabo_error *err) {
  long repeats;
  CB_TRY(read_count(args[2], 1000000, &repeats, err));
  const double start = front_now();
  CB_TRY(enter(args[0], args[1], &at[0], err));
  printf("open %.9f\n", front_now() - start);
  CB_TRY(enter(args[0], args[1], &at[1], err));
  for (long i = -1; i < repeats; i++) { /* the first one has nothing new */
    double seconds;
    CB_TRY(probe_ask(at, &seconds, err));
    printf("%s %.9f\n", i < 0 ? "first" : "ask", seconds);
  }
  return COCABO_OK;
}

/* ---- the command line ----------------------------------------------------------- */

static const struct {
  const char *name;
  int args;
  cocabo_status (*run)(char **args, place at[2], cocabo_error *err);
} COMMANDS[] = {
    {"create", 6, create}, {"work", 4, work}, {"fill", 4, fill}, {"probe", 3, probe}};

int main(int argc, char **argv) {
  for (size_t i = 0; i < sizeof COMMANDS / sizeof COMMANDS[0]; i++) {
    if (argc < 2 || strcmp(argv[1], COMMANDS[i].name) != 0 ||
        argc - 2 != COMMANDS[i].args)
      continue;
    place at[2] = {{0}};
    cocabo_error err = {0};
    const cocabo_status status = COMMANDS[i].run(argv + 2, at, &err);
    if (status)
      fprintf(stderr, "cocabo-bench-worker: %s\n", err.message);
    leave(&at[1]);
    leave(&at[0]);
    return status ? 1 : 0;
  }
  fprintf(stderr, "usage: cocabo-bench-worker create|work|fill|probe URL STUDY ...\n");
  return 2;
}
