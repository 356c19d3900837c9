/* cmd_plot.c - cocabo plot: pictures of a study, as files or in the terminal. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli.h"
#include "common/base.h"
#include "common/outfile.h"
#include "common/svg.h"
#include "io/output.h"
#include "plot/gnuplot.h"
#include "plot/plot.h"
#include "plot/plot_json.h"
#include "plot/textplot.h"

typedef struct plot_args {
  const char *kind, *output;
  bool text;
  cli_common common;
} plot_args;

static const front_option options[] = {
    {"--kind", "KIND", "what to show, see below (history)", FRONT_TEXT,
     offsetof(plot_args, kind)},
    {"-o, --output", "FILE", "the picture, by its ending: .svg, .png or .pdf",
     FRONT_TEXT, offsetof(plot_args, output)},
    {"--text", NULL, "draw in characters, the default", FRONT_FLAG,
     offsetof(plot_args, text)},
    CLI_FILE_OPTION(plot_args),
    CLI_COMMON_OPTIONS(plot_args),
    {0}};

/* What to do, once the arguments have been understood. */
typedef struct order {
  plot_kind kind;
  const char *output;          /* NULL: no file */
  const canvas_format *format; /* of the file */
  bool text, json;
} order;

/* ---- arguments ------------------------------------------------------------------ */

static cocabo_status parse_kind(const char *text, plot_kind *out, cocabo_error *err) {
  *out = PLOT_HISTORY;
  if (!text)
    return COCABO_OK;
  const char *name;
  for (int i = 0; (name = plot_kind_name(i)); i++)
    if (strcmp(name, text) == 0) {
      *out = (plot_kind)i;
      return COCABO_OK;
    }
  return front_unknown(err, "--kind", text, plot_kind_name);
}

static cocabo_status parse_format(const char *path, const canvas_format **out,
                                  cocabo_error *err) {
  static const struct {
    const char *ending;
    const canvas_format *format;
  } formats[] = {{".svg", &svg_format},
                 {".png", &gnuplot_png_format},
                 {".pdf", &gnuplot_pdf_format}};
  const char *name = strrchr(path, '/'), *ending = strrchr(name ? name : path, '.');
  for (size_t i = 0; ending && i < sizeof formats / sizeof formats[0]; i++)
    if (strcasecmp(ending, formats[i].ending) == 0) {
      *out = formats[i].format;
      return COCABO_OK;
    }
  char shown[CB_SHOWN];
  return cb_fail(err, COCABO_E_INVALID,
                 "-o is \"%s\", want a name that ends in .svg, .png or .pdf",
                 cb_text_show(shown, path));
}

static cocabo_status understand(const plot_args *args, order *out, cocabo_error *err) {
  *out = (order){.output = args->output, .text = args->text, .json = args->common.json};
  CB_TRY(parse_kind(args->kind, &out->kind, err));
  if (args->output)
    return parse_format(args->output, &out->format, err);
  out->text = args->text || !args->common.json;
  return COCABO_OK;
}

/* ---- files ---------------------------------------------------------------------- */

static cocabo_status draw(const order *o, const plot_data *data, front_buffer *out,
                          cocabo_error *err) {
  canvas c;
  cocabo_status status = plot_draw(o->kind, data, o->format, &c, err);
  if (status == COCABO_OK && o->format == &svg_format)
    status = front_buffer_append(out, c.out.data, c.out.size, err);
  else if (status == COCABO_OK)
    status = gnuplot_run(&c.out, out, err);
  canvas_free(&c);
  return status;
}

static int write_picture(const order *o, const plot_data *data,
                         const cli_common *common) {
  cocabo_error err;
  front_buffer picture = {0};
  int status = FRONT_DONE;
  if (draw(o, data, &picture, &err) != COCABO_OK)
    status = cli_complain("plot", &err);
  else if (front_outfile_write(o->output, &picture, &err) != COCABO_OK)
    status = front_complain("plot", FRONT_FAILURE, &err);
  else
    cli_note(common, "cocabo plot: wrote %s", o->output);
  front_buffer_free(&picture);
  return status;
}

/* ---- standard output ------------------------------------------------------------ */

static int print(const order *o, const plot_data *data) {
  cocabo_error err;
  front_buffer out = {0};
  cocabo_status status = COCABO_OK;
  if (o->text)
    status = textplot_draw(o->kind, data, textplot_find_page(), &out, &err);
  if (status == COCABO_OK && o->json)
    status = plot_put_json(o->kind, data, &out, &err);
  if (status == COCABO_OK)
    cli_print(&out);
  front_buffer_free(&out);
  return status == COCABO_OK ? front_finish_output("plot") : cli_complain("plot", &err);
}

/* ---- the command ---------------------------------------------------------------- */

/* Nothing completed has an exit status of its own. */
static int plot(const order *o, const plot_data *data, const cli_common *common) {
  if (!plot_has_any(o->kind, data)) {
    char name[CB_SHOWN];
    cocabo_error err;
    cb_fail(&err, COCABO_E_NOT_FOUND, "no trial of study \"%s\" is complete yet",
            cb_text_show(name, data->study));
    return front_complain("plot", FRONT_NOTHING, &err);
  }
  const int status = o->output ? write_picture(o, data, common) : FRONT_DONE;
  return status == FRONT_DONE && (o->text || o->json) ? print(o, data) : status;
}

static int plot_study(const order *o, cocabo_study *study, const cli_common *common) {
  plot_data data;
  cocabo_error err;
  if (plot_data_read(&data, study, &err) != COCABO_OK)
    return cli_complain("plot", &err);
  const int status = plot(o, &data, common);
  plot_data_free(&data);
  return status;
}

static int plot_main(int argc, char **argv) {
  plot_args args = {0};
  order o;
  cli_session session;
  cocabo_error err;
  if (front_args_parse(options, argc, argv, &args, NULL, &err) != COCABO_OK ||
      understand(&args, &o, &err) != COCABO_OK ||
      cli_open_study(&session, &args.common, COCABO_STORE_READ_ONLY, &err) != COCABO_OK)
    return cli_complain("plot", &err);
  const int status = plot_study(&o, session.study, &args.common);
  cli_close(&session);
  return status;
}

const cli_command cmd_plot = {
    .name = "plot",
    .summary =
        "Draws a study: values over time, parameters, choices, importance, steps.",
    .usage = "[--kind KIND] [-o FILE.svg|.png|.pdf | --text] [options]",
    .options = options,
    .details =
        "Kinds:\n"
        "  history      the value of each trial, and the best so far\n"
        "  slice        values against each parameter, early trials light, late dark\n"
        "  parallel     one line a trial across all parameters, the best ones dark\n"
        "  categories   which choice was tried when, how often, and its best value\n"
        "  importance   each parameter's share in the variance of the values, and its\n"
        "               standard error\n"
        "  steps        what trials reported of their values (cocabo tell --step): "
        "one\n"
        "               line a trial, the best one marked; of many the 20 best and "
        "the\n"
        "               20 newest others\n\n"
        "Failed trials are crosses at the bad edge, or where their line ends. Where\n"
        "values are noisy the best trial is that of cocabo best, with what the model\n"
        "expects of it.\n\n"
        "Without -o it draws in characters, as wide as the terminal or 80 columns. "
        "PNG\n"
        "and PDF need gnuplot (gnuplot-nox).\n"
        "With --json the numbers behind history, categories, importance or steps are\n"
        "printed, one object a line, of steps one a report.\n\n"
        "Exit status 3: no trial is complete yet; steps shows unfinished ones too.",
    .examples = "  cocabo plot\n"
                "  cocabo plot --kind slice -o slice.svg\n"
                "  cocabo plot --kind steps -o steps.png\n"
                "  cocabo plot --kind importance --json | jq .share",
    .main = plot_main,
};
