/* foreign.h - spaces that other tuners wrote down: irace, ConfigSpace and SMAC.
 *
 * Each reader (foreign_irace.c, foreign_configspace.c, foreign_pcs.c) makes one tree of
 * parameters, conditions and forbidden clauses; foreign_space.c makes a space of ours
 * of it, and foreign_yaml.c the text of a file for -f. What we cannot say becomes a
 * note: a sentence for whoever converts the file.
 *
 * All that is in the tree lives as long as the tree.
 */
#ifndef CLI_FOREIGN_H
#define CLI_FOREIGN_H

#include <stdbool.h>
#include <stddef.h>

#include "cocabo.h"
#include "common/buffer.h"

typedef enum foreign_format {
  FOREIGN_IRACE,       /* parameters.txt */
  FOREIGN_SCENARIO,    /* scenario.txt of irace */
  FOREIGN_CONFIGSPACE, /* JSON or YAML */
  FOREIGN_PCS,         /* of SMAC and AClib, the new format or the old one */
  FOREIGN_NONE
} foreign_format;

/* ---- expressions ----------------------------------------------------------------- */

typedef enum foreign_op {
  FOREIGN_OR,
  FOREIGN_AND,
  FOREIGN_NOT,
  FOREIGN_EQ,
  FOREIGN_NE,
  FOREIGN_LT,
  FOREIGN_LE,
  FOREIGN_GT,
  FOREIGN_GE,
  FOREIGN_IN, /* a name, then values */
  FOREIGN_ADD,
  FOREIGN_SUB,
  FOREIGN_MUL,
  FOREIGN_DIV,
  FOREIGN_MOD,
  FOREIGN_NEG,
  FOREIGN_CALL, /* text: the function */
  FOREIGN_NAME, /* text: a parameter */
  FOREIGN_VALUE
} foreign_op;

typedef struct foreign_expr foreign_expr;
struct foreign_expr {
  foreign_op op;
  const char *text;   /* of a VALUE: how it was spelt; NULL: its type counts */
  cocabo_value value; /* of a VALUE */
  foreign_expr *first, *next;
  int line;
};

/* ---- parameters ------------------------------------------------------------------ */

typedef struct foreign_param foreign_param;
struct foreign_param {
  const char *name;
  const char *option; /* what stands before its value on a command line; NULL: nobody
                         said */
  cocabo_kind kind;
  double low, high, step; /* step 0: none */
  bool log;
  cocabo_value *values; /* of a choice or ordinal; n of them */
  size_t n, capacity;
  bool lost;               /* it cannot be expressed, and that was said */
  bool by_level;           /* < goes by the order of the values, whatever they are */
  foreign_expr *condition; /* NULL: always active */
  int line;
  foreign_param *next;
};

typedef struct foreign_note {
  struct foreign_note *next;
  char text[];
} foreign_note;

typedef struct foreign {
  const char *name; /* of the file, borrowed; for sentences */
  foreign_format format;
  foreign_param *params, *last_param;
  int n_params;
  foreign_expr *forbidden, *last_forbidden; /* by next */
  foreign_expr *conditions; /* NAMEs with one each, while lines are read */
  foreign_note *notes, *last_note;
  const char *study;                 /* what it shall be called; NULL: nobody said */
  const char *program;               /* of a scenario; NULL: nobody said */
  bool instances_folder;             /* `instances` is a folder of them */
  const char *instances;             /* a folder or a file of them */
  const char *parameters;            /* the file that they are in */
  double experiments, seconds, seed; /* NAN: nobody said */
  char section;                      /* while lines are read: where we are */
  struct foreign_block *blocks;
} foreign;

/* Which format a text is in, by the name of its file and what it looks like. */
foreign_format foreign_detect(const char *name, const char *text, size_t size);
const char *foreign_format_name(int format); /* irace, ...; NULL at the end */

/* Reads a text. COCABO_E_INVALID, with a sentence, for what is not in that format. A
 * scenario reads the files that it names. `f` starts as {0} and is freed in any case.
 */
cocabo_status foreign_read(foreign *f, const char *name, foreign_format format,
                           const char *text, size_t size, cocabo_error *err);
void foreign_free(foreign *f);

/* The space, owned by the caller. COCABO_E_INVALID if nothing can be expressed. */
cocabo_status foreign_space(foreign *f, cocabo_space **out, cocabo_error *err);

/* A file for -f; the same as JSON has no comments. */
cocabo_status foreign_put_yaml(front_buffer *out, foreign *f, cocabo_error *err);
cocabo_status foreign_put_json(front_buffer *out, foreign *f, cocabo_error *err);

/* ---- for the readers ------------------------------------------------------------- */

cocabo_status foreign_read_irace(foreign *f, const char *text, size_t size,
                                 cocabo_error *err);
cocabo_status foreign_read_scenario(foreign *f, const char *text, size_t size,
                                    cocabo_error *err);
cocabo_status foreign_read_configspace(foreign *f, const char *text, size_t size,
                                       cocabo_error *err);
cocabo_status foreign_read_pcs(foreign *f, const char *text, size_t size,
                               cocabo_error *err);
bool foreign_looks_like_irace(const char *line);
bool foreign_looks_like_pcs(const char *line);

/* Zeroed memory of the tree; NULL if there is none. */
void *foreign_alloc(foreign *f, size_t size);
char *foreign_copy(foreign *f, const char *text, size_t size);
/* NULL with the sentence "no memory" in err. */
foreign_expr *foreign_node(foreign *f, foreign_op op, int line, cocabo_error *err);
void foreign_append(foreign_expr *to, foreign_expr *item);
/* Two become one, by `op`; either may be NULL. */
cocabo_status foreign_join(foreign *f, foreign_op op, foreign_expr **into,
                           foreign_expr *more, cocabo_error *err);

cocabo_status foreign_add_param(foreign *f, const char *name, int line,
                                foreign_param **out, cocabo_error *err);
foreign_param *foreign_find(const foreign *f, const char *name); /* or NULL */
cocabo_status foreign_add_value(foreign *f, foreign_param *p, cocabo_value value,
                                cocabo_error *err);
void foreign_forbid(foreign *f, foreign_expr *clause);
/* Values that were words: numbers if all of them look like numbers and are written as
 * we write them, so that nobody sees another text; else text. */
void foreign_type_values(foreign_param *p);

cocabo_status foreign_say(foreign *f, int line, cocabo_error *err, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
cocabo_status foreign_refuse(const foreign *f, int line, cocabo_error *err,
                             const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* Calls `take` with every line, without its end; the text of the line is its own. */
typedef cocabo_status (*foreign_line_fn)(foreign *f, char *line, int number,
                                         cocabo_error *err);
cocabo_status foreign_each_line(foreign *f, const char *text, size_t size,
                                foreign_line_fn take, cocabo_error *err);

/* An expression in R, as irace has them. */
cocabo_status foreign_read_r(foreign *f, const char *text, int line, foreign_expr **out,
                             cocabo_error *err);

/* The expression as we write it. What can never be so is `false`, with a note. */
cocabo_status foreign_put_expr(front_buffer *out, foreign *f, const foreign_expr *e,
                               cocabo_error *err);

enum { FOREIGN_DEPTH = 48, FOREIGN_MAX_SIZE = 1 << 20, FOREIGN_MAX_PARAMS = 2000 };

#endif
