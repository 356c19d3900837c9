/* Questions to a store in words: what cannot be read back is not written, what fails
 * for lack of memory has changed nothing, and every failure says its code. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_tree.h"
#include "base/mem.h"
#include "store/door.h"
#include "store/store.h"

#define SPACE                                                                          \
  "\"space\":[{\"name\":\"x\",\"type\":\"float\",\"low\":0.0,\"high\":1.0},"           \
  "{\"name\":\"c\",\"type\":\"choice\",\"choices\":[\"a\",\"b\"]}]"
#define ID(n) "\"0000000000000000000000000000000" #n "\""
#define CREATED(n) "{\"id\":" ID(n) ",\"kind\":1,\"number\":-1,\"body\":{" SPACE "}}"
#define ASKED(n, number)                                                               \
  "{\"id\":" ID(n) ",\"kind\":3,\"number\":" #number                                   \
                   ",\"body\":{\"cells\":[0.5,1],\"by\":1}}"
#define TOLD(n, number)                                                                \
  "{\"id\":" ID(n) ",\"kind\":4,\"number\":" #number ",\"body\":{\"y\":0.25}}"

static cocabo_store *store;
static cb_json_tree tree;
static char text[4096];
static cocabo_error err; /* what an answer says */

/* Asks, and reads the answer, which is JSON in any case. */
static cocabo_status ask(const char *call, const char *question) {
  char *answer;
  size_t size;
  const cocabo_status status =
      cb_door_answer(store, call, question, strlen(question), &answer, &size);
  text[0] = '\0';
  if (!answer) {
    assert_int_equal(status, COCABO_E_NO_MEMORY);
    return status;
  }
  assert_true(size < sizeof text);
  memcpy(text, answer, size);
  text[size] = '\0';
  cb_free(answer);
  assert_ok(cb_json_read_all(&tree, text, size, &err));
  snprintf(err.message, sizeof err.message, "%s", text);
  assert_int_equal(status != COCABO_OK, cb_json_find(tree.nodes, "error") != NULL);
  assert_int_equal(status != COCABO_OK, cb_json_find(tree.nodes, "code") != NULL);
  return status;
}

static const char *code(void) {
  const char *found = cb_json_text(cb_json_find(tree.nodes, "code"));
  return found ? found : "";
}

static int start(void **state) {
  (void)state;
  store = cocabo_store_new_memory();
  assert_ok(ask("create", "{\"name\":\"s\",\"events\":[" CREATED(1) "]}"));
  assert_string_equal(strstr(text, "\"study\":1") ? "1" : text, "1");
  return 0;
}

static int end(void **state) {
  (void)state;
  cocabo_store_free(store);
  cb_json_tree_free(&tree);
  return 0;
}

static size_t n_events(void) {
  assert_ok(ask("read", "{\"study\":1}"));
  return cb_json_find(tree.nodes, "events")->items;
}

static void events_come_back(void **state) {
  (void)state;
  assert_ok(ask("append", "{\"study\":1,\"next\":0,\"owner\":\"w\",\"seconds\":60.0,"
                          "\"events\":[" ASKED(2, 0) "," TOLD(3, 0) "]}"));
  assert_int_equal(n_events(), 3);
  assert_non_null(strstr(text, "\"body\":{\"y\":0.25}"));
  assert_non_null(strstr(text, "\"cells\":[0.5,1]"));
  assert_ok(ask("read", "{\"study\":1,\"from\":[2," ID(2) "],\"leases\":true}"));
  assert_int_equal(cb_json_find(tree.nodes, "events")->items, 1);
  assert_ok(ask("read", "{\"study\":1,\"most\":2}"));
  assert_non_null(strstr(text, "\"more\":true"));
}

static void a_repeated_append_is_found(void **state) {
  (void)state;
  static const char question[] =
      "{\"study\":1,\"next\":0,\"events\":[" ASKED(2, 0) "]}";
  assert_ok(ask("append", question));
  char first[200];
  strcpy(first, text);
  assert_ok(ask("append", question));
  assert_string_equal(text, first);
  assert_int_equal(n_events(), 2);
}

static void a_repeated_create_is_found_where_it_says_so(void **state) {
  (void)state;
#define AGAIN(n, retried)                                                              \
  ask("create",                                                                        \
      "{\"name\":\"s\",\"retried\":" #retried ",\"events\":[" CREATED(n) "]"           \
                                                                         "}")
  assert_int_equal(AGAIN(1, false), COCABO_E_EXISTS);
  assert_string_equal(code(), "exists");
  assert_int_equal(AGAIN(7, true), COCABO_E_EXISTS); /* somebody else's */
  assert_ok(AGAIN(1, true));
  assert_non_null(strstr(text, "{\"study\":1,\"places\":[[1,"));
}

static void failures_have_codes(void **state) {
  (void)state;
  assert_int_equal(ask("find", "{\"name\":\"t\"}"), COCABO_E_NOT_FOUND);
  assert_string_equal(code(), "not found");
  assert_int_equal(ask("describe", "{\"study\":7}"), COCABO_E_NOT_FOUND);
  assert_int_equal(ask("append", "{\"study\":1,\"events\":[" ASKED(2, 3) "]}"),
                   COCABO_E_BUSY);
  assert_string_equal(code(), "busy");
  assert_int_equal(ask("read", "{\"study\":1,\"from\":[1," ID(9) "]}"), COCABO_E_BUSY);
  assert_int_equal(ask("nope", "{}"), COCABO_E_INVALID);
}

/* What is no question, or would make a log that cannot be read. */
static void nonsense_is_not_written(void **state) {
  (void)state;
  static const char *const appends[] = {
      "",
      "{",
      "[]",
      "{}",
      "null",
      "{\"study\":1}",
      "{\"study\":1,\"events\":[]}",
      "{\"study\":-1,\"events\":[" ASKED(2, 0) "]}",
      "{\"events\":[" ASKED(2, 0) "]}",
      "{\"study\":1,\"events\":[" ASKED(2, 0) "]} x",
      "{\"study\":1,\"events\":[" ASKED(2, 0) "],\"events\":[" ASKED(3, 1) "]}",
      "{\"study\":1,\"events\":[" CREATED(2) "]}", /* a second beginning */
      "{\"study\":1,\"events\":[{\"id\":" ID(
          2) ",\"kind\":4,\"number\":0,\"body\":{}}]}",
      "{\"study\":1,\"events\":[{\"id\":" ID(2) ",\"kind\":4,\"number\":0}]}",
      "{\"study\":1,\"events\":[{\"kind\":4,\"number\":0,\"body\":{\"y\":1.0}}]}",
      "{\"study\":1,\"events\":[{\"id\":\"2\",\"kind\":4,\"number\":0,\"body\":{\"y\":"
      "1}}]}",
      "{\"study\":1,\"events\":[{\"id\":" ID(
          2) ",\"kind\":77,\"number\":0,\"body\":{}}]}",
      "{\"study\":1,\"events\":[{\"id\":" ID(
          2) ",\"kind\":0,\"number\":0,\"body\":{}}]}",
      "{\"study\":1,\"events\":[{\"id\":" ID(
          2) ",\"kind\":4,\"number\":0,\"body\":[1]}]}",
      "{\"study\":1,\"events\":[{\"id\":" ID(2) ",\"kind\":4,\"number\":0,"
                                                "\"body\":{\"y\":1e999}}]}",
      "{\"study\":1,\"events\":[{\"id\":" ID(2) ",\"kind\":4,\"number\":0,"
                                                "\"body\":{\"y\":1.0,\"y\":2.0}}]}",
      "{\"study\":1,\"events\":[{\"id\":" ID(2) ",\"kind\":4,\"number\":0,"
                                                "\"body\":{\"y\":1.0}",
      "{\"study\":1,\"events\":[{\"id\":" ID(2) ",\"kind\":4,\"number\":0,"
                                                "\"body\":{\"y\":\"}\\\"}",
      "{\"study\":1,\"owner\":\"a\\nb\",\"events\":[" ASKED(2, 0) "]}",
      "{\"study\":1,\"owner\":\"w\",\"seconds\":1e300,\"events\":[" ASKED(2, 0) "]}",
      "{\"study\":1,\"seen\":[1],\"events\":[" ASKED(2, 0) "]}",
      "{\"study\":1,\"seen\":[1,\"x\"],\"events\":[" ASKED(2, 0) "]}",
  };
  for (size_t i = 0; i < sizeof appends / sizeof appends[0]; i++) {
    const cocabo_status status = ask("append", appends[i]);
    if (status != COCABO_E_INVALID && status != COCABO_E_RANGE)
      fail_msg("%s: %s", appends[i], text);
  }
  static const char *const creates[] = {
      "{\"name\":\"t\"}",
      "{\"name\":\"t\",\"events\":[]}",
      "{\"name\":\"\",\"events\":[" CREATED(2) "]}",
      "{\"name\":\"a\\u001bb\",\"events\":[" CREATED(2) "]}",
      "{\"events\":[" CREATED(2) "]}",
      "{\"name\":\"t\",\"events\":[" ASKED(2, 0) "]}",
      "{\"name\":\"t\",\"events\":[" CREATED(2) "," CREATED(3) "]}",
      "{\"name\":\"t\",\"events\":[{\"id\":" ID(2) ",\"kind\":1,\"number\":-1,"
                                                   "\"body\":{\"space\":[]}}]}"};
  for (size_t i = 0; i < sizeof creates / sizeof creates[0]; i++)
    if (ask("create", creates[i]) != COCABO_E_INVALID)
      fail_msg("%s: %s", creates[i], text);
  assert_int_equal(ask("summarise", "{\"study\":1,\"summary\":{}}"), COCABO_E_INVALID);
  assert_int_equal(ask("renew", "{\"study\":1}"), COCABO_E_INVALID);
  assert_int_equal(n_events(), 1);
  assert_ok(ask("list", "{}"));
  assert_string_equal(text, "{\"names\":[\"s\"]}");
}

/* Memory fails at each place in turn. */
static void assert_survives(const char *call, const char *question) {
  cocabo_status status = COCABO_E_NO_MEMORY;
  const size_t before = n_events();
  for (long k = 0; status != COCABO_OK; k++) {
    char *answer;
    size_t size;
    cb_mem_fail_after(k);
    status = cb_door_answer(store, call, question, strlen(question), &answer, &size);
    cb_mem_fail_after(-1);
    if (status != COCABO_OK && status != COCABO_E_NO_MEMORY)
      fail_msg("%s without memory %ld: %.*s", call, k, (int)size, answer);
    cb_free(answer);
    if (status != COCABO_OK)
      assert_int_equal(n_events(), before);
  }
}

static void lack_of_memory_changes_nothing(void **state) {
  (void)state;
  assert_survives("append", "{\"study\":1,\"next\":0,\"owner\":\"w\",\"seconds\":9.0,"
                            "\"events\":[" ASKED(2, 0) "," TOLD(3, 0) "]}");
  assert_int_equal(n_events(), 3);
  assert_survives("read", "{\"study\":1,\"leases\":true}");
  assert_survives("create",
                  "{\"name\":\"t\",\"events\":[" CREATED(1) "," ASKED(2, 0) "]}");
  assert_survives("find", "{\"name\":\"t\"}");
  assert_survives("list", "{}");
  assert_survives("leases", "{\"study\":1}");
  assert_survives("describe", "{\"study\":1}");
  assert_survives("renew", "{\"study\":1,\"owner\":\"w\",\"seconds\":9.0}");
  assert_survives("check", "{\"study\":1}");
  assert_survives("remove", "{\"name\":\"t\"}");
}

int main(void) {
#define CLAIM(f) cmocka_unit_test_setup_teardown(f, start, end)
  const struct CMUnitTest tests[] = {
      CLAIM(events_come_back),
      CLAIM(a_repeated_append_is_found),
      CLAIM(a_repeated_create_is_found_where_it_says_so),
      CLAIM(failures_have_codes),
      CLAIM(nonsense_is_not_written),
      CLAIM(lack_of_memory_changes_nothing),
  };
  return cmocka_run_group_tests_name("store/door", tests, NULL, NULL);
}
