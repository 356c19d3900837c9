/* Files for -f, in YAML or JSON. Whatever they say, they are read or refused with a
 * sentence; a space that they describe comes out in words that mean the same. */
#include <stdint.h>

#include "fuzz/fuzz_demand.h"
#include "io/spec_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static cocabo_status add_space(const spec_file *file, cli_spec *spec,
                               cocabo_error *err) {
  const tree_entry *e;
  CB_TRY(spec_file_parameters(file, &e, err));
  for (; e; e = e->next)
    CB_TRY(spec_file_add(file, e, spec->space, err));
  return spec_file_rules(file, spec, err);
}

static void read_everything(const spec_file *file) {
  cli_spec spec = {.trials = -1};
  cocabo_error err;
  cocabo_status status = spec_file_read(file, &spec, &err);
  if (status != COCABO_OK)
    demand_sentence(&err, status);
  else if (spec.command)
    demand(spec.command[0] != NULL, "a command has a word");
  spec.space = cocabo_space_new();
  demand(spec.space != NULL, "there is memory");
  status = add_space(file, &spec, &err);
  if (status != COCABO_OK)
    demand_sentence(&err, status);
  demand_same_again(spec.space);
  cli_spec_clear(&spec);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  spec_file file;
  cocabo_error err;
  const cocabo_status status =
      spec_file_parse(&file, "study.yaml", (const char *)data, size, &err);
  if (status == COCABO_OK)
    read_everything(&file);
  else
    demand_sentence(&err, status);
  spec_file_clear(&file);
  return 0;
}
