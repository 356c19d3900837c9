#include "contract/store_contract.h"

#include <stdlib.h>
#include <unistd.h>

#include "cocabo_store.h"

/* A new file each time, deleted when the program ends. */
static char folder[] = "/tmp/cocabo-sqlite-XXXXXX";
static int n_files;

static void file_name(char out[64], int i, const char *suffix) {
  snprintf(out, 64, "%s/%d.db%s", folder, i, suffix);
}

static cocabo_store *open_fresh_store(void) {
  cocabo_error err;
  char path[64];
  cocabo_store *store = NULL;
  file_name(path, n_files++, "");
  assert_ok(cocabo_store_open(&store, path, COCABO_STORE_CREATE, &err));
  return store;
}

static void delete_files(void) {
  static const char *const suffixes[] = {"", "-wal", "-shm"};
  char path[64];
  for (int i = 0; i < n_files; i++)
    for (int k = 0; k < 3; k++) {
      file_name(path, i, suffixes[k]);
      unlink(path);
    }
  rmdir(folder);
}

int main(void) {
  if (!mkdtemp(folder))
    return 1;
  const int failed = run_store_contract("store/sqlite");
  delete_files();
  return failed;
}
