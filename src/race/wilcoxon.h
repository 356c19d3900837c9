/* wilcoxon.h - the signed-rank test of Wilcoxon: do paired differences lie above 0? */
#ifndef CB_RACE_WILCOXON_H
#define CB_RACE_WILCOXON_H

#include <stdint.h>

#include "cocabo.h"

/* The probability that n differences with these magnitudes would have as large a sum of
 * positive ranks or a larger one, if each sign were the toss of a coin. Zeros are left
 * out, equal magnitudes share their ranks. Exact up to 60 differences, by the normal
 * distribution beyond; 1 where nothing is left. */
cocabo_status cb_wilcoxon_above(const double *differences, int64_t n, double *p,
                                cocabo_error *err);

#endif
