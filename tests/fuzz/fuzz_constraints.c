/* Constraints on metrics. What is accepted has names and bounds that make sense, and
 * says the same when it is written out and read again. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "fuzz/fuzz_demand.h"
#include "log/constraints.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Every name in backquotes, which are doubled in it. */
static char *write_out(const cb_constraints *c) {
  char *text = calloc((size_t)c->n, 2 * CB_NAME_MAX + 64), *at = text;
  demand(text != NULL, "there is memory");
  for (int i = 0; i < c->n; i++) {
    const cb_constraint *item = &c->items[i];
    at += sprintf(at, "%s`", i > 0 ? "," : "");
    for (const char *s = item->metric; *s; s++) {
      *at++ = *s;
      if (*s == '`')
        *at++ = *s;
    }
    at += sprintf(at, "`%s%s%.17g", item->above ? ">" : "<", item->strict ? "" : "=",
                  item->bound);
  }
  return text;
}

static void demand_same(const cb_constraints *a, const cb_constraints *b) {
  demand(a->n == b->n && a->n >= 1 && a->n <= CB_MAX_CONSTRAINTS, "as many");
  for (int i = 0; i < a->n; i++) {
    const cb_constraint *x = &a->items[i], *y = &b->items[i];
    demand(strcmp(x->metric, y->metric) == 0, "the same metric");
    demand(x->above == y->above && x->strict == y->strict, "the same side");
    demand(isfinite(x->bound) && x->bound == y->bound, "the same bound");
    demand(cb_name_check("a metric", x->metric, NULL) == COCABO_OK, "a good name");
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1);
  demand(text != NULL, "there is memory");
  memcpy(text, data, size);
  text[size] = '\0';
  cocabo_error err;
  cb_constraints *c = NULL, *again = NULL;
  const cocabo_status status = cb_constraints_read(&c, text, &err);
  if (status != COCABO_OK) {
    demand_sentence(&err, status);
    demand(c == NULL, "what is refused is not there");
  } else if (c) {
    char *out = write_out(c);
    demand(cb_constraints_read(&again, out, &err) == COCABO_OK, "it is read again");
    demand_same(c, again);
    free(out);
  }
  cb_free(again);
  cb_free(c);
  free(text);
  return 0;
}
