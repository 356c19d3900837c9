/* link.h - one connection to a server of cocabo: opening it, asking, and opening it
 * again when it breaks. Plain HTTP/1.1, kept alive, over sockets.
 *
 * A question may be asked twice, when the connection broke before its answer came: each
 * must be such that this does no harm. A link is used by one thread at a time.
 */
#ifndef CB_STORE_LINK_H
#define CB_STORE_LINK_H

#include <stdbool.h>
#include <stddef.h>

#include "cocabo.h"
#include "store/answer.h"
#include "store/patience.h"

enum { CB_LINK_HOST = 256, CB_LINK_WHERE = 300 };

typedef struct cb_link {
  int socket;              /* -1: there is none now */
  char host[CB_LINK_HOST]; /* a name or number, without brackets */
  char port[8];
  char where[CB_LINK_WHERE]; /* for sentences and the header Host: "host:8080" */
  char *token;               /* goes into no sentence; NULL: none */
  const char *what;          /* is being done, for sentences: "read", "write to" */
  cb_patience patience;
  cocabo_interrupt_fn interrupt; /* asked while it waits; NULL: never */
  void *user;
  bool hurry;       /* do not wait for a server that is away */
  bool asked;       /* `wait` was, and has not been told that it is over */
  bool retried;     /* the last question was sent before: it may have been done then */
  bool sent;        /* the present one has been, once */
  double used;      /* when the connection was last of use */
  char failed[120]; /* why the last try did */
  cb_answer answer;
} cb_link;

/* Reads the URL, http://host:port, and takes the token from the environment. Nothing is
 * connected. On failure there is nothing to close. */
cocabo_status cb_link_open(cb_link *link, const char *url, cb_patience patience,
                           cocabo_error *err);
/* Another link to the same server, for another thread. */
cocabo_status cb_link_copy(cb_link *link, const cb_link *from, cb_patience patience,
                           cocabo_error *err);
void cb_link_close(cb_link *link);
/* Ends the connection only; in a forked child, its own end of it. */
void cb_link_drop(cb_link *link);

/* Asks, with a method and a path, and for POST a content of JSON; the answer is
 * link->answer, whatever its status. `expected` bytes of it need no memory then.
 * `first`: do not wait for a server that cannot be reached, nor for long for one that
 * does not answer. COCABO_E_STORE if it cannot
 * be asked, COCABO_E_INTERRUPTED if nobody wants to wait any more. */
cocabo_status cb_link_ask(cb_link *link, const char *method, const char *path,
                          const char *text, size_t size, size_t expected, bool first,
                          cocabo_error *err);

#endif
