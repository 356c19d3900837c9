/* cmd_serve.c - cocabo serve: the page and the JSON API of all studies of a store. */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "common/base.h"
#include "common/show.h"
#include "http/guard.h"
#include "http/server.h"
#include "run/signals.h"

typedef struct serve_args {
  const char *port, *listen;
  bool allow_tell, allow_store;
  cli_common common;
} serve_args;

static const front_option options[] = {
    {"--port", "N", "the port, 0 for any that is free (8080)", FRONT_TEXT,
     offsetof(serve_args, port)},
    {"--listen", "ADDRESS",
     "where to listen; beyond this machine it needs a token "
     "(127.0.0.1)",
     FRONT_TEXT, offsetof(serve_args, listen)},
    {"--allow-tell", NULL, "let others ask for trials and tell their values",
     FRONT_FLAG, offsetof(serve_args, allow_tell)},
    {"--allow-store", NULL, "be the storage http://HOST:PORT of other machines",
     FRONT_FLAG, offsetof(serve_args, allow_store)},
    CLI_COMMON_OPTIONS(serve_args),
    {0}};

#ifdef COCABO_HTTP

/* What the arguments and the environment say. */
typedef struct order {
  const char *address;
  int64_t port;
  char *token;
  char shown[CB_SHOWN];
  http_settings settings;
} order;

/* ---- arguments ------------------------------------------------------------------- */

static cocabo_status find_token(const serve_args *args, order *out, cocabo_error *err) {
  const char *path = args->common.token_file;
  CB_TRY(path ? cb_token_read(&out->token, "--token-file", path, err)
              : cb_token_find(&out->token, err));
  out->settings.token = out->token;
  return COCABO_OK;
}

static bool is_loopback(const char *address) {
  char text[80];
  snprintf(text, sizeof text, strchr(address, ':') ? "[%.60s]" : "%.60s", address);
  return http_is_loopback(text);
}

static cocabo_status understand(const serve_args *args, order *out, cocabo_error *err) {
  char shown[CB_SHOWN];
  *out = (order){.address = "127.0.0.1", .port = 8080};
  if (args->listen)
    out->address = strcmp(args->listen, "localhost") == 0 ? "127.0.0.1" : args->listen;
  CB_TRY(front_parse_int("--port", args->port, 0, 65535, &out->port, err));
  out->settings.allow_tell = args->allow_tell;
  out->settings.allow_store = args->allow_store;
  out->settings.live = true;
  out->settings.storage = show_url(out->shown, cli_storage(&args->common));
  CB_TRY(find_token(args, out, err));
  if (!out->settings.token && !is_loopback(out->address))
    return cb_fail(err, COCABO_E_INVALID,
                   "--listen %s is open to other machines, which needs a token: "
                   "COCABO_TOKEN or --token-file",
                   cb_text_show(shown, out->address));
  return COCABO_OK;
}

/* ---- serving --------------------------------------------------------------------- */

/* A store for others may be one that they fill; the one that makes it is opened first.
 */
static cocabo_status open_stores(const serve_args *args, cli_session *sessions,
                                 cocabo_error *err) {
  for (int i = HTTP_STORES - 1; i >= 0; i--) {
    const bool raw = args->allow_store && i == HTTP_STORES - 1;
    const bool writes = args->allow_tell && i == HTTP_STORES - 2;
    CB_TRY(cli_open_store(&sessions[i], &args->common,
                          raw      ? COCABO_STORE_CREATE
                          : writes ? 0
                                   : COCABO_STORE_READ_ONLY,
                          err));
  }
  return COCABO_OK;
}

static void say_where(const serve_args *args, const order *o, int port) {
  const bool six = strchr(o->address, ':') != NULL;
  if (args->common.quiet)
    return;
  fprintf(stderr, "cocabo serve: http://%s%s%s:%d/ shows %s, %s%s; Ctrl-C ends it\n",
          six ? "[" : "", o->address, six ? "]" : "", port, o->settings.storage,
          o->settings.allow_store  ? "and is a storage for others"
          : o->settings.allow_tell ? "and takes results"
                                   : "read-only",
          o->settings.token ? ", with a token" : "");
}

static cocabo_status run(const serve_args *args, const order *o,
                         const cli_session *sessions, cocabo_error *err) {
  cocabo_store *stores[HTTP_STORES];
  http_server *server;
  for (int i = 0; i < HTTP_STORES; i++)
    stores[i] = sessions[i].store;
  CB_TRY(cli_signals_catch(err));
  cocabo_status status =
      http_server_new(&server, &o->settings, stores, o->address, (int)o->port, err);
  if (status == COCABO_OK) {
    say_where(args, o, http_server_port(server));
    status = http_server_run(server, cli_signals_file(), err);
    http_server_free(server);
  }
  cli_signals_release();
  return status;
}

static cocabo_status serve(const serve_args *args, order *o, cocabo_error *err) {
  cli_session sessions[HTTP_STORES] = {{0}};
  CB_TRY(understand(args, o, err));
  cocabo_status status = open_stores(args, sessions, err);
  if (status == COCABO_OK)
    status = run(args, o, sessions, err);
  for (int i = 0; i < HTTP_STORES; i++)
    cli_close(&sessions[i]);
  return status;
}

static int serve_main(int argc, char **argv) {
  serve_args args = {0};
  order o = {0};
  cocabo_error err;
  cocabo_status status = front_args_parse(options, argc, argv, &args, NULL, &err);
  if (status == COCABO_OK)
    status = serve(&args, &o, &err);
  cb_free(o.token);
  return status == COCABO_OK ? FRONT_DONE : cli_complain("serve", &err);
}

#else

static int serve_main(int argc, char **argv) {
  serve_args args = {0};
  cocabo_error err;
  if (front_args_parse(options, argc, argv, &args, NULL, &err) == COCABO_OK)
    cb_fail(&err, COCABO_E_STATE,
            "this cocabo was built without libmicrohttpd; cocabo report needs none");
  return cli_complain("serve", &err);
}

#endif

const cli_command cmd_serve = {
    .name = "serve",
    .summary = "Shows all studies of a storage as a live page, with a JSON API.",
    .usage =
        "[--port 8080] [--listen ADDRESS] [--allow-tell] [--allow-store] [options]",
    .options = options,
    .details =
        "It listens to this machine only and changes nothing, unless told otherwise.\n"
        "From another machine, ssh -L 8080:localhost:8080 HOST leads to it. --listen "
        "with\n"
        "another address needs a token, in $COCABO_TOKEN or in a file, which every "
        "request\n"
        "to /api then carries: Authorization: Bearer TOKEN. What is said is not\n"
        "encrypted.\n\n"
        "With --allow-tell any language is a worker: POST JSON to\n"
        "/api/studies/NAME/ask, .../tell, .../fail and .../report.\n"
        "With --allow-store it is a storage: --storage http://HOST:8080 for every "
        "command\n"
        "and Python elsewhere. Whoever may ask can then write anything into a log, "
        "delete\n"
        "studies, and change the command that workers run where the file is.\n"
        "Ctrl-C ends it, with status 0.",
    .examples = "  cocabo serve\n"
                "  cocabo serve --port 0 --storage sqlite:///study.db\n"
                "  COCABO_TOKEN=$(cat secret) cocabo serve --listen 0.0.0.0\n"
                "  cocabo serve --allow-store --listen 0.0.0.0 --token-file secret",
    .main = serve_main,
};
