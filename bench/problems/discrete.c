/* discrete.c - Ackley over binaries, Rosenbrock over ordinals, and low autocorrelation
 * binary sequences: raw functions, inputs, and the table of these problems. */
#include "problems/discrete.h"

#include <math.h>
#include <stdlib.h>

#include "base/rng.h"
#include "base/status.h"
#include "problems/inputs.h"
#include "problems/synthetic.h"

static const double pi = 3.14159265358979323846;

/* ---- Ackley over binaries and numbers: h1 .. hc in {0, 1}, x1 x2 x3 ---------------
 */

enum { ACKLEY_MAX_INPUTS = 53 };

cocabo_status binary_ackley_add_inputs(const bench_problem *problem,
                                       cocabo_space *space, cocabo_error *err) {
  const cocabo_value binary[] = {bench_int(0), bench_int(1)};
  CB_TRY(bench_add_choices(space, "h", problem->c, binary, 2, 0, err));
  return bench_add_reals(space, "x", problem->d, -1.0, 1.0, 0.0, err);
}

double binary_ackley_value(const bench_problem *problem, const cocabo_value *values,
                           uint64_t seed) {
  (void)seed;
  double z[ACKLEY_MAX_INPUTS];
  const int c = problem->c, n = problem->c + problem->d;
  for (int i = 0; i < c; i++)
    z[i] = (double)values[i].as.integer;
  for (int i = c; i < n; i++)
    z[i] = values[i].as.real;
  return ackley_raw(n, z);
}

/* The same with z_i = |b_i - h_i|: here a method that leans to all zeros, or to all
 * ones, gains nothing by it. */
static double flipped_ackley_value(const bench_problem *problem,
                                   const cocabo_value *values, uint64_t seed) {
  cocabo_value turned[ACKLEY_MAX_INPUTS];
  cb_rng rng = bench_rng(BENCH_PROBLEM_SEED, BENCH_STREAM_FLIP, 0);
  for (int i = 0; i < problem->c; i++) {
    const int64_t b = cb_rng_below(&rng, 2);
    turned[i] = bench_int(llabs(b - values[i].as.integer));
  }
  for (int i = problem->c; i < problem->c + problem->d; i++)
    turned[i] = values[i];
  return binary_ackley_value(problem, turned, seed);
}

/* ---- Rosenbrock over six ordinals and four numbers: k1 .. k6, x1 .. x4 ------------
 */

enum { ROSENBROCK_ORDINALS = 6, ROSENBROCK_REALS = 4, ROSENBROCK_LEVELS = 4 };

static cocabo_status rosenbrock_add_inputs(const bench_problem *problem,
                                           cocabo_space *space, cocabo_error *err) {
  (void)problem;
  cocabo_value levels[ROSENBROCK_LEVELS];
  for (int k = 0; k < ROSENBROCK_LEVELS; k++)
    levels[k] = bench_real(-2.1 + 4.4 * k / 3.0);
  CB_TRY(bench_add_choices(space, "k", ROSENBROCK_ORDINALS, levels, ROSENBROCK_LEVELS,
                           COCABO_ORDERED, err));
  return bench_add_reals(space, "x", ROSENBROCK_REALS, -2.0, 2.0, 0.0, err);
}

static double rosenbrock_value(const bench_problem *problem, const cocabo_value *values,
                               uint64_t seed) {
  (void)seed;
  double sum = 0.0;
  for (int i = 0; i + 1 < problem->d; i++) {
    const double x = values[i].as.real;
    const double valley = values[i + 1].as.real - x * x, slope = 1.0 - x;
    sum += 100.0 * valley * valley + slope * slope;
  }
  return -sum;
}

/* ---- low autocorrelation binary sequences: s1 .. s50 in {-1, 1} -------------------
 */

enum { LABS_LENGTH = 50 };

static cocabo_status labs_add_inputs(const bench_problem *problem, cocabo_space *space,
                                     cocabo_error *err) {
  const cocabo_value signs[] = {bench_int(-1), bench_int(1)};
  return bench_add_choices(space, "s", problem->c, signs, 2, 0, err);
}

/* The merit factor n^2 / (2 E), E the sum of the squared autocorrelations. */
static double labs_value(const bench_problem *problem, const cocabo_value *values,
                         uint64_t seed) {
  (void)seed;
  const int n = problem->c;
  int64_t energy = 0;
  for (int lag = 1; lag < n; lag++) {
    int64_t correlation = 0;
    for (int j = 0; j + lag < n; j++)
      correlation += values[j].as.integer * values[j + lag].as.integer;
    energy += correlation * correlation;
  }
  return (double)n * n / (2.0 * (double)energy); /* lag n - 1 alone gives E >= 1 */
}

/* ---- pressure vessel: x1 (shell), x2 (head), x3 (radius), x4 (length), in inches --
 */

cocabo_status vessel_add_inputs(const bench_problem *problem, cocabo_space *space,
                                cocabo_error *err) {
  (void)problem;
  const double plate = 0.0625; /* thicknesses are sold in multiples of it */
  CB_TRY(cocabo_space_add_real(space, "x1", plate, 99 * plate, plate, 0, err));
  CB_TRY(cocabo_space_add_real(space, "x2", plate, 99 * plate, plate, 0, err));
  CB_TRY(cocabo_space_add_real(space, "x3", 10.0, 200.0, 0.0, 0, err));
  return cocabo_space_add_real(space, "x4", 10.0, 200.0, 0.0, 0, err);
}

/* By which part of what is wanted there is too little. */
static double shortfall(double have, double want) {
  return have < want ? 1.0 - have / want : 0.0;
}

vessel vessel_build(const cocabo_value *values) {
  const double x1 = values[0].as.real, x2 = values[1].as.real;
  const double x3 = values[2].as.real, x4 = values[3].as.real;
  return (vessel){.cost = 0.6224 * x1 * x3 * x4 + 1.7781 * x2 * x3 * x3 +
                          3.1661 * x1 * x1 * x4 + 19.84 * x1 * x1 * x3,
                  .shell = x1 - 0.0193 * x3,
                  .head = x2 - 0.00954 * x3,
                  .volume = pi * x3 * x3 * x4 + 4.0 / 3.0 * pi * x3 * x3 * x3};
}

static double vessel_value(const bench_problem *problem, const cocabo_value *values,
                           uint64_t seed) {
  (void)seed;
  (void)problem;
  const vessel v = vessel_build(values);
  const double x1 = values[0].as.real, x2 = values[1].as.real, x3 = values[2].as.real;
  const double violation = shortfall(x1, 0.0193 * x3) + shortfall(x2, 0.00954 * x3) +
                           shortfall(v.volume, 1296000.0);
  return -(v.cost + 1e5 * violation);
}

/* ---- the table ------------------------------------------------------------------ */

#define BINARY_ACKLEY(its_name, n, function, text)                                     \
  {                                                                                    \
    .name = (its_name), .help = (text), .d = 3, .c = (n), .optimum = 0.0,              \
    .add_inputs = binary_ackley_add_inputs, .value = (function)                        \
  }

/* rosenbrock-10-mixed: at the third level of every ordinal, x = 0.7149 0.5233 0.2811
 * 0.0790. labs-50: the least E is 153 (Packebusch and Mertens, 2016, by exhaustive
 * search). pressure-vessel: at 0.8125, 0.4375 and the radius and the length that just
 * satisfy the first and the last bound. */
const bench_problem bench_discrete[] = {
    BINARY_ACKLEY("ackley-13", 10, binary_ackley_value,
                  "Ackley, 10 binaries, 3 numbers"),
    BINARY_ACKLEY("ackley-53", 50, binary_ackley_value,
                  "Ackley, 50 binaries, 3 numbers"),
    BINARY_ACKLEY("ackley-53-flipped", 50, flipped_ackley_value,
                  "Ackley, 50 binaries of which some are turned, 3 numbers"),
    {
        .name = "rosenbrock-10-mixed",
        .help = "Rosenbrock, 6 ordinals of 4 levels, 4 numbers",
        .d = ROSENBROCK_ORDINALS + ROSENBROCK_REALS,
        .c = 0,
        .optimum = -10.699106880154319,
        .add_inputs = rosenbrock_add_inputs,
        .value = rosenbrock_value,
    },
    {
        .name = "labs-50",
        .help = "merit factor of a sequence of 50 signs",
        .d = 0,
        .c = LABS_LENGTH,
        .optimum = 2500.0 / (2 * 153),
        .add_inputs = labs_add_inputs,
        .value = labs_value,
    },
    {
        .name = "pressure-vessel",
        .help = "cost of a vessel, 2 numbers in steps, 2 numbers",
        .d = 4,
        .c = 0,
        .optimum = -6059.7143350484364,
        .add_inputs = vessel_add_inputs,
        .value = vessel_value,
    },
};
const int bench_discrete_count = sizeof bench_discrete / sizeof bench_discrete[0];
