/* search.h - maximise an acquisition over x, given the categories h.
 *
 * The paper's way: score many candidates in one block, then climb from the best few by
 * quasi-Newton steps inside [-1,1]^d. Where x lives on a grid the caller offers
 * candidates on it and snaps what comes back.
 */
#ifndef CB_SEARCH_SEARCH_H
#define CB_SEARCH_SEARCH_H

#include <stdint.h>

#include "cocabo.h"
#include "model/gp.h"
#include "search/acquisition.h"

/* Indices of the best `keep` of n values into order, sorted, ties to the lower index;
 * NaN counts as -inf. Returns how many there are. For a short list: O(n) while few
 * change. */
int cb_rank_best(int n, const double *value, int keep, int *order);

typedef struct cb_search cb_search;

/* A workspace for up to m candidates in d dimensions. *out is owned by the caller. */
cocabo_status cb_search_new(cb_search **out, int d, int m, cocabo_error *err);
void cb_search_free(cb_search *search); /* NULL is allowed */

/* Room for the candidates, d x m column-major, to be filled before each search. */
double *cb_search_candidates(cb_search *search);

/* Scores the first `count` candidates along gp's bound h and sorts the best `keep` of
 * them (ties to the lower index) to the front of the ranking. */
void cb_search_score(cb_search *search, cb_gp *gp, const cb_acquire *acquire, int count,
                     int keep);

/* Candidate number `rank` (0 = best) of the last ranking, borrowed until the next. */
const double *cb_search_ranked(const cb_search *search, int rank, double *value);

/* Climbs from x (d, in and out) along gp's bound h; returns the value reached. */
double cb_search_climb(cb_search *search, cb_gp *gp, const cb_acquire *acquire,
                       double *x);

#endif
