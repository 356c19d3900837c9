/* gp_fit.c - boxes and priors of hyper-parameters, and the search for the best. */
#include "model/gp_fit.h"

#include <math.h>
#include <string.h>

#include "base/maths.h"
#include "base/minimise.h"
#include "base/status.h"

void cb_theta_paper(const cb_kernel_spec *spec, cb_theta_box *box) {
  memset(box, 0, sizeof *box);
  const cb_theta_layout t = cb_theta_lay_out(spec);
  for (int i = 0; i < t.scales; i++) {
    box->lower[i] = cb_log(1e-4);
    box->upper[i] = cb_log(3.0);
    box->start[i] = cb_log(0.2);
  }
  if (t.lambda >= 0) {
    box->lower[t.lambda] = 1e-6;
    box->upper[t.lambda] = 1.0;
    box->start[t.lambda] = 0.5;
  }
  box->lower[t.noise] = cb_log(1e-6);
  box->upper[t.noise] = cb_log(1.0);
  box->start[t.noise] = cb_log(0.1);
}

void cb_theta_onehot(const cb_kernel_spec *spec, cb_theta_box *box) {
  cb_theta_paper(spec, box);
  const int variance = cb_theta_lay_out(spec).matern;
  box->lower[variance] = cb_log(0.01);
  box->upper[variance] = cb_log(100.0);
}

/* Parameters first .. first+count-1 are logarithms: bounds, start and prior. */
static void set_prior(cb_theta_box *box, int first, int count, double lower,
                      double upper, double start, double mean, double sd) {
  for (int i = first; i < first + count; i++) {
    box->lower[i] = cb_log(lower);
    box->upper[i] = cb_log(upper);
    box->start[i] = cb_log(start);
    box->prior_mean[i] = cb_log(mean);
    box->prior_sd[i] = sd;
  }
}

void cb_theta_free(const cb_kernel_spec *spec, bool noisy, cb_theta_box *box) {
  const cb_theta_layout t = cb_theta_lay_out(spec);
  const double scale = 0.5 * sqrt(spec->d - spec->presences),
               rate = spec->c > 0 ? 1.0 / sqrt(spec->c) : 1.0;
  memset(box, 0, sizeof *box);
  set_prior(box, 0, t.scales, 0.01, 20.0, scale, scale, 1.0);
  if (spec->ard)
    set_prior(box, spec->d - spec->presences, spec->presences, 0.05, 20.0, 1.0, 1.0,
              1.0);
  if (t.rates >= 0)
    set_prior(box, t.rates, spec->c, 1e-3, 10.0, rate, rate, 1.0);
  set_prior(box, t.weights, t.n_weights, 1e-4, 20.0, 0.5, 0.5, 1.5);
  if (noisy)
    set_prior(box, t.noise, 1, 1e-6, 1.0, 1e-2, 1e-2, 2.0);
  else
    set_prior(box, t.noise, 1, 1e-8, 1e-4, 1e-5, 1e-6, 2.0);
  box->perturb = 0.7;
}

typedef struct {
  cb_likelihood *likelihood;
  const cb_theta_box *box;
  int n_theta;
} problem;

static double negative(void *context, const double *theta, double *gradient) {
  const problem *p = context;
  double value = cb_likelihood_value(p->likelihood, theta, gradient);
  for (int i = 0; i < p->n_theta; i++) {
    const double sd = p->box->prior_sd[i];
    const double u = sd > 0.0 ? (theta[i] - p->box->prior_mean[i]) / sd : 0.0;
    value -= 0.5 * u * u;
    gradient[i] = -gradient[i] + (sd > 0.0 ? u / sd : 0.0);
  }
  return -value;
}

/* Outside the box it is clipped by the minimiser. */
static void random_start(const cb_theta_box *box, int n, cb_rng *rng, double *theta) {
  for (int i = 0; i < n; i++)
    theta[i] = box->perturb > 0.0 ? box->start[i] + box->perturb * cb_rng_normal(rng)
                                  : box->lower[i] + (box->upper[i] - box->lower[i]) *
                                                        cb_rng_uniform(rng);
}

cocabo_status cb_gp_fit(cb_likelihood *likelihood, const cb_kernel_spec *spec,
                        const cb_theta_box *box, const cb_fit_plan *plan, cb_rng *rng,
                        double *theta, double *value, cocabo_error *err) {
  problem p = {likelihood, box, cb_theta_lay_out(spec).count};
  const size_t bytes = (size_t)p.n_theta * sizeof *theta;
  double best = INFINITY, found[CB_MAX_THETA], candidate[CB_MAX_THETA];
  double scale[CB_MAX_THETA];
  /* A parameter with a prior moves in steps of the prior's deviation. */
  for (int i = 0; i < p.n_theta; i++)
    scale[i] = box->prior_sd[i] > 0.0 ? box->prior_sd[i] : 1.0;
  const cb_minimise_limits limits = {.max_evaluations = plan->max_evaluations,
                                     .f_tolerance = 1e-9,
                                     .least_gain = plan->least_gain,
                                     .grad_tolerance = 1e-5,
                                     .scale = scale,
                                     .interrupt = plan->interrupt,
                                     .user = plan->user};
  cb_minimiser *ws;
  CB_TRY(cb_minimiser_new(&ws, p.n_theta, err));

  bool interrupted = false;
  memcpy(candidate, theta, bytes);
  for (int start = 0; start <= plan->restarts && !interrupted; start++) {
    if (start > 0)
      random_start(box, p.n_theta, rng, candidate);
    const double reached =
        cb_minimise(ws, candidate, box->lower, box->upper, negative, &p, &limits);
    interrupted = cb_minimise_interrupted(ws);
    if (reached < best) {
      best = reached;
      memcpy(found, candidate, bytes);
    }
  }
  cb_minimiser_free(ws);
  if (interrupted)
    return cb_fail(err, COCABO_E_INTERRUPTED, "the fit of the model was interrupted");
  if (!isfinite(best))
    return cb_fail(err, COCABO_E_NUMERIC,
                   "no hyper-parameters give a covariance that can be factored");
  memcpy(theta, found, bytes);
  if (value)
    *value = -best;
  return COCABO_OK;
}
