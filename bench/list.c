/* list.c - cocabo-bench list: what there is to run. */
#include <stdbool.h>
#include <stdio.h>

#include "commands.h"
#include "common/args.h"
#include "methods.h"
#include "problem.h"

typedef struct list_args {
  bool json;
} list_args;

static const front_option options[] = {
    {"--json", NULL, "one JSON object a line", FRONT_FLAG, offsetof(list_args, json)},
    {0}};

/* Names and help texts are our own and need no escapes. */
static void print_json(void) {
  const bench_problem *p;
  const bench_method *m;
  for (int i = 0; (p = bench_problem_at(i)); i++)
    printf("{\"problem\": \"%s\", \"help\": \"%s\", \"numbers\": %d, "
           "\"categories\": %d, \"optimum\": %.17g}\n",
           p->name, p->help, p->d, p->c, p->optimum);
  for (int i = 0; (m = bench_method_at(i)); i++)
    printf("{\"method\": \"%s\", \"help\": \"%s\", \"settings\": \"%s\"}\n", m->name,
           m->help, m->settings);
}

static void print_text(void) {
  const bench_problem *p;
  const bench_method *m;
  printf("Problems (values are maximised):\n");
  for (int i = 0; (p = bench_problem_at(i)); i++)
    printf("  %-20s %-56s optimum %.6g\n", p->name, p->help, p->optimum);
  printf("\nMethods:\n");
  for (int i = 0; (m = bench_method_at(i)); i++)
    printf("  %-20s %s\n", m->name, m->help);
}

static int list_main(int argc, char **argv) {
  list_args args = {0};
  cocabo_error err;
  if (front_args_parse(options, argc, argv, &args, NULL, &err) != COCABO_OK)
    return front_complain("list", FRONT_USAGE, &err);
  if (args.json)
    print_json();
  else
    print_text();
  return front_finish_output("list");
}

const front_command bench_list = {
    .name = "list",
    .summary = "Lists the problems and the methods.",
    .usage = "[options]",
    .options = options,
    .examples = "  cocabo-bench list",
    .main = list_main,
};
