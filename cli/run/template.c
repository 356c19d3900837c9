/* template.c - finds the holes in the words of a command and fills them with the
 * values of a trial. */
#include "run/template.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base.h"
#include "common/buffer.h"
#include "io/output.h"

/* ---- finding holes -------------------------------------------------------------- */

/* What stands at a brace. */
typedef enum piece_kind {
  PLAIN,   /* text, to be kept */
  HOLE,    /* {NAME} */
  ESCAPED, /* {{NAME}} or {{NAME:-text}}, which mean {NAME} and {NAME:-text} */
  SLIP     /* {NMAE}, or in a word of its own any other name */
} piece_kind;

typedef struct piece {
  piece_kind kind;
  const char *text;      /* plain text, or the name */
  size_t size;           /* of the text */
  size_t skip;           /* bytes of the word that the piece covers */
  const char *otherwise; /* of a hole: the text behind :-, up to the brace; or NULL */
  size_t otherwise_size;
} piece;

/* Names that are no parameters, unless there are parameters of that name. */
static const char *const other_names[] = {"trial", "instance", "seed"};
enum { N_OTHERS = sizeof other_names / sizeof other_names[0] };

/* The i-th name that a hole may have, NULL past the end. */
static const char *hole_name(const cocabo_space *space, size_t i) {
  const size_t n = cocabo_space_count(space);
  return i < n              ? cocabo_space_name(space, i)
         : i < n + N_OTHERS ? other_names[i - n]
                            : NULL;
}

/* What ends a name: a closing brace, or where `defaults` are looked for, :- and a text
 * up to one. */
static bool ends_name(const char *text, bool defaults) {
  return *text == '}' || (defaults && strncmp(text, ":-", 2) == 0 && strchr(text, '}'));
}

/* The longest known name at the front that has an end. */
static size_t known_name(const cocabo_space *space, const char *text, bool defaults) {
  size_t longest = 0;
  const char *name;
  for (size_t i = 0; (name = hole_name(space, i)); i++) {
    const size_t size = strlen(name);
    if (size > longest && strncmp(text, name, size) == 0 &&
        ends_name(text + size, defaults))
      longest = size;
  }
  return longest;
}

/* Letters, digits and the like up to an end; what else could be a name. */
static size_t word_in_braces(const char *text, bool defaults) {
  size_t size = 0;
  while (isalnum((unsigned char)text[size]) || (unsigned char)text[size] >= 0x80 ||
         (text[size] && strchr("_.-", text[size])))
    size++;
  return ends_name(text + size, defaults) ? size : 0;
}

/* A typing slip away from a known name. */
static bool is_near_miss(const cocabo_space *space, const char *text, size_t size,
                         cb_guess *guess, char name[CB_NAME_MAX + 1]) {
  if (size == 0 || size > CB_NAME_MAX)
    return false;
  memcpy(name, text, size);
  name[size] = '\0';
  *guess = (cb_guess){.word = name};
  const char *known;
  for (size_t i = 0; (known = hole_name(space, i)); i++)
    cb_guess_consider(guess, known);
  return guess->closest != NULL;
}

/* A word with white space is a script, whose braces are its own, but for near misses.
 * Elsewhere braces around anything like a name mean one; {3} and {1..9} do not. */
static bool is_slip(const cocabo_space *space, bool script, const char *text,
                    size_t size) {
  cb_guess guess;
  char name[CB_NAME_MAX + 1];
  const bool named =
      size > 0 && !isdigit((unsigned char)*text) && *text != '-' && *text != '.';
  return (named && !script) || is_near_miss(space, text, size, &guess, name);
}

/* Holes are looked for in a word, of a space. */
typedef struct reader {
  const cocabo_space *space;
  const char *word;
  bool script; /* the word has white space */
} reader;

static reader reader_of(const cocabo_space *space, const char *word) {
  return (reader){space, word, word[strcspn(word, " \t\n\v\f\r")] != '\0'};
}

static piece plain(const char *text, size_t size) {
  return (piece){.kind = PLAIN, .text = text, .size = size, .skip = size};
}

/* The piece that begins with a brace; text[0] is '{'. */
static piece piece_at_brace(const reader *r, const char *text) {
  const bool twice = text[1] == '{';
  const bool defaults = text == r->word || text[-1] != '$';
  const char *inner = text + 1 + twice;
  size_t size = known_name(r->space, inner, defaults);
  const size_t word = word_in_braces(inner, defaults);
  const bool slip = size == 0 && is_slip(r->space, r->script, inner, word);
  if (slip)
    size = word;
  if (size == 0)
    return plain(text, 1);
  const size_t all = size + strcspn(inner + size, "}"); /* with the text behind :- */
  if (twice && inner[all + 1] == '}')
    return (piece){.kind = ESCAPED, .text = inner, .size = all, .skip = all + 4};
  if (twice)
    return plain(text, 1); /* {{lr}: the second brace opens the hole */
  piece hole = {
      .kind = slip ? SLIP : HOLE, .text = inner, .size = size, .skip = all + 2};
  if (all > size) {
    hole.otherwise = inner + size + 2;
    hole.otherwise_size = all - size - 2;
  }
  return hole;
}

static piece next_piece(const reader *r, const char *text) {
  return *text == '{' ? piece_at_brace(r, text) : plain(text, strcspn(text, "{"));
}

/* Is it the hole, or the slip, of that name? */
static bool names(const piece *p, const char *name) {
  return strlen(name) == p->size && strncmp(name, p->text, p->size) == 0;
}

/* ---- asking about them ---------------------------------------------------------- */

/* The closest name at all, if it shares more than half of its letters or has others
 * only in their case: where a name is wrong for sure, a guess may be bold. */
static const char *closest_name(const cocabo_space *space, const char *name) {
  const char *known, *closest = NULL;
  int best = (int)strlen(name) / 2 + 1;
  for (size_t i = 0; (known = hole_name(space, i)); i++) {
    const int distance =
        strcasecmp(name, known) == 0 ? 0 : cb_text_distance(name, known);
    if (distance < best) {
      best = distance;
      closest = known;
    }
  }
  return closest;
}

static void copy_start(char out[CB_NAME_MAX + 1], const char *text, size_t size) {
  if (size > CB_NAME_MAX)
    size = CB_NAME_MAX;
  memcpy(out, text, size);
  out[size] = '\0';
}

static cocabo_status refuse_slip(const cocabo_space *space, const piece *p,
                                 const char *word, cocabo_error *err) {
  char name[CB_NAME_MAX + 1], inner[CB_NAME_MAX + 1];
  char shown[CB_SHOWN], shown_name[CB_SHOWN], shown_inner[CB_SHOWN];
  copy_start(name, p->text, p->size);
  copy_start(inner, p->text, p->skip - 2); /* with the text behind :- */
  const char *closest = closest_name(space, name);
  cb_text_show(shown_name, name);
  cb_text_show(shown_inner, inner);
  return cb_fail(err, COCABO_E_NOT_FOUND,
                 "unknown parameter {%s} in \"%s\"%s%s%s ({{%s}} stands for the text "
                 "{%s})",
                 shown_name, cb_text_show(shown, word),
                 closest ? ", did you mean {" : "", closest ? closest : "",
                 closest ? "}?" : "", shown_inner, shown_inner);
}

/* A hole of that word that may be inactive and has no text for it; NULL: there is none.
 */
static const char *open_hole(const cocabo_space *space, const char *word) {
  const reader r = reader_of(space, word);
  for (const char *text = word; *text && !r.script;) {
    const piece p = next_piece(&r, text);
    const char *name;
    for (size_t i = 0; p.kind == HOLE && (name = cocabo_space_name(space, i)); i++)
      if (names(&p, name) && !p.otherwise && cocabo_space_get_condition(space, i))
        return name;
    text += p.skip;
  }
  return NULL;
}

static cocabo_status check_first(const char *word, const cocabo_space *space,
                                 cocabo_error *err) {
  char shown[CB_SHOWN], shown_name[CB_SHOWN];
  const char *name = word ? open_hole(space, word) : NULL;
  if (!name)
    return COCABO_OK;
  cb_text_show_within(shown_name, name, 24);
  return cb_fail(
      err, COCABO_E_INVALID,
      "the first word of the command is \"%s\", but %s may be inactive: want "
      "{%s:-text} with what stands there then",
      cb_text_show_within(shown, word, 60), shown_name, shown_name);
}

cocabo_status cli_template_check(char *const *words, const cocabo_space *space,
                                 cocabo_error *err) {
  CB_TRY(check_first(*words, space, err));
  for (; *words; words++) {
    const reader r = reader_of(space, *words);
    for (const char *text = *words; *text;) {
      const piece p = next_piece(&r, text);
      if (p.kind == SLIP)
        return refuse_slip(space, &p, *words, err);
      text += p.skip;
    }
  }
  return COCABO_OK;
}

bool cli_template_has_hole(const char *word, const cocabo_space *space,
                           const char *name_or_null) {
  const reader r = reader_of(space, word);
  while (*word) {
    const piece p = next_piece(&r, word);
    if (p.kind == HOLE && (!name_or_null || names(&p, name_or_null)))
      return true;
    word += p.skip;
  }
  return false;
}

/* ---- filling them --------------------------------------------------------------- */

/* One command being filled in. */
typedef struct filler {
  char *const *words;
  const cocabo_space *space;
  const cocabo_trial *trial;
  front_buffer texts; /* the words so far, each with its NUL */
  size_t n;           /* of them */
} filler;

/* What a hole stands for; COCABO_ABSENT: it is inactive. */
static cocabo_status value_of(const filler *f, const piece *hole, cocabo_value *out,
                              cocabo_error *err) {
  const size_t n = cocabo_trial_count(f->trial);
  for (size_t i = 0; i < n; i++) {
    const char *name;
    CB_TRY(cocabo_trial_get(f->trial, i, &name, out, err));
    if (names(hole, name))
      return COCABO_OK;
  }
  size_t n_runs = 0;
  const cocabo_run *runs = cocabo_trial_runs(f->trial, &n_runs);
  const cocabo_run *run = n_runs > 0 ? &runs[n_runs - 1] : NULL; /* which is started */
  if (names(hole, "instance"))
    *out = run && run->instance ? cocabo_text(run->instance) : cocabo_absent();
  else if (names(hole, "seed"))
    *out = cocabo_int(run ? run->seed : (int64_t)(cocabo_trial_seed(f->trial) >> 33));
  else
    *out = cocabo_int(cocabo_trial_number(f->trial));
  return COCABO_OK;
}

static cocabo_status put_piece(filler *f, const piece *p, cocabo_error *err) {
  cocabo_value value;
  if (p->kind == ESCAPED)
    return front_buffer_append(&f->texts, p->text - 1, p->size + 2, err);
  if (p->kind != HOLE)
    return front_buffer_append(&f->texts, p->text, p->size, err);
  CB_TRY(value_of(f, p, &value, err));
  if (value.type != COCABO_ABSENT)
    return cli_put_plain_value(&f->texts, &value, err);
  return p->otherwise
             ? front_buffer_append(&f->texts, p->otherwise, p->otherwise_size, err)
             : COCABO_OK;
}

/* Has the word a hole that is inactive and has no text for it? *alone: it is nothing
 * else. */
static cocabo_status is_dropped(const filler *f, const char *word, bool *dropped,
                                bool *alone, cocabo_error *err) {
  const reader r = reader_of(f->space, word);
  *dropped = *alone = false;
  for (const char *text = word; *text && !r.script;) {
    const piece p = next_piece(&r, text);
    if (p.kind == HOLE && !p.otherwise) {
      cocabo_value value;
      CB_TRY(value_of(f, &p, &value, err));
      *dropped |= value.type == COCABO_ABSENT;
    }
    *alone = text == word && text[p.skip] == '\0';
    text += p.skip;
  }
  return COCABO_OK;
}

/* An option whose value may be the next word. */
static bool is_option(const filler *f, const char *word) {
  return *word == '-' && !strchr(word, '=') &&
         !cli_template_has_hole(word, f->space, NULL);
}

/* The first word stays. */
static cocabo_status stays(const filler *f, size_t i, bool *out, cocabo_error *err) {
  bool dropped = false, alone = false;
  *out = true;
  if (i == 0)
    return COCABO_OK;
  CB_TRY(is_dropped(f, f->words[i], &dropped, &alone, err));
  if (!dropped && f->words[i + 1] && is_option(f, f->words[i])) {
    CB_TRY(is_dropped(f, f->words[i + 1], &dropped, &alone, err));
    dropped = dropped && alone;
  }
  *out = !dropped;
  return COCABO_OK;
}

static cocabo_status fill_word(filler *f, const char *word, cocabo_error *err) {
  const reader r = reader_of(f->space, word);
  for (const char *text = word; *text;) {
    const piece p = next_piece(&r, text);
    CB_TRY(put_piece(f, &p, err));
    assert(p.skip > 0);
    text += p.skip;
  }
  f->n++;
  return front_buffer_append(&f->texts, "", 1, err);
}

static cocabo_status fill_words(filler *f, cocabo_error *err) {
  for (size_t i = 0; f->words[i]; i++) {
    bool kept;
    CB_TRY(stays(f, i, &kept, err));
    if (kept)
      CB_TRY(fill_word(f, f->words[i], err));
  }
  return COCABO_OK;
}

/* One block: pointers first, then the texts they point to. */
static char **pack(const filler *f) {
  char **list = cb_calloc((f->n + 1) * sizeof *list + f->texts.size, 1);
  if (!list)
    return NULL;
  char *text = (char *)(list + f->n + 1);
  if (f->texts.size > 0)
    memcpy(text, f->texts.data, f->texts.size);
  for (size_t i = 0; i < f->n; i++) {
    list[i] = text;
    text += strlen(text) + 1;
  }
  list[f->n] = NULL;
  return list;
}

cocabo_status cli_template_fill(char *const *words, const cocabo_space *space,
                                const cocabo_trial *trial, char ***out,
                                cocabo_error *err) {
  *out = NULL;
  filler f = {.words = words, .space = space, .trial = trial};
  cocabo_status status = fill_words(&f, err);
  if (status == COCABO_OK && !(*out = pack(&f)))
    status = cb_no_memory(err);
  front_buffer_free(&f.texts);
  return status;
}
