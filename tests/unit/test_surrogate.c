/* A process that follows a history: the same bits however the history came, an active
 * set of the right rows, and fantasies that leave no trace. */
#include "check.h"

#include <stdbool.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "log/history.h"
#include "model/gp_fit.h"
#include "sampler/surrogate.h"

static cocabo_error err;

/* ---- histories ------------------------------------------------------------------- */

enum { N_PARAMS = 3, ARMS = 3, QUERIES = 50 };

static cocabo_space *make_space(void) {
  cocabo_value choices[ARMS];
  cocabo_space *s = cocabo_space_new();
  for (int k = 0; k < ARMS; k++)
    choices[k] = (cocabo_value){.type = COCABO_INT, .as.integer = 10 * k};
  assert_ok(cocabo_space_add_real(s, "u", -1, 1, 0, 0, &err));
  assert_ok(cocabo_space_add_choice(s, "c", choices, ARMS, 0, &err));
  assert_ok(cocabo_space_add_real(s, "v", 0, 8, 0, 0, &err));
  return s;
}

static cb_history *make_history(void) {
  cocabo_space *s = make_space();
  cb_history *h;
  assert_ok(cb_history_new(&h, s, 1.0, &err));
  cocabo_space_free(s); /* the history has its own share */
  return h;
}

static void put(cb_history *h, cb_event event) {
  event.seq = h->seq + 1;
  assert_ok(cb_history_apply(h, &event, &err));
}

static int64_t ask_cells(cb_history *h, cb_cell *cells) {
  const int64_t number = h->n_trials;
  put(h, (cb_event){.kind = CB_TRIAL_ASKED,
                    .number = number,
                    .origin = CB_BY_SAMPLER,
                    .n_cells = N_PARAMS,
                    .cells = cells});
  return number;
}

static int64_t ask(cb_history *h, cb_rng *rng) {
  cb_cell cells[N_PARAMS];
  cb_space_sample(h->space, rng, cells);
  return ask_cells(h, cells);
}

static void tell_value(cb_history *h, int64_t number, double y) {
  put(h, (cb_event){.kind = CB_TRIAL_TOLD, .number = number, .has_y = true, .y = y});
}

/* All values differ. */
static void tell(cb_history *h, int64_t number) {
  const cb_trial *t = &h->trials[number];
  tell_value(h, number,
             2.0 * sin(3.0 * t->x[0]) - t->x[1] * t->x[1] + 0.8 * t->h[0] + 40.0);
}

static void give_up(cb_history *h, int64_t number) {
  put(h, (cb_event){.kind = CB_TRIAL_FAILED, .number = number, .reason = "why"});
}

static void add_rows(cb_history *h, int n, cb_rng *rng) {
  for (int i = 0; i < n; i++)
    tell(h, ask(h, rng));
}

/* ---- models ---------------------------------------------------------------------- */

static cb_kernel_spec spec_of(int form) {
  return (cb_kernel_spec){.d = 2,
                          .c = 1,
                          .form = form == 0 ? CB_PAPER : CB_FREE,
                          .ard = form == 1,
                          .half = true,
                          .learn_lambda = true};
}

/* The start of the fit, moved: a new theta for each `fit`. */
static void make_theta(const cb_kernel_spec *spec, int fit, double *theta) {
  cb_theta_box box;
  if (spec->form == CB_PAPER)
    cb_theta_paper(spec, &box);
  else
    cb_theta_free(spec, false, &box);
  const int count = cb_theta_lay_out(spec).count;
  memcpy(theta, box.start, (size_t)count * sizeof *theta);
  for (int i = 0; i < count; i++)
    theta[i] += 0.07 * fit;
  theta[count - 1] = log(1e-4) + 0.3 * fit; /* noise */
}

static void put_fit(cb_history *h, const cb_kernel_spec *spec, int fit) {
  double theta[CB_MAX_THETA];
  make_theta(spec, fit, theta);
  put(h, (cb_event){.kind = CB_MODEL_FITTED,
                    .number = -1,
                    .fit = {.basis = h->seq,
                            .rows = h->n,
                            .n_theta = cb_theta_lay_out(spec).count,
                            .theta = theta}});
}

static cb_surrogate *make_surrogate(const cb_history *h, const cb_kernel_spec *spec,
                                    int64_t model_size) {
  cb_surrogate *s;
  assert_ok(cb_surrogate_new(&s, h->space, spec, model_size, &err));
  return s;
}

static cocabo_status try_to_follow(cb_surrogate *s, const cb_history *h,
                                   const cb_kernel_spec *spec) {
  double theta[CB_MAX_THETA];
  make_theta(spec, 0, theta);
  const cb_fit *fit = h->fit.n_theta > 0 ? &h->fit : NULL;
  return cb_surrogate_follow(s, h, fit, fit ? fit->theta : theta, h->y, h->variance,
                             &err);
}

static void follow(cb_surrogate *s, const cb_history *h, const cb_kernel_spec *spec) {
  assert_ok(try_to_follow(s, h, spec));
}

static int count(const cb_surrogate *s) {
  return cb_gp_count(cb_surrogate_gp(s));
}

typedef struct views {
  double mu[QUERIES], sd[QUERIES], mean, scale;
  int count;
} views;

static views look(const cb_surrogate *s) {
  cb_rng rng = cb_rng_make(99, CB_RNG_BENCH, 4);
  double x[2 * QUERIES];
  int32_t h[QUERIES];
  views v = {.count = count(s)};
  for (int i = 0; i < QUERIES; i++) {
    x[2 * i] = 2.0 * cb_rng_uniform(&rng) - 1.0;
    x[2 * i + 1] = 2.0 * cb_rng_uniform(&rng) - 1.0;
    h[i] = (int32_t)cb_rng_below(&rng, ARMS);
  }
  cb_gp_predict(cb_surrogate_gp(s), QUERIES, x, h, v.mu, v.sd);
  cb_gp_scale(cb_surrogate_gp(s), &v.mean, &v.scale);
  return v;
}

static void assert_same(const views *a, const views *b) {
  assert_int_equal(a->count, b->count);
  assert_memory_equal(a->mu, b->mu, sizeof a->mu);
  assert_memory_equal(a->sd, b->sd, sizeof a->sd);
  assert_memory_equal(&a->mean, &b->mean, sizeof a->mean);
  assert_memory_equal(&a->scale, &b->scale, sizeof a->scale);
}

static void predict_trial(const cb_surrogate *s, const cb_trial *t, double *mu,
                          double *sd) {
  cb_gp_predict(cb_surrogate_gp(s), 1, t->x, t->h, mu, sd);
}

/* ---- following ------------------------------------------------------------------- */

/* What happens to rows after they were told. */
enum { NOTHING, OTHER_VALUES, KNOWN_ERRORS };

/* After row i. Errors come and go: of the first rows none is known, and for a while
 * that of none. */
static void revise(cb_history *h, int how, int i, cb_rng *rng) {
  const int64_t row = (int64_t)cb_rng_below(rng, (uint32_t)h->n);
  const double y = h->y[row] + 0.4 * cb_rng_normal(rng);
  if (how == OTHER_VALUES && i % 4 == 1)
    cb_history_revise(h, row, y, 0.0);
  if (how == KNOWN_ERRORS && i % 3 != 0 && (i < 50 || i > 60))
    cb_history_revise(h, row, y, 0.5 * cb_rng_uniform(rng));
  for (int64_t k = 0; how == KNOWN_ERRORS && i == 50 && k < h->n; k++)
    cb_history_revise(h, k, h->y[k], 0.0);
}

/* One that follows step by step, with fantasies and predictions in between, and one
 * that starts at the end; fits come after `fits` rows, appends outlast a factor. */
static void check_following(int form, int64_t model_size, const int *fits, int rows,
                            int how) {
  const cb_kernel_spec spec = spec_of(form);
  cb_rng rng = cb_rng_make(17, CB_RNG_BENCH, 1);
  cb_rng revisions = cb_rng_make(18, CB_RNG_BENCH, 1);
  cb_history *h = make_history();
  cb_surrogate *early = make_surrogate(h, &spec, model_size);
  int n_fits = 0;
  follow(early, h, &spec);
  for (int i = 1; i <= rows; i++) {
    const int64_t number = ask(h, &rng);
    if (i % 5 == 0)
      ask(h, &rng); /* stays pending */
    follow(early, h, &spec);
    assert_ok(cb_surrogate_fantasize(early, h, cb_history_worst(h), &err));
    look(early);
    cb_surrogate_drop_fantasies(early);
    tell(h, number);
    revise(h, how, i, &revisions);
    if (i == fits[n_fits])
      put_fit(h, &spec, ++n_fits);
    if (i % 7 == 0) {
      give_up(h, ask(h, &rng));
      continue; /* several rows at once */
    }
    follow(early, h, &spec);
    if (i % 10 != 0)
      continue;
    cb_surrogate *late = make_surrogate(h, &spec, model_size);
    follow(late, h, &spec);
    const views a = look(early), b = look(late);
    assert_same(&a, &b);
    assert_ok(cb_surrogate_fantasize(early, h, cb_history_worst(h), &err));
    assert_ok(cb_surrogate_fantasize(late, h, cb_history_worst(h), &err));
    const views c = look(early), d = look(late);
    assert_same(&c, &d);
    cb_surrogate_drop_fantasies(early);
    cb_surrogate_free(late);
  }
  cb_surrogate_free(early);
  cb_history_free(h);
}

static void step_by_step_and_all_at_once_give_the_same_bits(void **state) {
  (void)state;
  const int fits[][4] = {{0}, {2, 20, 40, 0}, {20, 0}, {30, 31, 110, 0}};
  for (int form = 0; form < 2; form++)
    for (int f = 0; f < 4; f++) {
      check_following(form, 1000, fits[f], 150, NOTHING);
      check_following(form, 25, fits[f], 120, NOTHING);
    }
}

static void so_they_do_where_rows_are_revised(void **state) {
  (void)state;
  const int fits[][4] = {{0}, {2, 20, 40, 0}, {30, 31, 110, 0}};
  for (int form = 0; form < 2; form++)
    for (int f = 0; f < 3; f++)
      for (int how = OTHER_VALUES; how <= KNOWN_ERRORS; how++) {
        check_following(form, 1000, fits[f], 120, how);
        check_following(form, 25, fits[f], 120, how);
      }
}

/* In one go, whenever the fit was; the deviation is that of the targets. */
static void known_errors_are_noise_of_the_rows(void **state) {
  (void)state;
  enum { N = 40 };
  const cb_kernel_spec spec = spec_of(1);
  cb_rng rng = cb_rng_make(3, CB_RNG_BENCH, 1);
  cb_history *h = make_history();
  add_rows(h, 25, &rng);
  put_fit(h, &spec, 1);
  add_rows(h, N - 25, &rng);
  for (int64_t i = 0; i < N; i += 2)
    cb_history_revise(h, i, h->y[i], 0.05 * (double)(i + 1));
  cb_surrogate *s = make_surrogate(h, &spec, 1000);
  follow(s, h, &spec);
  double x[2 * N], noise[N], mean, scale, mu, sd, got_mu, got_sd;
  int32_t cat[N];
  cb_moments(N, h->y, &mean, &scale);
  for (int i = 0; i < N; i++) {
    const cb_trial *t = &h->trials[h->told[i]];
    memcpy(x + 2 * i, t->x, 2 * sizeof *x);
    cat[i] = t->h[0];
    noise[i] = h->variance[i] / (scale * scale);
  }
  cb_gp *gp;
  assert_ok(cb_gp_new(&gp, &spec, &err));
  cb_gp_set_theta(gp, h->fit.theta);
  assert_ok(cb_gp_factor_noisy(gp, N, x, cat, noise, &err));
  cb_gp_set_y(gp, h->y);
  double highest = -INFINITY;
  for (int i = 0; i < N; i++) {
    predict_trial(s, &h->trials[h->told[i]], &got_mu, &got_sd);
    cb_gp_predict(gp, 1, x + 2 * i, cat + i, &mu, &sd);
    assert_close(got_mu, mu, 1e-12);
    assert_close(got_sd, sd, 1e-12);
    highest = fmax(highest, mu);
  }
  int top[N];
  assert_int_equal(cb_surrogate_top(s, NULL, N, top), N);
  assert_int_equal(top[0], cb_surrogate_best(s, &mu));
  assert_close(mu, highest, 1e-9);
  for (int i = 1; i < N; i++) {
    predict_trial(s, &h->trials[h->told[top[i - 1]]], &mu,
                  &sd); /* all rows are there */
    predict_trial(s, &h->trials[h->told[top[i]]], &got_mu, &got_sd);
    assert_true(got_mu <= mu + 1e-9);
  }
  int five[5];
  assert_int_equal(cb_surrogate_top(s, NULL, 5, five), 5);
  assert_memory_equal(five, top, sizeof five);
  cb_gp_free(gp);
  cb_surrogate_free(s);
  cb_history_free(h);
}

/* Rows that were all told when the fit came are factored, not appended. */
static void following_agrees_with_a_plain_process(void **state) {
  (void)state;
  enum { N = 40 };
  const cb_kernel_spec spec = spec_of(1);
  cb_rng rng = cb_rng_make(3, CB_RNG_BENCH, 1);
  cb_history *h = make_history();
  add_rows(h, N, &rng);
  put_fit(h, &spec, 1);
  cb_surrogate *s = make_surrogate(h, &spec, 1000);
  follow(s, h, &spec);
  double x[2 * N], mu, sd, got_mu, got_sd;
  int32_t cat[N];
  for (int i = 0; i < N; i++) {
    memcpy(x + 2 * i, h->trials[i].x, 2 * sizeof *x);
    cat[i] = h->trials[i].h[0];
  }
  cb_gp *gp;
  assert_ok(cb_gp_new(&gp, &spec, &err));
  cb_gp_set_theta(gp, h->fit.theta);
  assert_ok(cb_gp_factor(gp, N, x, cat, &err));
  cb_gp_set_y(gp, h->y);
  for (int i = 0; i < N; i++) {
    cb_gp_predict(gp, 1, x + 2 * i, cat + i, &mu, &sd);
    predict_trial(s, &h->trials[i], &got_mu, &got_sd);
    assert_true(mu == got_mu && sd == got_sd);
  }
  double mean, scale;
  cb_gp_scale(gp, &mean, &scale);
  assert_close(cb_surrogate_standardise(s, 41.5), (41.5 - mean) / scale, 1e-15);
  cb_gp_free(gp);
  cb_surrogate_free(s);
  cb_history_free(h);
}

/* Tells in any order: rows are in told order, not by number. */
static void told_order_is_followed(void **state) {
  (void)state;
  enum { N = 12 };
  const cb_kernel_spec spec = spec_of(0);
  cb_rng rng = cb_rng_make(5, CB_RNG_BENCH, 1);
  cb_history *h = make_history();
  for (int i = 0; i < N; i++)
    ask(h, &rng);
  cb_surrogate *s = make_surrogate(h, &spec, 1000);
  for (int i = N - 1; i >= 0; i--) {
    tell(h, (i * 5) % N);
    follow(s, h, &spec);
  }
  for (int i = 0; i < N; i++) {
    double mu, sd;
    predict_trial(s, &h->trials[h->told[i]], &mu, &sd);
    assert_close(mu, cb_surrogate_standardise(s, h->y[i]), 0.05);
  }
  cb_surrogate_free(s);
  cb_history_free(h);
}

/* The targets may be a transform, and another one each time. */
static void targets_are_the_callers(void **state) {
  (void)state;
  enum { N = 30 };
  const cb_kernel_spec spec = spec_of(1);
  cb_rng rng = cb_rng_make(6, CB_RNG_BENCH, 1);
  cb_history *h = make_history();
  add_rows(h, N, &rng);
  put_fit(h, &spec, 1);
  cb_surrogate *s = make_surrogate(h, &spec, 1000);
  double scaled[N];
  for (int i = 0; i < N; i++)
    scaled[i] = 1e3 * h->y[i] - 7.0;
  follow(s, h, &spec);
  const views plain = look(s);
  assert_ok(cb_surrogate_follow(s, h, &h->fit, h->fit.theta, scaled, NULL, &err));
  const views other = look(s);
  assert_relative(other.scale, 1e3 * plain.scale, 1e-12);
  assert_close(other.mean, 1e3 * plain.mean - 7.0, 1e-12);
  for (int i = 0; i < QUERIES; i++)
    assert_close(other.mu[i], plain.mu[i], 1e-8);
  follow(s, h, &spec);
  const views again = look(s);
  assert_same(&plain, &again);
  cb_surrogate_free(s);
  cb_history_free(h);
}

/* Two workers fit the same log at the same time: neither basis nor rows tell their fits
 * apart. */
static void fits_of_the_same_log_are_told_apart(void **state) {
  (void)state;
  const cb_kernel_spec spec = spec_of(1);
  cb_rng rng = cb_rng_make(7, CB_RNG_BENCH, 1);
  cb_history *h = make_history();
  add_rows(h, 30, &rng);
  put_fit(h, &spec, 1);
  double theta[CB_MAX_THETA];
  make_theta(&spec, 2, theta);
  cb_fit second = h->fit;
  second.theta = theta;
  cb_surrogate *warm = make_surrogate(h, &spec, 1000);
  cb_surrogate *cold = make_surrogate(h, &spec, 1000);
  follow(warm, h, &spec);
  assert_ok(cb_surrogate_follow(warm, h, &second, theta, h->y, NULL, &err));
  assert_ok(cb_surrogate_follow(cold, h, &second, theta, h->y, NULL, &err));
  const views a = look(warm), b = look(cold);
  assert_same(&a, &b);
  cb_surrogate_free(warm);
  cb_surrogate_free(cold);
  cb_history_free(h);
}

/* Penalties of 1e300 and likelihoods of 1e-200 are objectives too. */
static void the_scale_of_the_targets_does_not_matter(void **state) {
  (void)state;
  enum { N = 30 };
  const double scales[] = {1e-9, 1e9, 1e150, 1e-150, 1e-200, 1e200, 1e300};
  const cb_kernel_spec spec = spec_of(1);
  cb_rng rng = cb_rng_make(8, CB_RNG_BENCH, 1);
  cb_history *h = make_history();
  add_rows(h, N, &rng);
  put_fit(h, &spec, 1);
  cb_surrogate *s = make_surrogate(h, &spec, 1000);
  follow(s, h, &spec);
  const views plain = look(s);
  for (size_t k = 0; k < sizeof scales / sizeof scales[0]; k++) {
    double y[N];
    for (int i = 0; i < N; i++)
      y[i] = scales[k] * h->y[i];
    assert_ok(cb_surrogate_follow(s, h, &h->fit, h->fit.theta, y, NULL, &err));
    const views other = look(s);
    assert_relative(other.scale / scales[k], plain.scale, 1e-9);
    for (int i = 0; i < QUERIES; i++)
      assert_close(other.mu[i], plain.mu[i], 1e-8);
  }
  cb_surrogate_free(s);
  cb_history_free(h);
}

/* ---- the active set -------------------------------------------------------------- */

/* A free kernel so short-ranged that each row is certain of itself alone. */
static void put_lonely_fit(cb_history *h, const cb_kernel_spec *spec) {
  const cb_theta_layout t = cb_theta_lay_out(spec);
  double theta[CB_MAX_THETA];
  make_theta(spec, 0, theta);
  for (int i = 0; i < t.scales; i++)
    theta[i] = log(0.003);
  for (int i = 0; i < t.n_weights; i++)
    theta[t.weights + i] = log(1e-6);
  theta[t.rates] = log(10.0);
  theta[t.hamming_matern] = 0.0; /* the product */
  theta[t.noise] = log(1e-6);
  put(h,
      (cb_event){
          .kind = CB_MODEL_FITTED,
          .number = -1,
          .fit = {.basis = h->seq, .rows = h->n, .n_theta = t.count, .theta = theta}});
}

static bool is_known(const cb_surrogate *s, const cb_trial *t) {
  double mu, sd;
  predict_trial(s, t, &mu, &sd);
  return sd < 0.1;
}

static int64_t nearest_to_best(const cb_history *h) {
  const cb_trial *best = &h->trials[h->told[h->best]];
  double least = INFINITY;
  int64_t nearest = -1;
  for (int64_t i = 0; i < h->n; i++) {
    const cb_trial *t = &h->trials[h->told[i]];
    const double apart = hypot(t->x[0] - best->x[0], t->x[1] - best->x[1]) +
                         9.0 * (t->h[0] != best->h[0]);
    if (i != h->best && apart < least)
      least = apart, nearest = i;
  }
  return nearest;
}

static void an_active_set_has_the_rows_that_matter(void **state) {
  (void)state;
  const int sizes[] = {10, 11, 13, 40, 119, 120, 121};
  for (int t = 0; t < 7; t++) {
    const cb_kernel_spec spec = spec_of(1);
    const int64_t rows = 120, want = sizes[t] < rows ? sizes[t] : rows;
    cb_rng rng = cb_rng_make(21, CB_RNG_BENCH, (uint64_t)t);
    cb_history *h = make_history();
    add_rows(h, (int)rows, &rng);
    put_lonely_fit(h, &spec);
    cb_surrogate *s = make_surrogate(h, &spec, sizes[t]);
    follow(s, h, &spec);
    assert_int_equal(count(s), want);
    int known = 0; /* as many different rows as points in the process: none twice */
    for (int64_t i = 0; i < h->n; i++)
      known += is_known(s, &h->trials[h->told[i]]);
    assert_int_equal(known, want);
    assert_true(is_known(s, &h->trials[h->told[h->best]]));
    assert_true(is_known(s, &h->trials[h->told[nearest_to_best(h)]]));

    double mu, sd; /* the incumbent keeps its value */
    predict_trial(s, &h->trials[h->told[h->best]], &mu, &sd);
    assert_close(mu, cb_surrogate_standardise(s, h->y[h->best]), 1e-3);

    add_rows(h, 9, &rng); /* later rows are appended, whatever the size */
    follow(s, h, &spec);
    assert_int_equal(count(s), want + 9);
    for (int64_t i = rows; i < h->n; i++)
      assert_true(is_known(s, &h->trials[h->told[i]]));
    put_lonely_fit(h, &spec); /* until the next fit */
    follow(s, h, &spec);
    assert_int_equal(count(s), sizes[t] < rows + 9 ? sizes[t] : rows + 9);
    assert_true(is_known(s, &h->trials[h->told[h->best]]));
    cb_surrogate_free(s);
    cb_history_free(h);
  }
}

/* A usual kernel: the incumbent's prediction stays close with few rows. */
static void predictions_at_the_incumbent_stay_close(void **state) {
  (void)state;
  for (int form = 0; form < 2; form++) {
    const cb_kernel_spec spec = spec_of(form);
    cb_rng rng = cb_rng_make(22, CB_RNG_BENCH, 1);
    cb_history *h = make_history();
    cb_surrogate *s = make_surrogate(h, &spec, 20);
    for (int i = 0; i < 10; i++) {
      add_rows(h, 15, &rng);
      put_fit(h, &spec, i);
      follow(s, h, &spec);
      assert_int_equal(count(s), i == 0 ? 15 : 20);
      double mu, sd;
      predict_trial(s, &h->trials[h->told[h->best]], &mu, &sd);
      assert_close(mu, cb_surrogate_standardise(s, h->y[h->best]), 0.1);
    }
    cb_surrogate_free(s);
    cb_history_free(h);
  }
}

/* What a noisy objective brings: one point again and again; and equal values. */
static void equal_rows_are_survived(void **state) {
  (void)state;
  for (int equal_values = 0; equal_values < 2; equal_values++) {
    const cb_kernel_spec spec = spec_of(1);
    cb_cell cells[N_PARAMS] = {{.real = 0.25}, {.integer = 1}, {.real = 3.0}};
    cb_history *h = make_history();
    for (int i = 0; i < 60; i++)
      tell_value(h, ask_cells(h, cells), equal_values ? 2.5 : 2.5 + 0.1 * (i % 11));
    put_fit(h, &spec, 1);
    cb_surrogate *s = make_surrogate(h, &spec, 12);
    follow(s, h, &spec);
    assert_int_equal(count(s), 12);
    const views v = look(s);
    for (int i = 0; i < QUERIES; i++)
      assert_true(isfinite(v.mu[i]) && v.sd[i] > 0.0);
    cb_surrogate_free(s);
    cb_history_free(h);
  }
}

/* ---- fantasies ------------------------------------------------------------------- */

static void fantasies_leave_no_trace(void **state) {
  (void)state;
  for (int form = 0; form < 2; form++) {
    const cb_kernel_spec spec = spec_of(form);
    cb_rng rng = cb_rng_make(31, CB_RNG_BENCH, 1);
    cb_history *h = make_history();
    add_rows(h, 50, &rng);
    put_fit(h, &spec, 1);
    add_rows(h, 7, &rng);
    for (int i = 0; i < 70; i++) { /* more than fit into the first allocation */
      const int64_t number = ask(h, &rng);
      if (i % 3 == 0)
        give_up(h, number);
    }
    cb_surrogate *s = make_surrogate(h, &spec, 1000);
    follow(s, h, &spec);
    const views before = look(s);
    for (int i = 0; i < 3; i++) {
      assert_ok(cb_surrogate_fantasize(s, h, cb_history_worst(h), &err));
      assert_int_equal(count(s), 57 + 70);
      cb_surrogate_drop_fantasies(s);
      const views after = look(s);
      assert_same(&before, &after);
    }
    cb_surrogate_drop_fantasies(s); /* nothing to forget */
    const views after = look(s);
    assert_same(&before, &after);
    cb_surrogate_free(s);
    cb_history_free(h);
  }
}

static void failed_trials_pull_the_mean_down_and_pending_ones_do_not(void **state) {
  (void)state;
  for (int form = 0; form < 2; form++) {
    const cb_kernel_spec spec = spec_of(form);
    cb_rng rng = cb_rng_make(33, CB_RNG_BENCH, 1);
    cb_history *h = make_history();
    add_rows(h, 25, &rng);
    put_fit(h, &spec, 1);
    const double worst = cb_history_worst(h);
    cb_surrogate *s = make_surrogate(h, &spec, 1000);
    follow(s, h, &spec);

    const int64_t waits = ask(h, &rng);
    double mu[3], sd[3];
    predict_trial(s, &h->trials[waits], &mu[0], &sd[0]);
    assert_ok(cb_surrogate_fantasize(s, h, worst, &err));
    predict_trial(s, &h->trials[waits], &mu[1], &sd[1]);
    assert_close(mu[1], mu[0], 1e-9);
    assert_true(sd[1] < 0.7 * sd[0]);
    cb_surrogate_drop_fantasies(s);

    give_up(h, waits);
    assert_ok(cb_surrogate_fantasize(s, h, worst, &err));
    predict_trial(s, &h->trials[waits], &mu[2], &sd[2]);
    assert_true(mu[2] < mu[0] - 0.1);
    assert_close(mu[2], cb_surrogate_standardise(s, worst), 0.15);
    assert_close(sd[2], sd[1], 1e-9);
    cb_surrogate_drop_fantasies(s);
    cb_surrogate_free(s);
    cb_history_free(h);
  }
}

static void failures_alone_are_survived(void **state) {
  (void)state;
  const cb_kernel_spec spec = spec_of(1);
  cb_rng rng = cb_rng_make(35, CB_RNG_BENCH, 1);
  cb_history *h = make_history();
  cb_surrogate *s = make_surrogate(h, &spec, 1000);
  for (int i = 0; i < 80; i++)
    give_up(h, ask(h, &rng));
  follow(s, h, &spec);
  assert_ok(cb_surrogate_fantasize(s, h, cb_history_worst(h), &err));
  const views v = look(s);
  assert_int_equal(v.count, 80);
  for (int i = 0; i < QUERIES; i++)
    assert_true(isfinite(v.mu[i]) && v.sd[i] > 0.0);
  cb_surrogate_drop_fantasies(s);
  assert_int_equal(count(s), 0);
  cb_surrogate_free(s);
  cb_history_free(h);
}

/* Squared distance in x plus the categories that differ, to the best trial. */
static double from_the_best(const cb_history *h, const cb_trial *t) {
  const cb_trial *best = &h->trials[h->told[h->best]];
  const double u = t->x[0] - best->x[0], v = t->x[1] - best->x[1];
  return u * u + v * v + (t->h[0] != best->h[0]);
}

/* Is trial i of n without a value among the newest 64, or among those of the others
 * that are nearest to the best, 64 of them? */
static bool counts_of(const cb_history *h, const int64_t *trials, int64_t n,
                      int64_t i) {
  if (n <= 128 || i >= n - 64)
    return true;
  const double mine = from_the_best(h, &h->trials[trials[i]]);
  int nearer = 0;
  for (int64_t k = 0; k < n - 64; k++)
    nearer += from_the_best(h, &h->trials[trials[k]]) < mine;
  return nearer < 64;
}

static void assert_held(const cb_surrogate *s, const cb_history *h,
                        const int64_t *trials, int64_t n) {
  int held = 0;
  for (int64_t i = 0; i < n; i++) {
    double mu, sd;
    const bool want = counts_of(h, trials, n, i);
    predict_trial(s, &h->trials[trials[i]], &mu, &sd);
    held += want;
    if (want ? !(sd < 0.05) : !(sd > 0.3))
      fail_msg("%d of %d trials without a value: the process should%s hold it, its "
               "deviation is %g",
               (int)i, (int)n, want ? "" : " not", sd);
  }
  assert_int_equal(held, n < 128 ? n : 128);
}

/* A kernel of short range, so that a point in the process is certain, and others are
 * not. */
static void of_many_without_a_value_the_newest_and_the_nearest_count(void **state) {
  (void)state;
  const int sizes[] = {100, 128, 129, 150, 191, 193, 400};
  for (int t = 0; t < 7; t++) {
    const cb_kernel_spec spec = spec_of(1);
    cb_rng rng = cb_rng_make(57, CB_RNG_BENCH, (uint64_t)t);
    cb_history *h = make_history();
    add_rows(h, 30, &rng);
    put_lonely_fit(h, &spec);
    for (int i = 0; i < 2 * sizes[t]; i++) {
      const int64_t number = ask(h, &rng);
      if (i % 2 == 0)
        give_up(h, number);
    }
    assert_int_equal(h->n_failed, sizes[t]);
    assert_int_equal(h->n_pending, sizes[t]);
    cb_surrogate *s = make_surrogate(h, &spec, 1000);
    follow(s, h, &spec);
    assert_ok(cb_surrogate_fantasize(s, h, cb_history_worst(h), &err));
    assert_int_equal(count(s), 30 + 2 * (sizes[t] < 128 ? sizes[t] : 128));
    assert_held(s, h, h->failed, h->n_failed);
    assert_held(s, h, h->pending, h->n_pending);
    cb_surrogate_free(s);
    cb_history_free(h);
  }
}

/* ---- restriction ----------------------------------------------------------------- */

/* A trial of `all`, and of `some` if its category is 1: told, given up or left alone.
 */
static void add_to_both(cb_history *all, cb_history *some, int fate, cb_rng *rng) {
  cb_history *const both[] = {all, some};
  cb_cell cells[N_PARAMS];
  cb_space_sample(all->space, rng, cells);
  const int n = cells[1].integer == 1 ? 2 : 1;
  for (int i = 0; i < n; i++) {
    const int64_t number = ask_cells(both[i], cells);
    if (fate < 8)
      tell(both[i], number);
    else if (fate == 8)
      give_up(both[i], number);
  }
}

static void a_restricted_one_does_not_see_the_others(void **state) {
  (void)state;
  const int32_t only[] = {1};
  for (int64_t model_size = 12; model_size <= 1012; model_size += 1000) {
    const cb_kernel_spec spec = spec_of(1);
    cb_rng rng = cb_rng_make(37, CB_RNG_BENCH, 1);
    cb_history *all = make_history(), *some = make_history();
    cb_surrogate *restricted = make_surrogate(all, &spec, model_size);
    cb_surrogate *plain = make_surrogate(some, &spec, model_size);
    cb_surrogate_restrict(restricted, only);
    for (int i = 0; i < 150; i++) {
      add_to_both(all, some, i % 10, &rng);
      if (i % 60 == 40) {
        put_fit(all, &spec, 1 + i / 60);
        put_fit(some, &spec, 1 + i / 60);
      }
      if (i % 7 > 0)
        continue;
      follow(restricted, all, &spec);
      follow(plain, some, &spec);
      const double worst = cb_history_worst(some);
      assert_ok(cb_surrogate_fantasize(restricted, all, worst, &err));
      assert_ok(cb_surrogate_fantasize(plain, some, worst, &err));
      const views a = look(restricted), b = look(plain);
      assert_same(&a, &b);
      cb_surrogate_drop_fantasies(restricted);
      cb_surrogate_drop_fantasies(plain);
    }
    assert_true(some->n > 30 && some->n < all->n / 2);
    cb_surrogate_free(restricted);
    cb_surrogate_free(plain);
    cb_history_free(all);
    cb_history_free(some);
  }
}

/* ---- fitting --------------------------------------------------------------------- */

static double best_of(const double *y, int n) {
  double best = -INFINITY;
  for (int i = 0; i < n; i++)
    best = fmax(best, y[i]);
  return best;
}

static void likelihood_has_the_rows_of_the_fit(void **state) {
  (void)state;
  const int sizes[] = {1000, 60, 59, 20, 10};
  for (int t = 0; t < 5; t++) {
    const cb_kernel_spec spec = spec_of(t % 2);
    cb_rng rng = cb_rng_make(41, CB_RNG_BENCH, 1);
    cb_history *h = make_history();
    add_rows(h, 60, &rng);
    cb_surrogate *s = make_surrogate(h, &spec, sizes[t]);
    cb_likelihood *l;
    const double *targets;
    int n;
    assert_ok(cb_surrogate_likelihood(s, h, 1000, &l, &err));
    assert_ok(cb_surrogate_targets(s, h->y, &n, &targets, &err));
    cb_likelihood_set_y(l, targets);
    cb_likelihood_free(l);
    assert_int_equal(n, sizes[t] < 60 ? sizes[t] : 60);
    int64_t row = 0; /* a part of the rows, in told order, each once */
    for (int i = 0; i < n; i++, row++)
      while (h->y[row] != targets[i])
        assert_true(++row < h->n);
    assert_true(best_of(targets, n) == h->y[h->best]);
    cb_surrogate_free(s);
    cb_history_free(h);
  }
}

/* With enough rows that the vectorised loops are used, not only their remainders. */
static void its_gradient_agrees_with_central_differences(void **state) {
  (void)state;
  const double step = 1e-5;
  for (int form = 0; form < 2; form++) {
    const cb_kernel_spec spec = spec_of(form);
    cb_rng rng = cb_rng_make(45, CB_RNG_BENCH, 1);
    cb_history *h = make_history();
    add_rows(h, 40, &rng);
    cb_surrogate *s = make_surrogate(h, &spec, 1000);
    cb_likelihood *l;
    const double *targets;
    int n;
    double theta[CB_MAX_THETA], gradient[CB_MAX_THETA];
    assert_ok(cb_surrogate_likelihood(s, h, 1000, &l, &err));
    assert_ok(cb_surrogate_targets(s, h->y, &n, &targets, &err));
    cb_likelihood_set_y(l, targets);
    make_theta(&spec, 2, theta);
    cb_likelihood_value(l, theta, gradient);
    for (int i = 0; i < cb_theta_lay_out(&spec).count; i++) {
      const double here = theta[i];
      theta[i] = here + step;
      const double up = cb_likelihood_value(l, theta, NULL);
      theta[i] = here - step;
      const double down = cb_likelihood_value(l, theta, NULL);
      theta[i] = here;
      if (!(fabs(gradient[i] - (up - down) / (2.0 * step)) <=
            1e-5 * (1.0 + fabs(gradient[i]))))
        fail_msg("form %d, theta %d: %.12g, want %.12g", form, i, gradient[i],
                 (up - down) / (2.0 * step));
    }
    cb_likelihood_free(l);
    cb_surrogate_free(s);
    cb_history_free(h);
  }
}

/* As a study does: follow, fit, follow; also where the fit comes to nothing. */
static void following_goes_on_after_a_likelihood(void **state) {
  (void)state;
  const int sizes[] = {1000, 30};
  for (int t = 0; t < 2; t++)
    for (int form = 0; form < 2; form++) {
      const cb_kernel_spec spec = spec_of(form);
      cb_rng rng = cb_rng_make(43, CB_RNG_BENCH, 1);
      cb_history *h = make_history();
      cb_surrogate *s = make_surrogate(h, &spec, sizes[t]);
      for (int i = 0; i < 12; i++) {
        cb_likelihood *l;
        const double *targets;
        int n;
        add_rows(h, 5, &rng);
        follow(s, h, &spec);
        assert_ok(cb_surrogate_likelihood(s, h, 1000, &l, &err));
        assert_ok(cb_surrogate_targets(s, h->y, &n, &targets, &err));
        cb_likelihood_set_y(l, targets);
        double theta[CB_MAX_THETA];
        make_theta(&spec, i, theta);
        assert_true(isfinite(cb_likelihood_value(l, theta, NULL)));
        cb_likelihood_free(l);
        if (i % 3 != 2)
          put_fit(h, &spec, i);
        follow(s, h, &spec);
        cb_surrogate *fresh = make_surrogate(h, &spec, sizes[t]);
        follow(fresh, h, &spec);
        const views a = look(s), b = look(fresh);
        assert_same(&a, &b);
        cb_surrogate_free(fresh);
      }
      cb_surrogate_free(s);
      cb_history_free(h);
    }
}

/* ---- without memory -------------------------------------------------------------- */

static void out_of_memory_leaves_null(void **state) {
  (void)state;
  const cb_kernel_spec spec = spec_of(1);
  cb_history *h = make_history();
  int k = 0;
  for (;; k++) {
    cb_surrogate *s = (cb_surrogate *)h;
    cb_mem_fail_after(k);
    const cocabo_status status = cb_surrogate_new(&s, h->space, &spec, 100, &err);
    cb_mem_fail_after(-1);
    if (status == COCABO_OK) {
      cb_surrogate_free(s);
      break;
    }
    assert_int_equal(status, COCABO_E_NO_MEMORY);
    assert_null(s);
  }
  assert_true(k >= 2);
  cb_surrogate_free(NULL);
  cb_history_free(h);
}

/* At the first fit with more rows than the process has room for, and when rows are
 * appended: who could not follow forgets what there is and follows later. */
static void a_failed_follow_can_be_forgotten_and_repeated(void **state) {
  (void)state;
  const cb_kernel_spec spec = spec_of(1);
  for (int kind = 0; kind < 4; kind++) {
    const bool first = kind % 2, noisy = kind > 1;
    cb_rng rng = cb_rng_make(51, CB_RNG_BENCH, 1);
    cb_history *h = make_history();
    cb_surrogate *s = make_surrogate(h, &spec, 1000), *twin;
    if (first) {
      add_rows(h, 5, &rng);
      follow(s, h, &spec);
    }
    const int held = count(s);
    add_rows(h, 90, &rng);
    put_fit(h, &spec, 1);
    for (int64_t i = 0; noisy && i < h->n; i++)
      cb_history_revise(h, i, h->y[i], 0.3);
    int failures = 0;
    for (int k = 0;; k++) {
      cb_mem_fail_after(k);
      const cocabo_status status = try_to_follow(s, h, &spec);
      cb_mem_fail_after(-1);
      if (status == COCABO_OK)
        break;
      assert_int_equal(status, COCABO_E_NO_MEMORY);
      cb_surrogate_drop_fantasies(s);
      /* A process that was not factored has no points. */
      if (count(s) != 0 && count(s) != held)
        fail_msg("%d points after %d failures, want %d or none", count(s), failures,
                 held);
      failures++;
    }
    assert_true(failures > 0);
    twin = make_surrogate(h, &spec, 1000);
    follow(twin, h, &spec);
    const views a = look(s), b = look(twin);
    assert_same(&a, &b);
    cb_surrogate_free(twin);
    cb_surrogate_free(s);
    cb_history_free(h);
  }
}

static void a_failed_fantasy_can_be_dropped(void **state) {
  (void)state;
  const cb_kernel_spec spec = spec_of(0);
  cb_rng rng = cb_rng_make(53, CB_RNG_BENCH, 1);
  cb_history *h = make_history();
  add_rows(h, 50, &rng);
  put_fit(h, &spec, 1);
  for (int i = 0; i < 150; i++)
    ask(h, &rng);
  cb_surrogate *s = make_surrogate(h, &spec, 1000);
  follow(s, h, &spec);
  const views before = look(s);
  int failures = 0;
  for (int k = 0;; k++) {
    cb_mem_fail_after(k);
    const cocabo_status status = cb_surrogate_fantasize(s, h, 1.0, &err);
    cb_mem_fail_after(-1);
    cb_surrogate_drop_fantasies(s);
    const views after = look(s);
    assert_same(&before, &after);
    if (status == COCABO_OK)
      break;
    failures++;
  }
  assert_true(failures > 0);
  cb_surrogate_free(s);
  cb_history_free(h);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(step_by_step_and_all_at_once_give_the_same_bits),
      cmocka_unit_test(so_they_do_where_rows_are_revised),
      cmocka_unit_test(known_errors_are_noise_of_the_rows),
      cmocka_unit_test(following_agrees_with_a_plain_process),
      cmocka_unit_test(told_order_is_followed),
      cmocka_unit_test(targets_are_the_callers),
      cmocka_unit_test(fits_of_the_same_log_are_told_apart),
      cmocka_unit_test(the_scale_of_the_targets_does_not_matter),
      cmocka_unit_test(an_active_set_has_the_rows_that_matter),
      cmocka_unit_test(predictions_at_the_incumbent_stay_close),
      cmocka_unit_test(equal_rows_are_survived),
      cmocka_unit_test(fantasies_leave_no_trace),
      cmocka_unit_test(failed_trials_pull_the_mean_down_and_pending_ones_do_not),
      cmocka_unit_test(of_many_without_a_value_the_newest_and_the_nearest_count),
      cmocka_unit_test(a_restricted_one_does_not_see_the_others),
      cmocka_unit_test(failures_alone_are_survived),
      cmocka_unit_test(likelihood_has_the_rows_of_the_fit),
      cmocka_unit_test(its_gradient_agrees_with_central_differences),
      cmocka_unit_test(following_goes_on_after_a_likelihood),
      cmocka_unit_test(out_of_memory_leaves_null),
      cmocka_unit_test(a_failed_follow_can_be_forgotten_and_repeated),
      cmocka_unit_test(a_failed_fantasy_can_be_dropped),
  };
  return cmocka_run_group_tests_name("sampler/surrogate", tests, NULL, NULL);
}
