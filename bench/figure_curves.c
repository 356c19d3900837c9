/* figure_curves.c - the paper's Figures 3 and 4: see figure.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "common/chart.h"
#include "common/svg.h"
#include "figure.h"
#include "looks.h"

enum {
  HEAD = 24,    /* above a frame: its problem */
  BELOW = 24,   /* labels of the axis below a frame */
  LABEL = 20,   /* what that axis shows */
  UPWARDS = 24, /* what the axis to the left shows */
  GAP = 22,     /* between two panels */
  TITLE = 34,   /* the heading, where there is one */
  LEGEND = 22,  /* a line of the legend */
  SAMPLE = 34,  /* of a line, in the legend */
  MARKS = 8,    /* on a curve, about */
  TICKS_LEFT = 6,
  TICKS_BELOW = 6
};

/* A method and a size of batch, which look the same in every panel. */
typedef struct entry {
  const bench_group *first; /* names it */
  int rank;                 /* in the legend */
  bench_look look;
} entry;

typedef struct panel {
  const bench_series *problem; /* a run of it */
  double optimum;              /* NaN: unknown */
  const char *nothing;         /* why there are no curves; NULL: there are */
  bool shows_optimum, cut;     /* cut: some values are below the frame */
  scale x, y;                  /* their `to` and `from` are the frame */
} panel;

typedef struct curve {
  const bench_group *group;
  size_t panel, entry;
} curve;

typedef struct figure {
  const bench_curves *what;
  canvas *c;
  size_t n_panels, n_entries, n_curves;
  panel *panels;        /* in the order of the picture */
  entry *entries;       /* in the order of the legend */
  curve *curves;        /* by panel, in the order of the legend */
  double *values;       /* room for all points of a panel */
  canvas_point *points; /* room for both edges of a band */
  size_t columns;
  double frame_width, frame_height, left; /* left: beside a frame */
  int64_t batch;                          /* of all curves; 0: they differ */
} figure;

/* ---- what is shown -------------------------------------------------------------- */

static bool same_text(const char *a, int n, const char *b, int m) {
  return n == m && memcmp(a, b, (size_t)n) == 0;
}

/* The place of a name in "a,b,c"; -1: it is not there. A NULL list has everything. */
static int place_in(const char *list, const char *name, int size) {
  if (!list)
    return 0;
  for (int place = 0;; place++) {
    const int length = (int)strcspn(list, ",");
    if (same_text(list, length, name, size))
      return place;
    if (!list[length])
      return -1;
    list += length + 1;
  }
}

static bool is_shown(const bench_curves *what, const bench_group *g) {
  const bench_names n = bench_series_names(g->first);
  return place_in(what->problems, n.problem, n.problem_size) >= 0 &&
         place_in(what->methods, n.method, n.method_size) >= 0;
}

/* A name that was asked for and is nowhere is a slip of the pen. */
static cocabo_status check_list(const bench_groups *groups, const char *list,
                                bool methods, cocabo_error *err) {
  while (list) {
    const int size = (int)strcspn(list, ",");
    bool found = false;
    for (size_t i = 0; i < groups->n && !found; i++) {
      const bench_names n = bench_series_names(groups->items[i].first);
      found = methods ? same_text(n.method, n.method_size, list, size)
                      : same_text(n.problem, n.problem_size, list, size);
    }
    if (!found)
      return cb_fail(err, COCABO_E_NOT_FOUND, "the results have no run of %s \"%.*s\"",
                     methods ? "method" : "problem", size, list);
    list = list[size] ? list + size + 1 : NULL;
  }
  return COCABO_OK;
}

static cocabo_status check(const bench_curves *what, cocabo_error *err) {
  if (what->groups->n == 0)
    return cb_fail(err, COCABO_E_NOT_FOUND, "the results have no runs to draw");
  CB_TRY(check_list(what->groups, what->problems, false, err));
  return check_list(what->groups, what->methods, true, err);
}

/* ---- panels, entries and curves ------------------------------------------------- */

static size_t find_panel(const figure *f, const bench_series *run) {
  size_t i = 0;
  while (i < f->n_panels && !bench_same_problem(f->panels[i].problem, run))
    i++;
  return i;
}

static int place_of(const figure *f, const bench_series *run) {
  const bench_names n = bench_series_names(run);
  return place_in(f->what->problems, n.problem, n.problem_size);
}

/* Behind those that the list has before it, or that were found before it. */
static void add_panel(figure *f, const bench_series *run) {
  size_t at = f->n_panels++;
  for (; at > 0 && place_of(f, run) < place_of(f, f->panels[at - 1].problem); at--)
    f->panels[at] = f->panels[at - 1];
  f->panels[at] = (panel){.problem = run, .optimum = bench_series_optimum(run)};
}

static bool same_method(const bench_series *a, const bench_series *b) {
  const bench_names n = bench_series_names(a), m = bench_series_names(b);
  return same_text(n.method, n.method_size, m.method, m.method_size);
}

static size_t find_entry(const figure *f, const bench_series *run) {
  size_t i = 0;
  while (i < f->n_entries && (f->entries[i].first->first->batch != run->batch ||
                              !same_method(f->entries[i].first->first, run)))
    i++;
  return i;
}

/* Names that are not ours come behind ours, in the order they were found. */
enum { STRANGERS = 1000 };
static int rank_of(const figure *f, const bench_series *run) {
  const bench_names n = bench_series_names(run);
  const int rank = bench_look_rank(n.method, (size_t)n.method_size);
  if (rank >= 0)
    return rank;
  int last = STRANGERS - 1;
  for (size_t i = 0; i < f->n_entries; i++) {
    if (same_method(f->entries[i].first->first, run))
      return f->entries[i].rank;
    last = f->entries[i].rank > last ? f->entries[i].rank : last;
  }
  return last + 1;
}

static bool comes_before(const entry *a, const entry *b) {
  return a->rank != b->rank ? a->rank < b->rank
                            : a->first->first->batch < b->first->first->batch;
}

static void add_entry(figure *f, const bench_group *g) {
  const entry new = {.first = g, .rank = rank_of(f, g->first)};
  size_t at = f->n_entries++;
  for (; at > 0 && comes_before(&new, &f->entries[at - 1]); at--)
    f->entries[at] = f->entries[at - 1];
  f->entries[at] = new;
}

/* How many smaller sizes of batch the figure has. */
static int batch_place(const figure *f, int64_t batch) {
  int place = 0;
  for (size_t i = 0; i < f->n_entries; i++) {
    const int64_t other = f->entries[i].first->first->batch;
    bool again = false;
    for (size_t k = 0; k < i && !again; k++)
      again = f->entries[k].first->first->batch == other;
    place += other < batch && !again;
  }
  return place;
}

static void choose_looks(figure *f) {
  for (size_t i = 0; i < f->n_entries; i++) {
    entry *e = &f->entries[i];
    const bench_look look = e->rank < STRANGERS ? bench_look_of(e->rank)
                                                : bench_look_spare(e->rank - STRANGERS);
    const int64_t batch = e->first->first->batch;
    e->look = bench_look_for_batch(look, batch_place(f, batch));
    f->batch = i == 0 || f->batch == batch ? batch : 0;
  }
}

static void add_curves(figure *f) {
  const bench_groups *groups = f->what->groups;
  for (size_t p = 0; p < f->n_panels; p++)
    for (size_t e = 0; e < f->n_entries; e++)
      for (size_t i = 0; i < groups->n; i++) {
        const bench_group *g = &groups->items[i];
        if (is_shown(f->what, g) && find_panel(f, g->first) == p &&
            find_entry(f, g->first) == e)
          f->curves[f->n_curves++] = (curve){g, p, e};
      }
}

static cocabo_status choose(figure *f, cocabo_error *err) {
  const bench_groups *groups = f->what->groups;
  for (size_t i = 0; i < groups->n; i++) {
    const bench_group *g = &groups->items[i];
    if (!is_shown(f->what, g))
      continue;
    if (find_panel(f, g->first) == f->n_panels)
      add_panel(f, g->first);
    if (find_entry(f, g->first) == f->n_entries)
      add_entry(f, g);
  }
  if (f->n_panels == 0)
    return cb_fail(err, COCABO_E_NOT_FOUND,
                   "the results have no run of these methods on these problems");
  choose_looks(f);
  add_curves(f);
  return COCABO_OK;
}

/* ---- values --------------------------------------------------------------------- */

/* Of a curve in a place: NaN where not all its runs have one. */
static double value_at(const figure *f, const curve *k, int64_t at) {
  if (!bench_group_is_at(k->group, at))
    return NAN;
  const double mean = k->group->best[at].mean;
  return f->what->regret ? f->panels[k->panel].optimum - mean : mean;
}

static double error_at(const curve *k, int64_t at) {
  return bench_mean_se(&k->group->best[at]);
}

/* The last place where the curve is; -1: it is nowhere. */
static int64_t end_of(const figure *f, const curve *k) {
  int64_t at = f->what->groups->n_at - 1;
  while (at >= 0 && isnan(value_at(f, k, at)))
    at--;
  return at;
}

/* What is all of a panel's values: the edges of the bands, and the values where the
 * curves end. */
typedef struct extent {
  size_t n;         /* values, in f->values */
  double low, high; /* with the bands */
  double ends;      /* the lowest end of a curve, with its band */
  int64_t last;     /* place */
} extent;

static extent extent_of(const figure *f, size_t p) {
  extent e = {.low = INFINITY, .high = -INFINITY, .ends = INFINITY, .last = 0};
  for (const curve *k = f->curves; k < f->curves + f->n_curves; k++) {
    const int64_t end = k->panel == p ? end_of(f, k) : -1;
    for (int64_t at = 0; at <= end; at++) {
      const double value = value_at(f, k, at), error = error_at(k, at);
      if (isnan(value))
        continue;
      f->values[e.n++] = value;
      e.low = fmin(e.low, value - error);
      e.high = fmax(e.high, value + error);
      e.ends = at == end ? fmin(e.ends, value - error) : e.ends;
    }
    e.last = end > e.last ? end : e.last;
  }
  return e;
}

/* ---- ranges --------------------------------------------------------------------- */

/* The first iterations may be far below all the others and press those together. More
 * and more of them are cut off as long as each time the rest gets much more room; but
 * no curve's end is. */
static void find_range(const figure *f, panel *p, const extent *e) {
  static const double shares[] = {0.06, 0.15, 0.3};
  enum { GAIN = 2 };
  p->y.low = e->low;
  for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++) {
    const double cut = bench_quantile((int64_t)e->n, f->values, shares[i]);
    const double low = fmin(cut, e->ends);
    if (!(e->high - p->y.low > GAIN * (e->high - low)))
      break;
    p->y.low = low;
  }
  p->cut = p->y.low > e->low;
  p->y.high = e->high;
  const double room = p->optimum - p->y.high;
  p->shows_optimum = room <= 0.3 * (p->y.high - p->y.low);
  if (p->shows_optimum && room > 0.0)
    p->y.high = p->optimum;
  scale_widen(&p->y.low, &p->y.high, false, 0.04);
}

/* Of regrets. What is below the last digits that an optimum has is nothing. */
static void find_log_range(const figure *f, panel *p, const extent *e) {
  const double nothing = 1e-12 * fmax(1.0, fabs(p->optimum));
  double low = INFINITY;
  for (size_t i = 0; i < e->n; i++)
    low = f->values[i] > nothing ? fmin(low, f->values[i]) : low;
  p->y.low = isfinite(low) ? low : nothing;
  p->y.high = fmax(e->high, 2.0 * p->y.low);
  p->y.log = true;
  scale_widen(&p->y.low, &p->y.high, true, 0.04);
}

/* A panel without values keeps its place and says why it is empty. */
static const char *reason_for_nothing(const figure *f, const panel *p, size_t values) {
  if (f->what->regret && isnan(p->optimum))
    return "the optimum is not known";
  return values == 0 ? "no method has a value in all its runs" : NULL;
}

static cocabo_status find_scales(figure *f, cocabo_error *err) {
  size_t empty = 0;
  for (size_t i = 0; i < f->n_panels; i++) {
    panel *p = &f->panels[i];
    extent e = extent_of(f, i);
    const double last = f->what->groups->at[e.last];
    p->x = (scale){.low = 0.0, .high = last > 0.0 ? last : 1.0};
    p->nothing = reason_for_nothing(f, p, e.n);
    if (p->nothing)
      p->y = (scale){.low = 0.0, .high = 1.0};
    else if (f->what->regret)
      find_log_range(f, p, &e);
    else
      find_range(f, p, &e);
    empty += p->nothing != NULL;
  }
  if (empty < f->n_panels)
    return COCABO_OK;
  return cb_fail(err, COCABO_E_NOT_FOUND, "nothing to draw: %s", f->panels[0].nothing);
}

/* ---- layout --------------------------------------------------------------------- */

static size_t rows_of(const figure *f) {
  return (f->n_panels + f->columns - 1) / f->columns;
}

static double panel_width(const figure *f) {
  return f->left + f->frame_width + GAP;
}

static double panel_height(const figure *f) {
  return HEAD + f->frame_height + BELOW + GAP / 2.0;
}

static double top_of(const figure *f) {
  return f->what->title ? TITLE : 8.0;
}

/* Few panels are large ones. */
static void size_panels(figure *f) {
  static const struct {
    size_t columns;
    double width, height;
  } sizes[] = {{1, 540, 340}, {2, 400, 270}, {3, 280, 200}};
  const size_t n = f->n_panels;
  const int size = n == 1 ? 0 : n == 2 || n == 4 ? 1 : 2;
  f->columns = sizes[size].columns;
  f->frame_width = sizes[size].width;
  f->frame_height = sizes[size].height;
}

static void lay_out(figure *f) {
  size_panels(f);
  for (size_t i = 0; i < f->n_panels; i++)
    f->left = fmax(f->left, UPWARDS + chart_axis_width(&f->panels[i].y, TICKS_LEFT));
  for (size_t i = 0; i < f->n_panels; i++) {
    panel *p = &f->panels[i];
    const size_t column = i % f->columns, row = i / f->columns;
    p->x.from = 8.0 + (double)column * panel_width(f) + f->left;
    p->x.to = p->x.from + f->frame_width;
    p->y.to = top_of(f) + (double)row * panel_height(f) + HEAD;
    p->y.from = p->y.to + f->frame_height;
  }
}

/* ---- the legend ----------------------------------------------------------------- */

enum { NAME = 120 };
static const char *name_entry(const figure *f, const entry *e, char out[NAME]) {
  const bench_names n = bench_series_names(e->first->first);
  char method[NAME];
  snprintf(method, sizeof method, "%.*s", n.method_size, n.method);
  if (f->batch == 0)
    snprintf(out, NAME, "%.80s, b = %lld", method, (long long)e->first->first->batch);
  else
    snprintf(out, NAME, "%.80s", method);
  return out;
}

static double entry_width(const char *name) {
  return SAMPLE + 8 + canvas_text_width(name, chart_label.size) + 20;
}

/* Entries of one line of the legend, from the first on. */
typedef struct legend_line {
  size_t end;
  double width;
} legend_line;

static bool has_optimum(const figure *f) {
  bool has = false;
  for (size_t i = 0; i < f->n_panels; i++)
    has |= f->panels[i].shows_optimum;
  return has;
}

/* Behind the methods comes the line of the optimum, where a panel has it. */
static size_t legend_size(const figure *f) {
  return f->n_entries + (has_optimum(f) ? 1 : 0);
}

static const char *legend_name(const figure *f, size_t i, char out[NAME]) {
  return i < f->n_entries ? name_entry(f, &f->entries[i], out) : "optimum";
}

static legend_line next_line(const figure *f, size_t first, double room) {
  legend_line line = {.end = first};
  char name[NAME];
  while (line.end < legend_size(f)) {
    const double width = entry_width(legend_name(f, line.end, name));
    if (line.end > first && line.width + width > room)
      break;
    line.width += width;
    line.end++;
  }
  return line;
}

static int legend_lines(const figure *f, double room) {
  int lines = 0;
  for (size_t i = 0; i < legend_size(f); lines++)
    i = next_line(f, i, room).end;
  return lines;
}

static const canvas_style optimum_style = {
    .fill = CANVAS_NONE, .stroke = CHART_INK, .width = 1.0, .dash = "1 3"};

static void put_sample(const figure *f, size_t i, double x, double y) {
  const canvas_point ends[] = {{x, y}, {x + SAMPLE, y}};
  if (i == f->n_entries) {
    canvas_path(f->c, ends, 2, false, &optimum_style, NULL);
    return;
  }
  const bench_look *look = &f->entries[i].look;
  const canvas_style line = bench_look_line(look);
  canvas_path(f->c, ends, 2, false, &line, NULL);
  bench_look_mark(f->c, look, x + SAMPLE / 2.0, y, NULL);
}

static void put_legend(const figure *f, double top) {
  char name[NAME];
  int lines = 0;
  for (size_t i = 0; i < legend_size(f); lines++) {
    const legend_line line = next_line(f, i, f->c->width);
    const double y = top + LEGEND * (lines + 0.5);
    double x = 0.5 * (f->c->width - line.width) + 10;
    for (; i < line.end; i++) {
      const char *shown = legend_name(f, i, name);
      put_sample(f, i, x, y);
      canvas_text(f->c, x + SAMPLE + 8, y, shown, &chart_label);
      x += entry_width(shown);
    }
  }
}

/* ---- curves --------------------------------------------------------------------- */

/* The pixel of a value; one that no logarithm has is far below. */
static double y_of(const panel *p, double value) {
  return p->y.log && !(value > 0.0) ? 2.0 * p->y.from : scale_at(&p->y, value);
}

static double clamp_y(const panel *p, double y) {
  return fmin(p->y.from, fmax(p->y.to, y));
}

static bool is_inside(const panel *p, double y) {
  return y >= p->y.to && y <= p->y.from;
}

static void put_band(const figure *f, const curve *k) {
  const panel *p = &f->panels[k->panel];
  const canvas_style style = {
      .fill = f->entries[k->entry].look.colour, .stroke = CANVAS_NONE, .clear = 0.84};
  size_t n = 0;
  if (k->group->runs < 2)
    return;
  const int64_t end = end_of(f, k);
  for (int side = 1; side >= -1; side -= 2)
    for (int64_t i = 0; i <= end; i++) {
      const int64_t at = side > 0 ? i : end - i;
      const double value = value_at(f, k, at);
      if (isnan(value))
        continue;
      const double y = y_of(p, value + side * error_at(k, at));
      f->points[n++] =
          (canvas_point){scale_at(&p->x, f->what->groups->at[at]), clamp_y(p, y)};
    }
  canvas_path(f->c, f->points, n, true, &style, NULL);
}

/* Where the line from a to b crosses the edge of the frame that lies between them. */
static canvas_point crossing(const panel *p, canvas_point a, canvas_point b) {
  const double edge = clamp_y(p, is_inside(p, a.y) ? b.y : a.y);
  const double share = (edge - a.y) / (b.y - a.y);
  return (canvas_point){a.x + share * (b.x - a.x), edge};
}

/* The pieces of a curve that are inside the frame. The tip is the first one's. */
static void put_line(const figure *f, const curve *k, const char *tip) {
  const panel *p = &f->panels[k->panel];
  const canvas_style style = bench_look_line(&f->entries[k->entry].look);
  const int64_t end = end_of(f, k);
  canvas_point last = {0.0, NAN};
  size_t n = 0;
  for (int64_t at = 0; at <= end; at++) {
    const double value = value_at(f, k, at);
    const canvas_point here = {scale_at(&p->x, f->what->groups->at[at]),
                               isnan(value) ? NAN : y_of(p, value)};
    const bool was = is_inside(p, last.y), is = is_inside(p, here.y);
    if (was != is && !isnan(last.y) && !isnan(here.y))
      f->points[n++] = crossing(p, last, here);
    if (is)
      f->points[n++] = here;
    else if (n > 0) {
      canvas_path(f->c, f->points, n, false, &style, tip);
      n = 0;
    }
    last = here;
  }
  canvas_path(f->c, f->points, n, false, &style, tip);
}

/* Marks of different curves are moved along against each other. */
static void put_marks(const figure *f, const curve *k, const char *name) {
  const panel *p = &f->panels[k->panel];
  const int64_t end = end_of(f, k), every = end / MARKS > 1 ? end / MARKS : 1;
  const double share = ((double)k->entry + 0.5) / (double)f->n_entries;
  for (int64_t at = (int64_t)(share * (double)every); at <= end; at += every) {
    const double value = value_at(f, k, at);
    const double y = isnan(value) ? NAN : y_of(p, value);
    if (!is_inside(p, y))
      continue;
    char tip[NAME + 100], number[TICK_LABEL], error[TICK_LABEL], place[TICK_LABEL];
    snprintf(tip, sizeof tip, "%s, %s %s: %s \u00b1 %s", name,
             f->what->groups->timed ? "time" : "iteration",
             scale_number(f->what->groups->at[at], 4, place),
             scale_number(value, 5, number), scale_number(error_at(k, at), 2, error));
    bench_look_mark(f->c, &f->entries[k->entry].look,
                    scale_at(&p->x, f->what->groups->at[at]), y, tip);
  }
}

static void put_curve(const figure *f, const curve *k) {
  const bench_names n = bench_series_names(k->group->first);
  char name[NAME], tip[2 * NAME];
  name_entry(f, &f->entries[k->entry], name);
  snprintf(tip, sizeof tip, "%s on %.*s, %lld run%s", name,
           (int)fmin(n.problem_size, 80), n.problem, (long long)k->group->runs,
           k->group->runs == 1 ? "" : "s");
  put_line(f, k, tip);
  put_marks(f, k, name);
}

/* ---- panels --------------------------------------------------------------------- */

static void put_axes(const figure *f, const panel *p) {
  ticks t;
  chart_put_axis_left(f->c, &p->y, p->x.from, f->frame_width, TICKS_LEFT, true);
  canvas_line(f->c, p->x.from, p->y.to, p->x.from, p->y.from, CHART_INK, 1);
  if (f->what->groups->timed)
    ticks_find(&p->x, TICKS_BELOW, &t);
  else
    ticks_find_whole(&p->x, TICKS_BELOW, &t);
  chart_put_axis_below(f->c, &p->x, &t, p->y.from);
}

static void put_names(const figure *f, size_t i) {
  const panel *p = &f->panels[i];
  const bench_names n = bench_series_names(p->problem);
  static const canvas_font heading = {
      .size = 13, .colour = CHART_INK, .bold = true, .anchor = CANVAS_MIDDLE};
  canvas_font upwards = chart_label_middle;
  upwards.upwards = true;
  char name[NAME], fitted[CANVAS_FITTED], below[60];
  const double middle = 0.5 * (p->x.from + p->x.to);
  snprintf(name, sizeof name, "%.*s", n.problem_size, n.problem);
  canvas_text(f->c, middle, p->y.to - 13, canvas_fit(fitted, name, 14, f->frame_width),
              &heading);
  if (i % f->columns == 0)
    canvas_text(f->c, p->x.from - chart_axis_width(&p->y, TICKS_LEFT) - 12,
                0.5 * (p->y.from + p->y.to),
                f->what->regret ? "optimum \u2212 best value" : "best value", &upwards);
  if (i + f->columns < f->n_panels)
    return;
  if (f->what->groups->timed)
    snprintf(below, sizeof below, "simulated time");
  else if (f->batch > 1)
    snprintf(below, sizeof below, "iteration (%lld evaluations each)",
             (long long)f->batch);
  else
    snprintf(below, sizeof below, "iteration");
  canvas_text(f->c, middle, p->y.from + BELOW + LABEL / 2.0 - 2, below,
              &chart_label_middle);
}

static void put_optimum(const figure *f, const panel *p) {
  const double y = scale_at(&p->y, p->optimum);
  const canvas_point ends[] = {{p->x.from, y}, {p->x.to, y}};
  if (p->shows_optimum)
    canvas_path(f->c, ends, 2, false, &optimum_style, "optimum");
}

static void put_nothing(const figure *f, const panel *p) {
  canvas_font quiet = chart_quiet;
  quiet.anchor = CANVAS_MIDDLE;
  canvas_text(f->c, 0.5 * (p->x.from + p->x.to), 0.5 * (p->y.from + p->y.to),
              p->nothing, &quiet);
}

static void put_panel(const figure *f, size_t i) {
  put_names(f, i);
  if (f->panels[i].nothing) {
    put_nothing(f, &f->panels[i]);
    return;
  }
  put_axes(f, &f->panels[i]);
  put_optimum(f, &f->panels[i]);
  for (size_t k = 0; k < f->n_curves; k++)
    if (f->curves[k].panel == i)
      put_band(f, &f->curves[k]);
  /* What is first in the legend lies on top. */
  for (size_t k = f->n_curves; k-- > 0;)
    if (f->curves[k].panel == i)
      put_curve(f, &f->curves[k]);
}

/* ---- the picture ---------------------------------------------------------------- */

static void describe(const figure *f, char out[CANVAS_FITTED]) {
  int64_t least = INT64_MAX, most = 0;
  bool cut = false;
  for (size_t k = 0; k < f->n_curves; k++) {
    const int64_t runs = f->curves[k].group->runs;
    least = runs < least ? runs : least;
    most = runs > most ? runs : most;
  }
  for (size_t i = 0; i < f->n_panels; i++)
    cut |= f->panels[i].cut;
  char runs[80];
  if (most == 1)
    snprintf(runs, sizeof runs, "One run of each");
  else if (least == most)
    snprintf(runs, sizeof runs, "Mean of %lld runs; bands: \u00b1 one standard error",
             (long long)most);
  else
    snprintf(runs, sizeof runs,
             "Mean of %lld to %lld runs; bands: \u00b1 one standard error",
             (long long)least, (long long)most);
  snprintf(out, CANVAS_FITTED, "%s%s", runs,
           cut ? "; what is below a frame is left out" : "");
}

static void draw(figure *f) {
  static const canvas_font note = {
      .size = 11, .colour = CHART_QUIET, .anchor = CANVAS_MIDDLE};
  static const canvas_font large = {.size = 16, .colour = CHART_INK, .bold = true};
  char text[CANVAS_FITTED], fitted[CANVAS_FITTED];
  const double width = (double)f->columns * panel_width(f);
  const double panels = top_of(f) + (double)rows_of(f) * panel_height(f) + LABEL / 2.0;
  const int lines = legend_lines(f, width);
  describe(f, text);
  canvas_begin(f->c, &svg_format, width, panels + lines * LEGEND + 30,
               f->what->title ? f->what->title : "Best values of methods on problems",
               text);
  canvas_rect(f->c, 0, 0, f->c->width, f->c->height, 0xffffff, CANVAS_NONE);
  if (f->what->title)
    canvas_text(f->c, CHART_MARGIN, 20,
                canvas_fit(fitted, f->what->title, 17.5, width - 2.0 * CHART_MARGIN),
                &large);
  for (size_t i = 0; i < f->n_panels; i++)
    put_panel(f, i);
  put_legend(f, panels);
  canvas_text(f->c, 0.5 * width, panels + lines * LEGEND + 14,
              canvas_fit(fitted, text, note.size, width), &note);
}

static cocabo_status make_room(figure *f, cocabo_error *err) {
  const size_t groups = f->what->groups->n, at = (size_t)f->what->groups->n_at;
  f->panels = cb_calloc(groups, sizeof *f->panels);
  f->entries = cb_calloc(groups, sizeof *f->entries);
  f->curves = cb_calloc(groups, sizeof *f->curves);
  f->values = cb_calloc(groups * at, sizeof *f->values);
  f->points = cb_calloc(2 * at + 2, sizeof *f->points);
  const bool ok = f->panels && f->entries && f->curves && f->values && f->points;
  return ok ? COCABO_OK : cb_no_memory(err);
}

static cocabo_status draw_in(figure *f, cocabo_error *err) {
  CB_TRY(make_room(f, err));
  CB_TRY(choose(f, err));
  CB_TRY(find_scales(f, err));
  lay_out(f);
  draw(f);
  return canvas_end(f->c, err);
}

cocabo_status bench_draw_curves(const bench_curves *what, canvas *c,
                                cocabo_error *err) {
  *c = (canvas){0};
  CB_TRY(check(what, err));
  figure f = {.what = what, .c = c};
  const cocabo_status status = draw_in(&f, err);
  cb_free(f.panels);
  cb_free(f.entries);
  cb_free(f.curves);
  cb_free(f.values);
  cb_free(f.points);
  return status;
}
