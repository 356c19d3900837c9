/* data.h - the files that the real-world problems are made of.
 *
 * They are never part of this repository: they lie in $COCABO_DATA or, without it, in
 * ./data. A file counts only if its checksum is the one in the table of data.c.
 */
#ifndef BENCH_DATA_H
#define BENCH_DATA_H

#include <stddef.h>
#include <stdio.h>

#include "cocabo.h"
#include "common/buffer.h"

typedef struct bench_data {
  const char *path;    /* in the data folder, e.g. "boston/boston_house_prices.csv" */
  const char *problem; /* what needs it */
  const char *what;    /* one line */
  const char *source;  /* where it comes from, and the command if there is one */
  const char *sha256;  /* of the bytes, decompressed ones for .gz; lower-case hex. NULL:
                          the file has checksums of its own, which its reader checks */
  size_t size;         /* of the same bytes; 0: not known */
} bench_data;

const bench_data *bench_data_at(int i); /* NULL past the end */

typedef enum bench_data_state {
  BENCH_DATA_FOUND,
  BENCH_DATA_MISSING,
  BENCH_DATA_WRONG, /* it is there, but its checksum is another */
  BENCH_DATA_UNREADABLE
} bench_data_state;
/* Reads all of it, unless it has checksums of its own. `err` has the sentence where it
 * is not found; may be NULL. */
bench_data_state bench_data_check(const bench_data *data, cocabo_error *err);

/* Where a file of the data folder lies, whether it is there or not; "" is the folder.
 */
enum { BENCH_PATH_SIZE = 4096 };
cocabo_status bench_data_path(const char *path, char out[BENCH_PATH_SIZE],
                              cocabo_error *err);

/* Opens a file of the table, whatever its checksum; the caller closes it. */
cocabo_status bench_data_open(const char *path, FILE **out, cocabo_error *err);

/* All bytes of a file of the table with a sha256, decompressed if it ends in .gz. *out
 * starts as {0} and is the caller's; on failure it is {0} again. Missing
 * (COCABO_E_NOT_FOUND), damaged or another file (COCABO_E_INVALID): a sentence that
 * names the file, what is wrong with it and where to get it. */
cocabo_status bench_data_load(const char *path, front_buffer *out, cocabo_error *err);

/* Numbers in rows, row-major. */
typedef struct bench_matrix {
  size_t rows, columns;
  double *at; /* rows x columns; owned */
} bench_matrix;
void bench_matrix_free(bench_matrix *matrix); /* and back to {0} */

/* Rows of `columns` finite numbers after `skip` header lines, divided by commas or by
 * blanks; blank lines are passed over. `name` is for the sentences, which name the
 * line. *out is owned by the caller. */
cocabo_status bench_read_table(const char *name, const front_buffer *text, int skip,
                               size_t columns, bench_matrix *out, cocabo_error *err);

/* The items of an idx file of unsigned bytes: n of `size` bytes each (images: 784,
 * labels: 1). *items is borrowed from `bytes`. */
cocabo_status bench_read_idx(const char *name, const front_buffer *bytes, size_t *n,
                             size_t *size, const unsigned char **items,
                             cocabo_error *err);

#endif
