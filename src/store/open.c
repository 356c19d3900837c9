/* open.c - a store by its URL. URLs are spelt as SQLAlchemy does, because that is what
 * users of other tools have at hand; the driver in sqlite+pysqlite:/// means nothing
 * here. What may hold a password is not quoted in sentences. */
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/status.h"
#include "base/text.h"
#include "cocabo_store.h"
#include "store/http.h"
#ifdef COCABO_POSTGRES
#include "store/postgres.h"
#endif
#ifdef COCABO_SQLITE
#include "store/sqlite.h"
#endif

/* Length of the scheme, 0 if the URL is a bare path: letters, digits and +-. up to ://,
 * or up to : where the scheme is one of ours. */
static size_t scheme_length(const char *url) {
  const size_t n = strspn(url, "abcdefghijklmnopqrstuvwxyz"
                               "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.");
  if (n == 0 || url[n] != ':')
    return 0;
  if (strncmp(url + n, "://", 3) == 0)
    return n;
  const size_t name = strcspn(url, "+:");
  const bool ours = (name == 6 && strncasecmp(url, "sqlite", 6) == 0) ||
                    (name == 6 && strncasecmp(url, "memory", 6) == 0) ||
                    (name == 8 && strncasecmp(url, "postgres", 8) == 0) ||
                    (name == 10 && strncasecmp(url, "postgresql", 10) == 0);
  return ours ? n : 0;
}

/* Is it this scheme, with or without a driver? */
static bool is_scheme(const char *url, size_t length, const char *name) {
  const size_t n = strlen(name);
  return length >= n && strncasecmp(url, name, n) == 0 &&
         (length == n || url[n] == '+');
}

static int hex_digit(char c) {
  static const char digits[] = "0123456789abcdef";
  const char *found =
      c ? strchr(digits, c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c) : NULL;
  return found ? (int)(found - digits) : -1;
}

/* %41 -> A, in place. False if a % is not followed by two digits, or means NUL. */
static bool decode_percents(char *text) {
  char *to = text;
  for (const char *from = text; *from; to++) {
    if (*from != '%') {
      *to = *from++;
      continue;
    }
    const int high = hex_digit(from[1]);
    const int low = high < 0 ? -1 : hex_digit(from[2]);
    if (low < 0 || high + low == 0)
      return false;
    *to = (char)(high * 16 + low);
    from += 3;
  }
  *to = '\0';
  return true;
}

static cocabo_status open_memory(cocabo_store **out, cocabo_error *err) {
  *out = cocabo_store_new_memory();
  return *out ? COCABO_OK : cb_no_memory(err);
}

static bool means_memory(const char *path) {
  return strcmp(path, ":memory:") == 0;
}

/* How to open it. */
typedef struct manner {
  unsigned flags;
  cocabo_wait_fn wait;
  void *user;
} manner;

static cocabo_status open_path(cocabo_store **out, const char *path, const manner *how,
                               cocabo_error *err) {
  if (!*path)
    return cb_fail(err, COCABO_E_INVALID, "the path of the store is empty");
  if (means_memory(path))
    return open_memory(out, err);
#ifdef COCABO_SQLITE
  const cb_patience patience = {.seconds = 30.0, .wait = how->wait, .user = how->user};
  return cb_sqlite_open(out, path, how->flags, patience, err);
#else
  (void)how;
  char shown[CB_SHOWN];
  return cb_fail(err, COCABO_E_INVALID,
                 "\"%s\" is a SQLite file and this build of cocabo has no SQLite, want "
                 "memory:",
                 cb_text_show(shown, path));
#endif
}

/* rest follows "sqlite:", and should be ///PATH. */
static cocabo_status open_sqlite(cocabo_store **out, const char *rest,
                                 const manner *how, cocabo_error *err) {
  char shown[CB_SHOWN];
  if (strcmp(rest, "//") == 0)
    return open_memory(out, err);
  if (strncmp(rest, "///", 3) != 0)
    return cb_fail(err, COCABO_E_INVALID,
                   "\"sqlite:%s\" has no path after three slashes, want "
                   "sqlite:///study.db or sqlite:////folder/study.db",
                   cb_text_show(shown, rest));
  if (strchr(rest, '?'))
    return cb_fail(err, COCABO_E_INVALID,
                   "\"sqlite:%s\" has settings after a ?, want none (and %%3F for a ? "
                   "in a name)",
                   cb_text_show(shown, rest));
  char *path = cb_strdup(rest + 3);
  if (!path)
    return cb_no_memory(err);
  const cocabo_status status =
      decode_percents(path)
          ? open_path(out, path, how, err)
          : cb_fail(err, COCABO_E_INVALID,
                    "\"sqlite:%s\" has a %% that is not followed by two hexadecimal "
                    "digits of a character",
                    cb_text_show(shown, rest));
  cb_free(path);
  return status;
}

/* rest follows the scheme and its driver, "://user@host/database": libpq reads it. */
static cocabo_status open_postgres(cocabo_store **out, const char *rest,
                                   const manner *how, cocabo_error *err) {
#ifdef COCABO_POSTGRES
  static const char scheme[] = "postgresql";
  const cb_patience patience = {.seconds = 30.0, .wait = how->wait, .user = how->user};
  char *url = cb_calloc(sizeof scheme + strlen(rest), 1);
  if (!url)
    return cb_no_memory(err);
  strcpy(url, scheme);
  strcat(url, rest);
  const cocabo_status status = cb_postgres_open(out, url, how->flags, patience, err);
  cb_free(url);
  return status;
#else
  (void)out, (void)rest, (void)how;
  return cb_fail(err, COCABO_E_INVALID,
                 "this build of cocabo has no PostgreSQL, want sqlite:///PATH");
#endif
}

static cocabo_status open_http(cocabo_store **out, const char *url, const manner *how,
                               cocabo_error *err) {
  const cb_patience patience = {.seconds = 30.0, .wait = how->wait, .user = how->user};
  return cb_http_open(out, url, how->flags, patience, err);
}

/* What lies behind it is not encrypted here: ssh does that. */
static cocabo_status refuse_https(cocabo_error *err) {
  return cb_fail(err, COCABO_E_INVALID,
                 "https:// is not spoken here, want http://localhost:8080 behind "
                 "ssh -L 8080:localhost:8080 HOST");
}

static cocabo_status open_url(cocabo_store **out, const char *url, const manner *how,
                              cocabo_error *err) {
  const size_t n = scheme_length(url);
  if (n == 0)
    return open_path(out, url, how, err);
  if (is_scheme(url, n, "sqlite"))
    return open_sqlite(out, url + n + 1, how, err);
  if (is_scheme(url, n, "memory"))
    return open_memory(out, err);
  if (is_scheme(url, n, "postgresql") || is_scheme(url, n, "postgres"))
    return open_postgres(out, url + n, how, err);
  if (n == 4 && is_scheme(url, n, "http"))
    return open_http(out, url, how, err);
  if (n == 5 && is_scheme(url, n, "https"))
    return refuse_https(err);
  return cb_fail(err, COCABO_E_INVALID,
                 "\"%.*s\" is not a kind of store, want sqlite:///PATH, "
                 "postgresql://HOST/DATABASE, http://HOST:PORT, memory: or the path of "
                 "a file",
                 (int)(n < 40 ? n : 40), url);
}

cocabo_status cocabo_store_open_waiting(cocabo_store **out, const char *url,
                                        unsigned flags, cocabo_wait_fn wait, void *user,
                                        cocabo_error *err) {
  const unsigned both = COCABO_STORE_CREATE | COCABO_STORE_READ_ONLY;
  if (!out)
    return cb_fail(err, COCABO_E_INVALID, "out is NULL");
  *out = NULL;
  if (!url)
    return cb_fail(err, COCABO_E_INVALID, "url is NULL");
  if ((flags & ~both) != 0 || flags == both)
    return cb_fail(
        err, COCABO_E_INVALID,
        "flags are %u, want COCABO_STORE_CREATE, COCABO_STORE_READ_ONLY or 0", flags);
  const manner how = {.flags = flags, .wait = wait, .user = user};
  return open_url(out, url, &how, err);
}

cocabo_status cocabo_store_open(cocabo_store **out, const char *url, unsigned flags,
                                cocabo_error *err) {
  return cocabo_store_open_waiting(out, url, flags, NULL, NULL, err);
}
