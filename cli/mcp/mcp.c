/* mcp.c - messages of the Model Context Protocol. A request has an id and gets an
 * answer; a notification has none. A tool that fails is no error of the protocol: its
 * result says so, for the agent to read. */
#include "mcp/mcp.h"

#include <stdio.h>
#include <string.h>

#include "common/base.h"
#include "common/json.h"
#include "mcp/tools.h"

/* Of JSON-RPC 2.0, and one of the protocol's own. */
enum {
  NO_JSON = -32700,
  NO_REQUEST = -32600,
  NO_METHOD = -32601,
  BAD_PARAMS = -32602,
  NO_RESOURCE = -32002
};

static const char NEWEST[] = "2025-06-18";
static const char *const versions[] = {"2024-11-05", "2025-03-26", NEWEST};
static const char uri_prefix[] = "cocabo://studies/";

typedef struct message {
  cocabo_store *store;
  const cb_json_node *id; /* NULL: a notification */
  const cb_json_node *params;
  front_buffer *out;
} message;

/* ---- envelopes ------------------------------------------------------------------- */

static cocabo_status open_envelope(front_buffer *out, const cb_json_node *id,
                                   cocabo_error *err) {
  CB_TRY(front_buffer_puts(out, "{\"jsonrpc\":\"2.0\",\"id\":", err));
  return id ? front_put_json_node(out, id, err) : front_buffer_puts(out, "null", err);
}

static cocabo_status refuse(front_buffer *out, const cb_json_node *id, int code,
                            const char *sentence, cocabo_error *err) {
  CB_TRY(open_envelope(out, id, err));
  CB_TRY(front_buffer_printf(out, err, ",\"error\":{\"code\":%d,\"message\":", code));
  CB_TRY(front_put_json_text(out, sentence, err));
  return front_buffer_puts(out, "}}\n", err);
}

static cocabo_status open_result(const message *m, cocabo_error *err) {
  CB_TRY(open_envelope(m->out, m->id, err));
  return front_buffer_puts(m->out, ",\"result\":", err);
}

static cocabo_status close_result(const message *m, cocabo_error *err) {
  return front_buffer_puts(m->out, "}\n", err);
}

/* ---- methods --------------------------------------------------------------------- */

/* The version that the client wants, if it is known here; else the newest. */
static cocabo_status initialize(const message *m, cocabo_error *err) {
  const char *wanted = cb_json_text(cb_json_find(m->params, "protocolVersion"));
  const char *version = NEWEST;
  for (size_t i = 0; wanted && i < sizeof versions / sizeof versions[0]; i++)
    if (strcmp(wanted, versions[i]) == 0)
      version = versions[i];
  CB_TRY(open_result(m, err));
  CB_TRY(front_buffer_printf(
      m->out, err,
      "{\"protocolVersion\":\"%s\",\"capabilities\":{\"tools\":{},\"resources\":{}},"
      "\"serverInfo\":{\"name\":\"cocabo\",\"version\":\"%d.%d.%d\"},"
      "\"instructions\":\"Optimises expensive black boxes over numbers and choices: "
      "create_study, then ask, evaluate and tell until the budget is used up.\"}",
      version, COCABO_VERSION_MAJOR, COCABO_VERSION_MINOR, COCABO_VERSION_PATCH));
  return close_result(m, err);
}

static cocabo_status ping(const message *m, cocabo_error *err) {
  CB_TRY(open_result(m, err));
  CB_TRY(front_buffer_puts(m->out, "{}", err));
  return close_result(m, err);
}

static cocabo_status list_tools(const message *m, cocabo_error *err) {
  const mcp_tool *tool;
  CB_TRY(open_result(m, err));
  CB_TRY(front_buffer_puts(m->out, "{\"tools\":[", err));
  for (size_t i = 0; (tool = mcp_tool_at(i)); i++) {
    CB_TRY(front_buffer_printf(m->out, err, "%s{\"name\":\"%s\",\"description\":",
                               i > 0 ? "," : "", tool->name));
    CB_TRY(front_put_json_text(m->out, tool->about, err));
    CB_TRY(front_buffer_printf(
        m->out, err, ",\"inputSchema\":%s,\"annotations\":{\"readOnlyHint\":%s}}",
        tool->schema, tool->changes ? "false" : "true"));
  }
  CB_TRY(front_buffer_puts(m->out, "]}", err));
  return close_result(m, err);
}

static const mcp_tool *find_tool(const char *name) {
  const mcp_tool *tool;
  for (size_t i = 0; (tool = mcp_tool_at(i)); i++)
    if (name && strcmp(tool->name, name) == 0)
      return tool;
  return NULL;
}

static cocabo_status put_content(const message *m, const char *text, bool failed,
                                 cocabo_error *err) {
  CB_TRY(open_result(m, err));
  CB_TRY(front_buffer_puts(m->out, "{\"content\":[{\"type\":\"text\",\"text\":", err));
  CB_TRY(front_put_json_text(m->out, text, err));
  CB_TRY(front_buffer_printf(m->out, err, "}]%s%s,\"isError\":%s}",
                             failed ? "" : ",\"structuredContent\":",
                             failed ? "" : text, failed ? "true" : "false"));
  return close_result(m, err);
}

static cocabo_status call_tool(const message *m, cocabo_error *err) {
  char sentence[200], shown[CB_SHOWN];
  const char *name = cb_json_text(cb_json_find(m->params, "name"));
  const mcp_tool *tool = find_tool(name);
  cocabo_error why = {0};
  front_buffer answer = {0};
  if (!tool) {
    snprintf(sentence, sizeof sentence, "no tool \"%s\"",
             name ? cb_text_show(shown, name) : "");
    return refuse(m->out, m->id, BAD_PARAMS, sentence, err);
  }
  cocabo_status status =
      tool->call(m->store, cb_json_find(m->params, "arguments"), &answer, &why);
  const char *text = status == COCABO_OK ? front_buffer_text(&answer, err) : NULL;
  if (status == COCABO_E_NO_MEMORY)
    status = cb_no_memory(err);
  else if (status != COCABO_OK)
    status = put_content(m, why.message, true, err);
  else
    status = text ? put_content(m, text, false, err) : COCABO_E_NO_MEMORY;
  front_buffer_free(&answer);
  return status;
}

/* ---- resources ------------------------------------------------------------------- */

/* A name in a URI: letters, digits and -._~ as they are. */
static cocabo_status put_escaped(front_buffer *out, const char *name,
                                 cocabo_error *err) {
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                              "0123456789-._~";
  for (; *name; name++)
    if (strchr(plain, *name))
      CB_TRY(front_buffer_append(out, name, 1, err));
    else
      CB_TRY(front_buffer_printf(out, err, "%%%02X", (unsigned)(unsigned char)*name));
  return COCABO_OK;
}

static int digit_of(char c) {
  static const char digits[] = "0123456789abcdef0123456789ABCDEF";
  const char *at = c ? strchr(digits, c) : NULL;
  return at ? (int)((at - digits) % 16) : -1;
}

/* The name in a URI of ours, in `out`; false: it is none. */
static bool read_uri(const char *uri, char *out, size_t size) {
  size_t n = 0;
  if (!uri || strncmp(uri, uri_prefix, sizeof uri_prefix - 1) != 0)
    return false;
  for (uri += sizeof uri_prefix - 1; *uri; uri++) {
    if (n + 1 == size)
      return false;
    const int high = *uri == '%' ? digit_of(uri[1]) : -1;
    const int low = high >= 0 ? digit_of(uri[2]) : -1;
    if (*uri == '%' && low < 0)
      return false;
    out[n++] = *uri == '%' ? (char)(16 * high + low) : *uri;
    uri += *uri == '%' ? 2 : 0;
  }
  out[n] = '\0';
  return n > 0 && strlen(out) == n;
}

static cocabo_status list_resources(const message *m, cocabo_error *err) {
  cocabo_names *names = NULL;
  cocabo_error why;
  if (cocabo_store_studies(m->store, &names, &why) != COCABO_OK)
    return refuse(m->out, m->id, NO_RESOURCE, why.message, err);
  cocabo_status status = open_result(m, err);
  if (status == COCABO_OK)
    status = front_buffer_puts(m->out, "{\"resources\":[", err);
  for (size_t i = 0; i < cocabo_names_count(names) && status == COCABO_OK; i++) {
    status = front_buffer_printf(m->out, err, "%s{\"uri\":\"%s", i > 0 ? "," : "",
                                 uri_prefix);
    if (status == COCABO_OK)
      status = put_escaped(m->out, cocabo_names_at(names, i), err);
    if (status == COCABO_OK)
      status = front_buffer_puts(m->out, "\",\"name\":", err);
    if (status == COCABO_OK)
      status = front_put_json_text(m->out, cocabo_names_at(names, i), err);
    if (status == COCABO_OK)
      status = front_buffer_puts(m->out, ",\"mimeType\":\"application/json\"}", err);
  }
  cocabo_names_free(names);
  CB_TRY(status);
  CB_TRY(front_buffer_puts(m->out, "]}", err));
  return close_result(m, err);
}

static cocabo_status list_templates(const message *m, cocabo_error *err) {
  CB_TRY(open_result(m, err));
  CB_TRY(front_buffer_printf(
      m->out, err,
      "{\"resourceTemplates\":[{\"uriTemplate\":\"%s{study}\",\"name\":\"study\","
      "\"mimeType\":\"application/json\"}]}",
      uri_prefix));
  return close_result(m, err);
}

static cocabo_status read_resource(const message *m, cocabo_error *err) {
  char name[4 * CB_NAME_MAX];
  const char *uri = cb_json_text(cb_json_find(m->params, "uri"));
  cocabo_error why = {0};
  front_buffer text = {0};
  if (!read_uri(uri, name, sizeof name))
    return refuse(m->out, m->id, NO_RESOURCE,
                  "no such resource: want cocabo://studies/NAME", err);
  cocabo_status status = mcp_put_study(&text, m->store, name, &why);
  if (status != COCABO_OK) {
    front_buffer_free(&text);
    return refuse(m->out, m->id, NO_RESOURCE, why.message, err);
  }
  const char *body = front_buffer_text(&text, err);
  status = body ? open_result(m, err) : COCABO_E_NO_MEMORY;
  if (status == COCABO_OK)
    status = front_buffer_puts(m->out, "{\"contents\":[{\"uri\":", err);
  if (status == COCABO_OK)
    status = front_put_json_text(m->out, uri, err);
  if (status == COCABO_OK)
    status =
        front_buffer_puts(m->out, ",\"mimeType\":\"application/json\",\"text\":", err);
  if (status == COCABO_OK)
    status = front_put_json_text(m->out, body, err);
  if (status == COCABO_OK)
    status = front_buffer_puts(m->out, "}]}", err);
  front_buffer_free(&text);
  return status == COCABO_OK ? close_result(m, err) : status;
}

/* ---- dispatch -------------------------------------------------------------------- */

static const struct {
  const char *name;
  cocabo_status (*answer)(const message *m, cocabo_error *err);
} methods[] = {
    {"initialize", initialize},         {"ping", ping},
    {"tools/list", list_tools},         {"tools/call", call_tool},
    {"resources/list", list_resources}, {"resources/templates/list", list_templates},
    {"resources/read", read_resource}};

static cocabo_status dispatch(cocabo_store *store, const cb_json_node *root,
                              front_buffer *out, cocabo_error *err) {
  char sentence[200], shown[CB_SHOWN];
  const cb_json_node *id = cb_json_find(root, "id");
  const char *method = cb_json_text(cb_json_find(root, "method"));
  const char *version = cb_json_text(cb_json_find(root, "jsonrpc"));
  const message m = {
      .store = store, .id = id, .params = cb_json_find(root, "params"), .out = out};
  const bool sane = !id || id->type == CB_JSON_STRING || id->type == CB_JSON_INTEGER;
  if (!version || strcmp(version, "2.0") != 0 || !sane ||
      (!method && !cb_json_find(root, "result") && !cb_json_find(root, "error")))
    return refuse(out, sane ? id : NULL, NO_REQUEST,
                  "no request: want {\"jsonrpc\": \"2.0\", \"id\": ..., \"method\": "
                  "...}",
                  err);
  if (!id || !method)
    return COCABO_OK; /* a notification, or an answer to what we never asked */
  for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++)
    if (strcmp(method, methods[i].name) == 0)
      return methods[i].answer(&m, err);
  snprintf(sentence, sizeof sentence, "no method \"%s\"", cb_text_show(shown, method));
  return refuse(out, id, NO_METHOD, sentence, err);
}

cocabo_status mcp_answer(cocabo_store *store, const char *line, size_t size,
                         front_buffer *out, cocabo_error *err) {
  cb_json_tree tree = {0};
  cocabo_error why;
  cocabo_status status = cb_json_read_all(&tree, line, size, &why);
  if (status == COCABO_E_NO_MEMORY)
    status = cb_no_memory(err);
  else if (status != COCABO_OK)
    status = refuse(out, NULL, NO_JSON, why.message, err);
  else if (tree.nodes->type != CB_JSON_OBJECT)
    status = refuse(out, NULL, NO_REQUEST, "a message is no object", err);
  else
    status = dispatch(store, tree.nodes, out, err);
  cb_json_tree_free(&tree);
  return status;
}
