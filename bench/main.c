/* cocabo-bench - the paper's problems, methods, tables and figures.
 *
 * Reading order: problem.h (what is optimised), methods.h (by what), experiment.h (one
 * run), campaign.h (many runs into one file), groups.h (what they reached on average),
 * then the commands.
 */
#include <stddef.h>

#include "commands.h"
#include "common/program.h"

static const front_command *const commands[] = {
    &bench_list,      &bench_run,     &bench_table,     &bench_compare,
    &bench_surrogate, &bench_latency, &bench_evaluate,  &bench_figure,
    &bench_report,    &bench_paper,   &bench_show_data, NULL};

static const front_variable variables[] = {
    {"COCABO_DATA", "the folder of the data that some problems need (data)"}, {0}};

static const front_program program = {
    .name = "cocabo-bench",
    .summary = "Benchmarks of optimisation over numbers and categories.",
    .commands = commands,
    .examples = "  cocabo-bench run --problem func-2c --method random,cocabo-0.5 \\\n"
                "      --seeds 0-4 -o results.csv\n"
                "  cocabo-bench table results.csv\n"
                "  cocabo-bench compare results.csv --method random,cocabo-0.5\n"
                "  cocabo-bench figure results.csv -o figure.svg",
    .statuses = "0 done, 1 run-time failure, 2 bad usage or input, 130 interrupted.",
    .variables = variables,
};

int main(int argc, char **argv) {
  return front_main(&program, argc, argv);
}
