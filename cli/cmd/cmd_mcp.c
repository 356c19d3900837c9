/* cmd_mcp.c - cocabo mcp: studies for an agent, over standard input and output. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "common/base.h"
#include "common/buffer.h"
#include "mcp/mcp.h"

typedef struct mcp_args {
  cli_common common;
} mcp_args;

static const front_option options[] = {CLI_COMMON_OPTIONS(mcp_args), {0}};

/* Bytes of a message: more is nobody's honest wish. */
enum { MAX_LINE = 16 << 20 };

/* Answers all lines that are complete and takes them out. */
static cocabo_status answer_lines(cocabo_store *store, front_buffer *in,
                                  cocabo_error *err) {
  const char *end;
  while (in->size > 0 && (end = memchr(in->data, '\n', in->size))) {
    front_buffer out = {0};
    const size_t size = (size_t)(end - in->data);
    cocabo_status status =
        size > 0 ? mcp_answer(store, in->data, size, &out, err) : COCABO_OK;
    if (status == COCABO_OK && out.size > 0 &&
        (fwrite(out.data, 1, out.size, stdout) != out.size || fflush(stdout) != 0))
      status =
          cb_fail(err, COCABO_E_STORE, "cannot write the answer: %s", strerror(errno));
    front_buffer_free(&out);
    CB_TRY(status);
    front_buffer_consume(in, size + 1);
  }
  return COCABO_OK;
}

static cocabo_status serve(cocabo_store *store, cocabo_error *err) {
  front_buffer in = {0};
  char chunk[65536];
  cocabo_status status = COCABO_OK;
  while (status == COCABO_OK) {
    const ssize_t got = read(STDIN_FILENO, chunk, sizeof chunk);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      break;
    status = front_buffer_append(&in, chunk, (size_t)got, err);
    if (status == COCABO_OK)
      status = answer_lines(store, &in, err);
    if (status == COCABO_OK && in.size > MAX_LINE)
      status = cb_fail(err, COCABO_E_RANGE,
                       "a message has more than %d bytes without an end", MAX_LINE);
  }
  front_buffer_free(&in);
  return status;
}

static int mcp_main(int argc, char **argv) {
  mcp_args args = {0};
  cli_session session = {0};
  cocabo_error err;
  if (front_args_parse(options, argc, argv, &args, NULL, &err) != COCABO_OK ||
      cli_open_store(&session, &args.common, COCABO_STORE_CREATE, &err) != COCABO_OK)
    return cli_complain("mcp", &err);
  const cocabo_status status = serve(session.store, &err);
  cli_close(&session);
  return status == COCABO_OK ? 0 : cli_complain("mcp", &err);
}

const cli_command cmd_mcp = {
    .name = "mcp",
    .summary = "Lets an agent use studies: the Model Context Protocol.",
    .usage = "[options]",
    .options = options,
    .details =
        "Reads one message of JSON-RPC 2.0 a line from standard input and answers on\n"
        "standard output, as clients of the Model Context Protocol do it. The tools\n"
        "create studies, ask, tell, add points, and show the best, what matters,\n"
        "predictions and failures; every study is a resource, cocabo://studies/NAME.\n"
        "No tool can set or run a study's command. Watch the same store with `cocabo\n"
        "serve` or `cocabo watch`.",
    .examples = "  cocabo mcp --storage sqlite:///agent.db",
    .main = mcp_main,
};
