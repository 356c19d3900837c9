/* capping.c - what adaptive capping saves: tunes the time that maxcut takes to reach a
 * goal, once with caps and once without.
 *
 *   cocabo-bench-capping CAP TRIALS SEED TRAINING HELD_OUT
 *
 * CAP is auto or 0; the two files have a graph a line, all with goals. Time is work
 * (see cut.h), so that the figures do not depend on the machine, nor on what else runs
 * there: a run that reaches its cap is ended there, as `cocabo run` ends a process.
 * Prints one object: how much work all runs were, how many runs, and the mean work of
 * what is named as best on the graphs held out.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cocabo.h"
#include "cut.h"

enum { MOST_GRAPHS = 200, MOST_TEXT = 65536, SEEDS = 5, HELD_OUT_SEED = 1001 };

typedef struct graphs {
  int n;
  char *paths[MOST_GRAPHS];
  cut_graph graphs[MOST_GRAPHS];
  char text[MOST_TEXT]; /* the list itself */
} graphs;

static cocabo_error err;

static void must(cocabo_status status) {
  if (status != COCABO_OK)
    cut_die("cocabo", err.message);
}

static void read_list(const char *path, graphs *list) {
  FILE *file = fopen(path, "r");
  if (!file)
    cut_die("no list", path);
  list->text[fread(list->text, 1, MOST_TEXT - 1, file)] = '\0';
  fclose(file);
  for (const char *at = list->text; *at && list->n < MOST_GRAPHS;) {
    const size_t size = strcspn(at, "\n");
    char *name = calloc(size + 1, 1);
    if (!name)
      cut_die("no memory", path);
    memcpy(name, at, size);
    list->paths[list->n] = name;
    cut_read(name, &list->graphs[list->n++]);
    at += size + (at[size] == '\n');
  }
}

static const cut_graph *find(const graphs *list, const char *path) {
  for (int i = 0; i < list->n; i++)
    if (strcmp(list->paths[i], path) == 0)
      return &list->graphs[i];
  cut_die("no such graph", path);
  return NULL;
}

static void take_params(const cocabo_trial *trial, cut_params *p) {
  char word[300];
  *p = cut_defaults;
  for (size_t i = 0; i < cocabo_trial_count(trial); i++) {
    const char *name;
    cocabo_value v;
    must(cocabo_trial_get(trial, i, &name, &v, &err));
    if (v.type == COCABO_ABSENT)
      continue;
    if (v.type == COCABO_TEXT)
      snprintf(word, sizeof word, "%s=%s", name, v.as.text);
    else
      snprintf(word, sizeof word, "%s=%.17g", name,
               v.type == COCABO_INT ? (double)v.as.integer : v.as.real);
    cut_set(p, word);
  }
}

static cocabo_study *create(char **words, const graphs *training) {
  static const char *const domains[][2] = {
      {"accept", "choice(metropolis,heat,threshold)"},
      {"scan", "choice(random,shuffle,sweep)"},
      {"hot", "float(0.01,100,log)"},
      {"cold", "float(0.001,10,log)"},
      {"shape", "float(0.2,5,log)"},
      {"power", "float(0,2)"},
      {"rounds", "int(1,50,log)"},
      {"kick", "float(0.002,0.5,log) if rounds > 1"}};
  cocabo_space *space = cocabo_space_new();
  cocabo_options *options = cocabo_options_new();
  cocabo_study *study;
  if (!space || !options)
    cut_die("no memory", "a study");
  for (size_t i = 0; i < sizeof domains / sizeof domains[0]; i++)
    must(cocabo_space_add(space, domains[i][0], domains[i][1], &err));
  must(cocabo_options_set(options, "cap", words[1], &err));
  must(cocabo_options_set(options, "trials", words[2], &err));
  must(cocabo_options_set(options, "seed", words[3], &err));
  must(cocabo_options_set(options, "direction", "minimize", &err));
  must(cocabo_options_set(options, "seeds", "5", &err));
  must(cocabo_options_set(options, "instances", training->text, &err));
  must(cocabo_study_create(&study, "capping", space, options, NULL, &err));
  cocabo_options_free(options);
  cocabo_space_free(space);
  return study;
}

/* One run; false: the budget is used up. */
static int evaluate(cocabo_study *study, const graphs *training, double *work) {
  const double limit = (double)CUT_WORK * CUT_PATIENCE;
  cocabo_trial *trial = NULL;
  cocabo_run run;
  cut_params p;
  const cocabo_status status = cocabo_study_ask_run(study, &trial, &run, &err);
  if (status == COCABO_E_BUDGET)
    return 0;
  must(status);
  take_params(trial, &p);
  const cut_graph *g = find(training, run.instance);
  const cut_result result =
      cut_solve(g, &p, (uint64_t)run.seed, g->goal, fmin(run.cap, limit));
  const int capped = run.cap < limit && result.work >= run.cap;
  run.value = capped ? run.cap : result.work;
  run.state = capped ? COCABO_RUN_CAPPED : COCABO_RUN_OK;
  *work += run.value;
  must(cocabo_study_tell_run(study, &run, NULL, 0, NULL, &err));
  cocabo_trial_free(trial);
  return 1;
}

static double judge(const cut_params *p, const graphs *list) {
  double sum = 0.0;
  for (int i = 0; i < list->n; i++)
    for (uint64_t k = 0; k < SEEDS; k++)
      sum += cut_solve(&list->graphs[i], p, HELD_OUT_SEED + k, list->graphs[i].goal,
                       (double)CUT_WORK * CUT_PATIENCE)
                 .work;
  return sum / (list->n * SEEDS);
}

int main(int n_words, char **words) {
  static graphs training, held_out;
  double work = 0.0;
  cocabo_trial *best;
  cut_params p;
  if (n_words != 6)
    cut_die("usage", "cocabo-bench-capping CAP TRIALS SEED TRAINING HELD_OUT");
  read_list(words[4], &training);
  read_list(words[5], &held_out);
  cocabo_study *study = create(words, &training);
  while (evaluate(study, &training, &work))
    continue;
  must(cocabo_study_best(study, &best, &err));
  take_params(best, &p);
  printf("{\"cap\": \"%s\", \"seed\": %s, \"trials\": %s, \"runs\": %lld, "
         "\"work\": %.0f, \"held_out\": %.0f}\n",
         words[1], words[3], words[2], (long long)cocabo_study_runs(study, NULL), work,
         judge(&p, &held_out));
  cocabo_trial_free(best);
  cocabo_study_free(study);
  return 0;
}
