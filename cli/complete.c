/* complete.c - finds the candidates for the word at the cursor from the tables of the
 * commands, and from the store where it asks for a study's name. */
#include "complete.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "common/show.h"
#include "plot/plot.h"

/* The line so far. */
typedef struct line {
  const front_program *program;
  const front_command *command; /* NULL: none yet */
  int n;
  char **words;     /* without the one at the cursor */
  const char *stem; /* of the word at the cursor */
} line;

static void offer(const line *l, const char *word, size_t size, const char *meaning) {
  const size_t stem = strlen(l->stem);
  if (size >= stem && strncmp(word, l->stem, stem) == 0)
    printf("%.*s\t%s\n", (int)size, word, meaning);
}

static void offer_text(const line *l, const char *word, const char *meaning) {
  offer(l, word, strlen(word), meaning);
}

static void offer_files(void) {
  printf(":\n");
}

/* The words of "csv|json": those in capitals stand for something else. */
static void offer_words(const line *l, const char *words, const char *prefix) {
  while (*words) {
    char word[80];
    const size_t size = strcspn(words, "|");
    const bool literal = words[0] >= 'a' && words[0] <= 'z' &&
                         memchr(words, ' ', size) == NULL && size < 40;
    snprintf(word, sizeof word, "%s%.*s", prefix, literal ? (int)size : 0, words);
    if (literal)
      offer_text(l, word, "");
    words += size;
    words += *words == '|';
  }
}

/* ---- values of options ----------------------------------------------------------- */

static void offer_studies(const line *l) {
  cli_common common = {0};
  for (int i = 0; i + 1 < l->n; i++)
    if (strcmp(l->words[i], "--storage") == 0)
      common.storage = l->words[i + 1];
  cli_session session;
  cocabo_names *names;
  if (cli_open_store(&session, &common, COCABO_STORE_READ_ONLY, NULL) != COCABO_OK)
    return;
  if (cocabo_store_studies(session.store, &names, NULL) == COCABO_OK) {
    for (size_t i = 0; i < cocabo_names_count(names); i++)
      if (show_is_harmless(cocabo_names_at(names, i))) /* shells print what we offer */
        offer_text(l, cocabo_names_at(names, i), "");
    cocabo_names_free(names);
  }
  cli_close(&session);
}

static void offer_samplers(const line *l, const char *prefix) {
  char word[80];
  for (size_t i = 0; cocabo_sampler_name(i); i++) {
    snprintf(word, sizeof word, "%s%s", prefix, cocabo_sampler_name(i));
    offer_text(l, word, cocabo_sampler_help(i));
  }
}

/* OPTION=VALUE: options while there is no "=", then the words of its type. */
static void offer_settings(const line *l) {
  char prefix[80];
  const size_t size = strcspn(l->stem, "=");
  for (size_t i = 0; cocabo_option_name(i); i++) {
    snprintf(prefix, sizeof prefix, "%s=", cocabo_option_name(i));
    if (l->stem[size] == '\0')
      offer_text(l, prefix, cocabo_option_help(i));
    else if (strncmp(prefix, l->stem, size + 1) == 0 && prefix[size + 1] == '\0') {
      if (strcmp(cocabo_option_name(i), "sampler") == 0)
        offer_samplers(l, prefix);
      else
        offer_words(l, cocabo_option_type(i), prefix);
    }
  }
}

static void offer_states(const line *l) {
  for (int s = COCABO_WAITING; s <= COCABO_STALE; s++)
    offer_text(l, cocabo_state_name((cocabo_trial_state)s), "");
}

static void offer_kinds(const line *l) {
  for (int i = 0; plot_kind_name(i); i++)
    offer_text(l, plot_kind_name(i), "");
}

static void offer_values(const line *l, const front_option *option) {
  const char *name = option->name;
  if (strcmp(name, "--study") == 0 || strcmp(name, "--from") == 0)
    offer_studies(l);
  else if (strcmp(name, "--sampler") == 0)
    offer_samplers(l, "");
  else if (strcmp(name, "--set") == 0)
    offer_settings(l);
  else if (strcmp(name, "--kind") == 0)
    offer_kinds(l);
  else if (strchr(option->value, '|'))
    offer_words(l, option->value, "");
  else if (strcmp(name, "--state") == 0)
    offer_states(l);
  else if (strstr(option->value, "FILE"))
    offer_files();
}

/* ---- the line -------------------------------------------------------------------- */

static void offer_commands(const line *l) {
  for (const front_command *const *c = l->program->commands; *c; c++)
    offer_text(l, (*c)->name, (*c)->summary);
}

static void offer_first(const line *l) {
  offer_commands(l);
  offer_text(l, "help", "options and examples of a command");
  offer_text(l, "--help", "commands and examples");
  offer_text(l, "--version", "the version of the program");
}

/* After `help`. */
static void offer_pages(const line *l) {
  offer_commands(l);
  for (const front_topic *t = l->program->topics; t && t->name; t++)
    offer_text(l, t->name, t->summary);
}

static void offer_options(const line *l) {
  size_t size;
  for (const front_option *o = l->command->options; o->name; o++)
    for (const char *rest = o->field == FRONT_HEADING ? NULL : o->name; rest;) {
      const char *name = front_next_name(&rest, &size);
      offer(l, name, size, o->help);
    }
  offer_text(l, "--help", "options and examples");
}

/* Bash breaks words at "=": --study=na is three words there. */
static void join_assignment(line *l) {
  if (strcmp(l->stem, "=") == 0 && l->n > 0 && l->words[l->n - 1][0] == '-')
    l->stem = "";
  else if (l->n > 1 && strcmp(l->words[l->n - 1], "=") == 0 &&
           l->words[l->n - 2][0] == '-')
    l->n--;
}

static void offer_for(line *l) {
  join_assignment(l);
  l->command = l->n > 0 ? front_find_command(l->program, l->words[0]) : NULL;
  if (l->n == 0) {
    offer_first(l);
    return;
  }
  if (l->n == 1 && strcmp(l->words[0], "help") == 0)
    offer_pages(l);
  if (!l->command)
    return;
  const front_option *before =
      front_find_option(l->command->options, l->words[l->n - 1]);
  if (front_options_end(l->n, l->words) < l->n)
    offer_files();
  else if (before && before->value)
    offer_values(l, before);
  else if (l->stem[0] == '-')
    offer_options(l);
  else if (strstr(l->command->usage, "FILE"))
    offer_files();
  else
    offer_options(l);
}

int complete_main(const front_program *program, int argc, char **argv) {
  line l = {.program = program,
            .n = argc > 0 ? argc - 1 : 0,
            .words = argv,
            .stem = argc > 0 ? argv[argc - 1] : ""};
  offer_for(&l);
  return front_finish_output(NULL);
}
