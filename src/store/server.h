/* server.h - one connection to a PostgreSQL server: opening it, running statements, and
 * opening it again when it breaks.
 *
 * libpq is loaded when the first connection is opened (decision 21), so that nobody
 * else needs it. A statement may be run twice, when the connection broke before its
 * answer came: each must be such that this does no harm. There are no prepared
 * statements and no state of the session, so that a pooler may stand in between.
 *
 * A connection is used by one thread at a time.
 */
#ifndef CB_STORE_SERVER_H
#define CB_STORE_SERVER_H

#include <libpq-fe.h>
#include <stdbool.h>
#include <stdint.h>

#include "cocabo.h"
#include "store/patience.h"

enum { CB_SERVER_WHERE = 200, CB_SERVER_PARAMS = 20 };

typedef struct cb_server {
  PGconn *connection;          /* NULL: there is none now */
  char *url;                   /* may hold a password: it goes into no sentence */
  char where[CB_SERVER_WHERE]; /* for sentences: "host:5432/name" */
  const char *what;            /* is being done, for sentences: "read", "write to" */
  cb_patience patience;
  cocabo_interrupt_fn interrupt; /* asked while it waits; NULL: never */
  void *user;
  bool hurry;   /* do not wait for a server that is away */
  bool inside;  /* of a transaction, which the next failure ends */
  bool asked;   /* `wait` was, and has not been told that it is over */
  bool retried; /* the last statement was run again: it may have been done before */
} cb_server;

/* Opens the connection. The URL is as libpq has it. On failure there is nothing to
 * close. */
cocabo_status cb_server_open(cb_server *s, const char *url, cb_patience patience,
                             cocabo_error *err);
void cb_server_close(cb_server *s);
/* Gives the connection up without a word to the server: it is of the parent process. */
void cb_server_forget(cb_server *s);

/* The parameters of a statement, as texts: NULL is null. */
typedef struct cb_params {
  int n;
  const char *values[CB_SERVER_PARAMS];
  char digits[CB_SERVER_PARAMS][40];
} cb_params;

void cb_params_text(cb_params *params, const char *text);
void cb_params_integer(cb_params *params, int64_t number);
void cb_params_real(cb_params *params, double number);

/* Runs one statement, or with params NULL several; *out is its answer, to be released
 * with cb_rows_free. */
cocabo_status cb_server_run(cb_server *s, const char *sql, const cb_params *params,
                            PGresult **out, cocabo_error *err);

/* The same, and then another one in a transaction of its own, unless both are in one;
 * if libpq can, it is sent without waiting for the first answer. Where the second
 * fails, both are run again. */
cocabo_status cb_server_run_then(cb_server *s, const char *sql, const cb_params *params,
                                 const char *then, PGresult **out, cocabo_error *err);

/* The answer. */
int cb_rows_count(const PGresult *rows);
bool cb_rows_null(const PGresult *rows, int row, int column);
const char *cb_rows_text(const PGresult *rows, int row, int column);
size_t cb_rows_length(const PGresult *rows, int row, int column);
int64_t cb_rows_integer(const PGresult *rows, int row, int column);
double cb_rows_real(const PGresult *rows, int row, int column);
void cb_rows_free(PGresult *rows); /* NULL is allowed */

#endif
