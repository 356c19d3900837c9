/* feasibility.c - models of constraints and of success; e, bilog and labels as in
 * feasibility.h. */
#include "sampler/feasibility.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/maths.h"
#include "base/mem.h"
#include "base/status.h"
#include "model/gp.h"
#include "model/likelihood.h"
#include "sampler/samplers.h"

enum {
  FEW_FAILURES = 2, /* from so many on success is modelled */
  LEAST_ROWS = 2,   /* measured ones, from which on a constraint is */
  CROWD = 3         /* failures at one place that rule it out */
};

static const double LABEL_NOISE = 0.1;
static const double SCALE_SD = 0.3; /* of the prior of log length scales of success */

/* A failure costs more than a result that improves nothing: it may leave a mess behind,
 * and it teaches less. */
static const double FAILURE_WEIGHT = 32.0;
static const double LEAST_LOG_P = -4.605170185988091; /* log 0.01 */
static const double PLACE = 0.01; /* a tenth of a length scale, squared */

/* ---- a process that follows some rows ---------------------------------------------
 * It is factored at the rows that the fit saw, behind what leads them, and later rows
 * are pushed: the same calls in the same order whoever reads the log. */

typedef struct follower {
  cb_gp *gp;
  double *theta;    /* its hyper-parameters, n_theta of them */
  int64_t fit_rows; /* of the history that the fit saw; -1: gp holds nothing */
  int64_t seen;     /* rows of the surrogate that were taken in or passed over */
  int n_lead;       /* points before the rows */
  int64_t n;        /* rows in gp, */
  int64_t *rows;    /* and which they are */
  size_t rows_room;
} follower;

struct cb_feasibility {
  const cocabo_space *space;
  const cb_settings *settings;
  cb_kernel_spec spec;
  int n_theta; /* of one process */
  cb_theta_box box, success_box;
  int n_constraints;
  follower constraints[CB_MAX_CONSTRAINTS], success;

  /* Of the history that was looked at. */
  int64_t n; /* rows */
  int64_t revised;
  double *excess[CB_MAX_CONSTRAINTS]; /* n: e, NaN: not measured */
  double *warped[CB_MAX_CONSTRAINTS]; /* n: bilog(e) */
  bool *feasible;                     /* n */
  int64_t best;                       /* row, or -1 */
  size_t excess_room[CB_MAX_CONSTRAINTS], warped_room[CB_MAX_CONSTRAINTS],
      feasible_room;
  int64_t n_failed; /* that teach, */
  bool repeated;    /* and whether all of them are one point */
  double failing;   /* the mean label of all trials */

  int n_lead; /* failures that are held: trial numbers, cb_ascending */
  int64_t lead[CB_MOST_FAILURES];
  double *lead_x; /* d x n_lead */
  int32_t *lead_h;

  double *x, *y; /* gathered points and targets */
  int32_t *h;
  double *sorted;
  size_t x_room, y_room, h_room, sorted_room;
  int64_t builds;
  cb_feasible all, success_alone; /* what was handed out */
};

/* ---- life ------------------------------------------------------------------------ */

static void close_follower(follower *w) {
  cb_gp_free(w->gp);
  cb_free(w->theta);
  cb_free(w->rows);
}

static cocabo_status open_follower(cb_feasibility *f, follower *w, cocabo_error *err) {
  w->fit_rows = -1;
  w->theta = cb_calloc((size_t)f->n_theta, sizeof *w->theta);
  return w->theta ? cb_gp_new(&w->gp, &f->spec, err) : cb_no_memory(err);
}

/* As that of the objective, but for the noise, which is that of labels, for the
 * weights, which share the variance of labels, 1, among them, and for the scales: a
 * step between labels looks like a short one, and then nothing is learnt from afar. */
static void set_success_box(cb_feasibility *f) {
  const cb_theta_layout t = cb_theta_lay_out(&f->spec);
  cb_theta_box *box = &f->success_box;
  cb_theta_free(&f->spec, false, box);
  for (int i = t.weights; i < t.weights + t.n_weights; i++)
    box->start[i] = box->prior_mean[i] = -cb_log(t.n_weights);
  for (int i = 0; i < t.scales; i++)
    box->prior_sd[i] = SCALE_SD;
  box->start[t.noise] = cb_log(LABEL_NOISE);
  box->lower[t.noise] = box->upper[t.noise] = box->start[t.noise];
  box->prior_sd[t.noise] = 0.0;
}

static cocabo_status build(cb_feasibility *f, cocabo_error *err) {
  for (int k = 0; k < f->n_constraints; k++)
    CB_TRY(open_follower(f, &f->constraints[k], err));
  CB_TRY(open_follower(f, &f->success, err));
  f->lead_x = cb_calloc(CB_MOST_FAILURES * (size_t)f->space->d, sizeof *f->lead_x);
  f->lead_h = cb_calloc(CB_MOST_FAILURES * (size_t)f->space->c, sizeof *f->lead_h);
  return f->lead_x && f->lead_h ? COCABO_OK : cb_no_memory(err);
}

cocabo_status cb_feasibility_new(cb_feasibility **out, const cocabo_space *space,
                                 const cb_settings *settings,
                                 const cb_kernel_spec *spec, cocabo_error *err) {
  *out = NULL;
  cb_feasibility *f = cb_calloc(1, sizeof *f);
  if (!f)
    return cb_no_memory(err);
  f->space = space;
  f->settings = settings;
  f->spec = *spec;
  f->spec.sums = false; /* labels and bounds are not sums of effects */
  f->n_theta = cb_theta_lay_out(&f->spec).count;
  f->n_constraints = settings->constraints ? settings->constraints->n : 0;
  f->best = -1;
  cb_theta_free(&f->spec, !settings->deterministic, &f->box);
  set_success_box(f);
  const cocabo_status status = build(f, err);
  if (status != COCABO_OK) {
    cb_feasibility_free(f);
    return status;
  }
  *out = f;
  return COCABO_OK;
}

void cb_feasibility_free(cb_feasibility *f) {
  if (!f)
    return;
  for (int k = 0; k < f->n_constraints; k++) {
    close_follower(&f->constraints[k]);
    cb_free(f->excess[k]);
    cb_free(f->warped[k]);
  }
  close_follower(&f->success);
  cb_free(f->feasible);
  cb_free(f->lead_x);
  cb_free(f->lead_h);
  cb_free(f->x);
  cb_free(f->h);
  cb_free(f->y);
  cb_free(f->sorted);
  cb_free(f);
}

/* ---- looking --------------------------------------------------------------------- */

/* bilog of all e of a constraint. */
static cocabo_status warp(cb_feasibility *f, int k, cocabo_error *err) {
  const size_t n = (size_t)f->n;
  const double *e = f->excess[k];
  size_t known = 0;
  if (!cb_reserve((void **)&f->warped[k], &f->warped_room[k], n, sizeof(double)) ||
      !cb_reserve((void **)&f->sorted, &f->sorted_room, n, sizeof(double)))
    return cb_no_memory(err);
  for (size_t i = 0; i < n; i++)
    if (!isnan(e[i]))
      f->sorted[known++] = fabs(e[i]);
  if (known > 0)
    qsort(f->sorted, known, sizeof *f->sorted, cb_ascending);
  const double middle =
      known > 0 ? 0.5 * f->sorted[(known - 1) / 2] + 0.5 * f->sorted[known / 2] : 0.0;
  const double s = middle > 0.0 ? middle : 1.0;
  for (size_t i = 0; i < n; i++)
    f->warped[k][i] =
        isnan(e[i]) ? NAN : copysign(cb_log1p(fmin(fabs(e[i]) / s, 1e300)), e[i]);
  return COCABO_OK;
}

/* Results are measured once, until one is revised. */
static cocabo_status measure(cb_feasibility *f, const cb_history *history,
                             cocabo_error *err) {
  const size_t n = (size_t)history->n;
  const cb_constraints *constraints = f->settings->constraints;
  if (!cb_reserve((void **)&f->feasible, &f->feasible_room, n, sizeof *f->feasible))
    return cb_no_memory(err);
  for (int k = 0; k < f->n_constraints; k++)
    if (!cb_reserve((void **)&f->excess[k], &f->excess_room[k], n, sizeof(double)))
      return cb_no_memory(err);
  for (; f->n < history->n; f->n++) {
    const cb_trial *trial = &history->trials[history->told[f->n]];
    f->feasible[f->n] =
        cb_constraints_hold(constraints, trial, f->settings->objective) == 1;
    if (f->feasible[f->n] && (f->best < 0 || history->y[f->n] > history->y[f->best]))
      f->best = f->n;
    for (int k = 0; k < f->n_constraints; k++)
      f->excess[k][f->n] =
          cb_constraint_excess(&constraints->items[k], trial, f->settings->objective);
  }
  for (int k = 0; k < f->n_constraints; k++)
    CB_TRY(warp(f, k, err));
  return COCABO_OK;
}

static void count_failures(cb_feasibility *f, const cb_history *history) {
  const cb_trial *first = NULL;
  f->n_failed = 0;
  f->repeated = true;
  for (int64_t i = 0; i < history->n_failed; i++) {
    const cb_trial *trial = &history->trials[history->failed[i]];
    if (!cb_trial_teaches(trial))
      continue;
    f->n_failed++;
    if (!first)
      first = trial;
    else if (!cb_cells_equal(f->space->n, first->cells, trial->cells))
      f->repeated = false;
  }
  const double all = (double)f->n_failed + (double)history->n;
  f->failing = all > 0.0 ? ((double)f->n_failed - (double)history->n) / all : -1.0;
}

/* Also the processes: what was not measured may be by now, and others may be the rows
 * that are followed. */
static void look_anew(cb_feasibility *f, int64_t revised) {
  f->n = 0;
  f->best = -1;
  f->revised = revised;
  for (int k = 0; k < f->n_constraints; k++)
    f->constraints[k].fit_rows = -1;
  f->success.fit_rows = -1;
}

/* A cache may be shown an earlier history than before, by a replay, or one with other
 * values: it starts over. */
cocabo_status cb_feasibility_look(cb_feasibility *f, const cb_history *history,
                                  cocabo_error *err) {
  if (f->n > history->n || f->revised != history->revised)
    look_anew(f, history->revised);
  count_failures(f, history);
  return f->n_constraints > 0 ? measure(f, history, err) : COCABO_OK;
}

int64_t cb_feasibility_best(const cb_feasibility *f) {
  return f->best;
}

const bool *cb_feasibility_rows(const cb_feasibility *f) {
  return f->n_constraints > 0 ? f->feasible : NULL;
}

int64_t cb_feasibility_nearest(const cb_feasibility *f, const cb_history *history) {
  return cb_constraints_nearest(f->settings->constraints, history,
                                f->settings->objective);
}

/* Where points may repeat, one that failed again is as telling as another. */
bool cb_feasibility_has_failures(const cb_feasibility *f) {
  return f->n_failed >= FEW_FAILURES && !(f->repeated && f->settings->deterministic);
}

int64_t cb_feasibility_builds(const cb_feasibility *f) {
  return f->builds;
}

/* ---- points and targets ---------------------------------------------------------- */

static cocabo_status make_room(cb_feasibility *f, int64_t n, cocabo_error *err) {
  const size_t m = (size_t)n;
  if (!cb_reserve((void **)&f->x, &f->x_room, m * (size_t)f->space->d, sizeof *f->x) ||
      !cb_reserve((void **)&f->h, &f->h_room, m * (size_t)f->space->c, sizeof *f->h) ||
      !cb_reserve((void **)&f->y, &f->y_room, m, sizeof *f->y))
    return cb_no_memory(err);
  return COCABO_OK;
}

static void put_point(const cb_feasibility *f, const cb_trial *trial, int64_t i) {
  const size_t d = (size_t)f->space->d, c = (size_t)f->space->c;
  if (d > 0)
    memcpy(f->x + cb_at(0, i, f->space->d), trial->x, d * sizeof *f->x);
  if (c > 0)
    memcpy(f->h + cb_at(0, i, f->space->c), trial->h, c * sizeof *f->h);
}

/* The target of a row: of constraint k or, for -1, of success. NaN: it has none. */
static double target_of(const cb_feasibility *f, int k, int64_t row) {
  return k < 0 ? -1.0 - f->failing : f->warped[k][row];
}

static const cb_trial *told(const cb_history *history, int64_t row) {
  return &history->trials[history->told[row]];
}

/* What leads, then those of the rows that have a target, into x, h and y; how many. */
static int64_t gather(cb_feasibility *f, const cb_history *history, int k,
                      const int64_t *rows, int64_t n) {
  int64_t count = 0;
  for (int i = 0; k < 0 && i < f->n_lead; i++) {
    put_point(f, &history->trials[f->lead[i]], count);
    f->y[count++] = 1.0 - f->failing;
  }
  for (int64_t i = 0; i < n; i++) {
    const double target = target_of(f, k, rows[i]);
    if (isnan(target))
      continue;
    put_point(f, told(history, rows[i]), count);
    f->y[count++] = target;
  }
  return count;
}

/* ---- which failures are held ------------------------------------------------------
 */

/* Of more than can be held, half the newest and half the nearest to the incumbent among
 * the others. */
static cocabo_status choose(const cb_feasibility *f, const cb_history *history,
                            const cb_trial *top, int64_t out[CB_MOST_FAILURES],
                            int *n_out, cocabo_error *err) {
  const size_t n = (size_t)f->n_failed;
  size_t m = 0;
  cb_distant *all = cb_calloc(n + 1, sizeof *all);
  if (!all)
    return cb_no_memory(err);
  for (int64_t i = 0; i < history->n_failed; i++) {
    const cb_trial *trial = &history->trials[history->failed[i]];
    if (cb_trial_teaches(trial))
      all[m++] = (cb_distant){
          top ? cb_points_apart(f->space, trial->x, trial->h, top->x, top->h) : 0.0,
          trial->number};
  }
  m = cb_keep_new_and_near(all, m, CB_MOST_FAILURES);
  for (size_t i = 0; i < m; i++)
    out[i] = all[i].number;
  *n_out = (int)m;
  cb_free(all);
  return COCABO_OK;
}

/* *changed: they are others than before. */
static cocabo_status hold_failures(cb_feasibility *f, const cb_history *history,
                                   int64_t top, bool *changed, cocabo_error *err) {
  int64_t lead[CB_MOST_FAILURES];
  int n = 0;
  CB_TRY(choose(f, history, top >= 0 ? told(history, top) : NULL, lead, &n, err));
  *changed = n != f->n_lead || memcmp(lead, f->lead, (size_t)n * sizeof *lead) != 0;
  f->n_lead = n;
  memcpy(f->lead, lead, (size_t)n * sizeof *lead);
  for (int i = 0; i < n; i++) {
    const cb_trial *trial = &history->trials[lead[i]];
    for (int j = 0; j < f->space->d; j++)
      f->lead_x[cb_at(j, i, f->space->d)] = trial->x[j];
    for (int j = 0; j < f->space->c; j++)
      f->lead_h[cb_at(j, i, f->space->c)] = trial->h[j];
  }
  return COCABO_OK;
}

/* So many failures lie at the place of this point that there is nothing to hope for. */
static bool ruled_out(const void *user, const double *x, const int32_t *h) {
  const cb_feasibility *f = user;
  const double *scales = f->success.theta; /* logarithms, one or d of them */
  int found = 0;
  for (int i = 0; i < f->n_lead && found < CROWD; i++) {
    double r2 = 0.0;
    for (int j = 0; j < f->space->c && r2 == 0.0; j++)
      r2 += h[j] != f->lead_h[cb_at(j, i, f->space->c)];
    for (int j = 0; j < f->space->d && r2 <= PLACE; j++) {
      const double l = cb_exp(scales[f->spec.ard ? j : 0]);
      const double u = (x[j] - f->lead_x[cb_at(j, i, f->space->d)]) / l;
      r2 += u * u;
    }
    found += r2 <= PLACE;
  }
  return found == CROWD;
}

/* ---- learning -------------------------------------------------------------------- */

int cb_feasibility_theta(const cb_feasibility *f) {
  return f->n_constraints * f->n_theta;
}

int cb_feasibility_success_theta(const cb_feasibility *f) {
  return f->n_theta;
}

void cb_feasibility_start(const cb_feasibility *f, double *theta) {
  const size_t bytes = (size_t)f->n_theta * sizeof *theta;
  for (int k = 0; k < f->n_constraints; k++)
    memcpy(theta + (ptrdiff_t)k * f->n_theta, f->box.start, bytes);
  if (cb_feasibility_has_failures(f))
    memcpy(theta + (ptrdiff_t)f->n_constraints * f->n_theta, f->success_box.start,
           bytes);
}

/* One process: constraint k or, for -1, success. Where nothing can be learnt theta
 * stays as it is. */
static cocabo_status fit_one(cb_feasibility *f, const cb_ask *ask, int k,
                             const int64_t *rows, int64_t n, const cb_fit_plan *plan,
                             double *theta, cocabo_error *err) {
  const int64_t count = gather(f, ask->history, k, rows, n);
  if (count < LEAST_ROWS)
    return COCABO_OK;
  cb_likelihood *likelihood;
  CB_TRY(cb_likelihood_new(&likelihood, &f->spec, (int)count, f->x, f->h, err));
  if (k < 0)
    cb_likelihood_set_targets(likelihood, f->y);
  else
    cb_likelihood_set_y(likelihood, f->y);
  cb_rng rng = cb_rng_make(f->settings->seed, CB_RNG_FIT, (uint64_t)ask->number);
  cb_fit_plan half = *plan;
  half.max_evaluations = plan->max_evaluations / 2;
  const cocabo_status status =
      cb_gp_fit(likelihood, &f->spec, k < 0 ? &f->success_box : &f->box, &half, &rng,
                theta, NULL, err);
  cb_likelihood_free(likelihood);
  return status == COCABO_E_NUMERIC ? COCABO_OK : status;
}

cocabo_status cb_feasibility_fit(cb_feasibility *f, const cb_ask *ask,
                                 const int64_t *rows, int64_t n,
                                 const cb_fit_plan *plan, double *theta,
                                 cocabo_error *err) {
  bool changed;
  CB_TRY(make_room(f, n + CB_MOST_FAILURES, err));
  for (int k = 0; k < f->n_constraints; k++)
    CB_TRY(fit_one(f, ask, k, rows, n, plan, theta + (ptrdiff_t)k * f->n_theta, err));
  if (!cb_feasibility_has_failures(f))
    return COCABO_OK;
  CB_TRY(hold_failures(f, ask->history, f->best >= 0 ? f->best : ask->history->best,
                       &changed, err));
  if (changed)
    f->success.fit_rows = -1;
  return fit_one(f, ask, -1, rows, n, plan,
                 theta + (ptrdiff_t)f->n_constraints * f->n_theta, err);
}

/* ---- following ------------------------------------------------------------------- */

static cocabo_status start_over(cb_feasibility *f, follower *w,
                                const cb_history *history, int k, const int64_t *rows,
                                int64_t n, int64_t fit_rows, const double *theta,
                                cocabo_error *err) {
  int64_t early = 0;
  w->fit_rows = -1; /* until the factor stands */
  while (early < n && rows[early] < fit_rows)
    early++;
  const int64_t count = gather(f, history, k, rows, early);
  w->n = 0;
  for (int64_t i = 0; i < early; i++)
    if (!isnan(target_of(f, k, rows[i])))
      w->rows[w->n++] = rows[i];
  cb_gp_set_theta(w->gp, theta);
  CB_TRY(cb_gp_factor(w->gp, (int)count, f->x, f->h, err));
  memcpy(w->theta, theta, (size_t)f->n_theta * sizeof *theta);
  w->n_lead = (int)(count - w->n);
  w->seen = early;
  w->fit_rows = fit_rows;
  f->builds++;
  return COCABO_OK;
}

static cocabo_status follow(cb_feasibility *f, follower *w, const cb_history *history,
                            int k, const int64_t *rows, int64_t n, int64_t fit_rows,
                            const double *theta, cocabo_error *err) {
  const size_t bytes = (size_t)f->n_theta * sizeof *theta;
  if (!cb_reserve((void **)&w->rows, &w->rows_room, (size_t)n, sizeof *w->rows))
    return cb_no_memory(err);
  if (w->fit_rows != fit_rows || w->seen > n || memcmp(w->theta, theta, bytes) != 0)
    CB_TRY(start_over(f, w, history, k, rows, n, fit_rows, theta, err));
  for (; w->seen < n; w->seen++) {
    const int64_t row = rows[w->seen];
    if (isnan(target_of(f, k, row)))
      continue;
    const cb_trial *trial = told(history, row);
    const cocabo_status status = cb_gp_push(w->gp, trial->x, trial->h, err);
    if (status != COCABO_OK) {
      w->fit_rows = -1; /* the process may have lost its points */
      return status;
    }
    w->rows[w->n++] = row;
  }
  for (int i = 0; i < w->n_lead; i++)
    f->y[i] = 1.0 - f->failing;
  for (int64_t i = 0; i < w->n; i++)
    f->y[w->n_lead + i] = target_of(f, k, w->rows[i]);
  (k < 0 ? cb_gp_set_targets : cb_gp_set_y)(w->gp, f->y);
  return COCABO_OK;
}

static void add_limit(cb_feasible *to, cb_limit limit) {
  to->limits[to->n++] = limit;
}

static cocabo_status follow_success(cb_feasibility *f, const cb_ask *ask,
                                    const int64_t *rows, int64_t n, const double *theta,
                                    int64_t top, cocabo_error *err) {
  bool changed;
  CB_TRY(hold_failures(f, ask->history, top, &changed, err));
  if (changed)
    f->success.fit_rows = -1;
  CB_TRY(follow(f, &f->success, ask->history, -1, rows, n,
                ask->fit ? ask->fit->rows : 0, theta, err));
  const cb_limit limit = {.gp = f->success.gp,
                          .bound = -f->failing,
                          .noise = LABEL_NOISE,
                          .weight = FAILURE_WEIGHT,
                          .floor = FAILURE_WEIGHT * LEAST_LOG_P,
                          .ruled_out = ruled_out,
                          .user = f};
  add_limit(&f->all, limit);
  add_limit(&f->success_alone, limit);
  return COCABO_OK;
}

cocabo_status cb_feasibility_follow(cb_feasibility *f, const cb_ask *ask,
                                    const int64_t *rows, int64_t n, const double *theta,
                                    bool success_theta, int64_t top,
                                    cocabo_error *err) {
  const int64_t fit_rows = ask->fit ? ask->fit->rows : 0;
  f->all.n = f->success_alone.n = 0;
  CB_TRY(make_room(f, n + CB_MOST_FAILURES, err));
  for (int k = 0; k < f->n_constraints; k++) {
    follower *w = &f->constraints[k];
    double mean, sd;
    CB_TRY(follow(f, w, ask->history, k, rows, n, fit_rows,
                  theta ? theta + (ptrdiff_t)k * f->n_theta : f->box.start, err));
    if (w->n < LEAST_ROWS)
      continue;
    cb_gp_scale(w->gp, &mean, &sd);
    add_limit(&f->all,
              (cb_limit){
                  .gp = w->gp, .bound = -mean / sd, .weight = 1.0, .floor = -INFINITY});
  }
  if (!cb_feasibility_has_failures(f))
    return COCABO_OK;
  return follow_success(
      f, ask, rows, n,
      success_theta ? theta + cb_feasibility_theta(f) : f->success_box.start, top, err);
}

void cb_feasibility_predict(const cb_feasibility *f, int n, const double *x,
                            const int32_t *h, double *out) {
  const int d = f->space->d, c = f->space->c;
  for (int i = 0; i < n; i++) {
    double log_p = 0.0;
    for (int k = 0; k < f->all.n; k++) {
      cb_limit limit = f->all.limits[k];
      double mu, sd;
      limit.weight = 1.0;
      cb_gp_predict(limit.gp, 1, x + cb_at(0, i, d), h + cb_at(0, i, c), &mu, &sd);
      log_p += cb_limit_value(&limit, mu, sd, NULL, NULL);
    }
    out[i] = cb_exp(log_p);
  }
}

const cb_feasible *cb_feasibility_limits(cb_feasibility *f, bool constraints) {
  const cb_feasible *limits = constraints ? &f->all : &f->success_alone;
  return limits->n > 0 ? limits : NULL;
}
