/* wire.h - what a store is asked, and what it answers, as JSON: the same words for who
 * asks over HTTP (http.c) and for who answers (door.c).
 *
 * Every call is an object, and so is its answer:
 *
 *   find       {"name":"s"}                           {"study":3}
 *   list       {}                                     {"names":["s",...]}
 *   create     {"name":"s","keep":false,"retried":false,"events":[EVENT,...]}
 *                                                     {"study":3,"places":[PLACE,...]}
 *   append     {"study":3,"next":-1,"seen":POSITION,"owner":"w","seconds":60.0,
 *               "durable":true,"keep":false,"events":[EVENT,...]}
 *                                                     {"places":[PLACE,...]}
 *   read       {"study":3,"from":POSITION,"leases":true,"most":5000}
 *                          {"events":[EVENT,...],"more":false,"expired":[[7,-1],...]}
 *   renew      {"study":3,"owner":"w","seconds":60.0} {}
 *   leases     {"study":3}            {"leases":[[trial,run,"owner",left,gone],...]}
 *   summarise  {"study":3,"summary":{...}}            {}
 *   describe   {"study":3}     {"seq":9,"first":1.5e9,"last":1.6e9,"summary":{...}}
 *   check      {"study":3}                            {"unchecked":0}
 *   remove     {"name":"s"}                           {}
 *
 *   EVENT      {"seq":9,"id":"32 hexadecimal digits","time":1.6e9,"kind":4,"number":7,
 *               "attempt":0,"body":{...}}; body as log/codec.h has it, to the byte;
 *              seq and time are the store's to give, but for time where `keep` is true
 *   POSITION   [seq,"id"]
 *   PLACE      [seq,time]
 *
 * What may be left out: next (-1), seen, owner, seconds, durable, keep, retried,
 * leases (false), most. Keys that are not known are passed over, so that a later
 * version can add some. A failure is {"error":"sentence","code":"busy"}.
 */
#ifndef CB_STORE_WIRE_H
#define CB_STORE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "cocabo.h"
#include "log/event.h"
#include "store/store.h"

enum {
  CB_WIRE_VERSION = 1,      /* of what is above */
  CB_WIRE_MAX = 64 << 20,   /* bytes of a call, and of its answer */
  CB_WIRE_AT_A_TIME = 5000, /* events of one answer, */
  CB_WIRE_ENOUGH = 1 << 20  /* and bytes from which the rest comes with the next */
};

/* A walk through a text of up to CB_WIRE_MAX bytes. */
cb_walk cb_wire_walk(const char *text, size_t length);
/* Where the next object is, by its brackets alone: what is in it is not looked at. */
void cb_wire_object(cb_walk *walk, const char **text, size_t *size);

/* ---- codes ----------------------------------------------------------------------- */

const char *cb_wire_code(cocabo_status status);            /* "busy"; total */
bool cb_wire_status(const char *code, cocabo_status *out); /* false: no such code */

/* ---- positions and places -------------------------------------------------------- */

void cb_wire_put_position(cb_json *json, const char *key, const cb_position *position);
cb_position cb_wire_position(cb_walk *walk);

/* "places" of n events, and back. */
void cb_wire_put_places(cb_json *json, const cb_event *events, int n);
void cb_wire_places(cb_walk *walk, cb_event *events, int n);

/* ---- events ---------------------------------------------------------------------- */

/* Writes an event. Its body is the one it was kept with where `kept` says so and it has
 * one; else it is made, with `letters` as in log/codec.h, in `body`. */
cocabo_status cb_wire_put_event(cb_json *json, const cb_event *event, bool kept,
                                const char *letters, cb_json *body, cocabo_error *err);

/* Reads one. It owns what it points to but for `kept`, which is in the text. What is no
 * event, or none that a log could have, is COCABO_E_INVALID (or COCABO_E_STORE where
 * its body is damaged), and *out is clear. */
cocabo_status cb_wire_event(cb_walk *walk, cb_event *out, cocabo_error *err);

/* A list of them, to be released with cb_wire_events_free. */
typedef struct cb_wire_events {
  cb_event *items;
  size_t n, capacity;
} cb_wire_events;
cocabo_status cb_wire_read_events(cb_walk *walk, cb_wire_events *out,
                                  cocabo_error *err);
void cb_wire_events_free(cb_wire_events *events);

#endif
