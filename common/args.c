/* args.c - parses the command line by the option table of a command, prints its help,
 * and makes the sentences for what is wrong. */
#include "common/args.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "common/base.h"
#include "common/show.h"

/* Set once, at the start of main. */
static const char *program = "cocabo";

void front_set_program(const char *name) {
  program = name;
}

/* ---- sentences ------------------------------------------------------------------ */

int front_complain(const char *command, int exit_status, const cocabo_error *err) {
  fflush(stdout);
  fprintf(stderr, "%s%s%s: ", program, command ? " " : "", command ? command : "");
  /* A sentence may quote what the user or a file said; it stays one harmless line. */
  show_line(stderr, err->message);
  return err->code == COCABO_E_NO_MEMORY ? FRONT_FAILURE : exit_status;
}

/* Of the first failed write: by the time of front_finish_output errno may be another.
 */
static int write_errno;

static bool is_terminal(void) {
  static int known = -1;
  if (known < 0)
    known = isatty(fileno(stdout)) == 1;
  return known;
}

bool front_write(const char *text, size_t size) {
  if (write_errno != 0 || size == 0)
    return write_errno == 0;
  const bool ok = is_terminal() ? show_bytes(stdout, text, size)
                                : fwrite(text, 1, size, stdout) == size;
  if (!ok)
    write_errno = errno ? errno : EIO;
  return ok;
}

int front_finish_output(const char *command) {
  if (fflush(stdout) == 0 && !ferror(stdout))
    return FRONT_DONE;
  const int why = write_errno ? write_errno : errno;
  if (why == EPIPE) /* the reader has seen enough, as head does */
    return FRONT_FAILURE;
  cocabo_error err;
  cb_fail(&err, COCABO_E_STORE, "cannot write to standard output: %s", strerror(why));
  return front_complain(command, FRONT_FAILURE, &err);
}

cocabo_status front_unknown(cocabo_error *err, const char *what, const char *name,
                            front_name_at name_at) {
  cb_guess g = {.word = name};
  const char *known;
  for (int i = 0; (known = name_at(i)); i++)
    cb_guess_consider(&g, known);
  if (g.closest)
    return cb_fail(err, COCABO_E_NOT_FOUND, "unknown %s \"%s\", did you mean %s?", what,
                   name, g.closest);
  char all[200] = "";
  size_t size = 0;
  for (int i = 0; (known = name_at(i)) && size < sizeof all; i++)
    size +=
        (size_t)snprintf(all + size, sizeof all - size, "%s%s", i ? ", " : "", known);
  return cb_fail(err, COCABO_E_NOT_FOUND, "unknown %s \"%s\", want one of %s", what,
                 name, all);
}

/* ---- options -------------------------------------------------------------------- */

/* An option as typed: "--name", "--name=value", "-n" or "-nVALUE". */
typedef struct typed_option {
  const char *text;
  size_t size;       /* of the name at the start of text */
  const char *value; /* attached to it, or NULL */
} typed_option;

static bool is_long(const char *arg) {
  return strncmp(arg, "--", 2) == 0;
}

const char *front_next_name(const char **names, size_t *size) {
  const char *name = *names;
  *size = strcspn(name, ",");
  *names = name[*size] ? name + *size + strspn(name + *size, ", ") : NULL;
  return name;
}

static bool has_name(const front_option *option, const char *name, size_t size) {
  size_t known_size;
  for (const char *rest = option->name; rest;) {
    const char *known = front_next_name(&rest, &known_size);
    if (known_size == size && strncmp(known, name, size) == 0)
      return true;
  }
  return false;
}

static const front_option *find_name(const front_option *options, const char *name,
                                     size_t size) {
  for (const front_option *option = options; option->name; option++)
    if (option->field != FRONT_HEADING && has_name(option, name, size))
      return option;
  return NULL;
}

const front_option *front_find_option(const front_option *options, const char *name) {
  return find_name(options, name, strlen(name));
}

static const front_option *find_option(const front_option *options, const char *arg,
                                       typed_option *typed) {
  const size_t size = is_long(arg) ? strcspn(arg, "=") : strlen(arg);
  *typed = (typed_option){arg, size, arg[size] == '=' ? arg + size + 1 : NULL};
  const front_option *option = find_name(options, arg, size);
  if (option || is_long(arg) || size < 3)
    return option;
  option = find_name(options, arg, 2);
  if (!option || option->field == FRONT_FLAG)
    return NULL;
  *typed = (typed_option){arg, 2, arg + 2};
  return option;
}

static cocabo_status unknown_option(const front_option *options,
                                    const typed_option *typed, cocabo_error *err) {
  const int size = (int)typed->size;
  /* A longer one is cut and still counts as far away. */
  char name[CB_NAME_MAX + 2], known[CB_NAME_MAX + 2], nearest[CB_NAME_MAX + 2];
  snprintf(name, sizeof name, "%.*s", size, typed->text);
  cb_guess g = {.word = name};
  size_t known_size;
  for (const front_option *option = options; option->name; option++)
    for (const char *rest = option->name; rest;) {
      const char *start = front_next_name(&rest, &known_size);
      snprintf(known, sizeof known, "%.*s", (int)known_size, start);
      cb_guess_consider(&g, known);
      if (g.closest == known)
        g.closest = strcpy(nearest, known);
    }
  if (g.closest)
    return cb_fail(err, COCABO_E_NOT_FOUND, "unknown option %.*s, did you mean %s?",
                   size, typed->text, g.closest);
  return cb_fail(err, COCABO_E_NOT_FOUND, "unknown option %.*s, --help shows them all",
                 size, typed->text);
}

static cocabo_status append_text(front_texts *texts, const char *text,
                                 cocabo_error *err) {
  if (texts->n == FRONT_MAX_TEXTS)
    return cb_fail(err, COCABO_E_RANGE, "\"%s\" is one too many, want at most %d", text,
                   FRONT_MAX_TEXTS);
  texts->items[texts->n++] = text;
  return COCABO_OK;
}

static cocabo_status store_value(const front_option *option, void *args,
                                 const char *value, cocabo_error *err) {
  void *field = (char *)args + option->offset;
  if (option->field == FRONT_TEXTS)
    return append_text(field, value, err);
  const char **text = field;
  if (*text)
    return cb_fail(err, COCABO_E_INVALID, "%s is given twice", option->name);
  *text = value;
  return COCABO_OK;
}

/* The attached value or the next argument, which *next then steps over. */
static cocabo_status take_value(const front_option *option, const typed_option *typed,
                                int argc, char **argv, int *next, const char **value,
                                cocabo_error *err) {
  *value = typed->value ? typed->value : *next < argc ? argv[(*next)++] : "";
  if (**value == '\0' || (!typed->value && is_long(*value)))
    return cb_fail(err, COCABO_E_INVALID, "%.*s needs a value: %.*s %s",
                   (int)typed->size, typed->text, (int)typed->size, typed->text,
                   option->value);
  return COCABO_OK;
}

static cocabo_status parse_option(const front_option *options, int argc, char **argv,
                                  int *next, void *args, cocabo_error *err) {
  typed_option typed;
  const front_option *option = find_option(options, argv[(*next)++], &typed);
  if (!option)
    return unknown_option(options, &typed, err);
  if (option->field == FRONT_FLAG) {
    if (typed.value)
      return cb_fail(err, COCABO_E_INVALID, "%s takes no value", option->name);
    *(bool *)((char *)args + option->offset) = true;
    return COCABO_OK;
  }
  const char *value;
  CB_TRY(take_value(option, &typed, argc, argv, next, &value, err));
  return store_value(option, args, value, err);
}

/* -1.5, -.5, -inf and -nan are values that somebody may want to tell. */
static bool is_negative_number(const char *arg) {
  if (arg[0] != '-')
    return false;
  return (arg[1] >= '0' && arg[1] <= '9') || arg[1] == '.' ||
         strncasecmp(arg + 1, "inf", 3) == 0 || strncasecmp(arg + 1, "nan", 3) == 0;
}

static bool is_option(const char *arg) {
  return arg[0] == '-' && arg[1] != '\0' && !is_negative_number(arg);
}

int front_options_end(int argc, char **argv) {
  int i = 0;
  while (i < argc && strcmp(argv[i], "--") != 0)
    i++;
  return i;
}

static cocabo_status take_argument(const char *arg, front_texts *rest,
                                   cocabo_error *err) {
  if (!rest)
    return cb_fail(err, COCABO_E_INVALID,
                   "unexpected argument \"%s\", want options only, --help shows them",
                   arg);
  return append_text(rest, arg, err);
}

cocabo_status front_args_parse(const front_option *options, int argc, char **argv,
                               void *args, front_texts *rest, cocabo_error *err) {
  int next = 0;
  while (next < argc && strcmp(argv[next], "--") != 0)
    if (is_option(argv[next]))
      CB_TRY(parse_option(options, argc, argv, &next, args, err));
    else
      CB_TRY(take_argument(argv[next++], rest, err));
  for (next++; next < argc; next++)
    CB_TRY(take_argument(argv[next], rest, err));
  return COCABO_OK;
}

/* ---- help ----------------------------------------------------------------------- */

enum { HELP_COLUMN = 24 };

/* What is too long for the left column has a line of its own. */
static void print_option(const char *name, const char *value, const char *help) {
  const int width = printf("  %s%s%s", name, value ? " " : "", value ? value : "");
  if (width > HELP_COLUMN)
    printf("\n%*s %s\n", HELP_COLUMN, "", help);
  else
    printf("%*s %s\n", HELP_COLUMN - width, "", help);
}

static void print_more(const front_command *command) {
  front_buffer text = {0};
  if (command->more && command->more(&text, NULL) == COCABO_OK)
    printf("\n%.*s", (int)text.size, text.data);
  front_buffer_free(&text);
}

void front_print_help(const front_command *command) {
  printf("usage: %s %s %s\n\n%s\n\nOptions:\n", program, command->name, command->usage,
         command->summary);
  for (const front_option *option = command->options; option->name; option++)
    if (option->field == FRONT_HEADING)
      printf("\n%s:\n", option->help);
    else
      print_option(option->name, option->value, option->help);
  print_option("--help", NULL, "this text");
  print_option("--version", NULL, "the version of the program");
  if (command->details)
    printf("\n%s\n", command->details);
  print_more(command);
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

cocabo_status front_parse_int(const char *option, const char *text, int64_t low,
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

/* Reads digits with or without a point at *text and steps over them. */
static bool read_decimal(const char **text, double *out) {
  const size_t size = strspn(*text, "0123456789.");
  if (!cb_parse_decimal(*text, size, out))
    return false;
  *text += size;
  return true;
}

bool front_read_duration(const char *text, double *out) {
  static const struct {
    char letter;
    double seconds;
  } units[] = {{'d', 86400.0}, {'h', 3600.0}, {'m', 60.0}, {'s', 1.0}};
  enum { N_UNITS = sizeof units / sizeof units[0] };
  double sum = 0.0, part;
  if (!cb_parse_decimal(text, strlen(text), &sum)) { /* not just seconds */
    sum = 0.0;
    if (!*text)
      return false;
    for (int i = 0; *text; i++) {
      if (!read_decimal(&text, &part))
        return false;
      while (i < N_UNITS && units[i].letter != *text)
        i++;
      if (i == N_UNITS)
        return false;
      sum += part * units[i].seconds;
      text++;
    }
  }
  if (!(sum >= 0.0 && sum <= FRONT_MAX_SECONDS))
    return false;
  *out = sum;
  return true;
}

void front_want_duration(double low, char out[static 100]) {
  snprintf(out, 100, "seconds from %g to 1e9, or a duration such as 90s, 5m or 1h30m",
           low);
}

cocabo_status front_parse_duration(const char *option, const char *text, double low,
                                   double *out, cocabo_error *err) {
  char shown[CB_SHOWN], want[100];
  double value;
  if (!text)
    return COCABO_OK;
  if (!front_read_duration(text, &value) || value < low) {
    front_want_duration(low, want);
    return cb_fail(err, COCABO_E_RANGE, "%s is \"%s\", want %s", option,
                   cb_text_show(shown, text), want);
  }
  *out = value;
  return COCABO_OK;
}

cocabo_status front_check_ending(const char *option, const char *name,
                                 const char *ending, cocabo_error *err) {
  const size_t size = strlen(name), wanted = strlen(ending);
  if (size > wanted && strcasecmp(name + size - wanted, ending) == 0)
    return COCABO_OK;
  return cb_fail(err, COCABO_E_INVALID, "%s is \"%s\", want a name that ends in %s",
                 option, name, ending);
}

static int compare_ints(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

static cocabo_status refuse_duplicates(const char *option, const front_ints *ints,
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
                                  front_ints *out, size_t *capacity,
                                  cocabo_error *err) {
  if (last - first >= FRONT_MAX_INTS - out->n)
    return cb_fail(err, COCABO_E_RANGE, "%s has too many numbers, want at most %d",
                   option, FRONT_MAX_INTS);
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
                                  int64_t high, front_ints *out, cocabo_error *err) {
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

cocabo_status front_parse_ints(const char *option, const char *text, int64_t low,
                               int64_t high, front_ints *out, cocabo_error *err) {
  *out = (front_ints){0};
  const cocabo_status status = parse_ranges(option, text, low, high, out, err);
  if (status != COCABO_OK)
    front_ints_free(out);
  return status;
}

void front_ints_free(front_ints *ints) {
  cb_free(ints->items);
  *ints = (front_ints){0};
}

/* ---- names ---------------------------------------------------------------------- */

static cocabo_status choose(const char *option, const char *what, const char *name,
                            front_name_at name_at, front_chosen *out,
                            cocabo_error *err) {
  int found = 0;
  while (name_at(found) && strcmp(name_at(found), name) != 0)
    found++;
  if (!name_at(found))
    return front_unknown(err, what, name, name_at);
  for (int i = 0; i < out->n; i++)
    if (out->items[i] == found)
      return cb_fail(err, COCABO_E_INVALID, "%s has %s twice", option, name);
  out->items[out->n++] =
      found; /* distinct, and there are fewer than FRONT_MAX_CHOSEN */
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

cocabo_status front_parse_names(const char *option, const char *what, const char *text,
                                front_name_at name_at, front_chosen *out,
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

cocabo_status front_parse_name(const char *option, const char *what, const char *text,
                               front_name_at name_at, int *out, cocabo_error *err) {
  front_chosen chosen;
  CB_TRY(front_parse_names(option, what, text, name_at, &chosen, err));
  if (chosen.n != 1)
    return cb_fail(err, COCABO_E_INVALID, "%s has %d %ss, want one", option, chosen.n,
                   what);
  *out = chosen.items[0];
  return COCABO_OK;
}

int front_find_ending(const char *path, front_name_at name_at) {
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  const char *point = strrchr(name, '.');
  for (int i = 0; point && point > name && name_at(i); i++)
    if (strcasecmp(point + 1, name_at(i)) == 0)
      return i;
  return -1;
}
