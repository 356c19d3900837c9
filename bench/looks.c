/* looks.c - the table of colours, dashes and marks. Known methods have a look of their
 * own; others take the spare ones in turn. */
#include "looks.h"

#include <string.h>

static const char dashes[] = "7 3", dots[] = "2 2.4", dash_dot[] = "9 3 2 3",
                  short_dashes[] = "4 2";

/* In the order of legends: what is ours first. */
static const struct {
  const char *name;
  bench_look look;
} looks[] = {
    {"mixed", {0xd55e00, NULL, CANVAS_DOT, true}},
    {"cocabo-0.0", {0x3f9fd8, dashes, CANVAS_DOWN, false}},
    {"cocabo-0.5", {0x0072b2, NULL, CANVAS_SQUARE, false}},
    {"cocabo-1.0", {0x332288, dash_dot, CANVAS_UP, false}},
    {"cocabo-auto", {0x009e73, short_dashes, CANVAS_DIAMOND, false}},
    {"onehot", {0xe69f00, dashes, CANVAS_SQUARE, true}},
    {"exp3bo", {0xcc79a7, dots, CANVAS_DIAMOND, true}},
    {"smac", {0x8a8a2b, short_dashes, CANVAS_UP, true}},
    {"tpe", {0x882255, dash_dot, CANVAS_DOT, false}},
    {"sobol", {0x4d4d4d, dashes, CANVAS_DOWN, true}},
    {"random", {0x7a7a7a, dots, CANVAS_CROSS, false}},
};

/* The nearer to the front, the less like one of the above. */
static const bench_look spares[] = {
    {0x000000, short_dashes, CANVAS_SQUARE, true},
    {0x117733, dash_dot, CANVAS_DIAMOND, true},
    {0x661100, dashes, CANVAS_UP, false},
    {0xaa4499, NULL, CANVAS_DOWN, false},
    {0x44aa99, dots, CANVAS_SQUARE, false},
    {0x6699cc, dash_dot, CANVAS_UP, true},
    {0xcc6677, short_dashes, CANVAS_DOT, false},
    {0x999933, NULL, CANVAS_CROSS, false},
};

int bench_look_rank(const char *name, size_t size) {
  for (int i = 0; i < (int)(sizeof looks / sizeof looks[0]); i++)
    if (strlen(looks[i].name) == size && memcmp(looks[i].name, name, size) == 0)
      return i;
  return -1;
}

bench_look bench_look_of(int rank) {
  return looks[rank].look;
}

bench_look bench_look_spare(int i) {
  return spares[i % (int)(sizeof spares / sizeof spares[0])];
}

bench_look bench_look_for_batch(bench_look look, int i) {
  static const char *const lines[] = {NULL, dashes, dots, dash_dot, short_dashes};
  enum { LINES = sizeof lines / sizeof lines[0] };
  int line = 0;
  while (line + 1 < LINES && lines[line] != look.dash)
    line++;
  look.dash = lines[(line + i) % LINES];
  look.filled = look.filled != (i % 2 != 0);
  return look;
}

canvas_style bench_look_line(const bench_look *look) {
  return (canvas_style){
      .fill = CANVAS_NONE, .stroke = look->colour, .width = 1.8, .dash = look->dash};
}

void bench_look_mark(canvas *c, const bench_look *look, double x, double y,
                     const char *tip) {
  const bool has_area = look->shape != CANVAS_CROSS;
  const canvas_style style = {.fill = !has_area      ? CANVAS_NONE
                                      : look->filled ? look->colour
                                                     : 0xffffff,
                              .stroke = look->colour,
                              .width = 1.4};
  canvas_mark(c, look->shape, x, y, 3.6, &style, tip);
}
