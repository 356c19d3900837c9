#include "check.h"

#include "base/rng.h"

/* ---- the bijection -------------------------------------------------------------- */

/* Random123's kat_vectors for philox4x32 with 10 rounds. */
static void philox_gives_the_published_answers(void **state) {
  (void)state;
  static const struct {
    uint32_t counter[4], key[2], out[4];
  } known[] = {
      {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
       {0xffffffff, 0xffffffff},
       {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
      {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
       {0xa4093822, 0x299f31d0},
       {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
  };
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    uint32_t out[4];
    cb_philox(known[i].counter, known[i].key, out);
    assert_memory_equal(out, known[i].out, sizeof out);
  }
}

/* ---- streams -------------------------------------------------------------------- */

static void a_stream_is_the_blocks_of_its_counter(void **state) {
  (void)state;
  cb_rng rng = cb_rng_make(0x0123456789abcdef, CB_RNG_FIT, 0xfedcba9876543210);
  const uint32_t key[2] = {0x89abcdef, 0x01234567};
  for (uint32_t block = 0; block < 3; block++) {
    const uint32_t counter[4] = {block, CB_RNG_FIT, 0x76543210, 0xfedcba98};
    uint32_t want[4];
    cb_philox(counter, key, want);
    for (int i = 0; i < 4; i++)
      assert_int_equal(cb_rng_u32(&rng), want[i]);
  }
}

static void wide_words_take_the_low_half_first(void **state) {
  (void)state;
  cb_rng words = cb_rng_make(77, CB_RNG_DESIGN, 3), wide = words, real = words;
  (void)cb_rng_u32(&words); /* an odd start, so that a pair spans two blocks */
  (void)cb_rng_u32(&wide);
  (void)cb_rng_u32(&real);
  for (int i = 0; i < 5; i++) {
    const uint64_t low = cb_rng_u32(&words), high = cb_rng_u32(&words);
    const uint64_t u = cb_rng_u64(&wide);
    assert_true(u == (high << 32 | low));
    assert_true(cb_rng_uniform(&real) == (double)(u >> 11) / 9007199254740992.0);
  }
}

static void a_copy_replays_the_stream(void **state) {
  (void)state;
  cb_rng rng = cb_rng_make(5, CB_RNG_ACQUIRE, 8);
  (void)cb_rng_normal(&rng);
  (void)cb_rng_below(&rng, 17);
  cb_rng copy = rng;
  for (int i = 0; i < 7; i++) {
    assert_true(cb_rng_normal(&rng) == cb_rng_normal(&copy));
    assert_int_equal(cb_rng_u32(&rng), cb_rng_u32(&copy));
  }
}

/* Bits that two streams share among 64 * n: binomial with p = 1/2 if independent. */
static double agreement(cb_rng a, cb_rng b, int n) {
  int same = 0;
  for (int i = 0; i < n; i++)
    for (uint64_t equal = ~(cb_rng_u64(&a) ^ cb_rng_u64(&b)); equal; equal &= equal - 1)
      same++;
  return (same - 32.0 * n) / sqrt(16.0 * n);
}

static void streams_differ_by_seed_purpose_and_number(void **state) {
  (void)state;
  const uint64_t high = (uint64_t)1 << 32;
  const cb_rng base = cb_rng_make(11, 2, 5);
  const cb_rng others[] = {
      cb_rng_make(12, 2, 5), cb_rng_make(11 + high, 2, 5), cb_rng_make(11, 3, 5),
      cb_rng_make(11, 2, 6), cb_rng_make(11, 2, 5 + high), cb_rng_make(5, 2, 11),
      cb_rng_make(11, 5, 2),
  };
  enum { OTHERS = sizeof others / sizeof others[0] };
  for (int i = 0; i < OTHERS; i++) {
    assert_true(fabs(agreement(base, others[i], 4000)) < 4.0);
    for (int j = 0; j < i; j++)
      assert_true(fabs(agreement(others[i], others[j], 4000)) < 4.0);
  }
  assert_true(agreement(base, base, 4000) > 100.0); /* the measure itself works */
}

/* ---- distributions: fixed seeds, limits at five deviations ----------------------- */

/* (chi^2 - df) / sqrt(2 df) for counts that should be equal. */
static double excess_chi_square(const int *counts, int cells, int draws) {
  const double expected = (double)draws / cells;
  double chi2 = 0.0;
  for (int i = 0; i < cells; i++)
    chi2 += (counts[i] - expected) * (counts[i] - expected) / expected;
  return (chi2 - (cells - 1)) / sqrt(2.0 * (cells - 1));
}

static void uniform_numbers_fill_the_unit_interval_evenly(void **state) {
  (void)state;
  enum { CELLS = 256, DRAWS = 400000 };
  for (uint64_t seed = 1; seed <= 3; seed++) {
    int counts[CELLS] = {0}, pairs[CELLS] = {0}, previous = 0;
    cb_rng rng = cb_rng_make(seed, CB_RNG_RANDOM, 0);
    for (int i = 0; i < DRAWS; i++) {
      const double u = cb_rng_uniform(&rng);
      assert_true(u >= 0.0 && u < 1.0);
      counts[(int)(u * CELLS)]++;
      pairs[16 * previous + (int)(u * 16)]++; /* and no memory of the last one */
      previous = (int)(u * 16);
    }
    assert_true(fabs(excess_chi_square(counts, CELLS, DRAWS)) < 5.0);
    assert_true(fabs(excess_chi_square(pairs, CELLS, DRAWS)) < 5.0);
  }
}

static void uniform_numbers_use_all_53_bits(void **state) {
  (void)state;
  cb_rng rng = cb_rng_make(9, CB_RNG_RANDOM, 9);
  uint64_t ones = 0, zeros = 0;
  for (int i = 0; i < 200; i++) {
    const uint64_t bits = (uint64_t)(cb_rng_uniform(&rng) * 0x1p53);
    ones |= bits;
    zeros |= ~bits;
  }
  const uint64_t all = ((uint64_t)1 << 53) - 1;
  assert_true((ones & all) == all && (zeros & all) == all);
}

static void below_is_even_for_small_ranges(void **state) {
  (void)state;
  enum { DRAWS = 200000 };
  const uint32_t sizes[] = {2, 3, 7, 17, 100};
  for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
    int counts[100] = {0};
    cb_rng rng = cb_rng_make(k + 1, CB_RNG_BENCH, 4);
    for (int i = 0; i < DRAWS; i++) {
      const uint32_t v = cb_rng_below(&rng, sizes[k]);
      assert_true(v < sizes[k]);
      counts[v]++;
    }
    assert_true(fabs(excess_chi_square(counts, (int)sizes[k], DRAWS)) < 5.0);
  }
}

static void below_one_is_always_zero(void **state) {
  (void)state;
  cb_rng rng = cb_rng_make(3, CB_RNG_BENCH, 1);
  for (int i = 0; i < 100; i++)
    assert_int_equal(cb_rng_below(&rng, 1), 0);
}

/* With n = 2^31 + 1 half of all words are drawn again. With n = 3 2^30 a quarter is,
 * and without that every third value would be twice as frequent as the others. */
static void below_is_even_where_many_words_are_rejected(void **state) {
  (void)state;
  enum { CELLS = 64, DRAWS = 300000 };
  const uint32_t sizes[] = {0x80000001u, 0xc0000000u};
  for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
    int counts[CELLS] = {0}, residues[3] = {0};
    cb_rng rng = cb_rng_make(6, CB_RNG_BENCH, k);
    for (int i = 0; i < DRAWS; i++) {
      const uint32_t v = cb_rng_below(&rng, sizes[k]);
      assert_true(v < sizes[k]);
      counts[(uint64_t)v * CELLS / sizes[k]]++;
      residues[v % 3]++;
    }
    assert_true(fabs(excess_chi_square(counts, CELLS, DRAWS)) < 5.0);
    assert_true(fabs(excess_chi_square(residues, 3, DRAWS)) < 5.0);
  }
}

/* The words of the stream are known, so the rule itself can be checked: a word w is
 * accepted when the low half of w n is at least 2^32 mod n. */
static void below_rejects_exactly_the_excess_words(void **state) {
  (void)state;
  const uint32_t sizes[] = {3, 0x80000001u, 0xc0000000u, 0xffffffffu};
  for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
    const uint64_t n = sizes[k], excess = ((uint64_t)1 << 32) % n;
    cb_rng words = cb_rng_make(8, CB_RNG_BENCH, k), rng = words;
    for (int i = 0; i < 1000; i++) {
      uint64_t product;
      do
        product = cb_rng_u32(&words) * n;
      while ((product & 0xffffffffu) < excess);
      assert_int_equal(cb_rng_below(&rng, sizes[k]), product >> 32);
    }
  }
}

/* Stored behaviour: which two words make a normal number, and how. */
static void normal_numbers_are_made_of_two_uniform_ones(void **state) {
  (void)state;
  cb_rng rng = cb_rng_make(10, CB_RNG_BENCH, 8), uniform = rng;
  for (int i = 0; i < 100; i++) {
    const double u = cb_rng_uniform(&uniform), v = cb_rng_uniform(&uniform);
    assert_close(cb_rng_normal(&rng),
                 sqrt(-2.0 * log1p(-u)) * cos(6.283185307179586477 * v), 1e-14);
  }
}

static void normal_numbers_have_the_normal_moments(void **state) {
  (void)state;
  enum { DRAWS = 400000 };
  /* E z^k for k = 1..6, and the variances of z^k: E z^2k - (E z^k)^2. */
  const double want[6] = {0, 1, 0, 3, 0, 15};
  const double variance[6] = {1, 2, 15, 96, 945, 10170};
  for (uint64_t seed = 1; seed <= 3; seed++) {
    double sums[6] = {0}, product = 0.0, previous = 0.0;
    int beyond_two = 0;
    cb_rng rng = cb_rng_make(seed, CB_RNG_BENCH, 7);
    for (int i = 0; i < DRAWS; i++) {
      const double z = cb_rng_normal(&rng);
      double power = 1.0;
      for (int k = 0; k < 6; k++)
        sums[k] += power *= z;
      product += z * previous;
      previous = z;
      beyond_two += fabs(z) > 2.0;
    }
    for (int k = 0; k < 6; k++)
      assert_true(fabs(sums[k] / DRAWS - want[k]) < 5.0 * sqrt(variance[k] / DRAWS));
    assert_true(fabs(product / DRAWS) < 5.0 / sqrt(DRAWS));
    assert_true(fabs((double)beyond_two / DRAWS - 0.0455003) < 5.0 * 0.20840 / 632.4);
  }
}

/* ---- shuffle -------------------------------------------------------------------- */

static void shuffling_permutes(void **state) {
  (void)state;
  enum { N = 200 };
  int32_t items[N];
  cb_rng rng = cb_rng_make(4, CB_RNG_BENCH, 3);
  for (int n = 0; n <= N; n += n < 3 ? 1 : 197) {
    int seen[N] = {0};
    for (int i = 0; i < n; i++)
      items[i] = i;
    cb_rng_shuffle(&rng, n, items);
    for (int i = 0; i < n; i++) {
      assert_in_range(items[i], 0, n - 1);
      seen[items[i]]++;
    }
    for (int i = 0; i < n; i++)
      assert_int_equal(seen[i], 1);
  }
}

static void every_order_of_four_is_equally_likely(void **state) {
  (void)state;
  enum { DRAWS = 240000 };
  int counts[256] = {0}, orders[24], n_orders = 0;
  cb_rng rng = cb_rng_make(2, CB_RNG_BENCH, 6);
  for (int i = 0; i < DRAWS; i++) {
    int32_t items[4] = {0, 1, 2, 3};
    cb_rng_shuffle(&rng, 4, items);
    counts[items[0] | items[1] << 2 | items[2] << 4 | items[3] << 6]++;
  }
  for (int code = 0; code < 256; code++) {
    if (counts[code] == 0)
      continue;
    assert_true(n_orders < 24);
    orders[n_orders++] = counts[code];
  }
  assert_int_equal(n_orders, 24);
  assert_true(fabs(excess_chi_square(orders, 24, DRAWS)) < 5.0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(philox_gives_the_published_answers),
      cmocka_unit_test(a_stream_is_the_blocks_of_its_counter),
      cmocka_unit_test(wide_words_take_the_low_half_first),
      cmocka_unit_test(a_copy_replays_the_stream),
      cmocka_unit_test(streams_differ_by_seed_purpose_and_number),
      cmocka_unit_test(uniform_numbers_fill_the_unit_interval_evenly),
      cmocka_unit_test(uniform_numbers_use_all_53_bits),
      cmocka_unit_test(below_is_even_for_small_ranges),
      cmocka_unit_test(below_one_is_always_zero),
      cmocka_unit_test(below_is_even_where_many_words_are_rejected),
      cmocka_unit_test(below_rejects_exactly_the_excess_words),
      cmocka_unit_test(normal_numbers_are_made_of_two_uniform_ones),
      cmocka_unit_test(normal_numbers_have_the_normal_moments),
      cmocka_unit_test(shuffling_permutes),
      cmocka_unit_test(every_order_of_four_is_equally_likely),
  };
  return cmocka_run_group_tests_name("base/rng", tests, NULL, NULL);
}
