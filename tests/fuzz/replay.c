/* replay.c - runs a fuzz target over the files of a folder, and over every beginning of
 * them; so the corpus is part of the tests with any compiler.
 *   fuzz_codec tests/fuzz/corpus/codec */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A copy of its own for each run, so that a sanitizer sees the end. */
static void run(const uint8_t *data, size_t size) {
  uint8_t *copy = malloc(size > 0 ? size : 1);
  if (!copy)
    exit(1);
  for (size_t i = 0; i < size; i++)
    copy[i] = data[i];
  LLVMFuzzerTestOneInput(copy, size);
  free(copy);
}

static int replay(const char *folder, const char *name) {
  static uint8_t data[1 << 16];
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "rb");
  if (!file)
    return 0;
  const size_t size = fread(data, 1, sizeof data, file);
  fclose(file);
  for (size_t n = 0; n <= size; n++)
    run(data, n);
  return 1;
}

int main(int argc, char **argv) {
  int n = 0;
  DIR *folder = argc == 2 ? opendir(argv[1]) : NULL;
  if (!folder) {
    fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    return 2;
  }
  for (const struct dirent *entry; (entry = readdir(folder));)
    if (entry->d_name[0] != '.')
      n += replay(argv[1], entry->d_name);
  closedir(folder);
  printf("%d files\n", n);
  return n > 0 ? 0 : 1;
}
