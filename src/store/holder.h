/* holder.h - who holds the lock that somebody waits for. */
#ifndef CB_STORE_HOLDER_H
#define CB_STORE_HOLDER_H

#include <stdint.h>

/* The id of another process that has locked the SQLite file, or the files beside it,
 * for writing; 0 if the system does not say. Nothing is opened that SQLite has open:
 * closing it again would end SQLite's own locks. */
int64_t cb_lock_holder(const char *path);

#endif
