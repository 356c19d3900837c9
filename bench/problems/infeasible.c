/* infeasible.c - two problems that crash in 40 % of their space, and one with measured
 * constraints: functions of other files, and the table of these problems. */
#include "problems/infeasible.h"

#include <math.h>
#include <string.h>

#include "problems/discrete.h"
#include "problems/synthetic.h"

/* Where x2 is above a limit that h1 moves. One of the two optima of Func-2C, at x2 =
 * 0.356, lies there, the other does not. */
static double crashing_func_value(const bench_problem *problem,
                                  const cocabo_value *values, uint64_t seed) {
  const char *h1 = values[0].as.text;
  const double limit = strcmp(h1, "ros") == 0   ? -0.2
                       : strcmp(h1, "cam") == 0 ? 0.2
                                                : 0.6;
  return values[3].as.real > limit ? NAN : func_value(problem, values, seed);
}

/* Beyond a plane at a distance of 0.15 from the optimum. */
static double crashing_ackley_value(const bench_problem *problem,
                                    const cocabo_value *values, uint64_t seed) {
  double sum = 0.0;
  for (int j = 0; j < problem->d; j++)
    sum += values[problem->c + j].as.real;
  return sum > 0.27 ? NAN : binary_ackley_value(problem, values, seed);
}

static double vessel_cost(const bench_problem *problem, const cocabo_value *values,
                          uint64_t seed) {
  (void)problem, (void)seed;
  return -vessel_build(values).cost;
}

static int vessel_measure(const bench_problem *problem, const cocabo_value *values,
                          cocabo_metric *out) {
  (void)problem;
  const vessel v = vessel_build(values);
  out[0] = (cocabo_metric){"shell", v.shell};
  out[1] = (cocabo_metric){"head", v.head};
  out[2] = (cocabo_metric){"volume", v.volume};
  return 3;
}

const bench_problem bench_infeasible[] = {
    {
        .name = "func-2c-crash",
        .help = "func-2c that crashes in 40 % of its space",
        .d = 2,
        .c = 2,
        .optimum = 2 * 0.10316284534898774,
        .failure = "it crashed",
        .add_inputs = func_add_inputs,
        .value = crashing_func_value,
    },
    {
        .name = "ackley-crash",
        .help = "Ackley, 3 binaries, 3 numbers, crashes in 40 % of its space",
        .d = 3,
        .c = 3,
        .optimum = 0.0,
        .failure = "it crashed",
        .add_inputs = binary_ackley_add_inputs,
        .value = crashing_ackley_value,
    },
    {
        .name = "pressure-vessel-measured",
        .help = "cost of a vessel, whose three rules are measured constraints",
        .d = 4,
        .c = 0,
        .optimum = -6059.7143350484364,
        .constraints = "shell >= 0, head >= 0, volume >= 1296000",
        .add_inputs = vessel_add_inputs,
        .value = vessel_cost,
        .measure = vessel_measure,
    },
};
const int bench_infeasible_count = sizeof bench_infeasible / sizeof bench_infeasible[0];
