/* constraints.c - reads constraints, and says which results keep them. */
#include "log/constraints.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "base/text.h"

/* ---- reading --------------------------------------------------------------------- */

typedef struct reader {
  const char *at;
  cb_constraints *out;
  char *names; /* where the next name goes */
  int n;       /* constraints read */
} reader;

static const char *skip_blanks(const char *at) {
  return at + strspn(at, " \t\n\r");
}

/* Where the constraint at `at` ends: a comma outside backquotes, or the end. */
static const char *end_of(const char *at) {
  for (bool quoted = false; *at && (quoted || *at != ','); at++)
    quoted ^= *at == '`';
  return at;
}

static cocabo_status malformed(const char *from, cocabo_error *err) {
  enum { ROOM = 256 };
  char text[ROOM], shown[CB_SHOWN];
  from = skip_blanks(from);
  size_t size = (size_t)(end_of(from) - from);
  size = size < ROOM - 1 ? size : ROOM - 1;
  memcpy(text, from, size);
  text[size] = '\0';
  return cb_fail(err, COCABO_E_INVALID,
                 "constraint \"%s\" is not METRIC < NUMBER (or <=, >, >=), with blanks "
                 "or commas in a name `like this`",
                 cb_text_show(shown, text));
}

/* The name at r->at, bare or in backquotes; false if there is none, or it is too long.
 */
static bool read_name(reader *r, char name[static CB_NAME_MAX + 1]) {
  const char *at = r->at;
  size_t size = 0;
  if (*at == '`') {
    for (at++; *at && (*at != '`' || at[1] == '`'); at++) {
      at += *at == '`'; /* doubled */
      if (size == CB_NAME_MAX)
        return false;
      name[size++] = *at;
    }
    if (*at++ != '`')
      return false;
  } else {
    size = strcspn(at, " \t\n\r,<>=`");
    if (size > CB_NAME_MAX)
      return false;
    memcpy(name, at, size);
    at += size;
  }
  name[size] = '\0';
  r->at = skip_blanks(at);
  return size > 0;
}

static bool read_number(reader *r, double *bound) {
  enum { ROOM = 400 };
  char digits[ROOM];
  const size_t size = strcspn(r->at, " \t\n\r,");
  if (size == 0 || size >= ROOM)
    return false;
  memcpy(digits, r->at, size);
  digits[size] = '\0';
  r->at = skip_blanks(r->at + size);
  return cb_parse_number(digits, bound);
}

static bool read_operator(reader *r, cb_constraint *item) {
  if (*r->at != '<' && *r->at != '>')
    return false;
  item->above = *r->at++ == '>';
  item->strict = *r->at != '=';
  r->at = skip_blanks(r->at + !item->strict);
  return true;
}

/* Twice in the same direction is a slip: the weaker bound says nothing. */
static cocabo_status refuse_twins(const reader *r, const cb_constraint *item,
                                  cocabo_error *err) {
  char shown[CB_SHOWN];
  for (int i = 0; i < r->n; i++)
    if (r->out->items[i].above == item->above &&
        strcmp(r->out->items[i].metric, item->metric) == 0)
      return cb_fail(err, COCABO_E_INVALID,
                     "metric \"%s\" is bounded twice from %s, want one bound",
                     cb_text_show(shown, item->metric),
                     item->above ? "below" : "above");
  return COCABO_OK;
}

/* The next constraint, up to and with its comma. */
static cocabo_status read_one(reader *r, cocabo_error *err) {
  char name[CB_NAME_MAX + 1];
  cb_constraint item = {.metric = name};
  const char *from = r->at;
  r->at = skip_blanks(r->at);
  if (!read_name(r, name) || !read_operator(r, &item) || !read_number(r, &item.bound) ||
      (*r->at && *r->at != ','))
    return malformed(from, err);
  CB_TRY(cb_name_check("the metric of a constraint", name, err));
  CB_TRY(refuse_twins(r, &item, err));
  if (r->n == CB_MAX_CONSTRAINTS)
    return cb_fail(err, COCABO_E_RANGE, "there are more than %d constraints",
                   CB_MAX_CONSTRAINTS);
  item.metric = strcpy(r->names, name);
  r->names += strlen(name) + 1;
  r->out->items[r->n++] = item;
  r->at += *r->at == ',';
  return COCABO_OK;
}

static cocabo_status read_all(reader *r, cocabo_error *err) {
  do
    CB_TRY(read_one(r, err));
  while (*r->at || r->at[-1] == ','); /* behind a comma there must be another */
  r->out->n = r->n;
  return COCABO_OK;
}

/* No name is longer than the text that it is read from. */
cocabo_status cb_constraints_read(cb_constraints **out, const char *text,
                                  cocabo_error *err) {
  *out = NULL;
  if (!*skip_blanks(text))
    return COCABO_OK;
  cb_constraints *made = cb_calloc(1, sizeof *made + strlen(text) + 1);
  if (!made)
    return cb_no_memory(err);
  reader r = {.at = text, .out = made, .names = (char *)(made + 1)};
  const cocabo_status status = read_all(&r, err);
  if (status == COCABO_OK)
    *out = made;
  else
    cb_free(made);
  return status;
}

cb_constraints *cb_constraints_copy(const cb_constraints *constraints) {
  size_t bytes = 0;
  for (int i = 0; i < constraints->n; i++)
    bytes += strlen(constraints->items[i].metric) + 1;
  cb_constraints *copy = cb_calloc(1, sizeof *copy + bytes);
  char *names = (char *)(copy + 1);
  if (!copy)
    return NULL;
  *copy = *constraints;
  for (int i = 0; i < copy->n; i++) {
    copy->items[i].metric = strcpy(names, constraints->items[i].metric);
    names += strlen(names) + 1;
  }
  return copy;
}

/* ---- judging --------------------------------------------------------------------- */

/* What a trial has measured under a name; NaN: it has not. */
static double measured(const cb_trial *trial, const char *name, const char *objective) {
  for (int i = 0; i < trial->n_metrics; i++)
    if (strcmp(trial->metrics[i].name, name) == 0)
      return trial->metrics[i].value;
  return strcmp(name, objective) == 0 ? trial->value : NAN;
}

double cb_constraint_excess(const cb_constraint *constraint, const cb_trial *trial,
                            const char *objective) {
  const double m = measured(trial, constraint->metric, objective);
  const double half = 0.5 * m - 0.5 * constraint->bound;
  return constraint->above ? -half : half;
}

int cb_constraints_hold(const cb_constraints *constraints, const cb_trial *trial,
                        const char *objective) {
  int answer = 1;
  if (trial->state != COCABO_COMPLETE)
    return -1;
  for (int i = 0; constraints && i < constraints->n; i++) {
    const cb_constraint *c = &constraints->items[i];
    const double m = measured(trial, c->metric, objective);
    if (isnan(m))
      return -1;
    const bool inside = c->above ? m > c->bound : m < c->bound;
    if (!inside && (c->strict || m != c->bound))
      answer = 0;
  }
  return answer;
}

/* The mean |excess| of those that have the metric; 1 if there is nothing to go by. */
static double scale_of(const cb_constraint *constraint, const cb_history *history,
                       const char *objective) {
  double mean = 0.0, count = 0.0;
  for (int64_t i = 0; i < history->n; i++) {
    const double excess = fabs(cb_constraint_excess(
        constraint, &history->trials[history->told[i]], objective));
    if (isnan(excess))
      continue;
    count += 1.0;
    mean += (excess - mean) / count;
  }
  return mean > 0.0 ? mean : 1.0;
}

int64_t cb_constraints_nearest(const cb_constraints *constraints,
                               const cb_history *history, const char *objective) {
  double scale[CB_MAX_CONSTRAINTS], least = INFINITY;
  int64_t nearest = -1;
  for (int k = 0; k < constraints->n; k++)
    scale[k] = scale_of(&constraints->items[k], history, objective);
  for (int64_t i = 0; i < history->n; i++) {
    const cb_trial *trial = &history->trials[history->told[i]];
    double sum = 0.0;
    for (int k = 0; k < constraints->n; k++) {
      const double excess =
          cb_constraint_excess(&constraints->items[k], trial, objective);
      sum += isnan(excess) ? INFINITY : fmax(excess, 0.0) / scale[k];
    }
    if (nearest < 0 || sum < least) {
      nearest = i;
      least = sum;
    }
  }
  return nearest;
}
