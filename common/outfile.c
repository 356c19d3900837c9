/* outfile.c - files of results: locking, appending, and replacing by a rename of a
 * finished copy. */
#define _XOPEN_SOURCE 700 /* realpath */

#include "common/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base.h"

static cocabo_status fail_on(const char *path, cocabo_status code, const char *verb,
                             cocabo_error *err) {
  return cb_fail(err, code, "cannot %s %s: %s", verb, path, strerror(errno));
}

/* A file system without locks is used without them. */
static bool lock_file(int fd) {
  const struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  return fcntl(fd, F_SETLK, &whole) == 0 || (errno != EACCES && errno != EAGAIN);
}

/* ---- opening -------------------------------------------------------------------- */

static cocabo_status open_locked(const char *path, int *out, cocabo_error *err) {
  const int fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  struct stat status;
  if (fd < 0)
    return fail_on(path, COCABO_E_INVALID, "write", err);
  if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
    close(fd);
    return cb_fail(err, COCABO_E_INVALID, "%s is not a regular file, want one", path);
  }
  if (!lock_file(fd)) {
    close(fd);
    return cb_fail(err, COCABO_E_BUSY, "another process is writing %s", path);
  }
  *out = fd;
  return COCABO_OK;
}

/* Does the path still name the file behind fd? Its last owner may have replaced it
 * between our open and our lock. */
static bool still_names(const char *path, int fd) {
  struct stat named, held;
  return stat(path, &named) == 0 && fstat(fd, &held) == 0 &&
         named.st_ino == held.st_ino && named.st_dev == held.st_dev;
}

cocabo_status front_outfile_open(front_outfile *file, const char *path,
                                 cocabo_error *err) {
  *file = (front_outfile){.fd = -1};
  CB_TRY(open_locked(path, &file->fd, err));
  while (!still_names(path, file->fd)) {
    close(file->fd);
    file->fd = -1;
    CB_TRY(open_locked(path, &file->fd, err));
  }
  file->path = realpath(path, NULL);
  if (!file->path) {
    fail_on(path, COCABO_E_INVALID, "find", err);
    front_outfile_close(file);
    return COCABO_E_INVALID;
  }
  return COCABO_OK;
}

void front_outfile_close(front_outfile *file) {
  if (file->fd >= 0)
    close(file->fd);
  free(file->path); /* realpath's */
  *file = (front_outfile){.fd = -1};
}

/* ---- reading and writing -------------------------------------------------------- */

cocabo_status front_read_up_to(int fd, const char *path, size_t most,
                               front_buffer *text, cocabo_error *err) {
  char piece[1 << 16];
  while (text->size <= most) {
    const ssize_t size = read(fd, piece, sizeof piece);
    if (size == 0)
      return COCABO_OK;
    if (size < 0 && errno == EINTR)
      continue;
    if (size < 0)
      return fail_on(path, COCABO_E_INVALID, "read", err);
    CB_TRY(front_buffer_append(text, piece, (size_t)size, err));
  }
  return COCABO_OK;
}

cocabo_status front_read_all(int fd, const char *path, front_buffer *text,
                             cocabo_error *err) {
  return front_read_up_to(fd, path, SIZE_MAX - 1, text, err);
}

static bool write_all(int fd, const char *text, size_t size) {
  while (size > 0) {
    const ssize_t written = write(fd, text, size);
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return false;
    text += written;
    size -= (size_t)written;
  }
  return true;
}

cocabo_status front_outfile_append(front_outfile *file, const char *text, size_t size,
                                   cocabo_error *err) {
  if (!write_all(file->fd, text, size))
    return fail_on(file->path, COCABO_E_STORE, "write", err);
  return COCABO_OK;
}

/* ---- replacing ------------------------------------------------------------------ */

/* A fresh file beside the old one, with its permissions. */
static int open_beside(const front_outfile *file, const char *name) {
  struct stat old;
  if (fstat(file->fd, &old) != 0)
    return -1;
  unlink(name); /* left by a process of our number that was killed */
  const int fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
  if (fd >= 0 && fchmod(fd, old.st_mode & 0777) != 0) {
    close(fd);
    return -1;
  }
  return fd;
}

/* The rename itself must survive a power cut too. */
static void sync_folder(const char *path) {
  char folder[4096];
  const int size = (int)(strrchr(path, '/') - path);
  snprintf(folder, sizeof folder, "%.*s/", size, path);
  const int fd = open(folder, O_RDONLY | O_CLOEXEC);
  if (fd >= 0) {
    fsync(fd);
    close(fd);
  }
}

cocabo_status front_outfile_replace(front_outfile *file, const front_buffer *text,
                                    cocabo_error *err) {
  char name[4096];
  snprintf(name, sizeof name, "%s.cocabo-%ld", file->path, (long)getpid());
  const int fd = open_beside(file, name);
  if (fd < 0)
    return fail_on(name, COCABO_E_STORE, "create", err);
  /* Locked before it gets the name, so that the name is locked all the time. */
  if (!lock_file(fd) || !write_all(fd, text->data, text->size) || fsync(fd) != 0 ||
      rename(name, file->path) != 0) {
    fail_on(file->path, COCABO_E_STORE, "replace", err);
    close(fd);
    unlink(name);
    return COCABO_E_STORE;
  }
  sync_folder(file->path);
  close(file->fd);
  file->fd = fd;
  return COCABO_OK;
}

/* A file that this call created does not stay behind empty. */
cocabo_status front_outfile_write(const char *path, const front_buffer *text,
                                  cocabo_error *err) {
  const bool existed = access(path, F_OK) == 0;
  front_outfile file;
  CB_TRY(front_outfile_open(&file, path, err));
  const cocabo_status status = front_outfile_replace(&file, text, err);
  if (status != COCABO_OK && !existed)
    unlink(file.path);
  front_outfile_close(&file);
  return status;
}
