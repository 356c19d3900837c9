/* names.h - problems and methods by name on the command line. */
#ifndef BENCH_NAMES_H
#define BENCH_NAMES_H

#include "common/args.h"

/* "a,b" -> numbers for bench_problem_at and bench_method_at. */
cocabo_status bench_parse_problems(const char *text, front_chosen *out,
                                   cocabo_error *err);
cocabo_status bench_parse_methods(const char *text, front_chosen *out,
                                  cocabo_error *err);

#endif
