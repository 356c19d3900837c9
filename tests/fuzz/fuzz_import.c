/* Files for cocabo import. The first byte says what the rest is: 'j' JSON, else CSV.
 * Rows are refused with a sentence, or a study in memory takes them. */
#include <stdint.h>
#include <string.h>

#include "fuzz/fuzz_demand.h"
#include "io/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const cocabo_space *space_of_every_kind(void) {
  static const char *const parameters[][2] = {
      {"x", "float(0,1)"},
      {"k", "int(1,8)"},
      {"c", "choice(1,1.0,true,\"1\",null,\"\",a)"},
      {"value", "ordinal(low,high)"},
      {"d", "int(0,3) if c == a or k > 6"},
      {"e", "choice(\"\",null,b) if d > 1"}};
  static cocabo_space *space;
  cocabo_error err;
  if (space)
    return space;
  space = cocabo_space_new();
  demand(space != NULL, "there is memory");
  for (size_t i = 0; i < sizeof parameters / sizeof parameters[0]; i++)
    demand(cocabo_space_add(space, parameters[i][0], parameters[i][1], &err) ==
               COCABO_OK,
           "the space is right");
  demand(cocabo_space_rule(space, "x * k < 6 or value == low", &err) == COCABO_OK,
         "and its rule");
  return space;
}

/* What a file has is added once. */
static cocabo_status add_twice(const import_rows *rows, cocabo_error *err) {
  cocabo_study *study;
  import_counts counts;
  demand(cocabo_study_create(&study, "s", rows->space, NULL, NULL, err) == COCABO_OK,
         "there is memory");
  cocabo_status status = import_add(rows, study, &counts, err);
  demand(status == COCABO_OK && counts.added == rows->n, "all rows are taken");
  status = import_add(rows, study, &counts, err);
  demand(status == COCABO_OK && counts.already == rows->n, "and found again");
  cocabo_study_free(study);
  return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const bool json = size > 0 && data[0] == 'j';
  const char *text = (const char *)data + (size > 0);
  const size_t rest = size - (size > 0);
  import_rows rows = {.name = "file", .space = space_of_every_kind()};
  cocabo_error err;
  cocabo_status status =
      json ? import_json(&rows, text, rest, &err) : import_csv(&rows, text, rest, &err);
  for (size_t i = 0; i < rows.n_misfits && i < IMPORT_NAMED; i++)
    demand_sentence(&rows.misfits[i], rows.misfits[i].code);
  if (status == COCABO_OK)
    status = add_twice(&rows, &err);
  if (status != COCABO_OK)
    demand_sentence(&err, status);
  import_free(&rows);
  return 0;
}
