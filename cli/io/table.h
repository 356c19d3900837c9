/* table.h - rows and columns for people. Columns are as wide as their widest cell; on a
 * terminal, lines are cut to its width. */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/buffer.h"

typedef struct cli_table {
  size_t columns;
  bool *right;       /* per column: numbers stand to the right */
  int *widths;       /* per column, in columns of a terminal */
  front_buffer text; /* all cells, each with its NUL, row by row */
  size_t cells;      /* whole and begun rows together */
} cli_table;

/* Starts with a row of titles to come. On failure the table is empty and may be freed.
 */
cocabo_status cli_table_begin(cli_table *table, size_t columns, cocabo_error *err);
void cli_table_free(cli_table *table);

void cli_table_align_right(cli_table *table, size_t column);
/* The next cell, row by row: the first line of a text, with '?' for control characters.
 */
cocabo_status cli_table_cell(cli_table *table, const char *text, size_t size,
                             cocabo_error *err);
cocabo_status cli_table_text(cli_table *table, const char *text, cocabo_error *err);

/* Writes the table to standard output. */
cocabo_status cli_table_print(const cli_table *table, cocabo_error *err);

#endif
