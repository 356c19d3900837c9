/* carry.h - a new study that begins with what fits of another one's finished trials.
 *
 *   carry_begin (which completes the specification) -> cli_spec_fill with carry_fill
 *
 * The parameters are those of the other study. The specification, whose base is its
 * space, replaces some or adds new ones, whose value in the old trials is given; a
 * value that is given for one of the others drops it, and only trials with that value,
 * or where it is inactive, fit. */
#ifndef CLI_CARRY_H
#define CLI_CARRY_H

#include "io/spec.h"

/* Why a trial does not fit: its value of a parameter. */
typedef struct carry_reason {
  char text[2 * CB_SHOWN + 32];
  size_t n; /* trials; 0: all fit */
} carry_reason;

/* Zeros before carry_begin. */
typedef struct carry {
  cocabo_trial **trials; /* n_trials that fit: they keep the reasons */
  cocabo_known *known;   /* the same for the library */
  cocabo_value *values;  /* of all */
  size_t n_trials;
  cocabo_space **alone; /* each parameter as a space of its own, new ones first */
  size_t n_new, n_dropped;
  carry_reason *reasons; /* by parameter; n_new + n_dropped, and one for conditions */
  size_t n_misfits;
} carry;

/* `given` are the words NAME=VALUE. What the specification leaves open comes from the
 * other study, its options, command and limits. On failure there is nothing
 * to end. */
cocabo_status carry_begin(carry *c, cli_spec *spec, const cocabo_study *from,
                          const front_texts *given, cocabo_error *err);
/* Puts the trials into the new study; a cli_fill_fn, whose user is the carry. */
cocabo_status carry_fill(void *user, cocabo_study *study, cocabo_error *err);
void carry_end(carry *c); /* zeros are allowed */

#endif
