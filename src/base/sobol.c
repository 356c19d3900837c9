/* sobol.c - sobol points from direction numbers, and their Owen scrambling.
 *
 * Coordinates are fractions of 2^32. sobol_numbers.h has the primitive polynomials and
 * the first direction numbers of Joe and Kuo (2008).
 */
#include "base/sobol.h"

#include <assert.h>

#include "base/rng.h"
#include "base/sobol_numbers.h"

enum { BITS = 32 };

_Static_assert(CB_SOBOL_DIMENSIONS == 1 + sizeof joe_kuo / sizeof joe_kuo[0],
               "a row for each dimension but the first");

static int degree_of(uint32_t polynomial) {
  int degree = 0;
  while (polynomial >> (degree + 1))
    degree++;
  return degree;
}

/* Direction number k of dimension j as a fraction of 2^32: v_k = m_k 2^(31-k), and
 * beyond the degree s of the polynomial x^s + a_1 x^(s-1) + ... + 1
 *
 *   v_k = a_1 v_(k-1) ^ ... ^ a_(s-1) v_(k-s+1) ^ v_(k-s) ^ (v_(k-s) >> s). */
static void directions(int j, uint32_t v[BITS]) {
  if (j == 0) {
    for (int k = 0; k < BITS; k++)
      v[k] = UINT32_C(1) << (BITS - 1 - k);
    return;
  }
  const uint16_t *row = joe_kuo[j - 1];
  const int s = degree_of(row[0]);
  for (int k = 0; k < s; k++)
    v[k] = (uint32_t)row[1 + k] << (BITS - 1 - k);
  for (int k = s; k < BITS; k++) {
    v[k] = v[k - s] ^ (v[k - s] >> s);
    for (int i = 1; i < s; i++)
      if (row[0] >> (s - i) & 1)
        v[k] ^= v[k - i];
  }
}

uint32_t cb_sobol_plain(int j, uint32_t i) {
  assert(j >= 0 && j < CB_SOBOL_DIMENSIONS);
  uint32_t v[BITS] = {0}, at = 0;
  directions(j, v);
  uint32_t gray = i ^ i >> 1;
  for (int k = 0; gray; k++, gray >>= 1)
    if (gray & 1)
      at ^= v[k];
  return at;
}

/* A random word that belongs to the first `level` bits of a coordinate of dimension j.
 */
static uint32_t word_at(uint64_t seed, int j, int level, uint32_t prefix) {
  const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
  const uint32_t counter[4] = {prefix, CB_RNG_SOBOL, (uint32_t)j, (uint32_t)level};
  uint32_t out[4];
  cb_philox(counter, key, out);
  return out[0];
}

double cb_sobol_scrambled(uint64_t seed, int j, uint32_t i) {
  const uint32_t at = cb_sobol_plain(j, i);
  uint32_t flips = word_at(seed, j, 0, 0) >> (BITS - 1);
  for (int level = 1; level < BITS; level++)
    flips = flips << 1 | word_at(seed, j, level, at >> (BITS - level)) >> (BITS - 1);
  const uint64_t low = word_at(seed, j, BITS, at) >> 11;
  return (double)((uint64_t)(at ^ flips) << 21 | low) * 0x1p-53;
}
