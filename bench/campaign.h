/* campaign.h - many runs into one file, resumable at any moment. */
#ifndef BENCH_CAMPAIGN_H
#define BENCH_CAMPAIGN_H

#include <stdbool.h>
#include <stddef.h>

#include "cocabo.h"
#include "common/outfile.h"
#include "experiment.h"

typedef struct bench_campaign bench_campaign;

/* Opens the results file and finds out what is left to do of the n experiments, which
 * are borrowed and have the same number of workers. Nothing of the file is changed yet.
 * A file of another number of workers is refused, and so is a run of it that was made
 * with another --init or --iterations; one that a cut left unfinished is to be done
 * again. *out is owned by the caller. */
cocabo_status bench_campaign_open(bench_campaign **out, const char *path,
                                  const bench_experiment *experiments, size_t n,
                                  cocabo_error *err);
void bench_campaign_free(bench_campaign *campaign); /* NULL is allowed */

/* Does the rest, `jobs` runs at a time, appending each whole run to the file; then puts
 * the file in its final order: other runs as they were found, then the experiments. On
 * failure the file holds every finished run. */
cocabo_status bench_campaign_run(bench_campaign *campaign, int jobs, bool quiet,
                                 cocabo_error *err);

/* All of it for a command: complains in its name and returns the exit status. */
int bench_campaign_main(const char *command, const char *path,
                        const bench_experiment *experiments, size_t n, int jobs,
                        bool quiet);

#endif
