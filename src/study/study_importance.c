/* study_importance.c - the importance of a study's parameters: its complete trials and
 * random points of its space go to model/importance.h, the shares of x and h come back
 * as those of the parameters. Nothing is cached and nothing is written. */
#include "base/mem.h"
#include "base/status.h"
#include "model/importance.h"
#include "study/study.h"

/* Rows and walks, d and c values each; released by the caller. */
typedef struct table {
  double *x, *y, *ends_x;
  int32_t *h, *ends_h;
} table;

static void table_free(table *t) {
  cb_free(t->x);
  cb_free(t->y);
  cb_free(t->h);
  cb_free(t->ends_x);
  cb_free(t->ends_h);
}

static cocabo_status table_make(table *t, const cocabo_space *space, int n, int walks,
                                cocabo_error *err) {
  const size_t d = (size_t)space->d, c = (size_t)space->c, rows = (size_t)n;
  const size_t points = 2 * (size_t)walks;
  *t = (table){.x = cb_calloc(d * rows, sizeof *t->x),
               .y = cb_calloc(rows, sizeof *t->y),
               .ends_x = cb_calloc(d * points, sizeof *t->ends_x),
               .h = cb_calloc(c * rows, sizeof *t->h),
               .ends_h = cb_calloc(c * points, sizeof *t->ends_h)};
  return t->x && t->y && t->ends_x && t->h && t->ends_h ? COCABO_OK : cb_no_memory(err);
}

/* n of the complete trials, evenly taken in the order they were told. */
static void copy_rows(table *t, const cb_history *history, int n) {
  const int d = history->space->d, c = history->space->c;
  for (int i = 0; i < n; i++) {
    const int64_t row = i * history->n / n;
    const cb_trial *trial = &history->trials[history->told[row]];
    for (int j = 0; j < d; j++)
      t->x[cb_at(j, i, d)] = trial->x[j];
    for (int j = 0; j < c; j++)
      t->h[cb_at(j, i, c)] = trial->h[j];
    t->y[i] = history->y[row];
  }
}

/* What is inactive has a value here too: which of them are is for settle to say. */
static void draw_ends(table *t, const cocabo_space *space, int walks, cb_rng *rng) {
  cb_cell cells[COCABO_MAX_PARAMETERS];
  for (int k = 0; k < 2 * walks; k++) {
    cb_space_sample(space, rng, cells);
    for (int i = 0; i < space->n; i++)
      if (!cb_cell_is_active(cells[i]))
        cells[i] = cb_param_sample(&space->params[i], rng);
    cb_space_encode(space, cells, t->ends_x + cb_at(0, k, space->d),
                    t->ends_h + cb_at(0, k, space->c));
  }
}

static void settle(const void *space, double *x, int32_t *h) {
  cb_cell cells[COCABO_MAX_PARAMETERS];
  cb_space_decode(space, x, h, cells);
  cb_space_encode(space, cells, x, h);
}

cocabo_status cb_study_importance(const cocabo_study *study, double *share, double *se,
                                  double *explained, cocabo_error *err) {
  const cb_history *history = study->fold.history;
  const cocabo_space *space = history->space;
  const int n = history->n < CB_IMPORTANCE_MOST ? (int)history->n : CB_IMPORTANCE_MOST;
  const int walks = cb_importance_walks(space->n);
  /* The same trials give the same shares, whatever the study's seed. */
  cb_rng rng = cb_rng_make(0, CB_RNG_SHARES, 0);
  double by_slot[COCABO_MAX_PARAMETERS], errors[COCABO_MAX_PARAMETERS], part = 0.0;
  int32_t arms[COCABO_MAX_PARAMETERS];
  table t;
  for (int j = 0; j < space->c; j++)
    arms[j] = cb_space_arms(space, j) +
              (space->params[space->categorical[j]].condition != NULL);
  cocabo_status status = table_make(&t, space, n, walks, err);
  if (status == COCABO_OK) {
    copy_rows(&t, history, n);
    draw_ends(&t, space, walks, &rng);
    const cb_importance_data data = {.d = space->d,
                                     .c = space->c,
                                     .presences = space->presences,
                                     .arms = arms,
                                     .n = n,
                                     .x = t.x,
                                     .h = t.h,
                                     .y = t.y,
                                     .walks = walks,
                                     .ends_x = t.ends_x,
                                     .ends_h = t.ends_h,
                                     .settle = space->conditional ? settle : NULL,
                                     .space = space};
    status = cb_importance(&data, &rng, by_slot, se ? errors : NULL, &part, err);
  }
  table_free(&t);
  CB_TRY(status);
  for (int i = 0; i < space->n; i++) {
    const cb_param *p = &space->params[i];
    const int slot = p->kind == CB_CHOICE ? space->numbers + p->slot : p->slot;
    share[i] = by_slot[slot];
    if (se)
      se[i] = errors[slot];
  }
  *explained = part;
  return COCABO_OK;
}
