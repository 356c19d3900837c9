/* gnuplot.c - writes what is drawn as commands of gnuplot, and runs gnuplot to turn
 * them into a picture. */
#include "plot/gnuplot.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base.h"
#include "common/outfile.h"

/* ---- groups: one plot command for what has one style ----------------------------- */

enum { NO_GROUP, LINE_GROUP, AREA_GROUP, DOT_GROUP, RING_GROUP };

static void close_group(canvas *c) {
  if (c->group_kind == NO_GROUP)
    return;
  canvas_put(c, "e\n");
  if (c->waiting > 0)
    canvas_put(c, "unset label\n");
  c->waiting = 0;
  c->group_kind = NO_GROUP;
}

static void put_plot(canvas *c, int kind, const canvas_style *style) {
  switch (kind) {
  case LINE_GROUP:
    canvas_put(c, "plot '-' using 1:2 with lines lc rgb '#%06x' lw %.4g\n",
               (unsigned)style->stroke, style->width);
    break;
  case AREA_GROUP:
    canvas_put(c,
               "plot '-' using 1:2 with filledcurves closed fs solid noborder "
               "fc rgb '#%06x'\n",
               (unsigned)style->fill);
    break;
  case DOT_GROUP:
    canvas_put(c, "plot '-' using 1:2 with points pt 7 ps %.4g lc rgb '#%06x'\n",
               style->width, (unsigned)style->fill);
    break;
  case RING_GROUP:
    canvas_put(c, "plot '-' using 1:2 with points pt 6 ps %.4g lc rgb '#%06x'\n",
               style->width, (unsigned)style->stroke);
    break;
  }
}

/* What follows goes on in the open group if it can; a blank line parts two paths. */
static void open_group(canvas *c, int kind, const canvas_style *style) {
  if (c->group_kind == kind && canvas_same_style(&c->group, style)) {
    if (kind < DOT_GROUP)
      canvas_put(c, "\n");
    return;
  }
  close_group(c);
  put_plot(c, kind, style);
  c->group_kind = kind;
  c->group = *style;
}

/* ---- shapes --------------------------------------------------------------------- */

static void put_points(canvas *c, const canvas_point *points, size_t n) {
  for (size_t i = 0; i < n; i++)
    canvas_put(c, "%.2f %.2f\n", points[i].x, points[i].y);
}

static void gnuplot_path(canvas *c, const canvas_point *points, size_t n, bool closed,
                         const canvas_style *style, const char *tip) {
  (void)tip;
  if (style->fill != CANVAS_NONE) {
    open_group(c, AREA_GROUP, style);
    put_points(c, points, n);
  }
  if (style->stroke != CANVAS_NONE) {
    open_group(c, LINE_GROUP, style);
    put_points(c, points, n);
    put_points(c, points, closed ? 1 : 0);
  }
}

/* The radius is the size of the points; the terminals' `pointscale` makes it pixels. */
static void gnuplot_dot(canvas *c, canvas_point at, double radius,
                        const canvas_style *style, const char *tip) {
  const bool ring = style->fill == CANVAS_NONE;
  const canvas_style dot = {
      .fill = style->fill, .stroke = ring ? style->stroke : 0, .width = radius};
  (void)tip;
  open_group(c, ring ? RING_GROUP : DOT_GROUP, &dot);
  put_points(c, &at, 1);
}

/* ---- text ----------------------------------------------------------------------- */

/* Does every font have it? gnuplot draws a character that no font has many times too
 * large, over everything else; a question mark is better. */
static bool is_common(unsigned c) {
  return !cb_text_is_control(c) &&
         (c < 0x0530 || (c >= 0x2010 && c < 0x2060) || (c >= 0x20a0 && c < 0x20c0) ||
          (c >= 0x2190 && c < 0x2300) || (c >= 0x2500 && c < 0x2600));
}

/* In single quotes nothing has a meaning but the quote itself. It could be doubled, but
 * gnuplot 5.4 does not understand that everywhere; so it becomes a typographic one. */
static void put_quoted(canvas *c, const char *text) {
  size_t size;
  canvas_put(c, "'");
  for (; *text; text += size) {
    const unsigned character = cb_text_decode(text, &size);
    if (!is_common(character))
      canvas_put(c, "?");
    else if (character == '\'')
      canvas_put(c, "\u2019");
    else
      canvas_put_bytes(c, text, size);
  }
  canvas_put(c, "'");
}

/* Labels are drawn by the next plot command, on top of it. A point has four thirds of a
 * pixel. */
static void gnuplot_text(canvas *c, canvas_point at, const char *text,
                         const canvas_font *font) {
  static const char *const anchors[] = {"left", "center", "right"};
  close_group(c);
  canvas_put(c, "set label %d ", ++c->waiting);
  put_quoted(c, text);
  canvas_put(c, " at %.2f,%.2f %s font 'sans%s,%.4g' tc rgb '#%06x' %s front\n", at.x,
             at.y, anchors[font->anchor], font->bold ? ":Bold" : "", 0.75 * font->size,
             (unsigned)font->colour, font->upwards ? "rotate by 90" : "norotate");
}

/* ---- the file ------------------------------------------------------------------- */

static void put_page(canvas *c) {
  canvas_put(c, "set lmargin at screen 0\nset rmargin at screen 1\n"
                "set tmargin at screen 1\nset bmargin at screen 0\n"
                "unset border\nunset tics\nunset key\n");
  canvas_put(c, "set xrange [0:%.0f]\nset yrange [%.0f:0]\nset multiplot\n", c->width,
             c->height);
}

/* Twice the pixels: sharp on paper and on screens of today. Rounded: gnuplot repeats
 * the first point of a line, and would slant its end. */
static void begin_png(canvas *c, const char *title, const char *description) {
  (void)title, (void)description;
  canvas_put(
      c,
      "set encoding utf8\nset terminal pngcairo rounded noenhanced size %.0f,%.0f "
      "fontscale 2 linewidth 2 pointscale 0.667 background '#ffffff'\n",
      2.0 * c->width, 2.0 * c->height);
  put_page(c);
}

static void begin_pdf(canvas *c, const char *title, const char *description) {
  (void)title, (void)description;
  canvas_put(
      c,
      "set encoding utf8\nset terminal pdfcairo rounded noenhanced size %.3fin,%.3fin "
      "fontscale 0.75 linewidth 1.5 pointscale 0.25 background '#ffffff'\n",
      c->width / 96.0, c->height / 96.0);
  put_page(c);
}

/* Texts that still wait come with a point outside. */
static void gnuplot_end(canvas *c) {
  static const canvas_style nothing = {.fill = 0xffffff};
  close_group(c);
  gnuplot_dot(c, (canvas_point){-100, -100}, 1, &nothing, NULL);
  close_group(c);
  canvas_put(c, "unset multiplot\n");
}

const canvas_format gnuplot_png_format = {.begin = begin_png,
                                          .path = gnuplot_path,
                                          .dot = gnuplot_dot,
                                          .text = gnuplot_text,
                                          .end = gnuplot_end};
const canvas_format gnuplot_pdf_format = {.begin = begin_pdf,
                                          .path = gnuplot_path,
                                          .dot = gnuplot_dot,
                                          .text = gnuplot_text,
                                          .end = gnuplot_end};

/* ---- the child ------------------------------------------------------------------ */

extern char **environ;

/* Its standard input, output and error are files without a name: there is no pipe to
 * fill up, and nothing to clean away. */
typedef struct streams {
  FILE *in, *out, *complaints;
} streams;

static void close_streams(streams *s) {
  FILE *const files[] = {s->in, s->out, s->complaints};
  for (size_t i = 0; i < 3; i++)
    if (files[i])
      fclose(files[i]);
}

static cocabo_status open_streams(streams *s, const front_buffer *commands,
                                  cocabo_error *err) {
  *s = (streams){tmpfile(), tmpfile(), tmpfile()};
  if (s->in && s->out && s->complaints &&
      fwrite(commands->data, 1, commands->size, s->in) == commands->size &&
      fflush(s->in) == 0 && lseek(fileno(s->in), 0, SEEK_SET) == 0)
    return COCABO_OK;
  cb_fail(err, COCABO_E_STORE, "cannot write a temporary file for gnuplot: %s",
          strerror(errno));
  close_streams(s);
  return COCABO_E_STORE;
}

static int spawn(const streams *s, pid_t *child) {
  static const char *const argv[] = {"gnuplot", "-d", NULL}; /* -d: no start-up files */
  posix_spawn_file_actions_t actions;
  int error = posix_spawn_file_actions_init(&actions);
  if (error != 0)
    return error;
  error = posix_spawn_file_actions_adddup2(&actions, fileno(s->in), 0);
  if (error == 0)
    error = posix_spawn_file_actions_adddup2(&actions, fileno(s->out), 1);
  if (error == 0)
    error = posix_spawn_file_actions_adddup2(&actions, fileno(s->complaints), 2);
  if (error == 0)
    error = posix_spawnp(child, argv[0], &actions, NULL, (char *const *)argv, environ);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

static bool wait_for(pid_t child) {
  int status;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      return false;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* What it said first, as far as it fits into a sentence. */
static cocabo_status complain(const streams *s, cocabo_error *err) {
  char line[200] = "";
  rewind(s->complaints);
  while (line[strspn(line, " \t\n^")] == '\0' &&
         fgets(line, sizeof line, s->complaints))
    line[strcspn(line, "\n")] = '\0';
  char shown[CB_SHOWN];
  return cb_fail(err, COCABO_E_STORE, "gnuplot failed: %s",
                 line[0] ? cb_text_show(shown, line) : "it said nothing");
}

static cocabo_status run(const streams *s, front_buffer *picture, cocabo_error *err) {
  pid_t child;
  const int error = spawn(s, &child);
  if (error == ENOENT)
    return cb_fail(err, COCABO_E_STORE,
                   "PNG and PDF are drawn by gnuplot, which is not installed "
                   "(Debian: gnuplot-nox); a name with .svg needs nothing");
  if (error != 0)
    return cb_fail(err, COCABO_E_STORE, "cannot run gnuplot: %s", strerror(error));
  if (!wait_for(child))
    return complain(s, err);
  if (lseek(fileno(s->out), 0, SEEK_SET) != 0)
    return cb_fail(err, COCABO_E_STORE, "cannot read what gnuplot drew: %s",
                   strerror(errno));
  CB_TRY(front_read_all(fileno(s->out), "what gnuplot drew", picture, err));
  return picture->size > 0 ? COCABO_OK : complain(s, err);
}

cocabo_status gnuplot_run(const front_buffer *commands, front_buffer *picture,
                          cocabo_error *err) {
  streams s;
  CB_TRY(open_streams(&s, commands, err));
  const cocabo_status status = run(&s, picture, err);
  close_streams(&s);
  return status;
}
