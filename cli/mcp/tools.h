/* tools.h - what an agent can do with studies: create one, ask, tell, add points, and
 * look at the best, at what matters, at predictions and at failures.
 *
 * A tool takes an object of JSON and answers with a text of JSON. None of them sets a
 * study's command, so that nothing that an agent says is ever run.
 */
#ifndef CLI_TOOLS_H
#define CLI_TOOLS_H

#include "cocabo_store.h"
#include "common/base.h"
#include "common/buffer.h"

typedef struct mcp_tool {
  const char *name;
  const char *about;  /* for the agent */
  const char *schema; /* of its arguments, as JSON */
  int changes;        /* 1: it writes */
  cocabo_status (*call)(cocabo_store *store, const cb_json_node *args,
                        front_buffer *out, cocabo_error *err);
} mcp_tool;

/* The i-th, NULL past the end. */
const mcp_tool *mcp_tool_at(size_t i);

/* All studies as a list of objects. */
cocabo_status mcp_put_studies(front_buffer *out, cocabo_store *store,
                              cocabo_error *err);
/* One study: space, options, counts, best and trials. */
cocabo_status mcp_put_study(front_buffer *out, cocabo_store *store, const char *name,
                            cocabo_error *err);

#endif
