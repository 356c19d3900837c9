/* methods.h - what is compared: a sampler and its settings, under a name. */
#ifndef BENCH_METHODS_H
#define BENCH_METHODS_H

#include "cocabo.h"

typedef struct bench_method {
  const char *name;
  const char *help;     /* one line */
  const char *settings; /* OPTION=VALUE, separated by spaces */
} bench_method;

const bench_method *bench_method_at(int i);              /* NULL past the end */
const bench_method *bench_method_find(const char *name); /* NULL: none */

/* Applies the method's settings to the options. */
cocabo_status bench_method_apply(const bench_method *method, cocabo_options *options,
                                 cocabo_error *err);

/* Applies one "OPTION=VALUE"; an unknown option is answered with the nearest one. */
cocabo_status bench_setting_apply(const char *setting, cocabo_options *options,
                                  cocabo_error *err);

#endif
