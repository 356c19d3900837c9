/* rng.c - the Philox generator, and what is drawn from it: integers, uniform and
 * normal numbers.
 *
 * Every draw takes a known number of words but cb_rng_below, which rejects a word
 * rarely; nothing is kept between draws.
 */
#include "base/rng.h"

#include <assert.h>
#include <math.h>

#include "base/maths.h"

/* Multipliers and Weyl constants of the reference (Random123). */
#define PHILOX_M0 0xD2511F53u
#define PHILOX_M1 0xCD9E8D57u
#define PHILOX_W0 0x9E3779B9u
#define PHILOX_W1 0xBB67AE85u
#define PHILOX_ROUNDS 10

void cb_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]) {
  uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
  uint32_t k0 = key[0], k1 = key[1];
  for (int round = 0; round < PHILOX_ROUNDS; round++) {
    const uint64_t a = (uint64_t)PHILOX_M0 * c0;
    const uint64_t b = (uint64_t)PHILOX_M1 * c2;
    c0 = (uint32_t)(b >> 32) ^ c1 ^ k0;
    c1 = (uint32_t)b;
    c2 = (uint32_t)(a >> 32) ^ c3 ^ k1;
    c3 = (uint32_t)a;
    k0 += PHILOX_W0;
    k1 += PHILOX_W1;
  }
  out[0] = c0;
  out[1] = c1;
  out[2] = c2;
  out[3] = c3;
}

cb_rng cb_rng_make(uint64_t seed, uint32_t purpose, uint64_t number) {
  return (cb_rng){
      .key = {(uint32_t)seed, (uint32_t)(seed >> 32)},
      .counter = {0, purpose, (uint32_t)number, (uint32_t)(number >> 32)},
      .used = 4,
  };
}

/* counter[0] wraps after 2^34 words: the stream then repeats itself, but it never runs
 * into another one. */
uint32_t cb_rng_u32(cb_rng *rng) {
  if (rng->used == 4) {
    cb_philox(rng->counter, rng->key, rng->block);
    rng->counter[0]++;
    rng->used = 0;
  }
  return rng->block[rng->used++];
}

uint64_t cb_rng_u64(cb_rng *rng) {
  const uint64_t low = cb_rng_u32(rng);
  const uint64_t high = cb_rng_u32(rng);
  return high << 32 | low;
}

double cb_rng_uniform(cb_rng *rng) {
  return (double)(cb_rng_u64(rng) >> 11) * 0x1p-53;
}

/* Lemire (2019): the high word of n times a random word. Some values would get one word
 * more than others; the 2^32 mod n words of excess are those whose product has a low
 * word below 2^32 mod n, and they are drawn again. The remainder is only computed when
 * a low word below n shows that it may matter. */
uint32_t cb_rng_below(cb_rng *rng, uint32_t n) {
  assert(n > 0);
  uint64_t product = (uint64_t)cb_rng_u32(rng) * n;
  if ((uint32_t)product < n) {
    const uint32_t excess = (0u - n) % n;
    while ((uint32_t)product < excess)
      product = (uint64_t)cb_rng_u32(rng) * n;
  }
  return (uint32_t)(product >> 32);
}

/* Box and Muller (1958). The sine's value is thrown away rather than kept for the next
 * call, so that a cb_rng is all there is to know about its stream. */
double cb_rng_normal(cb_rng *rng) {
  const double radius = sqrt(-2.0 * cb_log(1.0 - cb_rng_uniform(rng))); /* 1 - u > 0 */
  const double turns = cb_rng_uniform(rng);
  return radius * cb_cos_turns(turns);
}

void cb_rng_shuffle(cb_rng *rng, int n, int32_t *items) {
  for (int last = n - 1; last > 0; last--) {
    const uint32_t other = cb_rng_below(rng, (uint32_t)last + 1);
    const int32_t held = items[last];
    items[last] = items[other];
    items[other] = held;
  }
}
