/* owner.h - who holds a lease, and whether that process is still there.
 *
 * An owner's name may be any text. The names that cocabo_owner_name makes say more:
 *
 *   host:pid:chance:start:pidns:boot
 *
 * `start` is when the process began, in ticks since the machine did; `pidns` the inode
 * of the namespace that its pid is of; `boot` which start of which machine that was. A
 * part that the system does not say is empty, and then nothing is ever concluded.
 */
#ifndef CB_STORE_OWNER_H
#define CB_STORE_OWNER_H

#include <stdbool.h>
#include <stdint.h>

/* True only if the name says that its owner was a process of this machine, of our pid
 * namespace, and there is no such process any more. A zombie is none. */
bool cb_owner_is_gone(const char *owner);

/* What has been found in one call of a store: an owner has many leases. Start with
 * zeros; it needs no memory, and owners that find no place are looked up each time. */
enum { CB_OWNERS_SEEN = 128 };
typedef struct cb_owners {
  int n;
  uint64_t keys[CB_OWNERS_SEEN];
  bool gone[CB_OWNERS_SEEN];
} cb_owners;
bool cb_owners_gone(cb_owners *seen, const char *owner);

#endif
