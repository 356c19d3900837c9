/* Parameters as text, NAME=DOMAIN as -p takes them, after three that a condition may
 * name. What is accepted must come out in words that mean the same, and whatever
 * happens to be active can be drawn. */
#include <stdint.h>
#include <string.h>

#include "fuzz/fuzz_demand.h"
#include "space/space.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const before[][2] = {
    {"kernel", "choice(a,b,1,true,null)"}, {"n", "int(0,9)"}, {"on", "bool if n > 4"}};
enum { BEFORE = sizeof before / sizeof before[0] };

static void demand_points(const cocabo_space *space) {
  cb_rng rng = cb_rng_make(1, CB_RNG_SPACE, 2);
  cb_cell cells[BEFORE + 1], back[BEFORE + 1];
  double x[2 * (BEFORE + 1)];
  int32_t h[BEFORE + 1];
  for (int i = 0; i < 4; i++) {
    cb_space_sample(space, &rng, cells);
    demand(cb_space_holds(space, cells), "a draw is in the space");
    cb_space_encode(space, cells, x, h);
    cb_space_decode(space, x, h, back);
    demand(cb_space_holds(space, back), "so is what was encoded");
  }
}

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
  for (int i = 0; i < BEFORE; i++)
    demand(cocabo_space_add(space, before[i][0], before[i][1], &err) == COCABO_OK,
           "the others are fine");
  const cocabo_status status =
      cocabo_space_add(space, text, domain ? domain : "", &err);
  if (status != COCABO_OK) {
    demand_sentence(&err, status);
    demand(cocabo_space_count(space) == BEFORE, "a refused parameter is not there");
  } else {
    demand(cocabo_space_count(space) == BEFORE + 1, "an accepted parameter is there");
    demand_same_again(space);
    demand_points(space);
  }
  cocabo_space_free(space);
  free(text);
  return 0;
}
