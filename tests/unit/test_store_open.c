/* Stores by URL: which file is meant, and what is said where none is. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cocabo_store.h"

static cocabo_error err;
static char folder[] = "/tmp/cocabo-open-XXXXXX"; /* also the working directory */

static int enter_folder(void **state) {
  (void)state;
  return !mkdtemp(folder) || chdir(folder) != 0;
}

static int leave_folder(void **state) {
  (void)state;
  return chdir("/") != 0 || rmdir(folder) != 0; /* every test cleans up */
}

/* Opens the URL, and demands that this file has come into being. */
static void assert_makes(const char *url, const char *file) {
  cocabo_store *store = NULL;
  assert_int_not_equal(access(file, F_OK), 0);
  assert_ok(cocabo_store_open(&store, url, COCABO_STORE_CREATE, &err));
  cocabo_store_free(store);
  assert_int_equal(unlink(file), 0);
}

static void a_url_names_a_file(void **state) {
  (void)state;
  static const char *const cases[][2] = {
      {"sqlite:///a.db", "a.db"},
      {"sqlite:///./a.db", "a.db"},
      {"sqlite+pysqlite:///a.db", "a.db"},
      {"SQLite:///a.db", "a.db"},
      {"sqlite:///a%20b%25%3F.db", "a b%?.db"},
      {"sqlite:///%ce%BB.db", "\xce\xbb.db"},
      {"a.db", "a.db"},
      {"./a.db", "a.db"},
      {"a%20b?.db", "a%20b?.db"}, /* a path is not decoded */
      {"file:a.db", "file:a.db"}, /* nor a URI of SQLite's */
      {"a:b.db", "a:b.db"},
      {"memory", "memory"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    assert_makes(cases[i][0], cases[i][1]);

  char url[128], path[100];
  snprintf(path, sizeof path, "%s/b.db", folder);
  snprintf(url, sizeof url, "sqlite:///%s", path);
  assert_makes(url, path);
  assert_makes(path, path);
}

static void memory_needs_no_file(void **state) {
  (void)state;
  static const char *const urls[] = {"memory:", "memory://", "sqlite://",
                                     "sqlite:///:memory:", ":memory:"};
  for (size_t i = 0; i < sizeof urls / sizeof urls[0]; i++) {
    cocabo_store *store = NULL;
    assert_ok(cocabo_store_open(&store, urls[i], 0, &err));
    assert_non_null(store);
    cocabo_store_free(store);
  }
}

static void other_urls_get_a_sentence(void **state) {
  (void)state;
  static const struct {
    const char *url;
    cocabo_status status;
    const char *sentence;
  } cases[] = {
      {"", COCABO_E_INVALID, "the path of the store is empty"},
      {"sqlite:///", COCABO_E_INVALID, "the path of the store is empty"},
      {"sqlite:a.db", COCABO_E_INVALID,
       "\"sqlite:a.db\" has no path after three slashes, want sqlite:///study.db or "
       "sqlite:////folder/study.db"},
      {"sqlite://host/a.db", COCABO_E_INVALID,
       "\"sqlite://host/a.db\" has no path after three slashes, want "
       "sqlite:///study.db or sqlite:////folder/study.db"},
      {"sqlite:///a.db?timeout=9", COCABO_E_INVALID,
       "\"sqlite:///a.db?timeout=9\" has settings after a ?, want none (and %3F for a "
       "? in a name)"},
      {"sqlite:///a%2.db", COCABO_E_INVALID,
       "\"sqlite:///a%2.db\" has a % that is not followed by two hexadecimal digits of "
       "a character"},
      {"sqlite:///a%00.db", COCABO_E_INVALID,
       "\"sqlite:///a%00.db\" has a % that is not followed by two hexadecimal digits "
       "of a character"},
      {"mysql+pymysql://me:secret@host/db", COCABO_E_INVALID,
       "\"mysql+pymysql\" is not a kind of store, want sqlite:///PATH, "
       "postgresql://HOST/DATABASE, http://HOST:PORT, memory: or the path of a file"},
      {"sqlite3:///a.db", COCABO_E_INVALID,
       "\"sqlite3\" is not a kind of store, want sqlite:///PATH, "
       "postgresql://HOST/DATABASE, http://HOST:PORT, memory: or the path of a file"},
      {"https://host:8080", COCABO_E_INVALID,
       "https:// is not spoken here, want http://localhost:8080 behind ssh -L "
       "8080:localhost:8080 HOST"},
      {"http://me:secret@host", COCABO_E_INVALID,
       "the URL of the server has a user or a password, want http://host:8080, and the "
       "token in COCABO_TOKEN"},
      {"http://host:8080/store?token=secret", COCABO_E_INVALID,
       "the URL of the server has something behind its host and port, want "
       "http://host:8080"},
      {"http://127.0.0.1:1", COCABO_E_STORE,
       "cannot open http://127.0.0.1:1: Connection refused; want a cocabo serve "
       "--allow-store that runs there"},
      {"a.db", COCABO_E_NOT_FOUND, "there is no file \"a.db\""},
      {"sqlite:///b/c.db", COCABO_E_NOT_FOUND, "there is no file \"b/c.db\""},
      {".", COCABO_E_STORE, "\".\" is a folder, want a file"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    cocabo_store *store = (cocabo_store *)&err;
    assert_fails(cocabo_store_open(&store, cases[i].url, 0, &err), cases[i].status,
                 cases[i].sentence);
    assert_null(store);
  }
}

static void arguments_are_checked(void **state) {
  (void)state;
  cocabo_store *store = NULL;
  assert_fails(cocabo_store_open(NULL, "a.db", 0, &err), COCABO_E_INVALID,
               "out is NULL");
  assert_fails(cocabo_store_open(&store, NULL, 0, &err), COCABO_E_INVALID,
               "url is NULL");
  assert_fails(cocabo_store_open(&store, "a.db", 4, &err), COCABO_E_INVALID,
               "flags are 4, want COCABO_STORE_CREATE, COCABO_STORE_READ_ONLY or 0");
  assert_fails(cocabo_store_open(&store, "a.db", 3, &err), COCABO_E_INVALID,
               "flags are 3, want COCABO_STORE_CREATE, COCABO_STORE_READ_ONLY or 0");
  assert_int_equal(cocabo_store_open(&store, "a.db", 0, NULL), COCABO_E_NOT_FOUND);
}

/* Whether or not PostgreSQL is in this build, and whatever libpq makes of the URL. */
static void a_password_is_never_quoted(void **state) {
  static const char *const urls[] = {
      "postgresql://me:secret@127.0.0.1:1/db",
      "postgresql+psycopg2://me:secret@127.0.0.1:1/db",
      "postgres://me:secret@127.0.0.1:1/db",
      "postgresql://me:secret@[127.0.0.1/db",
      "postgresql://me:secret@127.0.0.1:99999999/db",
      "postgresql://127.0.0.1:1/db?password=secret&colour=red"};
  (void)state;
  for (size_t i = 0; i < sizeof urls / sizeof urls[0]; i++) {
    cocabo_store *store = NULL;
    assert_int_not_equal(cocabo_store_open(&store, urls[i], COCABO_STORE_CREATE, &err),
                         COCABO_OK);
    assert_null(store);
    assert_non_null(strstr(err.message, "PostgreSQL"));
    assert_null(strstr(err.message, "secret"));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_url_names_a_file),
      cmocka_unit_test(memory_needs_no_file),
      cmocka_unit_test(other_urls_get_a_sentence),
      cmocka_unit_test(arguments_are_checked),
      cmocka_unit_test(a_password_is_never_quoted),
  };
  return cmocka_run_group_tests_name("store/open", tests, enter_folder, leave_folder);
}
