/* import.h - trials from files: rows that are read and checked before any is added. */
#ifndef CLI_IMPORT_H
#define CLI_IMPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "cocabo.h"

/* One trial of a file. */
typedef struct import_row {
  size_t place;         /* the line where it begins, or in JSON which entry it is */
  cocabo_value *values; /* one a parameter, in the order of the space; owned, but for
                           texts, which are borrowed from the space */
  double result;        /* NaN: none, the point is to be tried */
  bool failed;          /* known to have failed: passed over */
} import_row;

/* Starts as {.name, .space}. */
typedef struct import_rows {
  const char *name;          /* of the file; borrowed, as the next */
  const cocabo_space *space; /* must outlive the rows */
  const char *unit;          /* what `place` counts, for sentences */
  size_t n, capacity;
  import_row *items;
} import_rows;

/* A sentence names the line and the column. */
cocabo_status import_csv(import_rows *out, const char *text, size_t size,
                         cocabo_error *err);
/* A document of cocabo export, a list of trials, or one trial after the other: objects
 * with "params", and "value" where it is known. */
cocabo_status import_json(import_rows *out, const char *text, size_t size,
                          cocabo_error *err);
/* The study that a document of cocabo export describes, as the text of a specification;
 * NULL if it describes none. Owned by the caller, who frees it. */
char *import_json_study(const char *text, size_t size);
void import_free(import_rows *rows); /* after a failure too */

typedef struct import_counts {
  size_t added, enqueued, failed;
} import_counts;

/* Tries all rows on a study in memory: what that one takes, a real one will take. */
cocabo_status import_check(const import_rows *rows, cocabo_error *err);
/* Adds them; after import_check, only the store can fail. */
cocabo_status import_add(const import_rows *rows, cocabo_study *study,
                         cocabo_error *err);
import_counts import_count(const import_rows *rows);

#endif
