/* mnist.c - reads the pictures and labels of MNIST and splits them by a fixed random
 * order. */
#include "problems/mnist.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "base/status.h"
#include "data.h"
#include "problem.h"

static void pictures_free(bench_pictures *pictures) {
  cb_free(pictures->pixels);
  cb_free(pictures->digits);
  *pictures = (bench_pictures){0};
}

void bench_mnist_free(bench_mnist *mnist) {
  pictures_free(&mnist->train);
  pictures_free(&mnist->test);
}

/* ---- the files ------------------------------------------------------------------ */

enum { PARTS = 2 };
static const char *const image_files[PARTS] = {"mnist/train-images-idx3-ubyte.gz",
                                               "mnist/t10k-images-idx3-ubyte.gz"};
static const char *const label_files[PARTS] = {"mnist/train-labels-idx1-ubyte.gz",
                                               "mnist/t10k-labels-idx1-ubyte.gz"};

/* Pictures are numbered through both parts. */
typedef struct source {
  front_buffer files[2 * PARTS];
  size_t n[PARTS];
  const unsigned char *images[PARTS], *labels[PARTS]; /* borrowed from the files */
} source;

static void source_free(source *s) {
  for (int i = 0; i < 2 * PARTS; i++)
    front_buffer_free(&s->files[i]);
}

static cocabo_status read_items(const char *path, size_t size, front_buffer *file,
                                size_t *n, const unsigned char **items,
                                cocabo_error *err) {
  size_t found;
  CB_TRY(bench_data_load(path, file, err));
  CB_TRY(bench_read_idx(path, file, n, &found, items, err));
  if (found != size)
    return cb_fail(err, COCABO_E_INVALID, "%s has items of %zu bytes, want %zu", path,
                   found, size);
  return COCABO_OK;
}

static cocabo_status read_part(source *s, int part, cocabo_error *err) {
  size_t n;
  front_buffer *files = &s->files[2 * part];
  CB_TRY(read_items(image_files[part], BENCH_PIXELS, &files[0], &s->n[part],
                    &s->images[part], err));
  CB_TRY(read_items(label_files[part], 1, &files[1], &n, &s->labels[part], err));
  if (n != s->n[part])
    return cb_fail(err, COCABO_E_INVALID, "%s has %zu labels, want %zu",
                   label_files[part], n, s->n[part]);
  return COCABO_OK;
}

static size_t count(const source *s) {
  return s->n[0] + s->n[1];
}

static const unsigned char *image_of(const source *s, size_t i) {
  return i < s->n[0] ? s->images[0] + i * BENCH_PIXELS
                     : s->images[1] + (i - s->n[0]) * BENCH_PIXELS;
}

static int label_of(const source *s, size_t i) {
  return i < s->n[0] ? s->labels[0][i] : s->labels[1][i - s->n[0]];
}

/* ---- the split ------------------------------------------------------------------ */

/* The numbers of the pictures of a digit, in their drawn order; returns how many. */
static int list_digit(const source *s, int digit, int32_t *numbers) {
  int n = 0;
  for (size_t i = 0; i < count(s); i++)
    if (label_of(s, i) == digit)
      numbers[n++] = (int32_t)i;
  cb_rng rng = bench_rng(BENCH_PROBLEM_SEED, BENCH_STREAM_MNIST, (uint32_t)digit);
  cb_rng_shuffle(&rng, n, numbers);
  return n;
}

static void take(const source *s, const int32_t *numbers, int n, bench_pictures *out) {
  for (int k = 0; k < n; k++) {
    const size_t i = (size_t)numbers[k];
    memcpy(out->pixels + out->n * BENCH_PIXELS, image_of(s, i), BENCH_PIXELS);
    out->digits[out->n++] = (float)label_of(s, i);
  }
}

static void take_digit(const source *s, int digit, double fraction, int32_t *numbers,
                       bench_mnist *out) {
  const int taken = (int)lround(fraction * list_digit(s, digit, numbers));
  const int learnt = (int)lround(0.7 * taken);
  take(s, numbers, learnt, &out->train);
  take(s, numbers + learnt, taken - learnt, &out->test);
}

static cocabo_status make_room(bench_pictures *pictures, size_t most,
                               cocabo_error *err) {
  pictures->size = BENCH_PIXELS;
  pictures->pixels = cb_calloc(most * BENCH_PIXELS, 1);
  pictures->digits = cb_calloc(most, sizeof *pictures->digits);
  return pictures->pixels && pictures->digits ? COCABO_OK : cb_no_memory(err);
}

static cocabo_status split(const source *s, double fraction, bench_mnist *out,
                           cocabo_error *err) {
  const double taken = fraction * (double)count(s);
  /* Rounding digit by digit adds less than one a digit. */
  CB_TRY(make_room(&out->train, (size_t)(0.7 * taken) + 2 * BENCH_DIGITS, err));
  CB_TRY(make_room(&out->test, (size_t)(0.3 * taken) + 2 * BENCH_DIGITS, err));
  int32_t *numbers = cb_calloc(count(s), sizeof *numbers);
  if (!numbers)
    return cb_no_memory(err);
  for (int digit = 0; digit < BENCH_DIGITS; digit++)
    take_digit(s, digit, fraction, numbers, out);
  cb_free(numbers);
  return COCABO_OK;
}

cocabo_status bench_mnist_load(double fraction, bench_mnist *out, cocabo_error *err) {
  assert(fraction > 0.0 && fraction <= 1.0);
  source s = {0};
  *out = (bench_mnist){0};
  cocabo_status status = read_part(&s, 0, err);
  if (status == COCABO_OK)
    status = read_part(&s, 1, err);
  if (status == COCABO_OK)
    status = split(&s, fraction, out, err);
  source_free(&s);
  if (status != COCABO_OK)
    bench_mnist_free(out);
  return status;
}

/* ---- smaller pictures ----------------------------------------------------------- */

static unsigned char mean_of(const unsigned char *corner, int by) {
  int sum = 0;
  for (int row = 0; row < by; row++)
    for (int column = 0; column < by; column++)
      sum += corner[row * BENCH_SIDE + column];
  return (unsigned char)(sum / (by * by));
}

/* In place: what is written lies before all that is still to be read, since a square
 * is read as a whole before its mean is written. */
static void shrink(bench_pictures *pictures, int by) {
  const int side = BENCH_SIDE / by;
  unsigned char *to = pictures->pixels;
  for (size_t i = 0; i < pictures->n; i++) {
    const unsigned char *picture = pictures->pixels + i * BENCH_PIXELS;
    for (int row = 0; row < side; row++)
      for (int column = 0; column < side; column++)
        *to++ = mean_of(picture + (ptrdiff_t)by * (row * BENCH_SIDE + column), by);
  }
  pictures->size = side * side;
}

void bench_mnist_shrink(bench_mnist *mnist, int by) {
  assert(by > 0 && BENCH_SIDE % by == 0);
  assert(mnist->train.size == BENCH_PIXELS && mnist->test.size == BENCH_PIXELS);
  shrink(&mnist->train, by);
  shrink(&mnist->test, by);
}
