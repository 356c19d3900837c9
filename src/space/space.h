/* space.h - parameters, and the border between user values and the unit world.
 *
 * Outside, a point is one value per parameter, in the order they were added. Inside it
 * is z = (x, h): the numeric parameters (real, int, ordinal) as x in [-1,1] and the c
 * unordered choices as indices 0 <= h_j < N_j. `cells` are the exact user values in
 * between: what is stored, compared and told to the user. The model only ever sees
 * encode(cells), never an x that decode would have moved.
 *
 * Conditions. A parameter with a condition is inactive where that is not true; its cell
 * is then CB_INACTIVE. In h it is one more level, N_j. In x it is 0, the middle, and a
 * `presence` is 0 instead of 1: a row of its own, behind those of the numbers, for
 * all numbers under the same condition. So the squared distance between an active and
 * an inactive number is x_j^2 / l_j^2 + u, with u the presence's 1 / l^2: METHOD's
 * kernel for conditions (section 8.1), by nothing but more rows.
 *
 * Rules. What a rule forbids is never proposed. Results that are known may break one.
 */
#ifndef CB_SPACE_SPACE_H
#define CB_SPACE_SPACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"
#include "cocabo.h"

typedef enum cb_kind { CB_REAL, CB_INTEGER, CB_CHOICE, CB_ORDINAL } cb_kind;

/* One user value; which member counts follows from the parameter's kind. */
typedef union cb_cell {
  double real; /* CB_REAL; never -0.0 */
  int64_t
      integer; /* CB_INTEGER: the value; CB_CHOICE, CB_ORDINAL: index of the choice */
} cb_cell;

/* The cell of an inactive parameter: no integer is that low, and as a real it is -0.0.
 */
#define CB_INACTIVE ((cb_cell){.integer = INT64_MIN})
static inline bool cb_cell_is_active(cb_cell cell) {
  return cell.integer != INT64_MIN;
}

typedef struct cb_expr cb_expr; /* space/expr.h */

/* A grid has at most 2^53 levels (and a log scale of integers ends at 2^40), so that
 * every level has a place of its own in [-1,1]. */
#define CB_MAX_LEVELS (INT64_C(1) << 53)
#define CB_MAX_LOG_INT (INT64_C(1) << 40)

typedef struct cb_param {
  char *name;
  cb_kind kind;
  bool log;
  double low, high, step; /* CB_REAL; step 0 = continuous; high lies on the grid */
  double units; /* a power of ten, of which low and step are whole multiples: level k is
                   (units_low + k units_step) / units, the double nearest to the decimal
                   that one would write; 0: they have too many digits for that */
  int64_t units_low, units_step;
  int64_t ilow, ihigh;   /* CB_INTEGER; low and high are the same as doubles */
  int64_t istep;         /* CB_INTEGER: >= 1; ihigh lies on the grid */
  cocabo_value *choices; /* CB_CHOICE, CB_ORDINAL; texts owned by the parameter */
  int n_choices;
  int slot;           /* row of this parameter in x or in h */
  cb_expr *condition; /* NULL: it is always active */
  int presence;   /* numbers with a condition: which of the presences is theirs; else -1
                   */
  int64_t levels; /* values it can take; 0 = continuous */
  double log_low, log_span; /* log: log(low) and log(high) - log(low) */
} cb_param;

/* Being built it belongs to its creator; once copied into a study it is immutable and
 * shared by reference counting, so that a trial can outlive its study. */
struct cocabo_space {
  int n;            /* parameters; with the presences at most COCABO_MAX_PARAMETERS */
  int numbers, c;   /* numeric (incl. ordinal) and categorical ones, their sum is n */
  int presences;    /* groups of numbers with the same condition */
  int d;            /* rows of x: numbers + presences */
  cb_param *params; /* n */
  int *numeric;     /* numbers: which parameter is row j of x */
  int *categorical; /* c: which parameter is row j of h */
  bool conditional; /* has a parameter with a condition */
  int n_rules;
  cb_expr **rules;
  _Atomic uint64_t size; /* 1 more than cb_space_size, once it is known; 0: not yet */
  _Atomic int tries;     /* draws before one is repaired, likewise */
  _Atomic int refs;
};

/* A deep copy with one reference, or NULL if out of memory. */
cocabo_space *cb_space_copy(const cocabo_space *space);
/* One more reference to the same space; released by cocabo_space_free. */
cocabo_space *cb_space_share(cocabo_space *space);
/* Same names, kinds, domains, choices, conditions and rules in the same order. */
bool cb_space_equal(const cocabo_space *a, const cocabo_space *b);

/* What has been counted and measured is so no more. */
static inline void cb_space_forget(cocabo_space *space) {
  atomic_store(&space->size, 0);
  atomic_store(&space->tries, 0);
}

/* Undoes the last addition of a parameter. */
void cb_space_remove_last(cocabo_space *space);

int cb_space_find(const cocabo_space *space, const char *name); /* -1: no such name */
int32_t cb_space_arms(const cocabo_space *space, int j);        /* N_j of row j of h */

/* cells -> (x, h). Total for cells inside the space: x has space->d rows. */
void cb_space_encode(const cocabo_space *space, const cb_cell *cells, double *x,
                     int32_t *h);
/* (x, h) -> cells: clips to the bounds and snaps integers, steps and ordinals. For
 * cells of the space, decode(encode(cells)) gives the very same integers and indices
 * and, for continuous reals, the value up to rounding (exactly at both ends of the
 * range). What the conditions make inactive is so, whatever x and h say; what is active
 * but not in (x, h) becomes the middle of its range or the first choice. */
void cb_space_decode(const cocabo_space *space, const double *x, const int32_t *h,
                     cb_cell *cells);

/* The same, but what is active and not in (x, h) is drawn at random. */
void cb_space_decode_settled(const cocabo_space *space, const double *x,
                             const int32_t *h, cb_rng *rng, cb_cell *cells);

/* A uniform random point: every level of a grid and every choice is equally likely; on
 * a log scale uniform in the logarithm (an integer v by the width of [v - 1/2, v +
 * 1/2]). Uses one draw per parameter, in order. Where there are rules, points that
 * break one are drawn again; after many of those the last is repaired, or another, and
 * if that fails too the point breaks a rule (cb_space_allows tells). */
void cb_space_sample(const cocabo_space *space, cb_rng *rng, cb_cell *cells);
/* The same without a look at the rules. */
void cb_space_draw(const cocabo_space *space, cb_rng *rng, cb_cell *cells);
/* The point at u in [0,1)^n, one number per parameter, in order: uniform u give points
 * as likely as those above, but for the rules. Each parameter's range is taken in its
 * order; a choice has an interval of 1/N for each of its values. */
void cb_space_at(const cocabo_space *space, const double *u, cb_cell *cells);

/* Is there anything that cells of the right kinds must still satisfy? */
static inline bool cb_space_is_plain(const cocabo_space *space) {
  return !space->conditional && space->n_rules == 0;
}
/* Goes through the parameters in order: those that the cells before make inactive
 * become CB_INACTIVE, and those that are active but have no value get a random one or,
 * where rng is NULL, the middle of their range or the first choice. */
void cb_space_settle(const cocabo_space *space, cb_rng *rng, cb_cell *cells);
/* Does the point keep all rules? How far is it from that, 0 if it does? */
bool cb_space_allows(const cocabo_space *space, const cb_cell *cells);
double cb_space_violation(const cocabo_space *space, const cb_cell *cells);
/* Moves the point, by a local search, until it keeps all rules. False if that did not
 * succeed within a bounded effort; then it is as near as the search came. */
bool cb_space_repair(const cocabo_space *space, cb_rng *rng, cb_cell *cells);
/* Can these cells be a user's point: is nothing given that is inactive, and nothing
 * missing that is active? The sentence names the first, and its condition. */
cocabo_status cb_space_check_active(const cocabo_space *space, const cb_cell *cells,
                                    cocabo_error *err);
/* The same, and the first rule that the point breaks is COCABO_E_RANGE. */
cocabo_status cb_space_check_rules(const cocabo_space *space, const cb_cell *cells,
                                   cocabo_error *err);

/* Row j < numbers of x as a grid: its number of levels (0 = continuous), level k's
 * place, and the level nearest to x_j (the lower of two; x_j is clipped). Places rise
 * strictly with k and level_of(level_x(k)) = k for every k. */
int64_t cb_space_levels(const cocabo_space *space, int j);
double cb_space_level_x(const cocabo_space *space, int j, int64_t k);
int64_t cb_space_level_of(const cocabo_space *space, int j, double xj);

/* One parameter's place in [-1,1], the cell nearest to a place, the cell so many levels
 * on (of a continuous one, and at the ends, the same), and a random one. */
double cb_param_place(const cb_param *p, cb_cell cell);
cb_cell cb_param_cell(const cb_param *p, double x);
cb_cell cb_param_step(const cb_param *p, cb_cell cell, int by);
cb_cell cb_param_sample(const cb_param *p, cb_rng *rng);

/* The value of level k of a grid of reals. */
double cb_param_level(const cb_param *p, int64_t k);
/* How far a value may be from its level by rounding alone. Version 0.1.0 stored low + k
 * step, which is off by less: 0.30000000000000004 and 0.3 are the same level. */
double cb_param_doubt(const cb_param *p);
/* The cell of parameter i as this version writes it: a level as it is, whatever
 * rounding it was stored with. Two points are the same if their snapped cells are. */
cb_cell cb_space_snap(const cocabo_space *space, int i, cb_cell cell);

/* How many points there are, UINT64_MAX if too many to count or infinite. Where there
 * are conditions or rules they are counted one by one, up to 2^17 of all combinations.
 */
uint64_t cb_space_size(const cocabo_space *space);
/* All combinations of levels, of which there are so many (UINT64_MAX as above); the
 * i-th of them, which is false if it breaks a rule or is another one but for what is
 * inactive. */
uint64_t cb_space_combinations(const cocabo_space *space);
bool cb_space_point(const cocabo_space *space, uint64_t i, cb_cell *cells);

/* User value -> cell of parameter i, and back. to_cell takes an int where a real is
 * wanted (exactly representable), but choices only by their own type; a value outside
 * the domain or off the grid is COCABO_E_RANGE, of the wrong type COCABO_E_INVALID, and
 * the sentence names the parameter. COCABO_ABSENT is CB_INACTIVE, for a parameter with
 * a condition. The text of from_cell is borrowed from the space. */
cocabo_status cb_space_to_cell(const cocabo_space *space, int i,
                               const cocabo_value *value, cb_cell *cell,
                               cocabo_error *err);
/* The same for a point: one value a parameter, in order, all that is active and nothing
 * else. */
cocabo_status cb_space_to_cells(const cocabo_space *space, const cocabo_value *values,
                                cb_cell *cells, cocabo_error *err);
cocabo_value cb_space_from_cell(const cocabo_space *space, int i, cb_cell cell);

/* Are these cells of the space: in range, on the grid, indices of existing choices,
 * and inactive just where the conditions say so? What comes from a log is checked with
 * it before it is encoded. */
bool cb_space_holds(const cocabo_space *space, const cb_cell *cells);

/* Same cells? They hold no padding and no -0.0, so equality is by bits. */
bool cb_cells_equal(int n, const cb_cell *a, const cb_cell *b);

#endif
