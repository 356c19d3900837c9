/* The text of a domain and the domain are two forms of one thing: add(domain(s)) is s,
 * for random spaces; and no text, however broken, does harm. */
#include "check.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "space/space.h"

static cocabo_error err;

/* Any finite double, of any size. */
static double any_double(cb_rng *rng) {
  double number;
  do {
    const uint64_t bits = cb_rng_u64(rng);
    memcpy(&number, &bits, sizeof number);
  } while (!isfinite(number));
  return number;
}

/* A double that people would write, or any. */
static double some_double(cb_rng *rng) {
  switch (cb_rng_below(rng, 4)) {
  case 0:
    return (double)cb_rng_below(rng, 21) - 10.0;
  case 1:
    return ((double)cb_rng_below(rng, 2001) - 1000.0) / 1000.0;
  case 2:
    return cb_rng_normal(rng) * pow(10.0, (double)cb_rng_below(rng, 30) - 15.0);
  default:
    return any_double(rng);
  }
}

static size_t put_character(char *out, cb_rng *rng) {
  static const char awkward[] = ",()\"\\ \t\n\r\x01\x1f\x7f'=eE.-+0123456789truefalsnl";
  static const char *const wide[] = {"\xc2\x80", "\xce\xbb", "\xe2\x82\xac",
                                     "\xef\xbf\xbf", "\xf0\x9f\x98\x80"};
  if (cb_rng_below(rng, 8) == 0)
    return (size_t)sprintf(out, "%s", wide[cb_rng_below(rng, 5)]);
  *out = awkward[cb_rng_below(rng, sizeof awkward - 1)];
  return 1;
}

static const char *some_text(char out[200], cb_rng *rng) {
  static const char *const words[] = {"true", "false", "null", "1",     "1.0", "-0",
                                      "1e5",  "",      " ",    "1e999", "nan", "adam"};
  size_t used = 0;
  if (cb_rng_below(rng, 3) == 0)
    return strcpy(out, words[cb_rng_below(rng, 12)]);
  for (uint32_t n = cb_rng_below(rng, 12); n > 0; n--)
    used += put_character(out + used, rng);
  out[used] = '\0';
  return out;
}

static cocabo_value some_value(char text[200], cb_rng *rng) {
  switch (cb_rng_below(rng, 6)) {
  case 0:
    return (cocabo_value){.type = COCABO_NULL};
  case 1:
    return (cocabo_value){.type = COCABO_BOOL, .as.boolean = (int)cb_rng_below(rng, 2)};
  case 2:
    return (cocabo_value){.type = COCABO_INT, .as.integer = (int64_t)cb_rng_u64(rng)};
  case 3:
    return (cocabo_value){.type = COCABO_REAL, .as.real = some_double(rng)};
  default:
    return (cocabo_value){.type = COCABO_TEXT, .as.text = some_text(text, rng)};
  }
}

/* A random parameter; whether the space took it (not all are valid). */
static bool add_random(cocabo_space *s, const char *name, cb_rng *rng) {
  enum { MOST = 12 };
  char texts[MOST][200];
  cocabo_value values[MOST];
  const unsigned log = cb_rng_below(rng, 2);
  const double a = some_double(rng), b = some_double(rng);
  const size_t n = 1 + cb_rng_below(rng, MOST);
  switch (cb_rng_below(rng, 4)) {
  case 0:
    return cocabo_space_add_real(s, name, fmin(a, b), fmax(a, b), 0, log, &err) ==
           COCABO_OK;
  case 1: {
    const double step = fabs(b - a) * cb_rng_uniform(rng);
    return cocabo_space_add_real(s, name, fmin(a, b), fmax(a, b),
                                 cb_rng_below(rng, 2) ? step : fabs(some_double(rng)),
                                 0, &err) == COCABO_OK;
  }
  case 2: {
    const int64_t low = (int64_t)cb_rng_u64(rng) >> (10 + cb_rng_below(rng, 50));
    const int64_t span = (int64_t)(cb_rng_u64(rng) >> (11 + cb_rng_below(rng, 50)));
    const int64_t step = (int64_t)(cb_rng_u64(rng) >> (11 + cb_rng_below(rng, 53)));
    return cocabo_space_add_int(s, name, low, low + span, step, log, &err) == COCABO_OK;
  }
  default:
    for (size_t k = 0; k < n; k++)
      values[k] = some_value(texts[k], rng);
    return cocabo_space_add_choice(s, name, values, n,
                                   cb_rng_below(rng, 2) ? COCABO_ORDERED : 0,
                                   &err) == COCABO_OK;
  }
}

static void a_space_is_its_domains(void **state) {
  (void)state;
  int kinds[4] = {0}, steps = 0;
  for (uint64_t seed = 0; seed < 3000; seed++) {
    cb_rng rng = cb_rng_make(seed, CB_RNG_BENCH, 0);
    cocabo_space *s = cocabo_space_new(), *again = cocabo_space_new();
    for (int i = 0; i < 5; i++) {
      char name[16];
      snprintf(name, sizeof name, "p%d", i);
      (void)add_random(s, name, &rng);
    }
    for (size_t i = 0; i < cocabo_space_count(s); i++) {
      char *text = cocabo_space_domain(s, i);
      if (cocabo_space_add(again, cocabo_space_name(s, i), text, &err) != COCABO_OK)
        fail_msg("%s: %s", text, err.message);
      kinds[cocabo_space_kind(s, i)]++;
      steps += s->params[i].kind == CB_REAL && s->params[i].step > 0;
      cocabo_text_free(text);
    }
    if (!cocabo_space_equal(s, again))
      fail_msg("seed %llu: not the same again", (unsigned long long)seed);
    cocabo_space_free(s);
    cocabo_space_free(again);
  }
  for (int k = 0; k < 4; k++)
    assert_true(kinds[k] > 500);
  assert_true(steps > 300);
}

/* Real choices keep their bits, but for the sign of zero, which is no difference. */
static void numbers_come_back_to_the_bit(void **state) {
  (void)state;
  cb_rng rng = cb_rng_make(1, CB_RNG_BENCH, 0);
  for (int i = 0; i < 20000; i++) {
    const cocabo_value value = {.type = COCABO_REAL, .as.real = some_double(&rng)};
    cocabo_space *s = cocabo_space_new(), *again = cocabo_space_new();
    assert_ok(cocabo_space_add_choice(s, "x", &value, 1, 0, &err));
    char *text = cocabo_space_domain(s, 0);
    assert_ok(cocabo_space_add(again, "x", text, &err));
    assert_memory_equal(&again->params[0].choices[0].as.real, &value.as.real,
                        sizeof(double));
    assert_true(strlen(text) <= strlen("choice(-1.2345678901234567e-308)"));
    cocabo_text_free(text);
    cocabo_space_free(s);
    cocabo_space_free(again);
  }
}

/* Domains with a few bytes changed, dropped or doubled: read or refused, never more. */
static void broken_domains_do_no_harm(void **state) {
  (void)state;
  static const char *const whole[] = {
      "float(1e-5,0.1,log)", "float(0,1,step=0.25)", "int(16,1024,log)",
      "choice(a,\"b\\n\\u0041\\ud83d\\ude00\",1,1.0,true,null)",
      "ordinal(small, medium ,large)"};
  cb_rng rng = cb_rng_make(2, CB_RNG_BENCH, 0);
  int accepted = 0;
  for (int i = 0; i < 60000; i++) {
    char text[300];
    strcpy(text, whole[cb_rng_below(&rng, 5)]);
    for (uint32_t n = 1 + cb_rng_below(&rng, 3); n > 0; n--) {
      const size_t length = strlen(text), at = cb_rng_below(&rng, (uint32_t)length + 1);
      const uint32_t dice = cb_rng_below(&rng, 3);
      if (dice == 0)
        text[at] = at < length ? (char)(1 + cb_rng_below(&rng, 255)) : '\0';
      else if (dice == 1 && at < length)
        memmove(text + at, text + at + 1, length - at);
      else
        memmove(text + at + 1, text + at, length - at + 1);
    }
    cocabo_space *s = cocabo_space_new();
    if (cocabo_space_add(s, "x", text, &err) == COCABO_OK) {
      char *written = cocabo_space_domain(s, 0);
      cocabo_space *again = cocabo_space_new();
      assert_ok(cocabo_space_add(again, "x", written, &err));
      assert_true(cocabo_space_equal(s, again));
      cocabo_text_free(written);
      cocabo_space_free(again);
      accepted++;
    } else {
      assert_true(strlen(err.message) > strlen("parameter \"x\": "));
    }
    cocabo_space_free(s);
  }
  assert_true(accepted > 1000 && accepted < 59000);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_space_is_its_domains),
      cmocka_unit_test(numbers_come_back_to_the_bit),
      cmocka_unit_test(broken_domains_do_no_harm),
  };
  return cmocka_run_group_tests_name("property/domain_text", tests, NULL, NULL);
}
