/* rng.h - Philox4x32-10, a counter-based generator (Salmon et al., 2011).
 *
 * A stream is named by (seed, purpose, number): the seed is the 64-bit key, purpose and
 * number are the high 96 bits of the 128-bit counter, and the low 32 bits count blocks.
 * So any draw of any trial can be replayed without replaying those before it. A cb_rng
 * is a plain value: copy it to fork a stream, keep it to replay one.
 */
#ifndef CB_BASE_RNG_H
#define CB_BASE_RNG_H

#include <stdint.h>

/* What the randomness of a trial is spent on. Values are stored behaviour: pinned. */
typedef enum cb_purpose {
  CB_RNG_DESIGN = 1,  /* initial points */
  CB_RNG_RANDOM = 2,  /* sampler random, and every fall-back to it */
  CB_RNG_BANDIT = 3,  /* categories */
  CB_RNG_ACQUIRE = 4, /* candidates of the acquisition's maximiser */
  CB_RNG_FIT = 5,     /* restarts of the hyper-parameter fit */
  CB_RNG_TRIAL = 6,   /* the seed handed to the user's program */
  CB_RNG_SOBOL = 7,   /* scrambling of Sobol points */
  CB_RNG_SHARES = 8,  /* the importance of parameters */
  CB_RNG_SPACE = 9,   /* which part of a space keeps its rules */
  CB_RNG_PAIRS = 11,  /* the order of instances and seeds */
  CB_RNG_BENCH = 100  /* cocabo-bench: noise, permutations, test points */
} cb_purpose;

typedef struct cb_rng {
  uint32_t key[2];
  uint32_t counter[4];
  uint32_t block[4]; /* output of the last counter */
  int used;          /* words of block already handed out; 4 = all */
} cb_rng;

/* One block of the bijection itself, for known-answer tests. */
void cb_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

cb_rng cb_rng_make(uint64_t seed, uint32_t purpose, uint64_t number);
uint32_t cb_rng_u32(cb_rng *rng);
uint64_t cb_rng_u64(cb_rng *rng);                        /* low word first */
double cb_rng_uniform(cb_rng *rng);                      /* [0, 1), 53 bits */
uint32_t cb_rng_below(cb_rng *rng, uint32_t n);          /* 0 .. n-1, unbiased; n > 0 */
double cb_rng_normal(cb_rng *rng);                       /* N(0, 1) */
void cb_rng_shuffle(cb_rng *rng, int n, int32_t *items); /* Fisher-Yates, in place */

#endif
