/* site.h - what the routes look at: a store, and the studies of it that are kept open.
 *
 * A site is for one thread. A server has several, each with its own connection to the
 * store, so that one that thinks keeps no other waiting.
 */
#ifndef HTTP_SITE_H
#define HTTP_SITE_H

#include <stdbool.h>
#include <stdint.h>

#include "cocabo.h"

/* Borrowed for as long as a site lives. */
typedef struct http_settings {
  const char *storage; /* as it may be shown: without a password */
  const char *token;   /* NULL: none is needed */
  bool allow_tell;     /* may trials be asked for and told? */
  bool allow_store;    /* may the raw log be read and written? */
  bool any_host;       /* no look at the header Host: nobody else can ask */
  bool live;           /* there is a server to ask again; false: a report */
} http_settings;

/* An open study. */
typedef struct http_study {
  char *name;
  cocabo_study *handle;
  int64_t seq;   /* of what the arrays below know */
  double synced; /* when it was last looked at */
  uint64_t used; /* by which call last: the oldest is closed first */
  int64_t n;     /* trials */
  size_t room;
  int64_t *seqs;         /* n: the last event about each */
  signed char *feasible; /* n: as cocabo_trial_feasible */
  signed char *reported; /* n: 1: it has reports */
  char **metrics;        /* names that trials have, n_metrics */
  size_t n_metrics, metrics_room;
  char *constraints; /* that `feasible` was found with */
} http_study;

typedef struct http_site {
  const http_settings *settings;
  cocabo_store *store;  /* borrowed */
  http_study **studies; /* n, open */
  size_t n, room;
  uint64_t calls;
  double now; /* seconds on a clock that only goes forward; set by who calls */
} http_site;

/* Starts as {0} with settings and store set. */
void http_site_close(http_site *site); /* its studies */

/* An open study as it was at most HTTP_FRESH seconds ago; borrowed until the next call.
 * COCABO_E_NOT_FOUND if the store has none of that name. */
#define HTTP_FRESH 0.05
cocabo_status http_site_study(http_site *site, const char *name, http_study **out,
                              cocabo_error *err);
/* The same if it is open already, else NULL; it is not synced. */
http_study *http_site_peek(const http_site *site, const char *name);

/* Numbers of the trials that changed after an event, by their last change; n of them,
 * owned by the caller. */
cocabo_status http_study_changes(const http_study *study, int64_t after,
                                 int64_t **numbers, size_t *n, cocabo_error *err);

#endif
