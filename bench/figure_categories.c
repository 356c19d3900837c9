/* figure_categories.c - the paper's Figure 2: see figure.h.
 *
 * A block for each categorical variable. Its rows are the categories: on the left a dot
 * for each point that had it, in the middle how many those were. On the right the
 * chance that the bandit gave each category before each draw; where there was no bandit
 * the best value with each category by then.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bandit/exp3.h"
#include "base/mem.h"
#include "base/status.h"
#include "common/chart.h"
#include "common/svg.h"
#include "figure.h"
#include "study/options.h"
#include "study/study.h"

enum {
  LABEL_X = CHART_MARGIN + 64, /* where labels of rows end */
  DOTS_X = LABEL_X + 10,
  DOTS = 360,
  BARS_X = DOTS_X + DOTS + 22,
  BARS = 110,
  LINES_X = BARS_X + BARS + 40 + 58,
  LINES = 270,
  NAMES = 84, /* to the right of the lines */
  WIDTH = LINES_X + LINES + NAMES,
  TOP = 92, /* below the headings of the columns */
  HEAD = 26,
  BELOW = 42, /* below the last block: the axis and what it shows */
  GAP = 22,
  LEAST = 130, /* height of a block */
  ROW = 13,    /* and at least so much for each category */
  MOST_BLOCKS = 8,
  MOST_NAMES = 8, /* at the ends of lines: more categories, and only the first few */
  FEW_NAMES = 5
};

typedef struct figure {
  const bench_experiment *experiment;
  const cb_history *history;
  canvas *c;
  int64_t first, n;     /* trials: those after the initial ones */
  bool drawn;           /* by bandits */
  double *lines;        /* N_max x n, column-major: what the right side shows */
  canvas_point *points; /* room for a line */
} figure;

/* One variable. */
typedef struct block {
  int j;        /* row of h */
  int32_t arms; /* categories */
  int32_t best; /* that of the best trial */
  const cb_param *param;
  double top, bottom;
  scale x, y; /* of the lines */
} block;

static const cb_trial *trial_at(const figure *f, int64_t i) {
  return &f->history->trials[f->first + i];
}

static double *line_at(const figure *f, const block *b, int64_t i) {
  return f->lines + (int64_t)b->arms * i;
}

/* ---- what the right side shows --------------------------------------------------- */

/* The sampler's own team, told the same in the same order. Initial points moved its
 * weights if the option says so, as if drawn with equal chances. */
static cocabo_status tell_team(cb_team *team, const figure *f, const cb_settings *s,
                               int64_t row, cocabo_error *err) {
  const cocabo_space *space = f->history->space;
  const cb_trial *trial = &f->history->trials[f->history->told[row]];
  const cb_round alone = {.horizon = s->horizon, .number = row + 1, .b = 1};
  cb_draw initial[COCABO_MAX_PARAMETERS];
  const cb_draw *draws = trial->draws;
  if (!draws && s->bandit_init) {
    cb_team_describe(team, &alone, trial->h, initial);
    for (int j = 0; j < space->c; j++)
      initial[j].p = 1.0 / cb_space_arms(space, j);
    draws = initial;
  }
  return cb_team_tell(team, trial->h, f->history->y[row], draws, err);
}

/* One point at a time: before a trial is asked for, all trials before it are over.
 * *agrees: these are the chances that the trials say they were drawn with. */
static cocabo_status follow_team(const figure *f, const block *b, const cb_settings *s,
                                 cb_team *team, bool *agrees, cocabo_error *err) {
  int64_t row = 0;
  *agrees = true;
  for (int64_t i = 0; i < f->n; i++) {
    const cb_trial *trial = trial_at(f, i);
    for (; row < f->history->n && f->history->told[row] < trial->number; row++)
      CB_TRY(tell_team(team, f, s, row, err));
    const cb_draw *draw = &trial->draws[b->j];
    double *chances = line_at(f, b, i);
    cb_exp3_probabilities(b->arms, cb_team_log_weights(team, b->j), draw->gamma,
                          chances);
    *agrees &= fabs(chances[trial->h[b->j]] - draw->p) < 1e-9;
  }
  return COCABO_OK;
}

static cocabo_status find_chances(const figure *f, const block *b, bool *agrees,
                                  cocabo_error *err) {
  const cocabo_space *space = f->history->space;
  cocabo_options *options;
  cb_resolved resolved;
  cb_team *team;
  int32_t arms[COCABO_MAX_PARAMETERS];
  CB_TRY(bench_experiment_options(f->experiment, &options, err));
  cb_settings_resolve(options, space, &resolved);
  cocabo_options_free(options);
  for (int j = 0; j < space->c; j++)
    arms[j] = cb_space_arms(space, j);
  CB_TRY(cb_team_new(&team, space->c, arms, resolved.settings.reward, err));
  const cocabo_status status = follow_team(f, b, &resolved.settings, team, agrees, err);
  cb_team_free(team);
  return status;
}

/* NaN before the first value. */
static void find_bests(const figure *f, const block *b) {
  double best[COCABO_MAX_CHOICES];
  for (int32_t k = 0; k < b->arms; k++)
    best[k] = NAN;
  for (int64_t t = 0; t < f->history->n_trials; t++) {
    const cb_trial *trial = &f->history->trials[t];
    double *mine = &best[trial->h[b->j]];
    if (!isnan(trial->value) && !(*mine >= trial->value))
      *mine = trial->value;
    for (int32_t k = 0; t >= f->first && k < b->arms; k++)
      line_at(f, b, t - f->first)[k] = best[k];
  }
}

static void find_line_range(const figure *f, block *b) {
  b->y.low = INFINITY;
  b->y.high = -INFINITY;
  for (int64_t i = 0; i < f->n * b->arms; i++) {
    b->y.low = fmin(b->y.low, f->lines[i]); /* which pass over NaN */
    b->y.high = fmax(b->y.high, f->lines[i]);
  }
  if (f->drawn) {
    b->y.low = 0.0;
    b->y.high = fmin(1.0, 1.05 * b->y.high);
  } else if (b->y.low <= b->y.high) {
    scale_widen(&b->y.low, &b->y.high, false, 0.05);
  } else {
    b->y.low = 0.0; /* every trial failed */
    b->y.high = 1.0;
  }
}

/* ---- categories ----------------------------------------------------------------- */

enum { NAME = 80 };
static const char *name_category(const block *b, int32_t k, double room,
                                 char out[CANVAS_FITTED]) {
  const cocabo_value *value = &b->param->choices[k];
  char text[NAME];
  switch (value->type) {
  case COCABO_ABSENT:
  case COCABO_NULL:
    return "null";
  case COCABO_BOOL:
    return value->as.boolean ? "true" : "false";
  case COCABO_INT:
    snprintf(text, sizeof text, "%lld", (long long)value->as.integer);
    break;
  case COCABO_REAL:
    scale_number(value->as.real, 4, text);
    break;
  case COCABO_TEXT:
    return canvas_fit(out, value->as.text, chart_label.size, room);
  }
  return canvas_fit(out, text, chart_label.size, room);
}

/* The best trial's category stands out; the others are told apart by their dashes and
 * by their names. */
static int colour_of(const block *b, int32_t k) {
  return k == b->best ? CHART_MARKED : 0x4a6f94;
}

static canvas_font font_of(const block *b, int32_t k, canvas_anchor anchor) {
  return (canvas_font){.size = 12,
                       .colour = k == b->best ? 0xb34700 : CHART_INK,
                       .anchor = anchor,
                       .bold = k == b->best};
}

static double row_y(const block *b, int32_t k) {
  return b->top + (b->bottom - b->top) * (k + 0.5) / b->arms;
}

/* ---- the left side and the middle ----------------------------------------------- */

static void put_rows(const figure *f, const block *b) {
  char fitted[CANVAS_FITTED];
  for (int32_t k = 0; k < b->arms; k++) {
    const canvas_font font = font_of(b, k, CANVAS_END);
    canvas_line(f->c, DOTS_X, row_y(b, k), DOTS_X + DOTS, row_y(b, k), CHART_GRID, 1);
    canvas_text(f->c, LABEL_X, row_y(b, k),
                name_category(b, k, LABEL_X - CHART_MARGIN, fitted), &font);
  }
}

static void put_dots(const figure *f, const block *b) {
  const double radius = f->n <= 100 ? 2.6 : f->n <= 400 ? 2.0 : 1.2;
  scale x = b->x;
  x.from = DOTS_X;
  x.to = DOTS_X + DOTS;
  for (int32_t k = 0; k < b->arms; k++) {
    const canvas_style style = {.fill = colour_of(b, k), .stroke = CANVAS_NONE};
    for (int64_t i = 0; i < f->n; i++)
      if (trial_at(f, i)->h[b->j] == k)
        canvas_mark(f->c, CANVAS_DOT, scale_at(&x, (double)(i + 1)), row_y(b, k),
                    radius, &style, NULL);
  }
}

static void put_bars(const figure *f, const block *b) {
  int64_t counts[COCABO_MAX_CHOICES] = {0}, most = 1;
  for (int64_t i = 0; i < f->n; i++) {
    const int32_t k = trial_at(f, i)->h[b->j];
    counts[k]++;
    most = counts[k] > most ? counts[k] : most;
  }
  const double thick = fmin(14.0, 0.62 * (b->bottom - b->top) / b->arms);
  for (int32_t k = 0; k < b->arms; k++) {
    const double width = BARS * (double)counts[k] / (double)most;
    const canvas_font font = font_of(b, k, CANVAS_START);
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)counts[k]);
    if (counts[k] > 0)
      canvas_rect(f->c, BARS_X, row_y(b, k) - 0.5 * thick, width, thick,
                  colour_of(b, k), CANVAS_NONE);
    canvas_text(f->c, BARS_X + width + 5, row_y(b, k), text, &font);
  }
  canvas_line(f->c, BARS_X, b->top, BARS_X, b->bottom, CHART_INK, 1);
}

/* ---- the right side ------------------------------------------------------------- */

static void put_line(const figure *f, const block *b, int32_t k) {
  static const char *const dashes[] = {NULL, "7 3", "2 2.4", "9 3 2 3", "4 2"};
  const canvas_style style = {.fill = CANVAS_NONE,
                              .stroke = colour_of(b, k),
                              .width = k == b->best            ? 2.2
                                       : b->arms <= MOST_NAMES ? 1.3
                                                               : 0.8,
                              .dash = k == b->best ? NULL : dashes[1 + k % 4]};
  char fitted[CANVAS_FITTED];
  size_t n = 0;
  for (int64_t i = 0; i < f->n; i++) {
    const double value = line_at(f, b, i)[k];
    if (!isnan(value))
      f->points[n++] =
          (canvas_point){scale_at(&b->x, (double)(i + 1)), scale_at(&b->y, value)};
  }
  canvas_path(f->c, f->points, n, false, &style, name_category(b, k, NAMES, fitted));
}

/* A name at the end of a line, moved away from its neighbours. Of many lines only the
 * upper ones have names. */
typedef struct end {
  double y;
  int32_t k;
} end;

static int compare_ends(const void *a, const void *b) {
  const end *x = a, *y = b;
  if (x->y != y->y)
    return x->y < y->y ? -1 : 1;
  return (x->k > y->k) - (x->k < y->k);
}

/* Downwards until they do not touch, then up again from the bottom. There is room: a
 * block is ROW high for each. */
static void spread(end *ends, int32_t n, double top, double bottom) {
  for (int32_t i = 0; i < n; i++)
    ends[i].y = fmax(ends[i].y, i > 0 ? ends[i - 1].y + ROW : top);
  for (int32_t i = n; i-- > 0;)
    ends[i].y = fmin(ends[i].y, i + 1 < n ? ends[i + 1].y - ROW : bottom);
}

static void put_line_names(const figure *f, const block *b) {
  end ends[COCABO_MAX_CHOICES];
  int32_t n = 0;
  char fitted[CANVAS_FITTED];
  for (int32_t k = 0; k < b->arms; k++) {
    const double value = line_at(f, b, f->n - 1)[k];
    if (!isnan(value))
      ends[n++] = (end){scale_at(&b->y, value), k};
  }
  qsort(ends, (size_t)n, sizeof *ends, compare_ends);
  n = n <= MOST_NAMES ? n : FEW_NAMES;
  spread(ends, n, b->top + 0.5 * ROW, b->bottom);
  for (int32_t i = 0; i < n; i++) {
    const canvas_font font = font_of(b, ends[i].k, CANVAS_START);
    canvas_text(f->c, b->x.to + 7, ends[i].y,
                name_category(b, ends[i].k, NAMES - 10, fitted), &font);
  }
}

static void put_lines(const figure *f, const block *b) {
  chart_put_axis_left(f->c, &b->y, b->x.from, LINES, 5, true);
  canvas_line(f->c, b->x.from, b->top, b->x.from, b->bottom, CHART_INK, 1);
  for (int32_t k = 0; k < b->arms; k++)
    if (k != b->best)
      put_line(f, b, k);
  put_line(f, b, b->best);
  put_line_names(f, b);
}

/* ---- blocks --------------------------------------------------------------------- */

static double height_of(const figure *f, int j) {
  return fmax(LEAST, ROW * (double)cb_space_arms(f->history->space, j));
}

static void put_axes_below(const figure *f, const block *b) {
  ticks t;
  scale dots = b->x;
  dots.from = DOTS_X;
  dots.to = DOTS_X + DOTS;
  ticks_find_whole(&b->x, 6, &t);
  chart_put_axis_below(f->c, &dots, &t, b->bottom);
  chart_put_axis_below(f->c, &b->x, &t, b->bottom);
  canvas_text(f->c, DOTS_X + DOTS / 2.0, b->bottom + 32, "iteration",
              &chart_label_middle);
  canvas_text(f->c, LINES_X + LINES / 2.0, b->bottom + 32, "iteration",
              &chart_label_middle);
}

static cocabo_status put_block(const figure *f, int j, double y, bool last,
                               cocabo_error *err) {
  const cocabo_space *space = f->history->space;
  const cb_trial *best = &f->history->trials[f->history->told[f->history->best]];
  block b = {.j = j,
             .arms = cb_space_arms(space, j),
             .best = best->h[j],
             .param = &space->params[space->categorical[j]],
             .top = y + HEAD,
             .bottom = y + HEAD + height_of(f, j)};
  bool agrees;
  if (f->drawn)
    CB_TRY(find_chances(f, &b, &agrees, err));
  else
    find_bests(f, &b);
  find_line_range(f, &b);
  b.y.from = b.bottom;
  b.y.to = b.top;
  b.x =
      (scale){.low = 0.0, .high = (double)f->n, .from = LINES_X, .to = LINES_X + LINES};
  char fitted[CANVAS_FITTED];
  canvas_text(f->c, CHART_MARGIN, y + 10, canvas_fit(fitted, b.param->name, 14, 300),
              &chart_heading);
  put_rows(f, &b);
  put_dots(f, &b);
  put_bars(f, &b);
  put_lines(f, &b);
  if (last)
    put_axes_below(f, &b);
  return COCABO_OK;
}

/* ---- the picture ---------------------------------------------------------------- */

static int blocks_of(const figure *f) {
  return f->history->space->c < MOST_BLOCKS ? f->history->space->c : MOST_BLOCKS;
}

static void describe(const figure *f, char out[CANVAS_FITTED]) {
  const cb_history *h = f->history;
  const int64_t number = h->told[h->best];
  char value[TICK_LABEL];
  const int size = snprintf(
      out, CANVAS_FITTED, "best value %s, found %s %lld; its categories are marked",
      scale_number(h->y[h->best], 5, value),
      number < f->first ? "by initial point" : "at iteration",
      (long long)(number < f->first ? number + 1 : number - f->first + 1));
  if (blocks_of(f) < h->space->c)
    snprintf(out + size, CANVAS_FITTED - (size_t)size, "; the first %d of %d variables",
             blocks_of(f), h->space->c);
}

static void begin(const figure *f, const char *title) {
  const bench_experiment *e = f->experiment;
  char own[CANVAS_FITTED], text[CANVAS_FITTED];
  double height = TOP + BELOW;
  for (int j = 0; j < blocks_of(f); j++)
    height += HEAD + height_of(f, j) + GAP;
  snprintf(own, sizeof own, "%s by %s, seed %lld: categories chosen", e->problem->name,
           e->method->name, (long long)e->seed);
  describe(f, text);
  canvas_begin(f->c, &svg_format, WIDTH, height, title ? title : own, text);
  chart_put_title(f->c, title ? title : own, text);
  canvas_text(f->c, DOTS_X, TOP - 14, "chosen when", &chart_quiet);
  canvas_text(f->c, BARS_X, TOP - 14, "how often", &chart_quiet);
  canvas_text(f->c, LINES_X, TOP - 14,
              f->drawn ? "chance of being drawn"
                       : "best value with the category so far",
              &chart_quiet);
}

/* Did a team of bandits draw all the categories? Other samplers may draw in ways of
 * their own, and then there are no chances of ours to show. */
static cocabo_status find_who_drew(figure *f, cocabo_error *err) {
  f->drawn = true;
  for (int64_t i = 0; i < f->n; i++)
    f->drawn &= trial_at(f, i)->draws != NULL;
  for (int j = 0; f->drawn && j < f->history->space->c; j++) {
    const block b = {.j = j, .arms = cb_space_arms(f->history->space, j)};
    CB_TRY(find_chances(f, &b, &f->drawn, err));
  }
  return COCABO_OK;
}

static cocabo_status draw(figure *f, const char *title, cocabo_error *err) {
  const cocabo_space *space = f->history->space;
  int32_t most = 1;
  for (int j = 0; j < space->c; j++)
    most = cb_space_arms(space, j) > most ? cb_space_arms(space, j) : most;
  f->lines = cb_calloc((size_t)most * (size_t)f->n, sizeof *f->lines);
  f->points = cb_calloc((size_t)f->n, sizeof *f->points);
  if (!f->lines || !f->points)
    return cb_no_memory(err);
  CB_TRY(find_who_drew(f, err));
  begin(f, title);
  double y = TOP;
  for (int j = 0; j < blocks_of(f); j++) {
    CB_TRY(put_block(f, j, y, j + 1 == blocks_of(f), err));
    y += HEAD + height_of(f, j) + GAP;
  }
  return canvas_end(f->c, err);
}

cocabo_status bench_draw_categories(const bench_experiment *experiment,
                                    cocabo_study *study, const char *title, canvas *c,
                                    cocabo_error *err) {
  const cb_history *history = cb_study_history(study);
  figure f = {.experiment = experiment,
              .history = history,
              .c = c,
              .first = experiment->init,
              .n = history->n_trials - experiment->init};
  *c = (canvas){0};
  if (history->best < 0 || f.n < 1)
    return cb_fail(err, COCABO_E_NOT_FOUND, "the run has no value to show");
  const cocabo_status status = draw(&f, title, err);
  cb_free(f.lines);
  cb_free(f.points);
  return status;
}
