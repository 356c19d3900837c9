/* The store in PostgreSQL keeps the contract of every store. COCABO_TEST_POSTGRES is
 * the URL of a database that may be emptied; 77 (skipped) where there is none, or where
 * PostgreSQL is not in this build. */
#include "contract/store_contract.h"

#include "cocabo_store.h"

static const char *url;

static cocabo_status drop(void *user, const char *name, cocabo_error *err) {
  char(*names)[32] = user;
  (void)err;
  for (int i = 0; i < 16; i++)
    if (!names[i][0]) {
      snprintf(names[i], sizeof names[i], "%s", name);
      break;
    }
  return COCABO_OK;
}

/* The same database, emptied. */
static cocabo_store *open_fresh_store(void) {
  cocabo_error err;
  cocabo_store *store = NULL;
  char names[16][32] = {0};
  if (cocabo_store_open(&store, url, COCABO_STORE_CREATE, &err) != COCABO_OK)
    fail_msg("%s", err.message);
  assert_ok(store->ops->list(store, drop, names, &err));
  for (int i = 0; i < 16 && names[i][0]; i++)
    assert_ok(store->ops->remove(store, names[i], &err));
  return store;
}

int main(void) {
  enum { SKIPPED = 77 };
  cocabo_error err;
  cocabo_store *store = NULL;
  url = getenv("COCABO_TEST_POSTGRES");
  if (!url)
    return SKIPPED;
  const cocabo_status status =
      cocabo_store_open(&store, url, COCABO_STORE_CREATE, &err);
  cocabo_store_free(store);
  if (status == COCABO_E_INVALID)
    return SKIPPED;
  return run_store_contract("store/postgres");
}
