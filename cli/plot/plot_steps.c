/* What trials reported of their values, over their steps: one line a trial. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base.h"
#include "plot/plot_lines.h"

enum {
  WIDTH = 760,
  HEIGHT = 460,
  GREY = 0xb8b8b8, /* of trials without a value, or none yet */
  BLUE = 0x5fa2d0  /* of complete ones */
};

typedef struct sheet {
  const plot_data *data;
  canvas *c;
  plot_lines lines;
  plot_frame frame;
} sheet;

static const char *line_tip(const plot_line *line, char out[PLOT_TIP]) {
  char value[TICK_LABEL];
  snprintf(out, PLOT_TIP, "trial %" PRId64 ": %s", line->number,
           line->state == COCABO_COMPLETE ? scale_number(line->value, 6, value)
                                          : cocabo_state_name(line->state));
  return out;
}

static canvas_point place(const sheet *s, const cocabo_step *step) {
  return (canvas_point){scale_at(&s->frame.x, (double)step->step),
                        scale_at(&s->frame.y, plot_clip(&s->lines.range, step->value))};
}

static int ink_of(const plot_line *line) {
  return line->best ? CHART_INK : line->state == COCABO_COMPLETE ? BLUE : GREY;
}

static cocabo_status put_line(const sheet *s, const plot_line *line,
                              cocabo_error *err) {
  canvas_point *points = cb_calloc(line->n, sizeof *points);
  if (!points)
    return cb_no_memory(err);
  for (size_t i = 0; i < line->n; i++)
    points[i] = place(s, &line->steps[i]);
  const canvas_style style = {
      .fill = CANVAS_NONE, .stroke = ink_of(line), .width = line->best ? 2.5 : 1.2};
  char tip[PLOT_TIP];
  canvas_path(s->c, points, line->n, false, &style, line_tip(line, tip));
  cb_free(points);
  return COCABO_OK;
}

/* Its last point has a sign, so that one of a single point is seen too. */
static void put_end(const sheet *s, const plot_line *line) {
  const canvas_style dot = {.fill = ink_of(line), .stroke = CANVAS_NONE};
  const canvas_point at = place(s, &line->steps[line->n - 1]);
  char tip[PLOT_TIP];
  line_tip(line, tip);
  if (line->best)
    plot_put_best(s->c, at.x, at.y, tip);
  else if (line->state == COCABO_FAILED)
    plot_put_failed(s->c, at.x, at.y, 3, tip);
  else
    canvas_mark(s->c, CANVAS_DOT, at.x, at.y, 2.2, &dot, tip);
}

static void put_legend_line(canvas *c, double *x, int ink, const char *text) {
  plot_put_stroke(c, *x, ink, 1.5);
  *x += 21;
  plot_put_note(c, x, text);
}

static void put_legend(const sheet *s) {
  const plot_data *data = s->data;
  const plot_lines *lines = &s->lines;
  const size_t open = lines->n - lines->complete - lines->failed;
  double x = CHART_MARGIN;
  char text[PLOT_LEFT_OUT];
  if (lines->complete > 0)
    put_legend_line(s->c, &x, BLUE, "trial");
  if (lines->lines[lines->n - 1].best) {
    plot_put_stroke(s->c, x, CHART_INK, 2.5);
    x += 8; /* the sign is at its end */
    plot_put_legend(s->c, &x, PLOT_SIGN_BEST, data,
                    data->noisy && !data->modelled ? "luckiest" : "best");
  }
  snprintf(text, sizeof text, "failed (%zu)", lines->failed);
  if (lines->failed > 0)
    plot_put_legend(s->c, &x, PLOT_SIGN_FAILED, data, text);
  snprintf(text, sizeof text, "unfinished (%zu)", open);
  if (open > 0)
    put_legend_line(s->c, &x, GREY, text);
  plot_put_note(s->c, &x, plot_lines_left_out(data, lines, text));
  if (lines->range.beyond > 0)
    plot_put_note(s->c, &x, "(worse values at the edge)");
}

static void begin(sheet *s, const canvas_format *format) {
  char title[CANVAS_FITTED], text[CANVAS_FITTED];
  const plot_range *range = &s->lines.range;
  plot_make_title(s->data, "values over steps", title);
  plot_describe(s->data, s->data->d, s->data->d, text);
  canvas_begin(s->c, format, WIDTH, HEIGHT, title, text);
  chart_put_title(s->c, title, text);
  s->frame.y = (scale){.low = range->low, .high = range->high, .log = range->log};
  s->frame.x = (scale){.low = s->lines.first, .high = s->lines.last};
  plot_frame_lay_out(&s->frame, WIDTH, HEIGHT);
}

static cocabo_status put_lines(const sheet *s, cocabo_error *err) {
  for (size_t i = 0; i < s->lines.n; i++)
    CB_TRY(put_line(s, &s->lines.lines[i], err));
  for (size_t i = 0; i < s->lines.n; i++)
    put_end(s, &s->lines.lines[i]);
  return COCABO_OK;
}

cocabo_status plot_steps(const plot_data *data, const canvas_format *format, canvas *c,
                         cocabo_error *err) {
  sheet s = {.data = data, .c = c};
  CB_TRY(plot_lines_find(data, &s.lines, err));
  begin(&s, format);
  put_legend(&s);
  plot_put_frame(c, &s.frame, "step");
  const cocabo_status status = put_lines(&s, err);
  plot_lines_free(&s.lines);
  return status;
}
