/* mnist.h - pictures of handwritten digits, split into those to learn from and those to
 * be tested on.
 */
#ifndef BENCH_PROBLEMS_MNIST_H
#define BENCH_PROBLEMS_MNIST_H

#include <stddef.h>

#include "cocabo.h"

enum { BENCH_SIDE = 28, BENCH_PIXELS = BENCH_SIDE * BENCH_SIDE, BENCH_DIGITS = 10 };

typedef struct bench_pictures {
  size_t n;
  unsigned char *pixels; /* n x size, row-major; owned */
  float *digits;         /* n: 0 .. 9; owned */
  int size;              /* pixels of a picture */
} bench_pictures;

typedef struct bench_mnist {
  bench_pictures train, test;
} bench_mnist;
void bench_mnist_free(bench_mnist *mnist); /* and back to {0} */

/* A fraction of all 70 000, split 7:3, both digit by digit so that shares stay as they
 * are. Of each digit the pictures come in an order drawn from BENCH_STREAM_MNIST, the
 * same in every run: the first fraction are taken, the first seven tenths of those to
 * learn from. So smaller fractions are parts of larger ones. */
cocabo_status bench_mnist_load(double fraction, bench_mnist *out, cocabo_error *err);

/* Of pictures as they were loaded: every square of `by` x `by` pixels becomes one, its
 * mean, rounded down. `by` divides BENCH_SIDE. */
void bench_mnist_shrink(bench_mnist *mnist, int by);

#endif
