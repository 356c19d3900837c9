/* plot_json.h - the numbers behind a plot, for programs: one object a line.
 *
 *   history     {"number":3,"state":"complete","value":0.5,"best":0.25}
 *   categories  {"parameter":"opt","choice":"adam","tried":12,"failed":1,"best":0.25,
 *                "best_number":7}
 *   importance  {"parameter":"lr","share":0.83,"se":0.04,"explained":0.9}
 *   steps       {"number":3,"state":"complete","step":1,"value":0.5}
 */
#ifndef CLI_PLOT_JSON_H
#define CLI_PLOT_JSON_H

#include "plot/plot.h"

/* COCABO_E_INVALID for the kinds that show the trials themselves. */
cocabo_status plot_put_json(plot_kind kind, const plot_data *data, front_buffer *out,
                            cocabo_error *err);

#endif
