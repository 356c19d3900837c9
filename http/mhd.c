/* mhd.c - loads libmicrohttpd. */
#include "http/mhd.h"

#include <dlfcn.h>
#include <string.h>

#include "common/base.h"

http_mhd mhd;

/* It stays loaded: a server may run until the process ends. */
cocabo_status http_mhd_load(cocabo_error *err) {
  static const char name[] = "libmicrohttpd.so.12";
  void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return cb_fail(err, COCABO_E_STATE,
                   "%s cannot be loaded, which cocabo serve needs (Debian's "
                   "libmicrohttpd12)",
                   name);
#define FIND(function)                                                                 \
  {                                                                                    \
    void *found = dlsym(library, #function);                                           \
    if (!found)                                                                        \
      return cb_fail(err, COCABO_E_STATE, "%s has no %s", name, #function);            \
    memcpy(&mhd.function, &found, sizeof found);                                       \
  }
  HTTP_MHD_FUNCTIONS(FIND)
#undef FIND
  return COCABO_OK;
}
