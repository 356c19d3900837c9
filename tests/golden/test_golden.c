/* One small study per sampler against committed values, to the bit on every machine.
 * Where a change of behaviour is meant, raise the revision of each sampler whose
 * proposals move and write the values anew:
 *
 *   test_golden --write tests/golden/golden.h
 *
 * which refuses to write other proposals under a revision that had its own.
 */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "base/maths.h"
#include "study/study.h"

enum { N_PARAMS = 6, DESIGN = 10, PROPOSALS = 6, N_SAMPLERS = 8 };

/* A point as numbers: reals and integers by value, choices by index. */
struct golden_run {
  const char *sampler;
  int revision; /* that proposed these */
  double proposals[PROPOSALS][N_PARAMS];
};

#include "golden/golden.h"

static const char *const samplers[N_SAMPLERS] = {"random", "cocabo", "mixed",  "tpe",
                                                 "smac",   "onehot", "exp3bo", "sobol"};
static cocabo_error err;

static void must(cocabo_status status) {
  if (status != COCABO_OK)
    fail_msg("%s", err.message);
}

static cocabo_space *make_space(void) {
  cocabo_value values[4];
  for (int k = 0; k < 4; k++)
    values[k] = (cocabo_value){.type = COCABO_INT, .as.integer = k};
  cocabo_space *s = cocabo_space_new();
  must(cocabo_space_add_real(s, "x", -1, 2, 0, 0, &err));
  must(cocabo_space_add_choice(s, "c", values, 3, 0, &err));
  must(cocabo_space_add_real(s, "rate", 1e-4, 1, 0, COCABO_LOG, &err));
  must(cocabo_space_add_int(s, "n", 1, 32, 0, COCABO_LOG, &err));
  must(cocabo_space_add_choice(s, "size", values, 3, COCABO_ORDERED, &err));
  must(cocabo_space_add_choice(s, "d", values, 4, 0, &err));
  return s;
}

static cocabo_study *make_study(const char *sampler) {
  cocabo_study *study;
  cocabo_space *space = make_space();
  cocabo_options *o = cocabo_options_new();
  must(cocabo_options_set(o, "sampler", sampler, &err));
  must(cocabo_options_set(o, "seed", "20", &err));
  must(cocabo_options_set(o, "n_init", "10", &err));
  must(cocabo_options_set(o, "refit_every", "3", &err));
  must(cocabo_study_create(&study, "golden", space, o, NULL, &err));
  cocabo_options_free(o);
  cocabo_space_free(space);
  return study;
}

static double objective(const double *p) {
  const double x = p[0] - 0.4, rate = cb_log(p[2] / 0.02), n = cb_log(p[3] / 9.0);
  return x * x + 0.05 * rate * rate + 0.2 * n * n + 0.3 * (p[1] != 2.0) +
         0.1 * fabs(p[4] - 1.0) + 0.2 * (p[5] != 1.0) * (1.0 + 0.3 * p[5]);
}

static void read_point(const cocabo_trial *t, double *point) {
  for (size_t i = 0; i < N_PARAMS; i++) {
    const char *name;
    cocabo_value v;
    must(cocabo_trial_get(t, i, &name, &v, &err));
    point[i] = v.type == COCABO_REAL ? v.as.real : (double)v.as.integer;
  }
}

/* How many proposals are passed over: at first exp3bo only gives random points to its
 * arms. */
static int passed_over(const char *sampler) {
  return strcmp(sampler, "exp3bo") == 0 ? 34 : 0;
}

static void run(const char *sampler, double design[DESIGN][N_PARAMS],
                double proposals[PROPOSALS][N_PARAMS]) {
  cocabo_study *study = make_study(sampler);
  const int first = DESIGN + passed_over(sampler);
  double passed[N_PARAMS];
  for (int i = 0; i < first + PROPOSALS; i++) {
    double *point = i < DESIGN ? design[i] : i < first ? passed : proposals[i - first];
    cocabo_trial *t;
    must(cocabo_study_ask(study, 1, &t, &err));
    read_point(t, point);
    must(cocabo_study_tell(study, cocabo_trial_number(t), objective(point), &err));
    cocabo_trial_free(t);
  }
  cocabo_study_free(study);
}

/* ---- checking -------------------------------------------------------------------- */

/* What to do where points are not the golden ones, in one sentence; NULL: they are. */
static const char *complaint(const char *name, int revision, int golden, int n,
                             double (*points)[N_PARAMS], const double (*want)[N_PARAMS],
                             int changed_only) {
  static char text[200];
  const int moved = memcmp(points, want, (size_t)n * sizeof *points) != 0;
  if (moved && revision == golden)
    snprintf(text, sizeof text,
             "%s proposes other points than it did in revision %d: raise its revision "
             "to %d, then write golden.h anew",
             name, golden, golden + 1);
  else if (revision != golden && !changed_only)
    snprintf(text, sizeof text,
             "golden.h has revision %d of %s, which is at %d: write it anew", golden,
             name, revision);
  else
    return NULL;
  return text;
}

static const char *design_complaint(const char *sampler, int changed_only) {
  double design[DESIGN][N_PARAMS], proposals[PROPOSALS][N_PARAMS];
  run(sampler, design, proposals);
  return complaint("the design", CB_DESIGN_REVISION, golden_design_revision, DESIGN,
                   design, golden_design, changed_only);
}

static const char *sampler_complaint(const struct golden_run *golden,
                                     int changed_only) {
  double design[DESIGN][N_PARAMS], proposals[PROPOSALS][N_PARAMS];
  run(golden->sampler, design, proposals);
  return complaint(golden->sampler, cb_sampler_find(golden->sampler)->revision,
                   golden->revision, PROPOSALS, proposals, golden->proposals,
                   changed_only);
}

static void the_design_is_the_same_to_the_bit(void **state) {
  (void)state;
  for (int s = 0; s < N_SAMPLERS; s++) {
    const char *why = design_complaint(samplers[s], 0);
    if (why)
      fail_msg("%s", why);
  }
}

/* The golden run is the test's state. */
static void proposals_are_what_they_were(void **state) {
  const char *why = sampler_complaint(*state, 0);
  if (why)
    fail_msg("%s", why);
}

/* ---- writing --------------------------------------------------------------------- */

static void write_points(FILE *out, const char *indent, int n,
                         double points[][N_PARAMS]) {
  for (int i = 0; i < n; i++) {
    fprintf(out, "%s{", indent);
    for (int j = 0; j < N_PARAMS; j++)
      fprintf(out, "%.17g%s", points[i][j], j + 1 < N_PARAMS ? ", " : "");
    fprintf(out, "}%s\n", i + 1 < n ? "," : "");
  }
}

static int may_write(void) {
  const char *why = design_complaint(samplers[0], 1);
  for (int s = 0; s < N_SAMPLERS && !why; s++)
    why = sampler_complaint(&golden_runs[s], 1);
  if (why)
    fprintf(stderr, "%s\n", why);
  return !why;
}

static int write_golden(const char *path) {
  if (!may_write())
    return 1;
  double design[DESIGN][N_PARAMS], proposals[PROPOSALS][N_PARAMS];
  FILE *out = path ? fopen(path, "w") : stdout;
  if (!out) {
    perror(path);
    return 1;
  }
  run(samplers[0], design, proposals);
  fprintf(out,
          "/* Written by test_golden --write; not to be edited by hand. */\n"
          "/* clang-format off */\n"
          "enum { golden_design_revision = %d };\n\n"
          "static const double golden_design[DESIGN][N_PARAMS] = {\n",
          CB_DESIGN_REVISION);
  write_points(out, "    ", DESIGN, design);
  fprintf(out, "};\n\nstatic const struct golden_run golden_runs[N_SAMPLERS] = {\n");
  for (int s = 0; s < N_SAMPLERS; s++) {
    run(samplers[s], design, proposals);
    fprintf(out, "    {.sampler = \"%s\",\n     .revision = %d,\n     .proposals = {\n",
            samplers[s], cb_sampler_find(samplers[s])->revision);
    write_points(out, "         ", PROPOSALS, proposals);
    fprintf(out, "     }}%s\n", s + 1 < N_SAMPLERS ? "," : "");
  }
  fprintf(out, "};\n");
  return path ? fclose(out) != 0 : 0;
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "--write") == 0)
    return write_golden(argc > 2 ? argv[2] : NULL);
  struct CMUnitTest tests[1 + N_SAMPLERS] = {
      cmocka_unit_test(the_design_is_the_same_to_the_bit)};
  char names[N_SAMPLERS][40];
  for (int s = 0; s < N_SAMPLERS; s++) {
    snprintf(names[s], sizeof names[s], "%s_proposes_what_it_did", samplers[s]);
    tests[1 + s] = (struct CMUnitTest){.name = names[s],
                                       .test_func = proposals_are_what_they_were,
                                       .initial_state = (void *)&golden_runs[s]};
  }
  return cmocka_run_group_tests_name("golden", tests, NULL, NULL);
}
