/* Answers of any server, as the HTTP store reads them: the first byte says in what
 * pieces they come. It is the same answer in whatever pieces, and what is not refused
 * is within its bounds. A content that is a list of events is read as that too. */
#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "fuzz/fuzz_demand.h"
#include "store/answer.h"
#include "store/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static cocabo_status feed(cb_answer *a, const uint8_t *data, size_t size, size_t piece,
                          cocabo_error *err) {
  cocabo_status status = COCABO_OK;
  for (size_t at = 0; at < size && status == COCABO_OK && !a->done;) {
    const size_t n = size - at < piece ? size - at : piece;
    demand(cb_answer_reserve(a, n, err) == COCABO_OK, "there is memory");
    memcpy(a->bytes + a->size, data + at, n);
    a->size += n;
    at += n;
    status = cb_answer_look(a, err);
    demand(a->head <= a->size && a->head <= CB_ANSWER_HEAD, "the head is what came");
    demand(a->content <= a->size - a->head, "so is the content");
  }
  return status;
}

static void read_events(const cb_answer *a) {
  cb_wire_events events = {0};
  cocabo_error err = {0};
  cb_walk walk = cb_wire_walk(cb_answer_content(a), a->content);
  const cocabo_status status = cb_wire_read_events(&walk, &events, &err);
  demand(status == COCABO_OK || walk.why, "a failure is remembered");
  for (size_t i = 0; i < events.n; i++)
    demand(events.items[i].kept_size <= a->content, "a body is in the text");
  cb_wire_events_free(&events);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  cocabo_error err = {0}, other = {0};
  cb_answer pieces = {0}, whole = {0};
  if (size < 2)
    return 0;
  const size_t piece = 1 + data[0] % 64;
  const cocabo_status status = feed(&pieces, data + 1, size - 1, piece, &err);
  const cocabo_status at_once = feed(&whole, data + 1, size - 1, size, &other);
  if (status != COCABO_OK)
    demand_sentence(&err, status);
  demand(status == at_once || pieces.done, "pieces are refused as the whole is");
  if (pieces.done && whole.done) {
    demand(pieces.status == whole.status && pieces.content == whole.content &&
               memcmp(cb_answer_content(&pieces), cb_answer_content(&whole),
                      whole.content) == 0,
           "it is the same answer");
    demand(whole.status >= 200 && whole.status <= 999, "it has a status");
    read_events(&whole);
  }
  cb_answer_free(&pieces);
  cb_answer_free(&whole);
  return 0;
}
