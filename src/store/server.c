/* server.c - a connection to a PostgreSQL server.
 *
 * Statements are sent and then waited for in short steps, so that the caller can be
 * asked whether to go on. What was sent and not answered has an unknown outcome: the
 * statement is run again on the next connection. The kernel's own timeouts end a
 * connection whose other end is gone.
 */
#include "store/server.h"

#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/status.h"
#include "base/text.h"
#include "store/clock.h"

/* ---- libpq ----------------------------------------------------------------------- */

#define FUNCTIONS(X)                                                                   \
  X(PQconnectStartParams)                                                              \
  X(PQconnectPoll)                                                                     \
  X(PQconninfoParse)                                                                   \
  X(PQconninfoFree)                                                                    \
  X(PQfreemem)                                                                         \
  X(PQfinish)                                                                          \
  X(PQstatus)                                                                          \
  X(PQerrorMessage)                                                                    \
  X(PQsocket)                                                                          \
  X(PQhost)                                                                            \
  X(PQport)                                                                            \
  X(PQdb)                                                                              \
  X(PQuser)                                                                            \
  X(PQsendQuery)                                                                       \
  X(PQsendQueryParams)                                                                 \
  X(PQflush)                                                                           \
  X(PQsetnonblocking)                                                                  \
  X(PQsetNoticeProcessor)                                                              \
  X(PQconsumeInput)                                                                    \
  X(PQisBusy)                                                                          \
  X(PQgetResult)                                                                       \
  X(PQresultStatus)                                                                    \
  X(PQresultErrorField)                                                                \
  X(PQresultErrorMessage)                                                              \
  X(PQntuples)                                                                         \
  X(PQgetisnull)                                                                       \
  X(PQgetvalue)                                                                        \
  X(PQgetlength)                                                                       \
  X(PQclear)

/* Of libpq 14 and later. */
#define NEWER_FUNCTIONS(X)                                                             \
  X(PQenterPipelineMode)                                                               \
  X(PQexitPipelineMode)                                                                \
  X(PQpipelineSync)

static struct {
#define MEMBER(name) __typeof__(&(name)) name; // NOLINT(bugprone-macro-parentheses)
  FUNCTIONS(MEMBER)
  NEWER_FUNCTIONS(MEMBER)
#undef MEMBER
} pq;

static pthread_once_t loaded = PTHREAD_ONCE_INIT;
static char why_not_loaded[120];

static void *find_function(void *library, const char *name, bool needed) {
  void *function = dlsym(library, name);
  if (!function && needed && !why_not_loaded[0])
    snprintf(why_not_loaded, sizeof why_not_loaded, "it has no %s", name);
  return function;
}

/* It stays loaded: connections may be open until the process ends. */
static void load(void) {
  void *library = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *reason = dlerror();
    snprintf(why_not_loaded, sizeof why_not_loaded, "%.100s",
             reason ? reason : "it cannot be loaded");
    return;
  }
#define FIND_IT(name, needed)                                                          \
  {                                                                                    \
    void *found = find_function(library, #name, needed);                               \
    memcpy(&pq.name, &found, sizeof found);                                            \
  }
#define FIND(name) FIND_IT(name, true)
#define FIND_NEWER(name) FIND_IT(name, false)
  FUNCTIONS(FIND)
  NEWER_FUNCTIONS(FIND_NEWER)
#undef FIND_IT
#undef FIND_NEWER
#undef FIND
}

static cocabo_status need_library(cocabo_error *err) {
  pthread_once(&loaded, load);
  if (!why_not_loaded[0])
    return COCABO_OK;
  return cb_fail(
      err, COCABO_E_STORE,
      "PostgreSQL needs libpq, which cannot be used: %s; install it (libpq5)",
      why_not_loaded);
}

/* ---- sentences ------------------------------------------------------------------- */

enum { SAID = 200 };

/* Control characters and stray bytes become '?'. */
static void make_plain(char *text) {
  size_t size;
  for (; *text; text += size) {
    const unsigned character = cb_text_decode(text, &size);
    const bool stray = character == CB_TEXT_STRAY && size == 1;
    if (stray || cb_text_is_control(character))
      memset(text, '?', size);
  }
}

/* What libpq says of a connection, as one line: the last that says something, without
 * the address and the severity in front of it. */
static const char *clean(const char *message, char out[static SAID]) {
  static const char *const fronts[] = {" failed: ", "FATAL:  ", "ERROR:  ", "PANIC:  "};
  const char *text = message ? message : "";
  size_t length = strcspn(text, "\n");
  for (const char *next = text + length; *next; next += strcspn(next, "\n")) {
    next++;
    if (strcspn(next, "\n") > 0 && *next != '\t' && *next != ' ' &&
        strncmp(next, "DETAIL:", 7) != 0 && strncmp(next, "HINT:", 5) != 0) {
      text = next;
      length = strcspn(next, "\n");
    }
  }
  snprintf(out, SAID, "%.*s", (int)(length < SAID ? length : SAID - 1), text);
  for (size_t i = 0; i < sizeof fronts / sizeof fronts[0]; i++) {
    char *found = strstr(out, fronts[i]);
    if (found)
      memmove(out, found + strlen(fronts[i]), strlen(found + strlen(fronts[i])) + 1);
  }
  if (!*out)
    strcpy(out, "it did not say why");
  make_plain(out);
  return out;
}

static bool has(const char *text, const char *part) {
  return text && strstr(text, part) != NULL;
}

static const char *connecting_hint(const char *message) {
  if (has(message, "password"))
    return "want the right password in the URL, PGPASSWORD or ~/.pgpass";
  if (has(message, "role") && has(message, "does not exist"))
    return "want a role that the server has: user@ in the URL";
  if (has(message, "database") && has(message, "does not exist"))
    return "make it with createdb, or name another one";
  if (has(message, "onnection refused"))
    return "want a server that runs there";
  if (has(message, "too many clients") || has(message, "connection slots"))
    return "raise its max_connections, or put a pooler in front of it";
  return "look at the URL and at the server";
}

static cocabo_status fail_connecting(const cb_server *s, const char *message,
                                     cocabo_error *err) {
  char said[SAID];
  return cb_fail(err, COCABO_E_STORE, "cannot connect to PostgreSQL at %s: %s; %s",
                 s->where, clean(message, said), connecting_hint(message));
}

static bool is_state(const char *state, const char *want) {
  return state && strncmp(state, want, strlen(want)) == 0;
}

static cocabo_status fail_statement(const cb_server *s, const PGresult *result,
                                    cocabo_error *err) {
  const char *state = pq.PQresultErrorField(result, PG_DIAG_SQLSTATE);
  const char *said = pq.PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
  char line[SAID];
  const char *hint = "look at the server's log";
  if (is_state(state, "53200") && !pq.PQresultErrorMessage(result)[0])
    return cb_no_memory(err);
  if (is_state(state, "25006"))
    return cb_fail(err, COCABO_E_STORE,
                   "cannot %s PostgreSQL at %s: it is a read-only replica, or made "
                   "read-only; want the primary server",
                   s->what, s->where);
  if (is_state(state, "53100") || is_state(state, "58030"))
    hint = "make room on its disk, then try again";
  if (is_state(state, "42501"))
    hint = "grant it to the role (docs/parallel.md says what is needed)";
  return cb_fail(err, COCABO_E_STORE, "cannot %s PostgreSQL at %s: %s; %s", s->what,
                 s->where, clean(said ? said : pq.PQresultErrorMessage(result), line),
                 hint);
}

/* ---- waiting --------------------------------------------------------------------- */

static const double hurried =
    3.0;                        /* seconds at most where it is done beside other work */
static const double step = 0.1; /* seconds between two questions whether to go on */

static bool is_interrupted(const cb_server *s) {
  return s->interrupt && s->interrupt(s->user);
}

/* A statement is under way since then: is it still wanted? What becomes of one that is
 * given up nobody knows, so that it is not for its slowness. */
static bool is_unwanted(cb_server *s, double since) {
  const cocabo_waiting how = {0};
  if (is_interrupted(s))
    return true;
  const double waited = cb_clock_boot() - since;
  if (s->hurry)
    return waited > hurried;
  if (!s->patience.wait || waited < 1.0)
    return false;
  s->asked = true;
  return s->patience.wait(s->patience.user, &how) != 0;
}

static cocabo_status stopped(const cb_server *s, cocabo_error *err) {
  return cb_fail(err, COCABO_E_INTERRUPTED,
                 "cannot %s PostgreSQL at %s: stopped waiting for it", s->what,
                 s->where);
}

/* Until the socket can be read (or written), or a step is over. */
static void wait_for_socket(const cb_server *s, bool write) {
  struct pollfd p = {.fd = pq.PQsocket(s->connection),
                     .events = (short)(POLLIN | (write ? POLLOUT : 0))};
  if (p.fd >= 0)
    (void)poll(&p, 1, (int)(1e3 * step));
}

/* ---- connecting ------------------------------------------------------------------ */

static void ignore_notice(void *user, const char *message) {
  (void)user, (void)message;
}

/* Settings of the URL come after ours and win. */
static PGconn *start(const cb_server *s) {
  static const char *const names[] = {
      "application_name",    "connect_timeout",  "keepalives_idle",
      "keepalives_interval", "keepalives_count", "tcp_user_timeout",
      "client_encoding",     "dbname",           NULL};
  const char *values[] = {"cocabo", "5", "10", "5", "3", "15000", "UTF8", s->url, NULL};
  return pq.PQconnectStartParams(names, values, 1);
}

static void drop_connection(cb_server *s) {
  if (s->connection)
    pq.PQfinish(s->connection);
  s->connection = NULL;
  s->inside = false;
}

/* Where it is, for people. */
static void note_where(cb_server *s) {
  const char *host = pq.PQhost(s->connection), *port = pq.PQport(s->connection);
  const char *name = pq.PQdb(s->connection);
  char shown[CB_SHOWN];
  snprintf(s->where, sizeof s->where, "%.60s:%.10s/%.60s",
           host && *host ? host : "localhost", port ? port : "",
           cb_text_show_within(shown, name ? name : "", 50));
}

/* One try. COCABO_E_BUSY: it did not work, and `message` of the connection says why. */
static cocabo_status try_connect(cb_server *s, double seconds, cocabo_error *err) {
  drop_connection(s);
  s->connection = start(s);
  if (!s->connection)
    return cb_no_memory(err);
  pq.PQsetNoticeProcessor(s->connection, ignore_notice, NULL);
  const double since = cb_clock_boot(), end = since + seconds;
  PostgresPollingStatusType state = PGRES_POLLING_WRITING;
  while (pq.PQstatus(s->connection) != CONNECTION_BAD && state != PGRES_POLLING_OK) {
    if (is_unwanted(s, since))
      return stopped(s, err);
    if (cb_clock_boot() > end)
      return COCABO_E_BUSY;
    struct pollfd p = {.fd = pq.PQsocket(s->connection),
                       .events = state == PGRES_POLLING_READING ? POLLIN : POLLOUT};
    if (poll(&p, 1, (int)(1e3 * step)) == 0)
      continue;
    state = pq.PQconnectPoll(s->connection);
    if (state == PGRES_POLLING_FAILED)
      return COCABO_E_BUSY;
  }
  if (pq.PQstatus(s->connection) != CONNECTION_OK)
    return COCABO_E_BUSY;
  note_where(s);
  return pq.PQsetnonblocking(s->connection, 1) == 0 ? COCABO_OK : COCABO_E_BUSY;
}

enum { CONNECT_SECONDS = 8 }; /* for one try, with looking names up */

/* Is it a server that only needs a moment? */
static bool is_coming(const char *message) {
  return has(message, "starting up") || has(message, "shutting down") ||
         has(message, "not yet accepting") || has(message, "too many clients") ||
         has(message, "connection slots") || has(message, "recovery mode");
}

/* Is the caller still willing to wait? */
static bool goes_on(cb_server *s, double since) {
  const cocabo_waiting how = {.seconds = cb_clock_boot() - since};
  if (s->hurry)
    return false;
  if (s->patience.wait)
    return s->patience.wait(s->patience.user, &how) == 0;
  return how.seconds <= s->patience.seconds;
}

static void say_over(cb_server *s, double since) {
  const cocabo_waiting how = {.seconds = cb_clock_boot() - since, .over = 1};
  if (s->patience.wait)
    s->patience.wait(s->patience.user, &how);
}

/* A number in [0.5, 1.5) from the clock: those who lost the server together shall not
 * come back together. */
static double spread(void) {
  struct timespec now = {0};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return 0.5 + (double)((uint64_t)now.tv_nsec * 2654435761u % 1000) / 1000.0;
}

static void pause_for(double seconds) {
  nanosleep(&(struct timespec){.tv_nsec = (long)(1e9 * seconds)}, NULL);
}

/* Tries again and again, with pauses of 20 ms at first and at most half a second, as
 * long as the caller is patient. `first`: only where that may help. */
static cocabo_status connect_again(cb_server *s, bool first, cocabo_error *err) {
  const double since = cb_clock_boot();
  double pause = 0.02;
  for (bool waited = false;; waited = true) {
    const cocabo_status status = try_connect(s, CONNECT_SECONDS, err);
    if (status == COCABO_OK && waited)
      say_over(s, since);
    if (status != COCABO_E_BUSY)
      return status;
    const char *message = pq.PQerrorMessage(s->connection);
    if (first && !is_coming(message))
      return fail_connecting(s, message, err);
    if (is_interrupted(s))
      return stopped(s, err);
    if (!goes_on(s, since)) {
      const bool asked = s->patience.wait && !s->hurry;
      return asked ? stopped(s, err) : fail_connecting(s, message, err);
    }
    pause_for(pause * spread());
    pause = fmin(2.0 * pause, 0.5);
  }
}

/* libpq quotes a URL that it cannot read, password and all. */
static cocabo_status check_url(cb_server *s, cocabo_error *err) {
  char *message = NULL;
  PQconninfoOption *options = pq.PQconninfoParse(s->url, &message);
  static const char unknown[] = "invalid URI query parameter: ";
  char parameter[CB_SHOWN] = "";
  if (message && strncmp(message, unknown, strlen(unknown)) == 0)
    cb_text_show_within(parameter, message + strlen(unknown), 30);
  pq.PQfreemem(message);
  if (!options && *parameter)
    return cb_fail(err, COCABO_E_INVALID,
                   "the URL of the PostgreSQL server has the setting %s, want one that "
                   "libpq knows, such as ?sslmode=require",
                   parameter);
  if (!options)
    return cb_fail(err, COCABO_E_INVALID,
                   "the URL of the PostgreSQL server cannot be read, want "
                   "postgresql://user@host:5432/database");
  const char *host = NULL, *port = NULL, *name = NULL;
  for (const PQconninfoOption *o = options; o->keyword; o++) {
    host = strcmp(o->keyword, "host") == 0 && o->val ? o->val : host;
    port = strcmp(o->keyword, "port") == 0 && o->val ? o->val : port;
    name = strcmp(o->keyword, "dbname") == 0 && o->val ? o->val : name;
  }
  char shown_host[CB_SHOWN], shown_name[CB_SHOWN];
  snprintf(s->where, sizeof s->where, "%.80s%s%.10s%s%.80s",
           cb_text_show_within(shown_host, host ? host : "localhost", 60),
           port ? ":" : "", port ? port : "", name ? "/" : "",
           cb_text_show_within(shown_name, name ? name : "", 60));
  pq.PQconninfoFree(options);
  return COCABO_OK;
}

cocabo_status cb_server_open(cb_server *s, const char *url, cb_patience patience,
                             cocabo_error *err) {
  *s = (cb_server){.patience = patience, .what = "open"};
  CB_TRY(need_library(err));
  s->url = cb_strdup(url);
  cocabo_status status = s->url ? check_url(s, err) : cb_no_memory(err);
  if (status == COCABO_OK)
    status = connect_again(s, true, err);
  if (status != COCABO_OK)
    cb_server_close(s);
  return status;
}

void cb_server_close(cb_server *s) {
  drop_connection(s);
  cb_server_forget(s);
}

void cb_server_forget(cb_server *s) {
  s->connection = NULL;
  cb_free(s->url);
  s->url = NULL;
}

/* ---- statements ------------------------------------------------------------------ */

void cb_params_text(cb_params *params, const char *text) {
  assert(params->n < CB_SERVER_PARAMS);
  params->values[params->n++] = text;
}

void cb_params_integer(cb_params *params, int64_t number) {
  char *digits = params->digits[params->n];
  snprintf(digits, sizeof params->digits[0], "%lld", (long long)number);
  cb_params_text(params, digits);
}

void cb_params_real(cb_params *params, double number) {
  cb_params_text(params, cb_number_show(params->digits[params->n], number));
}

/* What is sent together, and what comes of it. */
typedef struct batch {
  const char *sql, *then; /* then NULL: there is no other */
  const cb_params *params;
  PGresult *answers[2];
} batch;

static bool send_pair(const cb_server *s, const batch *b) {
  return pq.PQenterPipelineMode(s->connection) &&
         pq.PQsendQueryParams(s->connection, b->sql, b->params->n, NULL,
                              b->params->values, NULL, NULL, 0) &&
         pq.PQpipelineSync(s->connection) &&
         pq.PQsendQueryParams(s->connection, b->then, 0, NULL, NULL, NULL, NULL, 0) &&
         pq.PQpipelineSync(s->connection);
}

static bool send_one(const cb_server *s, const batch *b) {
  return b->params ? pq.PQsendQueryParams(s->connection, b->sql, b->params->n, NULL,
                                          b->params->values, NULL, NULL, 0)
                   : pq.PQsendQuery(s->connection, b->sql);
}

/* The next answer, NULL at the end of a statement's. COCABO_E_BUSY: the connection is
 * broken, and nobody knows what became of what was sent. */
static cocabo_status next_answer(cb_server *s, double since, PGresult **out,
                                 cocabo_error *err) {
  int left = 1;
  while (left == 1 || pq.PQisBusy(s->connection)) {
    left = left == 1 ? pq.PQflush(s->connection) : left;
    if (left < 0)
      return COCABO_E_BUSY;
    if (left == 0 && !pq.PQisBusy(s->connection))
      break;
    wait_for_socket(s, left == 1);
    if (is_unwanted(s, since))
      return stopped(s, err);
    if (!pq.PQconsumeInput(s->connection))
      return COCABO_E_BUSY;
  }
  *out = pq.PQgetResult(s->connection);
  return COCABO_OK;
}

/* Of several answers to one statement the last. */
static cocabo_status take_all(cb_server *s, double since, PGresult **last,
                              cocabo_error *err) {
  for (;;) {
    PGresult *answer = NULL;
    CB_TRY(next_answer(s, since, &answer, err));
    if (!answer)
      return *last ? COCABO_OK : COCABO_E_BUSY;
    pq.PQclear(*last);
    *last = answer;
  }
}

/* The mark between two that were sent together. */
static cocabo_status take_mark(cb_server *s, double since, cocabo_error *err) {
  PGresult *mark = NULL;
  CB_TRY(next_answer(s, since, &mark, err));
  const bool is_mark = mark && pq.PQresultStatus(mark) == PGRES_PIPELINE_SYNC;
  pq.PQclear(mark);
  return is_mark ? COCABO_OK : COCABO_E_BUSY;
}

static cocabo_status try_run(cb_server *s, batch *b, cocabo_error *err) {
  const double since = cb_clock_boot();
  if (!b->then || !pq.PQenterPipelineMode) {
    if (!send_one(s, b))
      return COCABO_E_BUSY;
    CB_TRY(take_all(s, since, &b->answers[0], err));
    if (!b->then)
      return COCABO_OK;
    return pq.PQsendQuery(s->connection, b->then)
               ? take_all(s, since, &b->answers[1], err)
               : COCABO_E_BUSY;
  }
  if (!send_pair(s, b))
    return COCABO_E_BUSY;
  for (int i = 0; i < 2; i++) {
    CB_TRY(take_all(s, since, &b->answers[i], err));
    CB_TRY(take_mark(s, since, err));
  }
  return pq.PQexitPipelineMode(s->connection) ? COCABO_OK : COCABO_E_BUSY;
}

/* Will it be otherwise on the next connection, or the next time? */
static bool is_passing(const char *state) {
  return is_state(state, "57P") || is_state(state, "08") || is_state(state, "40001") ||
         is_state(state, "40P01") || is_state(state, "53300");
}

static cocabo_status check_answer(cb_server *s, const PGresult *answer, bool *again,
                                  cocabo_error *err) {
  const ExecStatusType kind = pq.PQresultStatus(answer);
  if (kind == PGRES_TUPLES_OK || kind == PGRES_COMMAND_OK)
    return COCABO_OK;
  const char *state = pq.PQresultErrorField(answer, PG_DIAG_SQLSTATE);
  *again = is_passing(state) || !state || pq.PQstatus(s->connection) != CONNECTION_OK;
  return fail_statement(s, answer, err);
}

/* Once. *again: it may go better the next time. */
static cocabo_status run_once(cb_server *s, batch *b, bool *again, cocabo_error *err) {
  cocabo_status status = try_run(s, b, err);
  *again = status == COCABO_E_BUSY;
  for (int i = 0; i < 2 && status == COCABO_OK && b->answers[i]; i++)
    status = check_answer(s, b->answers[i], again, err);
  pq.PQclear(b->answers[1]);
  b->answers[1] = NULL;
  if (status != COCABO_OK) {
    pq.PQclear(b->answers[0]);
    b->answers[0] = NULL;
  }
  if (*again || (status != COCABO_OK && s->inside) || status == COCABO_E_INTERRUPTED)
    drop_connection(s); /* what was sent may still be under way */
  return status;
}

cocabo_status cb_server_run_then(cb_server *s, const char *sql, const cb_params *params,
                                 const char *then, PGresult **out, cocabo_error *err) {
  const double since = cb_clock_boot();
  batch b = {.sql = sql, .then = then, .params = params};
  *out = NULL;
  s->retried = false;
  for (;; s->retried = true) {
    bool again = false;
    if (!s->connection)
      CB_TRY(connect_again(s, false, err));
    const cocabo_status status = run_once(s, &b, &again, err);
    if (status == COCABO_OK && s->asked)
      say_over(s, since);
    s->asked = false;
    *out = b.answers[0];
    if (!again)
      return status;
    if (s->hurry || (s->retried && !goes_on(s, since)))
      return status == COCABO_E_BUSY ? fail_connecting(s, "the connection broke", err)
                                     : status;
  }
}

cocabo_status cb_server_run(cb_server *s, const char *sql, const cb_params *params,
                            PGresult **out, cocabo_error *err) {
  return cb_server_run_then(s, sql, params, NULL, out, err);
}

/* ---- answers --------------------------------------------------------------------- */

int cb_rows_count(const PGresult *rows) {
  return pq.PQntuples(rows);
}

bool cb_rows_null(const PGresult *rows, int row, int column) {
  return pq.PQgetisnull(rows, row, column) != 0;
}

const char *cb_rows_text(const PGresult *rows, int row, int column) {
  return pq.PQgetvalue(rows, row, column);
}

size_t cb_rows_length(const PGresult *rows, int row, int column) {
  return (size_t)pq.PQgetlength(rows, row, column);
}

int64_t cb_rows_integer(const PGresult *rows, int row, int column) {
  return strtoll(cb_rows_text(rows, row, column), NULL, 10);
}

double cb_rows_real(const PGresult *rows, int row, int column) {
  double number = NAN;
  (void)cb_parse_number(cb_rows_text(rows, row, column), &number);
  return number;
}

void cb_rows_free(PGresult *rows) {
  if (rows)
    pq.PQclear(rows);
}
