/* table.c - collects rows and prints them in columns. Widths are those of characters
 * on a terminal, not of bytes. */
#define _DEFAULT_SOURCE /* struct winsize */

#include "io/table.h"

#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/args.h"
#include "common/base.h"
#include "common/show.h"

cocabo_status cli_table_begin(cli_table *table, size_t columns, cocabo_error *err) {
  *table = (cli_table){.columns = columns,
                       .right = cb_calloc(columns, sizeof *table->right),
                       .widths = cb_calloc(columns, sizeof *table->widths)};
  if (table->right && table->widths)
    return COCABO_OK;
  cli_table_free(table);
  return cb_no_memory(err);
}

void cli_table_free(cli_table *table) {
  cb_free(table->right);
  cb_free(table->widths);
  front_buffer_free(&table->text);
  *table = (cli_table){0};
}

void cli_table_align_right(cli_table *table, size_t column) {
  assert(column < table->columns);
  table->right[column] = true;
}

/* ---- cells ----------------------------------------------------------------------- */

static int width_of(const char *cell) {
  int width = 0;
  size_t size;
  for (; *cell; cell += size)
    width += show_width(cb_text_decode(cell, &size));
  return width;
}

cocabo_status cli_table_text(cli_table *table, const char *text, cocabo_error *err) {
  return cli_table_cell(table, text, strlen(text), err);
}

cocabo_status cli_table_cell(cli_table *table, const char *text, size_t size,
                             cocabo_error *err) {
  front_buffer line = {0};
  const char *end = memchr(text, '\n', size);
  cocabo_status status =
      front_buffer_append(&line, text, end ? (size_t)(end - text) : size, err);
  const char *cell = status == COCABO_OK ? front_buffer_text(&line, err) : NULL;
  const size_t start = table->text.size;
  if (!cell)
    status = COCABO_E_NO_MEMORY;
  if (status == COCABO_OK)
    status = show_put(&table->text, cell, err);
  if (status == COCABO_OK)
    status = front_buffer_append(&table->text, "", 1, err);
  front_buffer_free(&line);
  if (status != COCABO_OK)
    return status;
  const size_t column = table->cells++ % table->columns;
  const int width = width_of(table->text.data + start);
  if (width > table->widths[column])
    table->widths[column] = width;
  return COCABO_OK;
}

/* ---- printing -------------------------------------------------------------------- */

/* Of the terminal; INT_MAX where the output is none, so that nothing is cut. */
static int line_width(void) {
  if (!isatty(fileno(stdout)))
    return INT_MAX;
  struct winsize size;
  if (ioctl(fileno(stdout), TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    return size.ws_col;
  return 80;
}

static cocabo_status pad(front_buffer *line, int n, cocabo_error *err) {
  for (; n > 0; n--)
    CB_TRY(front_buffer_append(line, " ", 1, err));
  return COCABO_OK;
}

/* Two spaces between columns, and none at the end of a line. */
static cocabo_status put_row(const cli_table *table, const char **cell,
                             front_buffer *line, cocabo_error *err) {
  line->size = 0;
  for (size_t j = 0; j < table->columns; j++) {
    const int missing = table->widths[j] - width_of(*cell);
    CB_TRY(pad(line, j > 0 ? 2 : 0, err));
    CB_TRY(pad(line, table->right[j] ? missing : 0, err));
    CB_TRY(front_buffer_puts(line, *cell, err));
    CB_TRY(pad(line, table->right[j] ? 0 : missing, err));
    *cell += strlen(*cell) + 1;
  }
  while (line->size > 0 && line->data[line->size - 1] == ' ')
    line->size--;
  return COCABO_OK;
}

/* Cuts a line that is wider than the terminal, and shows by a '>' that it was. */
static cocabo_status cut(front_buffer *line, int room, cocabo_error *err) {
  const char *text = front_buffer_text(line, err);
  if (!text)
    return COCABO_E_NO_MEMORY;
  if (width_of(text) <= room)
    return COCABO_OK;
  size_t used = 0, size;
  for (int width = 0;; used += size) {
    width += show_width(cb_text_decode(text + used, &size));
    if (width > room - 1)
      break;
  }
  line->size = used;
  return front_buffer_append(line, ">", 1, err);
}

cocabo_status cli_table_print(const cli_table *table, cocabo_error *err) {
  front_buffer line = {0};
  assert(table->cells % table->columns == 0); /* rows are whole */
  const char *cell = table->text.data;
  const int room = line_width();
  cocabo_status status = COCABO_OK;
  bool writing = true;
  for (size_t i = 0; i < table->cells && status == COCABO_OK && writing;
       i += table->columns) {
    status = put_row(table, &cell, &line, err);
    if (status == COCABO_OK && room < INT_MAX)
      status = cut(&line, room, err);
    if (status == COCABO_OK)
      status = front_buffer_append(&line, "\n", 1, err);
    if (status == COCABO_OK)
      writing = front_write(line.data, line.size);
  }
  front_buffer_free(&line);
  return status;
}
