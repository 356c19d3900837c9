/* mcp.h - the Model Context Protocol: one message of JSON-RPC 2.0 in, its answer out.
 */
#ifndef CLI_MCP_H
#define CLI_MCP_H

#include "cocabo_store.h"
#include "common/buffer.h"

/* Appends the answer and a newline; nothing for a notification. `line` is one message,
 * without its newline. Fails for lack of memory only: whatever is wrong with a message
 * is said in the answer. */
cocabo_status mcp_answer(cocabo_store *store, const char *line, size_t size,
                         front_buffer *out, cocabo_error *err);

#endif
