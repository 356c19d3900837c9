/* Bodies of events from a hostile database. The first byte is the kind of the event,
 * '1' to ':' and beyond (0x94 is 100), the rest the JSON. What is accepted must survive
 * another round trip. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "log/codec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(int condition, const char *what) {
  if (condition)
    return;
  fprintf(stderr, "not so: %s\n", what);
  abort();
}

static void demand_sentence(const cocabo_error *err) {
  demand(err->code == COCABO_E_STORE, "damage is COCABO_E_STORE");
  demand(cb_text_is_utf8(err->message), "a sentence is UTF-8");
  demand(err->message[0] != '\0', "a sentence is not empty");
  for (const char *s = err->message; *s; s++)
    demand((unsigned char)*s >= 0x20, "a sentence has no control characters");
}

/* An event does not know which of its cells are reals; as integers they keep their
 * bits. */
static void encode(cb_json *json, const cb_event *event) {
  char letters[COCABO_MAX_PARAMETERS + 1] = "";
  cocabo_error err;
  memset(letters, 'i', (size_t)event->n_cells);
  demand(cb_codec_encode(json, event, letters, &err) == COCABO_OK, "it can be written");
}

static void demand_round_trip(const cb_event *event) {
  cb_json first = {0}, second = {0};
  cb_event copy = {.kind = event->kind, .seq = event->seq};
  cocabo_error err;
  encode(&first, event);
  demand(cb_codec_decode(first.text, first.length, &copy, &err) == COCABO_OK,
         "what is written can be read");
  encode(&second, &copy);
  demand(first.length == second.length &&
             memcmp(first.text, second.text, first.length) == 0,
         "it is the same event");
  cb_event_clear(&copy);
  cb_json_free(&first);
  cb_json_free(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0)
    return 0;
  cb_event event = {.kind = (cb_event_kind)(data[0] - '0'), .seq = 7};
  cocabo_error err = {0};
  if (cb_codec_decode((const char *)data + 1, size - 1, &event, &err) == COCABO_OK)
    demand_round_trip(&event);
  else
    demand_sentence(&err);
  cb_event_clear(&event);
  return 0;
}
