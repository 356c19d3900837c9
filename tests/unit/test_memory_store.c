#include "contract/store_contract.h"

static cocabo_store *open_fresh_store(void) {
  cocabo_store *store = cocabo_store_new_memory();
  assert_non_null(store);
  return store;
}

int main(void) {
  return run_store_contract("study/memory");
}
