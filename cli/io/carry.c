/* carry.c - a new study that begins with what fits of another one's finished trials. */
#include "io/carry.h"

#include <stdio.h>
#include <string.h>

#include "common/domain.h"
#include "io/import.h"
#include "io/metrics.h"
#include "io/scalar.h"
#include "io/spec_file.h"

/* Where the value of a parameter comes from. */
typedef struct source {
  int from;      /* parameter of the other study, -1: it is given */
  bool is_given; /* of a dropped one: only this value fits */
  cocabo_value value;
} source;

/* One carry in the making. */
typedef struct work {
  carry *c;
  const cocabo_study *from;
  const cocabo_space *old, *new;
  source *sources; /* n_new + n_dropped, as in the carry */
} work;

static int find(const cocabo_space *space, const char *name) {
  const char *known;
  for (size_t i = 0; space && (known = cocabo_space_name(space, i)); i++)
    if (strcmp(known, name) == 0)
      return (int)i;
  return -1;
}

/* ---- given values ---------------------------------------------------------------- */

/* What follows NAME= in a word, or NULL. */
static const char *value_in(const char *word, const char *name) {
  const size_t length = strlen(name);
  return strncmp(word, name, length) == 0 && word[length] == '=' ? word + length + 1
                                                                 : NULL;
}

/* The value given for a parameter, or NULL. */
static const char *given_for(const front_texts *given, const char *name) {
  for (int i = 0; i < given->n; i++)
    if (value_in(given->items[i], name))
      return value_in(given->items[i], name);
  return NULL;
}

static bool is_for(const char *word, const cocabo_space *space) {
  const char *name;
  for (size_t i = 0; space && (name = cocabo_space_name(space, i)); i++)
    if (value_in(word, name))
      return true;
  return false;
}

/* Each is for a parameter that only one of the two has. */
static cocabo_status check_given(const front_texts *given, const cocabo_space *old,
                                 const cocabo_space *new, cocabo_error *err) {
  char shown[CB_SHOWN];
  for (int i = 0; i < given->n; i++) {
    const char *word = given->items[i];
    cb_text_show(shown, word);
    if (!strchr(word, '='))
      return cb_fail(err, COCABO_E_INVALID, "--given is \"%s\", want NAME=VALUE",
                     shown);
    const bool before = is_for(word, old), after = is_for(word, new);
    if (before && after)
      return cb_fail(err, COCABO_E_INVALID,
                     "--given is \"%s\", but both studies have that parameter, want a "
                     "new one or one to drop",
                     shown);
    if (!before && !after)
      return cb_fail(err, COCABO_E_INVALID,
                     "--given is \"%s\", but neither study has that parameter", shown);
  }
  return COCABO_OK;
}

/* `alone` is the space of the one parameter that the text is a value of. */
static cocabo_status read_given(const cocabo_space *alone, const char *text,
                                cocabo_value *out, cocabo_error *err) {
  char name[CB_SHOWN], shown[CB_SHOWN], want[CB_SHOWN], *copy = NULL;
  cocabo_value read;
  CB_TRY(scalar_parse(text, &read, &copy, err));
  const bool fits = import_value(alone, 0, text, &read, out) &&
                    cocabo_space_check(alone, out, 1, NULL) == COCABO_OK;
  cb_free(copy);
  if (fits)
    return COCABO_OK;
  char *domain = cocabo_space_domain(alone, 0);
  cb_text_show(want, domain ? domain : "its domain");
  cocabo_text_free(domain);
  return cb_fail(err, COCABO_E_INVALID, "--given %s is %s, want a value of %s",
                 cb_text_show_within(name, cocabo_space_name(alone, 0), 40),
                 cb_text_show(shown, text), want);
}

/* ---- the options ----------------------------------------------------------------- */

static cocabo_status complete_options(cli_spec *spec, const cocabo_study *from,
                                      cocabo_error *err) {
  const char *name;
  for (size_t i = 0; (name = cocabo_option_name(i)); i++)
    if (!cli_pairs_get(&spec->options, name))
      CB_TRY(cli_pairs_set(&spec->options, name, cocabo_study_option(from, name), err));
  return cli_spec_recall(spec, from, err);
}

/* ---- parameters ------------------------------------------------------------------ */

static cocabo_status set_alone(work *w, size_t at, const cocabo_space *space, size_t i,
                               cocabo_error *err) {
  w->c->alone[at] = cocabo_space_new();
  return w->c->alone[at] ? front_copy_domain(w->c->alone[at], space, i, err)
                         : cb_no_memory(err);
}

static cocabo_status plan_new(work *w, size_t i, const front_texts *given,
                              cocabo_error *err) {
  char shown[CB_SHOWN], study[CB_SHOWN];
  const char *name = cocabo_space_name(w->new, i), *text = given_for(given, name);
  source *s = &w->sources[i];
  CB_TRY(set_alone(w, i, w->new, i, err));
  s->from = find(w->old, name);
  if (s->from >= 0) {
    char *domain = cocabo_space_domain(w->new, i);
    char want[CB_SHOWN];
    snprintf(w->c->reasons[i].text, sizeof w->c->reasons[i].text, "%s is not in %s",
             cb_text_show(shown, name), cb_text_show(want, domain ? domain : "?"));
    cocabo_text_free(domain);
    return COCABO_OK;
  }
  if (!text)
    return cb_fail(
        err, COCABO_E_INVALID,
        "parameter \"%s\" is new: say with --given which value it had in the "
        "trials of study \"%s\"",
        cb_text_show_within(shown, name, 40),
        cb_text_show_within(study, cocabo_study_name(w->from), 40));
  s->is_given = true;
  return read_given(w->c->alone[i], text, &s->value, err);
}

static cocabo_status plan_dropped(work *w, size_t i, const char *text,
                                  cocabo_error *err) {
  char shown[CB_SHOWN], value[CB_SHOWN];
  const size_t at = w->c->n_new + w->c->n_dropped++;
  source *s = &w->sources[at];
  *s = (source){.from = (int)i, .is_given = true};
  CB_TRY(set_alone(w, at, w->old, i, err));
  snprintf(w->c->reasons[at].text, sizeof w->c->reasons[at].text, "%s is not %s",
           cb_text_show(shown, cocabo_space_name(w->old, i)),
           cb_text_show(value, text));
  return read_given(w->c->alone[at], text, &s->value, err);
}

static cocabo_status plan(work *w, const front_texts *given, cocabo_error *err) {
  const size_t most = cocabo_space_count(w->new) + cocabo_space_count(w->old);
  carry *c = w->c;
  c->n_new = cocabo_space_count(w->new);
  c->alone = cb_calloc(most, sizeof(cocabo_space *));
  c->reasons = cb_calloc(most + 1, sizeof *c->reasons);
  w->sources = cb_calloc(most, sizeof *w->sources);
  if (!c->alone || !c->reasons || !w->sources)
    return cb_no_memory(err);
  for (size_t i = 0; i < c->n_new; i++)
    CB_TRY(plan_new(w, i, given, err));
  const char *name;
  for (size_t i = 0; (name = cocabo_space_name(w->old, i)); i++)
    if (find(w->new, name) < 0)
      CB_TRY(plan_dropped(w, i, given_for(given, name), err));
  carry_reason *last = &c->reasons[c->n_new + c->n_dropped];
  snprintf(last->text, sizeof last->text, "the conditions are others");
  return COCABO_OK;
}

/* ---- trials ---------------------------------------------------------------------- */

/* The value of one parameter, new or dropped, in a trial; false: it does not fit. */
static bool take_value(const work *w, size_t at, const cocabo_trial *trial,
                       cocabo_value *out) {
  const source *s = &w->sources[at];
  const char *name;
  cocabo_value value = s->value;
  if (s->from >= 0 &&
      cocabo_trial_get(trial, (size_t)s->from, &name, &value, NULL) != COCABO_OK)
    return false;
  if (at >= w->c->n_new)
    return value.type == COCABO_ABSENT || cb_value_equal(&value, &s->value);
  if (value.type == COCABO_ABSENT) {
    *out = value;
    return cocabo_space_get_condition(w->new, at) != NULL;
  }
  return import_value(w->c->alone[at], 0, NULL, &value, out) &&
         cocabo_space_check(w->c->alone[at], out, 1, NULL) == COCABO_OK;
}

static bool does_not_fit(carry *c, size_t reason) {
  c->reasons[reason].n++;
  c->n_misfits++;
  return false;
}

/* What is given is so where the conditions let it. */
static void drop_inactive(const work *w, cocabo_value *values) {
  for (size_t i = 0; i < w->c->n_new; i++)
    if (w->sources[i].is_given && cocabo_space_get_condition(w->new, i) &&
        !front_is_active(w->new, values, i))
      values[i].type = COCABO_ABSENT;
}

static bool take_values(const work *w, const cocabo_trial *trial, cocabo_value *out) {
  const size_t all = w->c->n_new + w->c->n_dropped;
  for (size_t at = 0; at < all; at++) {
    cocabo_value unused;
    if (!take_value(w, at, trial, at < w->c->n_new ? &out[at] : &unused))
      return does_not_fit(w->c, at);
  }
  drop_inactive(w, out);
  return cocabo_space_check(w->new, out, w->c->n_new, NULL) == COCABO_OK ||
         does_not_fit(w->c, all);
}

/* Takes the trial over if it fits; n of the fitting ones are there already. */
static void take_trial(const work *w, cocabo_trial *trial) {
  carry *c = w->c;
  cocabo_value *values = c->values + c->n_trials * c->n_new;
  const cocabo_trial_state state = cocabo_trial_get_state(trial);
  const bool finished = state == COCABO_COMPLETE || state == COCABO_FAILED;
  if (!finished || !take_values(w, trial, values)) {
    cocabo_trial_free(trial);
    return;
  }
  c->known[c->n_trials] = (cocabo_known){.values = values,
                                         .state = state,
                                         .value = cocabo_trial_value(trial),
                                         .reason = cocabo_trial_reason(trial)};
  cocabo_known *known = &c->known[c->n_trials];
  known->metrics = cocabo_trial_metrics(trial, &known->n_metrics);
  known->attrs = cocabo_trial_attrs(trial, &known->n_attrs);
  known->reports = cocabo_trial_reports(trial, &known->n_reports);
  c->trials[c->n_trials++] = trial;
}

static cocabo_status take_trials(const work *w, cocabo_error *err) {
  carry *c = w->c;
  const int64_t n = cocabo_study_count(w->from);
  c->trials = cb_calloc((size_t)n, sizeof(cocabo_trial *));
  c->known = cb_calloc((size_t)n, sizeof *c->known);
  c->values = cb_calloc((size_t)n * c->n_new, sizeof *c->values);
  if (!c->trials || !c->known || !c->values)
    return cb_no_memory(err);
  for (int64_t i = 0; i < n; i++) {
    cocabo_trial *trial;
    CB_TRY(cocabo_study_trial(w->from, i, &trial, err));
    take_trial(w, trial);
  }
  return COCABO_OK;
}

/* ---- all of it ------------------------------------------------------------------- */

static cocabo_status check_objective(const cli_spec *spec, const cocabo_study *from,
                                     cocabo_error *err) {
  char old[CB_SHOWN], new[CB_SHOWN];
  if (!spec->objective || strcmp(spec->objective, cli_objective(from)) == 0)
    return COCABO_OK;
  return cb_fail(err, COCABO_E_STATE,
                 "--objective is %s, but the values to carry over are of %s",
                 cb_text_show_within(new, spec->objective, 40),
                 cb_text_show_within(old, cli_objective(from), 40));
}

static cocabo_status begin(work *w, cli_spec *spec, const front_texts *given,
                           cocabo_error *err) {
  CB_TRY(check_objective(spec, w->from, err));
  CB_TRY(check_given(given, w->old, spec->space, err));
  CB_TRY(complete_options(spec, w->from, err));
  CB_TRY(plan(w, given, err));
  return take_trials(w, err);
}

cocabo_status carry_begin(carry *c, cli_spec *spec, const cocabo_study *from,
                          const front_texts *given, cocabo_error *err) {
  work w = {.c = c, .from = from, .old = cocabo_study_space(from), .new = spec->space};
  *c = (carry){0};
  const cocabo_status status = begin(&w, spec, given, err);
  cb_free(w.sources);
  if (status != COCABO_OK)
    carry_end(c);
  return status;
}

cocabo_status carry_fill(void *user, cocabo_study *study, cocabo_error *err) {
  carry *c = user;
  char name[CB_SHOWN];
  if (cocabo_study_count(study) > 0) /* somebody was faster */
    return cb_fail(err, COCABO_E_EXISTS, "study \"%s\" exists already",
                   cb_text_show(name, cocabo_study_name(study)));
  return cocabo_study_merge(study, c->known, c->n_trials, NULL, err);
}

void carry_end(carry *c) {
  for (size_t i = 0; c->trials && i < c->n_trials; i++)
    cocabo_trial_free(c->trials[i]);
  for (size_t i = 0; c->alone && i < c->n_new + c->n_dropped; i++)
    cocabo_space_free(c->alone[i]);
  cb_free(c->trials);
  cb_free(c->known);
  cb_free(c->values);
  cb_free(c->alone);
  cb_free(c->reasons);
  *c = (carry){0};
}
