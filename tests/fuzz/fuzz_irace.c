/* Parameters of irace. */
#include <stdint.h>

#include "fuzz/fuzz_foreign.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  demand_foreign(FOREIGN_IRACE, size > 0 ? (const char *)data : "", size);
  return 0;
}
