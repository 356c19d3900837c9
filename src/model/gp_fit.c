#include "model/gp_fit.h"

#include <math.h>
#include <string.h>

#include "base/status.h"
#include "optim/lbfgsb.h"

void cb_theta_paper(const cb_kernel_spec *spec, cb_theta_box *box) {
  const cb_theta_layout t = cb_theta_lay_out(spec);
  for (int i = 0; i < t.scales; i++) {
    box->lower[i] = log(1e-4);
    box->upper[i] = log(3.0);
    box->start[i] = log(0.2);
  }
  if (t.lambda >= 0) {
    box->lower[t.lambda] = 1e-6;
    box->upper[t.lambda] = 1.0;
    box->start[t.lambda] = 0.5;
  }
  box->lower[t.noise] = log(1e-6);
  box->upper[t.noise] = log(1.0);
  box->start[t.noise] = log(0.1);
}

typedef struct {
  cb_likelihood *likelihood;
  int n_theta;
} problem;

static double negative(void *context, const double *theta, double *gradient) {
  const problem *p = context;
  const double value = cb_likelihood_value(p->likelihood, theta, gradient);
  for (int i = 0; i < p->n_theta; i++)
    gradient[i] = -gradient[i];
  return -value;
}

static void random_start(const cb_theta_box *box, int n, cb_rng *rng, double *theta) {
  for (int i = 0; i < n; i++)
    theta[i] =
        box->lower[i] + (box->upper[i] - box->lower[i]) * cb_rng_uniform(rng);
}

cocabo_status cb_gp_fit(cb_likelihood *likelihood, const cb_kernel_spec *spec,
                        const cb_theta_box *box, int restarts, int max_evaluations,
                        cb_rng *rng, double *theta, double *value, cocabo_error *err) {
  problem p = {likelihood, cb_theta_lay_out(spec).count};
  const cb_lbfgsb_limits limits = {
      .max_evaluations = max_evaluations, .f_tolerance = 1e-9, .grad_tolerance = 1e-5};
  cb_lbfgsb *ws;
  CB_TRY(cb_lbfgsb_new(&ws, p.n_theta, err));

  double best = INFINITY, candidate[CB_MAX_THETA];
  memcpy(candidate, theta, (size_t)p.n_theta * sizeof *theta);
  for (int start = 0; start <= restarts; start++) {
    if (start > 0)
      random_start(box, p.n_theta, rng, candidate);
    const double found =
        cb_lbfgsb_minimise(ws, candidate, box->lower, box->upper, negative, &p, &limits);
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
