/* gnuplot.h - a canvas that becomes a PNG or PDF file, drawn by gnuplot.
 *
 * The canvas collects commands with explicit coordinates, so that the picture is the
 * same as in SVG; gnuplot only draws. It runs as a child process without a shell and
 * without anybody's start-up files. Texts of the study are quoted so that none of them
 * is ever a command.
 */
#ifndef CLI_GNUPLOT_H
#define CLI_GNUPLOT_H

#include "common/canvas.h"

extern const canvas_format gnuplot_png_format, gnuplot_pdf_format;

/* Runs the commands and appends the bytes of the picture to *picture. COCABO_E_STORE,
 * with a sentence, if gnuplot is missing or fails. */
cocabo_status gnuplot_run(const front_buffer *commands, front_buffer *picture,
                          cocabo_error *err);

#endif
