/* patience.h - how long a call waits for others, or for a server that is away. */
#ifndef CB_STORE_PATIENCE_H
#define CB_STORE_PATIENCE_H

#include "cocabo_store.h"

/* As long as `wait` says, or else so many seconds. */
typedef struct cb_patience {
  double seconds;
  cocabo_wait_fn wait; /* may be NULL */
  void *user;
} cb_patience;

#endif
