/* Expressions over a space with every kind of parameter. What is accepted must be
 * written in one way, which means the same at every point. */
#include <stdint.h>
#include <string.h>

#include "base/rng.h"
#include "fuzz/fuzz_demand.h"
#include "space/expr.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const params[][2] = {{"x", "float(-10,10)"},
                                        {"n", "int(-5,5)"},
                                        {"kernel", "choice(linear,poly,rbf,\"a b\")"},
                                        {"units", "choice(16,32,64)"},
                                        {"size", "ordinal(small,medium,large)"},
                                        {"other", "ordinal(small,medium,large)"},
                                        {"flag", "choice(false,true)"},
                                        {"five", "choice(1,1.0,true,\"1\",null)"},
                                        {"in", "int(0,9)"},
                                        {"a`b", "float(0,1)"},
                                        {"late", "int(0,1)"}};
enum { N = sizeof params / sizeof params[0] };

static cocabo_space *make_space(void) {
  cocabo_space *space = cocabo_space_new();
  demand(space != NULL, "there is memory");
  for (int i = 0; i < N; i++)
    demand(cocabo_space_add(space, params[i][0], params[i][1], NULL) == COCABO_OK,
           "the space is fine");
  return space;
}

static void demand_same(const cocabo_space *space, const cb_expr *a, const cb_expr *b) {
  demand(strcmp(cb_expr_text(a), cb_expr_text(b)) == 0, "it is written in one way");
  int n = 0, m = 0;
  const int *p = cb_expr_params(a, &n), *q = cb_expr_params(b, &m);
  demand(n == m && memcmp(p, q, (size_t)n * sizeof *p) == 0, "it names the same");
  cb_rng rng = cb_rng_make(7, CB_RNG_BENCH, 0);
  for (int round = 0; round < 20; round++) {
    cb_cell cells[N];
    bool active[N];
    cb_space_sample(space, &rng, cells);
    for (int i = 0; i < N; i++) {
      active[i] = round % 2 == 0 || cb_rng_below(&rng, 3) > 0;
      if (!active[i]) /* an index of nothing, which must not be used */
        cells[i].integer = INT64_MAX;
    }
    const cb_truth truth = cb_expr_test(a, cells, active);
    const double violation = cb_expr_violation(a, cells, active);
    demand(violation >= 0.0 && (violation > 0.0) == (truth == CB_FALSE),
           "violation is where it is false");
    demand(cb_expr_test(b, cells, active) == truth, "it means the same");
    demand(cb_expr_violation(b, cells, active) == violation, "to the bit");
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static cocabo_space *space;
  if (!space)
    space = make_space();
  char *text = malloc(size + 1);
  demand(text != NULL, "there is memory");
  memcpy(text, data, size);
  text[size] = '\0';

  cocabo_error err;
  cb_expr *e = NULL, *again = NULL;
  const cocabo_status status = cb_expr_parse(&e, space, N - 1, text, &err);
  if (status != COCABO_OK) {
    demand_sentence(&err, status);
    demand(e == NULL, "what is refused is not there");
  } else {
    demand(cb_expr_parse(&again, space, N - 1, cb_expr_text(e), &err) == COCABO_OK,
           "what is written can be read");
    demand_same(space, e, again);
  }
  cb_expr_free(again);
  cb_expr_free(e);
  free(text);
  return 0;
}
