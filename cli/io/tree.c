/* tree.c - builds the tree of tree.h from the events of libyaml. Size, depth, and the
 * numbers of nodes, anchors and aliases have limits, because the file may be hostile.
 */
#include "io/tree.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "common/base.h"
#include "common/buffer.h"

enum { MAX_ANCHORS = 1000, MAX_ALIASES = 1000 };

/* All that a tree consists of is a chain of blocks: aliases make a node the child of
 * several others, so that no node owns another. */
typedef struct block {
  struct block *next;
  max_align_t data[];
} block;

struct tree {
  block *blocks;
  const tree_node *root;
};

typedef struct anchor {
  const char *name;
  const tree_node *node; /* NULL while it is being read */
} anchor;

/* A collection that is being read. */
typedef struct level {
  tree_node *node;
  const char *key; /* of a map: read, and waiting for its item */
  int key_line;
  anchor *anchor; /* of the collection, or NULL */
} level;

typedef struct reader {
  const char *name; /* of the file */
  tree *t;
  int line; /* of the event in hand */
  bool had_document;
  int nodes, aliases, n_anchors, depth;
  anchor anchors[MAX_ANCHORS];
  level levels[TREE_MAX_DEPTH];
} reader;

/* ---- memory ---------------------------------------------------------------------- */

static void *tree_alloc(tree *t, size_t size) {
  block *b = cb_calloc(1, sizeof *b + size);
  if (!b)
    return NULL;
  b->next = t->blocks;
  t->blocks = b;
  return b->data;
}

static const char *tree_copy(tree *t, const void *text, size_t size) {
  char *copy = tree_alloc(t, size + 1);
  if (copy)
    memcpy(copy, text, size);
  return copy;
}

void tree_free(tree *t) {
  if (!t)
    return;
  for (block *b = t->blocks; b;) {
    block *next = b->next;
    cb_free(b);
    b = next;
  }
  cb_free(t);
}

const tree_node *tree_root(const tree *t) {
  return t->root;
}

const tree_node *tree_find(const tree_node *map, const char *key) {
  for (const tree_entry *e = map->first; e; e = e->next)
    if (strcmp(e->key, key) == 0)
      return e->node;
  return NULL;
}

static cocabo_status refuse(const reader *r, cocabo_error *err, const char *problem) {
  char name[CB_SHOWN];
  return cb_fail(err, COCABO_E_INVALID, "%s, line %d: %s", cb_text_show(name, r->name),
                 r->line, problem);
}

/* ---- scalars: the core schema of YAML 1.2 ---------------------------------------- */

static bool is_one_of(const char *text, const char *const *words) {
  for (; *words; words++)
    if (strcmp(text, *words) == 0)
      return true;
  return false;
}

static bool is_whole(const char *text) {
  text += *text == '-' || *text == '+';
  return *text && !text[strspn(text, "0123456789")];
}

/* 0o17, 0x1f: a number for YAML, a text for others. */
static bool is_prefixed(const char *text) {
  if (text[0] != '0' || (text[1] != 'o' && text[1] != 'x') || !text[2])
    return false;
  const char *digits = text[1] == 'o' ? "01234567" : "0123456789abcdefABCDEF";
  return !text[2 + strspn(text + 2, digits)];
}

static bool is_not_finite(const char *text, double *out) {
  static const char *const infinities[] = {".inf", ".Inf", ".INF", NULL};
  static const char *const nans[] = {".nan", ".NaN", ".NAN", NULL};
  const bool negative = *text == '-';
  if (is_one_of(text + (negative || *text == '+'), infinities))
    *out = negative ? -HUGE_VAL : HUGE_VAL;
  else if (is_one_of(text, nans))
    *out = NAN;
  else
    return false;
  return true;
}

static cocabo_status resolve_whole(const reader *r, const char *text, cocabo_value *out,
                                   cocabo_error *err) {
  *out = (cocabo_value){.type = COCABO_INT};
  return cb_parse_int(text + (*text == '+'), &out->as.integer)
             ? COCABO_OK
             : refuse(r, err, "a whole number is too large for 64 bits");
}

static cocabo_status resolve_real(const reader *r, double real, cocabo_value *out,
                                  cocabo_error *err) {
  *out = (cocabo_value){.type = COCABO_REAL, .as.real = real};
  return isfinite(real) ? COCABO_OK : refuse(r, err, "a number is too large");
}

static cocabo_status refuse_prefixed(const reader *r, const char *text,
                                     cocabo_error *err) {
  char shown[CB_SHOWN], problem[CB_SHOWN + 80];
  snprintf(problem, sizeof problem,
           "%s is not decimal, want digits, or quotes if it is a text",
           cb_text_show(shown, text));
  return refuse(r, err, problem);
}

static cocabo_status resolve_plain(const reader *r, const char *text, cocabo_value *out,
                                   cocabo_error *err) {
  static const char *const nulls[] = {"", "~", "null", "Null", "NULL", NULL};
  static const char *const trues[] = {"true", "True", "TRUE", NULL};
  static const char *const falses[] = {"false", "False", "FALSE", NULL};
  double real;
  *out = (cocabo_value){.type = COCABO_TEXT, .as.text = text};
  if (is_one_of(text, nulls))
    *out = (cocabo_value){.type = COCABO_NULL};
  else if (is_one_of(text, trues))
    *out = (cocabo_value){.type = COCABO_BOOL, .as.boolean = 1};
  else if (is_one_of(text, falses))
    *out = (cocabo_value){.type = COCABO_BOOL, .as.boolean = 0};
  else if (is_prefixed(text))
    return refuse_prefixed(r, text, err);
  else if (is_whole(text))
    return resolve_whole(r, text, out, err);
  else if (cb_parse_decimal(text, strlen(text), &real))
    return resolve_real(r, real, out, err);
  else if (is_not_finite(text, &out->as.real))
    out->type = COCABO_REAL;
  return COCABO_OK;
}

/* A tag that says text is followed; others would need more than a scalar is here. */
static cocabo_status resolve(const reader *r, const yaml_event_t *event,
                             const char *text, cocabo_value *out, cocabo_error *err) {
  const char *tag = (const char *)event->data.scalar.tag;
  *out = (cocabo_value){.type = COCABO_TEXT, .as.text = text};
  if (tag && strcmp(tag, "!") != 0 && strcmp(tag, YAML_STR_TAG) != 0)
    return refuse(r, err, "tags other than !!str are not read");
  if (tag || event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
    return COCABO_OK;
  return resolve_plain(r, text, out, err);
}

/* ---- building -------------------------------------------------------------------- */

static cocabo_status new_node(reader *r, tree_kind kind, tree_node **out,
                              cocabo_error *err) {
  if (++r->nodes > TREE_MAX_NODES)
    return refuse(r, err, "too many values, want at most 100000");
  *out = tree_alloc(r->t, sizeof **out);
  if (!*out)
    return cb_no_memory(err);
  (*out)->kind = kind;
  (*out)->line = r->line;
  return COCABO_OK;
}

static cocabo_status add_anchor(reader *r, const yaml_char_t *name, anchor **out,
                                cocabo_error *err) {
  *out = NULL;
  if (!name)
    return COCABO_OK;
  if (r->n_anchors == MAX_ANCHORS)
    return refuse(r, err, "too many anchors, want at most 1000");
  const char *copy = tree_copy(r->t, name, strlen((const char *)name));
  if (!copy)
    return cb_no_memory(err);
  *out = &r->anchors[r->n_anchors++];
  **out = (anchor){.name = copy};
  return COCABO_OK;
}

static cocabo_status append_entry(reader *r, tree_node *parent, const char *key,
                                  int line, const tree_node *node, cocabo_error *err) {
  tree_entry *entry = tree_alloc(r->t, sizeof *entry);
  if (!entry)
    return cb_no_memory(err);
  *entry = (tree_entry){.key = key, .line = line, .node = node};
  if (parent->last)
    parent->last->next = entry;
  else
    parent->first = entry;
  parent->last = entry;
  parent->n++;
  return COCABO_OK;
}

/* A finished node goes where the reader stands: the root, an item, a key, or what a key
 * was waiting for. */
static cocabo_status place(reader *r, const tree_node *node, cocabo_error *err) {
  if (r->depth == 0) {
    r->t->root = node;
    return COCABO_OK;
  }
  level *top = &r->levels[r->depth - 1];
  if (top->node->kind == TREE_LIST)
    return append_entry(r, top->node, NULL, node->line, node, err);
  if (top->key) {
    const char *key = top->key;
    top->key = NULL;
    return append_entry(r, top->node, key, top->key_line, node, err);
  }
  if (node->kind != TREE_SCALAR)
    return refuse(r, err, "a key must be text");
  top->key = node->spelling;
  top->key_line = r->line;
  return COCABO_OK;
}

static cocabo_status read_scalar(reader *r, const yaml_event_t *event,
                                 cocabo_error *err) {
  const yaml_char_t *text = event->data.scalar.value;
  const size_t size = event->data.scalar.length;
  tree_node *node;
  anchor *named;
  CB_TRY(new_node(r, TREE_SCALAR, &node, err));
  CB_TRY(add_anchor(r, event->data.scalar.anchor, &named, err));
  if (memchr(text, '\0', size))
    return refuse(r, err, "a text has a NUL character");
  node->spelling = tree_copy(r->t, text, size);
  if (!node->spelling)
    return cb_no_memory(err);
  CB_TRY(resolve(r, event, node->spelling, &node->value, err));
  if (named)
    named->node = node;
  return place(r, node, err);
}

static cocabo_status read_alias(reader *r, const yaml_event_t *event,
                                cocabo_error *err) {
  const char *name = (const char *)event->data.alias.anchor;
  if (++r->aliases > MAX_ALIASES)
    return refuse(r, err, "too many aliases, want at most 1000");
  int i = r->n_anchors - 1; /* the last one of that name counts */
  while (i >= 0 && strcmp(r->anchors[i].name, name) != 0)
    i--;
  if (i < 0)
    return refuse(r, err, "an alias has no anchor before it");
  if (!r->anchors[i].node)
    return refuse(r, err, "an alias contains itself");
  return place(r, r->anchors[i].node, err);
}

static cocabo_status begin(reader *r, tree_kind kind, const yaml_char_t *tag,
                           const yaml_char_t *anchor_name, cocabo_error *err) {
  level new = {0};
  /* Python's writers mark its tuples, which are lists. */
  static const char tuple[] = "tag:yaml.org,2002:python/tuple";
  if (tag && (kind != TREE_LIST || strcmp((const char *)tag, tuple) != 0))
    return refuse(r, err, "tags other than !!str are not read");
  if (r->depth == TREE_MAX_DEPTH)
    return refuse(r, err, "nested too deeply, want at most 32 levels");
  CB_TRY(new_node(r, kind, &new.node, err));
  CB_TRY(add_anchor(r, anchor_name, &new.anchor, err));
  r->levels[r->depth++] = new;
  return COCABO_OK;
}

static int compare_entries(const void *a, const void *b) {
  const tree_entry *x = *(const tree_entry *const *)a;
  const tree_entry *y = *(const tree_entry *const *)b;
  const int order = strcmp(x->key, y->key);
  return order ? order : (x->line > y->line) - (x->line < y->line);
}

static cocabo_status refuse_duplicates(reader *r, const tree_node *map,
                                       cocabo_error *err) {
  if (map->n < 2)
    return COCABO_OK;
  const tree_entry **sorted = cb_calloc(map->n, sizeof(tree_entry *));
  if (!sorted)
    return cb_no_memory(err);
  size_t n = 0;
  for (const tree_entry *e = map->first; e; e = e->next)
    sorted[n++] = e;
  qsort(sorted, n, sizeof(tree_entry *), compare_entries);
  cocabo_status status = COCABO_OK;
  for (size_t i = 1; i < n && status == COCABO_OK; i++)
    if (strcmp(sorted[i - 1]->key, sorted[i]->key) == 0) {
      char key[CB_SHOWN], problem[CB_SHOWN + 32];
      snprintf(problem, sizeof problem, "key \"%s\" is there twice",
               cb_text_show(key, sorted[i]->key));
      r->line = sorted[i]->line;
      status = refuse(r, err, problem);
    }
  cb_free(sorted);
  return status;
}

static cocabo_status end(reader *r, cocabo_error *err) {
  const level done = r->levels[--r->depth];
  if (done.node->kind == TREE_MAP)
    CB_TRY(refuse_duplicates(r, done.node, err));
  if (done.anchor)
    done.anchor->node = done.node;
  return place(r, done.node, err);
}

static cocabo_status begin_document(reader *r, cocabo_error *err) {
  if (r->had_document)
    return refuse(r, err, "a second document begins, want one");
  r->had_document = true;
  return COCABO_OK;
}

static cocabo_status follow(reader *r, const yaml_event_t *event, cocabo_error *err) {
  r->line = (int)event->start_mark.line + 1;
  switch (event->type) {
  case YAML_DOCUMENT_START_EVENT:
    return begin_document(r, err);
  case YAML_SCALAR_EVENT:
    return read_scalar(r, event, err);
  case YAML_ALIAS_EVENT:
    return read_alias(r, event, err);
  case YAML_SEQUENCE_START_EVENT:
    return begin(r, TREE_LIST, event->data.sequence_start.tag,
                 event->data.sequence_start.anchor, err);
  case YAML_MAPPING_START_EVENT:
    return begin(r, TREE_MAP, event->data.mapping_start.tag,
                 event->data.mapping_start.anchor, err);
  case YAML_SEQUENCE_END_EVENT:
  case YAML_MAPPING_END_EVENT:
    return end(r, err);
  default:
    return COCABO_OK;
  }
}

/* ---- the text -------------------------------------------------------------------- */

static cocabo_status parser_failed(reader *r, const yaml_parser_t *parser,
                                   cocabo_error *err) {
  if (parser->error == YAML_MEMORY_ERROR)
    return cb_no_memory(err);
  r->line = (int)parser->problem_mark.line + 1;
  return refuse(r, err, parser->problem ? parser->problem : "this is not YAML");
}

static cocabo_status read_events(reader *r, yaml_parser_t *parser, cocabo_error *err) {
  for (bool more = true; more;) {
    yaml_event_t event;
    if (!yaml_parser_parse(parser, &event))
      return parser_failed(r, parser, err);
    const cocabo_status status = follow(r, &event, err);
    more = event.type != YAML_STREAM_END_EVENT;
    yaml_event_delete(&event);
    CB_TRY(status);
  }
  return COCABO_OK;
}

static int hex4(const char *text) {
  int value = 0;
  for (int i = 0; i < 4; i++) {
    const char *digits = "0123456789abcdef0123456789ABCDEF";
    const char *found = text[i] ? strchr(digits, text[i]) : NULL;
    if (!found)
      return -1;
    value = value << 4 | (int)((found - digits) & 15);
  }
  return value;
}

/* Is the \uXXXX\uXXXX at text, within `left` bytes, a surrogate pair? */
static bool is_pair(const char *text, size_t left, int *character) {
  if (left < 12 || memcmp(text, "\\u", 2) != 0 || memcmp(text + 6, "\\u", 2) != 0)
    return false;
  const int high = hex4(text + 2), low = hex4(text + 8);
  if (high < 0xd800 || high > 0xdbff || low < 0xdc00 || low > 0xdfff)
    return false;
  *character = 0x10000 + ((high - 0xd800) << 10 | (low - 0xdc00));
  return true;
}

/* JSON spells characters beyond U+FFFF as two escapes, YAML as one. */
static cocabo_status join_surrogates(const char *text, size_t size, front_buffer *out,
                                     cocabo_error *err) {
  for (size_t i = 0; i < size;) {
    int character;
    size_t plain = 0;
    while (i + plain < size && text[i + plain] != '\\')
      plain++;
    CB_TRY(front_buffer_append(out, text + i, plain, err));
    i += plain;
    if (is_pair(text + i, size - i, &character)) {
      CB_TRY(front_buffer_printf(out, err, "\\U%08x", (unsigned)character));
      i += 12;
    } else {
      /* An escaped backslash begins no escape. */
      const size_t step = size - i < 2 ? size - i : 2;
      CB_TRY(front_buffer_append(out, text + i, step, err));
      i += step;
    }
  }
  return COCABO_OK;
}

static cocabo_status read_text(reader *r, const char *text, size_t size,
                               cocabo_error *err) {
  yaml_parser_t parser;
  if (!yaml_parser_initialize(&parser))
    return cb_no_memory(err);
  yaml_parser_set_input_string(&parser, (const unsigned char *)text, size);
  const cocabo_status status = read_events(r, &parser, err);
  yaml_parser_delete(&parser);
  return status;
}

static bool is_json(const char *text, size_t size) {
  size_t i = 0;
  while (i < size && text[i] && strchr(" \t\r\n", text[i]))
    i++;
  return i < size && (text[i] == '{' || text[i] == '[');
}

static cocabo_status read_either(reader *r, const char *text, size_t size,
                                 cocabo_error *err) {
  if (!is_json(text, size))
    return read_text(r, text, size, err);
  front_buffer joined = {0};
  cocabo_status status = join_surrogates(text, size, &joined, err);
  if (status == COCABO_OK)
    status = read_text(r, joined.data, joined.size, err);
  front_buffer_free(&joined);
  return status;
}

cocabo_status tree_parse(tree **out, const char *name, const char *text, size_t size,
                         cocabo_error *err) {
  *out = NULL;
  reader *r = cb_calloc(1, sizeof *r);
  tree *t = cb_calloc(1, sizeof *t);
  cocabo_status status = COCABO_OK;
  if (!r || !t) {
    status = cb_no_memory(err);
  } else {
    *r = (reader){.name = name, .t = t, .line = 1};
    status = size > TREE_MAX_SIZE
                 ? refuse(r, err, "the file is too large, want at most 1 MiB")
                 : read_either(r, text, size, err);
  }
  cb_free(r);
  if (status != COCABO_OK)
    tree_free(t);
  else
    *out = t;
  return status;
}
