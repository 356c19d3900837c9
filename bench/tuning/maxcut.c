/* maxcut.c - a small solver for people who tune solvers: maximum cuts of weighted
 * graphs, by annealing, with eight parameters.
 *
 *   maxcut generate KIND N SEED                 writes a graph
 *   maxcut solve GRAPH SEED NAME=VALUE ...      prints what its cut lacks, in percent
 *   maxcut reach GRAPH SEED NAME=VALUE ...      until that is no more than the goal
 *
 * A graph is text: vertices, edges and goal (0: none), then one edge a line. A run of
 * `solve` does a fixed amount of work, whatever the parameters. A run of `reach` works
 * until it is there, or twenty times as much, and prints how much work it was.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cut.h"

/* grid: a torus with weights -1 and 1. sparse: six edges a vertex, weights 1. dense:
 * half of all edges, weights -1 and 1. ring: neighbours up to three away, weights 1 to
 * 10. */
static double edge_weight(const char *kind, int n, int side, int i, int j,
                          uint64_t *random) {
  const int sign = cut_random(random) & 1 ? 1 : -1;
  const double u = cut_uniform(random);
  if (strcmp(kind, "sparse") == 0)
    return u < 6.0 / (n - 1) ? 1.0 : 0.0;
  if (strcmp(kind, "dense") == 0)
    return u < 0.5 ? sign : 0.0;
  if (strcmp(kind, "ring") == 0)
    return (j - i <= 3 || i + n - j <= 3) ? 1.0 + floor(10.0 * u) : 0.0;
  const int across = i % side == side - 1 ? i + 1 - side : i + 1;
  const int back = i % side == 0 ? i + side - 1 : i - 1;
  const int down = (i + side) % n, up = (i + n - side) % n;
  return j == across || j == back || j == down || j == up ? sign : 0.0;
}

static void generate(const char *kind, int n, uint64_t seed) {
  const int side = (int)sqrt((double)n);
  if (strcmp(kind, "grid") == 0)
    n = side * side;
  for (int pass = 0, m = 0; pass < 2; pass++) {
    uint64_t random = seed * 7919 + 17;
    if (pass == 1)
      printf("%d %d 0\n", n, m);
    for (int i = 0; i < n; i++)
      for (int j = i + 1; j < n; j++) {
        const double w = edge_weight(kind, n, side, i, j, &random);
        m += w != 0.0;
        if (pass == 1 && w != 0.0)
          printf("%d %d %g\n", i, j, w);
      }
  }
}

static int run(int n_words, char **words) {
  cut_params p = cut_defaults;
  cut_graph g = {0};
  const int reach = strcmp(words[1], "reach") == 0;
  const uint64_t seed = strtoull(words[3], NULL, 10);
  for (int i = 4; i < n_words; i++)
    cut_set(&p, words[i]);
  cut_read(words[2], &g);
  if (reach && !(g.goal > 0.0))
    cut_die("the graph has no goal", words[2]);
  const cut_result result =
      reach ? cut_solve(&g, &p, seed, g.goal, (double)CUT_WORK * CUT_PATIENCE)
            : cut_solve(&g, &p, seed, 0.0, CUT_WORK);
  if (reach)
    printf("%.0f\n", result.work);
  else
    printf("%.6f\n", result.lack);
  cut_free(&g);
  return 0;
}

int main(int n_words, char **words) {
  if (n_words == 5 && strcmp(words[1], "generate") == 0) {
    generate(words[2], cut_whole(words[3]), strtoull(words[4], NULL, 10));
    return 0;
  }
  if (n_words >= 4 &&
      (strcmp(words[1], "solve") == 0 || strcmp(words[1], "reach") == 0))
    return run(n_words, words);
  fputs("usage: maxcut generate KIND N SEED\n"
        "       maxcut solve|reach GRAPH SEED NAME=VALUE ...\n",
        stderr);
  return 2;
}
