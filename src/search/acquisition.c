/* acquisition.c - acquisition functions and their derivatives by mean and deviation.
 *
 * mu, sd, z and h(z) as in acquisition.h. Everything here grows with sd, which the
 * search relies on when it replaces sd by an upper bound.
 */
#include "search/acquisition.h"

#include <math.h>
#include <stddef.h>

#include "base/maths.h"
#include "base/special.h"

static const double STEEP = 1000.0; /* what a unit lacking to a demand costs */
static const double LOG_HALF = -0x1.62e42fefa39efp-1;

/* What a deviation that is too small costs; its derivative is added to by_sd. */
static double cost_of_certainty(const cb_acquire *a, double sd, double *by_sd) {
  if (sd >= a->min_sd)
    return 0.0;
  *by_sd += STEEP;
  return STEEP * (a->min_sd - sd);
}

static double ucb(const cb_acquire *a, double mu, double sd, double *by_mu,
                  double *by_sd) {
  *by_mu = 1.0;
  *by_sd = a->kappa;
  const double cost = cost_of_certainty(a, sd, by_sd);
  return mu + a->kappa * sd - cost;
}

/* d EI/d mu = Phi(z), d EI/d sd = h(z) - z Phi(z) = phi(z) */
static double ei(const cb_acquire *a, double mu, double sd, double *by_mu,
                 double *by_sd) {
  const double z = (mu - a->best) / sd;
  const double h = cb_ei_h(z, by_mu);
  *by_sd = cb_normal_pdf(z);
  return sd * h;
}

/* d LogEI/d mu = (log h)'(z) / sd, d LogEI/d sd = (1 - z (log h)'(z)) / sd. The bracket
 * is phi/h: for z << 0 it is about z^2, so nothing cancels there. With roughness sd is
 * sqrt(latent^2 + rough). */
static double log_ei(const cb_acquire *a, double mu, double latent, double *by_mu,
                     double *by_sd) {
  const double sd = a->rough > 0.0 ? sqrt(latent * latent + a->rough) : latent;
  const double z = (mu - a->best) / sd;
  double slope;
  const double log_h = cb_log_ei_h(z, &slope);
  *by_mu = slope / sd;
  *by_sd = z > 0.0 ? cb_exp(-0.5 * z * z - log_h - 0.91893853320467274178) / sd
                   : (1.0 - z * slope) / sd;
  if (a->rough > 0.0)
    *by_sd *= latent / sd;
  const double cost = cost_of_certainty(a, latent, by_sd);
  return cb_log(sd) + log_h - cost;
}

static double explore(const cb_acquire *a, double mu, double sd, double *by_mu,
                      double *by_sd) {
  const double lack = fmax(a->best - (mu + a->kappa * sd), 0.0);
  *by_mu = lack > 0.0 ? STEEP : 0.0;
  *by_sd = 1.0 + a->kappa * *by_mu;
  return sd - STEEP * lack;
}

double cb_acquire_value(const cb_acquire *a, double mu, double sd, double *by_mu,
                        double *by_sd) {
  double ignored_mu, ignored_sd;
  double *m = by_mu ? by_mu : &ignored_mu, *s = by_sd ? by_sd : &ignored_sd;
  switch (a->kind) {
  case CB_EI:
    return ei(a, mu, sd, m, s);
  case CB_LOGEI:
    return log_ei(a, mu, sd, m, s);
  case CB_EXPLORE:
    return explore(a, mu, sd, m, s);
  case CB_FEASIBLE:
    *m = *s = 0.0;
    return 0.0;
  case CB_UCB:
    break;
  }
  return ucb(a, mu, sd, m, s);
}

double cb_acquire_feasible(const cb_acquire *a, double value, double log_p,
                           double *by_value, double *by_log_p) {
  double ignored_value, ignored_log_p;
  double *v = by_value ? by_value : &ignored_value;
  double *p = by_log_p ? by_log_p : &ignored_log_p;
  const double lack = fmax(LOG_HALF - log_p, 0.0);
  switch (a->kind) {
  case CB_EI:
    *v = cb_exp(log_p);
    *p = value * *v;
    return *p;
  case CB_LOGEI:
  case CB_FEASIBLE: /* whose value is 0 */
    *v = *p = 1.0;
    return value + log_p;
  case CB_UCB:
  case CB_EXPLORE:
    break;
  }
  *v = 1.0;
  *p = lack > 0.0 ? STEEP : 0.0;
  return value - STEEP * lack;
}
