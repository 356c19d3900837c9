/* options.h - THE table of options, and what it resolves to.
 *
 * Outside, an option is a name and a text; the table in options.c knows its type, its
 * default and its help, and every front end reads it from there. Inside, cb_resolved
 * has numbers and no "auto" is left.
 */
#ifndef CB_STUDY_OPTIONS_H
#define CB_STUDY_OPTIONS_H

#include "cocabo.h"
#include "log/event.h"
#include "race/race.h"
#include "sampler/sampler.h"
#include "space/space.h"

typedef struct cb_resolved {
  cb_settings settings;
  const cb_sampler *sampler;
  int64_t trials; /* complete and failed ones to reach; 0: no limit */
  bool durable;   /* results must survive a power cut */
  int64_t runs;   /* of all trials to reach; 0: no limit */
  cb_race race;
  const char *instances; /* one a line, borrowed from the options; "": none */
  int64_t seeds;         /* of each instance; 0: they are not told apart */
} cb_resolved;

/* What the options mean for this space. Cannot fail: every value was checked when it
 * was set. */
void cb_settings_resolve(const cocabo_options *options, const cocabo_space *space,
                         cb_resolved *out);

/* A deep copy, or NULL if out of memory. */
cocabo_options *cb_options_copy(const cocabo_options *options);

/* Do both propose in the same way? Only budget and durability may differ. */
bool cb_options_same_model(const cocabo_options *a, const cocabo_options *b);

/* Every option with its present value, defaults included: a stored study shall not
 * change its mind when a later version changes a default. *out is owned by the caller,
 * as the options of an event. */
cocabo_status cb_options_list(const cocabo_options *options, cb_pair **out, int *n,
                              cocabo_error *err);

#endif
