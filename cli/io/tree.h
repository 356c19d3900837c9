/* tree.h - a YAML or JSON text as a tree of typed values.
 *
 * JSON is read as the YAML that it is. Scalars have the types of YAML 1.2's core
 * schema: quoted is text; null, ~ and nothing are null; true and false (also True,
 * TRUE) are booleans; then whole numbers, real numbers, and text for the rest: yes, no,
 * on and off are text. A list may be one of Python's tuples. Anchors and aliases work;
 * what could make a small file large, or the reader slow, is refused with a sentence.
 */
#ifndef CLI_TREE_H
#define CLI_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "cocabo.h"

/* A text of at most so many bytes, with so many values in so many levels. */
enum { TREE_MAX_SIZE = 1 << 20, TREE_MAX_NODES = 100000, TREE_MAX_DEPTH = 32 };

typedef enum tree_kind { TREE_SCALAR, TREE_LIST, TREE_MAP } tree_kind;

typedef struct tree_entry tree_entry;

typedef struct tree_node {
  tree_kind kind;
  int line; /* from 1 */
  /* TREE_SCALAR: its value, whose text is borrowed from the tree, and how it was spelt.
   */
  cocabo_value value;
  const char *spelling;
  /* TREE_LIST, TREE_MAP: how many entries, in order; the keys of a map are distinct. */
  size_t n;
  tree_entry *first, *last;
} tree_node;

struct tree_entry {
  tree_entry *next;
  const char *key; /* NULL in a list */
  int line;        /* of the key, or of the item */
  const tree_node *node;
};

typedef struct tree tree;

/* *out is owned by the caller. `name` is that of the file, for the sentences: "NAME,
 * line 3: ..." COCABO_E_INVALID for what is not YAML or beyond the limits. */
cocabo_status tree_parse(tree **out, const char *name, const char *text, size_t size,
                         cocabo_error *err);
void tree_free(tree *t); /* NULL is allowed */
/* NULL where the text is empty. */
const tree_node *tree_root(const tree *t);

/* The item of that key in a map, or NULL. */
const tree_node *tree_find(const tree_node *map, const char *key);

#endif
