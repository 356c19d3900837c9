/* synthetic.c - Func-2C, Func-3C and the Ackley problems of the paper: raw functions,
 * inputs, and the table of these problems. */
#include "problems/synthetic.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "problems/inputs.h"

static const double pi = 3.14159265358979323846;
static const double euler = 2.71828182845904523536;

/* ---- raw functions -------------------------------------------------------------- */

/* Rosenbrock, six-hump camel and Beale on z = 2x, scaled to like sizes. */
static double ros(double z1, double z2) {
  const double valley = z2 - z1 * z1, slope = z1 - 1.0;
  return (100.0 * valley * valley + slope * slope) / 300.0;
}

static double cam(double z1, double z2) {
  const double a = z1 * z1, b = z2 * z2;
  return ((4.0 - 2.1 * a + a * a / 3.0) * a + z1 * z2 + (-4.0 + 4.0 * b) * b) / 10.0;
}

static double bea(double z1, double z2) {
  const double t1 = 1.5 - z1 + z1 * z2;
  const double t2 = 2.25 - z1 + z1 * z2 * z2;
  const double t3 = 2.625 - z1 + z1 * z2 * z2 * z2;
  return (t1 * t1 + t2 * t2 + t3 * t3) / 50.0;
}

/* What a category adds. Labels repeat no name, so that equal functions stay different
 * choices. */
typedef struct term {
  const char *label;
  double factor;
  double (*function)(double z1, double z2);
} term;

enum { FUNC_TERMS = 3, FUNC_MAX_TERM = 5 };
typedef struct term_list {
  const char *name;
  int n;
  term terms[FUNC_MAX_TERM];
} term_list;

static const term_list func_terms[FUNC_TERMS] = {
    {"h1", 3, {{"ros", 1, ros}, {"cam", 1, cam}, {"bea", 1, bea}}},
    {"h2",
     5,
     {{"ros", 1, ros},
      {"cam", 1, cam},
      {"bea-1", 1, bea},
      {"bea-2", 1, bea},
      {"bea-3", 1, bea}}},
    {"h3",
     4,
     {{"5-cam", 5, cam}, {"2-ros", 2, ros}, {"2-bea", 2, bea}, {"3-bea", 3, bea}}}};

static double func_raw(int c, const double x[2], const int *h) {
  double sum = 0.0;
  for (int j = 0; j < c; j++) {
    assert(h[j] >= 0 && h[j] < func_terms[j].n);
    const term *t = &func_terms[j].terms[h[j]];
    sum += t->factor * t->function(2.0 * x[0], 2.0 * x[1]);
  }
  return -sum;
}

double func2c_raw(const double x[2], const int h[2]) {
  return func_raw(2, x, h);
}

double func3c_raw(const double x[2], const int h[3]) {
  return func_raw(3, x, h);
}

/* Written with expm1 and cos t - 1 = -2 sin^2(t/2): the textbook form cancels near the
 * optimum and leaves 4e-16 at it. */
double ackley_raw(int n, const double *z) {
  double squares = 0.0, waves = 0.0;
  for (int i = 0; i < n; i++) {
    const double s = sin(pi * z[i]);
    squares += z[i] * z[i];
    waves += s * s;
  }
  return 20.0 * expm1(-0.2 * sqrt(squares / n)) + euler * expm1(-2.0 * waves / n);
}

double ackley_level(int j) {
  return -1.0 + 0.125 * j;
}

/* ---- Func-2C, Func-3C as problems: h1 h2 (h3) x1 x2 ------------------------------ */

cocabo_status func_add_inputs(const bench_problem *problem, cocabo_space *space,
                              cocabo_error *err) {
  for (int j = 0; j < problem->c; j++) {
    const term_list *list = &func_terms[j];
    cocabo_value labels[FUNC_MAX_TERM];
    for (int i = 0; i < list->n; i++)
      labels[i] = (cocabo_value){COCABO_TEXT, {.text = list->terms[i].label}};
    CB_TRY(cocabo_space_add_choice(space, list->name, labels, (size_t)list->n, 0, err));
  }
  CB_TRY(cocabo_space_add_real(space, "x1", -1.0, 1.0, 0.0, 0, err));
  return cocabo_space_add_real(space, "x2", -1.0, 1.0, 0.0, 0, err);
}

static int func_category(const term_list *list, const char *label) {
  int i = 0;
  while (i < list->n && strcmp(list->terms[i].label, label) != 0)
    i++;
  assert(i < list->n);
  return i;
}

double func_value(const bench_problem *problem, const cocabo_value *values,
                  uint64_t seed) {
  (void)seed;
  int h[FUNC_TERMS];
  for (int j = 0; j < problem->c; j++)
    h[j] = func_category(&func_terms[j], values[j].as.text);
  const cocabo_value *x = values + problem->c;
  return func_raw(problem->c, (const double[]){x[0].as.real, x[1].as.real}, h);
}

/* ---- Ackley-cC as problems: h1 .. hc, x ------------------------------------------ */

enum { ACKLEY_MAX_C = 5 };

static cocabo_status ackley_add_inputs(const bench_problem *problem,
                                       cocabo_space *space, cocabo_error *err) {
  cocabo_value levels[ACKLEY_LEVELS];
  for (int j = 0; j < ACKLEY_LEVELS; j++)
    levels[j] = bench_int(j);
  CB_TRY(bench_add_choices(space, "h", problem->c, levels, ACKLEY_LEVELS, 0, err));
  return cocabo_space_add_real(space, "x", -1.0, 1.0, 0.0, 0, err);
}

static double ackley_value(const bench_problem *problem, const cocabo_value *values,
                           uint64_t seed) {
  (void)seed;
  double z[ACKLEY_MAX_C + 1];
  for (int j = 0; j < problem->c; j++)
    z[j] = ackley_level((int)values[j].as.integer);
  z[problem->c] = values[problem->c].as.real;
  return ackley_raw(problem->c + 1, z);
}

/* ---- the table ------------------------------------------------------------------ */

/* The camel's minimum is -1.0316284534898774; with h = (1,1) it counts twice, with
 * h = (1,1,0) seven times. */
#define CAMEL 0.10316284534898774
#define FUNC(its_name, n, best, text)                                                  \
  {                                                                                    \
    .name = (its_name), .help = (text), .d = 2, .c = (n), .optimum = (best),           \
    .add_inputs = func_add_inputs, .value = func_value                                 \
  }
#define ACKLEY(its_name, n)                                                            \
  {                                                                                    \
    .name = (its_name), .help = "Ackley, " #n " categories of 17 levels, 1 number",    \
    .d = 1, .c = (n), .optimum = 0.0, .add_inputs = ackley_add_inputs,                 \
    .value = ackley_value                                                              \
  }

const bench_problem bench_synthetic[] = {
    FUNC("func-2c", 2, 2 * CAMEL, "sum of two functions, 3 x 5 categories, 2 numbers"),
    FUNC("func-3c", 3, 7 * CAMEL,
         "sum of three functions, 3 x 5 x 4 categories, 2 numbers"),
    ACKLEY("ackley-2c", 2),
    ACKLEY("ackley-3c", 3),
    ACKLEY("ackley-4c", 4),
    ACKLEY("ackley-5c", 5),
};
const int bench_synthetic_count = sizeof bench_synthetic / sizeof bench_synthetic[0];
