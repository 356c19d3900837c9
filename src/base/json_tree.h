/* json_tree.h - a JSON text as a tree that is only read: for what others wrote.
 *
 * The log has its own, faster way through a text (cb_walk in json.h), which the tree is
 * built with. A tree is two blocks: its nodes in the order of the text, and the decoded
 * texts. Reading again reuses both, so that a file of many lines allocates once.
 *
 * It takes what RFC 8259 takes and no more, but for these, which are refused: a key
 * that an object has twice, a number that no double can hold, U+0000 in a text, and
 * more than CB_JSON_DEPTH lists inside each other.
 */
#ifndef CB_BASE_JSON_TREE_H
#define CB_BASE_JSON_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/json.h"
#include "cocabo.h"

/* Bytes of a text. */
enum { CB_JSON_TREE_MAX = 1 << 30 };

/* What is in an array or object follows it: nodes are never moved one by one. */
typedef struct cb_json_node {
  cb_json_type type;
  const char *key;    /* of a member of an object, else NULL */
  cocabo_value value; /* of a scalar: 1 is an int and 1.0 a real, as is what int64_t
                       * cannot hold */
  size_t items;       /* of an array or object */
  size_t span;        /* nodes: this one and all inside it */
} cb_json_node;

/* Starts as {0}. The nodes and their texts are its own, until it reads again. */
typedef struct cb_json_tree {
  cb_json_node *nodes; /* the root is the first */
  size_t n, nodes_room;
  char *texts;
  size_t texts_used, texts_room;
  const cb_json_node **sorted; /* members of an object, to find a key that is twice */
  size_t sorted_room;
} cb_json_tree;

void cb_json_tree_free(cb_json_tree *tree); /* and back to {0} */

/* Reads one value, after white space or nothing, from text[*at] on and moves *at behind
 * it and the white space after it: *at == size is the end. COCABO_E_INVALID with "line
 * 3, column 7: found "]", want a value"; lines count from the start of the text. After
 * a failure the tree is empty, and *at is as it was. */
cocabo_status cb_json_read(cb_json_tree *tree, const char *text, size_t size,
                           size_t *at, cocabo_error *err);
/* The same for a text that is one value and nothing else. */
cocabo_status cb_json_read_all(cb_json_tree *tree, const char *text, size_t size,
                               cocabo_error *err);

/*   for (item = cb_json_first(list); item; item = cb_json_next(list, item))
 * over an array or object, in the order of the text. NULL and scalars have no items. */
const cb_json_node *cb_json_first(const cb_json_node *list);
const cb_json_node *cb_json_next(const cb_json_node *list, const cb_json_node *item);

/* Of NULL and of what has another type: NULL, NULL and false. */
const cb_json_node *cb_json_find(const cb_json_node *object, const char *key);
const char *cb_json_text(const cb_json_node *node);
bool cb_json_number(const cb_json_node *node, double *out); /* int or real */

static inline bool cb_json_is(const cb_json_node *node, cb_json_type type) {
  return node && node->type == type;
}

#endif
