/* cut.h - maximum cuts of weighted graphs, by annealing with eight parameters.
 *
 * Work is counted in looks at a vertex or an edge: equal on every machine, and about
 * 100 million of them take a second.
 *
 * Shapes: edges of vertex v are first[v] .. first[v+1]-1 in `to` and `weight`.
 */
#ifndef BENCH_TUNING_CUT_H
#define BENCH_TUNING_CUT_H

#include <stdint.h>

enum { CUT_WORK = 150000, CUT_PATIENCE = 20 };

typedef enum acceptance { METROPOLIS, HEAT, THRESHOLD } acceptance;
typedef enum scanning { RANDOM, SHUFFLE, SWEEP } scanning;

typedef struct cut_params {
  acceptance accept; /* how a worse cut is taken */
  scanning scan;     /* which vertex is next */
  double hot, cold;  /* temperatures at the ends of a round */
  double shape;      /* and between them: above 1, it stays hot for long */
  double power;      /* a vertex is as hot as the power of its strength */
  int rounds;        /* into which the work is divided */
  double kick;       /* share of vertices that are moved before a round but the first */
} cut_params;

typedef struct cut_graph {
  int n, m;
  double goal;     /* what a cut may lack, in percent; 0: none */
  double positive; /* the sum of the weights above 0 */
  int *first, *to; /* n + 1; 2 m */
  double *weight;  /* 2 m */
} cut_graph;

/* What a run came to. */
typedef struct cut_result {
  double lack; /* of the sum of positive weights, in percent */
  double work;
} cut_result;

extern const cut_params cut_defaults;

/* Ends the program with a sentence if there is no graph in the file. */
void cut_read(const char *path, cut_graph *g);
void cut_free(cut_graph *g);
/* NAME=VALUE; ends the program if there is no such parameter. */
void cut_set(cut_params *p, const char *word);
/* Works until nothing more than `goal` is lacking (0: never), or `most` is used up. */
cut_result cut_solve(const cut_graph *g, const cut_params *p, uint64_t seed,
                     double goal, double most);
uint64_t cut_random(uint64_t *state);
double cut_uniform(uint64_t *state); /* in [0, 1) */
void cut_die(const char *what, const char *which);

/* The text as a number, as a whole one; dies if it is none. */
double cut_number(const char *text);
int cut_whole(const char *text);

#endif
