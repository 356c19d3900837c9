/* notes.h - attributes and reports of trials: as JSON, as columns, and from files. */
#ifndef CLI_NOTES_H
#define CLI_NOTES_H

#include <stdbool.h>
#include <stddef.h>

#include "cocabo.h"
#include "common/base.h"
#include "common/buffer.h"
#include "io/metrics.h"

/* Columns of attributes are called attr.NAME, that of the reports so. */
extern const char cli_attr_prefix[], cli_reports_column[];

/* ,"attrs":{"host":"a1"} and ,"reports":[[1,0.5]], each where there are some. */
cocabo_status cli_put_json_notes(front_buffer *out, const cocabo_trial *trial,
                                 cocabo_error *err);
/* [[1,0.5]], and nothing where there are none. */
cocabo_status cli_put_reports(front_buffer *out, const cocabo_trial *trial,
                              cocabo_error *err);

/* The names of all attributes of a study, as they come first, and whether any trial has
 * reports. Starts as {0}. */
typedef struct cli_note_columns {
  cli_metric_names attrs;
  bool reports;
} cli_note_columns;
cocabo_status cli_note_columns_find(cli_note_columns *out, const cocabo_study *study,
                                    cocabo_error *err);
void cli_note_columns_free(cli_note_columns *columns);

/* What is read from a file; starts as {0}. Values of a failure: COCABO_E_INVALID or
 * COCABO_E_RANGE with what is wrong. */
typedef struct cli_notes {
  cocabo_attr *attrs; /* owned with their texts */
  size_t n_attrs;
  cocabo_step *reports;
  size_t n_reports, reports_capacity;
} cli_notes;
void cli_notes_free(cli_notes *notes);
cocabo_status cli_notes_add(cli_notes *notes, const char *name, const char *value,
                            cocabo_error *err);
/* An object of texts, and a list of pairs of a step and a value; NULL and null are
 * none. */
cocabo_status cli_notes_read_attrs(cli_notes *notes, const cb_json_node *attrs,
                                   cocabo_error *err);
cocabo_status cli_notes_read_reports(cli_notes *notes, const cb_json_node *reports,
                                     cocabo_error *err);
/* The same from the text of such a list; "" is none. */
cocabo_status cli_notes_parse_reports(cli_notes *notes, const char *text,
                                      cocabo_error *err);

#endif
