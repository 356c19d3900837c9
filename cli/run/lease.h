/* lease.h - keeps the leases of a runner alive, from a thread of its own: neither a
 * long ask nor a slow program can make its trials look lost. */
#ifndef CLI_LEASE_H
#define CLI_LEASE_H

#include <stdbool.h>

#include "cocabo.h"

typedef struct cli_lease cli_lease;

/* Leases every trial that `study` hands out from now on, for so many seconds, and
 * renews them three times as often. Both must outlive it; the study stays the caller's
 * to use. */
cocabo_status cli_lease_start(cli_lease **out, cocabo_store *store, cocabo_study *study,
                              double seconds, cocabo_error *err);
/* Renews no more; NULL is allowed. */
void cli_lease_stop(cli_lease *lease);

/* What the thread does: renews the leases of `owner` whenever `wait` has waited for so
 * many seconds, until it says (true) that it is enough. */
void cli_lease_keep(cocabo_store *store, const char *study, const char *owner,
                    double seconds, bool (*wait)(void *user, double seconds),
                    void *user);

#endif
