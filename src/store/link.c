/* link.c - a connection to a server of cocabo.
 *
 * What is sent and received is waited for in short steps, so that the caller can be
 * asked whether to go on. What was sent and not answered has an unknown outcome: it is
 * sent again on the next connection. The kernel's own timeouts end a connection whose
 * other end is gone, and silence of a minute does.
 */
#include "store/link.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/status.h"
#include "base/text.h"
#include "base/token.h"
#include "store/clock.h"

static const double step = 0.1;    /* seconds between two questions whether to go on */
static const double hurried = 3.0; /* at most, where it is done beside other work */
static const double connecting = 5.0; /* for one address */
static const double silence = 60.0;   /* after which nobody is there */
static const double idle = 8.0;       /* a server may hang up after longer */
static const double slowest = 8192.0; /* bytes a second of an answer, on the whole */

/* ---- URLs ------------------------------------------------------------------------ */

static cocabo_status bad_url(const char *why, cocabo_error *err) {
  return cb_fail(err, COCABO_E_INVALID,
                 "the URL of the server %s, want http://host:8080", why);
}

static cocabo_status read_port(cb_link *link, const char *text, cocabo_error *err) {
  int64_t port;
  if (strspn(text, "0123456789") != strlen(text) || !cb_parse_int(text, &port) ||
      port < 1 || port > 65535)
    return bad_url("has a port that is no number from 1 to 65535", err);
  snprintf(link->port, sizeof link->port, "%d", (int)port);
  return COCABO_OK;
}

/* What a name or a number may hold. */
static bool is_host(const char *text, size_t size, bool brackets) {
  for (size_t i = 0; i < size; i++) {
    const char c = text[i];
    const bool common =
        (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
    if (!common && !strchr(brackets ? ":.%" : "-._", c))
      return false;
  }
  return size > 0 && size < CB_LINK_HOST;
}

/* "host:8080", "[::1]:8080", perhaps with a slash behind it. Where there is no port it
 * is that of cocabo serve. What might be a secret is not quoted. */
static cocabo_status read_place(cb_link *link, const char *rest, cocabo_error *err) {
  char place[CB_LINK_HOST + 16];
  const size_t size = strcspn(rest, "/?#");
  if (memchr(rest, '@', strlen(rest)))
    return cb_fail(err, COCABO_E_INVALID,
                   "the URL of the server has a user or a password, want "
                   "http://host:8080, and the token in COCABO_TOKEN");
  if (rest[size] && strcmp(rest + size, "/") != 0)
    return bad_url("has something behind its host and port", err);
  if (size >= sizeof place)
    return bad_url("is too long", err);
  memcpy(place, rest, size);
  place[size] = '\0';
  const bool six = place[0] == '[';
  char *end = six ? strchr(place, ']') : strchr(place, ':');
  if (six && !end)
    return bad_url("has a [ without a ]", err);
  const char *host = place + six;
  const size_t length = end ? (size_t)(end - host) : strlen(host);
  const char *port = !end ? "" : six ? end + 1 : end;
  if (!is_host(host, length, six))
    return bad_url("has no host", err);
  if (*port && *port != ':')
    return bad_url("has something between ] and its port", err);
  memcpy(link->host, host, length);
  link->host[length] = '\0';
  CB_TRY(read_port(link, *port ? port + 1 : "8080", err));
  snprintf(link->where, sizeof link->where, "%s%s%s:%s", six ? "[" : "", link->host,
           six ? "]" : "", link->port);
  return COCABO_OK;
}

static cocabo_status begin(cb_link *link, cb_patience patience, cocabo_error *err) {
  link->socket = -1;
  link->patience = patience;
  link->what = "open";
  return cb_answer_reserve(&link->answer, CB_ANSWER_HEAD, err);
}

cocabo_status cb_link_open(cb_link *link, const char *url, cb_patience patience,
                           cocabo_error *err) {
  static const char scheme[] = "http://";
  *link = (cb_link){.socket = -1};
  if (strncasecmp(url, scheme, sizeof scheme - 1) != 0)
    return bad_url("has another scheme", err);
  CB_TRY(read_place(link, url + sizeof scheme - 1, err));
  CB_TRY(cb_token_find(&link->token, err));
  const cocabo_status status = begin(link, patience, err);
  if (status != COCABO_OK)
    cb_link_close(link);
  return status;
}

cocabo_status cb_link_copy(cb_link *link, const cb_link *from, cb_patience patience,
                           cocabo_error *err) {
  *link = (cb_link){.socket = -1};
  memcpy(link->host, from->host, sizeof link->host);
  memcpy(link->port, from->port, sizeof link->port);
  memcpy(link->where, from->where, sizeof link->where);
  if (from->token && !(link->token = cb_strdup(from->token)))
    return cb_no_memory(err);
  const cocabo_status status = begin(link, patience, err);
  if (status != COCABO_OK)
    cb_link_close(link);
  return status;
}

void cb_link_drop(cb_link *link) {
  if (link->socket >= 0)
    close(link->socket);
  link->socket = -1;
}

void cb_link_close(cb_link *link) {
  cb_link_drop(link);
  cb_free(link->token);
  link->token = NULL;
  cb_answer_free(&link->answer);
}

/* ---- waiting --------------------------------------------------------------------- */

static bool is_interrupted(const cb_link *link) {
  return link->interrupt && link->interrupt(link->user);
}

static cocabo_status stopped(const cb_link *link, cocabo_error *err) {
  return cb_fail(err, COCABO_E_INTERRUPTED,
                 "cannot %s http://%s: stopped waiting for it", link->what,
                 link->where);
}

/* Something is under way since then: is it still wanted? */
static bool is_unwanted(cb_link *link, double since) {
  const cocabo_waiting how = {0};
  if (is_interrupted(link))
    return true;
  const double waited = cb_clock_boot() - since;
  if (link->hurry)
    return waited > hurried;
  if (!link->patience.wait || waited < 1.0)
    return false;
  link->asked = true;
  return link->patience.wait(link->patience.user, &how) != 0;
}

/* Is the caller still willing to wait for a server that is away? */
static bool goes_on(cb_link *link, double since) {
  const cocabo_waiting how = {.seconds = cb_clock_boot() - since};
  if (link->hurry)
    return false;
  if (!link->patience.wait)
    return how.seconds <= link->patience.seconds;
  link->asked = true;
  return link->patience.wait(link->patience.user, &how) == 0;
}

static void say_over(cb_link *link, double since) {
  const cocabo_waiting how = {.seconds = cb_clock_boot() - since, .over = 1};
  if (link->patience.wait)
    link->patience.wait(link->patience.user, &how);
  link->asked = false;
}

/* A number in [0.5, 1.5) from the clock: those who lost the server together shall not
 * come back together. */
static double spread(void) {
  struct timespec now = {0};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return 0.5 + (double)((uint64_t)now.tv_nsec * 2654435761u % 1000) / 1000.0;
}

static void pause_for(double seconds) {
  nanosleep(&(struct timespec){.tv_nsec = (long)(1e9 * fmin(seconds, 0.99))}, NULL);
}

/* Until the socket can be read (or written), or a step is over. */
static void wait_for_socket(const cb_link *link, short events) {
  struct pollfd p = {.fd = link->socket, .events = events};
  (void)poll(&p, 1, (int)(1e3 * step));
}

/* Remembers why, for the sentence when nobody waits any more. COCABO_E_BUSY: it may go
 * better the next time. */
static cocabo_status broke(cb_link *link, const char *why) {
  snprintf(link->failed, sizeof link->failed, "%s", why);
  cb_link_drop(link);
  return COCABO_E_BUSY;
}

static cocabo_status fail(const cb_link *link, cocabo_error *err) {
  return cb_fail(err, COCABO_E_STORE,
                 "cannot %s http://%s: %s; want a cocabo serve "
                 "--allow-store that runs there",
                 link->what, link->where, link->failed);
}

/* ---- connecting ------------------------------------------------------------------ */

/* A question is small and wants its answer at once; a machine that is gone is noticed.
 */
static void set_options(int fd) {
  const struct {
    int level, name, value;
  } options[] = {
      {IPPROTO_TCP, TCP_NODELAY, 1},   {SOL_SOCKET, SO_KEEPALIVE, 1},
      {IPPROTO_TCP, TCP_KEEPIDLE, 10}, {IPPROTO_TCP, TCP_KEEPINTVL, 5},
      {IPPROTO_TCP, TCP_KEEPCNT, 3},   {IPPROTO_TCP, TCP_USER_TIMEOUT, 15000}};
  for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
    (void)setsockopt(fd, options[i].level, options[i].name, &options[i].value,
                     sizeof options[i].value);
}

/* One address. */
static cocabo_status reach(cb_link *link, const struct addrinfo *a, cocabo_error *err) {
  const double since = cb_clock_boot();
  link->socket = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK,
                        a->ai_protocol);
  if (link->socket < 0)
    return broke(link, strerror(errno));
  set_options(link->socket);
  int failed = connect(link->socket, a->ai_addr, a->ai_addrlen) == 0 ? 0 : errno;
  while (failed == EINPROGRESS || failed == EINTR) {
    struct pollfd p = {.fd = link->socket, .events = POLLOUT};
    socklen_t size = sizeof failed;
    const int ready = poll(&p, 1, (int)(1e3 * step));
    if (ready > 0 &&
        getsockopt(link->socket, SOL_SOCKET, SO_ERROR, &failed, &size) == 0)
      break;
    if (is_unwanted(link, since)) {
      cb_link_drop(link);
      return stopped(link, err);
    }
    if (cb_clock_boot() - since > connecting)
      failed = ETIMEDOUT;
    else
      failed = EINPROGRESS;
  }
  return failed == 0 ? COCABO_OK : broke(link, strerror(failed));
}

/* One try, of all addresses that the name has. */
static cocabo_status try_connect(cb_link *link, cocabo_error *err) {
  const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG};
  struct addrinfo *found = NULL;
  const int failed = getaddrinfo(link->host, link->port, &hints, &found);
  if (failed == EAI_MEMORY)
    return cb_no_memory(err);
  if (failed != 0)
    return broke(link, gai_strerror(failed));
  cocabo_status status = broke(link, "its name has no address");
  for (const struct addrinfo *a = found; a && status == COCABO_E_BUSY; a = a->ai_next)
    status = reach(link, a, err);
  freeaddrinfo(found);
  if (status == COCABO_OK)
    link->used = cb_clock_boot();
  return status;
}

/* ---- asking ---------------------------------------------------------------------- */

typedef struct question {
  char head[CB_TOKEN_MAX + CB_LINK_WHERE + 512];
  size_t head_size;
  const char *text;
  size_t size;
} question;

static void write_head(const cb_link *link, const char *method, const char *path,
                       question *q) {
  const bool posts = strcmp(method, "POST") == 0;
  char content[80] = "";
  if (posts)
    snprintf(content, sizeof content,
             "Content-Type: application/json\r\nContent-Length: %zu\r\n", q->size);
  const int n =
      snprintf(q->head, sizeof q->head,
               "%s %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: cocabo\r\n"
               "Accept: application/json\r\n%s%s%s%s\r\n",
               method, path, link->where, link->token ? "Authorization: Bearer " : "",
               link->token ? link->token : "", link->token ? "\r\n" : "", content);
  q->head_size = (size_t)n;
}

/* Sends what can be sent now. COCABO_E_BUSY: the other end does not take it. */
static cocabo_status send_some(cb_link *link, const question *q, size_t *sent) {
  const size_t head = *sent < q->head_size ? q->head_size - *sent : 0;
  const size_t skip = *sent > q->head_size ? *sent - q->head_size : 0;
  struct iovec parts[] = {{(void *)(q->head + q->head_size - head), head},
                          {(void *)(q->text ? q->text + skip : ""), q->size - skip}};
  const struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
  const ssize_t n = sendmsg(link->socket, &message, MSG_NOSIGNAL);
  if (n >= 0)
    *sent += (size_t)n;
  return n >= 0 || errno == EAGAIN || errno == EINTR ? COCABO_OK : COCABO_E_BUSY;
}

/* Takes what has come. *over: the other end has closed the connection. */
static cocabo_status take_some(cb_link *link, bool *over, cocabo_error *err) {
  enum { PIECE = 4096 };
  cb_answer *a = &link->answer;
  if (a->capacity - a->size < PIECE)
    CB_TRY(cb_answer_reserve(a, PIECE, err));
  const ssize_t n = recv(link->socket, a->bytes + a->size, a->capacity - a->size, 0);
  if (n < 0 && (errno == EAGAIN || errno == EINTR))
    return COCABO_OK;
  *over = n <= 0;
  if (n > 0) {
    a->size += (size_t)n;
    link->used = cb_clock_boot();
  }
  const cocabo_status status = cb_answer_look(a, err);
  if (status == COCABO_OK || !err)
    return status;
  const cocabo_error why = *err;
  return status == COCABO_E_NO_MEMORY ? status
                                      : cb_fail(err, status, "cannot %s http://%s: %s",
                                                link->what, link->where, why.message);
}

static bool is_too_slow(const cb_link *link, double since) {
  const double now = cb_clock_boot();
  return now - link->used > silence ||
         now - since > 2.0 * silence + (double)link->answer.size / slowest;
}

/* Once, on a connection that is there. COCABO_E_BUSY: nobody knows what became of it.
 */
static cocabo_status exchange(cb_link *link, const question *q, cocabo_error *err) {
  const double since = cb_clock_boot();
  const size_t all = q->head_size + q->size;
  size_t sent = 0;
  bool over = false, deaf = false;
  link->used = since;
  while (!link->answer.done) {
    if (sent < all && !deaf) {
      const size_t before = sent;
      deaf = send_some(link, q, &sent) != COCABO_OK; /* it may still have answered */
      link->used = sent > before ? cb_clock_boot() : link->used;
    }
    if (sent < all && !deaf)
      wait_for_socket(link, POLLIN | POLLOUT);
    else
      wait_for_socket(link, POLLIN);
    CB_TRY(take_some(link, &over, err));
    if (over && !link->answer.done)
      return broke(link, link->answer.size > 0 ? "it broke off in its answer"
                                               : "it has closed the connection");
    if (is_unwanted(link, since))
      return stopped(link, err);
    if (is_too_slow(link, since))
      return broke(link, "it does not answer");
  }
  if (!link->answer.lasts || sent < all)
    cb_link_drop(link);
  return COCABO_OK;
}

/* Does it say that it only needs a moment? What the store itself says has a code. */
static bool is_passing(const cb_answer *a) {
  static const char code[] = "\"code\":";
  const char *text = cb_answer_content(a);
  if (a->status != 429 && (a->status < 502 || a->status > 504))
    return false;
  for (size_t i = 0; i + sizeof code <= a->content; i++)
    if (memcmp(text + i, code, sizeof code - 1) == 0)
      return false;
  return true;
}

static cocabo_status try_once(cb_link *link, const question *q, size_t expected,
                              cocabo_error *err) {
  if (link->socket >= 0 && cb_clock_boot() - link->used > idle)
    cb_link_drop(link);
  cb_answer_clear(&link->answer);
  CB_TRY(cb_answer_reserve(&link->answer, CB_ANSWER_HEAD + expected, err));
  if (link->socket < 0)
    CB_TRY(try_connect(link, err));
  link->retried = link->sent;
  link->sent = true;
  const cocabo_status status = exchange(link, q, err);
  if (status != COCABO_OK)
    cb_link_drop(link); /* what was sent may still be under way */
  if (status == COCABO_OK && is_passing(&link->answer))
    return broke(link, "it is busy");
  return status;
}

/* Tries again and again, with pauses of 20 ms at first and at most half a second, as
 * long as the caller is patient. */
cocabo_status cb_link_ask(cb_link *link, const char *method, const char *path,
                          const char *text, size_t size, size_t expected, bool first,
                          cocabo_error *err) {
  enum { TRIES = 3 };
  const double since = cb_clock_boot();
  double pause = 0.02;
  int tries = 0;
  question q = {.text = text, .size = size};
  write_head(link, method, path, &q);
  link->retried = link->sent = link->asked = false;
  for (;;) {
    const bool fresh = link->socket < 0;
    const cocabo_status status = try_once(link, &q, expected, err);
    if (status == COCABO_OK && link->asked)
      say_over(link, since);
    if (status != COCABO_E_BUSY)
      return status;
    if (is_interrupted(link))
      return stopped(link, err);
    if (!fresh)
      continue; /* it was an old connection, which the server may have ended */
    if (first && (!link->sent || ++tries == TRIES))
      return fail(link, err);
    if (!goes_on(link, since))
      return link->patience.wait && !link->hurry ? stopped(link, err) : fail(link, err);
    pause_for(pause * spread());
    pause = fmin(2.0 * pause, 0.5);
  }
}
