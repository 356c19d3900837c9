/* sheet.c - splits a CSV text into cells, in place in a copy, and quotes cells when
 * writing. */
#include "io/sheet.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/base.h"

/* The text is unquoted in place: `to` never overtakes `from`. */
typedef struct cursor {
  const char *name;
  char *from, *to, *end;
  size_t line;
} cursor;

void sheet_free(sheet *s) {
  cb_free(s->text);
  cb_free(s->cells);
  cb_free(s->rows);
  *s = (sheet){0};
}

static cocabo_status refuse(const cursor *c, const char *problem, cocabo_error *err) {
  char name[CB_SHOWN];
  return cb_fail(err, COCABO_E_INVALID, "%s, line %zu: %s", cb_text_show(name, c->name),
                 c->line, problem);
}

/* ---- cells ----------------------------------------------------------------------- */

static bool at_line_end(const cursor *c) {
  return c->from == c->end || *c->from == '\n' ||
         (*c->from == '\r' && (c->from + 1 == c->end || c->from[1] == '\n'));
}

static cocabo_status take_quoted(cursor *c, cocabo_error *err) {
  const size_t line = c->line;
  for (c->from++;; c->from++) {
    if (c->from == c->end) {
      c->line = line;
      return refuse(c, "a quote has no end", err);
    }
    if (*c->from == '"') {
      if (c->from + 1 == c->end || c->from[1] != '"')
        break;
      c->from++;
    }
    c->line += *c->from == '\n';
    *c->to++ = *c->from;
  }
  c->from++;
  return at_line_end(c) || *c->from == ','
             ? COCABO_OK
             : refuse(c, "a quoted cell goes on behind its quote", err);
}

static void take_plain(cursor *c) {
  while (!at_line_end(c) && *c->from != ',')
    *c->to++ = *c->from++;
}

static cocabo_status add_cell(sheet *s, const char *cell, cocabo_error *err) {
  void *cells = s->cells;
  if (!cb_reserve(&cells, &s->cells_capacity, s->n_cells + 1, sizeof(char *)))
    return cb_no_memory(err);
  s->cells = cells;
  s->cells[s->n_cells++] = cell;
  return COCABO_OK;
}

static cocabo_status add_row(sheet *s, size_t line, cocabo_error *err) {
  void *rows = s->rows;
  if (!cb_reserve(&rows, &s->rows_capacity, s->n_rows + 1, sizeof *s->rows))
    return cb_no_memory(err);
  s->rows = rows;
  s->rows[s->n_rows++] = (sheet_row){.line = line, .first = s->n_cells};
  return COCABO_OK;
}

/* ---- rows ------------------------------------------------------------------------ */

/* Steps over the separator before the NUL of the cell takes its place. */
static cocabo_status take_row(sheet *s, cursor *c, cocabo_error *err) {
  CB_TRY(add_row(s, c->line, err));
  for (bool more = true; more;) {
    char *cell = c->to;
    if (c->from < c->end && *c->from == '"')
      CB_TRY(take_quoted(c, err));
    else
      take_plain(c);
    if (memchr(cell, '\0', (size_t)(c->to - cell)))
      return refuse(c, "a cell has a NUL character", err);
    more = c->from < c->end && *c->from == ',';
    if (!more && c->from < c->end && *c->from == '\r')
      c->from++;
    if (c->from < c->end)
      c->from++;
    *c->to++ = '\0';
    CB_TRY(add_cell(s, cell, err));
    s->rows[s->n_rows - 1].n++;
  }
  c->line++;
  return COCABO_OK;
}

static void skip_empty_lines(cursor *c) {
  while (c->from < c->end && at_line_end(c)) {
    c->from += *c->from == '\r';
    if (c->from < c->end)
      c->from++;
    c->line++;
  }
}

static cocabo_status take_rows(sheet *s, cursor *c, cocabo_error *err) {
  for (;;) {
    skip_empty_lines(c);
    if (c->from == c->end)
      return COCABO_OK;
    CB_TRY(take_row(s, c, err));
  }
}

cocabo_status sheet_parse(sheet *out, const char *name, const char *text, size_t size,
                          cocabo_error *err) {
  *out = (sheet){.text = cb_calloc(size + 1, 1)};
  if (!out->text)
    return cb_no_memory(err);
  if (size > 0)
    memcpy(out->text, text, size);
  const size_t mark = size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
  cursor c = {.name = name,
              .from = out->text + mark,
              .to = out->text,
              .end = out->text + size,
              .line = 1};
  const cocabo_status status = take_rows(out, &c, err);
  if (status != COCABO_OK)
    sheet_free(out);
  return status;
}

/* ---- writing --------------------------------------------------------------------- */

static bool needs_quotes(const char *cell, size_t size) {
  for (size_t i = 0; i < size; i++)
    if (strchr(",\"\r\n", cell[i]))
      return true;
  return size > 0 && (cell[0] == ' ' || cell[size - 1] == ' ');
}

cocabo_status sheet_put(front_buffer *out, const char *cell, size_t size,
                        cocabo_error *err) {
  if (!needs_quotes(cell, size))
    return front_buffer_append(out, cell, size, err);
  CB_TRY(front_buffer_puts(out, "\"", err));
  for (size_t i = 0; i < size; i++)
    CB_TRY(front_buffer_append(out, cell[i] == '"' ? "\"\"" : cell + i,
                               cell[i] == '"' ? 2 : 1, err));
  return front_buffer_puts(out, "\"", err);
}
