/* nas_cifar10.c - the problem NAS-CIFAR10: weights and operations become a cell of
 * NAS-Bench-101, whose test accuracy is looked up in the table. */
#include "problems/nas_cifar10.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "problems/inputs.h"

static const char *const operation_names[NAS_OPERATIONS] = {"conv3x3", "conv1x1",
                                                            "maxpool3x3"};

static nas_table table; /* shared by all evaluations; lives as long as the process */

static cocabo_status load(const bench_problem *problem, cocabo_error *err) {
  (void)problem;
  return table.n > 0 ? COCABO_OK : nas_table_load(&table, err);
}

static cocabo_status add_inputs(const bench_problem *problem, cocabo_space *space,
                                cocabo_error *err) {
  (void)problem;
  cocabo_value operations[NAS_OPERATIONS];
  for (int i = 0; i < NAS_OPERATIONS; i++)
    operations[i] = (cocabo_value){COCABO_TEXT, {.text = operation_names[i]}};
  CB_TRY(
      bench_add_choices(space, "op", NAS_CHOSEN, operations, NAS_OPERATIONS, 0, err));
  CB_TRY(bench_add_reals(space, "weight", NAS_PAIRS, 0.0, 1.0, 0.0, err));
  return cocabo_space_add_int(space, "edges", 0, NAS_MAX_EDGES, 0, 0, err);
}

static int operation_of(cocabo_value name) {
  for (int i = 0; i < NAS_OPERATIONS; i++)
    if (strcmp(name.as.text, operation_names[i]) == 0)
      return i;
  assert(!"an operation has one of three names");
  return 0;
}

static int heaviest(const double weights[NAS_PAIRS], const bool taken[NAS_PAIRS]) {
  int best = -1;
  for (int k = 0; k < NAS_PAIRS; k++)
    if (!taken[k] && (best < 0 || weights[k] > weights[best]))
      best = k;
  return best;
}

nas_cell nas_cell_of(const int operations[NAS_CHOSEN], const double weights[NAS_PAIRS],
                     int edges) {
  nas_cell cell = {.n = NAS_MAX_VERTICES};
  bool taken[NAS_PAIRS] = {false};
  assert(edges >= 0 && edges <= NAS_MAX_EDGES);
  for (int i = 0; i < NAS_CHOSEN; i++)
    cell.operation[i + 1] = operations[i];
  for (int e = 0; e < edges; e++)
    taken[heaviest(weights, taken)] = true;
  for (int i = 0, k = 0; i < cell.n; i++)
    for (int j = i + 1; j < cell.n; j++)
      cell.edge[i][j] = taken[k++];
  return cell;
}

/* The test accuracy; 0 where nothing leads from input to output. */
static double value(const bench_problem *problem, const cocabo_value *values,
                    uint64_t seed) {
  (void)problem;
  (void)seed;
  int operations[NAS_CHOSEN];
  double weights[NAS_PAIRS];
  uint8_t hash[NAS_HASH_SIZE];
  for (int i = 0; i < NAS_CHOSEN; i++)
    operations[i] = operation_of(values[i]);
  for (int k = 0; k < NAS_PAIRS; k++)
    weights[k] = values[NAS_CHOSEN + k].as.real;
  const int edges = (int)values[NAS_CHOSEN + NAS_PAIRS].as.integer;

  nas_cell cell = nas_cell_of(operations, weights, edges);
  if (!nas_cell_prune(&cell))
    return 0.0;
  nas_cell_hash(&cell, hash);
  const nas_entry *entry = nas_table_find(&table, hash);
  return entry ? entry->accuracy : NAN;
}

/* Every cell of the benchmark can be reached, so the optimum is the best of the table:
 * 9451 of 9984 images, by cell ba0a27cafe7d648aa57f7d5dd64c0b48. */
const bench_problem bench_nas[] = {
    {
        .name = "nas-cifar10",
        .help = "a cell of NAS-Bench-101, 5 operations and 22 numbers",
        .d = NAS_PAIRS + 1,
        .c = NAS_CHOSEN,
        .optimum = 9451.0 / NAS_IMAGES,
        .failure = "the table has no such cell",
        .add_inputs = add_inputs,
        .load = load,
        .value = value,
    },
};
const int bench_nas_count = sizeof bench_nas / sizeof bench_nas[0];
