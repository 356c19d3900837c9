/* turns.h - who may ask next in a study, where many want to: else all but one of them
 * would propose in vain. Nothing but speed depends on it. */
#ifndef HTTP_TURNS_H
#define HTTP_TURNS_H

#include <stdbool.h>
#include <stdint.h>

enum { HTTP_WHO = 40, HTTP_TURNS = 64 };
#define HTTP_TURN_WAIT 3.0   /* seconds after which one goes on without */
#define HTTP_TURN_LASTS 10.0 /* seconds after which it is anybody's */

/* Starts as {0}. */
typedef struct http_turns {
  struct http_turn {
    int64_t study;
    char who[HTTP_WHO];
    double until; /* seconds on a clock that only goes forward */
  } held[HTTP_TURNS];
  int n;
} http_turns;

/* Takes the turn of a study if nobody else has it, or has had it for too long. */
bool http_turns_take(http_turns *turns, int64_t study, const char *who, double now);
/* Ends what this one has; false: it had none. */
bool http_turns_end(http_turns *turns, const char *who);

#endif
