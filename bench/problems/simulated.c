/* simulated.c - the problems contamination and pest-control: a spreading population,
 * stage by stage, in simulations with fixed random numbers. */
#include "problems/simulated.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

#include "base/rng.h"
#include "base/status.h"
#include "problems/inputs.h"

enum { STAGES = 25, SIMULATIONS = 100 };

/* ---- the population ------------------------------------------------------------- */

/* One number for each simulation. */
typedef struct sample {
  double of[SIMULATIONS];
} sample;

/* What a sample of a stage is for: it has a stream of its own, so that no decision
 * changes what another one meets. */
typedef enum role { SPREAD = 1, CONTROL = 2 } role;

static uint32_t number_of(int stage, role what) {
  return (uint32_t)(2 * stage + (int)what);
}
enum { INITIAL = 0 }; /* the number of the initial state; no stage has it */

/* Beta(1, b) by its inverse cdf. */
static sample draw_beta(uint32_t stream, uint32_t number, double b) {
  sample draws;
  cb_rng rng = bench_rng(BENCH_PROBLEM_SEED, stream, number);
  for (int k = 0; k < SIMULATIONS; k++)
    draws.of[k] = 1.0 - pow(1.0 - cb_rng_uniform(&rng), 1.0 / b);
  return draws;
}

/* The fraction afflicted, left alone for a stage and treated in it. */
static void spread(sample *p, const sample *rate) {
  for (int k = 0; k < SIMULATIONS; k++)
    p->of[k] += rate->of[k] * (1.0 - p->of[k]);
}

static void control(sample *p, const sample *rate) {
  for (int k = 0; k < SIMULATIONS; k++)
    p->of[k] *= 1.0 - rate->of[k];
}

static const double b_initial = 30.0, b_spread = 17.0 / 3.0;
static const double limit = 0.1;

static int count_above(const sample *p) {
  int n = 0;
  for (int k = 0; k < SIMULATIONS; k++)
    n += p->of[k] > limit;
  return n;
}

static int count_below(const sample *p) {
  int n = 0;
  for (int k = 0; k < SIMULATIONS; k++)
    n += p->of[k] < limit;
  return n;
}

/* ---- contamination: prevention h_i = 1 or none in each stage of a food chain ----- */

static cocabo_status contamination_add_inputs(const bench_problem *problem,
                                              cocabo_space *space, cocabo_error *err) {
  const cocabo_value binary[] = {bench_int(0), bench_int(1)};
  return bench_add_choices(space, "h", problem->c, binary, 2, 0, err);
}

/* Minimised: sum_i [h_i - (mean(Z_i < 0.1) - 0.95)] + 0.01 sum_i h_i, Z_i after stage
 * i. */
static double contamination_value(const bench_problem *problem,
                                  const cocabo_value *values, uint64_t seed) {
  (void)seed;
  (void)problem;
  const uint32_t stream = BENCH_STREAM_CONTAMINATION;
  sample z = draw_beta(stream, INITIAL, b_initial);
  int preventions = 0, clean = 0;
  for (int i = 0; i < STAGES; i++) {
    if (values[i].as.integer) {
      const sample rate = draw_beta(stream, number_of(i, CONTROL), 3.0 / 7.0);
      control(&z, &rate);
      preventions++;
    } else {
      const sample rate = draw_beta(stream, number_of(i, SPREAD), b_spread);
      spread(&z, &rate);
    }
    clean += count_below(&z);
  }
  return (clean - 95 * STAGES - 101 * preventions) / 100.0; /* whole hundredths */
}

/* ---- pest control: one of four pesticides or none in each stage ------------------ */

/* A pesticide is drawn to Beta(1, b), and b grows with every use; it is cheaper the
 * more of it is bought. */
typedef struct pesticide {
  double price, discount, tolerance, b;
} pesticide;

enum { PESTICIDES = 4, ACTIONS = PESTICIDES + 1 }; /* action 0 does nothing */
static const pesticide pesticides[ACTIONS] = {{0},
                                              {1.0, 0.2, 1.0 / 7.0, 2.0 / 7.0},
                                              {0.8, 0.3, 2.5 / 7.0, 3.0 / 7.0},
                                              {0.7, 0.3, 2.0 / 7.0, 3.0 / 7.0},
                                              {0.5, 0.0, 0.5 / 7.0, 5.0 / 7.0}};

/* The actions are listed in another order in each stage, which is part of the problem:
 * listed alike, a constant sequence of numbers would be nearly the best. */
static cocabo_status pest_add_inputs(const bench_problem *problem, cocabo_space *space,
                                     cocabo_error *err) {
  for (int i = 0; i < problem->c; i++) {
    char name[16];
    int32_t order[ACTIONS];
    cocabo_value actions[ACTIONS];
    cb_rng rng = bench_rng(BENCH_PROBLEM_SEED, BENCH_STREAM_PEST_ORDER, (uint32_t)i);
    for (int t = 0; t < ACTIONS; t++)
      order[t] = t;
    cb_rng_shuffle(&rng, ACTIONS, order);
    for (int t = 0; t < ACTIONS; t++)
      actions[t] = bench_int(order[t]);
    snprintf(name, sizeof name, "h%d", i + 1);
    CB_TRY(cocabo_space_add_choice(space, name, actions, ACTIONS, 0, err));
  }
  return COCABO_OK;
}

static double pest_price(const int uses[ACTIONS]) {
  double sum = 0.0;
  for (int t = 1; t < ACTIONS; t++)
    sum += uses[t] * pesticides[t].price *
           (1.0 - pesticides[t].discount * uses[t] / STAGES);
  return sum;
}

/* Minimised: sum_i mean(p_i > 0.1), p_i before stage i, and what the pesticides cost.
 */
static double pest_value(const bench_problem *problem, const cocabo_value *values,
                         uint64_t seed) {
  (void)seed;
  (void)problem;
  const uint32_t stream = BENCH_STREAM_PEST;
  sample p = draw_beta(stream, INITIAL, b_initial);
  int uses[ACTIONS] = {0}, above = 0;
  for (int i = 0; i < STAGES; i++) {
    const int action = (int)values[i].as.integer;
    assert(action >= 0 && action < ACTIONS);
    above += count_above(&p);
    if (action == 0) {
      const sample rate = draw_beta(stream, number_of(i, SPREAD), b_spread);
      spread(&p, &rate);
    } else {
      const pesticide *used = &pesticides[action];
      const double b = used->b + uses[action] * used->tolerance / STAGES;
      const sample rate = draw_beta(stream, number_of(i, CONTROL), b);
      control(&p, &rate);
    }
    uses[action]++;
  }
  return -((double)above / SIMULATIONS + pest_price(uses));
}

/* ---- the table ------------------------------------------------------------------ */

/* contamination: the best of all 2^25 points, by depth-first search over the stages.
 * pest-control: the best known, which 42 annealings of one to three million steps all
 * end at: pesticide 3 in every stage but the last. It is -12.0216 as pest_value rounds
 * it. */
const bench_problem bench_simulated[] = {
    {
        .name = "contamination",
        .help = "prevention in 25 stages of a food chain, 25 binaries",
        .d = 0,
        .c = STAGES,
        .optimum = -21.63,
        .add_inputs = contamination_add_inputs,
        .value = contamination_value,
    },
    {
        .name = "pest-control",
        .help = "one of 4 pesticides or none in each of 25 stages",
        .d = 0,
        .c = STAGES,
        .optimum = -12.021599999999998,
        .add_inputs = pest_add_inputs,
        .value = pest_value,
    },
};
const int bench_simulated_count = sizeof bench_simulated / sizeof bench_simulated[0];
