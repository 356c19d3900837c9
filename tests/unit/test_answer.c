/* What a server answers, as it comes: whole, in drops, and wrong. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/answer.h"

static cocabo_error err;

/* Feeds the text in pieces of so many bytes. */
static cocabo_status feed(cb_answer *a, const char *text, size_t size, size_t piece) {
  cocabo_status status = COCABO_OK;
  cb_answer_clear(a);
  for (size_t at = 0; at < size && status == COCABO_OK && !a->done;) {
    const size_t n = size - at < piece ? size - at : piece;
    assert_ok(cb_answer_reserve(a, n, &err));
    memcpy(a->bytes + a->size, text + at, n);
    a->size += n;
    at += n;
    status = cb_answer_look(a, &err);
  }
  return status;
}

static void assert_answer(const char *text, int status, const char *content,
                          bool lasts) {
  cb_answer a = {0};
  for (size_t piece = 1; piece < strlen(text) + 2; piece += piece < 4 ? 1 : 7) {
    if (feed(&a, text, strlen(text), piece) != COCABO_OK)
      fail_msg("%s: %s", text, err.message);
    assert_true(a.done);
    assert_int_equal(a.status, status);
    assert_int_equal(a.content, strlen(content));
    assert_memory_equal(cb_answer_content(&a), content, strlen(content));
    assert_int_equal(a.lasts, lasts);
  }
  cb_answer_free(&a);
}

static void an_answer_is_read_in_any_pieces(void **state) {
  (void)state;
  assert_answer("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", 200, "{}", true);
  assert_answer("HTTP/1.1 404\ncontent-length:0\n\n", 404, "", true);
  assert_answer("HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx", 200, "x", false);
  assert_answer(
      "HTTP/1.1 503 No\r\nConnection: close\r\nContent-Length: \t3 \r\n\r\na\nb", 503,
      "a\nb", false);
  assert_answer("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nLink: x\r\n\r\n"
                "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]",
                200, "[]", true);
  assert_answer("HTTP/1.1 204 None\r\n\r\n", 204, "", true);
}

static void chunks_are_put_together(void **state) {
  (void)state;
#define CHUNKED "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
  assert_answer(CHUNKED "0\r\n\r\n", 200, "", true);
  assert_answer(CHUNKED "3\r\nabc\r\n0\r\n\r\n", 200, "abc", true);
  assert_answer(CHUNKED "3;a=b\r\nabc\r\n0A \r\n0123456789\r\n000\r\nX: y\r\n\r\n", 200,
                "abc0123456789", true);
  assert_answer(CHUNKED "2\r\n\r\n\r\n1\r\n0\r\n0\r\n\r\n", 200, "\r\n0", true);
}

static void assert_refused(const char *text, const char *word) {
  cb_answer a = {0};
  for (size_t piece = 1; piece < strlen(text) + 2; piece += 5) {
    assert_int_equal(feed(&a, text, strlen(text), piece), COCABO_E_STORE);
    assert_non_null(strstr(err.message, word));
  }
  cb_answer_free(&a);
}

static void what_is_no_answer_is_refused(void **state) {
  (void)state;
  assert_refused("SSH-2.0-OpenSSH\r\n", "first line");
  assert_refused("\r\n\r\n", "first line");
  assert_refused("HTTP/2 200\r\n\r\n", "first line");
  assert_refused("HTTP/1.1 20x OK\r\n\r\n", "first line");
  assert_refused("HTTP/1.1 099 OK\r\n\r\n", "first line");
  assert_refused("HTTP/1.1 2000\r\n\r\n", "first line");
  assert_refused("HTTP/1.1 200 OK\r\n\r\n", "no length");
  assert_refused("HTTP/1.1 101 Other\r\n\r\n", "another protocol");
  assert_refused("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "no number");
  assert_refused("HTTP/1.1 200 OK\r\nContent-Length: 1,1\r\n\r\n", "no number");
  assert_refused("HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n", "no number");
  assert_refused("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
                 "no number");
  assert_refused("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
                 "larger");
  assert_refused("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
                 "encoding");
  assert_refused(
      "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 1\r\n\r\n",
      "compressed");
  assert_refused("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked"
                 "\r\n\r\n",
                 "two lengths");
  assert_refused(CHUNKED "g\r\n", "no number");
  assert_refused(CHUNKED "\r\n\r\n", "no number");
  assert_refused(CHUNKED "ffffffffffffffffff\r\n", "larger");
  assert_refused(CHUNKED "1\r\nab\r\n", "longer than it says");
}

static void what_never_ends_is_refused(void **state) {
  (void)state;
  enum { MANY = CB_ANSWER_HEAD + 100 };
  static const char first[] = "HTTP/1.1 200 OK\r\nX: ";
  char *text = malloc(MANY + 1);
  memset(text, 'a', MANY);
  text[MANY] = '\0';
  memcpy(text, first, strlen(first));
  cb_answer a = {0};
  assert_int_equal(feed(&a, text, MANY, 1000), COCABO_E_STORE);
  assert_non_null(strstr(err.message, "head is too long"));
  memset(text, '1', MANY);
  memcpy(text, CHUNKED, strlen(CHUNKED));
  assert_int_equal(feed(&a, text, MANY, 1000), COCABO_E_STORE);
  assert_non_null(strstr(err.message, "line of it is too long"));
  free(text);
  cb_answer_free(&a);
}

static void what_is_too_much_ends_the_line(void **state) {
  (void)state;
  cb_answer a = {0};
  static const char text[] = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nabc";
  assert_ok(feed(&a, text, strlen(text), 100));
  assert_true(a.done && !a.lasts);
  assert_int_equal(a.content, 1);
  cb_answer_free(&a);
}

static void room_may_fail(void **state) {
  (void)state;
  cb_answer a = {0};
  cb_mem_fail_after(0);
  assert_int_equal(cb_answer_reserve(&a, 10, &err), COCABO_E_NO_MEMORY);
  cb_mem_fail_after(-1);
  assert_null(a.bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_answer_is_read_in_any_pieces),
      cmocka_unit_test(chunks_are_put_together),
      cmocka_unit_test(what_is_no_answer_is_refused),
      cmocka_unit_test(what_never_ends_is_refused),
      cmocka_unit_test(what_is_too_much_ends_the_line),
      cmocka_unit_test(room_may_fail),
  };
  return cmocka_run_group_tests_name("store/answer", tests, NULL, NULL);
}
