/* clock.h - the clocks of a store.
 *
 * The time of day is for people: it may be wrong, and it jumps. Leases go by the time
 * since the machine was started, which all its processes share and nobody can set.
 */
#ifndef CB_STORE_CLOCK_H
#define CB_STORE_CLOCK_H

/* Seconds since 1970. */
double cb_clock_day(void);

/* Seconds since the machine was started, asleep or not. */
double cb_clock_boot(void);

enum { CB_BOOT_ID = 40 };
/* Which start of which machine that was; "" if the system does not say. */
const char *cb_clock_boot_id(char out[static CB_BOOT_ID]);

#endif
