/* outfile.h - the file that results go to: locked, appended to in whole runs, and
 * replaced at one stroke.
 *
 * Whatever moment the process dies at, the path names either the old text or the new
 * one, and appended text loses at most its end. A second process on the same file is
 * turned away, because the two would replace each other's results. So is a path that
 * leads through a symbolic link of somebody else (place.h).
 */
#ifndef FRONT_OUTFILE_H
#define FRONT_OUTFILE_H

#include "cocabo.h"
#include "common/buffer.h"
#include "common/place.h"

typedef struct front_outfile {
  char *path;        /* as it was given, for sentences; owned */
  front_place place; /* where it is, whatever becomes of the path */
  int fd;            /* locked */
} front_outfile;

/* Opens, creating it if there is none, and locks. COCABO_E_BUSY if another process has
 * it, COCABO_E_INVALID if it cannot be written or is not a regular file. */
cocabo_status front_outfile_open(front_outfile *file, const char *path,
                                 cocabo_error *err);
void front_outfile_close(front_outfile *file);

cocabo_status front_outfile_append(front_outfile *file, const char *text, size_t size,
                                   cocabo_error *err);
/* A new file beside it, synced, then renamed onto it. */
cocabo_status front_outfile_replace(front_outfile *file, const front_buffer *text,
                                    cocabo_error *err);

/* All of it in one call: the path names the whole new text or what it named before. */
cocabo_status front_outfile_write(const char *path, const front_buffer *text,
                                  cocabo_error *err);

/* The whole text behind a descriptor; path is for the sentence. */
cocabo_status front_read_all(int fd, const char *path, front_buffer *text,
                             cocabo_error *err);
/* The same, but it stops soon after `most` bytes: what is larger than was wanted need
 * not be in memory to be refused. */
cocabo_status front_read_up_to(int fd, const char *path, size_t most,
                               front_buffer *text, cocabo_error *err);

#endif
