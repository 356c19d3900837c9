/* turns.c - see turns.h. */
#include "http/turns.h"

#include <stdio.h>
#include <string.h>

bool http_turns_end(http_turns *turns, const char *who) {
  bool had = false;
  for (int i = turns->n - 1; i >= 0; i--)
    if (strcmp(turns->held[i].who, who) == 0) {
      turns->held[i] = turns->held[--turns->n];
      had = true;
    }
  return had;
}

static void drop_old(http_turns *turns, double now) {
  for (int i = turns->n - 1; i >= 0; i--)
    if (turns->held[i].until <= now)
      turns->held[i] = turns->held[--turns->n];
}

bool http_turns_take(http_turns *turns, int64_t study, const char *who, double now) {
  drop_old(turns, now);
  for (int i = 0; i < turns->n; i++)
    if (turns->held[i].study == study)
      return strcmp(turns->held[i].who, who) == 0;
  (void)http_turns_end(turns, who); /* one is enough */
  if (turns->n == HTTP_TURNS)
    return true; /* nobody knows of it, and nothing depends on it */
  struct http_turn *turn = &turns->held[turns->n++];
  turn->study = study;
  turn->until = now + HTTP_TURN_LASTS;
  snprintf(turn->who, sizeof turn->who, "%s", who);
  return true;
}
