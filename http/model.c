/* model.c - what the model makes of a study: the importance of its parameters, slices
 * and contours through the best point, and how sure it is. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/axis.h"
#include "http/call.h"

/* ---- importance ------------------------------------------------------------------ */

cocabo_status http_doc_importances(http_call *call, cocabo_error *err) {
  http_json *json = &call->json;
  const cocabo_space *space = cocabo_study_space(call->study->handle);
  double share[COCABO_MAX_PARAMETERS], se[COCABO_MAX_PARAMETERS], explained;
  const size_t n = cocabo_space_count(space);
  CB_TRY(cocabo_study_importance(call->study->handle, n, share, se, &explained, err));
  http_open(json, '{');
  http_put_seq(call);
  http_put_real(json, "explained", explained);
  http_key(json, "parameters");
  http_open(json, '[');
  for (size_t i = 0; i < n; i++) {
    http_open(json, '{');
    http_put_text(json, "name", cocabo_space_name(space, i));
    http_put_real(json, "share", share[i]);
    http_put_real(json, "se", se[i]);
    http_close(json, '}');
  }
  http_close(json, ']');
  http_close(json, '}');
  return COCABO_OK;
}

/* ---- slices and contours --------------------------------------------------------- */

/* A slice has one row: ny is 1 and y is -1. */
typedef struct section {
  const cocabo_space *space;
  const cocabo_trial *at; /* the incumbent */
  size_t d;
  int x, y;
  size_t nx, ny;
  cocabo_value *xs, *ys; /* nx, ny */
  cocabo_value *points;  /* nx ny d: those that are possible, one after the other */
  size_t *places;        /* of each point: its cell in the grid, y nx + x */
  size_t n;              /* points */
  double *mean, *sd, *p; /* of each point */
  double *grid;          /* nx ny */
} section;

static void free_section(section *s) {
  cb_free(s->xs);
  cb_free(s->ys);
  cb_free(s->points);
  cb_free(s->places);
  cb_free(s->mean);
}

/* -1: the query does not name one. */
static cocabo_status find_axis(const http_call *call, const char *key, int *out,
                               cocabo_error *err) {
  const cocabo_space *space = cocabo_study_space(call->study->handle);
  const char *name = http_query(call->target, key);
  char shown[CB_SHOWN];
  *out = -1;
  if (!name)
    return COCABO_OK;
  for (size_t i = 0; i < cocabo_space_count(space); i++)
    if (strcmp(cocabo_space_name(space, i), name) == 0) {
      *out = (int)i;
      return COCABO_OK;
    }
  return cb_fail(err, COCABO_E_INVALID, "%s is \"%s\", want a parameter of the study",
                 key, cb_text_show(shown, name));
}

static size_t room_of(const cocabo_space *space, int i, size_t points) {
  const size_t choices = cocabo_space_choices(space, (size_t)i);
  return choices > points ? choices : points;
}

static cocabo_status lay_out(section *s, size_t points, cocabo_error *err) {
  s->d = cocabo_space_count(s->space);
  s->xs = cb_calloc(room_of(s->space, s->x, points), sizeof *s->xs);
  s->ys = cb_calloc(s->y < 0 ? 1 : room_of(s->space, s->y, points), sizeof *s->ys);
  if (!s->xs || !s->ys)
    return cb_no_memory(err);
  s->nx = front_axis(s->space, (size_t)s->x, points, s->xs);
  s->ny = s->y < 0 ? 1 : front_axis(s->space, (size_t)s->y, points, s->ys);
  const size_t cells = s->nx * s->ny;
  s->points = cb_calloc(cells * s->d, sizeof *s->points);
  s->places = cb_calloc(cells, sizeof *s->places);
  s->mean = cb_calloc(4 * cells, sizeof *s->mean);
  if (!s->points || !s->places || !s->mean)
    return cb_no_memory(err);
  s->sd = s->mean + cells;
  s->p = s->sd + cells;
  s->grid = s->p + cells;
  return COCABO_OK;
}

/* A point where one of the two would be inactive is none. */
static cocabo_status add_point(section *s, size_t i, size_t j, cocabo_error *err) {
  cocabo_value *point = s->points + s->n * s->d;
  CB_TRY(cocabo_trial_values(s->at, point, s->d, err));
  point[s->x] = s->xs[i];
  if (s->y >= 0)
    point[s->y] = s->ys[j];
  if (front_settle(s->space, point, NULL) != COCABO_OK ||
      point[s->x].type == COCABO_ABSENT ||
      (s->y >= 0 && point[s->y].type == COCABO_ABSENT))
    return COCABO_OK;
  s->places[s->n++] = j * s->nx + i;
  return COCABO_OK;
}

static cocabo_status add_points(section *s, cocabo_error *err) {
  for (size_t j = 0; j < s->ny; j++)
    for (size_t i = 0; i < s->nx; i++)
      CB_TRY(add_point(s, i, j, err));
  return COCABO_OK;
}

static void put_grid(http_json *json, const char *key, section *s,
                     const double *values) {
  for (size_t k = 0; k < s->nx * s->ny; k++)
    s->grid[k] = NAN;
  for (size_t k = 0; k < s->n; k++)
    s->grid[s->places[k]] = values[k];
  http_key(json, key);
  if (s->y >= 0)
    http_open(json, '[');
  for (size_t j = 0; j < s->ny; j++) {
    http_open(json, '[');
    for (size_t i = 0; i < s->nx; i++)
      http_rounded(json, s->grid[j * s->nx + i], 7);
    http_close(json, ']');
  }
  if (s->y >= 0)
    http_close(json, ']');
}

static void put_axis(http_json *json, const char *key, const char *name,
                     const cocabo_value *values, size_t n) {
  http_key(json, key);
  http_open(json, '{');
  http_put_text(json, "name", name);
  http_key(json, "values");
  http_open(json, '[');
  for (size_t i = 0; i < n; i++)
    http_value(json, &values[i]);
  http_close(json, ']');
  http_close(json, '}');
}

static void put_incumbent(http_json *json, const section *s) {
  cocabo_value value;
  const char *name;
  http_put_integer(json, "number", cocabo_trial_number(s->at));
  http_key(json, "at");
  http_open(json, '{');
  for (size_t i = 0; i < s->d; i++)
    if (cocabo_trial_get(s->at, i, &name, &value, NULL) == COCABO_OK &&
        value.type != COCABO_ABSENT) {
      http_key(json, name);
      http_value(json, &value);
    }
  http_close(json, '}');
  if (cocabo_trial_get(s->at, (size_t)s->x, &name, &value, NULL) == COCABO_OK) {
    http_key(json, "current");
    http_value(json, &value);
  }
}

static void put_section(http_call *call, section *s) {
  http_json *json = &call->json;
  http_open(json, '{');
  http_put_seq(call);
  put_incumbent(json, s);
  put_axis(json, "x", cocabo_space_name(s->space, (size_t)s->x), s->xs, s->nx);
  if (s->y >= 0)
    put_axis(json, "y", cocabo_space_name(s->space, (size_t)s->y), s->ys, s->ny);
  put_grid(json, "mean", s, s->mean);
  put_grid(json, "sd", s, s->sd);
  put_grid(json, "p_feasible", s, s->p);
  http_close(json, '}');
}

static cocabo_status check_active(const section *s, int axis, cocabo_error *err) {
  cocabo_value value;
  const char *name;
  char shown[CB_SHOWN];
  if (axis < 0)
    return COCABO_OK;
  CB_TRY(cocabo_trial_get(s->at, (size_t)axis, &name, &value, err));
  if (value.type != COCABO_ABSENT)
    return COCABO_OK;
  return cb_fail(err, COCABO_E_STATE, "%s is inactive at the best trial, %" PRId64,
                 cb_text_show(shown, name), cocabo_trial_number(s->at));
}

static cocabo_status answer(http_call *call, section *s, size_t points,
                            cocabo_error *err) {
  CB_TRY(check_active(s, s->x, err));
  CB_TRY(check_active(s, s->y, err));
  CB_TRY(lay_out(s, points, err));
  CB_TRY(add_points(s, err));
  CB_TRY(cocabo_study_predict(call->study->handle, s->points, s->n, s->mean, s->sd,
                              s->p, err));
  put_section(call, s);
  return COCABO_OK;
}

/* What is missing of a study that is there is a matter of time. */
static cocabo_status find_incumbent(cocabo_study *study, cocabo_trial **out,
                                    cocabo_error *err) {
  const cocabo_status status = cocabo_study_best(study, out, err);
  return status == COCABO_E_NOT_FOUND ? COCABO_E_STATE : status;
}

cocabo_status http_doc_predictions(http_call *call, cocabo_error *err) {
  section s = {.space = cocabo_study_space(call->study->handle)};
  cocabo_trial *best;
  CB_TRY(find_axis(call, "x", &s.x, err));
  CB_TRY(find_axis(call, "y", &s.y, err));
  if (s.x < 0)
    return cb_fail(err, COCABO_E_INVALID, "the query has no x, want a parameter");
  if (s.x == s.y)
    return cb_fail(err, COCABO_E_INVALID, "x and y are the same, want two parameters");
  int64_t points = s.y < 0 ? 50 : 24;
  CB_TRY(http_query_int(call->target, "points", 2, s.y < 0 ? 500 : 64, &points, err));
  CB_TRY(find_incumbent(call->study->handle, &best, err));
  s.at = best;
  const cocabo_status status = answer(call, &s, (size_t)points, err);
  free_section(&s);
  cocabo_trial_free(best);
  return status;
}

/* ---- beliefs --------------------------------------------------------------------- */

enum { RIVALS = 200, RECENT = 50 };

typedef struct rival {
  int64_t number;
  double value, mean, sd, p;
} rival;

/* A choice of the study's own, whose text outlives the trial. */
static cocabo_status rebase(const cocabo_study *study, const cocabo_trial *trial,
                            size_t i, cocabo_value *value, cocabo_error *err) {
  size_t index;
  if (value->type != COCABO_TEXT)
    return COCABO_OK;
  CB_TRY(cocabo_trial_choice_index(trial, i, &index, err));
  return cocabo_space_get_choice(cocabo_study_space(study), i, index, value, err);
}

static cocabo_status read_point(const cocabo_study *study, rival *r,
                                cocabo_value *point, size_t d, cocabo_error *err) {
  cocabo_trial *trial;
  CB_TRY(cocabo_study_trial(study, r->number, &trial, err));
  cocabo_status status = cocabo_trial_values(trial, point, d, err);
  for (size_t j = 0; j < d && status == COCABO_OK; j++)
    status = rebase(study, trial, j, &point[j], err);
  r->value = cocabo_trial_value(trial);
  cocabo_trial_free(trial);
  return status;
}

/* One call for all: the model is made ready once. */
static cocabo_status predict(cocabo_study *study, rival *rivals, size_t n,
                             cocabo_value *points, double *numbers, cocabo_error *err) {
  const size_t d = cocabo_space_count(cocabo_study_space(study));
  for (size_t i = 0; i < n; i++)
    CB_TRY(read_point(study, &rivals[i], points + i * d, d, err));
  CB_TRY(cocabo_study_predict(study, points, n, numbers, numbers + n, numbers + 2 * n,
                              err));
  for (size_t i = 0; i < n; i++) {
    rivals[i].mean = numbers[i];
    rivals[i].sd = numbers[n + i];
    rivals[i].p = numbers[2 * n + i];
  }
  return COCABO_OK;
}

static void put_rival(http_json *json, const char *key, const rival *r) {
  http_key(json, key);
  http_open(json, '{');
  http_put_integer(json, "number", r->number);
  http_put_real(json, "value", r->value);
  http_put_real(json, "mean", r->mean);
  http_put_real(json, "sd", r->sd);
  http_put_real(json, "p_feasible", r->p);
  http_close(json, '}');
}

static int by_value(const void *a, const void *b) {
  const rival *x = a, *y = b;
  return (x->value > y->value) - (x->value < y->value);
}

/* The best candidates by value, behind the incumbent; how many there are with it. */
static size_t find_rivals(const http_call *call, const http_table *t, int64_t best,
                          rival *out) {
  const double sign = http_maximizes(call->study->handle) ? -1.0 : 1.0;
  size_t n = 1;
  out[0] = (rival){.number = best};
  for (size_t i = 0; i < t->n; i++)
    if (http_is_candidate(call->study, t, i) && (int64_t)i != best)
      out[n++] = (rival){.number = (int64_t)i, .value = sign * t->values[i]};
  if (n > 2)
    qsort(out + 1, n - 1, sizeof *out, by_value);
  return n < RIVALS ? n : RIVALS;
}

static void put_beliefs(http_call *call, const rival *rivals, size_t n, size_t recent) {
  const bool maximize = http_maximizes(call->study->handle);
  const rival *predicted = &rivals[0];
  double sum = 0.0;
  for (size_t i = 1; i < n; i++)
    if (http_better(maximize, rivals[i].mean, predicted->mean))
      predicted = &rivals[i];
  for (size_t i = n; i < n + recent; i++)
    sum += rivals[i].p;
  http_open(&call->json, '{');
  http_put_seq(call);
  put_rival(&call->json, "incumbent", &rivals[0]);
  put_rival(&call->json, "predicted", predicted);
  http_put_real(&call->json, "success", sum / (double)recent);
  http_close(&call->json, '}');
}

/* rivals has room for all trials and the newest once more. */
static cocabo_status answer_beliefs(http_call *call, int64_t best, const http_table *t,
                                    rival *rivals, cocabo_error *err) {
  const size_t n = find_rivals(call, t, best, rivals);
  const size_t recent = t->n < RECENT ? t->n : RECENT, all = n + recent;
  for (size_t i = 0; i < recent; i++)
    rivals[n + i] = (rival){.number = (int64_t)(t->n - recent + i)};
  cocabo_value *points = cb_calloc(all * t->d, sizeof *points);
  double *numbers = cb_calloc(3 * all, sizeof *numbers);
  const cocabo_status status = points && numbers ? predict(call->study->handle, rivals,
                                                           all, points, numbers, err)
                                                 : cb_no_memory(err);
  if (status == COCABO_OK)
    put_beliefs(call, rivals, n, recent);
  cb_free(points);
  cb_free(numbers);
  return status;
}

cocabo_status http_doc_beliefs(http_call *call, cocabo_error *err) {
  cocabo_trial *best;
  http_table t;
  CB_TRY(find_incumbent(call->study->handle, &best, err));
  const int64_t number = cocabo_trial_number(best);
  cocabo_trial_free(best);
  CB_TRY(http_table_read(&t, call->study, false, err));
  rival *rivals = cb_calloc(t.n + RECENT + 1, sizeof *rivals);
  const cocabo_status status =
      rivals ? answer_beliefs(call, number, &t, rivals, err) : cb_no_memory(err);
  cb_free(rivals);
  http_table_free(&t);
  return status;
}
