#include "args.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"

/* ---- sentences ------------------------------------------------------------------ */

/* A sentence may quote what the user or a file said; it stays one harmless line. */
static void print_line(const char *text) {
  for (; *text; text++)
    fputc((unsigned char)*text < 0x20 || *text == 0x7f ? '?' : *text, stderr);
  fputc('\n', stderr);
}

int bench_complain(const char *command, int exit_status, const cocabo_error *err) {
  fflush(stdout);
  fprintf(stderr, "cocabo-bench%s%s: ", command ? " " : "", command ? command : "");
  print_line(err->message);
  return err->code == COCABO_E_NO_MEMORY ? BENCH_FAILURE : exit_status;
}

int bench_finish_output(const char *command) {
  if (fflush(stdout) == 0 && !ferror(stdout))
    return BENCH_DONE;
  cocabo_error err;
  cb_fail(&err, COCABO_E_STORE, "cannot write to standard output: %s", strerror(errno));
  return bench_complain(command, BENCH_FAILURE, &err);
}

/* Edits (insert, delete, replace, swap of neighbours) that turn a into b; long texts
 * count as far away. */
enum { FAR = 1000, LONGEST = 40 };

static int edit_distance(const char *a, const char *b) {
  const size_t n = strlen(a), m = strlen(b);
  if (n > LONGEST || m > LONGEST)
    return FAR;
  int d[LONGEST + 1][LONGEST + 1];
  for (size_t i = 0; i <= n; i++)
    d[i][0] = (int)i;
  for (size_t j = 0; j <= m; j++)
    d[0][j] = (int)j;
  for (size_t i = 1; i <= n; i++)
    for (size_t j = 1; j <= m; j++) {
      int best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
      if (d[i - 1][j] + 1 < best)
        best = d[i - 1][j] + 1;
      if (d[i][j - 1] + 1 < best)
        best = d[i][j - 1] + 1;
      const bool swapped =
          i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped && d[i - 2][j - 2] + 1 < best)
        best = d[i - 2][j - 2] + 1;
      d[i][j] = best;
    }
  return d[n][m];
}

/* The known name that is nearest so far; starts as {name}. */
typedef struct guess {
  const char *name; /* as typed */
  const char *best; /* NULL: none yet */
  int distance;
} guess;

static void consider(guess *g, const char *known) {
  const int distance = edit_distance(g->name, known);
  if (g->best && distance >= g->distance)
    return;
  g->best = known;
  g->distance = distance;
}

/* A typing slip away: at most one edit in three letters. */
static bool is_near(const guess *g) {
  return g->best && 3 * g->distance <= (int)strlen(g->best);
}

cocabo_status bench_unknown(cocabo_error *err, const char *what, const char *name,
                            bench_name_at name_at) {
  guess g = {.name = name};
  const char *known;
  for (int i = 0; (known = name_at(i)); i++)
    consider(&g, known);
  if (is_near(&g))
    return cb_fail(err, COCABO_E_NOT_FOUND, "unknown %s \"%s\", did you mean %s?", what,
                   name, g.best);
  char all[200] = "";
  size_t size = 0;
  for (int i = 0; (known = name_at(i)) && size < sizeof all; i++)
    size +=
        (size_t)snprintf(all + size, sizeof all - size, "%s%s", i ? ", " : "", known);
  return cb_fail(err, COCABO_E_NOT_FOUND, "unknown %s \"%s\", want one of %s", what,
                 name, all);
}

/* ---- options -------------------------------------------------------------------- */

/* Length of the option's name in "--name" or "--name=value". */
static size_t name_length(const char *arg) {
  return strncmp(arg, "--", 2) == 0 ? strcspn(arg, "=") : strlen(arg);
}

static const bench_option *find_option(const bench_option *options, const char *arg) {
  const size_t size = name_length(arg);
  for (const bench_option *option = options; option->name; option++)
    if (strlen(option->name) == size && strncmp(option->name, arg, size) == 0)
      return option;
  return NULL;
}

static cocabo_status unknown_option(const bench_option *options, const char *arg,
                                    cocabo_error *err) {
  const int size = (int)name_length(arg);
  char name[LONGEST + 2]; /* a longer one is cut and still counts as far away */
  snprintf(name, sizeof name, "%.*s", size, arg);
  guess g = {.name = name};
  for (const bench_option *option = options; option->name; option++)
    consider(&g, option->name);
  if (is_near(&g))
    return cb_fail(err, COCABO_E_NOT_FOUND, "unknown option %.*s, did you mean %s?",
                   size, arg, g.best);
  return cb_fail(err, COCABO_E_NOT_FOUND, "unknown option %.*s, --help shows them all",
                 size, arg);
}

static cocabo_status append_text(bench_texts *texts, const char *text,
                                 cocabo_error *err) {
  if (texts->n == BENCH_MAX_TEXTS)
    return cb_fail(err, COCABO_E_RANGE, "\"%s\" is one too many, want at most %d", text,
                   BENCH_MAX_TEXTS);
  texts->items[texts->n++] = text;
  return COCABO_OK;
}

static cocabo_status store_value(const bench_option *option, void *args,
                                 const char *value, cocabo_error *err) {
  void *field = (char *)args + option->offset;
  if (option->field == BENCH_TEXTS)
    return append_text(field, value, err);
  const char **text = field;
  if (*text)
    return cb_fail(err, COCABO_E_INVALID, "%s is given twice", option->name);
  *text = value;
  return COCABO_OK;
}

/* The value behind "=" or in the next argument, which *next then steps over. */
static cocabo_status take_value(const bench_option *option, int argc, char **argv,
                                int *next, const char **value, cocabo_error *err) {
  const char *arg = argv[*next - 1];
  const size_t size = name_length(arg);
  *value = arg[size] == '=' ? arg + size + 1 : *next < argc ? argv[(*next)++] : "";
  if (**value == '\0' || (arg[size] != '=' && strncmp(*value, "--", 2) == 0))
    return cb_fail(err, COCABO_E_INVALID, "%s needs a value: %s %s", option->name,
                   option->name, option->value);
  return COCABO_OK;
}

static cocabo_status parse_option(const bench_option *options, int argc, char **argv,
                                  int *next, void *args, cocabo_error *err) {
  const char *arg = argv[(*next)++];
  const bench_option *option = find_option(options, arg);
  if (!option)
    return unknown_option(options, arg, err);
  if (option->field == BENCH_FLAG) {
    if (arg[name_length(arg)] == '=')
      return cb_fail(err, COCABO_E_INVALID, "%s takes no value", option->name);
    *(bool *)((char *)args + option->offset) = true;
    return COCABO_OK;
  }
  const char *value;
  CB_TRY(take_value(option, argc, argv, next, &value, err));
  return store_value(option, args, value, err);
}

cocabo_status bench_args_parse(const bench_option *options, int argc, char **argv,
                               void *args, bench_texts *rest, cocabo_error *err) {
  for (int next = 0; next < argc;) {
    const char *arg = argv[next];
    if (arg[0] == '-' && arg[1] != '\0')
      CB_TRY(parse_option(options, argc, argv, &next, args, err));
    else if (!rest)
      return cb_fail(err, COCABO_E_INVALID, "unexpected argument \"%s\"", arg);
    else
      CB_TRY(append_text(rest, argv[next++], err));
  }
  return COCABO_OK;
}

/* ---- help ----------------------------------------------------------------------- */

void bench_print_help(const bench_command *command) {
  printf("usage: cocabo-bench %s %s\n\n%s\n\nOptions:\n", command->name, command->usage,
         command->summary);
  for (const bench_option *option = command->options; option->name; option++) {
    char left[40];
    snprintf(left, sizeof left, "%s %s", option->name,
             option->value ? option->value : "");
    printf("  %-22s %s\n", left, option->help);
  }
  printf("  %-22s %s\n", "--help", "this text");
  if (command->details)
    printf("\n%s\n", command->details);
  printf("\nExamples:\n%s\n", command->examples);
}

/* ---- numbers -------------------------------------------------------------------- */

/* Reads the digits of one number at *text and steps over them. No sign, no blanks. */
static bool read_digits(const char **text, int64_t *out) {
  if (**text < '0' || **text > '9')
    return false;
  char *end;
  errno = 0;
  *out = strtoll(*text, &end, 10);
  *text = end;
  return errno == 0;
}

cocabo_status bench_parse_int(const char *option, const char *text, int64_t low,
                              int64_t high, int64_t *out, cocabo_error *err) {
  if (!text)
    return COCABO_OK;
  const char *end = text;
  int64_t value;
  if (!read_digits(&end, &value) || *end || value < low || value > high)
    return cb_fail(err, COCABO_E_RANGE,
                   "%s is \"%s\", want a whole number from %lld to %lld", option, text,
                   (long long)low, (long long)high);
  *out = value;
  return COCABO_OK;
}

static int compare_ints(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

static cocabo_status refuse_duplicates(const char *option, const bench_ints *ints,
                                       cocabo_error *err) {
  int64_t *sorted = cb_calloc((size_t)ints->n, sizeof *sorted);
  if (!sorted)
    return cb_no_memory(err);
  memcpy(sorted, ints->items, (size_t)ints->n * sizeof *sorted);
  qsort(sorted, (size_t)ints->n, sizeof *sorted, compare_ints);
  cocabo_status status = COCABO_OK;
  for (int64_t i = 1; i < ints->n && status == COCABO_OK; i++)
    if (sorted[i] == sorted[i - 1])
      status = cb_fail(err, COCABO_E_INVALID, "%s has %lld twice", option,
                       (long long)sorted[i]);
  cb_free(sorted);
  return status;
}

static cocabo_status append_range(const char *option, int64_t first, int64_t last,
                                  bench_ints *out, size_t *capacity,
                                  cocabo_error *err) {
  if (last - first >= BENCH_MAX_INTS - out->n)
    return cb_fail(err, COCABO_E_RANGE, "%s has too many numbers, want at most %d",
                   option, BENCH_MAX_INTS);
  void *items = out->items;
  const size_t want = (size_t)(out->n + last - first + 1);
  if (!cb_reserve(&items, capacity, want, sizeof *out->items))
    return cb_no_memory(err);
  out->items = items;
  for (int64_t i = first; i <= last; i++)
    out->items[out->n++] = i;
  return COCABO_OK;
}

static cocabo_status parse_ranges(const char *option, const char *text, int64_t low,
                                  int64_t high, bench_ints *out, cocabo_error *err) {
  size_t capacity = 0;
  const char *rest = text;
  do {
    int64_t first = 0, last;
    bool ok = read_digits(&rest, &first);
    last = first;
    if (ok && *rest == '-') {
      rest++;
      ok = read_digits(&rest, &last);
    }
    if (!ok || (*rest && *rest != ',') || first < low || last > high || first > last)
      return cb_fail(
          err, COCABO_E_RANGE,
          "%s is \"%s\", want whole numbers from %lld to %lld such as 0,3,5-7", option,
          text, (long long)low, (long long)high);
    CB_TRY(append_range(option, first, last, out, &capacity, err));
  } while (*rest++ == ',');
  return refuse_duplicates(option, out, err);
}

cocabo_status bench_parse_ints(const char *option, const char *text, int64_t low,
                               int64_t high, bench_ints *out, cocabo_error *err) {
  *out = (bench_ints){0};
  const cocabo_status status = parse_ranges(option, text, low, high, out, err);
  if (status != COCABO_OK)
    bench_ints_free(out);
  return status;
}

void bench_ints_free(bench_ints *ints) {
  cb_free(ints->items);
  *ints = (bench_ints){0};
}

/* ---- names ---------------------------------------------------------------------- */

static cocabo_status choose(const char *option, const char *what, const char *name,
                            bench_name_at name_at, bench_chosen *out,
                            cocabo_error *err) {
  int found = 0;
  while (name_at(found) && strcmp(name_at(found), name) != 0)
    found++;
  if (!name_at(found))
    return bench_unknown(err, what, name, name_at);
  for (int i = 0; i < out->n; i++)
    if (out->items[i] == found)
      return cb_fail(err, COCABO_E_INVALID, "%s has %s twice", option, name);
  out->items[out->n++] =
      found; /* distinct, and there are fewer than BENCH_MAX_CHOSEN */
  return COCABO_OK;
}

/* How many bytes of a text to show, at most `most`, without cutting a UTF-8 character.
 */
static int whole_characters(const char *text, size_t size, size_t most) {
  if (size <= most)
    return (int)size;
  while (most > 0 && ((unsigned char)text[most] & 0xc0) == 0x80)
    most--;
  return (int)most;
}

cocabo_status bench_parse_names(const char *option, const char *what, const char *text,
                                bench_name_at name_at, bench_chosen *out,
                                cocabo_error *err) {
  out->n = 0;
  if (!text)
    return cb_fail(err, COCABO_E_INVALID, "%s is missing, want a list such as %s",
                   option, name_at(0));
  const char *rest = text;
  do {
    char name[128];
    const size_t size = strcspn(rest, ",");
    if (size == 0)
      return cb_fail(err, COCABO_E_INVALID, "%s is \"%s\", which has an empty item",
                     option, text);
    snprintf(name, sizeof name, "%.*s", whole_characters(rest, size, sizeof name - 1),
             rest);
    CB_TRY(choose(option, what, name, name_at, out, err));
    rest += size;
  } while (*rest++ == ',');
  return COCABO_OK;
}
