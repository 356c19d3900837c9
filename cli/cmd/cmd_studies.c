/* cmd_studies.c - cocabo studies: what a store has. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "common/base.h"
#include "common/show.h"
#include "io/output.h"
#include "io/table.h"

typedef struct studies_args {
  cli_common common;
} studies_args;

static const front_option options[] = {
    CLI_FILE_OPTION(studies_args), CLI_COMMON_OPTIONS(studies_args), {0}};

static const char *const titles[] = {"study",      "direction", "sampler",
                                     "parameters", "trials",    "complete",
                                     "failed",     "running",   "best"};
enum { N_TITLES = sizeof titles / sizeof titles[0], FIRST_NUMBER = 3 };

/* ---- one study ------------------------------------------------------------------- */

static int64_t count_trials(const cocabo_description *d) {
  int64_t n = 0;
  for (int s = COCABO_WAITING; s <= COCABO_STALE; s++)
    n += d->states[s];
  return n;
}

static const char *direction(const cocabo_description *d) {
  return d->maximize ? "maximize" : "minimize";
}

static cocabo_status put_json(front_buffer *out, const char *name,
                              const cocabo_description *d, cocabo_error *err) {
  CB_TRY(front_buffer_puts(out, "{\"name\":", err));
  CB_TRY(front_put_json_text(out, name, err));
  CB_TRY(front_buffer_printf(out, err, ",\"direction\":\"%s\",\"sampler\":\"%s\"",
                             direction(d), d->sampler));
  CB_TRY(front_buffer_printf(out, err,
                             ",\"parameters\":%" PRId64 ",\"trials\":%" PRId64,
                             d->parameters, count_trials(d)));
  for (int s = COCABO_WAITING; s <= COCABO_STALE; s++)
    CB_TRY(front_buffer_printf(out, err, ",\"%s\":%" PRId64,
                               cocabo_state_name((cocabo_trial_state)s), d->states[s]));
  CB_TRY(front_buffer_puts(out, ",\"best\":", err));
  CB_TRY(front_put_json_real(out, d->value, err));
  if (d->constrained)
    CB_TRY(front_buffer_printf(out, err, ",\"feasible\":%s",
                               d->best < 0   ? "null"
                               : d->feasible ? "true"
                                             : "false"));
  return front_buffer_puts(out, "}\n", err);
}

static cocabo_status add_count(cli_table *table, int64_t n, cocabo_error *err) {
  char digits[24];
  snprintf(digits, sizeof digits, "%" PRId64, n);
  return cli_table_text(table, digits, err);
}

static cocabo_status add_best(cli_table *table, const cocabo_description *d,
                              cocabo_error *err) {
  front_buffer cell = {0};
  cocabo_status status = d->best >= 0 ? cli_put_rounded(&cell, d->value, err)
                                      : front_buffer_puts(&cell, "-", err);
  if (status == COCABO_OK && d->best >= 0 && !d->feasible)
    status = front_buffer_puts(&cell, " (infeasible)", err);
  if (status == COCABO_OK)
    status = cli_table_cell(table, cell.data, cell.size, err);
  front_buffer_free(&cell);
  return status;
}

static cocabo_status add_row(cli_table *table, const char *name,
                             const cocabo_description *d, cocabo_error *err) {
  const cocabo_trial_state states[] = {COCABO_COMPLETE, COCABO_FAILED, COCABO_RUNNING};
  CB_TRY(cli_table_text(table, name, err));
  CB_TRY(cli_table_text(table, direction(d), err));
  CB_TRY(cli_table_text(table, d->sampler, err));
  CB_TRY(add_count(table, d->parameters, err));
  CB_TRY(add_count(table, count_trials(d), err));
  for (size_t i = 0; i < sizeof states / sizeof states[0]; i++)
    CB_TRY(add_count(table, d->states[states[i]], err));
  return add_best(table, d, err);
}

/* ---- all of them ----------------------------------------------------------------- */

/* Not every sentence names the study. */
static void complain(const char *name, const cocabo_error *err) {
  char shown[CB_SHOWN];
  cb_text_show(shown, name);
  if (strstr(err->message, shown))
    fprintf(stderr, "cocabo studies: %s\n", err->message);
  else
    fprintf(stderr, "cocabo studies: study \"%s\": %s\n", shown, err->message);
}

/* Appends to the table, or to `out` where that is NULL. A study that is deleted while
 * we look is passed over; one that cannot be read, of a later version perhaps, is named
 * and does not hide the others. */
static cocabo_status add_study(cocabo_store *store, const char *name, cli_table *table,
                               front_buffer *out, size_t *n_unread, cocabo_error *err) {
  cocabo_description d;
  const cocabo_status status = cocabo_store_describe(store, name, &d, err);
  if (status == COCABO_E_NOT_FOUND)
    return COCABO_OK;
  if (cli_is_damage(status)) {
    complain(name, err);
    (*n_unread)++;
    return COCABO_OK;
  }
  CB_TRY(status);
  return table ? add_row(table, name, &d, err) : put_json(out, name, &d, err);
}

static cocabo_status add_all(cocabo_store *store, cli_table *table, front_buffer *out,
                             size_t *n, size_t *n_unread, cocabo_error *err) {
  cocabo_names *names;
  CB_TRY(cocabo_store_studies(store, &names, err));
  *n = cocabo_names_count(names);
  cocabo_status status = COCABO_OK;
  for (size_t i = 0; i < *n && status == COCABO_OK; i++)
    status = add_study(store, cocabo_names_at(names, i), table, out, n_unread, err);
  cocabo_names_free(names);
  return status;
}

static cocabo_status fill_table(cocabo_store *store, cli_table *table, size_t *n,
                                size_t *n_unread, cocabo_error *err) {
  for (size_t i = 0; i < N_TITLES; i++)
    CB_TRY(cli_table_text(table, titles[i], err));
  for (size_t i = FIRST_NUMBER; i < N_TITLES; i++)
    cli_table_align_right(table, i);
  return add_all(store, table, NULL, n, n_unread, err);
}

static cocabo_status print_table(cocabo_store *store, const cli_common *common,
                                 size_t *n_unread, cocabo_error *err) {
  cli_table table;
  size_t n;
  CB_TRY(cli_table_begin(&table, N_TITLES, err));
  cocabo_status status = fill_table(store, &table, &n, n_unread, err);
  char url[CB_SHOWN];
  if (status == COCABO_OK && n > 0)
    status = cli_table_print(&table, err);
  else if (status == COCABO_OK)
    cli_note(common, "no studies in %s", show_url(url, cli_storage(common)));
  cli_table_free(&table);
  return status;
}

static cocabo_status list_studies(int argc, char **argv, front_buffer *out,
                                  size_t *n_unread, cocabo_error *err) {
  studies_args args = {0};
  cli_session session;
  size_t n;
  CB_TRY(front_args_parse(options, argc, argv, &args, NULL, err));
  CB_TRY(cli_check_file(&args.common, err));
  CB_TRY(cli_open_store(&session, &args.common, COCABO_STORE_READ_ONLY, err));
  const cocabo_status status =
      args.common.json ? add_all(session.store, NULL, out, &n, n_unread, err)
                       : print_table(session.store, &args.common, n_unread, err);
  cli_close(&session);
  return status;
}

static int studies_main(int argc, char **argv) {
  cocabo_error err;
  front_buffer out = {0};
  size_t n_unread = 0;
  const cocabo_status status = list_studies(argc, argv, &out, &n_unread, &err);
  const int answer = cli_answer("studies", status, &out, &err);
  return answer == FRONT_DONE && n_unread > 0 ? FRONT_FAILURE : answer;
}

const cli_command cmd_studies = {
    .name = "studies",
    .summary = "Lists the studies of a store.",
    .usage = "[options]",
    .options = options,
    .details =
        "A study that cannot be read, because a later version wrote it perhaps, "
        "is\nnamed on standard error; the others are listed, and the exit status "
        "is 1.\ncocabo delete removes it.",
    .examples = "  cocabo studies\n"
                "  cocabo studies --storage sqlite:////tmp/other.db --json",
    .main = studies_main,
};
