/* bar.h - how far a study is: a bar on a terminal, a line now and then elsewhere,
 * nothing when quiet. Always on standard error. What it shows is the study's state, so
 * it is right however many processes work on it. */
#ifndef CLI_BAR_H
#define CLI_BAR_H

#include <stdbool.h>
#include <stdint.h>

/* Of a whole study. */
typedef struct cli_state {
  int64_t total; /* complete and failed trials it shall reach; 0: no such limit */
  int64_t complete, failed, running;
  int64_t runs, all_runs; /* that there are, and that it shall reach; 0: no limit */
  bool has_best;
  int64_t best_number;
  double best;
  bool noisy;               /* then best may be luck, and a model, if there is one, */
  double expected, best_se; /* expects so much, with this error; NaN: there is none */
} cli_state;

typedef struct cli_bar {
  bool quiet, terminal;
  bool drawn;          /* the cursor stands behind a bar */
  double start, shown; /* seconds; when it began, when it was last shown */
  double end;          /* when time is over; INFINITY: never */
  int64_t before;      /* complete and failed trials at the start */
  int64_t runs_before; /* and runs */
  int64_t shown_done;  /* the same when it was last shown */
} cli_bar;

cli_bar cli_bar_start(bool quiet, const cli_state *state, double now, double end);
/* Shows the state if it is time to. */
void cli_bar_show(cli_bar *bar, const cli_state *state, double now);
/* How often to look at the study for it, in seconds; INFINITY: nobody is watching. */
double cli_bar_pause(const cli_bar *bar);
/* Makes room for a line of text on standard error; the bar is drawn again below it. */
void cli_bar_clear(cli_bar *bar);
/* Shows the final state and leaves the line, so that other text may follow. */
void cli_bar_end(cli_bar *bar, const cli_state *state, double now);

/* The text itself, without the bar, for a line of so many columns. */
void cli_bar_text(const cli_bar *bar, const cli_state *state, double now, char *out,
                  int columns);

#endif
