/* limited.h - a computation that may run for ever or crash, done in a child process.
 *
 * The limit is one of processor time, so that a busy machine fails no evaluation that
 * an idle one would finish.
 */
#ifndef BENCH_LIMITED_H
#define BENCH_LIMITED_H

/* What compute(user) returns. NaN if it crashed, or was ended after `seconds` of
 * processor time, or (should it wait for something) of ten times as much real time.
 * What it changes in memory is lost. The child dies with this process. */
double bench_limited(unsigned seconds, double (*compute)(const void *user),
                     const void *user);

#endif
