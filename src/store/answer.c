/* answer.c - see answer.h. */
#include "store/answer.h"

#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/status.h"

void cb_answer_clear(cb_answer *a) {
  *a = (cb_answer){.bytes = a->bytes, .capacity = a->capacity};
}

void cb_answer_free(cb_answer *a) {
  cb_free(a->bytes);
  *a = (cb_answer){0};
}

cocabo_status cb_answer_reserve(cb_answer *a, size_t more, cocabo_error *err) {
  void *bytes = a->bytes;
  if (!cb_reserve(&bytes, &a->capacity, a->size + more, 1))
    return cb_no_memory(err);
  a->bytes = bytes;
  return COCABO_OK;
}

static cocabo_status refuse(const char *what, cocabo_error *err) {
  return cb_fail(err, COCABO_E_STORE, "what it answers is not HTTP: %s", what);
}

static cocabo_status too_large(cocabo_error *err) {
  return cb_fail(err, COCABO_E_STORE, "its answer is larger than %d MiB",
                 CB_ANSWER_MAX >> 20);
}

/* ---- the head -------------------------------------------------------------------- */

/* A line of the head, without its end. */
typedef struct line {
  const char *text;
  size_t size;
} line;

/* Cuts the next line off; false at the end of the head, and where there is none. */
static bool next_line(const char **at, const char *end, line *out) {
  const char *newline = *at < end ? memchr(*at, '\n', (size_t)(end - *at)) : NULL;
  if (!newline)
    return false;
  out->text = *at;
  out->size = (size_t)(newline - *at);
  if (out->size > 0 && out->text[out->size - 1] == '\r')
    out->size--;
  *at = newline + 1;
  return out->size > 0;
}

/* "HTTP/1.1 200 OK" */
static bool read_status(const line *l, cb_answer *a) {
  static const char version[] = "HTTP/1.";
  const size_t n = sizeof version - 1;
  if (l->size < n + 5 || memcmp(l->text, version, n) != 0 || l->text[n + 1] != ' ')
    return false;
  if (l->text[n] != '0' && l->text[n] != '1')
    return false;
  a->lasts = l->text[n] == '1';
  a->status = 0;
  for (size_t i = n + 2; i < n + 5; i++) {
    if (l->text[i] < '0' || l->text[i] > '9')
      return false;
    a->status = 10 * a->status + (l->text[i] - '0');
  }
  return a->status >= 100 && (l->size == n + 5 || l->text[n + 5] == ' ');
}

/* Is it this header? Then *value is what it says, without blanks around it. */
static bool is_header(const line *l, const char *name, line *value) {
  const size_t n = strlen(name);
  if (l->size <= n || l->text[n] != ':' || strncasecmp(l->text, name, n) != 0)
    return false;
  *value = (line){l->text + n + 1, l->size - n - 1};
  while (value->size > 0 && (*value->text == ' ' || *value->text == '\t')) {
    value->text++;
    value->size--;
  }
  while (value->size > 0 &&
         (value->text[value->size - 1] == ' ' || value->text[value->size - 1] == '\t'))
    value->size--;
  return true;
}

static bool is_word(const line *value, const char *word) {
  return value->size == strlen(word) &&
         strncasecmp(value->text, word, value->size) == 0;
}

static int digit_of(char c, int base) {
  static const char digits[] = "0123456789abcdef";
  const char *found =
      c ? memchr(digits, c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c, (size_t)base) : NULL;
  return found ? (int)(found - digits) : -1;
}

/* Digits and nothing else. What is too large is one more than the largest. */
static bool read_number(const char *text, size_t size, int base, size_t *out) {
  *out = 0;
  for (size_t i = 0; i < size; i++) {
    const int digit = digit_of(text[i], base);
    if (digit < 0)
      return false;
    if (*out <= CB_ANSWER_MAX)
      *out = *out * (size_t)base + (size_t)digit;
  }
  return size > 0;
}

static cocabo_status read_header(const line *l, cb_answer *a, bool *sized,
                                 cocabo_error *err) {
  line value;
  if (is_header(l, "Content-Length", &value)) {
    const size_t before = a->length;
    if (!read_number(value.text, value.size, 10, &a->length) ||
        (*sized && before != a->length))
      return refuse("its length is no number", err);
    *sized = true;
    return a->length > CB_ANSWER_MAX ? too_large(err) : COCABO_OK;
  }
  if (is_header(l, "Transfer-Encoding", &value)) {
    if (!is_word(&value, "chunked") || a->chunked)
      return refuse("its encoding is another one", err);
    a->chunked = true;
  } else if (is_header(l, "Content-Encoding", &value)) {
    if (!is_word(&value, "identity"))
      return refuse("its content is compressed", err);
  } else if (is_header(l, "Connection", &value)) {
    a->lasts = a->lasts && !is_word(&value, "close");
  }
  return COCABO_OK;
}

static cocabo_status read_head(cb_answer *a, cocabo_error *err) {
  const char *at = a->bytes, *end = a->bytes + a->head;
  bool sized = false;
  line l;
  if (!next_line(&at, end, &l) || !read_status(&l, a))
    return refuse("its first line is another one", err);
  a->chunked = false;
  a->length = 0;
  while (next_line(&at, end, &l))
    CB_TRY(read_header(&l, a, &sized, err));
  if (a->chunked && sized)
    return refuse("it has two lengths", err);
  if (a->status == 204 || a->status == 304 || a->status < 200)
    a->chunked = false, a->length = 0;
  else if (!a->chunked && !sized)
    return refuse("it has no length", err);
  a->at = a->head;
  return COCABO_OK;
}

/* The place behind the empty line; 0: it has not come. */
static size_t find_head(const cb_answer *a) {
  for (size_t i = 0; i + 1 < a->size; i++) {
    if (a->bytes[i] != '\n')
      continue;
    if (a->bytes[i + 1] == '\n')
      return i + 2;
    if (i + 2 < a->size && a->bytes[i + 1] == '\r' && a->bytes[i + 2] == '\n')
      return i + 3;
  }
  return 0;
}

/* What goes before the answer, as 100 Continue, is passed over. */
static cocabo_status look_at_head(cb_answer *a, cocabo_error *err) {
  for (;;) {
    a->head = find_head(a);
    if (a->head > CB_ANSWER_HEAD || (a->head == 0 && a->size > CB_ANSWER_HEAD))
      return refuse("its head is too long", err);
    if (a->head == 0)
      return a->size > 0 && a->bytes[0] != 'H'
                 ? refuse("its first line is another one", err)
                 : COCABO_OK;
    CB_TRY(read_head(a, err));
    if (a->status >= 200)
      return COCABO_OK;
    if (a->status == 101)
      return refuse("it wants another protocol", err);
    a->size -= a->head;
    memmove(a->bytes, a->bytes + a->head, a->size);
    a->head = 0;
  }
}

/* ---- chunks ---------------------------------------------------------------------- */

enum { CHUNK_LINE = 256 };

/* The line that begins at `at`, as far as its end has come. */
static cocabo_status chunk_line(const cb_answer *a, line *out, size_t *past,
                                cocabo_error *err) {
  const char *at = a->bytes + a->at;
  const size_t left = a->size - a->at;
  const char *newline = left > 0 ? memchr(at, '\n', left) : NULL;
  *past = 0;
  if ((newline ? (size_t)(newline - at) : left) > CHUNK_LINE)
    return refuse("a line of it is too long", err);
  if (!newline)
    return COCABO_OK;
  *out = (line){at, (size_t)(newline - at)};
  if (out->size > 0 && at[out->size - 1] == '\r')
    out->size--;
  *past = (size_t)(newline - a->bytes) + 1;
  return out->size > CHUNK_LINE ? refuse("a line of it is too long", err) : COCABO_OK;
}

/* Behind the last chunk there may be headers, up to an empty line. */
static cocabo_status end_chunks(cb_answer *a, size_t from, cocabo_error *err) {
  const size_t begin = a->at;
  line l;
  size_t past;
  a->at = from;
  do {
    const cocabo_status status = chunk_line(a, &l, &past, err);
    if (status != COCABO_OK || past == 0) {
      a->at = begin;
      return status;
    }
    if (past - from > CB_ANSWER_HEAD)
      return refuse("its head is too long", err);
    a->at = past;
  } while (l.size > 0);
  a->done = true;
  return COCABO_OK;
}

/* "1a2b;whatever", the bytes, an end of line. */
static cocabo_status look_at_chunks(cb_answer *a, cocabo_error *err) {
  while (!a->done) {
    line l;
    size_t past, n;
    CB_TRY(chunk_line(a, &l, &past, err));
    if (past == 0)
      return COCABO_OK;
    const char *semicolon = memchr(l.text, ';', l.size);
    size_t digits = semicolon ? (size_t)(semicolon - l.text) : l.size;
    while (digits > 0 && l.text[digits - 1] == ' ')
      digits--;
    if (!read_number(l.text, digits, 16, &n))
      return refuse("the length of a part is no number", err);
    if (n > CB_ANSWER_MAX || a->content + n > CB_ANSWER_MAX)
      return too_large(err);
    if (n == 0) {
      const size_t before = a->at;
      CB_TRY(end_chunks(a, past, err));
      if (a->at == before)
        return COCABO_OK;
      continue;
    }
    if (a->size - past < n + 2)
      return COCABO_OK;
    const char *tail = a->bytes + past + n;
    if (tail[0] != '\r' || tail[1] != '\n')
      return refuse("a part is longer than it says", err);
    memmove(a->bytes + a->head + a->content, a->bytes + past, n);
    a->content += n;
    a->at = past + n + 2;
  }
  return COCABO_OK;
}

/* ---- all of it ------------------------------------------------------------------- */

cocabo_status cb_answer_look(cb_answer *a, cocabo_error *err) {
  if (a->head == 0)
    CB_TRY(look_at_head(a, err));
  if (a->head == 0 || a->done)
    return COCABO_OK;
  if (a->chunked)
    CB_TRY(look_at_chunks(a, err));
  else if (a->size - a->head >= a->length) {
    a->content = a->length;
    a->at = a->head + a->length;
    a->done = true;
  }
  if (a->done && a->at < a->size)
    a->lasts = false; /* it says more than it was asked */
  return a->size > CB_ANSWER_MAX + 2 * CB_ANSWER_HEAD && !a->done ? too_large(err)
                                                                  : COCABO_OK;
}
