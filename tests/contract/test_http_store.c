/* The store behind a server of ours keeps the contract of every store: all of the suite
 * over a real cocabo serve --allow-store on a SQLite file. 77 (skipped) where there is
 * no server in this build. */
#include "contract/store_contract.h"

#include "cocabo_store.h"
#include "serve.h"

static served server;

static cocabo_status note(void *user, const char *name, cocabo_error *err) {
  char(*names)[32] = user;
  (void)err;
  for (int i = 0; i < 16; i++)
    if (!names[i][0]) {
      snprintf(names[i], sizeof names[i], "%s", name);
      break;
    }
  return COCABO_OK;
}

/* The same store, emptied. */
static cocabo_store *open_fresh_store(void) {
  cocabo_error err;
  cocabo_store *store = NULL;
  char names[16][32] = {0};
  if (cocabo_store_open(&store, server.url, COCABO_STORE_CREATE, &err) != COCABO_OK)
    fail_msg("%s", err.message);
  assert_ok(store->ops->list(store, note, names, &err));
  for (int i = 0; i < 16 && names[i][0]; i++)
    assert_ok(store->ops->remove(store, names[i], &err));
  return store;
}

int main(void) {
  enum { SKIPPED = 77 };
  if (!serve_begin(&server)) {
    serve_end(&server);
    return SKIPPED;
  }
  const int failed = run_store_contract("store/http");
  serve_end(&server);
  return failed;
}
