/* http.h - studies behind a server of cocabo's (cocabo serve --allow-store); the
 * operations of store/store.h. */
#ifndef CB_STORE_HTTP_H
#define CB_STORE_HTTP_H

#include "cocabo.h"
#include "store/patience.h"

/* The URL is http://host:port; a token is taken from the environment (base/token.h).
 * flags as in cocabo_store_open. A server that is away for longer than the patience
 * lasts is COCABO_E_STORE. *out is owned by the caller. */
cocabo_status cb_http_open(cocabo_store **out, const char *url, unsigned flags,
                           cb_patience patience, cocabo_error *err);

#endif
