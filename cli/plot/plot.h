/* plot.h - pictures of a study.
 *
 * One file a kind: plot_history.c, plot_slice.c, plot_parallel.c, plot_categories.c,
 * plot_importance.c and plot_steps.c draw on a canvas; textplot.h draws the same for a
 * terminal.
 */
#ifndef CLI_PLOT_H
#define CLI_PLOT_H

#include "common/canvas.h"
#include "common/chart.h"
#include "plot/plot_data.h"

typedef enum plot_kind {
  PLOT_HISTORY,
  PLOT_SLICE,
  PLOT_PARALLEL,
  PLOT_CATEGORIES,
  PLOT_IMPORTANCE,
  PLOT_STEPS,
} plot_kind;

const char *plot_kind_name(int i); /* NULL past the end */

/* Is there a complete trial, or what else this kind can show? */
bool plot_has_any(plot_kind kind, const plot_data *data);

/* Draws all of a picture into the canvas, which the caller frees in any case. There is
 * something to show, see plot_has_any. COCABO_E_STATE, with a sentence, where the study
 * does not have what this kind shows. */
cocabo_status plot_draw(plot_kind kind, const plot_data *data,
                        const canvas_format *format, canvas *c, cocabo_error *err);

/* ---- for the kinds: each draws a whole picture ----------------------------------- */

typedef cocabo_status plot_drawer(const plot_data *data, const canvas_format *format,
                                  canvas *c, cocabo_error *err);
plot_drawer plot_history, plot_slice, plot_parallel, plot_categories, plot_importance,
    plot_steps;

enum { PLOT_TOP = 92 /* below title, subtitle and legend */ };

/* "STUDY: what it shows" */
void plot_make_title(const plot_data *data, const char *what, char out[CANVAS_FITTED]);
/* "+-" becomes a sign of its own, or again two characters. */
void plot_sign_errors(char *text, bool unicode);
/* What was looked for and found; and, where only some of the parameters are shown, how
 * many. */
void plot_describe(const plot_data *data, size_t shown, size_t of,
                   char out[CANVAS_FITTED]);
/* Entries of a legend on the line below the subtitle; x moves on. */
typedef enum plot_sign {
  PLOT_SIGN_TRIAL,
  PLOT_SIGN_BEST,
  PLOT_SIGN_LINE,
  PLOT_SIGN_BEYOND,
  PLOT_SIGN_FAILED,
  PLOT_SIGN_APART,
  PLOT_SIGN_EXPECTED
} plot_sign;
void plot_put_legend(canvas *c, double *x, plot_sign sign, const plot_data *data,
                     const char *text);
/* A line as wide as a sign, at x. */
void plot_put_stroke(canvas *c, double x, int ink, double width);
void plot_put_note(canvas *c, double *x, const char *text);
/* The best, what is expected of it and what lies beyond the range, where that is drawn
 * (range NULL: it is not), and the lost ones. */
void plot_put_trial_legend(canvas *c, double *x, const plot_data *data,
                           const plot_range *range);
/* Trials that break a constraint or have no value, a sign for each kind of them, and
 * how many they are. */
void plot_put_lost_legend(canvas *c, double *x, const plot_data *data);
/* "trial 0 [light to dark] 199" */
void plot_put_shades(canvas *c, double *x, const char *light, const char *dark);

void plot_put_best(canvas *c, double x, double y, const char *tip);
/* A trial without a value: how each kind of them looks is decided here. */
void plot_put_failed(canvas *c, double x, double y, double radius, const char *tip);
/* A trial that breaks a constraint: hollow and grey. */
void plot_put_apart(canvas *c, double x, double y, double radius, const char *tip);
/* What the model expects of the best trial, and its error, at x; nothing without one.
 */
void plot_put_expected(canvas *c, const plot_data *data, const plot_range *range,
                       double x, const scale *y);

/* Values over whole numbers: the area and its axes. The caller gives the data's ends of
 * the scales, and may shorten y afterwards. */
typedef struct plot_frame {
  scale x, y;
  double left, right, top, bottom;
} plot_frame;
void plot_frame_lay_out(plot_frame *frame, double width, double height);
void plot_put_frame(canvas *c, const plot_frame *frame, const char *label);

/* The value, or the end of the range that it is beyond. */
double plot_clip(const plot_range *range, double value);
bool plot_is_beyond(const plot_range *range, double value);

/* The failure of plots of choices where there are none. */
cocabo_status plot_no_choices(const plot_data *data, cocabo_error *err);

/* The radius of a mark for n trials. */
double plot_radius(size_t n);

/* "trial 12: 0.5"; NULL where there are more trials than anybody points at. */
enum { PLOT_TIP = 64, PLOT_MOST_TIPS = 1000 };
const char *plot_tip(const plot_data *data, size_t row, char out[PLOT_TIP]);

#endif
