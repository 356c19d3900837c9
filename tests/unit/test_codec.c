/* Events as JSON: what is written comes back to the bit, what is read is checked. The
 * yardstick for JSON itself is jansson. */
#include "check.h"

#include <jansson.h>
#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "log/codec.h"

static cocabo_error err;

/* ---- random events --------------------------------------------------------------- */

static uint64_t rng_state = 88172645463325252u;

static uint64_t draw(void) {
  rng_state ^= rng_state << 13;
  rng_state ^= rng_state >> 7;
  rng_state ^= rng_state << 17;
  return rng_state * 0x2545F4914F6CDD1Du;
}

static int draw_below(int n) {
  return (int)(draw() % (uint64_t)n);
}

/* Any bits that make a finite number; zeros of both signs and denormal ones too. */
static double draw_real(void) {
  static const double edges[] = {0.0,    -0.0,
                                 1.0,    -1.0,
                                 0.1,    4.9e-324,
                                 1e-310, 1.7e+308,
                                 1e300,  1e22,
                                 1e23,   123456789012345678.0,
                                 1e16,   9007199254740993.0};
  if (draw_below(4) == 0)
    return edges[draw_below((int)(sizeof edges / sizeof edges[0]))];
  if (draw_below(2) == 0)
    return (double)(draw() >> 11) * 0x1p-53;
  double number = NAN;
  while (!isfinite(number)) {
    const uint64_t bits = draw();
    memcpy(&number, &bits, sizeof number);
  }
  return number;
}

static int64_t draw_integer(void) {
  static const int64_t edges[] = {0, 1, -1, INT64_MAX, INT64_MIN, INT64_C(1) << 53};
  return draw_below(3) == 0 ? edges[draw_below(6)] : (int64_t)draw() >> draw_below(64);
}

static int64_t draw_count(void) {
  return draw_integer() & INT64_MAX;
}

static char *draw_text(void) {
  static const char *const pieces[] = {"a",
                                       "1",
                                       "\"",
                                       "\\",
                                       "\n",
                                       "\t",
                                       "\x01",
                                       "\x1f",
                                       "\x7f",
                                       "/",
                                       "{",
                                       "]",
                                       ",",
                                       "\xc3\xa9",
                                       "\xe2\x82\xac",
                                       "\xf0\x9f\x98\x80",
                                       "\xef\xbf\xbf",
                                       " ",
                                       "'"};
  char *text = cb_calloc(100, 1);
  for (int i = draw_below(20); i > 0; i--)
    strcat(text, pieces[draw_below((int)(sizeof pieces / sizeof pieces[0]))]);
  return text;
}

static cb_pair *draw_pairs(int n) {
  cb_pair *pairs = n > 0 ? cb_calloc((size_t)n, sizeof *pairs) : NULL;
  for (int i = 0; i < n; i++) {
    pairs[i].name = draw_text();
    pairs[i].value = draw_below(5) > 0 ? draw_text() : NULL;
  }
  return pairs;
}

/* Adds a parameter that may be refused; the codec is only asked for those that are not.
 */
static void draw_param(cocabo_space *space) {
  char name[32];
  snprintf(name, sizeof name, "p%d \"\xce\xbb\"", draw_below(1000000));
  const double low = draw_below(2) ? draw_real() : draw_below(100) * 0.1;
  const double high = low + fabs(draw_below(2) ? draw_real() : draw_below(900) * 0.1);
  char *text = draw_text();
  cocabo_value choices[] = {
      {.type = COCABO_INT, .as.integer = draw_integer()},
      {.type = COCABO_REAL, .as.real = draw_real()},
      {.type = COCABO_BOOL, .as.boolean = draw_below(2)},
      {.type = COCABO_NULL},
      {.type = COCABO_TEXT, .as.text = text},
  };
  cocabo_status status = COCABO_OK;
  switch (draw_below(5)) {
  case 0:
    status = cocabo_space_add_real(space, name, low, high,
                                   draw_below(2) ? 0.1 * (1 + draw_below(40)) : 0.0,
                                   draw_below(3) ? 0 : COCABO_LOG, NULL);
    break;
  case 1:
    status = cocabo_space_add_int(space, name, draw_below(100),
                                  200 + draw_below(1 << 30), draw_below(100), 0, NULL);
    break;
  case 2:
    status = cocabo_space_add_int(space, name, 1 + draw_below(100),
                                  100 + draw_below(1 << 30), 0, COCABO_LOG, NULL);
    break;
  default:
    status = cocabo_space_add_choice(space, name, choices, 1 + (size_t)draw_below(5),
                                     draw_below(2) ? COCABO_ORDERED : 0, NULL);
  }
  (void)status;
  cb_free(text);
}

/* Conditions of some parameters, and some rules: an event's bytes have both. */
static void draw_conditions(cocabo_space *space) {
  for (int i = 1; i < space->n && draw_below(2); i++) {
    char text[128];
    const cb_param *before = &space->params[draw_below(i)];
    const bool number = before->kind == CB_REAL || before->kind == CB_INTEGER;
    if (!number)
      continue;
    snprintf(text, sizeof text, "not `%s` + %d < %d.5 or %s", before->name,
             draw_below(9), draw_below(99), draw_below(2) ? "1 < 2" : "2 % 3 == 1");
    assert_ok(cocabo_space_condition(space, space->params[i].name, text, &err));
    assert_ok(cocabo_space_rule(space, text, &err));
  }
}

static cocabo_space *draw_space(void) {
  cocabo_space *space = cocabo_space_new();
  while (space->n == 0)
    for (int i = draw_below(8); i >= 0; i--)
      draw_param(space);
  draw_conditions(space);
  return space;
}

static void draw_proposal(cb_provenance *p) {
  *p = (cb_provenance){.basis = draw_count(),
                       .batch_first = draw_integer(),
                       .batch_size = (int)draw(),
                       .batch_index = (int)draw(),
                       .n_pending = draw_below(40),
                       .n_draws = draw_below(5),
                       .n_fits = draw_below(3)};
  if (p->n_fits > 0)
    p->fits = cb_calloc((size_t)p->n_fits, sizeof *p->fits);
  for (int i = 0; i < p->n_fits; i++)
    for (int k = 0; k < 2; k++)
      p->fits[i][k] = draw_below(3) ? draw() : 0;
  if (p->n_pending > 0)
    p->pending = cb_calloc((size_t)p->n_pending, sizeof *p->pending);
  for (int i = 0; i < p->n_pending; i++)
    p->pending[i] = draw_integer();
  if (p->n_draws > 0)
    p->draws = cb_calloc((size_t)p->n_draws, sizeof *p->draws);
  for (int i = 0; i < p->n_draws; i++)
    p->draws[i] = (cb_draw){.p = draw_real(),
                            .gamma = draw_real(),
                            .b = (int32_t)draw(),
                            .capped = draw_below(2)};
  p->fingerprint = draw_below(2) ? draw_text() : NULL;
}

static void draw_fit(cb_fit *fit) {
  *fit = (cb_fit){.basis = draw_count(),
                  .rows = draw_count(),
                  .round = draw_count(),
                  .n_theta = draw_below(30)};
  if (fit->n_theta > 0)
    fit->theta = cb_calloc((size_t)fit->n_theta, sizeof *fit->theta);
  for (int i = 0; i < fit->n_theta; i++)
    fit->theta[i] = draw_real();
}

static void draw_metrics(cb_event *event) {
  static const char *const names[] = {"p99", "a b",     "größe", "\"",
                                      "\\",  "seconds", "€"};
  cocabo_metric metrics[7];
  const int n = draw_below(8);
  for (int i = 0; i < n; i++)
    metrics[i] = (cocabo_metric){names[i], draw_real()};
  if (n > 0)
    event->metrics =
        cb_metrics_pack(cb_calloc(1, cb_metrics_bytes(metrics, n)), metrics, n);
  event->n_metrics = n;
}

/* What only events of runs have. */
static void draw_run(cb_event *event) {
  const bool observed = event->kind == CB_TRIAL_OBSERVED;
  if (!observed && event->kind != CB_RUN_STARTED)
    return;
  event->attempt = draw_count();
  if (!observed) {
    event->instance = draw_below(2) ? draw_text() : NULL;
    event->seed = draw_count();
    return;
  }
  event->outcome = (cb_outcome)(CB_RUN_OK + draw_below(4));
  event->has_y = event->outcome == CB_RUN_OK || event->outcome == CB_RUN_CAPPED;
  event->y = event->has_y ? draw_real() : 0.0;
  event->seconds = draw_below(2) ? fabs(draw_real()) : 0.0;
}

/* What only those two kinds have. */
static void draw_notes(cb_event *event) {
  char name[32];
  for (int i = 0; event->kind == CB_TRIAL_NOTED && i < event->n_attributes; i++) {
    snprintf(name, sizeof name, "a%d \"\xce\xbb\"", i);
    cb_free(event->attributes[i].name);
    event->attributes[i].name = cb_strdup(name);
    if (!event->attributes[i].value)
      event->attributes[i].value = draw_text();
  }
  if (event->kind == CB_TRIAL_REPORTED)
    event->step = draw_count();
}

/* Any field may be there, whatever the kind; the codec does not mind. */
static cb_event draw_event(char letters[static COCABO_MAX_PARAMETERS + 1]) {
  static const cb_event_kind kinds[] = {
      CB_STUDY_CREATED, CB_STUDY_CHANGED,     CB_TRIAL_ASKED,  CB_TRIAL_TOLD,
      CB_TRIAL_FAILED,  CB_TRIAL_INTERRUPTED, CB_TRIAL_STALE,  CB_TRIAL_RESUMED,
      CB_TRIAL_ADDED,   CB_MODEL_FITTED,      CB_TRIAL_NOTED,  CB_TRIAL_REPORTED,
      CB_RUN_STARTED,   CB_TRIAL_OBSERVED,    CB_TRIAL_RETRIED};
  cb_event event = {.kind = kinds[draw_below(sizeof kinds / sizeof kinds[0])],
                    .seq = 5};
  cocabo_space *space = draw_space();
  cb_codec_letters(space, letters);
  event.n_cells = draw_below(2) ? space->n : 0;
  event.cells =
      event.n_cells > 0 ? cb_calloc((size_t)event.n_cells, sizeof(cb_cell)) : NULL;
  for (int i = 0; i < event.n_cells; i++)
    if (draw_below(5) == 0)
      event.cells[i] = CB_INACTIVE;
    else if (letters[i] == 'r')
      event.cells[i].real = draw_real();
    else
      event.cells[i].integer = draw_integer();
  event.origin = (cb_origin)draw_below(4);
  event.has_y =
      event.kind == CB_TRIAL_TOLD || event.kind == CB_TRIAL_REPORTED || draw_below(2);
  event.y = event.has_y ? draw_real() : 0.0;
  draw_metrics(&event);
  event.reason = draw_below(2) ? draw_text() : NULL;
  event.n_options = draw_below(4);
  event.options = draw_pairs(event.n_options);
  event.n_attributes = draw_below(20);
  event.attributes = draw_pairs(event.n_attributes);
  draw_notes(&event);
  draw_run(&event);
  if (draw_below(2))
    draw_proposal(&event.proposal);
  if (draw_below(2))
    draw_fit(&event.fit);
  if (event.kind == CB_STUDY_CREATED)
    event.space = space;
  else
    cocabo_space_free(space);
  return event;
}

/* ---- comparing ------------------------------------------------------------------- */

static void assert_same_text(const char *got, const char *want) {
  assert_int_equal(!got, !want);
  if (want)
    assert_string_equal(got, want);
}

static void assert_same_bits(const void *got, const void *want, int n, size_t size) {
  if (n > 0)
    assert_memory_equal(got, want, (size_t)n * size);
}

static void assert_same_pairs(const cb_pair *got, const cb_pair *want, int n) {
  for (int i = 0; i < n; i++) {
    assert_same_text(got[i].name, want[i].name);
    assert_same_text(got[i].value, want[i].value);
  }
}

static void assert_same_proposal(const cb_provenance *got, const cb_provenance *want) {
  assert_int_equal(got->basis, want->basis);
  assert_int_equal(got->batch_first, want->batch_first);
  assert_int_equal(got->batch_size, want->batch_size);
  assert_int_equal(got->batch_index, want->batch_index);
  assert_int_equal(got->n_pending, want->n_pending);
  assert_same_bits(got->pending, want->pending, want->n_pending, sizeof(int64_t));
  assert_int_equal(got->n_fits, want->n_fits);
  assert_same_bits(got->fits, want->fits, want->n_fits, sizeof *want->fits);
  assert_int_equal(got->n_draws, want->n_draws);
  for (int i = 0; i < want->n_draws; i++) { /* field by field: there is padding */
    assert_same_bits(&got->draws[i].p, &want->draws[i].p, 1, sizeof(double));
    assert_same_bits(&got->draws[i].gamma, &want->draws[i].gamma, 1, sizeof(double));
    assert_int_equal(got->draws[i].b, want->draws[i].b);
    assert_int_equal(got->draws[i].capped, want->draws[i].capped);
  }
  assert_same_text(got->fingerprint, want->fingerprint);
}

static void assert_same_event(const cb_event *got, const cb_event *want) {
  assert_int_equal(got->kind, want->kind);
  assert_int_equal(got->origin, want->origin);
  assert_int_equal(got->step, want->step);
  assert_int_equal(got->attempt, want->attempt);
  assert_int_equal(got->outcome, want->outcome);
  assert_same_bits(&got->seconds, &want->seconds, 1, sizeof(double));
  assert_same_text(got->instance, want->instance);
  assert_int_equal(got->seed, want->seed);
  assert_int_equal(got->has_y, want->has_y);
  assert_same_bits(&got->y, &want->y, 1, sizeof(double));
  assert_int_equal(got->n_metrics, want->n_metrics);
  for (int i = 0; i < want->n_metrics; i++) {
    assert_string_equal(got->metrics[i].name, want->metrics[i].name);
    assert_same_bits(&got->metrics[i].value, &want->metrics[i].value, 1,
                     sizeof(double));
  }
  assert_same_text(got->reason, want->reason);
  assert_int_equal(got->n_cells, want->n_cells);
  assert_same_bits(got->cells, want->cells, want->n_cells, sizeof(cb_cell));
  assert_int_equal(!got->space, !want->space);
  if (want->space)
    assert_true(cb_space_equal(got->space, want->space));
  assert_int_equal(got->n_options, want->n_options);
  assert_same_pairs(got->options, want->options, want->n_options);
  assert_int_equal(got->n_attributes, want->n_attributes);
  assert_same_pairs(got->attributes, want->attributes, want->n_attributes);
  assert_same_proposal(&got->proposal, &want->proposal);
  assert_int_equal(got->fit.basis, want->fit.basis);
  assert_int_equal(got->fit.rows, want->fit.rows);
  assert_int_equal(got->fit.round, want->fit.round);
  assert_int_equal(got->fit.n_theta, want->fit.n_theta);
  assert_same_bits(got->fit.theta, want->fit.theta, want->fit.n_theta, sizeof(double));
}

/* ---- claims: round trips --------------------------------------------------------- */

static void every_field_comes_back_to_the_bit(void **state) {
  (void)state;
  cb_json json = {0};
  for (int i = 0; i < 5000; i++) {
    char letters[COCABO_MAX_PARAMETERS + 1];
    cb_event event = draw_event(letters);
    cb_event copy = {.kind = event.kind, .seq = event.seq, .attempt = event.attempt};
    assert_ok(cb_codec_encode(&json, &event, letters, &err));
    assert_ok(cb_codec_decode(json.text, json.length, &copy, &err));
    assert_same_event(&copy, &event);
    cb_event_clear(&copy);
    cb_event_clear(&event);
  }
  cb_json_free(&json);
}

static const char *value_key(cb_event_kind kind) {
  return kind == CB_TRIAL_REPORTED || kind == CB_TRIAL_OBSERVED ? "value" : "y";
}

static void jansson_reads_what_we_write(void **state) {
  (void)state;
  cb_json json = {0};
  for (int i = 0; i < 2000; i++) {
    char letters[COCABO_MAX_PARAMETERS + 1];
    cb_event event = draw_event(letters);
    assert_ok(cb_codec_encode(&json, &event, letters, &err));
    json_error_t error;
    json_t *tree = json_loadb(json.text, json.length, JSON_REJECT_DUPLICATES, &error);
    if (!tree)
      fail_msg("%s in %.*s", error.text, (int)json.length, json.text);
    if (event.has_y)
      assert_true(json_real_value(json_object_get(tree, value_key(event.kind))) ==
                  event.y);
    if (event.reason)
      assert_string_equal(json_string_value(json_object_get(tree, "reason")),
                          event.reason);
    json_decref(tree);
    cb_event_clear(&event);
  }
  cb_json_free(&json);
}

/* Where the last level is not the user's `high`, it is a rounded sum. */
static void every_grid_comes_back_to_the_bit(void **state) {
  (void)state;
  cb_json json = {0};
  int n = 0;
  while (n < 30000) {
    cb_event created = {.kind = CB_STUDY_CREATED, .seq = 1};
    created.space = cocabo_space_new();
    const double scale = exp(20.0 * ((double)(draw() >> 11) * 0x1p-53 - 0.5));
    const double low = scale * (draw_below(2001) - 1000) / 1000.0;
    const double step = scale * (1 + draw_below(1000)) / (draw_below(2) ? 1000.0 : 7e5);
    const double high = low + step * draw_below(5) + step * draw_below(1000) / 999.0;
    if (cocabo_space_add_real(created.space, "x", low, high, step, 0, NULL) ==
        COCABO_OK) {
      cb_event copy = {.kind = CB_STUDY_CREATED, .seq = 1};
      assert_ok(cb_codec_encode(&json, &created, "r", &err));
      assert_ok(cb_codec_decode(json.text, json.length, &copy, &err));
      assert_true(cb_space_equal(copy.space, created.space));
      cb_event_clear(&copy);
      n++;
    }
    cb_event_clear(&created);
  }
  cb_json_free(&json);
}

static void choices_keep_their_types(void **state) {
  (void)state;
  const cocabo_value choices[] = {{.type = COCABO_INT, .as.integer = 1},
                                  {.type = COCABO_REAL, .as.real = 1.0},
                                  {.type = COCABO_BOOL, .as.boolean = 1},
                                  {.type = COCABO_TEXT, .as.text = "1"},
                                  {.type = COCABO_NULL},
                                  {.type = COCABO_TEXT, .as.text = "null"}};
  cb_event created = {.kind = CB_STUDY_CREATED, .seq = 1, .space = cocabo_space_new()};
  assert_ok(cocabo_space_add_choice(created.space, "c", choices, 6, 0, &err));
  cb_json json = {0};
  assert_ok(cb_codec_encode(&json, &created, "i", &err));
  const char *want = "{\"space\":[{\"name\":\"c\",\"type\":\"choice\",\"choices\":"
                     "[1,1.0,true,\"1\",null,\"null\"]}]}";
  assert_int_equal(json.length, strlen(want));
  assert_memory_equal(json.text, want, json.length);
  cb_event copy = {.kind = CB_STUDY_CREATED, .seq = 1};
  assert_ok(cb_codec_decode(json.text, json.length, &copy, &err));
  assert_true(cb_space_equal(copy.space, created.space));
  cb_event_clear(&copy);
  cb_event_clear(&created);
  cb_json_free(&json);
}

static void a_comma_in_the_locale_changes_nothing(void **state) {
  (void)state;
  if (!setlocale(LC_NUMERIC, "de_DE.UTF-8"))
    skip();
  every_field_comes_back_to_the_bit(state);
  jansson_reads_what_we_write(state);
  setlocale(LC_NUMERIC, "C");
}

/* ---- claims: reading ------------------------------------------------------------- */

static cocabo_status decode(cb_event *event, cb_event_kind kind, const char *text) {
  *event = (cb_event){.kind = kind, .seq = 12};
  return cb_codec_decode(text, strlen(text), event, &err);
}

static void order_space_and_unknown_keys_do_not_matter(void **state) {
  (void)state;
  cb_event event;
  assert_ok(decode(&event, CB_TRIAL_ASKED,
                   " {\t\"new\" : {\"y\":[1,{\"a\":null},\"\\ud83d\\ude00\"]},\n"
                   "\"by\":2 , \"cells\" : [ 1E2 , -7 ] ,\r\"batch\":[3,2,1],"
                   "\"also\":-0.5e-3,\"basis\":4} "));
  assert_int_equal(event.origin, CB_BY_SAMPLER);
  assert_int_equal(event.n_cells, 2);
  assert_true(event.cells[0].real == 100.0);
  assert_int_equal(event.cells[1].integer, -7);
  assert_int_equal(event.proposal.batch_index, 1);
  assert_int_equal(event.proposal.basis, 4);
  assert_false(event.has_y);
  cb_event_clear(&event);
}

/* A later version may give them another meaning in other kinds. */
static void keys_of_runs_mean_nothing_elsewhere(void **state) {
  (void)state;
  static const char *const body =
      "{\"y\":1.5,\"run\":\"x\",\"seed\":-1,\"instance\":7,\"seconds\":[]}";
  static const cb_event_kind kinds[] = {CB_TRIAL_TOLD, CB_TRIAL_FAILED, CB_TRIAL_ADDED};
  for (int i = 0; i < 3; i++) {
    cb_event event;
    assert_ok(decode(&event, kinds[i], body));
    assert_true(event.y == 1.5 && event.seed == 0 && event.seconds == 0.0);
    assert_null(event.instance);
    cb_event_clear(&event);
  }
}

static void runs_are_written_as_they_are_read(void **state) {
  (void)state;
  static const char *const started = "{\"run\":3,\"instance\":\"a.cnf\",\"seed\":11}";
  static const char *const observed = "{\"run\":3,\"state\":\"capped\","
                                      "\"seconds\":0.25,\"value\":2.5}";
  cb_json json = {0};
  for (int i = 0; i < 2; i++) {
    const char *body = i == 0 ? started : observed;
    cb_event event = {
        .kind = i == 0 ? CB_RUN_STARTED : CB_TRIAL_OBSERVED, .seq = 12, .attempt = 3};
    assert_ok(cb_codec_decode(body, strlen(body), &event, &err));
    assert_ok(cb_codec_encode(&json, &event, "", &err));
    assert_int_equal(json.length, strlen(body));
    assert_memory_equal(json.text, body, json.length);
    cb_event_clear(&event);
  }
  cb_json_free(&json);
}

static void escapes_are_understood(void **state) {
  (void)state;
  cb_event event;
  assert_ok(decode(&event, CB_TRIAL_FAILED,
                   "{\"re\\u0061son\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00e9"
                   "\\u20ac\\uD83D\\uDE00\xc3\xa9\"}"));
  assert_string_equal(event.reason, "\"\\/\b\f\n\r\tA\xc3\xa9\xe2\x82\xac"
                                    "\xf0\x9f\x98\x80\xc3\xa9");
  cb_event_clear(&event);
}

static void conditions_and_rules_are_texts_and_inactive_is_null(void **state) {
  (void)state;
  static const char *const body =
      "{\"space\":[{\"name\":\"k\",\"type\":\"choice\",\"choices\":[\"a\",1]},"
      "{\"name\":\"x\",\"type\":\"float\",\"low\":0.0,\"high\":1.0,"
      "\"if\":\"k == \\\"a\\\"\"}],\"where\":[\"x < 0.5\"]}";
  cb_event event;
  cb_json json = {0};
  char letters[COCABO_MAX_PARAMETERS + 1];
  assert_ok(decode(&event, CB_STUDY_CREATED, body));
  assert_string_equal(cocabo_space_get_condition(event.space, 1), "k == \"a\"");
  assert_string_equal(cocabo_space_get_rule(event.space, 0), "x < 0.5");
  assert_int_equal(event.space->d, 2);
  cb_codec_letters(event.space, letters);
  assert_ok(cb_codec_encode(&json, &event, letters, &err));
  assert_int_equal(json.length, strlen(body));
  assert_memory_equal(json.text, body, json.length);
  cb_event_clear(&event);

  assert_ok(decode(&event, CB_TRIAL_ASKED, "{\"cells\":[1,null],\"by\":1}"));
  assert_int_equal(event.cells[0].integer, 1);
  assert_false(cb_cell_is_active(event.cells[1]));
  assert_ok(cb_codec_encode(&json, &event, letters, &err));
  assert_memory_equal(json.text, "{\"cells\":[1,null],\"by\":1}", json.length);
  cb_event_clear(&event);
  cb_json_free(&json);
}

static void empty_lists_are_fine(void **state) {
  (void)state;
  cb_event event;
  assert_ok(
      decode(&event, CB_TRIAL_ASKED,
             "{\"cells\":[],\"pending\":[],\"fits\":[],\"draws\":[],\"options\":[],"
             "\"attributes\":[],\"fit\":{}}"));
  assert_int_equal(event.n_cells, 0);
  cb_event_clear(&event);
}

static const struct {
  cb_event_kind kind;
  const char *text, *sentence;
} damages[] = {
    {CB_TRIAL_TOLD, "", "at byte 0: want an object"},
    {CB_TRIAL_TOLD, "null", "at byte 0: want an object"},
    {CB_TRIAL_TOLD, "[1]", "at byte 0: want an object"},
    {CB_TRIAL_TOLD, "{\"y\":1", "at byte 6: want a comma or the end of a list"},
    {CB_TRIAL_TOLD, "{\"y\":1}}", "at byte 7: want the end"},
    {CB_TRIAL_TOLD, "{\"y\":1,}", "at byte 7: want a key"},
    {CB_TRIAL_TOLD, "{\"y\" 1}", "at byte 5: want a colon"},
    {CB_TRIAL_TOLD, "{}", "it has no value"},
    {CB_TRIAL_TOLD, "{\"y\":\"1\"}", "at byte 5: want a finite number"},
    {CB_TRIAL_TOLD, "{\"y\":nan}", "at byte 5: want a finite number"},
    {CB_TRIAL_TOLD, "{\"y\":-inf}", "at byte 5: want a finite number"},
    {CB_TRIAL_TOLD, "{\"y\":1e999}", "at byte 5: want a finite number"},
    {CB_TRIAL_TOLD, "{\"y\":01}", "at byte 5: want a finite number"},
    {CB_TRIAL_TOLD, "{\"y\":0x1}", "at byte 6: want a comma or the end of a list"},
    {CB_TRIAL_TOLD, "{\"y\":+1}", "at byte 5: want a finite number"},
    {CB_TRIAL_TOLD, "{\"y\":1.}", "at byte 5: want a finite number"},
    {CB_TRIAL_TOLD, "{\"y\":.5}", "at byte 5: want a finite number"},
    {CB_TRIAL_TOLD, "{\"y\":1e}", "at byte 5: want a finite number"},
    {CB_TRIAL_TOLD, "{\"y\":1,\"y\":2}", "at byte 11: want each key once"},
    {CB_TRIAL_TOLD, "{\"y\":1,\"z\":tru}", "at byte 11: want true or false"},
    {CB_TRIAL_TOLD, "{\"y\":1,\"z\":nil}", "at byte 11: want null"},
    {CB_TRIAL_TOLD, "{\"y\":1,\"z\":}", "at byte 11: want a value"},
    {CB_TRIAL_TOLD, "{\"y\":1,\"z\":[1 2]}",
     "at byte 14: want a comma or the end of a list"},
    {CB_TRIAL_TOLD, "{\"0123456789012345678901234567890123\":1}",
     "at byte 33: want a shorter text"},
    {CB_TRIAL_TOLD, "{\"y\":1,\"metrics\":[]}", "at byte 17: want an object"},
    {CB_TRIAL_TOLD, "{\"y\":1,\"metrics\":{\"a\":null}}",
     "at byte 22: want a finite number"},
    {CB_TRIAL_TOLD, "{\"y\":1,\"metrics\":{\"a\":1e999}}",
     "at byte 22: want a finite number"},
    {CB_TRIAL_TOLD, "{\"y\":1,\"metrics\":{\"a\":1,\"a\":1}}",
     "metric \"a\" is given twice"},
    {CB_TRIAL_TOLD, "{\"y\":1,\"metrics\":{\"\":1}}", "metric name is empty"},
    {CB_TRIAL_FAILED, "{\"reason\":\"a\nb\"}",
     "at byte 12: want a text without control characters and odd escapes"},
    {CB_TRIAL_FAILED, "{\"reason\":\"\\x\"}",
     "at byte 11: want a text without control characters and odd escapes"},
    {CB_TRIAL_FAILED, "{\"reason\":\"\\u0000\"}",
     "at byte 11: want a text without control characters and odd escapes"},
    {CB_TRIAL_FAILED, "{\"reason\":\"\\ud800\"}",
     "at byte 11: want a text without control characters and odd escapes"},
    {CB_TRIAL_FAILED, "{\"reason\":\"\\udc00\\ud800\"}",
     "at byte 11: want a text without control characters and odd escapes"},
    {CB_TRIAL_FAILED, "{\"reason\":\"\xff\"}", "at byte 13: want UTF-8"},
    {CB_TRIAL_FAILED, "{\"reason\":\"abc", "at byte 14: want the end of a text"},
    {CB_TRIAL_FAILED, "{\"reason\":\"abc\\",
     "at byte 14: want a text without control characters and odd escapes"},
    {CB_TRIAL_FAILED, "{\"reason\":7}", "at byte 10: want a text"},
    {CB_TRIAL_ASKED, "{\"cells\":[1,true]}", "at byte 12: want a finite number"},
    {CB_TRIAL_ASKED, "{\"cells\":[9223372036854775808]}",
     "at byte 10: want an integer in its range"},
    {CB_TRIAL_ASKED, "{\"cells\":{}}", "at byte 9: want an array"},
    {CB_TRIAL_ASKED, "{\"by\":0}", "at byte 6: want an integer in its range"},
    {CB_TRIAL_ASKED, "{\"by\":4}", "at byte 6: want an integer in its range"},
    {CB_TRIAL_ASKED, "{\"by\":1.0}", "at byte 6: want an integer in its range"},
    {CB_TRIAL_ASKED, "{\"batch\":[1,2]}", "at byte 14: want a longer list"},
    {CB_TRIAL_ASKED, "{\"batch\":[1,2,3,4]}", "at byte 16: want a shorter list"},
    {CB_TRIAL_ASKED, "{\"batch\":[1,2,2147483648]}",
     "at byte 14: want an integer in its range"},
    {CB_TRIAL_ASKED, "{\"draws\":[[0.5,0.1,1,1]]}", "at byte 21: want true or false"},
    {CB_TRIAL_ASKED, "{\"fits\":[7]}", "at byte 9: want a text"},
    {CB_TRIAL_ASKED, "{\"fits\":[\"0123456789abcdef0123456789abcde\"]}",
     "at byte 42: want the id of an event, 32 hexadecimal digits"},
    {CB_TRIAL_ASKED, "{\"fits\":[\"0123456789abcdef0123456789abcdeF\"]}",
     "at byte 43: want the id of an event, 32 hexadecimal digits"},
    {CB_RUN_STARTED, "{\"run\":1}", "at byte 8: want the run that the event has"},
    {CB_RUN_STARTED, "{\"run\":-1}", "at byte 7: want an integer in its range"},
    {CB_RUN_STARTED, "{\"seed\":-1}", "at byte 8: want an integer in its range"},
    {CB_RUN_STARTED, "{\"instance\":7}", "at byte 12: want a text"},
    {CB_TRIAL_OBSERVED, "{\"run\":0}", "it does not say how the run ended"},
    {CB_TRIAL_OBSERVED, "{\"state\":\"lost\"}",
     "at byte 15: want the state ok, failed, capped or discarded"},
    {CB_TRIAL_OBSERVED, "{\"state\":\"running\"}",
     "at byte 18: want the state ok, failed, capped or discarded"},
    {CB_TRIAL_OBSERVED, "{\"state\":\"ok\"}", "it has no value"},
    {CB_TRIAL_OBSERVED, "{\"state\":\"capped\"}", "it has no value"},
    {CB_TRIAL_OBSERVED, "{\"state\":\"failed\",\"value\":1}", "it has a value"},
    {CB_TRIAL_OBSERVED, "{\"state\":\"discarded\",\"value\":1}", "it has a value"},
    {CB_TRIAL_OBSERVED, "{\"state\":\"failed\",\"seconds\":-0.5}",
     "at byte 32: want 0 seconds or more"},
    {CB_MODEL_FITTED, "{\"fit\":{\"basis\":-1}}",
     "at byte 16: want an integer in its range"},
    {CB_MODEL_FITTED, "{\"fit\":{\"theta\":[1,true]}}",
     "at byte 19: want a finite number"},
    {CB_STUDY_CHANGED, "{\"options\":[[\"seed\"]]}", "at byte 20: want a longer list"},
    {CB_STUDY_CHANGED, "{\"options\":[[null,\"7\"]]}", "at byte 13: want a text"},
    {CB_STUDY_CREATED, "{}", "it has no space"},
    {CB_STUDY_CREATED, "{\"space\":[]}", "it has no space"},
    {CB_STUDY_CREATED, "{\"space\":[{}]}", "a parameter has no name or no type"},
    {CB_STUDY_CREATED, "{\"space\":[{\"name\":\"x\",\"type\":\"set\"}]}",
     "parameter \"x\" has a type that this version does not know"},
    {CB_STUDY_CREATED, "{\"space\":[{\"name\":\"x\",\"type\":\"float\",\"low\":1}]}",
     "parameter \"x\" has no range"},
    {CB_STUDY_CREATED, "{\"space\":[{\"name\":\"a\\nb\",\"type\":\"float\"}]}",
     "parameter \"a?b\" has no range"},
    {CB_STUDY_CREATED,
     "{\"space\":[{\"name\":\"x\",\"type\":\"int\",\"low\":1,\"high\":2.0}]}",
     "parameter \"x\" has no range of integers"},
    {CB_STUDY_CREATED,
     "{\"space\":[{\"name\":\"x\",\"type\":\"float\",\"low\":1,\"high\":0}]}",
     "parameter \"x\": low is 1, high is 0, want low <= high"},
    {CB_STUDY_CREATED,
     "{\"space\":[{\"name\":\"x\",\"type\":\"float\",\"low\":0,\"high\":1,"
     "\"step\":0.3}]}",
     "parameter \"x\" ends off its grid"},
    {CB_STUDY_CREATED, "{\"space\":[{\"name\":\"x\",\"type\":\"choice\"}]}",
     "parameter \"x\" has 0 choices, want 1 to 1000"},
    {CB_STUDY_CREATED,
     "{\"space\":[{\"name\":\"x\",\"type\":\"choice\",\"choices\":[1,1]}]}",
     "parameter \"x\": choice 1 repeats choice 0"},
    {CB_STUDY_CREATED,
     "{\"space\":[{\"name\":\"x\",\"type\":\"choice\",\"choices\":[[]]}]}",
     "at byte 49: want a scalar"},
    {CB_STUDY_CREATED,
     "{\"space\":[{\"name\":\"x\",\"type\":\"choice\",\"choices\":[1],\"if\":1}]}",
     "at byte 57: want a text"},
    {CB_STUDY_CREATED,
     "{\"space\":[{\"name\":\"x\",\"type\":\"choice\",\"choices\":[1],"
     "\"if\":\"x == 1\"}]}",
     "the condition of \"x\": in \"x == 1\" at column 1: parameter \"x\" is not "
     "declared before this"},
    {CB_STUDY_CREATED, "{\"where\":[\"1 < 2\"]}",
     "at byte 9: want the space before its rules"},
    {CB_STUDY_CREATED,
     "{\"space\":[{\"name\":\"x\",\"type\":\"choice\",\"choices\":[1]}],"
     "\"where\":[\"y < 2\"]}",
     "the rule \"y < 2\": in \"y < 2\" at column 1: no parameter \"y\""},
    {CB_STUDY_CREATED,
     "{\"space\":[{\"name\":\"x\",\"type\":\"choice\",\"choices\":[1]}],"
     "\"where\":\"x < 2\"}",
     "at byte 62: want an array"},
};

static void damage_is_told_in_a_sentence(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
    cb_event event;
    if (decode(&event, damages[i].kind, damages[i].text) != COCABO_E_STORE)
      fail_msg("accepted: %s", damages[i].text);
    char want[256];
    snprintf(want, sizeof want, "event 12 of the log is damaged%s%s",
             strncmp(damages[i].sentence, "at byte", 7) == 0 ? " " : ": ",
             damages[i].sentence);
    assert_string_equal(err.message, want);
    assert_int_equal(event.kind, 0); /* cleared */
  }
}

/* Of kinds that a later version has: whether they matter is not for the codec to say.
 */
static void bodies_of_unknown_kinds_are_kept(void **state) {
  (void)state;
  static const int kinds[] = {0, -1, 14, 102, 199, 1000000};
  static const char *const texts[] = {
      "{}", "{ \"y\" : [1, {\"a\":null}],\"version\":3}", "{\"version\":\"0.4.0\"}"};
  cb_json json = {0};
  for (int i = 0; i < 6; i++)
    for (int k = 0; k < 3; k++) {
      cb_event event, copy;
      assert_ok(decode(&event, (cb_event_kind)kinds[i], texts[k]));
      assert_string_equal(event.body, texts[k]);
      assert_same_text(event.version, k == 2 ? "0.4.0" : NULL);
      assert_ok(cb_event_copy(&copy, &event, &err));
      assert_ok(cb_codec_encode(&json, &copy, "", &err));
      assert_int_equal(json.length, strlen(texts[k]));
      assert_memory_equal(json.text, texts[k], json.length);
      cb_event_clear(&event);
      cb_event_clear(&copy);
    }
  cb_json_free(&json);
}

static void deep_and_long_texts_are_refused(void **state) {
  (void)state;
  enum { LONG = CB_JSON_MAX + 1 };
  char *text = malloc(LONG);
  cb_event event = {.kind = CB_TRIAL_TOLD, .seq = 12};
  memset(text, '[', LONG);
  memcpy(text, "{\"z\":", 5);
  assert_fails(cb_codec_decode(text, 100000, &event, &err), COCABO_E_STORE,
               "event 12 of the log is damaged at byte 105: want fewer brackets inside "
               "each other");
  event = (cb_event){.kind = CB_TRIAL_TOLD, .seq = 12};
  assert_fails(cb_codec_decode(text, LONG, &event, &err), COCABO_E_STORE,
               "event 12 of the log is damaged at byte 0: want a shorter text");
  memset(text, '1', 1600); /* a number of 1500 characters is fine */
  memcpy(text, "{\"y\":0.", 7);
  text[1505] = '}';
  event = (cb_event){.kind = CB_TRIAL_TOLD, .seq = 12};
  assert_ok(cb_codec_decode(text, 1506, &event, &err));
  assert_relative(event.y, 1.0 / 9.0, 1e-15);
  cb_event_clear(&event);
  memcpy(text + 1505, "1}", 2);
  event = (cb_event){.kind = CB_TRIAL_TOLD, .seq = 12};
  assert_fails(cb_codec_decode(text, 1507, &event, &err), COCABO_E_STORE,
               "event 12 of the log is damaged at byte 5: want a finite number");
  for (int i = 0; i + 1 < LONG; i += 2) /* more cells than a space can have */
    memcpy(text + i, "1,", 2);
  memcpy(text, "{\"cells\":[", 10);
  event = (cb_event){.kind = CB_TRIAL_ASKED, .seq = 12};
  assert_fails(cb_codec_decode(text, LONG - 1, &event, &err), COCABO_E_STORE,
               "event 12 of the log is damaged at byte 411: want fewer cells");
  free(text);
}

/* Valid bodies with some bytes changed: nothing that we accept is not JSON, and what we
 * accept can be written and read again. */
static void accepted_texts_are_json(void **state) {
  (void)state;
  static const char bytes[] = "{}[]\",:0123456789.eE+-\\utfnalse \x01\x80\xff";
  cb_json json = {0}, again = {0};
  int accepted = 0;
  for (int i = 0; i < 10000; i++) {
    char letters[COCABO_MAX_PARAMETERS + 1];
    cb_event event = draw_event(letters);
    assert_ok(cb_codec_encode(&json, &event, letters, &err));
    for (int k = 1 + draw_below(3); k > 0; k--)
      json.text[draw() % json.length] = bytes[draw() % (sizeof bytes - 1)];
    cb_event copy = {.kind = event.kind, .seq = 1, .attempt = event.attempt};
    if (cb_codec_decode(json.text, json.length, &copy, &err) == COCABO_OK) {
      accepted++;
      json_t *tree = json_loadb(json.text, json.length, 0, NULL);
      if (!tree)
        fail_msg("not JSON: %.*s", (int)json.length, json.text);
      json_decref(tree);
      memset(letters, 'i', sizeof letters); /* bits, whatever they mean */
      letters[copy.n_cells] = '\0';
      cb_event third = {.kind = event.kind, .seq = 1, .attempt = event.attempt};
      assert_ok(cb_codec_encode(&again, &copy, letters, &err));
      assert_ok(cb_codec_decode(again.text, again.length, &third, &err));
      assert_same_event(&third, &copy);
      cb_event_clear(&third);
    } else {
      assert_int_equal(err.code, COCABO_E_STORE);
    }
    cb_event_clear(&copy);
    cb_event_clear(&event);
  }
  assert_true(accepted > 500);
  cb_json_free(&json);
  cb_json_free(&again);
}

/* ---- claims: writing ------------------------------------------------------------- */

static void what_cannot_be_read_is_not_written(void **state) {
  (void)state;
  cb_json json = {0};
  cb_event told = {.kind = CB_TRIAL_TOLD, .has_y = true, .y = NAN};
  assert_fails(cb_codec_encode(&json, &told, "", &err), COCABO_E_INVALID,
               "a number of an event is nan, want a finite one");
  told.y = -INFINITY;
  assert_fails(cb_codec_encode(&json, &told, "", &err), COCABO_E_INVALID,
               "a number of an event is -inf, want a finite one");
  cb_event failed = {.kind = CB_TRIAL_FAILED, .reason = "a\xff"};
  assert_fails(cb_codec_encode(&json, &failed, "", &err), COCABO_E_INVALID,
               "\"a?\" is not valid UTF-8");
  cb_cell cells[2] = {{.real = 0.5}, {.real = 0.5}};
  cb_event asked = {.kind = CB_TRIAL_ASKED, .n_cells = 2, .cells = cells};
  assert_fails(cb_codec_encode(&json, &asked, "rri", &err), COCABO_E_INVALID,
               "a trial has 2 values, want one for each of 3 parameters");
  char *text = malloc(CB_JSON_MAX);
  memset(text, 'a', CB_JSON_MAX);
  text[CB_JSON_MAX - 1] = '\0';
  failed.reason = text;
  assert_fails(cb_codec_encode(&json, &failed, "", &err), COCABO_E_INVALID,
               "an event needs more than 16 MiB");
  free(text);
  told.y = 0.25; /* and it still works */
  assert_ok(cb_codec_encode(&json, &told, "", &err));
  assert_memory_equal(json.text, "{\"y\":0.25}", json.length);
  cb_json_free(&json);
}

static void lack_of_memory_is_told(void **state) {
  (void)state;
  for (int i = 0; i < 200; i++) {
    char letters[COCABO_MAX_PARAMETERS + 1];
    cb_event event = draw_event(letters);
    cb_json json = {0};
    cocabo_status status = COCABO_E_NO_MEMORY;
    for (long k = 0; status != COCABO_OK; k++) {
      cb_json_free(&json);
      cb_mem_fail_after(k);
      status = cb_codec_encode(&json, &event, letters, &err);
      cb_mem_fail_after(-1);
      assert_true(status == COCABO_OK || status == COCABO_E_NO_MEMORY);
    }
    status = COCABO_E_NO_MEMORY;
    cb_event copy = {0};
    for (long k = 0; status != COCABO_OK; k++) {
      copy = (cb_event){.kind = event.kind, .seq = 1, .attempt = event.attempt};
      cb_mem_fail_after(k);
      status = cb_codec_decode(json.text, json.length, &copy, &err);
      cb_mem_fail_after(-1);
      if (status != COCABO_OK)
        assert_int_equal(status, COCABO_E_NO_MEMORY);
    }
    assert_same_event(&copy, &event);
    cb_event_clear(&copy);
    cb_event_clear(&event);
    cb_json_free(&json);
  }
}

/* ---- the checksum ---------------------------------------------------------------- */

/* The known answers that its authors publish (FNV-1a, 64 bits). */
static void checksums_are_the_published_ones(void **state) {
  (void)state;
  static const struct {
    const char *text;
    uint64_t want;
  } cases[] = {{"", 0xcbf29ce484222325u},
               {"a", 0xaf63dc4c8601ec8cu},
               {"foobar", 0x85944171f73967e8u},
               {"chongo was here!\n", 0x46810940eff5f915u}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    assert_true(cb_codec_checksum(cases[i].text, strlen(cases[i].text)) ==
                cases[i].want);
}

static void any_other_byte_is_another_checksum(void **state) {
  (void)state;
  char text[] = "{\"y\":-0.1,\"reason\":\"\xce\xbb\"}";
  const size_t n = strlen(text);
  const uint64_t want = cb_codec_checksum(text, n);
  for (size_t i = 0; i < n; i++)
    for (int flip = 1; flip < 256; flip++) {
      text[i] = (char)(text[i] ^ flip);
      assert_true(cb_codec_checksum(text, n) != want);
      text[i] = (char)(text[i] ^ flip);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_field_comes_back_to_the_bit),
      cmocka_unit_test(jansson_reads_what_we_write),
      cmocka_unit_test(every_grid_comes_back_to_the_bit),
      cmocka_unit_test(choices_keep_their_types),
      cmocka_unit_test(a_comma_in_the_locale_changes_nothing),
      cmocka_unit_test(order_space_and_unknown_keys_do_not_matter),
      cmocka_unit_test(keys_of_runs_mean_nothing_elsewhere),
      cmocka_unit_test(runs_are_written_as_they_are_read),
      cmocka_unit_test(escapes_are_understood),
      cmocka_unit_test(conditions_and_rules_are_texts_and_inactive_is_null),
      cmocka_unit_test(empty_lists_are_fine),
      cmocka_unit_test(damage_is_told_in_a_sentence),
      cmocka_unit_test(bodies_of_unknown_kinds_are_kept),
      cmocka_unit_test(deep_and_long_texts_are_refused),
      cmocka_unit_test(accepted_texts_are_json),
      cmocka_unit_test(what_cannot_be_read_is_not_written),
      cmocka_unit_test(lack_of_memory_is_told),
      cmocka_unit_test(checksums_are_the_published_ones),
      cmocka_unit_test(any_other_byte_is_another_checksum),
  };
  return cmocka_run_group_tests_name("store/codec", tests, NULL, NULL);
}
