/* Files of the bench's data that have passed no checksum. The first byte says what the
 * rest is: 'i' idx, 'n' a table of NAS-Bench-101, else rows of numbers after as many
 * header lines as the byte's lowest bits say. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "data.h"
#include "fuzz/fuzz_demand.h"
#include "nasbench.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_idx(const front_buffer *bytes) {
  size_t n = 0, each = 0;
  const unsigned char *items = NULL;
  cocabo_error err;
  const cocabo_status status = bench_read_idx("file", bytes, &n, &each, &items, &err);
  if (status != COCABO_OK) {
    demand_sentence(&err, status);
    return;
  }
  demand(n > 0 && each > 0, "there are items");
  demand(items + n * each == (const unsigned char *)bytes->data + bytes->size,
         "the items are the rest of the file");
}

static void read_nas_table(const front_buffer *bytes) {
  nas_table table;
  cocabo_error err;
  const cocabo_status status = nas_table_parse("file", bytes, &table, &err);
  if (status != COCABO_OK)
    demand_sentence(&err, status);
  for (size_t i = 0; i < table.n; i++)
    demand(nas_table_find(&table, table.entries[i].hash) == &table.entries[i],
           "every entry is found");
  nas_table_free(&table);
}

static void read_rows(const front_buffer *bytes, int skip) {
  bench_matrix matrix;
  cocabo_error err;
  const cocabo_status status = bench_read_table("file", bytes, skip, 3, &matrix, &err);
  if (status != COCABO_OK)
    demand_sentence(&err, status);
  else
    demand(matrix.rows > 0 && matrix.columns == 3, "there are rows");
  for (size_t i = 0; i < matrix.rows * matrix.columns; i++)
    demand(isfinite(matrix.at[i]), "a number is finite");
  bench_matrix_free(&matrix);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0)
    return 0;
  /* A copy without spare room, so that a sanitizer sees the end. */
  char *copy = malloc(size > 1 ? size - 1 : 1);
  demand(copy != NULL, "there is memory");
  memcpy(copy, data + 1, size - 1);
  const front_buffer bytes = {copy, size - 1, size - 1};
  if (data[0] == 'i')
    read_idx(&bytes);
  else if (data[0] == 'n')
    read_nas_table(&bytes);
  else
    read_rows(&bytes, data[0] & 3);
  free(copy);
  return 0;
}
