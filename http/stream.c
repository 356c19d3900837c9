/* stream.c - server-sent events: a study has changed, or the list of studies. */
#include <inttypes.h>
#include <string.h>

#include "http/call.h"
#include "http/exchange.h"

#define STILL_HERE 15.0 /* seconds of silence at most */

/* ---- what is sent ---------------------------------------------------------------- */

static cocabo_status put_change(http_stream *s, http_study *study, cocabo_error *err) {
  http_json json = {.err = err};
  int64_t states[COCABO_STALE + 1];
  http_count_states(study->handle, states);
  http_open(&json, '{');
  http_put_integer(&json, "seq", study->seq);
  http_put_integer(&json, "count", study->n);
  http_key(&json, "states");
  http_put_states(&json, states);
  http_key(&json, "best");
  cocabo_status status = http_put_best_pair(&json, study->handle, err);
  http_close(&json, '}');
  if (status == COCABO_OK)
    status = json.status;
  if (status == COCABO_OK)
    status = front_buffer_printf(&s->ready, err,
                                 "event: change\nid: %" PRId64 "\ndata: %.*s\n\n",
                                 study->seq, (int)json.out.size, json.out.data);
  front_buffer_free(&json.out);
  return status;
}

static cocabo_status look_at_study(http_stream *s, cocabo_error *err) {
  http_study *study;
  const cocabo_status status =
      http_site_study(&s->server->quick, s->study, &study, err);
  if (status == COCABO_E_NOT_FOUND) {
    s->over = true;
    return front_buffer_puts(&s->ready, "event: gone\ndata: {}\n\n", err);
  }
  if (status != COCABO_OK || study->seq == s->sent)
    return COCABO_OK;         /* of a store that is busy there is nothing new */
  if (study->seq < s->sent) { /* it was made anew */
    s->over = true;
    return front_buffer_puts(&s->ready, "event: gone\ndata: {}\n\n", err);
  }
  CB_TRY(put_change(s, study, err));
  s->sent = study->seq;
  return COCABO_OK;
}

static cocabo_status look_at_list(http_stream *s, cocabo_error *err) {
  if (s->sent == s->server->list_version)
    return COCABO_OK;
  s->sent = s->server->list_version;
  return front_buffer_puts(&s->ready, "event: studies\ndata: {}\n\n", err);
}

static void look(http_stream *s) {
  cocabo_error err;
  if (s->over || s->ready.size > 0)
    return;
  if ((s->study ? look_at_study(s, &err) : look_at_list(s, &err)) != COCABO_OK)
    s->over = true;
  if (s->ready.size == 0 && s->server->now - s->last > STILL_HERE &&
      front_buffer_puts(&s->ready, ": still here\n\n", &err) != COCABO_OK)
    s->over = true;
}

/* ---- the connection -------------------------------------------------------------- */

static ssize_t read_stream(void *cls, uint64_t at, char *out, size_t room) {
  http_stream *s = cls;
  (void)at;
  if (s->ready.size == 0) {
    if (s->over)
      return MHD_CONTENT_READER_END_OF_STREAM;
    s->asleep = true;
    mhd.MHD_suspend_connection(s->connection);
    return 0;
  }
  const size_t size = s->ready.size < room ? s->ready.size : room;
  memcpy(out, s->ready.data, size);
  front_buffer_consume(&s->ready, size);
  s->last = s->server->now;
  return (ssize_t)size;
}

static void free_stream(void *cls) {
  http_stream *s = cls;
  if (s->next)
    s->next->previous = s->previous;
  if (s->previous)
    s->previous->next = s->next;
  else
    s->server->streams = s->next;
  s->server->n_streams--;
  front_buffer_free(&s->ready);
  cb_free(s->study);
  cb_free(s);
}

static http_stream *new_stream(http_exchange *x) {
  http_stream *s = cb_calloc(1, sizeof *s);
  const bool of_study = x->target.n > 2;
  if (!s || (of_study && !(s->study = cb_strdup(x->target.segments[2])))) {
    cb_free(s);
    return NULL;
  }
  s->server = x->server;
  s->connection = x->connection;
  s->sent = of_study ? 0 : x->server->list_version;
  s->last = x->server->now;
  s->next = x->server->streams;
  if (s->next)
    s->next->previous = s;
  x->server->streams = s;
  x->server->n_streams++;
  return s;
}

enum MHD_Result http_stream_start(http_exchange *x) {
  static const http_response look_of_it = {
      .type = "text/event-stream",
      .policy = "default-src 'none'; frame-ancestors 'none'",
      .changing = true};
  http_stream *s = new_stream(x);
  if (!s)
    return MHD_NO;
  look(s);
  struct MHD_Response *response = mhd.MHD_create_response_from_callback(
      MHD_SIZE_UNKNOWN, 4096, read_stream, s, free_stream);
  if (!response) {
    free_stream(s);
    return MHD_NO;
  }
  http_put_headers(response, &look_of_it);
  const enum MHD_Result result = mhd.MHD_queue_response(x->connection, 200, response);
  mhd.MHD_destroy_response(response);
  return result;
}

static void wake(http_stream *s) {
  if (!s->asleep)
    return;
  s->asleep = false;
  mhd.MHD_resume_connection(s->connection);
}

void http_stream_tick(http_server *server) {
  for (http_stream *s = server->streams; s; s = s->next) {
    look(s);
    if (s->ready.size > 0 || s->over)
      wake(s);
  }
}

void http_stream_end_all(http_server *server) {
  for (http_stream *s = server->streams; s; s = s->next) {
    s->over = true;
    wake(s);
  }
}
