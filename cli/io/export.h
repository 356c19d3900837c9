/* export.h - a study as the text of a file, in the formats of others. */
#ifndef CLI_EXPORT_H
#define CLI_EXPORT_H

#include "cocabo.h"
#include "common/buffer.h"

/* number,state,value,PARAMETERS...,attempt,started,finished,seconds,reason: one row a
 * trial. A parameter that is called like one of our columns is params.NAME. */
cocabo_status export_csv(front_buffer *out, const cocabo_study *study,
                         cocabo_error *err);

/* {"study":..,"direction":..,"parameters":{..},"options":{..},"trials":[..]}, where
 * parameters are as in study.yaml and trials as everywhere. */
cocabo_status export_json(front_buffer *out, const cocabo_study *study,
                          cocabo_error *err);

/* One trial a line, as `cocabo trials --json` has them. */
cocabo_status export_lines(front_buffer *out, const cocabo_study *study,
                           cocabo_error *err);

/* The log of Optuna's JournalStorage (JournalFileBackend). Waiting, interrupted and
 * stale trials are enqueued there. */
cocabo_status export_journal(front_buffer *out, const cocabo_study *study,
                             cocabo_error *err);

/* The name of a parameter's column. */
cocabo_status export_put_column(front_buffer *out, const char *parameter,
                                cocabo_error *err);

#endif
