#include "model/gp_fit.h"

#include <math.h>
#include <string.h>

#include "base/lbfgsb.h"
#include "base/maths.h"
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
  const int variance = cb_theta_lay_out(spec).x;
  box->lower[variance] = cb_log(0.01);
  box->upper[variance] = cb_log(100.0);
}

/* Parameters first .. first+count-1 are logarithms: bounds, start and belief. */
static void believe(cb_theta_box *box, int first, int count, double lower, double upper,
                    double start, double mean, double sd) {
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
  const double scale = 0.5 * sqrt(spec->d),
               rate = spec->c > 0 ? 1.0 / sqrt(spec->c) : 1.0;
  memset(box, 0, sizeof *box);
  believe(box, 0, t.scales, 0.01, 20.0, scale, scale, 1.0);
  if (t.rates >= 0)
    believe(box, t.rates, spec->c, 1e-3, 10.0, rate, rate, 1.0);
  believe(box, t.weights, t.n_weights, 1e-4, 20.0, 0.5, 0.5, 1.5);
  if (noisy)
    believe(box, t.noise, 1, 1e-6, 1.0, 1e-2, 1e-2, 2.0);
  else
    believe(box, t.noise, 1, 1e-8, 1e-4, 1e-5, 1e-6, 2.0);
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
                        const cb_theta_box *box, int restarts, int max_evaluations,
                        cb_rng *rng, double *theta, double *value, cocabo_error *err) {
  problem p = {likelihood, box, cb_theta_lay_out(spec).count};
  const cb_lbfgsb_limits limits = {
      .max_evaluations = max_evaluations, .f_tolerance = 1e-9, .grad_tolerance = 1e-5};
  cb_lbfgsb *ws;
  CB_TRY(cb_lbfgsb_new(&ws, p.n_theta, err));

  double best = INFINITY, candidate[CB_MAX_THETA];
  memcpy(candidate, theta, (size_t)p.n_theta * sizeof *theta);
  for (int start = 0; start <= restarts; start++) {
    if (start > 0)
      random_start(box, p.n_theta, rng, candidate);
    const double found = cb_lbfgsb_minimise(ws, candidate, box->lower, box->upper,
                                            negative, &p, &limits);
    if (found < best) {
      best = found;
      memcpy(theta, candidate, (size_t)p.n_theta * sizeof *theta);
    }
  }
  cb_lbfgsb_free(ws);
  if (!isfinite(best))
    return cb_fail(err, COCABO_E_NUMERIC,
                   "no hyper-parameters give a covariance that can be factored");
  if (value)
    *value = -best;
  return COCABO_OK;
}
