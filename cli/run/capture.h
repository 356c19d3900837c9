/* capture.h - what is kept of a child's output, however much it writes.
 *
 * Of standard output the last line that is not blank, of standard error its end. Both
 * have a fixed size, so that reading a child never fails and never grows.
 */
#ifndef CLI_CAPTURE_H
#define CLI_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>

/* Where a stream of bytes stands in a terminal's escape sequence: a colour, a title, a
 * link. Starts as 0, outside of any. */
typedef enum cli_escape {
  CLI_NO_ESCAPE,
  CLI_ESCAPE,        /* after ESC */
  CLI_ESCAPE_LETTER, /* ESC ( and the like: up to a letter or digit */
  CLI_CONTROL,       /* ESC [: numbers, up to a letter */
  CLI_STRING,        /* ESC ] and the like: a text, up to BEL or ESC \ */
  CLI_STRING_ESCAPE  /* in it, after ESC */
} cli_escape;
/* Takes one byte; true: it belongs to an escape sequence. A line's end ends it too. */
bool cli_escape_step(cli_escape *where, char byte);

/* The last line that has more than blanks and escape sequences, which are not kept.
 * Starts as {0}. */
enum { CLI_LINE_SIZE = 1 << 16 };
typedef struct cli_last_line {
  char text[2][CLI_LINE_SIZE + 1]; /* the line being read, and the last one kept */
  size_t size[2];                  /* more than CLI_LINE_SIZE: the rest was dropped */
  int reading;                     /* which of the two is being read */
  cli_escape escape;
  void (*take)(void *user, const char *line); /* gets every line that is not blank, as
                                                 far as it is kept; NULL: nobody */
  void *user;
} cli_last_line;

void cli_last_line_clear(cli_last_line *line);
void cli_last_line_feed(cli_last_line *line, const char *bytes, size_t size);
/* There is no more: the last line may have no end. */
void cli_last_line_finish(cli_last_line *line);
/* The line, without blanks at its ends and with '?' for NUL; "" if there is none. *cut
 * says that it is only the beginning of a longer one. Borrowed until the next feed. */
const char *cli_last_line_end(cli_last_line *line, bool *cut);

/* '?' for every NUL, so that a text does not seem to end early. */
void cli_replace_nuls(char *text, size_t size);

/* The end of a stream. Starts as {0}. */
enum { CLI_TAIL_SIZE = 4096 };
typedef struct cli_tail {
  char bytes[CLI_TAIL_SIZE]; /* a ring */
  size_t total;              /* bytes seen */
} cli_tail;

void cli_tail_feed(cli_tail *tail, const char *bytes, size_t size);
/* Writes it to out[CLI_TAIL_SIZE + 1] as clean text: valid UTF-8, no control characters
 * but tabs and line ends, no terminal escapes, no blanks at its ends. */
void cli_tail_text(const cli_tail *tail, char *out);

/* The same cleaning for any text; out has room for size + 1 bytes and may be `bytes`.
 */
void cli_clean_text(const char *bytes, size_t size, char *out);

#endif
