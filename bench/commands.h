/* commands.h - the commands of cocabo-bench. */
#ifndef BENCH_COMMANDS_H
#define BENCH_COMMANDS_H

#include "common/args.h"

extern const front_command bench_list, bench_run, bench_table, bench_compare,
    bench_surrogate, bench_latency, bench_evaluate, bench_figure, bench_report,
    bench_paper, bench_show_data;

#endif
