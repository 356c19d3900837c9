/* place.h - where a path leads, for writing: followed link by link, because a symbolic
 * link that somebody else has made could send what we write into any file of ours.
 *
 * Links of our own and of root are followed. The place is held by its folder, so that
 * nothing that happens to the path afterwards can move it.
 */
#ifndef FRONT_PLACE_H
#define FRONT_PLACE_H

#include <stdbool.h>
#include <sys/types.h>

#include "cocabo.h"

typedef struct front_place {
  int folder;     /* a descriptor, for openat and the like; -1: none */
  char name[256]; /* in it: of a file, of a folder, or of nothing yet; no link */
  bool in_proc;   /* it is a link of /proc, which only the kernel can follow */
} front_place;

/* COCABO_E_INVALID, with a sentence that names the link and its owner, or what is not
 * there. On success it is to be closed. */
cocabo_status front_place_find(front_place *place, const char *path, cocabo_error *err);
void front_place_close(front_place *place);

/* open(2) at the place: -1 with errno. ELOOP: a link was put there meanwhile. */
int front_place_open(const front_place *place, int flags, mode_t mode);

/* Both in one: a descriptor in *fd, with O_CLOEXEC. `what` begins the sentence if it
 * cannot be opened: "cannot write %s: ...". */
cocabo_status front_open_here(const char *what, const char *path, int flags, int *fd,
                              cocabo_error *err);

#endif
