/* outfile.c - files of results: locking, appending, and replacing by a rename of a
 * finished copy. */
#include "common/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
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

static cocabo_status lock_regular(const char *path, int fd, cocabo_error *err) {
  struct stat status;
  if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
    return cb_fail(err, COCABO_E_INVALID, "%s is not a regular file, want one", path);
  if (!lock_file(fd))
    return cb_fail(err, COCABO_E_BUSY, "another process is writing %s", path);
  return COCABO_OK;
}

static cocabo_status open_locked(front_outfile *file, cocabo_error *err) {
  CB_TRY(front_place_find(&file->place, file->path, err));
  file->fd = front_place_open(&file->place, O_RDWR | O_CREAT | O_APPEND, 0666);
  if (file->fd < 0)
    return fail_on(file->path, COCABO_E_INVALID, "write", err);
  return lock_regular(file->path, file->fd, err);
}

/* Does the place still name the file behind fd? Its last owner may have replaced it
 * between our open and our lock. */
static bool still_names(const front_outfile *file) {
  struct stat named, held;
  const int follow = file->place.in_proc ? 0 : AT_SYMLINK_NOFOLLOW;
  return fstatat(file->place.folder, file->place.name, &named, follow) == 0 &&
         fstat(file->fd, &held) == 0 && named.st_ino == held.st_ino &&
         named.st_dev == held.st_dev;
}

static void let_go(front_outfile *file) {
  if (file->fd >= 0)
    close(file->fd);
  file->fd = -1;
  front_place_close(&file->place);
}

cocabo_status front_outfile_open(front_outfile *file, const char *path,
                                 cocabo_error *err) {
  *file = (front_outfile){.path = cb_strdup(path), .place = {.folder = -1}, .fd = -1};
  if (!file->path)
    return cb_no_memory(err);
  cocabo_status status = open_locked(file, err);
  while (status == COCABO_OK && !still_names(file)) {
    let_go(file);
    status = open_locked(file, err);
  }
  if (status != COCABO_OK)
    front_outfile_close(file);
  return status;
}

void front_outfile_close(front_outfile *file) {
  let_go(file);
  cb_free(file->path);
  *file = (front_outfile){.place = {.folder = -1}, .fd = -1};
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
  const int folder = file->place.folder;
  if (fstat(file->fd, &old) != 0)
    return -1;
  unlinkat(folder, name, 0); /* left by a process of our number that was killed */
  const int fd =
      openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
  if (fd >= 0 && fchmod(fd, old.st_mode & 0777) != 0) {
    close(fd);
    return -1;
  }
  return fd;
}

/* The rename itself must survive a power cut too. */
static void sync_folder(int folder) {
  const int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd >= 0) {
    fsync(fd);
    close(fd);
  }
}

cocabo_status front_outfile_replace(front_outfile *file, const front_buffer *text,
                                    cocabo_error *err) {
  char name[sizeof file->place.name + 32];
  const int folder = file->place.folder;
  snprintf(name, sizeof name, "%s.cocabo-%ld", file->place.name, (long)getpid());
  const int fd = open_beside(file, name);
  if (fd < 0)
    return fail_on(file->path, COCABO_E_STORE, "replace", err);
  /* Locked before it gets the name, so that the name is locked all the time. */
  if (!lock_file(fd) || !write_all(fd, text->data, text->size) || fsync(fd) != 0 ||
      renameat(folder, name, folder, file->place.name) != 0) {
    fail_on(file->path, COCABO_E_STORE, "replace", err);
    close(fd);
    unlinkat(folder, name, 0);
    return COCABO_E_STORE;
  }
  sync_folder(folder);
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
    unlinkat(file.place.folder, file.place.name, 0);
  front_outfile_close(&file);
  return status;
}
