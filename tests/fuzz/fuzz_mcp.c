/* Lines as an agent may send them. Whatever they say, every answer is one line of JSON,
 * and no line stops the next from being answered. */
#include <stdint.h>
#include <string.h>

#include "common/base.h"
#include "fuzz/fuzz_demand.h"
#include "mcp/mcp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand_json(const front_buffer *out) {
  cb_json_tree tree = {0};
  if (out->size == 0)
    return;
  demand(out->data[out->size - 1] == '\n', "an answer ends its line");
  demand(memchr(out->data, '\n', out->size - 1) == NULL, "an answer is one line");
  demand(cb_json_read_all(&tree, out->data, out->size, NULL) == COCABO_OK,
         "an answer is JSON");
  cb_json_tree_free(&tree);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  enum { MOST = 20 }; /* lines: some of them fit a model */
  cocabo_store *store = cocabo_store_new_memory();
  const char *text = (const char *)data;
  demand(store != NULL, "there is memory");
  for (int i = 0; i < MOST && size > 0; i++) {
    const char *end = memchr(text, '\n', size);
    const size_t line = end ? (size_t)(end - text) : size;
    front_buffer out = {0};
    demand(mcp_answer(store, text, line, &out, NULL) == COCABO_OK, "it is answered");
    demand_json(&out);
    front_buffer_free(&out);
    text += line + (end != NULL);
    size -= line + (end != NULL);
  }
  cocabo_store_free(store);
  return 0;
}
