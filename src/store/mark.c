/* mark.c - see mark.h. How pages and frames lie in the files is part of SQLite's file
 * format (https://www.sqlite.org/fileformat2.html), which does not change. */
#include "store/mark.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/status.h"
#include "base/text.h"

enum {
  NAME = 7 + 32, /* "cocabo " and 128 bits in hexadecimal */
  DIGITS = 20,   /* of the count, after a space */
  LENGTH = NAME + 1 + DIGITS,
  LOG_HEAD = 32,   /* bytes before the first frame of a log */
  FRAME_HEAD = 24, /* bytes before the page of a frame */
  SMALLEST = 512,
  LARGEST = 65536 /* page */
};

/* substr counts from 1. */
const char cb_mark_sql[] = "UPDATE file SET mark = substr(mark, 1, 40) || "
                           "printf('%020d', 1 + CAST(substr(mark, 41) AS INTEGER))";

typedef struct mark {
  char name[NAME + 1];
  int64_t count;
} mark;

static uint32_t big_endian(const unsigned char *b) {
  return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

/* A leaf of a table with one row, whose one column is a text of LENGTH bytes. */
static bool read_mark(const unsigned char *page, size_t size, mark *out) {
  static const unsigned char row[] = {3 + LENGTH, 1, 3, 0x81, 2 * LENGTH + 13 - 128};
  const size_t at = (size_t)page[8] << 8 | page[9];
  if (page[0] != 13 || page[3] != 0 || page[4] != 1 ||
      at + sizeof row + LENGTH > size || memcmp(page + at, row, sizeof row) != 0)
    return false;
  const char *text = (const char *)page + at + sizeof row;
  char digits[DIGITS + 1] = "";
  memcpy(out->name, text, NAME);
  memcpy(digits, text + NAME + 1, DIGITS);
  out->name[NAME] = '\0';
  out->count = strtoll(digits, NULL, 10);
  return strncmp(text, "cocabo ", 7) == 0 && strspn(digits, "0123456789") == DIGITS;
}

/* ---- the log --------------------------------------------------------------------- */

typedef struct wal {
  int fd;
  uint32_t page_size;
  unsigned char salts[8]; /* frames that have others are left over from before */
  unsigned char *frame;   /* FRAME_HEAD + page_size */
} wal;

static bool read_at(int fd, void *to, size_t n, off_t at) {
  return pread(fd, to, n, at) == (ssize_t)n;
}

static bool read_head(wal *log) {
  unsigned char head[LOG_HEAD];
  if (!read_at(log->fd, head, sizeof head, 0) ||
      (big_endian(head) & ~1u) != 0x377F0682u)
    return false;
  log->page_size = big_endian(head + 8);
  memcpy(log->salts, head + 16, sizeof log->salts);
  return log->page_size >= SMALLEST && log->page_size <= LARGEST;
}

/* The mark of the log's first commit, and in which page it is. False: it has none. */
static bool first_mark(const wal *log, mark *out, uint32_t *page) {
  const size_t size = FRAME_HEAD + log->page_size;
  for (off_t at = LOG_HEAD; read_at(log->fd, log->frame, size, at); at += (off_t)size) {
    if (memcmp(log->frame + 8, log->salts, sizeof log->salts) != 0)
      return false;
    *page = big_endian(log->frame);
    if (read_mark(log->frame + FRAME_HEAD, log->page_size, out))
      return true;
    if (big_endian(log->frame + 4) != 0) /* the commit ends here */
      return false;
  }
  return false;
}

/* ---- the file -------------------------------------------------------------------- */

/* By the file that SQLite has open: closing another would end its locks. */
static bool file_mark(const cb_database *db, const wal *log, uint32_t page, mark *out) {
  sqlite3_file *file = NULL;
  if (sqlite3_file_control(db->handle, "main", SQLITE_FCNTL_FILE_POINTER, &file) !=
          SQLITE_OK ||
      !file || !file->pMethods)
    return false;
  const sqlite3_int64 at = (sqlite3_int64)(page - 1) * log->page_size;
  return file->pMethods->xRead(file, log->frame, (int)log->page_size, at) ==
             SQLITE_OK &&
         read_mark(log->frame, log->page_size, out);
}

/* The log is read first: the file only ever catches up with it. */
static bool belongs(const cb_database *db, const wal *log) {
  mark in_log, in_file;
  uint32_t page = 0;
  if (!first_mark(log, &in_log, &page) || page == 0)
    return true; /* of version 0.1.0, or empty */
  if (!file_mark(db, log, page, &in_file))
    return in_log.count == 1; /* the log has the beginning */
  return strcmp(in_log.name, in_file.name) == 0 && in_log.count - in_file.count <= 1;
}

static cocabo_status refuse(const cb_database *db, cocabo_error *err) {
  char path[CB_SHOWN];
  cb_text_show(path, db->path);
  return cb_fail(err, COCABO_E_STORE,
                 "\"%s-wal\" is not of \"%s\", which was replaced while it was left "
                 "behind: to use the file as it is, move the -wal and the -shm away",
                 path, path);
}

static bool looks_wrong(const cb_database *db, wal *log, bool *no_memory) {
  if (!read_head(log))
    return false;
  log->frame = cb_calloc(FRAME_HEAD + log->page_size, 1);
  *no_memory = !log->frame;
  const bool wrong = log->frame && !belongs(db, log);
  cb_free(log->frame);
  return wrong;
}

/* Others may be writing what we read, without a lock: what is wrong stays so. */
cocabo_status cb_mark_check(cb_database *db, cocabo_error *err) {
  enum { TRIES = 5 };
  const char *name = sqlite3_db_filename(db->handle, "main");
  const char *beside = name && *name ? sqlite3_filename_wal(name) : NULL;
  wal log = {.fd = beside && *beside ? open(beside, O_RDONLY | O_CLOEXEC) : -1};
  bool no_memory = false;
  int wrong = 0;
  if (log.fd < 0)
    return COCABO_OK;
  while (wrong < TRIES && looks_wrong(db, &log, &no_memory)) {
    wrong++;
    nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
  }
  close(log.fd);
  if (no_memory)
    return cb_no_memory(err);
  return wrong < TRIES ? COCABO_OK : refuse(db, err);
}
