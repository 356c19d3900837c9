/* codec.h - the body of an event as JSON.
 *
 * A store keeps the head of an event (seq, id, time, kind, number, attempt) in columns
 * of its own, because it looks events up by them. Everything else is the body, one JSON
 * object; what is zero is left out:
 *
 *   space        [{"name":"x","type":"float","low":0.0,"high":1.0,"step":0.25},
 *                 {"name":"n","type":"int","low":1,"high":1024,"log":true},
 *                 {"name":"c","type":"choice","choices":["a",1,1.0,true,null]},
 *                 {"name":"o","type":"ordinal","choices":["small","large"]}]
 *   options      [["seed","7"],...]          attributes  the same
 *   cells        [0.375,1,3]                 a real has a point or an exponent
 *   by           origin
 *   basis        what the proposal saw       batch       [first,size,index]
 *   pending      [3,7]                       draws       [[p,gamma,b,capped],...]
 *   fits         ["0123456789abcdef0123456789abcdef"]  ids of the fits it used
 *   fingerprint  sampler and revision
 *   y            the result                  reason      of the failure
 *   state        "running", of an added trial without a result that is not enqueued
 *   step         of a report                 value       of a report
 *   fit          {"basis":9,"rows":4,"round":2,"theta":[...]}
 *
 * Numbers come back to the bit, -0.0 and denormal ones too. Keys that are not known are
 * passed over, so that a later version can add some; what an older version must not
 * pass over needs a new schema or a new kind of event. The body of a kind that is not
 * known is kept as a text, and written as that again.
 */
#ifndef CB_LOG_CODEC_H
#define CB_LOG_CODEC_H

#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "cocabo.h"
#include "log/event.h"

/* One letter a parameter, and a NUL: which member of its cells counts, 'r' for the real
 * and 'i' for the integer. An event does not say so itself. */
void cb_codec_letters(const cocabo_space *space,
                      char letters[static COCABO_MAX_PARAMETERS + 1]);

/* Writes the body of an event. `letters` are those of its study's space; an event
 * without cells needs none (""). COCABO_E_INVALID if a number is not finite, a text not
 * UTF-8, or the cells are not those of the space. */
cocabo_status cb_codec_encode(cb_json *json, const cb_event *event, const char *letters,
                              cocabo_error *err);

/* Reads a body into an event whose head is filled in and whose body is zero. A text
 * that is no body of this kind of event is COCABO_E_STORE. On failure the event is
 * cleared. */
cocabo_status cb_codec_decode(const char *text, size_t length, cb_event *event,
                              cocabo_error *err);

/* The checksum of a body, by which a store knows it again: FNV-1a, 64 bits. Whatever
 * happens to a single byte changes it. */
uint64_t cb_codec_checksum(const char *text, size_t length);

#endif
