/* sheet.h - a CSV text as rows of cells (RFC 4180: quotes, doubled quotes, newlines in
 * quotes; either kind of line end; a byte order mark is passed over). */
#ifndef CLI_SHEET_H
#define CLI_SHEET_H

#include <stddef.h>

#include "cocabo.h"
#include "common/buffer.h"

typedef struct sheet_row {
  size_t line;     /* where it begins, from 1 */
  size_t first, n; /* its cells */
} sheet_row;

typedef struct sheet {
  char *text;         /* owned; what the cells point to */
  const char **cells; /* of all rows, each ended by a NUL */
  size_t n_cells, cells_capacity;
  sheet_row *rows; /* empty lines make none */
  size_t n_rows, rows_capacity;
} sheet;

/* `name` is that of the file, for sentences. On failure the sheet is empty. */
cocabo_status sheet_parse(sheet *out, const char *name, const char *text, size_t size,
                          cocabo_error *err);
void sheet_free(sheet *s); /* and back to {0} */

/* A cell for a CSV text, in quotes where it needs them. */
cocabo_status sheet_put(front_buffer *out, const char *cell, size_t size,
                        cocabo_error *err);

#endif
