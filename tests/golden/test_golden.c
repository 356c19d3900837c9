/* One small study per sampler against committed values: the design to the bit, what is
 * proposed after it closely. Where a change of behaviour is meant, write them anew:
 *
 *   test_golden --write tests/golden/golden.h
 */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "study/study.h"

enum { N_PARAMS = 6, DESIGN = 10, PROPOSALS = 6, N_SAMPLERS = 8 };

/* A point as numbers: reals and integers by value, choices by index. */
struct golden_run {
  const char *sampler;
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
  must(cocabo_space_add_int(s, "n", 1, 32, COCABO_LOG, &err));
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
  const double x = p[0] - 0.4, rate = log(p[2] / 0.02), n = log(p[3] / 9.0);
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

static void the_design_is_the_same_to_the_bit(void **state) {
  (void)state;
  for (int s = 0; s < N_SAMPLERS; s++) {
    double design[DESIGN][N_PARAMS], proposals[PROPOSALS][N_PARAMS];
    run(samplers[s], design, proposals);
    for (int i = 0; i < DESIGN; i++)
      for (int j = 0; j < N_PARAMS; j++)
        if (memcmp(&design[i][j], &golden_design[i][j], sizeof(double)) != 0)
          fail_msg("%s, point %d, number %d: %a, want %a", samplers[s], i, j,
                   design[i][j], golden_design[i][j]);
  }
}

/* The golden run is the test's state. */
static void proposals_are_what_they_were(void **state) {
  const struct golden_run *golden = *state;
  const int is_number[N_PARAMS] = {1, 0, 1, 1, 0, 0};
  double design[DESIGN][N_PARAMS], got[PROPOSALS][N_PARAMS];
  run(golden->sampler, design, got);
  for (int i = 0; i < PROPOSALS; i++)
    for (int j = 0; j < N_PARAMS; j++) {
      const double want = golden->proposals[i][j];
      const double tolerance = is_number[j] ? 1e-6 * (1.0 + fabs(want)) : 0.0;
      if (!(fabs(got[i][j] - want) <= tolerance))
        fail_msg("%s, proposal %d, number %d: %.17g, want %.17g", golden->sampler, i, j,
                 got[i][j], want);
    }
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

static int write_golden(const char *path) {
  double design[DESIGN][N_PARAMS], proposals[PROPOSALS][N_PARAMS];
  FILE *out = path ? fopen(path, "w") : stdout;
  if (!out) {
    perror(path);
    return 1;
  }
  run(samplers[0], design, proposals);
  fprintf(out, "/* Written by test_golden --write; not to be edited by hand. */\n"
               "/* clang-format off */\n"
               "static const double golden_design[DESIGN][N_PARAMS] = {\n");
  write_points(out, "    ", DESIGN, design);
  fprintf(out, "};\n\nstatic const struct golden_run golden_runs[N_SAMPLERS] = {\n");
  for (int s = 0; s < N_SAMPLERS; s++) {
    run(samplers[s], design, proposals);
    fprintf(out, "    {.sampler = \"%s\",\n     .proposals = {\n", samplers[s]);
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
