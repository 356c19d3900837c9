/* quota.c - reads limits, sets those that the kernel knows, and tells from what is left
 * of a program which one it ran into. */
#include "run/quota.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "common/args.h"
#include "common/base.h"

/* What there is to know of a kind. */
typedef struct kind {
  const char *name;
  double low, high;
  const char *want;    /* of its value, for sentences */
  const char *failure; /* what a program did that exceeded it */
} kind;

static const kind kinds[CLI_QUOTAS] = {
    {"mem", 1048576.0, 1e18, "a size of at least 1M, such as 512M, 8G or 1.5GiB",
     "it wanted more memory"},
    {"cpu", 0.01, FRONT_MAX_SECONDS,
     "seconds from 0.01 to 1e9, or a duration such as 90s, 5m or 1h30m",
     "it took more processor time"},
    {"files", 8.0, 1e9, "a whole number from 8 to 1e9", "it opened more files"},
    {"fsize", 1.0, 1e18, "a size such as 512M, 8G or 1.5GiB", "it wrote a larger file"},
    {"procs", 1.0, 1e9, "a whole number from 1 to 1e9", "it started more processes"},
};

const char *cli_quota_name(int i) {
  return i < CLI_QUOTAS ? kinds[i].name : NULL;
}

/* ---- reading -------------------------------------------------------------------- */

/* M and MiB are 2^20 bytes, MB are 10^6. */
static bool read_unit(const char *text, double *out) {
  static const char letters[] = "KMGT";
  const char *letter = *text ? strchr(letters, *text & ~0x20) : NULL;
  const char *rest = text + (letter != NULL);
  const bool decimal = letter && strcmp(rest, "B") == 0;
  if (*rest && !(letter && (decimal || strcmp(rest, "iB") == 0)) &&
      strcmp(text, "B") != 0)
    return false;
  *out = letter ? pow(decimal ? 1000.0 : 1024.0, (double)(letter - letters + 1)) : 1.0;
  return true;
}

static bool read_size(const char *text, double *out) {
  double unit;
  const size_t digits = strspn(text, "0123456789.");
  if (!cb_parse_decimal(text, digits, out) || !read_unit(text + digits, &unit))
    return false;
  *out = floor(*out * unit);
  return true;
}

static bool read_count(const char *text, double *out) {
  int64_t value;
  if (!cb_parse_int(text, &value))
    return false;
  *out = (double)value;
  return true;
}

static bool read_value(cli_quota_kind which, const char *text, double *out) {
  const bool read = which == CLI_CPU ? front_read_duration(text, out)
                    : which == CLI_MEM || which == CLI_FSIZE ? read_size(text, out)
                                                             : read_count(text, out);
  return read && *out >= kinds[which].low && *out <= kinds[which].high;
}

/* NAME=VALUE, in pieces. */
static cocabo_status set(cli_quota *out, const char *name, const char *value,
                         cocabo_error *err) {
  char shown[CB_SHOWN];
  int which = 0;
  while (which < CLI_QUOTAS && strcmp(kinds[which].name, name) != 0)
    which++;
  if (which == CLI_QUOTAS)
    return front_unknown(err, "limit", cb_text_show(shown, name), cli_quota_name);
  if (out->most[which] > 0.0)
    return cb_fail(err, COCABO_E_INVALID, "limit %s is there twice", name);
  if (strlen(value) >= CLI_QUOTA_TEXT ||
      !read_value((cli_quota_kind)which, value, &out->most[which]))
    return cb_fail(err, COCABO_E_INVALID, "limit %s is \"%s\", want %s", name,
                   cb_text_show(shown, value), kinds[which].want);
  strcpy(out->text[which], value);
  return COCABO_OK;
}

static cocabo_status read_item(cli_quota *out, const char *text, size_t size,
                               cocabo_error *err) {
  char item[128], shown[CB_SHOWN];
  snprintf(item, sizeof item, "%.*s", (int)size, text);
  char *equals = strchr(item, '=');
  if (!equals || equals == item || size >= sizeof item)
    return cb_fail(err, COCABO_E_INVALID,
                   "a limit is \"%s\", want NAME=VALUE such as mem=8G or cpu=60",
                   cb_text_show(shown, item));
  *equals = '\0';
  return set(out, item, equals + 1, err);
}

cocabo_status cli_quota_parse(cli_quota *out, const char *text, cocabo_error *err) {
  *out = (cli_quota){0};
  if (strcmp(text, "none") == 0)
    return COCABO_OK;
  for (;;) {
    const size_t size = strcspn(text, ",");
    CB_TRY(read_item(out, text, size, err));
    if (!text[size])
      return COCABO_OK;
    text += size + 1;
  }
}

bool cli_quota_is_none(const cli_quota *quota) {
  for (int i = 0; i < CLI_QUOTAS; i++)
    if (quota->most[i] > 0.0)
      return false;
  return true;
}

/* ---- sentences ------------------------------------------------------------------ */

const char *cli_quota_show(char out[static CLI_QUOTA_SIZE], const cli_quota *quota) {
  size_t used = 0;
  strcpy(out, "none");
  for (int i = 0; i < CLI_QUOTAS; i++)
    if (quota->most[i] > 0.0)
      used += (size_t)snprintf(out + used, CLI_QUOTA_SIZE - used, "%s%s=%s",
                               used > 0 ? "," : "", kinds[i].name, quota->text[i]);
  return out;
}

void cli_quota_say(const cli_quota *quota, cli_quota_kind which, char *out,
                   size_t size) {
  snprintf(out, size, "limit %s=%s: %s", kinds[which].name, quota->text[which],
           kinds[which].failure);
}

void cli_quota_say_use(cli_quota_kind which, double used, char *out, size_t size) {
  static const char units[] = "KMGT";
  if (which == CLI_CPU)
    snprintf(out, size, "it took %.2f seconds", used);
  else if (which == CLI_PROCS)
    snprintf(out, size, "there were %.0f processes and threads", used);
  else {
    int unit = -1;
    for (; used >= 1000.0 && unit < 3; unit++)
      used /= 1024.0;
    snprintf(out, size, "%.3g%.*s were in use", used, unit >= 0,
             &units[unit < 0 ? 0 : unit]);
  }
}

/* ---- holding a process to it ---------------------------------------------------- */

static void limit(int resource, double soft, double more) {
  struct rlimit now;
  if (!(soft > 0.0) || getrlimit(resource, &now) != 0)
    return;
  const rlim_t wanted = (rlim_t)soft, hard = (rlim_t)(soft + more);
  if (now.rlim_max == RLIM_INFINITY || hard < now.rlim_max)
    now.rlim_max = hard;
  now.rlim_cur = wanted < now.rlim_max ? wanted : now.rlim_max;
  setrlimit(resource, &now);
}

/* Of processor time the kernel counts whole seconds of one process, so that the keeper
 * is usually the first. A program that lives on after SIGXCPU is killed. */
void cli_quota_apply(const cli_quota *quota, bool grouped) {
  const double cpu = quota->most[CLI_CPU];
  if (!grouped)
    limit(RLIMIT_AS, quota->most[CLI_MEM], 0.0);
  limit(RLIMIT_CPU, cpu > 0.0 ? floor(cpu) + 1.0 : 0.0, 2.0);
  limit(RLIMIT_NOFILE, quota->most[CLI_FILES], 0.0);
  limit(RLIMIT_FSIZE, quota->most[CLI_FSIZE], 0.0);
}

int cli_quota_exceeded(const cli_quota *quota, const cli_use *use, double *used) {
  const double now[CLI_QUOTAS] = {
      [CLI_MEM] = use->bytes, [CLI_CPU] = use->seconds, [CLI_PROCS] = use->tasks};
  for (int i = 0; i < CLI_QUOTAS; i++)
    if (quota->most[i] > 0.0 && now[i] > quota->most[i]) {
      *used = now[i];
      return i;
    }
  return -1;
}

/* ---- afterwards ----------------------------------------------------------------- */

/* The words by which programs of many languages say that they got no more. */
static const char *const words[CLI_QUOTAS][10] = {
    [CLI_MEM] = {"cannot allocate", "out of memory", "MemoryError", "OutOfMemory",
                 "bad_alloc", "memory exhausted", "memory allocation of", "ENOMEM"},
    [CLI_CPU] = {"CPU time limit exceeded"},
    [CLI_FILES] = {"too many open files", "EMFILE"},
    [CLI_FSIZE] = {"file too large", "file size limit exceeded", "EFBIG"},
};

/* In capitals or not. */
static bool has(const char *text, const char *word) {
  const size_t size = strlen(word);
  while (*text && strncasecmp(text, word, size) != 0)
    text++;
  return *text;
}

static bool speaks_of(const char *tail, int which) {
  for (int i = 0; words[which][i]; i++)
    if (has(tail, words[which][i]))
      return true;
  return false;
}

/* A shell says so of its child with a status. */
static bool ended_by(int status, int number) {
  return WIFSIGNALED(status) ? WTERMSIG(status) == number
                             : WEXITSTATUS(status) == 128 + number;
}

/* The memory of a graphics card is another matter. */
static bool lacked_memory(double most, double max_rss, const char *tail) {
  const bool elsewhere = has(tail, "cuda") || strstr(tail, "HIP");
  return max_rss >= 0.9 * most || (speaks_of(tail, CLI_MEM) && !elsewhere);
}

int cli_quota_guess(const cli_quota *quota, int status, double max_rss,
                    const char *tail) {
  const double *most = quota->most;
  if (status == 0)
    return -1;
  if (most[CLI_CPU] > 0.0 && (ended_by(status, SIGXCPU) || speaks_of(tail, CLI_CPU)))
    return CLI_CPU;
  if (most[CLI_FSIZE] > 0.0 &&
      (ended_by(status, SIGXFSZ) || speaks_of(tail, CLI_FSIZE)))
    return CLI_FSIZE;
  if (most[CLI_FILES] > 0.0 && speaks_of(tail, CLI_FILES))
    return CLI_FILES;
  if (most[CLI_MEM] > 0.0 && lacked_memory(most[CLI_MEM], max_rss, tail))
    return CLI_MEM;
  return -1;
}
