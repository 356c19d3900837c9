/* storing.c - the raw log of every study, for --storage http://: what is asked goes
 * through the library's door (store/door.h), and its answer is the response's. */
#include <string.h>

#include "http/call.h"
#include "http/turns.h"
#include "store/door.h"

cocabo_status http_doc_store(http_call *call, cocabo_error *err) {
  (void)err;
  http_open(&call->json, '{');
  http_put_integer(&call->json, "store", cb_door_version());
  http_put_integer(&call->json, "most", (int64_t)cb_door_most());
  http_close(&call->json, '}');
  call->response->changing = true;
  return COCABO_OK;
}

/* The server lets it wait (server.c); by itself it is always one's turn. */
cocabo_status http_do_turn(http_call *call, cocabo_error *err) {
  int64_t study = 0;
  const char *who = http_query(call->target, "who");
  CB_TRY(http_query_int(call->target, "study", 0, INT64_MAX, &study, err));
  if (!who || !*who || strlen(who) >= HTTP_WHO)
    return cb_fail(err, COCABO_E_INVALID, "who is %s, want 1 to %d characters",
                   who && *who ? "too long" : "missing", HTTP_WHO - 1);
  http_open(&call->json, '{');
  http_close(&call->json, '}');
  call->response->changing = true;
  return COCABO_OK;
}

/* A failure has its code in the document, so that the other end can tell a conflict
 * from a store that is damaged. */
cocabo_status http_do_store(http_call *call, cocabo_error *err) {
  const http_request *r = call->request;
  char *answer;
  size_t size;
  const cocabo_status status =
      cb_door_answer(call->site->store, call->target->segments[2],
                     r->body ? r->body : "", r->size, &answer, &size);
  if (!answer)
    return cb_no_memory(err);
  call->response->status = http_status_of(status);
  call->response->changing = true;
  call->json.out = (front_buffer){.data = answer, .size = size, .capacity = size};
  return COCABO_OK;
}
