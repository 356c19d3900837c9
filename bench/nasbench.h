/* nasbench.h - NAS-Bench-101: small convolutional cells, and how well networks made of
 * them do on CIFAR-10.
 *
 * A cell is a directed acyclic graph of at most 7 vertices and 9 edges. Vertex 0 is its
 * input, the last its output, those between are operations. The table knows each cell
 * by a hash that isomorphic cells share; see Ying et al. (2019), and tfrecord.h for the
 * authors' own file.
 */
#ifndef BENCH_NASBENCH_H
#define BENCH_NASBENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cocabo.h"
#include "common/buffer.h"

/* ---- cells ---------------------------------------------------------------------- */

enum {
  NAS_MAX_VERTICES = 7,
  NAS_MAX_EDGES = 9,
  NAS_OPERATIONS = 3, /* 0 conv3x3, 1 conv1x1, 2 maxpool3x3 */
  NAS_HASH_SIZE = 16  /* an MD5 */
};

typedef struct nas_cell {
  int n;                                         /* vertices, 2 .. NAS_MAX_VERTICES */
  bool edge[NAS_MAX_VERTICES][NAS_MAX_VERTICES]; /* from, to; from < to */
  int operation[NAS_MAX_VERTICES];               /* of 1 .. n - 2 */
} nas_cell;

/* Takes away every vertex that lies on no path from the input to the output; false,
 * with the cell as it was, where there is no such path. */
bool nas_cell_prune(nas_cell *cell);

void nas_cell_hash(const nas_cell *cell, uint8_t hash[NAS_HASH_SIZE]);

/* ---- the table ------------------------------------------------------------------ */

typedef struct nas_entry {
  uint8_t hash[NAS_HASH_SIZE];
  double
      accuracy; /* on the test set after 108 epochs, in the first of three trainings */
} nas_entry;

typedef struct nas_table {
  size_t n;
  nas_entry *entries; /* by hash, each once; owned */
} nas_table;
void nas_table_free(nas_table *table); /* and back to {0} */

/* The table of the data folder: nb101_test108_run0.bin or, where that is missing, one
 * of the authors' own files. *out is the caller's. */
cocabo_status nas_table_load(nas_table *out, cocabo_error *err);

/* The bytes of nb101_test108_run0.bin; `name` is for the sentences. */
cocabo_status nas_table_parse(const char *name, const front_buffer *bytes,
                              nas_table *out, cocabo_error *err);

/* NULL if the table has no such cell. */
const nas_entry *nas_table_find(const nas_table *table,
                                const uint8_t hash[NAS_HASH_SIZE]);

/* Accuracies are so many of 9984 images, which the authors' file has in single
 * precision. The nearest such share where it is as near as that, else the accuracy as
 * it is; so that both files give the same values. */
enum { NAS_IMAGES = 9984 };
double nas_share_of_images(double accuracy);

#endif
