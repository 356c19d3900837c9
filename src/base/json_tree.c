/* json_tree.c - builds the tree of json_tree.h with the steps of json.h.
 *
 * All decoded texts together, each with its NUL, are no longer than the text itself,
 * because each of them stood between two quotes: so one block of that size holds them,
 * and pointers into it never move. Nodes do move while their array grows; they point to
 * texts only, never to each other. */
#include "base/json_tree.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "base/text.h"

void cb_json_tree_free(cb_json_tree *tree) {
  cb_free(tree->nodes);
  cb_free(tree->texts);
  cb_free(tree->sorted);
  *tree = (cb_json_tree){0};
}

/* ---- building -------------------------------------------------------------------- */

typedef struct reader {
  cb_json_tree *tree;
  cb_walk walk;
  const char *twin; /* the key that made it fail, or NULL */
} reader;

/* A new node at the end, or NULL. */
static cb_json_node *add_node(reader *r) {
  cb_json_tree *tree = r->tree;
  void *nodes = tree->nodes;
  if (!cb_reserve(&nodes, &tree->nodes_room, tree->n + 1, sizeof *tree->nodes)) {
    cb_walk_no_memory(&r->walk);
    return NULL;
  }
  tree->nodes = nodes;
  tree->nodes[tree->n] = (cb_json_node){.span = 1};
  return &tree->nodes[tree->n++];
}

static char *free_text(const cb_json_tree *tree) {
  return tree->texts + tree->texts_used;
}

static size_t text_room(const cb_json_tree *tree) {
  return tree->texts_room - tree->texts_used;
}

/* The text that was put there; the next one goes behind it. */
static const char *keep_text(cb_json_tree *tree) {
  const char *text = free_text(tree);
  tree->texts_used += strlen(text) + 1;
  return text;
}

static int compare_keys(const void *a, const void *b) {
  return strcmp((*(const cb_json_node *const *)a)->key,
                (*(const cb_json_node *const *)b)->key);
}

/* Sorted, because a hostile object may have millions of members. */
static void refuse_duplicates(reader *r, size_t at) {
  cb_json_tree *tree = r->tree;
  const cb_json_node *object = &tree->nodes[at];
  void *sorted = tree->sorted;
  if (r->walk.why || object->items < 2)
    return;
  if (!cb_reserve(&sorted, &tree->sorted_room, object->items, sizeof *tree->sorted)) {
    cb_walk_no_memory(&r->walk);
    return;
  }
  tree->sorted = sorted;
  size_t n = 0;
  for (const cb_json_node *item = cb_json_first(object); item;
       item = cb_json_next(object, item))
    tree->sorted[n++] = item;
  qsort(tree->sorted, n, sizeof *tree->sorted, compare_keys);
  for (size_t i = 1; i < n; i++)
    if (strcmp(tree->sorted[i - 1]->key, tree->sorted[i]->key) == 0) {
      r->twin = tree->sorted[i]->key;
      cb_walk_fail(&r->walk, "other keys");
    }
}

static void read_value(reader *r, const char *key, int depth);

static void read_list(reader *r, size_t at, int depth) {
  cb_json_tree *tree = r->tree;
  cb_walk *walk = &r->walk;
  const bool is_object = tree->nodes[at].type == CB_JSON_OBJECT;
  const char end = is_object ? '}' : ']';
  size_t items = 0;
  if (depth > CB_JSON_DEPTH)
    cb_walk_fail(walk, "fewer brackets inside each other");
  for (cb_walk_open(walk, is_object ? '{' : '['); cb_walk_more(walk, end); items++) {
    const char *key = NULL;
    if (is_object) {
      cb_walk_long_key(walk, free_text(tree), text_room(tree));
      key = keep_text(tree);
    }
    read_value(r, key, depth);
  }
  tree->nodes[at].items = items;
  tree->nodes[at].span = tree->n - at;
  if (is_object)
    refuse_duplicates(r, at);
}

static void read_value(reader *r, const char *key, int depth) {
  cb_json_tree *tree = r->tree;
  cb_walk *walk = &r->walk;
  cb_json_node *node = walk->why ? NULL : add_node(r);
  if (!node)
    return;
  cocabo_value *value = &node->value;
  node->key = key;
  node->type = cb_walk_peek(walk);
  switch (node->type) {
  case CB_JSON_NULL:
    cb_walk_null(walk);
    *value = (cocabo_value){.type = COCABO_NULL};
    break;
  case CB_JSON_BOOL:
    *value = (cocabo_value){.type = COCABO_BOOL, .as.boolean = cb_walk_bool(walk)};
    break;
  case CB_JSON_INTEGER:
    value->type = COCABO_INT;
    if (cb_walk_fits_integer(walk, &value->as.integer))
      break;
    node->type = CB_JSON_REAL;
    /* fall through */
  case CB_JSON_REAL:
    *value = (cocabo_value){.type = COCABO_REAL, .as.real = cb_walk_real(walk)};
    break;
  case CB_JSON_STRING:
    cb_walk_text(walk, free_text(tree), text_room(tree));
    *value = (cocabo_value){.type = COCABO_TEXT, .as.text = keep_text(tree)};
    break;
  case CB_JSON_ARRAY:
  case CB_JSON_OBJECT:
    read_list(r, tree->n - 1, depth + 1);
    break;
  case CB_JSON_NOTHING:
    cb_walk_fail(walk, "a value");
    break;
  }
}

/* ---- reading --------------------------------------------------------------------- */

static cocabo_status refuse(const reader *r, cocabo_error *err) {
  const cb_walk *walk = &r->walk;
  char found[24], shown[CB_SHOWN];
  size_t line = 1, column = 1, n = 0;
  if (walk->no_memory)
    return cb_no_memory(err);
  for (const char *s = walk->text; s < walk->at; s++) {
    line += *s == '\n';
    column = *s == '\n' ? 1 : column + (((unsigned char)*s & 0xC0) != 0x80);
  }
  if (r->twin)
    return cb_fail(err, COCABO_E_INVALID,
                   "line %zu, column %zu: the object before it has key \"%s\" twice",
                   line, column, cb_text_show(shown, r->twin));
  for (; n + 1 < sizeof found && walk->at + n < walk->end && walk->at[n] != '\n'; n++)
    found[n] = walk->at[n] ? walk->at[n] : '\1'; /* shown as any control character */
  found[n] = '\0';
  if (n == 0)
    return cb_fail(err, COCABO_E_INVALID,
                   "line %zu, column %zu: found the end%s, want %s", line, column,
                   walk->at < walk->end ? " of the line" : "", walk->why);
  return cb_fail(err, COCABO_E_INVALID, "line %zu, column %zu: found \"%s\", want %s",
                 line, column, cb_text_show_within(shown, found, 16), walk->why);
}

cocabo_status cb_json_read(cb_json_tree *tree, const char *text, size_t size,
                           size_t *at, cocabo_error *err) {
  assert(*at <= size);
  reader r = {.tree = tree,
              .walk = {.text = text, .at = text + *at, .end = text + size}};
  void *texts = tree->texts;
  tree->n = tree->texts_used = 0;
  if (size > CB_JSON_TREE_MAX)
    return cb_fail(err, COCABO_E_INVALID, "a JSON text has %zu bytes, want at most %d",
                   size, CB_JSON_TREE_MAX);
  if (!cb_reserve(&texts, &tree->texts_room, size - *at + 1, 1))
    return cb_no_memory(err);
  tree->texts = texts;
  read_value(&r, NULL, 0);
  if (r.walk.why) {
    tree->n = 0;
    return refuse(&r, err);
  }
  cb_walk_space(&r.walk);
  *at = (size_t)(r.walk.at - text);
  return COCABO_OK;
}

cocabo_status cb_json_read_all(cb_json_tree *tree, const char *text, size_t size,
                               cocabo_error *err) {
  size_t at = 0;
  CB_TRY(cb_json_read(tree, text, size, &at, err));
  if (at == size)
    return COCABO_OK;
  tree->n = 0;
  const reader r = {
      .walk = {.text = text, .at = text + at, .end = text + size, .why = "the end"}};
  return refuse(&r, err);
}

/* ---- looking --------------------------------------------------------------------- */

const cb_json_node *cb_json_first(const cb_json_node *list) {
  return list && list->items > 0 ? list + 1 : NULL;
}

const cb_json_node *cb_json_next(const cb_json_node *list, const cb_json_node *item) {
  const cb_json_node *next = item + item->span;
  return next < list + list->span ? next : NULL;
}

const cb_json_node *cb_json_find(const cb_json_node *object, const char *key) {
  if (!cb_json_is(object, CB_JSON_OBJECT))
    return NULL;
  const cb_json_node *item = cb_json_first(object);
  while (item && strcmp(item->key, key) != 0)
    item = cb_json_next(object, item);
  return item;
}

const char *cb_json_text(const cb_json_node *node) {
  return cb_json_is(node, CB_JSON_STRING) ? node->value.as.text : NULL;
}

bool cb_json_number(const cb_json_node *node, double *out) {
  if (cb_json_is(node, CB_JSON_INTEGER))
    *out = (double)node->value.as.integer;
  else if (cb_json_is(node, CB_JSON_REAL))
    *out = node->value.as.real;
  else
    return false;
  return true;
}
