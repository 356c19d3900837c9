#include "scale.h"

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

/* The smallest of 1, 2, 5 (and 2.5) times a power of ten that is not below `raw`. */
static double round_step(double raw, bool whole) {
  const double power = pow(10.0, floor(log10(raw)));
  const double multiples[] = {1.0, 2.0, 2.5, 5.0, 10.0};
  for (size_t i = 0; i < sizeof multiples / sizeof multiples[0]; i++) {
    const double step = multiples[i] * power;
    const bool allowed = multiples[i] != 2.5 || !whole;
    if (allowed && step >= raw * (1.0 - 1e-9))
      return step;
  }
  return 10.0 * power;
}

/* Multiples of the step inside low .. high; false if there are too many. */
static bool place_steps(const scale *s, double step, int wanted, ticks *out) {
  const double first = ceil(s->low / step - 1e-9), last = floor(s->high / step + 1e-9);
  if (!(last - first < wanted))
    return false;
  *out = (ticks){.step = step};
  for (double k = first; k <= last; k += 1.0)
    out->at[out->n++] = k * step + 0.0; /* no -0 */
  return true;
}

static void find_linear(const scale *s, int wanted, bool whole, ticks *out) {
  const double width = s->high / wanted - s->low / wanted;
  double step = round_step(fmax(width, DBL_MIN), whole);
  if (whole && step < 1.0)
    step = 1.0;
  while (!place_steps(s, step, wanted, out))
    step = round_step(1.5 * step, whole);
}

static void add_inside(const scale *s, double value, ticks *out) {
  const bool inside = value >= s->low * (1.0 - 1e-9) && value <= s->high * (1.0 + 1e-9);
  if (inside && out->n < SCALE_MAX_TICKS)
    out->at[out->n++] = value;
}

/* Decades, every second or third where there are many, and 1-2-5 where there are few.
 */
static void find_log(const scale *s, int wanted, ticks *out) {
  const int first = (int)ceil(log10(s->low) - 1e-9);
  const int last = (int)floor(log10(s->high) + 1e-9);
  const int decades = last - first + 1;
  *out = (ticks){0};
  if (3 * decades <= wanted) {
    for (int e = first - 1; e <= last; e++)
      for (int m = 0; m < 3; m++)
        add_inside(s, (double[]){1.0, 2.0, 5.0}[m] * pow(10.0, e), out);
    return;
  }
  const int every = (decades + wanted - 1) / wanted;
  for (int e = first; e <= last; e++)
    if (e % every == 0)
      add_inside(s, pow(10.0, e), out);
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

const char *scale_number(double value, int digits, char out[TICK_LABEL]) {
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
  if (t->step == 0.0)
    return scale_number(t->at[i], 6, out);
  if (t->step >= 1e-4 && largest < 1e7) {
    snprintf(out, TICK_LABEL, "%.*f", decimals_of(t->step), t->at[i]);
    return out;
  }
  const double digits = floor(log10(largest)) - floor(log10(t->step)) + 2.0;
  return scale_number(t->at[i], (int)fmax(1.0, fmin(17.0, digits)), out);
}
