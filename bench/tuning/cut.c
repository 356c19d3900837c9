/* cut.c - annealing: vertices of a graph change sides, fewer and fewer for the worse.
 *
 * Shapes: side[v] is 0 or 1; gain[v] is by how much the cut grows if v changes its
 * side.
 */
#include "cut.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const cut_params cut_defaults = {.hot = 1.0, .cold = 0.1, .shape = 1.0, .rounds = 1};

typedef struct search {
  const cut_graph *g;
  uint64_t random;
  double *gain;
  unsigned char *side, *best_side;
  double *heat; /* by which a vertex is hotter than the temperature */
  int *order;   /* in which vertices are looked at */
  double cut, best;
  double work, most; /* so far; in all */
  double stop;       /* a cut that is good enough */
} search;

void cut_die(const char *what, const char *which) {
  fprintf(stderr, "maxcut: %s: %s\n", what, which);
  exit(2);
}

double cut_number(const char *text) {
  char *end;
  const double number = strtod(text, &end);
  if (end == text || *end || !isfinite(number))
    cut_die("no number", text);
  return number;
}

int cut_whole(const char *text) {
  const double number = cut_number(text);
  if (number != floor(number) || fabs(number) > 1e9)
    cut_die("no whole number", text);
  return (int)number;
}

static void *room(size_t n, size_t size) {
  void *block = calloc(n > 0 ? n : 1, size);
  if (!block)
    cut_die("no memory", "too large");
  return block;
}

/* SplitMix64: equal on every machine. */
uint64_t cut_random(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

double cut_uniform(uint64_t *state) {
  return (double)(cut_random(state) >> 11) * 0x1p-53;
}

static int below(uint64_t *state, int n) {
  return (int)(cut_uniform(state) * n);
}

/* ---- graphs ---------------------------------------------------------------------- */

/* The next word of the file. */
static const char *next_word(FILE *file, const char *path, char word[static 64]) {
  if (fscanf(file, "%63s", word) != 1)
    cut_die("the graph ends early", path);
  return word;
}

void cut_read(const char *path, cut_graph *g) {
  FILE *file = fopen(path, "r");
  char word[64];
  if (!file)
    cut_die("no graph", path);
  g->n = cut_whole(next_word(file, path, word));
  g->m = cut_whole(next_word(file, path, word));
  g->goal = cut_number(next_word(file, path, word));
  if (g->n < 2 || g->m < 0)
    cut_die("no graph", path);
  int *ends = room(2 * (size_t)g->m, sizeof *ends);
  double *weights = room((size_t)g->m, sizeof *weights);
  g->first = room((size_t)g->n + 1, sizeof g->first);
  g->to = room(2 * (size_t)g->m, sizeof g->to);
  g->weight = room(2 * (size_t)g->m, sizeof g->weight);
  for (int e = 0; e < g->m; e++) {
    int *a = &ends[2 * e], *b = a + 1;
    *a = cut_whole(next_word(file, path, word));
    *b = cut_whole(next_word(file, path, word));
    weights[e] = cut_number(next_word(file, path, word));
    if (*a < 0 || *b < 0 || *a >= g->n || *b >= g->n)
      cut_die("an edge is none", path);
    g->first[*a + 1]++;
    g->first[*b + 1]++;
    g->positive += weights[e] > 0.0 ? weights[e] : 0.0;
  }
  for (int v = 0; v < g->n; v++)
    g->first[v + 1] += g->first[v];
  int *filled = room((size_t)g->n, sizeof *filled);
  for (int i = 0; i < 2 * g->m; i++) {
    const int v = ends[i], k = g->first[v] + filled[v]++;
    g->to[k] = ends[i ^ 1];
    g->weight[k] = weights[i / 2];
  }
  free(filled);
  free(ends);
  free(weights);
  fclose(file);
}

void cut_free(cut_graph *g) {
  free(g->first);
  free(g->to);
  free(g->weight);
}

/* ---- moves ----------------------------------------------------------------------- */

static void flip(search *s, int v) {
  const cut_graph *g = s->g;
  s->cut += s->gain[v];
  s->gain[v] = -s->gain[v];
  s->side[v] ^= 1;
  for (int k = g->first[v]; k < g->first[v + 1]; k++) {
    const int u = g->to[k];
    s->gain[u] += s->side[u] == s->side[v] ? 2.0 * g->weight[k] : -2.0 * g->weight[k];
  }
  s->work += g->first[v + 1] - g->first[v];
}

static void keep_best(search *s) {
  if (s->cut <= s->best)
    return;
  s->best = s->cut;
  memcpy(s->best_side, s->side, (size_t)s->g->n);
}

static int is_over(const search *s, double end) {
  return s->work >= end || s->best >= s->stop;
}

static void move_to(search *s, const unsigned char *sides) {
  for (int v = 0; v < s->g->n; v++)
    if (s->side[v] != sides[v])
      flip(s, v);
}

static void begin(search *s) {
  const cut_graph *g = s->g;
  s->cut = 0.0;
  for (int v = 0; v < g->n; v++) {
    s->side[v] = 0;
    s->gain[v] = 0.0;
    for (int k = g->first[v]; k < g->first[v + 1]; k++)
      s->gain[v] += g->weight[k];
  }
  for (int v = 0; v < g->n; v++)
    if (cut_random(&s->random) & 1)
      flip(s, v);
}

/* ---- annealing ------------------------------------------------------------------- */

/* The strength of a vertex is the root of the sum of its squared weights: about what it
 * gains or loses by a move. */
static void prepare(search *s, const cut_params *p) {
  const cut_graph *g = s->g;
  for (int v = 0; v < g->n; v++) {
    double squares = 0.0;
    for (int k = g->first[v]; k < g->first[v + 1]; k++)
      squares += g->weight[k] * g->weight[k];
    s->heat[v] = pow(fmax(squares, 1.0), 0.5 * p->power);
    s->order[v] = v;
  }
}

static void arrange(search *s, scanning scan) {
  const int n = s->g->n;
  for (int i = 0; i < n && scan != SWEEP; i++) {
    const int j = scan == RANDOM ? i : i + below(&s->random, n - i);
    const int v = s->order[j];
    s->order[j] = s->order[i];
    s->order[i] = scan == RANDOM ? below(&s->random, n) : v;
  }
}

static int is_taken(search *s, acceptance accept, double gain, double temperature) {
  switch (accept) {
  case THRESHOLD:
    return gain > -temperature;
  case HEAT:
    return cut_uniform(&s->random) * (1.0 + exp(-gain / temperature)) < 1.0;
  default:
    return gain >= 0.0 || cut_uniform(&s->random) < exp(gain / temperature);
  }
}

static void anneal(search *s, const cut_params *p, double end) {
  const double start = s->work, length = fmax(end - start, 1.0);
  while (!is_over(s, end)) {
    const double done = fmin((s->work - start) / length, 1.0);
    const double temperature = p->hot * pow(p->cold / p->hot, pow(done, p->shape));
    arrange(s, p->scan);
    for (int i = 0; i < s->g->n; i++) {
      const int v = s->order[i];
      s->work += 1.0;
      if (!is_taken(s, p->accept, s->gain[v], temperature * s->heat[v]))
        continue;
      if (s->gain[v] < 0.0)
        keep_best(s);
      flip(s, v);
    }
    keep_best(s);
  }
}

/* Rounds but the first begin with the best cut so far. */
static void search_cut(search *s, const cut_params *p) {
  const double whole = fmin(s->most, CUT_WORK);
  prepare(s, p);
  begin(s);
  for (int round = 0; !is_over(s, s->most); round++) {
    if (round > 0)
      move_to(s, s->best_side);
    for (int v = 0; round > 0 && v < s->g->n; v++)
      if (cut_uniform(&s->random) < p->kick)
        flip(s, v);
    keep_best(s);
    anneal(s, p, fmin(s->most, whole * (round + 1) / p->rounds));
  }
}

cut_result cut_solve(const cut_graph *g, const cut_params *p, uint64_t seed,
                     double goal, double most) {
  const size_t n = (size_t)g->n;
  if (!(p->hot > 0.0 && p->cold > 0.0 && p->shape > 0.0 && p->rounds > 0))
    cut_die("want above 0", "hot, cold, shape and rounds");
  search s = {.g = g,
              .random = seed * 1000003 + 11,
              .gain = room(n, sizeof(double)),
              .side = room(n, 1),
              .best_side = room(n, 1),
              .heat = room(n, sizeof(double)),
              .order = room(n, sizeof(int)),
              .best = -INFINITY,
              .most = most,
              .stop = goal > 0.0 ? g->positive * (1.0 - goal / 100.0) : INFINITY};
  search_cut(&s, p);
  free(s.gain);
  free(s.side);
  free(s.best_side);
  free(s.heat);
  free(s.order);
  return (cut_result){100.0 * (g->positive - s.best) / g->positive, s.work};
}

/* ---- arguments ------------------------------------------------------------------- */

static int one_of(const char *text, const char *const *names, int n) {
  for (int i = 0; i < n; i++)
    if (strcmp(text, names[i]) == 0)
      return i;
  cut_die("no such choice", text);
  return 0;
}

static const char *value_of(const char *word, const char *name) {
  const size_t size = strlen(name);
  return strncmp(word, name, size) == 0 && word[size] == '=' ? word + size + 1 : NULL;
}

/* NAME= has no value: the parameter is not active. */
void cut_set(cut_params *p, const char *word) {
  static const char *const accepts[] = {"metropolis", "heat", "threshold"};
  static const char *const scans[] = {"random", "shuffle", "sweep"};
  const struct {
    const char *name;
    double *value;
  } numbers[] = {{"hot", &p->hot},
                 {"cold", &p->cold},
                 {"shape", &p->shape},
                 {"power", &p->power},
                 {"kick", &p->kick}};
  const char *text;
  if (strchr(word, '=') && !strchr(word, '=')[1])
    return;
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
    if ((text = value_of(word, numbers[i].name))) {
      *numbers[i].value = cut_number(text);
      return;
    }
  if ((text = value_of(word, "accept")))
    p->accept = (acceptance)one_of(text, accepts, 3);
  else if ((text = value_of(word, "scan")))
    p->scan = (scanning)one_of(text, scans, 3);
  else if ((text = value_of(word, "rounds")))
    p->rounds = cut_whole(text);
  else
    cut_die("no such parameter", word);
}
