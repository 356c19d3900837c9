/* manual.c - man pages in troff, from the tables of commands and options. */
#include "common/manual.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/base.h"

/* ---- troff ----------------------------------------------------------------------- */

/* Text in which nothing is a command: no backslash, no dot at the start of a line, and
 * hyphens that can be pasted. */
static void print_text(const char *text) {
  bool at_start = true;
  for (; *text; text++) {
    if (at_start && (*text == '.' || *text == '\''))
      fputs("\\&", stdout);
    if (*text == '\\')
      fputs("\\e", stdout);
    else if (*text == '-')
      fputs("\\-", stdout);
    else
      putchar(*text);
    at_start = *text == '\n';
  }
}

/* Lines that stay lines. */
static void print_lines(const char *text) {
  printf(".nf\n");
  print_text(text);
  if (*text && text[strlen(text) - 1] != '\n')
    putchar('\n');
  printf(".fi\n");
}

static void print_upper(const char *text) {
  for (; *text; text++)
    putchar(*text >= 'a' && *text <= 'z' ? *text - 'a' + 'A' : *text);
}

static void print_title(const char *program, const char *command, const char *summary) {
  const unsigned version = cocabo_version();
  printf(".TH \"");
  print_upper(program);
  if (command) {
    putchar('-');
    print_upper(command);
  }
  printf("\" 1 \"\" \"%s %u.%u.%u\" \"User Commands\"\n.SH NAME\n", program,
         version >> 16, version >> 8 & 0xff, version & 0xff);
  printf("%s%s%s \\- ", program, command ? "\\-" : "", command ? command : "");
  print_text(summary);
  putchar('\n');
}

/* ---- sections -------------------------------------------------------------------- */

static void print_option(const char *name, const char *value, const char *help) {
  printf(".TP\n\\fB");
  print_text(name);
  printf("\\fR");
  if (value) {
    printf(" \\fI");
    print_text(value);
    printf("\\fR");
  }
  putchar('\n');
  print_text(help);
  putchar('\n');
}

static void print_options(const front_option *options) {
  printf(".SH OPTIONS\n");
  for (const front_option *option = options; option->name; option++)
    if (option->field == FRONT_HEADING)
      printf(".SS %s\n", option->help);
    else
      print_option(option->name, option->value, option->help);
  print_option("--help", NULL, "options and examples");
  print_option("--version", NULL, "the version of the program");
}

static void print_environment(const front_program *program) {
  if (!program->variables)
    return;
  printf(".SH ENVIRONMENT\n");
  for (const front_variable *v = program->variables; v->name; v++) {
    printf(".TP\n.B %s\n", v->name);
    print_text(v->help);
    putchar('\n');
  }
}

static void print_statuses(const front_program *program) {
  printf(".SH EXIT STATUS\n");
  print_text(program->statuses);
  putchar('\n');
}

static void print_see_also(const front_program *program, const char *except) {
  printf(".SH SEE ALSO\n");
  if (except)
    printf(".BR %s (1)", program->name);
  for (const front_command *const *c = program->commands; *c; c++)
    if (!except || strcmp((*c)->name, except) != 0)
      printf("%s.BR %s\\-%s (1)", except || c != program->commands ? ",\n" : "",
             program->name, (*c)->name);
  for (const front_topic *t = program->topics; t && t->name; t++)
    if (!except || strcmp(t->name, except) != 0)
      printf(",\n.BR %s\\-%s (1)", program->name, t->name);
  putchar('\n');
}

/* Lines that are known only at run time. */
static cocabo_status print_described(cocabo_status (*describe)(front_buffer *out,
                                                               cocabo_error *err),
                                     cocabo_error *err) {
  if (!describe)
    return COCABO_OK;
  front_buffer text = {0};
  const cocabo_status status = describe(&text, err);
  const char *lines = status == COCABO_OK ? front_buffer_text(&text, err) : NULL;
  if (lines) {
    printf(".PP\n");
    print_lines(lines);
  }
  front_buffer_free(&text);
  return lines ? COCABO_OK : COCABO_E_NO_MEMORY;
}

/* ---- pages ----------------------------------------------------------------------- */

static void print_program(const front_program *program) {
  print_title(program->name, NULL, program->summary);
  printf(".SH SYNOPSIS\n.B %s\n\\fICOMMAND\\fR [options]\n.SH COMMANDS\n",
         program->name);
  for (const front_command *const *c = program->commands; *c; c++) {
    printf(".TP\n.B %s\n", (*c)->name);
    print_text((*c)->summary);
    printf("\nSee\n.BR %s\\-%s (1).\n", program->name, (*c)->name);
  }
  printf(".SH EXAMPLES\n");
  print_lines(program->examples);
  print_environment(program);
  print_statuses(program);
  print_see_also(program, NULL);
}

static cocabo_status print_command(const front_program *program,
                                   const front_command *command, cocabo_error *err) {
  print_title(program->name, command->name, command->summary);
  printf(".SH SYNOPSIS\n.B %s %s\n", program->name, command->name);
  print_text(command->usage);
  printf("\n.SH DESCRIPTION\n");
  print_text(command->summary);
  putchar('\n');
  if (command->details) {
    printf(".PP\n");
    print_lines(command->details);
  }
  CB_TRY(print_described(command->more, err));
  print_options(command->options);
  printf(".SH EXAMPLES\n");
  print_lines(command->examples);
  print_environment(program);
  print_statuses(program);
  print_see_also(program, command->name);
  return COCABO_OK;
}

static cocabo_status print_topic(const front_program *program, const front_topic *topic,
                                 cocabo_error *err) {
  print_title(program->name, topic->name, topic->summary);
  printf(".SH SYNOPSIS\n.B %s help %s\n.SH DESCRIPTION\n", program->name, topic->name);
  CB_TRY(print_described(topic->describe, err));
  print_see_also(program, topic->name);
  return COCABO_OK;
}

/* The page of a command or a topic on standard output; NULL: that of the program. */
static int print_page(const front_program *program, const char *name) {
  cocabo_error err;
  cocabo_status status = COCABO_OK;
  const front_command *command = name ? front_find_command(program, name) : NULL;
  if (!name)
    print_program(program);
  else
    status = command ? print_command(program, command, &err)
                     : print_topic(program, front_find_topic(program, name), &err);
  return status == COCABO_OK ? front_finish_output(NULL)
                             : front_complain(NULL, FRONT_FAILURE, &err);
}

/* The same into a file of its own. */
static int write_page(const front_program *program, const char *name,
                      const char *folder) {
  char path[4096];
  cocabo_error err;
  snprintf(path, sizeof path, "%s/%s%s%s.1", folder, program->name, name ? "-" : "",
           name ? name : "");
  if (freopen(path, "w", stdout))
    return print_page(program, name);
  cb_fail(&err, COCABO_E_STORE, "cannot write %s: %s", path, strerror(errno));
  return front_complain(NULL, FRONT_FAILURE, &err);
}

static int write_pages(const front_program *program, const char *folder) {
  int status = write_page(program, NULL, folder);
  for (const front_command *const *c = program->commands; *c && !status; c++)
    status = write_page(program, (*c)->name, folder);
  for (const front_topic *t = program->topics; t && t->name && !status; t++)
    status = write_page(program, t->name, folder);
  return status;
}

int front_manual(const front_program *program, int argc, char **argv) {
  cocabo_error err;
  front_set_program(program->name);
  const bool known = argc > 0 && (front_find_command(program, argv[0]) ||
                                  front_find_topic(program, argv[0]));
  if (argc == 0 || (argc == 1 && known))
    return print_page(program, argc > 0 ? argv[0] : NULL);
  if (argc == 2 && strcmp(argv[0], "--into") == 0)
    return write_pages(program, argv[1]);
  cb_fail(&err, COCABO_E_INVALID,
          "--man wants nothing, the name of a command, or --into FOLDER");
  return front_complain(NULL, FRONT_USAGE, &err);
}
