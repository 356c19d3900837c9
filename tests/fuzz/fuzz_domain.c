/* Parameters as text, NAME=DOMAIN as -p takes them. What is accepted must come out in
 * words that mean the same. */
#include <stdint.h>
#include <string.h>

#include "fuzz/fuzz_demand.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1);
  cocabo_space *space = cocabo_space_new();
  demand(text && space, "there is memory");
  memcpy(text, data, size);
  text[size] = '\0';
  char *domain = strchr(text, '=');
  if (domain)
    *domain++ = '\0';

  cocabo_error err;
  const cocabo_status status =
      cocabo_space_add(space, text, domain ? domain : "", &err);
  if (status != COCABO_OK) {
    demand_sentence(&err, status);
    demand(cocabo_space_count(space) == 0, "a refused parameter is not there");
  } else {
    demand(cocabo_space_count(space) == 1, "an accepted parameter is there");
    demand_same_again(space);
  }
  cocabo_space_free(space);
  free(text);
  return 0;
}
