/* lease.h - keeps the leases of a runner alive, from a thread of its own: neither a
 * long ask nor a slow program can make its trials look lost. */
#ifndef CLI_LEASE_H
#define CLI_LEASE_H

#include "cocabo.h"

typedef struct cli_lease cli_lease;

/* Leases every trial that `study` hands out from now on, for so many seconds, and
 * renews them three times as often. Both must outlive it; the study stays the caller's
 * to use. */
cocabo_status cli_lease_start(cli_lease **out, cocabo_store *store, cocabo_study *study,
                              double seconds, cocabo_error *err);
/* Renews no more; NULL is allowed. */
void cli_lease_stop(cli_lease *lease);

#endif
