/* Any text as JSON. It is refused with a sentence that says where, or it is a tree that
 * can be written and read again as the same. The walk that passes over a value must
 * agree with the tree, but for what only one of them looks at. */
#include <stdint.h>
#include <string.h>

#include "base/json_tree.h"
#include "fuzz/fuzz_demand.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Whether the walk, which refuses longer keys, can read it. */
static bool write(cb_json *json, const cb_json_node *node) {
  bool short_keys = true;
  switch (node->type) {
  case CB_JSON_NULL:
    cb_json_word(json, "null");
    break;
  case CB_JSON_BOOL:
    cb_json_word(json, node->value.as.boolean ? "true" : "false");
    break;
  case CB_JSON_INTEGER:
    cb_json_integer(json, node->value.as.integer);
    break;
  case CB_JSON_REAL:
    cb_json_real(json, node->value.as.real);
    break;
  case CB_JSON_STRING:
    cb_json_string(json, node->value.as.text);
    break;
  default:
    cb_json_open(json, node->type == CB_JSON_OBJECT ? "{" : "[");
    for (const cb_json_node *item = cb_json_first(node); item;
         item = cb_json_next(node, item)) {
      if (item->key) {
        cb_json_key(json, item->key);
        short_keys = short_keys && strlen(item->key) < CB_JSON_KEY;
      }
      short_keys = write(json, item) && short_keys;
    }
    cb_json_close(json, node->type == CB_JSON_OBJECT ? "}" : "]");
  }
  return short_keys;
}

static bool walks(const char *text, size_t size) {
  cb_walk walk = cb_walk_start(text, size);
  cb_walk_skip(&walk);
  cb_walk_end(&walk);
  return !walk.why;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const char *text = (const char *)data;
  cb_json_tree tree = {0}, again = {0};
  cb_json first = {0}, second = {0};
  cocabo_error err;
  const cocabo_status status = cb_json_read_all(&tree, text, size, &err);
  if (status == COCABO_OK) {
    const bool short_keys = write(&first, tree.nodes);
    demand(first.status == COCABO_OK, "what was read can be written");
    demand(cb_json_read_all(&again, first.text, first.length, &err) == COCABO_OK,
           "what was written can be read");
    write(&second, again.nodes);
    demand(first.length == second.length &&
               memcmp(first.text, second.text, first.length) == 0,
           "it is the same");
    demand(tree.n == again.n && tree.nodes->span == tree.n, "no node is lost");
    demand(walks(first.text, first.length) == short_keys, "the walk reads it too");
  } else {
    demand_sentence(&err, status);
    demand(strncmp(err.message, "line ", 5) == 0, "a refusal says where");
    demand(tree.n == 0, "nothing is left of it");
  }
  cb_json_tree_free(&tree);
  cb_json_tree_free(&again);
  cb_json_free(&first);
  cb_json_free(&second);
  return 0;
}
