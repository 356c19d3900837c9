/* summary.h - the summary of a study as JSON, as stores keep it.
 *
 *   {"version":"0.2.0","seq":97,"states":[0,1,40,2,0,0],"parameters":3,
 *    "direction":"minimize","sampler":"mixed","constrained":true,"best":[17,0.25,true]}
 *
 * `seq` is the last event that it has seen, `states` are trials by their state. `best`
 * is the number, the value and whether it keeps the constraints; without a best trial
 * it is left out, and so is what is false. A summary of another version of the library
 * counts as none: it may count otherwise.
 */
#ifndef CB_STORE_SUMMARY_H
#define CB_STORE_SUMMARY_H

#include <stddef.h>

#include "base/json.h"
#include "cocabo.h"
#include "store/store.h"

cocabo_status cb_summary_encode(cb_json *json, const cb_summary *summary,
                                cocabo_error *err);

/* A text that is no summary of this version is none: out->seq is 0. */
void cb_summary_decode(const char *text, size_t length, cb_summary *out);

#endif
