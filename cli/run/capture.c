/* capture.c - keeps the last line and the last bytes of a stream that arrives in
 * pieces of any size, and makes text of others harmless. */
#include "run/capture.h"

#include <stdint.h>
#include <string.h>

static bool is_blank(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

/* ---- escape sequences ----------------------------------------------------------- */

static cli_escape after_escape(char byte) {
  return byte == '['                 ? CLI_CONTROL
         : strchr("]PX^_", byte)     ? CLI_STRING
         : byte >= ' ' && byte < '0' ? CLI_ESCAPE_LETTER
                                     : CLI_NO_ESCAPE;
}

static cli_escape next_escape(cli_escape where, char byte) {
  switch (where) {
  case CLI_NO_ESCAPE:
    return byte == '\033' ? CLI_ESCAPE : CLI_NO_ESCAPE;
  case CLI_ESCAPE:
    return after_escape(byte);
  case CLI_ESCAPE_LETTER:
    return byte >= ' ' && byte < '0' ? CLI_ESCAPE_LETTER : CLI_NO_ESCAPE;
  case CLI_CONTROL:
    return byte >= ' ' && byte < '@' ? CLI_CONTROL : CLI_NO_ESCAPE;
  case CLI_STRING:
    return byte == '\a' ? CLI_NO_ESCAPE : byte == '\033' ? CLI_STRING_ESCAPE : where;
  case CLI_STRING_ESCAPE:
    return byte == '\\' ? CLI_NO_ESCAPE : after_escape(byte);
  }
  return CLI_NO_ESCAPE;
}

bool cli_escape_step(cli_escape *where, char byte) {
  const bool line_end = byte == '\n' || byte == '\r';
  const cli_escape before = *where;
  *where = line_end                                 ? CLI_NO_ESCAPE
           : byte == '\033' && before != CLI_STRING ? CLI_ESCAPE
           : byte == '\0'                           ? before
                                                    : next_escape(before, byte);
  return !line_end && (before != CLI_NO_ESCAPE || *where != CLI_NO_ESCAPE);
}

/* ---- the last line -------------------------------------------------------------- */

static size_t kept_size(const cli_last_line *line, int which) {
  return line->size[which] < CLI_LINE_SIZE ? line->size[which] : CLI_LINE_SIZE;
}

static bool has_text(const cli_last_line *line, int which) {
  const size_t size = kept_size(line, which);
  for (size_t i = 0; i < size; i++)
    if (!is_blank(line->text[which][i]))
      return true;
  return line->size[which] > size; /* what was dropped counts as text */
}

void cli_last_line_clear(cli_last_line *line) {
  line->size[0] = line->size[1] = 0; /* not the texts: they are large */
  line->escape = CLI_NO_ESCAPE;
}

static void add_to_line(cli_last_line *line, const char *bytes, size_t size) {
  const int which = line->reading;
  const size_t room = CLI_LINE_SIZE - kept_size(line, which);
  memcpy(line->text[which] + kept_size(line, which), bytes, size < room ? size : room);
  /* One byte too many is remembered, not how many: the sum cannot overflow. */
  line->size[which] = size <= room ? line->size[which] + size : CLI_LINE_SIZE + 1;
}

static void end_line(cli_last_line *line) {
  const int which = line->reading;
  if (has_text(line, which)) {
    line->text[which][kept_size(line, which)] = '\0';
    cli_replace_nuls(line->text[which], kept_size(line, which));
    if (line->take)
      line->take(line->user, line->text[which]);
    line->reading = 1 - which;
  }
  line->size[line->reading] = 0;
}

void cli_last_line_finish(cli_last_line *line) {
  end_line(line);
}

/* A return ends a line too: the next text overwrites it, as that of a progress bar. */
static bool is_line_end(char byte) {
  return byte == '\n' || byte == '\r';
}

static size_t count_plain(const char *bytes, size_t size) {
  size_t n = 0;
  while (n < size && !is_line_end(bytes[n]) && bytes[n] != '\033')
    n++;
  return n;
}

void cli_last_line_feed(cli_last_line *line, const char *bytes, size_t size) {
  for (size_t n; size > 0; bytes += n, size -= n) {
    n = line->escape == CLI_NO_ESCAPE ? count_plain(bytes, size) : 0;
    add_to_line(line, bytes, n);
    if (n > 0)
      continue;
    n = 1; /* a line's end, or part of an escape sequence */
    cli_escape_step(&line->escape, *bytes);
    if (is_line_end(*bytes))
      end_line(line);
  }
}

void cli_replace_nuls(char *text, size_t size) {
  for (size_t i = 0; i < size; i++)
    if (text[i] == '\0')
      text[i] = '?';
}

const char *cli_last_line_end(cli_last_line *line, bool *cut) {
  const int which = has_text(line, line->reading) ? line->reading : 1 - line->reading;
  char *text = line->text[which];
  size_t size = kept_size(line, which);
  *cut = line->size[which] > CLI_LINE_SIZE;
  while (size > 0 && is_blank(text[size - 1]))
    size--;
  cli_replace_nuls(text, size);
  text[size] = '\0';
  while (is_blank(*text))
    text++;
  return text;
}

/* ---- the end of a stream -------------------------------------------------------- */

void cli_tail_feed(cli_tail *tail, const char *bytes, size_t size) {
  if (size > CLI_TAIL_SIZE) {
    tail->total += size - CLI_TAIL_SIZE;
    bytes += size - CLI_TAIL_SIZE;
    size = CLI_TAIL_SIZE;
  }
  const size_t at = tail->total % CLI_TAIL_SIZE;
  const size_t first = size < CLI_TAIL_SIZE - at ? size : CLI_TAIL_SIZE - at;
  memcpy(tail->bytes + at, bytes, first);
  memcpy(tail->bytes, bytes + first, size - first);
  tail->total += size;
}

void cli_tail_text(const cli_tail *tail, char *out) {
  if (tail->total <= CLI_TAIL_SIZE) {
    cli_clean_text(tail->bytes, tail->total, out);
    return;
  }
  const size_t at = tail->total % CLI_TAIL_SIZE;
  memcpy(out, tail->bytes + at, CLI_TAIL_SIZE - at);
  memcpy(out + CLI_TAIL_SIZE - at, tail->bytes, at);
  /* It begins anywhere, perhaps inside a character: go on after it. */
  size_t skip = 0;
  while (skip < 3 && ((unsigned char)out[skip] & 0xc0) == 0x80)
    skip++;
  memmove(out, out + skip, CLI_TAIL_SIZE - skip);
  cli_clean_text(out, CLI_TAIL_SIZE - skip, out);
}

/* ---- clean text ----------------------------------------------------------------- */

/* Bytes of the UTF-8 character at the front, 0 if there is none: no surrogates, no
 * overlong forms, nothing past U+10FFFF. */
static size_t utf8_size(const unsigned char *b, size_t size) {
  if (b[0] < 0x80)
    return 1;
  const size_t n = b[0] >= 0xf0 ? 4 : b[0] >= 0xe0 ? 3 : 2;
  if (b[0] < 0xc2 || b[0] > 0xf4 || n > size)
    return 0;
  uint32_t code = b[0] & (0x7fu >> n);
  for (size_t i = 1; i < n; i++) {
    if ((b[i] & 0xc0) != 0x80)
      return 0;
    code = code << 6 | (b[i] & 0x3fu);
  }
  static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  return code >= least[n] && code <= 0x10ffff && !surrogate ? n : 0;
}

/* Bytes of the escape sequence at the front. */
static size_t escape_size(const char *bytes, size_t size) {
  cli_escape where = CLI_NO_ESCAPE;
  size_t n = 0;
  while (n < size && cli_escape_step(&where, bytes[n])) {
    n++;
    if (where == CLI_NO_ESCAPE)
      break;
  }
  return n;
}

static size_t trim(char *text, size_t size) {
  while (size > 0 && is_blank(text[size - 1]))
    size--;
  size_t start = 0;
  while (start < size && is_blank(text[start]))
    start++;
  memmove(text, text + start, size - start);
  return size - start;
}

void cli_clean_text(const char *bytes, size_t size, char *out) {
  const unsigned char *b = (const unsigned char *)bytes;
  size_t written = 0;
  for (size_t i = 0, n; i < size; i += n) {
    n = utf8_size(b + i, size - i);
    if (n > 1) {
      memmove(out + written, b + i, n);
      written += n;
    } else if (n == 0) {
      out[written++] = '?';
      n = 1;
    } else if (b[i] == 0x1b) {
      n = escape_size(bytes + i, size - i);
    } else if (b[i] == '\r') { /* progress bars overwrite their line: one a line */
      if (i + 1 == size || b[i + 1] != '\n')
        out[written++] = '\n';
    } else if ((b[i] >= 0x20 && b[i] != 0x7f) || b[i] == '\t' || b[i] == '\n') {
      out[written++] = (char)b[i];
    }
  }
  out[trim(out, written)] = '\0';
}
