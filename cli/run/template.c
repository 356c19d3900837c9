/* template.c - finds the holes in the words of a command and fills them with the
 * values of a trial. */
#include "run/template.h"

#include <ctype.h>
#include <inttypes.h>
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
  ESCAPED, /* {{NAME}}, which means {NAME} */
  SLIP     /* {NMAE}, or in a word of its own any other name */
} piece_kind;

typedef struct piece {
  piece_kind kind;
  const char *text; /* plain text, or the name */
  size_t size;      /* of the text */
  size_t skip;      /* bytes of the word that the piece covers */
} piece;

static const char trial_name[] = "trial";

/* The i-th name that a hole may have, then the trial's, then NULL. */
static const char *hole_name(const cocabo_space *space, size_t i) {
  const size_t n = cocabo_space_count(space);
  return i < n ? cocabo_space_name(space, i) : i == n ? trial_name : NULL;
}

/* The longest known name at the front that is followed by a closing brace. */
static size_t known_name(const cocabo_space *space, const char *text) {
  size_t longest = 0;
  const char *name;
  for (size_t i = 0; (name = hole_name(space, i)); i++) {
    const size_t size = strlen(name);
    if (size > longest && strncmp(text, name, size) == 0 && text[size] == '}')
      longest = size;
  }
  return longest;
}

/* Letters, digits and the like up to a closing brace; what else could be a name. */
static size_t word_in_braces(const char *text) {
  size_t size = 0;
  while (isalnum((unsigned char)text[size]) || (unsigned char)text[size] >= 0x80 ||
         (text[size] && strchr("_.-", text[size])))
    size++;
  return text[size] == '}' ? size : 0;
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

/* Holes are looked for in words of a space. */
typedef struct reader {
  const cocabo_space *space;
  bool script; /* the word has white space */
} reader;

static reader reader_of(const cocabo_space *space, const char *word) {
  return (reader){space, word[strcspn(word, " \t\n\v\f\r")] != '\0'};
}

/* The piece that begins with a brace; text[0] is '{'. */
static piece piece_at_brace(const reader *r, const char *text) {
  const bool twice = text[1] == '{';
  const char *inner = text + 1 + twice;
  size_t size = known_name(r->space, inner);
  const size_t word = word_in_braces(inner);
  const bool slip = size == 0 && is_slip(r->space, r->script, inner, word);
  if (slip)
    size = word;
  if (size == 0)
    return (piece){PLAIN, text, 1, 1};
  if (!twice)
    return (piece){slip ? SLIP : HOLE, inner, size, size + 2};
  if (inner[size + 1] == '}')
    return (piece){ESCAPED, inner, size, size + 4};
  return (piece){PLAIN, text, 1, 1}; /* {{lr}: the second brace opens the hole */
}

static piece next_piece(const reader *r, const char *text) {
  if (*text == '{')
    return piece_at_brace(r, text);
  const size_t size = strcspn(text, "{");
  return (piece){PLAIN, text, size, size};
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

static cocabo_status refuse_slip(const cocabo_space *space, const piece *p,
                                 const char *word, cocabo_error *err) {
  char name[CB_NAME_MAX + 1], shown[CB_SHOWN], shown_name[CB_SHOWN];
  const size_t size = p->size < CB_NAME_MAX ? p->size : CB_NAME_MAX;
  memcpy(name, p->text, size);
  name[size] = '\0';
  const char *closest = closest_name(space, name);
  cb_text_show(shown_name, name);
  return cb_fail(err, COCABO_E_NOT_FOUND,
                 "unknown parameter {%s} in \"%s\"%s%s%s ({{%s}} stands for the text "
                 "{%s})",
                 shown_name, cb_text_show(shown, word),
                 closest ? ", did you mean {" : "", closest ? closest : "",
                 closest ? "}?" : "", shown_name, shown_name);
}

cocabo_status cli_template_check(char *const *words, const cocabo_space *space,
                                 cocabo_error *err) {
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
    if (p.kind == HOLE &&
        (!name_or_null || (strlen(name_or_null) == p.size &&
                           strncmp(name_or_null, p.text, p.size) == 0)))
      return true;
    word += p.skip;
  }
  return false;
}

/* ---- filling them --------------------------------------------------------------- */

static cocabo_status put_value(front_buffer *out, const piece *p,
                               const cocabo_trial *trial, cocabo_error *err) {
  const size_t n = cocabo_trial_count(trial);
  for (size_t i = 0; i < n; i++) {
    const char *name;
    cocabo_value value;
    CB_TRY(cocabo_trial_get(trial, i, &name, &value, err));
    if (strlen(name) == p->size && strncmp(name, p->text, p->size) == 0)
      return cli_put_plain_value(out, &value, err);
  }
  return front_buffer_printf(out, err, "%" PRId64, cocabo_trial_number(trial));
}

static cocabo_status put_piece(front_buffer *out, const piece *p,
                               const cocabo_trial *trial, cocabo_error *err) {
  if (p->kind == HOLE)
    return put_value(out, p, trial, err);
  if (p->kind == ESCAPED)
    return front_buffer_append(out, p->text - 1, p->size + 2, err);
  return front_buffer_append(out, p->text, p->size, err);
}

/* Every word filled, each with its NUL, one after the other. */
static cocabo_status fill_texts(front_buffer *out, char *const *words,
                                const cocabo_space *space, const cocabo_trial *trial,
                                cocabo_error *err) {
  for (; *words; words++) {
    const reader r = reader_of(space, *words);
    for (const char *text = *words; *text;) {
      const piece p = next_piece(&r, text);
      CB_TRY(put_piece(out, &p, trial, err));
      text += p.skip;
    }
    CB_TRY(front_buffer_append(out, "", 1, err));
  }
  return COCABO_OK;
}

/* One block: pointers first, then the texts they point to. */
static char **pack(const front_buffer *texts, char *const *words) {
  size_t n = 0;
  while (words[n])
    n++;
  char **list = cb_calloc((n + 1) * sizeof *list + texts->size, 1);
  if (!list)
    return NULL;
  char *text = (char *)(list + n + 1);
  if (texts->size > 0)
    memcpy(text, texts->data, texts->size);
  for (size_t i = 0; i < n; i++) {
    list[i] = text;
    text += strlen(text) + 1;
  }
  list[n] = NULL;
  return list;
}

cocabo_status cli_template_fill(char *const *words, const cocabo_space *space,
                                const cocabo_trial *trial, char ***out,
                                cocabo_error *err) {
  *out = NULL;
  front_buffer texts = {0};
  cocabo_status status = fill_texts(&texts, words, space, trial, err);
  if (status == COCABO_OK && !(*out = pack(&texts, words)))
    status = cb_no_memory(err);
  front_buffer_free(&texts);
  return status;
}
