/* options.c - the table of options: their names, defaults and help, what texts they
 * take, and what they mean for a space.
 */
#include "study/options.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "base/text.h"
#include "log/constraints.h"
#include "log/runs.h"

/* ---- the table ------------------------------------------------------------------- */

/* How the text of a value is read. */
typedef enum value_form {
  WORD,    /* one of the words in the type, separated by | */
  INT,     /* low <= value <= high */
  NUMBER,  /* low <= value <= high, where high may be NO_LIMIT */
  SAMPLER, /* a name in the list of samplers */
  LINES,   /* any text */
  BOUNDS   /* constraints (log/constraints.h), which are kept read */
} value_form;

typedef struct option_row {
  const char *name;
  value_form form;
  bool may_be_auto;
  int64_t low, high; /* INT, NUMBER */
  const char *type, *fallback, *help;
} option_row;

#define NO_LIMIT INT64_MAX
#define WORDS WORD, false, 0, 0

/* Each option, once. The first column makes the enum, the others the table. */
#define OPTIONS(X)                                                                     \
  X(direction, WORDS, "minimize|maximize", "minimize",                                 \
    "whether small or large values are good; fixed when a study is created")           \
  X(seed, INT, false, 0, NO_LIMIT, "int >= 0", "0",                                    \
    "names the random streams: the same seed and results give the same proposals")     \
  X(sampler, SAMPLER, false, 0, 0, "name of a sampler", "mixed",                       \
    "how points are proposed")                                                         \
  X(n_init, INT, true, 0, NO_LIMIT, "auto or int >= 0", "auto",                        \
    "random points before the sampler starts; auto: 2 per parameter plus 2, at most "  \
    "24, of which mixed has all after 10 later if there are choices")                  \
  X(horizon, INT, false, 0, NO_LIMIT, "int >= 0", "0",                                 \
    "planned number of asks, for the bandit; 0: not known")                            \
  X(deterministic, WORDS, "true|false", "true",                                        \
    "the same point always gives the same value, so none is proposed twice")           \
  X(lambda, NUMBER, true, 0, 1, "auto or number in [0,1]", "auto",                     \
    "mix of the kernel: 0 is the sum, 1 the product; auto: learnt")                    \
  X(kernel_sum, WORDS, "half|paper", "half",                                           \
    "sum part of the kernel: (k_h + k_x) / 2, or k_h + k_x as in the paper")           \
  X(ard, WORDS, "auto|true|false", "auto",                                             \
    "one length scale per numeric parameter; auto: true for mixed, false for cocabo")  \
  X(acquisition, WORDS, "auto|ucb|ei|logei", "auto",                                   \
    "what makes a point worth trying; auto: logei for mixed, ei for smac, ucb for "    \
    "cocabo, onehot and exp3bo")                                                       \
  X(kappa, NUMBER, false, 0, NO_LIMIT, "number >= 0", "2",                             \
    "weight of the uncertainty in ucb")                                                \
  X(reward, WORDS, "auto|relative|standard|best|value|rank", "auto",                   \
    "how a value rewards the bandit; auto: relative. Where a batch draws several "     \
    "categories together it is kept in [0,1]")                                         \
  X(outliers, WORDS, "cut|keep", "cut",                                                \
    "values far below the median, as the model of cocabo and onehot sees them; cut: "  \
    "at three times the gap between best and median")                                  \
  X(bandit_init, WORDS, "true|false", "false",                                         \
    "initial points move the bandit's weights too")                                    \
  X(refit_every, INT, true, 1, NO_LIMIT, "auto or int >= 1", "auto",                   \
    "results (mixed) or asks (cocabo, onehot, exp3bo) between two fits; auto: by the " \
    "number of results for mixed, 10 for the others")                                  \
  X(samples, INT, false, 1, 10000000, "int in [1,10000000]", "5000",                   \
    "random candidates of the acquisition's maximiser, for cocabo and smac")           \
  X(model_size, INT, false, 10, NO_LIMIT, "int >= 10", "1000",                         \
    "most observations the model holds")                                               \
  X(trials, INT, false, 0, NO_LIMIT, "int >= 0", "0",                                  \
    "complete and failed trials that the study shall reach; 0: no limit")              \
  X(durability, WORDS, "normal|full", "normal",                                        \
    "what a stored result survives: normal: the process, full: a power cut too")       \
  X(constraints, BOUNDS, false, 0, 0, "METRIC < NUMBER, ...", "",                      \
    "bounds on metrics (also <=, >, >=): the best trial is the best that keeps them")  \
  X(instances, LINES, false, 0, 0, "one a line", "",                                   \
    "what every trial is run on, in one random order; fixed when a study is created")  \
  X(seeds, INT, false, 0, 1000000, "int in [0,1000000]", "0",                          \
    "seeds that it is run with on each instance: 1, 2, ...; fixed likewise")           \
  X(combine, WORDS, "mean|median|geomean|sum|max", "mean",                             \
    "what the values of its runs come to; fixed likewise")                             \
  X(repeats, INT, true, 1, 1000000, "auto or int >= 1", "1",                           \
    "runs of a trial where there are neither instances nor seeds; auto: a trial is "   \
    "run again where that is worth more than a new one; fixed likewise")               \
  X(runs, INT, false, 0, NO_LIMIT, "int >= 0", "0",                                    \
    "runs that the study shall reach in all; 0: no limit")                             \
  X(max_runs, INT, false, 0, NO_LIMIT, "int >= 0", "0",                                \
    "most runs of one trial; 0: no limit but the pairs of instance and seed")          \
  X(race_level, NUMBER, false, 0, 1, "number in [0,1]", "0.05",                        \
    "a trial is given up when it is worse than the best with a p-value below this, "   \
    "by 5 pairs or more; 0: never")                                                    \
  X(cap, NUMBER, true, 0, NO_LIMIT, "auto or number >= 0", "0",                        \
    "largest value of a run, where it is a time: then the run is ended; auto: where "  \
    "its trial cannot win any more; 0: none")                                          \
  X(par, NUMBER, false, 1, NO_LIMIT, "number >= 1", "1",                               \
    "a run that is ended at a fixed cap counts as so many times the cap (PAR-k)")

#define AS_ENUM(name, ...) OPTION_##name,
#define AS_ROW(name, ...) {#name, __VA_ARGS__},

enum { OPTIONS(AS_ENUM) N_OPTIONS };
static const option_row table[N_OPTIONS] = {OPTIONS(AS_ROW)};

struct cocabo_options {
  char *values[N_OPTIONS];     /* NULL: the default */
  cb_constraints *constraints; /* as the text of that name says; NULL: none */
};

/* ---- reading values -------------------------------------------------------------- */

static bool is_among(const char *words, const char *text) {
  const size_t length = strlen(text);
  for (const char *word = words; word;) {
    const char *bar = strchr(word, '|');
    const size_t here = bar ? (size_t)(bar - word) : strlen(word);
    if (here == length && memcmp(word, text, length) == 0)
      return true;
    word = bar ? bar + 1 : NULL;
  }
  return false;
}

static bool is_valid(const option_row *row, const char *text) {
  int64_t integer;
  double number;
  if (row->may_be_auto && strcmp(text, "auto") == 0)
    return true;
  switch (row->form) {
  case WORD:
    return is_among(row->type, text);
  case INT:
    return cb_parse_int(text, &integer) && integer >= row->low && integer <= row->high;
  case NUMBER:
    return cb_parse_number(text, &number) && number >= (double)row->low &&
           (row->high == NO_LIMIT || number <= (double)row->high);
  case SAMPLER:
    return cb_sampler_find(text) != NULL;
  case LINES:
    return cb_text_is_utf8(text);
  case BOUNDS:
    return true; /* reading them says more */
  }
  return false;
}

/* "auto or int >= 1" reads "auto or an int >= 1" in a sentence. */
static void describe_type(const char *type, char *out, size_t size) {
  const bool or_auto = strncmp(type, "auto or ", 8) == 0;
  const char *rest = type + (or_auto ? 8 : 0);
  const char *article = strncmp(rest, "int", 3) == 0      ? "an "
                        : strncmp(rest, "number", 6) == 0 ? "a "
                                                          : "";
  snprintf(out, size, "%s%s%s", or_auto ? "auto or " : "", article, rest);
}

static void describe_samplers(char *out, size_t size) {
  size_t used = 0;
  out[0] = '\0';
  for (int i = 0; cb_sampler_at(i) && used < size; i++) {
    const int more = snprintf(out + used, size - used, "%s%s", i > 0 ? "|" : "",
                              cb_sampler_at(i)->name);
    used += more > 0 ? (size_t)more : 0;
  }
}

static cocabo_status bad_value(const option_row *row, const char *value,
                               cocabo_error *err) {
  char shown[CB_SHOWN], want[128];
  if (row->form == SAMPLER)
    describe_samplers(want, sizeof want);
  else
    describe_type(row->type, want, sizeof want);
  return cb_fail(err, COCABO_E_INVALID, "option %s is \"%s\", want %s", row->name,
                 cb_text_show(shown, value), want);
}

/* ---- the object ------------------------------------------------------------------ */

static int find_option(const char *name) {
  for (int i = 0; i < N_OPTIONS; i++)
    if (strcmp(table[i].name, name) == 0)
      return i;
  return -1;
}

static cocabo_status no_option(const char *name, cocabo_error *err) {
  char shown[CB_SHOWN];
  cb_guess guess = {.word = name};
  for (int i = 0; i < N_OPTIONS; i++)
    cb_guess_consider(&guess, table[i].name);
  cb_text_show(shown, name);
  if (guess.closest)
    return cb_fail(err, COCABO_E_NOT_FOUND, "no option \"%s\", did you mean \"%s\"?",
                   shown, guess.closest);
  return cb_fail(err, COCABO_E_NOT_FOUND, "no option \"%s\"", shown);
}

static const char *text_of(const cocabo_options *options, int i) {
  return options->values[i] ? options->values[i] : table[i].fallback;
}

cocabo_options *cocabo_options_new(void) {
  return cb_calloc(1, sizeof(cocabo_options));
}

void cocabo_options_free(cocabo_options *options) {
  if (!options)
    return;
  for (int i = 0; i < N_OPTIONS; i++)
    cb_free(options->values[i]);
  cb_free(options->constraints);
  cb_free(options);
}

cocabo_options *cb_options_copy(const cocabo_options *options) {
  cocabo_options *copy = cocabo_options_new();
  bool lacking = false;
  for (int i = 0; copy && i < N_OPTIONS; i++) {
    if (!options->values[i])
      continue;
    copy->values[i] = cb_strdup(options->values[i]);
    lacking |= !copy->values[i];
  }
  if (copy && options->constraints) {
    copy->constraints = cb_constraints_copy(options->constraints);
    lacking |= !copy->constraints;
  }
  if (lacking) {
    cocabo_options_free(copy);
    return NULL;
  }
  return copy;
}

cocabo_status cocabo_options_set(cocabo_options *options, const char *name,
                                 const char *value, cocabo_error *err) {
  if (!options)
    return cb_fail(err, COCABO_E_INVALID, "options is NULL");
  if (!name)
    return cb_fail(err, COCABO_E_INVALID, "option name is NULL");
  const int i = find_option(name);
  if (i < 0)
    return no_option(name, err);
  if (!value)
    return cb_fail(err, COCABO_E_INVALID, "option %s is NULL", name);
  if (!is_valid(&table[i], value))
    return bad_value(&table[i], value, err);

  cb_constraints *bounds = NULL;
  if (i == OPTION_constraints)
    CB_TRY(cb_constraints_read(&bounds, value, err));
  char *copy = cb_strdup(value);
  if (!copy) {
    cb_free(bounds);
    return cb_no_memory(err);
  }
  cb_free(options->values[i]);
  options->values[i] = copy;
  if (i == OPTION_constraints) {
    cb_free(options->constraints);
    options->constraints = bounds;
  }
  return COCABO_OK;
}

const char *cocabo_options_get(const cocabo_options *options, const char *name) {
  const int i = options && name ? find_option(name) : -1;
  return i >= 0 ? text_of(options, i) : NULL;
}

const char *cocabo_option_name(size_t i) {
  return i < N_OPTIONS ? table[i].name : NULL;
}

const char *cocabo_option_type(size_t i) {
  return i < N_OPTIONS ? table[i].type : NULL;
}

const char *cocabo_option_default(size_t i) {
  return i < N_OPTIONS ? table[i].fallback : NULL;
}

const char *cocabo_option_help(size_t i) {
  return i < N_OPTIONS ? table[i].help : NULL;
}

static const cb_sampler *sampler_at(size_t i) {
  return i <= INT_MAX ? cb_sampler_at((int)i) : NULL;
}

const char *cocabo_sampler_name(size_t i) {
  const cb_sampler *sampler = sampler_at(i);
  return sampler ? sampler->name : NULL;
}

const char *cocabo_sampler_help(size_t i) {
  const cb_sampler *sampler = sampler_at(i);
  return sampler ? sampler->help : NULL;
}

cocabo_status cb_options_list(const cocabo_options *options, cb_pair **out, int *n,
                              cocabo_error *err) {
  cb_pair *pairs = cb_calloc(N_OPTIONS, sizeof *pairs);
  if (!pairs)
    return cb_no_memory(err);
  for (int i = 0; i < N_OPTIONS; i++) {
    pairs[i].name = cb_strdup(table[i].name);
    pairs[i].value = cb_strdup(text_of(options, i));
    if (!pairs[i].name || !pairs[i].value) {
      cb_pairs_free(pairs, N_OPTIONS);
      return cb_no_memory(err);
    }
  }
  *out = pairs;
  *n = N_OPTIONS;
  return COCABO_OK;
}

bool cb_options_same_model(const cocabo_options *a, const cocabo_options *b) {
  for (int i = 0; i < N_OPTIONS; i++)
    if (i != OPTION_trials && i != OPTION_durability && i != OPTION_runs &&
        i != OPTION_max_runs && i != OPTION_race_level && i != OPTION_cap &&
        i != OPTION_par && strcmp(text_of(a, i), text_of(b, i)) != 0)
      return false;
  return true;
}

/* ---- resolving ------------------------------------------------------------------- */

static bool is(const cocabo_options *options, int i, const char *word) {
  return strcmp(text_of(options, i), word) == 0;
}

static int64_t int_or(const cocabo_options *options, int i, int64_t if_auto) {
  int64_t value = if_auto;
  if (!is(options, i, "auto"))
    (void)cb_parse_int(text_of(options, i), &value);
  return value;
}

static double number_or(const cocabo_options *options, int i, double if_auto) {
  double value = if_auto;
  if (!is(options, i, "auto"))
    (void)cb_parse_number(text_of(options, i), &value);
  return value;
}

/* The initial design, and what comes of it later. Whoever says how many points it has
 * wants no others. */
static void set_design(const cocabo_options *options, const cocabo_space *space,
                       cb_settings *settings) {
  const int64_t wanted = cb_design_size(space);
  const bool is_short = is(options, OPTION_sampler, "mixed") && space->c > 0;
  const int64_t first = is_short && wanted > CB_SHORT_DESIGN ? CB_SHORT_DESIGN : wanted;
  settings->n_init = int_or(options, OPTION_n_init, first);
  settings->n_later = is(options, OPTION_n_init, "auto") ? wanted - first : 0;
}

static cb_acquisition acquisition_of(const cocabo_options *options) {
  if (is(options, OPTION_acquisition, "ucb"))
    return CB_UCB;
  if (is(options, OPTION_acquisition, "ei"))
    return CB_EI;
  if (is(options, OPTION_acquisition, "logei"))
    return CB_LOGEI;
  return is(options, OPTION_sampler, "mixed")  ? CB_LOGEI
         : is(options, OPTION_sampler, "smac") ? CB_EI
                                               : CB_UCB;
}

static cb_reward reward_of(const cocabo_options *options) {
  static const struct {
    const char *word;
    cb_reward reward;
  } words[] = {{"standard", CB_REWARD_STANDARD},
               {"best", CB_REWARD_BEST},
               {"value", CB_REWARD_VALUE},
               {"rank", CB_REWARD_RANK}};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    if (is(options, OPTION_reward, words[i].word))
      return words[i].reward;
  return CB_REWARD_RELATIVE;
}

/* Without instances and seeds a trial has its repeats, and no race: there is nothing
 * that two trials have in common. */
static cb_race race_of(const cocabo_options *options, cb_resolved *out) {
  const int64_t lines = cb_instances_count(out->instances);
  const bool pairs = lines > 0 || out->seeds > 0;
  const bool by_model = !pairs && is(options, OPTION_repeats, "auto");
  const int64_t repeats = int_or(options, OPTION_repeats, 0);
  const int64_t most = int_or(options, OPTION_max_runs, 0);
  const int64_t all =
      pairs ? (lines > 0 ? lines : 1) * (out->seeds > 0 ? out->seeds : 1) : repeats;
  cb_race race = {.on = pairs || by_model || repeats > 1,
                  .by_model = by_model,
                  .most = most > 0 && (all == 0 || most < all) ? most : all,
                  .level = number_or(options, OPTION_race_level, 0.05),
                  .cap = is(options, OPTION_cap, "auto")};
  const int64_t first = pairs ? CB_RACE_LEAST : by_model ? 1 : race.most;
  race.first = race.most > 0 && first > race.most ? race.most : first;
  return race;
}

void cb_settings_resolve(const cocabo_options *options, const cocabo_space *space,
                         cb_resolved *out) {
  out->sampler = cb_sampler_find(text_of(options, OPTION_sampler));
  out->trials = int_or(options, OPTION_trials, 0);
  out->durable = is(options, OPTION_durability, "full");
  out->runs = int_or(options, OPTION_runs, 0);
  out->instances = text_of(options, OPTION_instances);
  out->seeds = int_or(options, OPTION_seeds, 0);
  out->race = race_of(options, out);
  const bool mixed = is(options, OPTION_sampler, "mixed");
  out->settings = (cb_settings){
      .seed = (uint64_t)int_or(options, OPTION_seed, 0),
      .horizon = int_or(options, OPTION_horizon, 0),
      .deterministic = is(options, OPTION_deterministic, "true"),
      .lambda_auto = is(options, OPTION_lambda, "auto"),
      .lambda = number_or(options, OPTION_lambda, 0.5),
      .kernel_sum_half = is(options, OPTION_kernel_sum, "half"),
      .ard =
          is(options, OPTION_ard, "true") || (is(options, OPTION_ard, "auto") && mixed),
      .acquisition = acquisition_of(options),
      .kappa = number_or(options, OPTION_kappa, 2.0),
      .reward = reward_of(options),
      .bandit_init = is(options, OPTION_bandit_init, "true"),
      .cut_outliers = is(options, OPTION_outliers, "cut"),
      .refit_every = int_or(options, OPTION_refit_every, mixed ? 0 : 10),
      .samples = int_or(options, OPTION_samples, 5000),
      .model_size = int_or(options, OPTION_model_size, 1000),
      .constraints = options->constraints,
      .objective = "value",
  };
  set_design(options, space, &out->settings);
  assert(out->sampler);
}
