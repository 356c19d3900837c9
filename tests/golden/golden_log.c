/* golden_log.c - studies as JSON lines, written on one machine and replayed on all.
 *
 *   golden_log FILE               every proposal in FILE made again, in memory
 *   golden_log FILE sqlite:///DB  FILE copied into a store, for `cocabo verify`
 *   golden_log --write FILE       the studies of this program made anew; refused
 *                                 where FILE has other points of the same revision
 *
 * Replaying exits with 1 unless every point was proposed again and none differs. What
 * is written has the same bytes on every machine: random ids and times are replaced.
 * The program needs neither SQLite nor cmocka, so that tests/cross can build it for any
 * machine.
 *
 * A line is an event: its head, and the body as the codec writes it. The head is read
 * in exactly the form in which it is written.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/maths.h"
#include "base/rng.h"
#include "cocabo_store.h"
#include "log/codec.h"
#include "study/study.h"

static cocabo_error err;

static void must(cocabo_status status) {
  if (status == COCABO_OK)
    return;
  fprintf(stderr, "golden_log: %s\n", err.message);
  exit(2);
}

static void die(const char *what, const char *about) {
  fprintf(stderr, "golden_log: %s %s\n", what, about);
  exit(2);
}

/* ---- making studies -------------------------------------------------------------- */

enum {
  MOST = 96,
  PARAMS = 6,
  LARGEST = 160, /* batch */
  HELD = 128     /* a batch larger than this is told after the next one */
};

typedef struct plan {
  const char *name;
  const char *params[PARAMS + 1][2]; /* name, domain; both end with NULL */
  const char *options[14];           /* name, value, ... */
  int batches[MOST];                 /* how many points each ask is for; -n: n known
                                        results are added instead */
  int fail_every;                    /* 0: none fails; -n: all but every n-th do */
} plan;

/* clang-format off */
#define MIXED                                                                          \
  {{"x", "float(-2,2)"}, {"lr", "float(1e-5,0.1,log)"},                                \
   {"step", "float(0,1,step=0.25)"}, {"depth", "int(1,9)"},                            \
   {"kind", "choice(a,1,1.0,true,null)"}, {"size", "ordinal(small,medium,large)"}}
#define NUMBERS                                                                        \
  {{"x", "float(-2,2)"}, {"lr", "float(1e-5,0.1,log)"}, {"y", "float(0,7)"},           \
   {"depth", "int(1,300,log)"}}
#define CATEGORIES                                                                     \
  {{"kind", "choice(a,b,c,d)"}, {"size", "choice(1,2,3)"}, {"on", "choice(true,false)"}}
#define ONES8 1, 1, 1, 1, 1, 1, 1, 1
#define FEW {{"x", "float(-2,2)"}, {"y", "float(0,7)"}, {"c", "choice(a,b,c)"}}
#define ROUNDS {4, 1, 3, 1, 1, 4, 1, 1, 2, ONES8}

static const plan plans[] = {
    {"random", MIXED, {"sampler", "random"}, ROUNDS, 7},
    {"sobol", MIXED, {"sampler", "sobol"}, ROUNDS, 7},
    {"tpe", MIXED, {"sampler", "tpe", "n_init", "6"}, ROUNDS, 7},
    {"smac", MIXED, {"sampler", "smac", "n_init", "6", "samples", "300"}, ROUNDS, 7},
    {"cocabo", MIXED, {"sampler", "cocabo", "n_init", "6", "samples", "300"}, ROUNDS, 7},
    {"cocabo-paper", MIXED,
     {"sampler", "cocabo", "n_init", "4", "samples", "200", "lambda", "0.5", "reward", "rank",
      "horizon", "30"}, {4, 3, 3, 1, 3, 1, 1}, 0},
    {"onehot", MIXED, {"sampler", "onehot", "n_init", "6", "samples", "300"}, ROUNDS, 7},
    {"exp3bo",
     {{"x", "float(-2,2)"}, {"y", "float(0,7)"}, {"c", "choice(a,b)"}},
     {"sampler", "exp3bo", "n_init", "4", "samples", "200"}, {4, 2, ONES8, 2, 1, 1}, 8},
    {"mixed", MIXED, {"sampler", "mixed", "n_init", "6"}, ROUNDS, 7},
    {"mixed-batches", MIXED, {"sampler", "mixed", "n_init", "5"}, {8, 8, 1, 6}, 5},
    {"mixed-numbers", NUMBERS, {"n_init", "4", "direction", "maximize"},
     {4, 1, 1, 1, 6, 1, 1, 3, 1, 1}, 9},
    {"mixed-categories", CATEGORIES, {"n_init", "3"}, {3, 2, ONES8}, 0},
    {"mixed-noisy", MIXED, {"n_init", "5", "deterministic", "false"}, {5, 1, 2, 1, 1, 3, ONES8}, 0},
    {"mixed-failing", NUMBERS, {"n_init", "4"}, {4, 2, ONES8, 2, 1, 1}, 2},
    {"mixed-long", {{"x", "float(-2,2)"}, {"c", "choice(a,b,c)"}},
     {"n_init", "6", "refit_every", "70"},
     {6, ONES8, -50, ONES8, ONES8}, 11},
    /* Candidates are screened from 100 results on, and climbs are rough from 300 on. */
    {"mixed-screened", FEW, {"n_init", "2", "refit_every", "20"},
     {-20, 2, 1, -80, 1, 1, 1, 3}, 0},
    {"mixed-rough", FEW, {"n_init", "2", "refit_every", "1000"},
     {-300, 2, 1, 1, 1, 3, 1}, 0},
    {"mixed-rough-numbers", NUMBERS, {"n_init", "2", "refit_every", "1000"},
     {-300, 2, 1, 1, 2}, 0},
    {"mixed-active", FEW, {"n_init", "2", "refit_every", "40", "model_size", "60"},
     {-40, 2, 1, -160, ONES8, 9, 1}, 10},
    {"cocabo-active", FEW,
     {"sampler", "cocabo", "n_init", "2", "samples", "200", "model_size", "104"},
     {-10, 2, -200, 1, 1, 3}, 0},
    /* Beyond 128 points the model takes no more of a batch, and no more pending or failed
       trials. */
    {"mixed-crowd", FEW, {"n_init", "4"}, {4, 1, 12, 134, 1}, 10},
    {"mixed-failed", FEW, {"n_init", "150"}, {150, 1, 1, 2, 1, 1}, -10},
    /* Grids whose levels are decimals, no sums of rounded ones. */
    {"mixed-steps",
     {{"x", "float(0,1,step=0.1)"}, {"y", "float(-1.1,2.3,step=0.3)"}, {"c", "choice(a,b)"}},
     {"n_init", "4"}, {4, 2, ONES8}, 0},
    {"random-steps", {{"x", "float(0,1,step=0.1)"}, {"y", "float(0.001,0.1,step=0.0007)"}},
     {"sampler", "random"}, {9, ONES8}, 0},
    /* Values that are rough, but exact: more than forty of them tell. */
    {"mixed-rough-levels",
     {{"x", "float(0,1)"}, {"y", "float(0,1)"}, {"c", "choice(a,b)"}},
     {"n_init", "2", "deterministic", "true"}, {2, -50, ONES8}, 0},
    /* Results repeat themselves, and so points must be less and less sure. */
    {"mixed-repeats",
     {{"x", "int(1,6)"}, {"unused", "float(0,1)"}, {"y", "float(0,7)"}, {"c", "choice(a,b,c)"}},
     {"n_init", "4"}, {4, ONES8, ONES8, ONES8, ONES8}, 0},
};
/* clang-format on */

static cocabo_study *create(const plan *p, cocabo_store *store) {
  cocabo_space *space = cocabo_space_new();
  cocabo_options *options = cocabo_options_new();
  cocabo_study *study;
  for (int i = 0; p->params[i][0]; i++)
    must(cocabo_space_add(space, p->params[i][0], p->params[i][1], &err));
  must(cocabo_options_set(options, "seed", "41", &err));
  for (int i = 0; p->options[i]; i += 2)
    must(cocabo_options_set(options, p->options[i], p->options[i + 1], &err));
  must(cocabo_study_create(&study, p->name, space, options, store, &err));
  cocabo_options_free(options);
  cocabo_space_free(space);
  return study;
}

/* Every parameter that is used has its best place, and noise is what the number makes
 * of it. */
static double value_of(const cocabo_space *space, const cb_cell *cells, int64_t number,
                       bool noisy) {
  double sum = noisy ? 0.02 * (double)(number * 7919 % 23) : 0.0;
  for (int j = 0; j < space->n; j++) {
    const cb_param *param = &space->params[j];
    const double v = param->kind == CB_REAL ? cells[j].real : (double)cells[j].integer;
    if (strcmp(param->name, "unused") == 0)
      continue;
    const double apart =
        (param->log ? 0.4 * cb_log(v / param->low) : v) - 0.7 - 0.1 * j;
    sum += apart * apart / (1.0 + j);
  }
  return sum;
}

static bool fails(const plan *p, int64_t number) {
  return p->fail_every > 0   ? number % p->fail_every == p->fail_every - 1
         : p->fail_every < 0 ? number % -p->fail_every != 0
                             : false;
}

/* Random points with their values. */
static void add_known(cocabo_study *study, int n, bool noisy) {
  const cocabo_space *space = cb_study_history(study)->space;
  for (int i = 0; i < n; i++) {
    const int64_t number = cb_study_history(study)->n_trials;
    cb_rng rng = cb_rng_make(17, CB_RNG_BENCH, (uint64_t)number);
    double x[PARAMS];
    int32_t h[PARAMS];
    cb_cell cells[PARAMS];
    for (int j = 0; j < space->d; j++)
      x[j] = 2.0 * cb_rng_uniform(&rng) - 1.0;
    for (int j = 0; j < space->c; j++)
      h[j] = (int32_t)cb_rng_below(&rng, (uint32_t)cb_space_arms(space, j));
    cb_space_decode(space, x, h, cells);
    const double value = value_of(space, cells, number, noisy);
    must(cb_study_add(study, cells, &value, &err));
  }
}

/* A batch as it was asked for. */
typedef struct asked {
  int64_t numbers[LARGEST];
  int n;
} asked;

/* In reverse; some fail, and the first of a batch of four is interrupted once. */
static void answer(cocabo_study *study, const plan *p, asked *batch, bool interrupts,
                   bool noisy) {
  const cb_history *history = cb_study_history(study);
  for (int k = batch->n - 1; k >= 0; k--) {
    const int64_t number = batch->numbers[k];
    const cb_cell *cells = history->trials[number].cells;
    if (batch->n == 4 && k == 0 && interrupts)
      must(cocabo_study_interrupt(study, number, &err));
    else if (fails(p, number))
      must(cocabo_study_fail(study, number, "no value", &err));
    else
      must(cocabo_study_tell(study, number,
                             value_of(history->space, cells, number, noisy), &err));
  }
  batch->n = 0;
}

static void live(cocabo_study *study, const plan *p) {
  asked held = {.n = 0};
  bool noisy = false;
  for (int i = 0; p->options[i]; i += 2)
    noisy = noisy || strcmp(p->options[i], "deterministic") == 0;
  for (int i = 0; i < MOST && p->batches[i] != 0; i++) {
    cocabo_trial *trials[LARGEST];
    asked batch = {.n = p->batches[i]};
    if (batch.n < 0) {
      add_known(study, -batch.n, noisy);
      continue;
    }
    must(cocabo_study_ask(study, (size_t)batch.n, trials, &err));
    for (int k = 0; k < batch.n; k++) {
      batch.numbers[k] = cocabo_trial_number(trials[k]);
      cocabo_trial_free(trials[k]);
    }
    answer(study, p, &held, false, noisy);
    if (batch.n > HELD && i > 0)
      held = batch;
    else
      answer(study, p, &batch, i > 0, noisy);
  }
}

/* ---- writing --------------------------------------------------------------------- */

#define HEAD                                                                           \
  "{\"study\":\"%s\",\"seq\":%" PRId64 ",\"id\":\"%016" PRIx64 "%016" PRIx64           \
  "\",\"time\":%.1f,\"kind\":%d,\"number\":%" PRId64 ",\"attempt\":%" PRId64           \
  ",\"body\":"
#define HEAD_READ                                                                      \
  "{\"study\":\"%63[^\"]\",\"seq\":%" SCNd64 ",\"id\":\"%16" SCNx64 "%16" SCNx64       \
  "\",\"time\":%lf,\"kind\":%d,\"number\":%" SCNd64 ",\"attempt\":%" SCNd64            \
  ",\"body\":%n"

typedef struct writer {
  FILE *out;
  const char *study;
  uint64_t origin; /* the random half of all ids of the study */
  uint64_t stands; /* what stands for it in the file */
  char letters[COCABO_MAX_PARAMETERS + 1];
} writer;

/* Ids of fits occur in bodies too. */
static void replace_ids(const writer *w, cb_json *body) {
  char from[17], to[17];
  snprintf(from, sizeof from, "%016" PRIx64, w->origin);
  snprintf(to, sizeof to, "%016" PRIx64, w->stands);
  for (size_t i = 0; i + 16 <= body->length; i++)
    if (memcmp(body->text + i, from, 16) == 0)
      memcpy(body->text + i, to, 16);
}

static cocabo_status write_event(void *user, const cb_event *event, cocabo_error *e) {
  writer *w = user;
  cb_json body = {0};
  if (event->kind == CB_STUDY_CREATED) {
    cb_codec_letters(event->space, w->letters);
    w->origin = event->id[0];
  }
  if (event->id[0] != w->origin)
    die("an event that another handle wrote, in study", w->study);
  cb_event plain = *event; /* that of no version in particular */
  plain.version = NULL;
  const cocabo_status status = cb_codec_encode(&body, &plain, w->letters, e);
  replace_ids(w, &body);
  if (status == COCABO_OK)
    fprintf(w->out, HEAD "%.*s}\n", w->study, event->seq, w->stands, event->id[1],
            (double)event->seq, (int)event->kind, event->number, event->attempt,
            (int)body.length, body.text);
  cb_json_free(&body);
  return status;
}

/* ---- reading --------------------------------------------------------------------- */

typedef struct named {
  char name[64];
  int64_t id;       /* in the store */
  int64_t proposed; /* trials that were not added */
} named;

typedef struct shelf {
  cocabo_store *store;
  named studies[32]; /* in the order of the file */
  int n;
} shelf;

/* The line is one of the study that was read last, or starts another one. */
static void load_line(shelf *l, const char *line) {
  cb_event event = {0};
  char name[64];
  int kind, head = 0;
  const int read = sscanf(line, HEAD_READ, name, &event.seq, &event.id[0], &event.id[1],
                          &event.time, &kind, &event.number, &event.attempt, &head);
  const size_t length = strlen(line);
  if (read != 8 || head == 0 || length < (size_t)head + 2 || line[length - 1] != '}')
    die("no event:", line);
  event.kind = (cb_event_kind)kind;
  must(cb_codec_decode(line + head, length - (size_t)head - 1, &event, &err));
  if (event.kind == CB_STUDY_CREATED) {
    if (l->n == (int)(sizeof l->studies / sizeof l->studies[0]))
      die("too many studies:", name);
    named *s = &l->studies[l->n++];
    snprintf(s->name, sizeof s->name, "%s", name);
    must(l->store->ops->create(l->store, name, &event, &s->id, &err));
  } else {
    const cb_append append = {.events = &event, .n = 1, .next_number = -1};
    if (l->n == 0 || strcmp(name, l->studies[l->n - 1].name) != 0)
      die("a study that was not created:", name);
    must(l->store->ops->append(l->store, l->studies[l->n - 1].id, &append, &err));
    l->studies[l->n - 1].proposed += event.kind == CB_TRIAL_ASKED;
  }
  cb_event_clear(&event);
}

static void load(shelf *l, const char *path) {
  FILE *in = fopen(path, "r");
  static char line[1 << 16];
  if (!in)
    die("cannot read", path);
  while (fgets(line, sizeof line, in)) {
    line[strcspn(line, "\n")] = '\0';
    load_line(l, line);
  }
  fclose(in);
}

/* ---- replaying ------------------------------------------------------------------- */

static cocabo_report report_on(shelf *l, const char *name) {
  cocabo_study *study;
  cocabo_report report;
  must(cocabo_study_open(&study, name, l->store, &err));
  must(cocabo_study_verify(study, -1, &report, &err));
  cocabo_study_free(study);
  return report;
}

static bool replay(shelf *l, int i) {
  const char *name = l->studies[i].name;
  const cocabo_report report = report_on(l, name);
  printf("%-20s %3" PRId64 " replayed, %" PRId64 " differing, %" PRId64 " foreign\n",
         name, report.replayed, report.differing, report.foreign);
  if (report.foreign > 0)
    printf("%s was proposed by another revision: write the golden log anew\n", name);
  if (report.differing > 0)
    printf("%s: trial %" PRId64 " is the first that comes out differently here\n", name,
           report.first_differing);
  return report.replayed == l->studies[i].proposed && report.differing == 0;
}

/* A revision stands for its proposals; those of the file may only be lost with it. */
static void refuse_to_move(const char *path) {
  FILE *there = fopen(path, "r");
  if (!there)
    return;
  fclose(there);
  shelf l = {.store = cocabo_store_new_memory()};
  load(&l, path);
  for (int i = 0; i < l.n; i++)
    if (report_on(&l, l.studies[i].name).differing > 0)
      die("raise the revision of the sampler that proposes other points in study",
          l.studies[i].name);
  cocabo_store_free(l.store);
}

static int replay_log(shelf *l) {
  bool same = l->n > 0;
  for (int i = 0; i < l->n; i++)
    same = replay(l, i) && same;
  return same ? 0 : 1;
}

static int write_log(const char *path) {
  refuse_to_move(path);
  FILE *out = fopen(path, "w");
  if (!out)
    die("cannot write", path);
  for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++) {
    cocabo_store *store = cocabo_store_new_memory();
    cocabo_study *study = create(&plans[i], store);
    writer w = {.out = out, .study = plans[i].name, .stands = i + 1};
    live(study, &plans[i]);
    must(store->ops->read_since(store, study->id, &(cb_position){.seq = 0}, write_event,
                                NULL, &w, &err));
    cocabo_study_free(study);
    cocabo_store_free(store);
  }
  if (fclose(out) != 0)
    die("cannot write", path);
  return 0;
}

int main(int argc, char **argv) {
  if (argc == 3 && strcmp(argv[1], "--write") == 0)
    return write_log(argv[2]);
  if (argc != 2 && argc != 3)
    die("usage:", "golden_log FILE [STORE] | --write FILE");
  shelf l = {.store = argc == 2 ? cocabo_store_new_memory() : NULL};
  if (argc == 3)
    must(cocabo_store_open(&l.store, argv[2], COCABO_STORE_CREATE, &err));
  load(&l, argv[1]);
  const int status = argc == 2 ? replay_log(&l) : 0;
  cocabo_store_free(l.store);
  return status;
}
