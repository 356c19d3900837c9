/* shared_store.c - a study in a file, as a user's program sees it: made, asked and
 * told, closed, opened again. Events and their memory cross the border of two
 * libraries. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cocabo_store.h"

static cocabo_error err;

static void must(cocabo_status status, const char *what) {
  if (status == COCABO_OK)
    return;
  fprintf(stderr, "%s: %s\n", what, err.message);
  exit(1);
}

static cocabo_study *create(cocabo_store *store) {
  const cocabo_value choices[] = {{.type = COCABO_TEXT, .as.text = "a"},
                                  {.type = COCABO_INT, .as.integer = 1}};
  cocabo_study *study = NULL;
  cocabo_space *space = cocabo_space_new();
  must(cocabo_space_add_real(space, "x", -1, 1, 0, 0, &err), "real");
  must(cocabo_space_add_choice(space, "c", choices, 2, 0, &err), "choice");
  must(cocabo_study_create(&study, "s", space, NULL, store, &err), "create");
  cocabo_space_free(space);
  return study;
}

static void work(cocabo_study *study, int n) {
  for (int i = 0; i < n; i++) {
    cocabo_trial *trial = NULL;
    double x = 0.0;
    must(cocabo_study_ask(study, 1, &trial, &err), "ask");
    must(cocabo_trial_get_real(trial, "x", &x, &err), "get");
    must(i % 5 == 4 ? cocabo_study_fail(study, cocabo_trial_number(trial), "odd", &err)
                    : cocabo_study_tell(study, cocabo_trial_number(trial), x * x, &err),
         "tell");
    cocabo_trial_free(trial);
  }
}

int main(void) {
  enum { EACH = 20 };
  char path[] = "/tmp/cocabo-shared-XXXXXX";
  cocabo_store *store = NULL;
  cocabo_study *study = NULL;
  const int file = mkstemp(path);
  if (file < 0 || close(file) != 0)
    return 1;
  must(cocabo_store_open(&store, path, 0, &err), "open");
  study = create(store);
  work(study, EACH);
  cocabo_study_free(study);
  cocabo_store_free(store);

  must(cocabo_store_open(&store, path, 0, &err), "open again");
  must(cocabo_study_open(&study, "s", store, &err), "study");
  work(study, EACH);
  const int wrong = cocabo_study_count(study) != 2 * EACH;
  cocabo_study_free(study);
  cocabo_store_free(store);
  return wrong | unlink(path);
}
