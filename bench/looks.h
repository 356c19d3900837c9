/* looks.h - how the curve of a method looks, the same in every figure.
 *
 * Looks differ in colour (palettes that colour-blind people tell apart), in dash and in
 * mark, so that they are told apart in black and white too.
 */
#ifndef BENCH_LOOKS_H
#define BENCH_LOOKS_H

#include "common/canvas.h"

typedef struct bench_look {
  int colour;
  const char *dash; /* as in canvas_style */
  canvas_shape shape;
  bool filled; /* the mark */
} bench_look;

/* The place of a method in legends, whichever others there are; -1: the name is none of
 * ours (a peer's, say). `name` has `size` bytes. */
int bench_look_rank(const char *name, size_t size);

/* The look of rank 0, 1, ...; and spare ones for other names, 0, 1, ... */
bench_look bench_look_of(int rank);
bench_look bench_look_spare(int i);

/* The same method in the second, third, ... size of batch of a figure; 0: the first. */
bench_look bench_look_for_batch(bench_look look, int i);

/* A stroke of the line, and a mark on it at a place. */
canvas_style bench_look_line(const bench_look *look);
void bench_look_mark(canvas *c, const bench_look *look, double x, double y,
                     const char *tip);

#endif
