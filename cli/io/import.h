/* import.h - trials from files: rows that are read and checked, and then added at one
 * stroke. A row that does not fit the space is passed over and named; a file that is no
 * table or no JSON, or has other columns, is refused. */
#ifndef CLI_IMPORT_H
#define CLI_IMPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "cocabo.h"
#include "io/notes.h"

/* One trial of a file. */
typedef struct import_row {
  size_t place;           /* the line where it begins, or in JSON which entry it is */
  cocabo_value *values;   /* one a parameter, in the order of the space; owned, but for
                             texts, which are borrowed from the space */
  double result;          /* NaN: none */
  bool failed;            /* else without a result it is to be tried */
  char *reason;           /* owned; NULL: none */
  cocabo_metric *metrics; /* n_metrics, owned with their names */
  size_t n_metrics;
  cli_notes notes;
} import_row;

enum { IMPORT_NAMED = 5 }; /* rows that do not fit: so many are named, others counted */

/* Starts as {.name, .space}. */
typedef struct import_rows {
  const char *name;          /* of the file; borrowed, as the next */
  const cocabo_space *space; /* must outlive the rows */
  const char *unit;          /* what `place` counts, for sentences */
  size_t n, capacity;
  import_row *items;
  size_t n_misfits;
  cocabo_error misfits[IMPORT_NAMED]; /* the sentences of the first ones */
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

/* What a value that others wrote means for parameter i: 3.0 is a whole number, and
 * `cell`, its spelling in CSV or NULL, may stand for the only choice that is meant.
 * Texts are borrowed from the space. */
bool import_value(const cocabo_space *space, size_t i, const char *cell,
                  const cocabo_value *read, cocabo_value *out);

typedef struct import_counts {
  size_t added, complete, failed, enqueued; /* added is the sum of the others */
  size_t already;                           /* there */
} import_counts;

/* Adds those that the study has not, all or none. */
cocabo_status import_add(const import_rows *rows, cocabo_study *study,
                         import_counts *counts, cocabo_error *err);

#endif
