/* names.c - lists of problems and methods for option parsing, which asks for names by
 * index. */
#include "names.h"

#include "methods.h"
#include "problem.h"

static const char *problem_name(int i) {
  const bench_problem *problem = bench_problem_at(i);
  return problem ? problem->name : NULL;
}

static const char *method_name(int i) {
  const bench_method *method = bench_method_at(i);
  return method ? method->name : NULL;
}

cocabo_status bench_parse_problems(const char *text, front_chosen *out,
                                   cocabo_error *err) {
  return front_parse_names("--problem", "problem", text, problem_name, out, err);
}

cocabo_status bench_parse_methods(const char *text, front_chosen *out,
                                  cocabo_error *err) {
  return front_parse_names("--method", "method", text, method_name, out, err);
}
