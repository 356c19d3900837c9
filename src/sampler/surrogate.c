/* surrogate.c - which trials the process holds: all results, or an active set of them;
 * and those without a value.
 *
 * Rows are indices into the results of the history in told order. Distances are
 * squared, in the [-1,1] cube, plus 1 for each category that differs.
 */
#include "sampler/surrogate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "sampler/samplers.h"

enum {
  FIT_EVALUATIONS = 80, /* of the likelihood, for each start */
  UNOBSERVED = 128      /* failed trials in the process, and pending ones, at most */
};

struct cb_surrogate {
  const cocabo_space *space;
  const int32_t *only; /* c: categories of the trials that count; NULL: all do */
  cb_kernel_spec spec;
  int64_t model_size;
  cb_gp *gp;
  int64_t fit_rows;    /* results that the fit in gp saw; -1: gp holds nothing */
  double *theta;       /* its hyper-parameters */
  int64_t followed;    /* rows of the history that were taken in or passed over */
  int64_t n;           /* rows in gp, without fantasies */
  int64_t *rows;       /* which they are, n */
  double *x;           /* d x n: points of rows, gathered */
  int32_t *h;          /* c x n */
  double *y;           /* n: their targets */
  int64_t revised;     /* of the history that was followed */
  bool noisy;          /* was it factored with noise of the rows' own? */
  double *noise;       /* n: which it has, in the process's units */
  double *variance;    /* n: of the targets, gathered */
  cb_distant *distant; /* trials without a value, while they are chosen */
  double *distance;    /* of every row of the history to what is chosen already */
  size_t rows_room, x_room, h_room, y_room, noise_room, variance_room, distance_room,
      distant_room;
};

cocabo_status cb_surrogate_new(cb_surrogate **out, const cocabo_space *space,
                               const cb_kernel_spec *spec, int64_t model_size,
                               cocabo_error *err) {
  *out = NULL;
  cb_surrogate *s = cb_calloc(1, sizeof *s);
  if (!s)
    return cb_no_memory(err);
  s->space = space;
  s->spec = *spec;
  s->model_size = model_size;
  s->fit_rows = -1;
  s->theta = cb_calloc((size_t)cb_theta_lay_out(spec).count, sizeof *s->theta);
  const cocabo_status status =
      s->theta ? cb_gp_new(&s->gp, spec, err) : cb_no_memory(err);
  if (status != COCABO_OK) {
    cb_surrogate_free(s);
    return status;
  }
  *out = s;
  return COCABO_OK;
}

void cb_surrogate_free(cb_surrogate *s) {
  if (!s)
    return;
  cb_gp_free(s->gp);
  cb_free(s->theta);
  cb_free(s->rows);
  cb_free(s->x);
  cb_free(s->h);
  cb_free(s->y);
  cb_free(s->noise);
  cb_free(s->variance);
  cb_free(s->distance);
  cb_free(s->distant);
  cb_free(s);
}

void cb_surrogate_restrict(cb_surrogate *s, const int32_t *h) {
  s->only = h;
}

static bool counts(const cb_surrogate *s, const cb_trial *trial) {
  return !s->only ||
         memcmp(s->only, trial->h, (size_t)s->space->c * sizeof *trial->h) == 0;
}

static const cb_trial *told(const cb_history *history, int64_t row) {
  return &history->trials[history->told[row]];
}

/* ---- the active set -------------------------------------------------------------- */

static double apart(const cb_surrogate *s, const cb_trial *a, const cb_trial *b) {
  return cb_points_apart(s->space, a->x, a->h, b->x, b->h);
}

/* Rows are marked by a negative distance once they are chosen, or if they do not count.
 */
static void choose(cb_surrogate *s, int64_t row) {
  s->rows[s->n++] = row;
  s->distance[row] = -1.0;
}

/* The row with the largest score among those not chosen, the first of equals. */
static int64_t best_left(const cb_surrogate *s, int64_t rows, const double *score,
                         double sign) {
  int64_t best = -1;
  for (int64_t i = 0; i < rows; i++)
    if (s->distance[i] >= 0.0 && (best < 0 || sign * score[i] > sign * score[best]))
      best = i;
  return best;
}

static int ascending(const void *a, const void *b) {
  const int64_t u = *(const int64_t *)a, v = *(const int64_t *)b;
  return (u > v) - (u < v);
}

/* Greedy: a quarter the best, a quarter the nearest to the best, and the rest each as
 * far as can be from all chosen before. */
static void choose_active(cb_surrogate *s, const cb_history *history, int64_t rows) {
  const int64_t quarter = s->model_size / 4;
  for (int64_t i = 0; i < rows; i++)
    s->distance[i] = counts(s, told(history, i)) ? 0.0 : -1.0;
  s->n = 0;
  while (s->n < quarter)
    choose(s, best_left(s, rows, history->y, 1.0));
  const cb_trial *best = told(history, s->rows[0]);
  for (int64_t i = 0; i < rows; i++)
    if (s->distance[i] >= 0.0)
      s->distance[i] = apart(s, told(history, i), best);
  while (s->n < 2 * quarter)
    choose(s, best_left(s, rows, s->distance, -1.0));
  for (int64_t i = 0; i < rows; i++)
    for (int64_t k = 0; k < s->n && s->distance[i] >= 0.0; k++)
      s->distance[i] =
          fmin(s->distance[i], apart(s, told(history, i), told(history, s->rows[k])));
  while (s->n < s->model_size) {
    const int64_t far = best_left(s, rows, s->distance, 1.0);
    choose(s, far);
    for (int64_t i = 0; i < rows; i++)
      if (s->distance[i] >= 0.0)
        s->distance[i] =
            fmin(s->distance[i], apart(s, told(history, i), told(history, far)));
  }
  qsort(s->rows, (size_t)s->n, sizeof *s->rows, ascending); /* told order */
}

static cocabo_status choose_rows(cb_surrogate *s, const cb_history *history,
                                 int64_t rows, cocabo_error *err) {
  const size_t n = (size_t)rows;
  if (!cb_reserve((void **)&s->rows, &s->rows_room, n, sizeof *s->rows) ||
      !cb_reserve((void **)&s->distance, &s->distance_room, n, sizeof *s->distance))
    return cb_no_memory(err);
  s->n = 0;
  for (int64_t i = 0; i < rows; i++)
    if (counts(s, told(history, i)))
      s->rows[s->n++] = i;
  if (s->n > s->model_size)
    choose_active(s, history, rows);
  return COCABO_OK;
}

/* ---- following ------------------------------------------------------------------- */

/* Point i of those gathered. */
static void copy_point(cb_surrogate *s, const cb_trial *trial, size_t i) {
  const size_t d = (size_t)s->space->d, c = (size_t)s->space->c;
  if (d > 0)
    memcpy(s->x + i * d, trial->x, d * sizeof *s->x);
  if (c > 0)
    memcpy(s->h + i * c, trial->h, c * sizeof *s->h);
}

/* One number more than is needed, so that no array is NULL. */
static cocabo_status gather_points(cb_surrogate *s, const cb_history *history,
                                   cocabo_error *err) {
  const size_t d = (size_t)s->space->d, c = (size_t)s->space->c, n = (size_t)s->n;
  if (!cb_reserve((void **)&s->x, &s->x_room, n * d + 1, sizeof *s->x) ||
      !cb_reserve((void **)&s->h, &s->h_room, n * c + 1, sizeof *s->h))
    return cb_no_memory(err);
  for (size_t i = 0; i < n; i++)
    copy_point(s, told(history, s->rows[i]), i);
  return COCABO_OK;
}

static cocabo_status gather_targets(cb_surrogate *s, const double *y,
                                    cocabo_error *err) {
  if (!cb_reserve((void **)&s->y, &s->y_room, (size_t)s->n, sizeof *s->y))
    return cb_no_memory(err);
  for (int64_t i = 0; i < s->n; i++)
    s->y[i] = y[s->rows[i]];
  return COCABO_OK;
}

static size_t theta_bytes(const cb_surrogate *s) {
  return (size_t)cb_theta_lay_out(&s->spec).count * sizeof *s->theta;
}

static cocabo_status gather_variances(cb_surrogate *s, const double *variance,
                                      cocabo_error *err) {
  if (!cb_reserve((void **)&s->variance, &s->variance_room, (size_t)s->n,
                  sizeof *s->variance))
    return cb_no_memory(err);
  for (int64_t i = 0; i < s->n; i++)
    s->variance[i] = variance[s->rows[i]];
  return COCABO_OK;
}

static cocabo_status start_over(cb_surrogate *s, const cb_history *history,
                                int64_t rows, const double *theta, cocabo_error *err) {
  s->fit_rows = -1; /* until the factor stands */
  CB_TRY(choose_rows(s, history, rows, err));
  CB_TRY(gather_points(s, history, err));
  cb_gp_set_theta(s->gp, theta);
  CB_TRY(cb_gp_factor(s->gp, (int)s->n, s->x, s->h, err));
  memcpy(s->theta, theta, theta_bytes(s));
  s->followed = s->fit_rows = rows;
  s->revised = history->revised;
  s->noisy = false;
  return COCABO_OK;
}

static cocabo_status append_row(cb_surrogate *s, const cb_history *history,
                                cocabo_error *err) {
  if (!cb_reserve((void **)&s->rows, &s->rows_room, (size_t)s->n + 1, sizeof *s->rows))
    return cb_no_memory(err);
  const cb_trial *trial = told(history, s->followed);
  if (!counts(s, trial)) {
    s->followed++;
    return COCABO_OK;
  }
  const cocabo_status status = cb_gp_push(s->gp, trial->x, trial->h, err);
  if (status != COCABO_OK) {
    s->fit_rows = -1; /* the process may have lost its points */
    return status;
  }
  s->rows[s->n++] = s->followed++;
  return COCABO_OK;
}

/* A fit is recognised by what the factor depends on: fits of the same log may be told
 * apart by nothing else. */
static bool must_start_over(const cb_surrogate *s, const cb_history *history,
                            int64_t rows, const double *theta) {
  return s->fit_rows != rows || s->revised != history->revised ||
         memcmp(s->theta, theta, theta_bytes(s)) != 0;
}

/* The rows that the fit saw, or an active set of them, and all that came after. */
static cocabo_status choose_all_rows(cb_surrogate *s, const cb_history *history,
                                     int64_t rows, cocabo_error *err) {
  CB_TRY(choose_rows(s, history, rows, err));
  if (!cb_reserve((void **)&s->rows, &s->rows_room, (size_t)history->n,
                  sizeof *s->rows))
    return cb_no_memory(err);
  for (int64_t i = rows; i < history->n; i++)
    if (counts(s, told(history, i)))
      s->rows[s->n++] = i;
  return COCABO_OK;
}

/* Noise of the rows from their variances; has any changed? */
static cocabo_status update_noise(cb_surrogate *s, bool *changed, cocabo_error *err) {
  double mean, sd;
  if (!cb_reserve((void **)&s->noise, &s->noise_room, (size_t)s->n, sizeof *s->noise))
    return cb_no_memory(err);
  cb_moments((int)s->n, s->y, &mean, &sd);
  for (int64_t i = 0; i < s->n; i++) {
    const double noise = cb_row_noise(s->variance[i], sd);
    *changed = *changed || noise != s->noise[i];
    s->noise[i] = noise;
  }
  return COCABO_OK;
}

static cocabo_status follow_noisy(cb_surrogate *s, const cb_history *history,
                                  int64_t rows, const double *theta, const double *y,
                                  const double *variance, cocabo_error *err) {
  bool changed = must_start_over(s, history, rows, theta) || !s->noisy ||
                 s->followed != history->n;
  s->fit_rows = -1; /* until the factor stands */
  if (changed)
    CB_TRY(choose_all_rows(s, history, rows, err));
  CB_TRY(gather_targets(s, y, err));
  CB_TRY(gather_variances(s, variance, err));
  CB_TRY(update_noise(s, &changed, err));
  if (changed) {
    CB_TRY(gather_points(s, history, err)); /* fantasies take their place */
    cb_gp_set_theta(s->gp, theta);
    CB_TRY(cb_gp_factor_noisy(s->gp, (int)s->n, s->x, s->h, s->noise, err));
  }
  memcpy(s->theta, theta, theta_bytes(s));
  s->followed = history->n;
  s->fit_rows = rows;
  s->revised = history->revised;
  s->noisy = true;
  cb_gp_set_y(s->gp, s->y);
  return COCABO_OK;
}

static bool any_positive(int64_t n, const double *variance) {
  for (int64_t i = 0; variance && i < n; i++)
    if (variance[i] > 0.0)
      return true;
  return false;
}

cocabo_status cb_surrogate_follow(cb_surrogate *s, const cb_history *history,
                                  const cb_fit *fit, const double *theta,
                                  const double *y, const double *variance,
                                  cocabo_error *err) {
  const int64_t rows = fit ? fit->rows : 0;
  if (any_positive(history->n, variance))
    return follow_noisy(s, history, rows, theta, y, variance, err);
  if (must_start_over(s, history, rows, theta) || s->noisy)
    CB_TRY(start_over(s, history, rows, theta, err));
  while (s->followed < history->n)
    CB_TRY(append_row(s, history, err));
  CB_TRY(gather_targets(s, y, err));
  cb_gp_set_y(s->gp, s->y);
  return COCABO_OK;
}

/* ---- points without a value -------------------------------------------------------
 */

/* Of n trials in the order they came, those that count: at most UNOBSERVED, half of
 * them the newest and half the nearest to the incumbent, in the order of their numbers.
 */
static cocabo_status choose_unobserved(cb_surrogate *s, const cb_history *history,
                                       const int64_t *trials, int64_t n, size_t *out,
                                       cocabo_error *err) {
  const cb_trial *incumbent = history->best >= 0 ? told(history, history->best) : NULL;
  size_t m = 0;
  if (!cb_reserve((void **)&s->distant, &s->distant_room, (size_t)n,
                  sizeof *s->distant))
    return cb_no_memory(err);
  for (int64_t i = 0; i < n; i++) {
    const cb_trial *trial = &history->trials[trials[i]];
    if (counts(s, trial))
      s->distant[m++] =
          (cb_distant){incumbent ? apart(s, trial, incumbent) : 0.0, trial->number};
  }
  *out = cb_keep_new_and_near(s->distant, m, UNOBSERVED);
  return COCABO_OK;
}

/* The chosen ones become points of the process, with `target` or their own means. */
static cocabo_status fantasize(cb_surrogate *s, const cb_history *history,
                               const int64_t *trials, int64_t n, const double *target,
                               cocabo_error *err) {
  const size_t d = (size_t)s->space->d, c = (size_t)s->space->c;
  size_t m = 0;
  CB_TRY(choose_unobserved(s, history, trials, n, &m, err));
  if (!cb_reserve((void **)&s->x, &s->x_room, m * d + 1, sizeof *s->x) ||
      !cb_reserve((void **)&s->h, &s->h_room, m * c + 1, sizeof *s->h))
    return cb_no_memory(err);
  for (size_t i = 0; i < m; i++)
    copy_point(s, &history->trials[s->distant[i].number], i);
  return cb_gp_fantasize(s->gp, (int)m, s->x, s->h, target, err);
}

cocabo_status cb_surrogate_fantasize(cb_surrogate *s, const cb_history *history,
                                     double worst, cocabo_error *err) {
  const double target = cb_surrogate_standardise(s, worst);
  CB_TRY(fantasize(s, history, history->failed, history->n_failed, &target, err));
  return cb_surrogate_fantasize_pending(s, history, err);
}

cocabo_status cb_surrogate_fantasize_pending(cb_surrogate *s, const cb_history *history,
                                             cocabo_error *err) {
  return fantasize(s, history, history->pending, history->n_pending, NULL, err);
}

void cb_surrogate_drop_fantasies(cb_surrogate *s) {
  if (s->fit_rows >= 0) /* else it holds nothing that anybody will use */
    cb_gp_truncate(s->gp, (int)s->n);
}

cb_gp *cb_surrogate_gp(const cb_surrogate *s) {
  return s->gp;
}

double cb_surrogate_standardise(const cb_surrogate *s, double y) {
  double mean, sd;
  cb_gp_scale(s->gp, &mean, &sd);
  return (0.5 * y - 0.5 * mean) / (0.5 * sd); /* halved: no difference overflows */
}

const int64_t *cb_surrogate_rows(const cb_surrogate *s, int64_t *n) {
  *n = s->n;
  return s->rows;
}

int64_t cb_surrogate_best(const cb_surrogate *s, double *mean) {
  return cb_surrogate_best_among(s, NULL, mean);
}

int64_t cb_surrogate_best_among(const cb_surrogate *s, const bool *among,
                                double *mean) {
  int64_t best = -1;
  for (int64_t i = 0; i < s->n; i++) {
    const double fitted = cb_gp_fitted(s->gp, (int)i);
    if ((among && !among[s->rows[i]]) || (best >= 0 && !(fitted > *mean)))
      continue;
    best = s->rows[i];
    *mean = fitted;
  }
  return best;
}

int cb_surrogate_top(const cb_surrogate *s, const bool *among, int most, int *places) {
  int count = 0;
  for (int i = 0; i < (int)s->n; i++) {
    const double fitted = cb_gp_fitted(s->gp, i);
    int place = count;
    while (place > 0 && fitted > cb_gp_fitted(s->gp, places[place - 1]))
      place--;
    if (place == most || (among && !among[s->rows[i]]))
      continue;
    count += count < most;
    memmove(places + place + 1, places + place,
            (size_t)(count - place - 1) * sizeof *places);
    places[place] = i;
  }
  return count;
}

void cb_surrogate_expect(const cb_surrogate *s, const double *x, const int32_t *h,
                         double *mean, double *sd) {
  double centre, unit, mu, deviation;
  cb_gp_scale(s->gp, &centre, &unit);
  cb_gp_predict(s->gp, 1, x, h, &mu, &deviation);
  *mean = centre + unit * mu;
  *sd = unit * deviation;
}

void cb_surrogate_predict(const cb_surrogate *s, int n, const double *x,
                          const int32_t *h, double *mean, double *sd) {
  for (int i = 0; i < n; i++)
    cb_surrogate_expect(s, x + cb_at(0, i, s->space->d), h + cb_at(0, i, s->space->c),
                        &mean[i], &sd[i]);
}

/* ---- fitting --------------------------------------------------------------------- */

/* Choosing rows spoils what follow knows of them, so it starts over after a fit; a new
 * fit makes it do that anyway. */
cocabo_status cb_surrogate_likelihood(cb_surrogate *s, const cb_history *history,
                                      int64_t most, cb_likelihood **out,
                                      cocabo_error *err) {
  *out = NULL;
  s->fit_rows = -1;
  CB_TRY(choose_rows(s, history, history->n, err));
  if (s->n > most) {
    for (int64_t i = 0; i < most; i++)
      s->rows[i] = s->rows[i * s->n / most];
    s->n = most;
  }
  CB_TRY(gather_points(s, history, err));
  return cb_likelihood_new(out, &s->spec, (int)s->n, s->x, s->h, err);
}

cocabo_status cb_surrogate_targets(cb_surrogate *s, const double *y, int *n,
                                   const double **out, cocabo_error *err) {
  CB_TRY(gather_targets(s, y, err));
  *n = (int)s->n;
  *out = s->y;
  return COCABO_OK;
}

cocabo_status cb_surrogate_variances(cb_surrogate *s, const double *variance,
                                     cb_likelihood *likelihood, cocabo_error *err) {
  if (!variance)
    return COCABO_OK;
  CB_TRY(gather_variances(s, variance, err));
  cb_likelihood_set_variance(likelihood, s->variance);
  return COCABO_OK;
}

cocabo_status cb_surrogate_fit(cb_surrogate *s, const cb_ask *ask, const double *y,
                               const double *variance, const cb_theta_box *box,
                               int restarts, cb_rng *rng, double *theta,
                               cocabo_error *err) {
  const cb_fit_plan plan = {.restarts = restarts,
                            .max_evaluations = FIT_EVALUATIONS,
                            .interrupt = ask->interrupt,
                            .user = ask->user};
  cb_likelihood *likelihood;
  CB_TRY(cb_surrogate_likelihood(s, ask->history, s->model_size, &likelihood, err));
  cocabo_status status = gather_targets(s, y, err);
  if (status == COCABO_OK) {
    cb_likelihood_set_y(likelihood, s->y);
    status = cb_surrogate_variances(s, variance, likelihood, err);
  }
  if (status == COCABO_OK)
    status = cb_gp_fit(likelihood, &s->spec, box, &plan, rng, theta, NULL, err);
  cb_likelihood_free(likelihood);
  return status;
}
