/* report.h - the sections of a report, one for each kind of file. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include "cocabo.h"
#include "page.h"

/* Puts the section of a file of results on the page: figures, tables, comparisons. On
 * failure there may be part of it. */
cocabo_status bench_report_results(bench_page *page, const char *path,
                                   cocabo_error *err);

/* The same of lines of JSON: those of `surrogate --json` become the paper's Table 1,
 * those of other commands a row each. */
cocabo_status bench_report_lines(bench_page *page, const char *path, cocabo_error *err);

#endif
