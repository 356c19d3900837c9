/* spec_help.c - what the help says about specifications: samplers, options, conditions
 * and rules. */
#include <stdbool.h>
#include <string.h>

#include "common/base.h"
#include "common/buffer.h"
#include "io/spec.h"

/* ---- samplers and options -------------------------------------------------------- */

static cocabo_status put_samplers(front_buffer *out, cocabo_error *err) {
  const char *name;
  CB_TRY(front_buffer_puts(out, "Samplers, for --sampler:\n", err));
  for (size_t i = 0; (name = cocabo_sampler_name(i)); i++)
    CB_TRY(front_buffer_printf(out, err, "  %-9s %s\n", name, cocabo_sampler_help(i)));
  return COCABO_OK;
}

cocabo_status cli_spec_introduce(front_buffer *out, cocabo_error *err) {
  CB_TRY(put_samplers(out, err));
  return front_buffer_puts(
      out, "\n`cocabo help options` shows the options that --set takes.\n", err);
}

/* Its help in lines that fit a terminal of 80 columns. */
static cocabo_status put_option(front_buffer *out, size_t i, cocabo_error *err) {
  enum { INDENT = 17, COLUMNS = 80 };
  const char *word = cocabo_option_help(i);
  CB_TRY(front_buffer_printf(out, err, "  %-14s %s (%s)", cocabo_option_name(i),
                             cocabo_option_type(i), cocabo_option_default(i)));
  for (size_t column = COLUMNS; *word;) {
    const size_t n = strcspn(word, " ");
    const bool begins = column + 1 + n > COLUMNS;
    if (begins)
      CB_TRY(front_buffer_printf(out, err, "\n%*s", INDENT, ""));
    CB_TRY(front_buffer_printf(out, err, "%s%.*s", begins ? "" : " ", (int)n, word));
    column = begins ? INDENT + n : column + 1 + n;
    word += n + strspn(word + n, " ");
  }
  return front_buffer_puts(out, "\n", err);
}

cocabo_status cli_spec_describe(front_buffer *out, cocabo_error *err) {
  CB_TRY(front_buffer_puts(
      out, "Options of a study, for --set OPTION=VALUE (default):\n", err));
  for (size_t i = 0; cocabo_option_name(i); i++)
    CB_TRY(put_option(out, i, err));
  CB_TRY(front_buffer_puts(out, "\n", err));
  return put_samplers(out, err);
}

/* ---- conditions and rules -------------------------------------------------------- */

cocabo_status cli_spec_describe_rules(front_buffer *out, cocabo_error *err) {
  return front_buffer_puts(
      out,
      "  -p 'degree=int(2,5) if kernel == poly'\n"
      "      A condition. Where it is not true the parameter is inactive: it has no\n"
      "      value, and is absent from params, COCABO_PARAMS and the command. It may\n"
      "      name parameters that come before.\n"
      "  --where 'lc + lp <= 4'\n"
      "      A rule. Points that break one are never proposed, nor tried when they\n"
      "      are imported; results that are known may break it.\n"
      "\n"
      "The same in a file for -f:\n"
      "  parameters:\n"
      "    kernel: choice(linear,poly,rbf)\n"
      "    degree: {type: int, low: 2, high: 5, if: kernel == poly}\n"
      "    gamma: float(1e-4,1,log) if kernel != linear\n"
      "  where: [not (kernel == rbf and gamma > 0.5)]\n"
      "\n"
      "Both are expressions, in which these bind ever more strongly:\n"
      "  or   and   not\n"
      "  == != < <= > >=   in (a, b)   not in (a, b)   (they do not chain)\n"
      "  + -   * / %\n"
      "  - ( ) min max abs log exp sqrt floor ceil, numbers, true false null\n"
      "A word is the parameter of that name, else the text of a choice. Text may be\n"
      "quoted, \"a b\" or 'a b', and only stands opposite a choice or an ordinal that\n"
      "has it; < compares ordinals by their levels. A name that is no plain word is\n"
      "written in `backquotes`. / divides reals, and a % 3 is from 0 up to 3.\n"
      "\n"
      "A comparison with an inactive parameter is unknown: such a condition is not\n"
      "true, and such a rule is not broken. Where a number has no value, as 1 / 0, "
      "its\n"
      "comparison is false.\n"
      "\n"
      "In the command, where the parameter is inactive:\n"
      "  --degree={degree}   the word is dropped\n"
      "  --degree {degree}   both words are\n"
      "  {degree:-none}      becomes the text none\n"
      "  'a script {degree}' has nothing there, because it is a word with blanks\n",
      err);
}
