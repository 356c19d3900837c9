/* door.h - a store that is asked in the words of wire.h: the server's side.
 *
 * This is all that http/ sees of a store's operations. Who may ask is decided there: a
 * caller can do what a program with the file open could, which is to write, in the name
 * of anybody, whatever events can be read back, a study's command among them.
 */
#ifndef CB_STORE_DOOR_H
#define CB_STORE_DOOR_H

#include <stddef.h>

#include "cocabo.h"

/* Of the words that it understands. */
int cb_door_version(void);

/* Most bytes of a question, and of its answer. */
size_t cb_door_most(void);

/* Does what the text asks for and gives the answer: *answer, owned by the caller, has
 * `*length` bytes. A failure's answer says so too, with its code; only without memory
 * for that *answer is NULL. Returns what became of it: COCABO_E_INVALID is a question
 * that cannot be understood, everything else is what the store says. */
cocabo_status cb_door_answer(cocabo_store *store, const char *call, const char *text,
                             size_t size, char **answer, size_t *length);

#endif
