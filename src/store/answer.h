/* answer.h - an answer of HTTP/1.1 as it comes in, piece by piece.
 *
 * It is a server's, and so anybody's: whatever it holds, it is either an answer of at
 * most CB_ANSWER_MAX bytes or a sentence says what it is not. Nothing is allocated for
 * what a length only promises.
 */
#ifndef CB_STORE_ANSWER_H
#define CB_STORE_ANSWER_H

#include <stdbool.h>
#include <stddef.h>

#include "cocabo.h"

enum { CB_ANSWER_HEAD = 16 << 10, CB_ANSWER_MAX = 65 << 20 };

typedef struct cb_answer {
  char *bytes; /* as they came; chunks are put together in place */
  size_t size, capacity;
  size_t head;    /* of them are the head; 0: it is not there yet */
  size_t content; /* bytes of the content so far, behind the head */
  size_t at;      /* where the next chunk begins */
  size_t length;  /* that the content shall have, unless it is chunked */
  bool chunked;
  bool done;  /* it is whole */
  bool lasts; /* the connection may be used again */
  int status; /* of HTTP */
} cb_answer;

/* Forgets what has come, not the memory. */
void cb_answer_clear(cb_answer *a);
void cb_answer_free(cb_answer *a);

/* Room for so many bytes more. */
cocabo_status cb_answer_reserve(cb_answer *a, size_t more, cocabo_error *err);

/* Looks at what has come since; `size` is the caller's to add to. COCABO_E_STORE if it
 * is no answer. */
cocabo_status cb_answer_look(cb_answer *a, cocabo_error *err);

/* Its content, not NUL-terminated, once it is done. */
static inline const char *cb_answer_content(const cb_answer *a) {
  return a->bytes + a->head;
}

#endif
