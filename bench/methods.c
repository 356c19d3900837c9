/* methods.c - the table of methods, each a sampler and the options that make it what
 * its name says. */
#include "methods.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "common/args.h"

static const bench_method methods[] = {
    {"random", "uniform random search", "sampler=random"},
    {"sobol", "scrambled Sobol points", "sampler=sobol"},
    {"cocabo-0.0", "CoCaBO, sum kernel", "sampler=cocabo lambda=0"},
    {"cocabo-0.5", "CoCaBO, half sum, half product", "sampler=cocabo lambda=0.5"},
    {"cocabo-1.0", "CoCaBO, product kernel", "sampler=cocabo lambda=1"},
    {"cocabo-auto", "CoCaBO, lambda learnt", "sampler=cocabo lambda=auto"},
    {"mixed", "the default: a GP over numbers and categories together",
     "sampler=mixed"},
    {"tpe", "Tree-structured Parzen Estimator, as hyperopt's", "sampler=tpe"},
    {"smac", "SMAC: a random forest and local search", "sampler=smac"},
    {"onehot", "One-hot BO", "sampler=onehot"},
    {"exp3bo", "EXP3BO, at most 200 combinations of categories", "sampler=exp3bo"},
};

const bench_method *bench_method_at(int i) {
  const int n = sizeof methods / sizeof methods[0];
  return i >= 0 && i < n ? &methods[i] : NULL;
}

const bench_method *bench_method_find(const char *name) {
  const bench_method *method;
  for (int i = 0; (method = bench_method_at(i)); i++)
    if (strcmp(method->name, name) == 0)
      return method;
  return NULL;
}

static const char *option_name_at(int i) {
  return cocabo_option_name((size_t)i);
}

static cocabo_status check_option_name(const char *name, cocabo_error *err) {
  const char *known;
  for (int i = 0; (known = option_name_at(i)); i++)
    if (strcmp(known, name) == 0)
      return COCABO_OK;
  return front_unknown(err, "option", name, option_name_at);
}

/* name and value are the two halves of a copy of the setting. */
static cocabo_status set_option(char *setting, cocabo_options *options,
                                cocabo_error *err) {
  char *equals = strchr(setting, '=');
  if (!equals || equals == setting)
    return cb_fail(err, COCABO_E_INVALID, "setting \"%s\", want OPTION=VALUE", setting);
  *equals = '\0';
  CB_TRY(check_option_name(setting, err));
  return cocabo_options_set(options, setting, equals + 1, err);
}

cocabo_status bench_setting_apply(const char *setting, cocabo_options *options,
                                  cocabo_error *err) {
  char *copy = cb_strdup(setting);
  if (!copy)
    return cb_no_memory(err);
  const cocabo_status status = set_option(copy, options, err);
  cb_free(copy);
  return status;
}

cocabo_status bench_method_apply(const bench_method *method, cocabo_options *options,
                                 cocabo_error *err) {
  const char *rest = method->settings;
  while (*rest) {
    char setting[64];
    const size_t size = strcspn(rest, " ");
    snprintf(setting, sizeof setting, "%.*s", (int)size, rest);
    CB_TRY(bench_setting_apply(setting, options, err));
    rest += size + strspn(rest + size, " ");
  }
  return COCABO_OK;
}
