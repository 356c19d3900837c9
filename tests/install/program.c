/* program.c - a user's program, which sees only what is installed: a study in memory,
 * and a store on disk where the library has SQLite.  program FILE yes|no */
#include <cocabo.h>
#include <cocabo_store.h>
#include <stdio.h>
#include <string.h>

static int use(cocabo_store *store, cocabo_error *err) {
  const cocabo_value names[] = {{COCABO_TEXT, {.text = "a"}},
                                {COCABO_TEXT, {.text = "b"}}};
  cocabo_space *space = cocabo_space_new();
  cocabo_study *study = NULL;
  int bad = cocabo_space_add_real(space, "x", -2, 2, 0, 0, err) ||
            cocabo_space_add_choice(space, "c", names, 2, 0, err) ||
            cocabo_study_create(&study, "s", space, NULL, store, err);
  for (int i = 0; i < 20 && !bad; i++) {
    cocabo_trial *trial = NULL;
    double x = 0.0;
    bad = cocabo_study_ask(study, 1, &trial, err) ||
          cocabo_trial_get_real(trial, "x", &x, err) ||
          cocabo_study_tell(study, cocabo_trial_number(trial), x * x, err);
    cocabo_trial_free(trial);
  }
  cocabo_study_free(study);
  cocabo_space_free(space);
  return bad;
}

int main(int argc, char **argv) {
  cocabo_error err = {0};
  cocabo_store *store = NULL;
  if (argc != 3)
    return 2;
  const int sqlite = strcmp(argv[2], "yes") == 0;
  const int opened =
      cocabo_store_open(&store, argv[1], COCABO_STORE_CREATE, &err) == COCABO_OK;
  int bad = use(NULL, &err) || (opened && use(store, &err));
  cocabo_store_free(store);
  if (bad || opened != sqlite || cocabo_version() != COCABO_VERSION_HEX) {
    fprintf(stderr, "opened %d, version %06x: %s\n", opened, cocabo_version(),
            err.message);
    return 1;
  }
  printf("well\n");
  return 0;
}
