/* fuzz_demand.h - what holds whatever the input: sentences that can be printed, and
 * spaces that say what they are. */
#ifndef FUZZ_DEMAND_H
#define FUZZ_DEMAND_H

#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"

static inline void demand(int condition, const char *what) {
  if (condition)
    return;
  fprintf(stderr, "not so: %s\n", what);
  abort();
}

static inline void demand_sentence(const cocabo_error *err, cocabo_status status) {
  demand(err->code == status && status != COCABO_OK, "a failure has its code");
  demand(status != COCABO_E_INTERNAL, "no input is a bug");
  demand(cb_text_is_utf8(err->message), "a sentence is UTF-8");
  demand(err->message[0] != '\0', "a sentence is not empty");
  for (const char *s = err->message; *s; s++)
    demand((unsigned char)*s >= 0x20, "a sentence has no control characters");
}

/* A space built from the names, domains and rules of another is equal to it. */
static inline void demand_same_again(const cocabo_space *space) {
  cocabo_space *again = cocabo_space_new();
  cocabo_error err;
  demand(again != NULL, "there is memory");
  for (size_t i = 0; i < cocabo_space_count(space); i++) {
    char *domain = cocabo_space_domain(space, i);
    demand(domain != NULL, "a parameter has a domain");
    if (cocabo_space_add(again, cocabo_space_name(space, i), domain, &err) !=
        COCABO_OK) {
      fprintf(stderr, "%s: %s\n", domain, err.message);
      abort();
    }
    cocabo_text_free(domain);
  }
  const char *rule;
  for (size_t k = 0; (rule = cocabo_space_get_rule(space, k)); k++)
    demand(cocabo_space_rule(again, rule, &err) == COCABO_OK, "a rule can be read");
  demand(cocabo_space_equal(space, again), "its domains say what a space is");
  cocabo_space_free(again);
}

#endif
