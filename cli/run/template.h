/* template.h - a command whose words have holes: {NAME} becomes the parameter's value
 * and {trial} the trial's number, {instance} and {seed} what its run is on (unless
 * a parameter has that name). Without runs {seed} is a number of 31 bits that is the
 * trial's own, and {instance} is inactive.
 *
 * Where the parameter is inactive, {NAME:-text} becomes the text, which ends at the
 * first closing brace; behind a $ it is the shell's own. {NAME} becomes nothing in a
 * word with white space, which is a script. Any other word with such a hole is dropped,
 * and if it is nothing but the hole, so is an option before it: a word that begins with
 * - and has neither = nor a hole. The first word may not be one that could be dropped.
 *
 * Braces around another name are refused before anything is run. In a word with white
 * space, which is a script or JSON with braces of its own, only misspelt names are.
 * {{lr}} is {lr} itself where {lr} would be a hole or refused. All other braces stay as
 * they are.
 */
#ifndef CLI_TEMPLATE_H
#define CLI_TEMPLATE_H

#include <stdbool.h>

#include "cocabo.h"

/* COCABO_E_NOT_FOUND, with the name that was probably meant; COCABO_E_INVALID for a
 * first word that may be dropped. `words` end with NULL. */
cocabo_status cli_template_check(char *const *words, const cocabo_space *space,
                                 cocabo_error *err);

/* Whether a word has a hole: any, or the one of a certain name. */
bool cli_template_has_hole(const char *word, const cocabo_space *space,
                           const char *name_or_null);

/* The words with their holes filled, ended by NULL, in one block that the caller frees.
 */
cocabo_status cli_template_fill(char *const *words, const cocabo_space *space,
                                const cocabo_trial *trial, char ***out,
                                cocabo_error *err);

#endif
