/* place.c - follows a path one name at a time, and looks at each link before it follows
 * it. */
#define _GNU_SOURCE /* O_PATH */
#include "common/place.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "common/base.h"

enum { MOST_LINKS = 40, PATH_SIZE = 4096, PROC_FILES = 0x9fa0 };

typedef struct walk {
  const char *path;     /* as it was given */
  int folder;           /* where it has come to */
  char seen[PATH_SIZE]; /* the same as a text, for sentences */
  char rest[PATH_SIZE]; /* where it has to go from there */
  char name[256];       /* the next step */
  int links;
} walk;

static cocabo_status no_way(const walk *w, int why, cocabo_error *err) {
  char shown[CB_SHOWN];
  return cb_fail(err, COCABO_E_INVALID, "cannot write %s: %s",
                 cb_text_show(shown, w->path), strerror(why));
}

static void go_to(walk *w, int folder) {
  if (w->folder >= 0)
    close(w->folder);
  w->folder = folder;
}

static int start_of(const char *path) {
  return open(*path == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* Takes the next name off the rest; false: there is none, or it is too long. */
static bool next_name(walk *w) {
  const char *from = w->rest + strspn(w->rest, "/");
  const size_t size = strcspn(from, "/");
  if (size == 0 || size >= sizeof w->name)
    return false;
  memcpy(w->name, from, size);
  w->name[size] = '\0';
  from += size;
  from += strspn(from, "/");
  memmove(w->rest, from, strlen(from) + 1);
  return true;
}

static void note_step(walk *w) {
  const size_t used = strlen(w->seen);
  const bool slash = used > 0 && w->seen[used - 1] != '/';
  snprintf(w->seen + used, sizeof w->seen - used, "%s%s", slash ? "/" : "", w->name);
}

/* ---- links ----------------------------------------------------------------------- */

static cocabo_status refuse_link(const walk *w, uid_t owner, cocabo_error *err) {
  char shown[CB_SHOWN], digits[32];
  const struct passwd *user = getpwuid(owner);
  snprintf(digits, sizeof digits, "%lu", (unsigned long)owner);
  walk last = *w;
  note_step(&last);
  return cb_fail(err, COCABO_E_INVALID,
                 "\"%s\" is a symbolic link of %s, want one of your own, or the place "
                 "that it leads to",
                 cb_text_show(shown, last.seen), user ? user->pw_name : digits);
}

/* Puts where the link leads in front of the rest. */
static int redirect(walk *w, int link) {
  char target[PATH_SIZE], joined[2 * PATH_SIZE];
  const ssize_t size = readlinkat(link, "", target, sizeof target - 1);
  if (size < 0)
    return errno;
  target[size] = '\0';
  const int length =
      snprintf(joined, sizeof joined, "%s%s%s", target, *w->rest ? "/" : "", w->rest);
  if (++w->links > MOST_LINKS)
    return ELOOP;
  if (length >= (int)sizeof w->rest)
    return ENAMETOOLONG;
  strcpy(w->rest, joined);
  if (*target == '/') {
    go_to(w, start_of(target));
    strcpy(w->seen, "/");
  }
  return 0;
}

static bool is_in_proc(int fd) {
  struct statfs info;
  return fstatfs(fd, &info) == 0 && info.f_type == PROC_FILES;
}

/* ---- steps ----------------------------------------------------------------------- */

static void arrive(walk *w, front_place *place, bool in_proc) {
  *place = (front_place){.folder = w->folder, .in_proc = in_proc};
  strcpy(place->name, w->name);
  w->folder = -1;
}

/* The next name is a link. */
static cocabo_status follow(walk *w, int link, uid_t owner, front_place *place,
                            cocabo_error *err) {
  if (owner != geteuid() && owner != 0)
    return refuse_link(w, owner, err);
  if (is_in_proc(link)) {
    if (!*w->rest)
      arrive(w, place, true);
    else
      go_to(w, openat(w->folder, w->name, O_PATH | O_DIRECTORY | O_CLOEXEC));
    return COCABO_OK;
  }
  const int why = redirect(w, link);
  return why ? no_way(w, why, err) : COCABO_OK;
}

static cocabo_status step(walk *w, front_place *place, cocabo_error *err) {
  struct stat info;
  const int fd = openat(w->folder, w->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0 && errno == ENOENT && !*w->rest) {
    arrive(w, place, false);
    return COCABO_OK;
  }
  if (fd < 0 || fstat(fd, &info) != 0) {
    const int why = errno;
    if (fd >= 0)
      close(fd);
    return no_way(w, why, err);
  }
  if (S_ISLNK(info.st_mode)) {
    const cocabo_status status = follow(w, fd, info.st_uid, place, err);
    close(fd);
    return status;
  }
  if (*w->rest) {
    note_step(w);
    go_to(w, fd);
  } else {
    arrive(w, place, false);
    close(fd);
  }
  return COCABO_OK;
}

cocabo_status front_place_find(front_place *place, const char *path,
                               cocabo_error *err) {
  *place = (front_place){.folder = -1};
  walk w = {.path = path, .folder = -1};
  if (strlen(path) >= sizeof w.rest)
    return no_way(&w, ENAMETOOLONG, err);
  strcpy(w.rest, path);
  strcpy(w.seen, *path == '/' ? "/" : "");
  w.folder = *path ? start_of(path) : -1;
  cocabo_status status = w.folder >= 0 ? COCABO_OK : no_way(&w, ENOENT, err);
  while (status == COCABO_OK && place->folder < 0) {
    if (w.folder < 0)
      status = no_way(&w, ENOTDIR, err);
    else if (!*(w.rest + strspn(w.rest, "/"))) {
      strcpy(w.name, "."); /* all of it was slashes */
      arrive(&w, place, false);
    } else if (!next_name(&w))
      status = no_way(&w, ENAMETOOLONG, err);
    else
      status = step(&w, place, err);
  }
  go_to(&w, -1);
  return status;
}

void front_place_close(front_place *place) {
  if (place->folder >= 0)
    close(place->folder);
  place->folder = -1;
}

/* ---- opening --------------------------------------------------------------------- */

int front_place_open(const front_place *place, int flags, mode_t mode) {
  return openat(place->folder, place->name,
                flags | O_CLOEXEC | (place->in_proc ? 0 : O_NOFOLLOW), mode);
}

cocabo_status front_open_here(const char *what, const char *path, int flags, int *fd,
                              cocabo_error *err) {
  enum { TRIES = 10 };
  *fd = -1;
  errno = ELOOP;
  for (int i = 0; i < TRIES && *fd < 0 && errno == ELOOP; i++) {
    front_place place;
    CB_TRY(front_place_find(&place, path, err));
    *fd = front_place_open(&place, flags, 0666);
    const int why = errno;
    front_place_close(&place);
    errno = why;
  }
  return *fd >= 0 ? COCABO_OK
                  : cb_fail(err, COCABO_E_STORE, "cannot %s %s: %s", what, path,
                            strerror(errno));
}
