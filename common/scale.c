/* scale.c - linear and logarithmic scales, and where their ticks are. */
#include "common/scale.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- positions ------------------------------------------------------------------ */

/* Halves: the difference of two large numbers would overflow. */
double scale_at(const scale *s, double value) {
  const double share =
      s->log ? log(value / s->low) / log(s->high / s->low)
             : (0.5 * value - 0.5 * s->low) / (0.5 * s->high - 0.5 * s->low);
  return s->from + share * (s->to - s->from);
}

static double clamp(double value) {
  return fmax(-DBL_MAX, fmin(DBL_MAX, value));
}

void scale_widen(double *low, double *high, bool log_scale, double share) {
  if (log_scale) {
    const double factor = *low < *high ? pow(*high / *low, share) : 2.0;
    *low = fmax(*low / factor, DBL_MIN);
    *high = clamp(*high * factor);
    return;
  }
  double margin = 2.0 * share * (0.5 * *high - 0.5 * *low);
  /* Wide enough for two ticks to differ, whatever the magnitude. */
  const double least = 1e-12 * fmax(fabs(*low), fabs(*high));
  if (!(*high - *low > least))
    margin = fmax(0.05 * fmax(fabs(*low), fabs(*high)), least);
  if (margin == 0.0)
    margin = 1.0;
  *low = clamp(*low - margin);
  *high = clamp(*high + margin);
}

/* ---- ticks ---------------------------------------------------------------------- */

/* The smallest round number that is not below `least`: 1, 2, 2.5 or 5 times a power of
 * ten. */
static double round_step(double least, bool whole) {
  static const double multiples[] = {1.0, 2.0, 2.5, 5.0};
  const double power = pow(10.0, floor(log10(least)));
  for (size_t i = 0; i < sizeof multiples / sizeof multiples[0]; i++) {
    const bool allowed = multiples[i] != 2.5 || !whole;
    if (allowed && multiples[i] * power >= least * (1.0 - 1e-9))
      return multiples[i] * power;
  }
  return 10.0 * power;
}

/* Multiples of the step inside low .. high; false if there are too many. */
static bool place_steps(const scale *s, double step, int wanted, ticks *out) {
  const double first = ceil(s->low / step - 1e-9), last = floor(s->high / step + 1e-9);
  if (!(last - first < wanted))
    return false;
  *out = (ticks){.step = step};
  for (out->n = 0; first + out->n <= last; out->n++)
    out->at[out->n] = (first + out->n) * step + 0.0; /* no -0 */
  return true;
}

/* The finest steps of which there are not too many. */
static void find_linear(const scale *s, int wanted, bool whole, ticks *out) {
  const double width = s->high / (wanted + 1) - s->low / (wanted + 1);
  double step = round_step(fmax(width, whole ? 1.0 : DBL_MIN), whole);
  while (!place_steps(s, step, wanted, out))
    step = round_step(1.1 * step, whole);
}

/* Some multiples of powers of ten, and of which powers. */
typedef struct pattern {
  int n;
  double multiples[3];
  int every; /* power that can be divided by it */
} pattern;

/* Those inside low .. high; false if there are too many. */
static bool place_powers(const scale *s, const pattern *p, int wanted, ticks *out) {
  const int first = (int)floor(log10(s->low)), last = (int)ceil(log10(s->high));
  *out = (ticks){0};
  for (int e = first; e <= last; e++)
    for (int k = 0; k < p->n && e % p->every == 0; k++) {
      const double value = p->multiples[k] * pow(10.0, e);
      if (value < s->low * (1.0 - 1e-9) || value > s->high * (1.0 + 1e-9))
        continue;
      if (out->n == wanted)
        return false;
      out->at[out->n++] = value;
    }
  return true;
}

static void find_log(const scale *s, int wanted, ticks *out) {
  static const pattern fine = {3, {1.0, 2.0, 5.0}, 1}, some = {2, {1.0, 3.0}, 1};
  if (place_powers(s, &fine, wanted, out) || place_powers(s, &some, wanted, out))
    return;
  pattern powers = {1, {1.0}, 1};
  while (!place_powers(s, &powers, wanted, out))
    powers.every++;
}

void ticks_find(const scale *s, int wanted, ticks *out) {
  if (s->log)
    find_log(s, wanted, out);
  if (!s->log || out->n < 2)
    find_linear(s, wanted, false, out);
}

void ticks_find_whole(const scale *s, int wanted, ticks *out) {
  find_linear(s, wanted, true, out);
}

/* Round numbers next to an end would be on top of it. */
void ticks_find_between(const scale *s, double low, double high, bool whole, int wanted,
                        ticks *out) {
  ticks round;
  /* The ends of a logarithmic range are mostly powers of ten themselves. */
  const int most = wanted + (s->log ? 2 : 0), room = SCALE_MAX_TICKS - 2;
  wanted = most < room ? most : room;
  if (whole && !s->log)
    ticks_find_whole(s, wanted, &round);
  else
    ticks_find(s, wanted, &round);
  const double near = 0.02 * fabs(s->to - s->from);
  *out = (ticks){.n = 1, .at = {low}, .step = round.step, .ends = true};
  for (int i = 0; i < round.n; i++) {
    const double at = scale_at(s, round.at[i]);
    const bool inside = round.at[i] > low && round.at[i] < high;
    if (inside && fabs(at - scale_at(s, low)) > near &&
        fabs(at - scale_at(s, high)) > near)
      out->at[out->n++] = round.at[i];
  }
  if (low < high)
    out->at[out->n++] = high;
}

/* ---- text ----------------------------------------------------------------------- */

/* 1e-05 is written 1e-5, and 1e+08 is written 1e8. */
static void shorten_exponent(char *text) {
  char *e = strchr(text, 'e');
  if (!e)
    return;
  char *to = e + 1;
  const char *from = to;
  if (*from == '-')
    *to++ = *from++;
  else if (*from == '+')
    from++;
  while (*from == '0' && from[1])
    from++;
  memmove(to, from, strlen(from) + 1);
}

/* Below ten million nobody wants an exponent for whole numbers. */
const char *scale_number(double value, int digits, char out[TICK_LABEL]) {
  const double size = fabs(value);
  if (size < 1e7 && (size == rint(size) || size >= pow(10.0, digits) - 0.5))
    snprintf(out, TICK_LABEL, "%.0f", value + 0.0);
  else
    snprintf(out, TICK_LABEL, "%.*g", digits, value + 0.0);
  shorten_exponent(out);
  return out;
}

/* Digits after the point that a step needs: 0.25 needs two. */
static int decimals_of(double step) {
  int decimals = 0;
  while (decimals < 15 && fabs(step - rint(step)) > 1e-6 * step) {
    step *= 10.0;
    decimals++;
  }
  return decimals;
}

const char *ticks_label(const ticks *t, int i, char out[TICK_LABEL]) {
  const double largest = fmax(fabs(t->at[0]), fabs(t->at[t->n - 1]));
  const bool end = t->ends && (i == 0 || i == t->n - 1);
  if (end || t->step == 0.0)
    return scale_number(t->at[i], 6, out);
  if (t->step >= 1e-4 && largest < 1e7) {
    snprintf(out, TICK_LABEL, "%.*f", decimals_of(t->step), t->at[i]);
    return out;
  }
  const double digits = floor(log10(largest)) - floor(log10(t->step)) + 2.0;
  return scale_number(t->at[i], (int)fmax(1.0, fmin(17.0, digits)), out);
}
