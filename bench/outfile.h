/* outfile.h - the file that results go to: locked, appended to in whole runs, and
 * replaced at one stroke.
 *
 * Whatever moment the process dies at, the path names either the old text or the new
 * one, and appended text loses at most its end. A second process on the same file is
 * turned away, because the two would replace each other's results.
 */
#ifndef BENCH_OUTFILE_H
#define BENCH_OUTFILE_H

#include "buffer.h"
#include "cocabo.h"

typedef struct bench_outfile {
  char *path; /* absolute, without symbolic links; owned */
  int fd;     /* locked */
} bench_outfile;

/* Opens, creating it if there is none, and locks. COCABO_E_BUSY if another process has
 * it, COCABO_E_INVALID if it cannot be written or is not a regular file. */
cocabo_status bench_outfile_open(bench_outfile *file, const char *path,
                                 cocabo_error *err);
void bench_outfile_close(bench_outfile *file);

cocabo_status bench_outfile_append(bench_outfile *file, const char *text, size_t size,
                                   cocabo_error *err);
/* A new file beside it, synced, then renamed onto it. */
cocabo_status bench_outfile_replace(bench_outfile *file, const bench_buffer *text,
                                    cocabo_error *err);

/* The whole text behind a descriptor; path is for the sentence. */
cocabo_status bench_read_all(int fd, const char *path, bench_buffer *text,
                             cocabo_error *err);

#endif
