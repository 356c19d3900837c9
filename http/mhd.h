/* mhd.h - libmicrohttpd, which is loaded when a server is started: nothing else of the
 * program needs it, and it brings ten other libraries with it. */
#ifndef HTTP_MHD_H
#define HTTP_MHD_H

#include <microhttpd.h>

#include "cocabo.h"

#define HTTP_MHD_FUNCTIONS(X)                                                          \
  X(MHD_start_daemon)                                                                  \
  X(MHD_stop_daemon)                                                                   \
  X(MHD_run)                                                                           \
  X(MHD_get_timeout)                                                                   \
  X(MHD_get_daemon_info)                                                               \
  X(MHD_get_connection_info)                                                           \
  X(MHD_lookup_connection_value)                                                       \
  X(MHD_create_response_from_buffer)                                                   \
  X(MHD_create_response_from_callback)                                                 \
  X(MHD_add_response_header)                                                           \
  X(MHD_queue_response)                                                                \
  X(MHD_destroy_response)                                                              \
  X(MHD_suspend_connection)                                                            \
  X(MHD_resume_connection)

/* Its functions, once they are loaded. */
#define HTTP_MHD_DECLARE(name)                                                         \
  __typeof__(&(name)) name; // NOLINT(bugprone-macro-parentheses)
typedef struct http_mhd {
  HTTP_MHD_FUNCTIONS(HTTP_MHD_DECLARE)
} http_mhd;
extern http_mhd mhd;

/* COCABO_E_STATE where it is not installed. */
cocabo_status http_mhd_load(cocabo_error *err);

#endif
