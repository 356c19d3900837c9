/* report.c - cocabo-bench report: everything in a folder on one page. */
#include "report.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/status.h"
#include "commands.h"
#include "common/outfile.h"

/* ---- the command line ----------------------------------------------------------- */

typedef struct report_args {
  const char *output;
} report_args;

static const front_option options[] = {{"-o, --output", "FILE",
                                        "the page (DIR/report.html)", FRONT_TEXT,
                                        offsetof(report_args, output)},
                                       {0}};

typedef struct report {
  report_args args;
  int argc;
  char **argv; /* what the page says it was made by */
  const char *folder;
  size_t n, capacity;
  char **names; /* n, owned, of the files that belong on the page; sorted */
  bench_page page;
} report;

static cocabo_status parse(report *r, cocabo_error *err) {
  front_texts rest = {0};
  CB_TRY(front_args_parse(options, r->argc, r->argv, &r->args, &rest, err));
  if (rest.n != 1)
    return cb_fail(err, COCABO_E_INVALID, "%d folders given, want one", rest.n);
  r->folder = rest.items[0];
  return COCABO_OK;
}

/* ---- files ---------------------------------------------------------------------- */

static cocabo_status put_picture(bench_page *page, const char *path,
                                 cocabo_error *err) {
  front_buffer svg = {0};
  const char *slash = strrchr(path, '/');
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return cb_fail(err, COCABO_E_INVALID, "cannot read %s: %s", path, strerror(errno));
  const cocabo_status status = front_read_all(fd, path, &svg, err);
  close(fd);
  if (status == COCABO_OK) {
    bench_page_put(page, "<figure>\n");
    bench_page_image(page, &svg, slash ? slash + 1 : path);
    bench_page_put(page, "</figure>\n");
  }
  front_buffer_free(&svg);
  return status;
}

/* What is shown, in the order of the page. */
static const struct kind {
  const char *ending;
  cocabo_status (*put)(bench_page *page, const char *path, cocabo_error *err);
} kinds[] = {{".csv", bench_report_results},
             {".jsonl", bench_report_lines},
             {".svg", put_picture}};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static int kind_of(const char *name) {
  const size_t size = strlen(name);
  for (int i = 0; i < KINDS; i++) {
    const size_t ending = strlen(kinds[i].ending);
    if (name[0] != '.' && size > ending &&
        strcmp(name + size - ending, kinds[i].ending) == 0)
      return i;
  }
  return -1;
}

static int compare_names(const void *a, const void *b) {
  const char *x = *(char *const *)a, *y = *(char *const *)b;
  const int order = kind_of(x) - kind_of(y);
  return order != 0 ? order : strcmp(x, y);
}

static cocabo_status add_name(report *r, const char *name, cocabo_error *err) {
  void *names = r->names;
  if (!cb_reserve(&names, &r->capacity, r->n + 1, sizeof *r->names))
    return cb_no_memory(err);
  r->names = names;
  r->names[r->n] = cb_strdup(name);
  if (!r->names[r->n])
    return cb_no_memory(err);
  r->n++;
  return COCABO_OK;
}

static cocabo_status list_files(report *r, cocabo_error *err) {
  DIR *folder = opendir(r->folder);
  if (!folder)
    return cb_fail(err, COCABO_E_INVALID, "cannot read the folder %s: %s", r->folder,
                   strerror(errno));
  cocabo_status status = COCABO_OK;
  for (struct dirent *e; status == COCABO_OK && (e = readdir(folder));)
    if (kind_of(e->d_name) >= 0)
      status = add_name(r, e->d_name, err);
  closedir(folder);
  CB_TRY(status);
  if (r->n == 0)
    return cb_fail(
        err, COCABO_E_NOT_FOUND,
        "%s has no results (*.csv), lines of --json (*.jsonl) or pictures (*.svg)",
        r->folder);
  qsort(r->names, r->n, sizeof *r->names, compare_names);
  return COCABO_OK;
}

/* ---- the page ------------------------------------------------------------------- */

static void put_origin(report *r) {
  const unsigned version = cocabo_version();
  const time_t now = time(NULL);
  struct tm utc;
  char date[64] = "";
  if (gmtime_r(&now, &utc))
    strftime(date, sizeof date, "%Y-%m-%d %H:%M UTC", &utc);
  bench_page_put(&r->page,
                 "<p class=\"quiet\">%s, cocabo-bench %u.%u.%u: <code>"
                 "cocabo-bench report",
                 date, version >> 16, version >> 8 & 0xff, version & 0xff);
  for (int i = 0; i < r->argc; i++) {
    bench_page_put(&r->page, " ");
    bench_page_text(&r->page, r->argv[i]);
  }
  bench_page_put(&r->page, "</code></p>\n");
}

static void put_contents(report *r) {
  bench_page_put(&r->page, "<nav><ul>\n");
  for (size_t i = 0; i < r->n; i++) {
    bench_page_put(&r->page, "<li><a href=\"#file-%zu\">", i);
    bench_page_text(&r->page, r->names[i]);
    bench_page_put(&r->page, "</a></li>\n");
  }
  bench_page_put(&r->page, "</ul></nav>\n");
}

/* A file that is not what its name says is named with the reason, and the page goes on.
 */
static cocabo_status put_file(report *r, size_t i, cocabo_error *err) {
  front_buffer path = {0};
  CB_TRY(front_buffer_printf(&path, err, "%s/%s", r->folder, r->names[i]));
  const char *text = front_buffer_text(&path, err);
  bench_page_put(&r->page, "<section id=\"file-%zu\">\n<h2>", i);
  bench_page_text(&r->page, r->names[i]);
  bench_page_put(&r->page, "</h2>\n");
  const cocabo_status status =
      text ? kinds[kind_of(r->names[i])].put(&r->page, text, err) : COCABO_E_NO_MEMORY;
  if (status != COCABO_OK && status != COCABO_E_NO_MEMORY) {
    bench_page_put(&r->page, "<p>Not shown: ");
    bench_page_text(&r->page, err->message);
    bench_page_put(&r->page, "</p>\n");
  }
  bench_page_put(&r->page, "</section>\n");
  front_buffer_free(&path);
  return status == COCABO_E_NO_MEMORY ? status : COCABO_OK;
}

static cocabo_status make_page(report *r, cocabo_error *err) {
  bench_page_begin(&r->page, "Benchmark results");
  put_origin(r);
  if (r->n > 1)
    put_contents(r);
  for (size_t i = 0; i < r->n; i++)
    CB_TRY(put_file(r, i, err));
  return bench_page_end(&r->page, err);
}

static cocabo_status write_page(report *r, cocabo_error *err) {
  front_buffer path = {0};
  const char *output = r->args.output;
  if (!output) {
    CB_TRY(front_buffer_printf(&path, err, "%s/report.html", r->folder));
    output = front_buffer_text(&path, err);
  }
  const cocabo_status status =
      output ? front_outfile_write(output, &r->page.out, err) : COCABO_E_NO_MEMORY;
  if (status == COCABO_OK)
    fprintf(stderr, "cocabo-bench report: wrote %s\n", output);
  front_buffer_free(&path);
  return status;
}

static void report_clear(report *r) {
  for (size_t i = 0; i < r->n; i++)
    cb_free(r->names[i]);
  cb_free(r->names);
  bench_page_free(&r->page);
}

static int report_main(int argc, char **argv) {
  report r = {.argc = argc, .argv = argv};
  cocabo_error err;
  int status = FRONT_DONE;
  if (parse(&r, &err) != COCABO_OK || list_files(&r, &err) != COCABO_OK)
    status = front_complain("report", FRONT_USAGE, &err);
  else if (make_page(&r, &err) != COCABO_OK || write_page(&r, &err) != COCABO_OK)
    status = front_complain("report", FRONT_FAILURE, &err);
  report_clear(&r);
  return status;
}

const front_command bench_report = {
    .name = "report",
    .summary = "Writes one HTML page with every table and figure of a folder.",
    .usage = "DIR [-o FILE]",
    .options = options,
    .details =
        "Of each file of results (*.csv) in the folder: the curves, tables of means\n"
        "and standard errors, the time of an ask, a comparison with the best method,\n"
        "and the regret. Lines of surrogate --json (*.jsonl) become the paper's Table\n"
        "1, and those of latency or another command a table too. Pictures (*.svg) are\n"
        "shown as they are. A file that cannot be read is named with the reason. The\n"
        "page has no scripts and needs no other file.",
    .examples = "  cocabo-bench report results\n"
                "  cocabo-bench report results -o results.html",
    .main = report_main,
};
