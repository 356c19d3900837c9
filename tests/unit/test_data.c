/* The data layer of the bench: files by checksum, tables of numbers, idx files. What
 * needs the real data says so and is passed over without it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zlib.h>

#include "base/mem.h"
#include "check.h"
#include "data.h"

/* ---- a folder of our own -------------------------------------------------------- */

static char *real_folder; /* of the person who runs the tests, or NULL */
static char folder[] = "/tmp/cocabo-data-XXXXXX";

static const char *in_folder(const char *path) {
  static char whole[256];
  snprintf(whole, sizeof whole, "%s/%s", folder, path);
  return whole;
}

static int make_folder(void **state) {
  (void)state;
  const char *given = getenv("COCABO_DATA");
  real_folder = given ? strdup(given) : NULL;
  if (!mkdtemp(folder) || setenv("COCABO_DATA", folder, 1) != 0)
    return -1;
  return mkdir(in_folder("boston"), 0700) + mkdir(in_folder("mnist"), 0700);
}

static int remove_folder(void **state) {
  (void)state;
  const char *const names[] = {"boston/boston_house_prices.csv", "boston",
                               "mnist/t10k-labels-idx1-ubyte.gz", "mnist", ""};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    remove(in_folder(names[i]));
  free(real_folder);
  return 0;
}

#define BOSTON "boston/boston_house_prices.csv"
#define LABELS "mnist/t10k-labels-idx1-ubyte.gz"

static void write_file(const char *path, const void *bytes, size_t size) {
  FILE *file = fopen(in_folder(path), "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, size, file), size);
  assert_int_equal(fclose(file), 0);
}

/* `size` bytes of 'a', packed. */
static void write_packed(const char *path, size_t size) {
  static char piece[1 << 16];
  memset(piece, 'a', sizeof piece);
  gzFile gz = gzopen(in_folder(path), "wb");
  assert_non_null(gz);
  for (; size > 0; size -= size < sizeof piece ? size : sizeof piece)
    assert_true(
        gzwrite(gz, piece, (unsigned)(size < sizeof piece ? size : sizeof piece)) > 0);
  assert_int_equal(gzclose(gz), Z_OK);
}

static const bench_data *find(const char *path) {
  const bench_data *data = NULL;
  for (int i = 0; (data = bench_data_at(i)); i++)
    if (strcmp(data->path, path) == 0)
      return data;
  fail_msg("%s is not in the table", path);
  return NULL;
}

/* Loading fails with a sentence that contains these words, and leaves no bytes. */
static void assert_load_fails(const char *path, cocabo_status status,
                              const char *words) {
  front_buffer bytes = {0};
  cocabo_error err;
  assert_int_equal(bench_data_load(path, &bytes, &err), status);
  assert_int_equal(err.code, status);
  if (!strstr(err.message, words))
    fail_msg("\"%s\" does not say \"%s\"", err.message, words);
  assert_null(bytes.data);
}

/* ---- files ---------------------------------------------------------------------- */

static void a_missing_file_says_where_to_get_it(void **state) {
  (void)state;
  remove(in_folder(BOSTON));
  assert_load_fails(BOSTON, COCABO_E_NOT_FOUND, "tools/get-data boston");
  assert_load_fails(BOSTON, COCABO_E_NOT_FOUND, in_folder(BOSTON));
  assert_int_equal(bench_data_check(find(BOSTON), NULL), BENCH_DATA_MISSING);
}

static void another_file_is_wrong(void **state) {
  (void)state;
  /* sha256 of "abc", FIPS 180-2 */
  write_file(BOSTON, "abc", 3);
  assert_load_fails(BOSTON, COCABO_E_INVALID,
                    "has sha256 ba7816bf..., want d9821263...");
  assert_int_equal(bench_data_check(find(BOSTON), NULL), BENCH_DATA_WRONG);

  static char many[34743];
  write_file(BOSTON, many, sizeof many);
  assert_load_fails(BOSTON, COCABO_E_INVALID, "has more than 34742 bytes");
  assert_int_equal(bench_data_check(find(BOSTON), NULL), BENCH_DATA_WRONG);
}

static void a_folder_is_no_file(void **state) {
  (void)state;
  remove(in_folder(BOSTON));
  assert_int_equal(mkdir(in_folder(BOSTON), 0700), 0);
  assert_load_fails(BOSTON, COCABO_E_INVALID, "is not a regular file");
  assert_int_equal(bench_data_check(find(BOSTON), NULL), BENCH_DATA_UNREADABLE);
  assert_int_equal(rmdir(in_folder(BOSTON)), 0);
  assert_int_equal(mkfifo(in_folder(BOSTON), 0600), 0);
  assert_load_fails(BOSTON, COCABO_E_INVALID, "is not a regular file");
}

static void packed_bytes_are_checked_unpacked(void **state) {
  (void)state;
  write_packed(LABELS, 1000); /* its sha256 by sha256sum */
  assert_load_fails(LABELS, COCABO_E_INVALID, "has sha256 41edece4");
  assert_int_equal(bench_data_check(find(LABELS), NULL), BENCH_DATA_WRONG);
}

static void a_file_with_its_own_checksums_is_only_opened(void **state) {
  (void)state;
  const char *path = "nasbench101/nasbench_full.tfrecord";
  FILE *file = NULL;
  cocabo_error err;
  assert_int_equal(bench_data_check(find(path), &err), BENCH_DATA_MISSING);
  assert_int_equal(bench_data_open(path, &file, &err), COCABO_E_NOT_FOUND);
  assert_null(file);
  assert_int_equal(mkdir(in_folder("nasbench101"), 0700), 0);
  write_file(path, "abc", 3);
  assert_int_equal(bench_data_check(find(path), &err), BENCH_DATA_FOUND);
  assert_ok(bench_data_open(path, &file, &err));
  assert_int_equal(fgetc(file), 'a');
  fclose(file);
  assert_int_equal(remove(in_folder(path)) + rmdir(in_folder("nasbench101")), 0);
}

static void a_small_file_that_unpacks_to_much_is_refused(void **state) {
  (void)state;
  write_packed(LABELS, (size_t)1 << 28);
  assert_load_fails(LABELS, COCABO_E_INVALID, "has more than 10008 bytes");
}

static void damaged_gz_is_refused(void **state) {
  (void)state;
  write_packed(LABELS, 1000);
  struct stat status;
  assert_int_equal(stat(in_folder(LABELS), &status), 0);
  assert_int_equal(truncate(in_folder(LABELS), status.st_size - 5), 0);
  assert_load_fails(LABELS, COCABO_E_INVALID, "is cut short");
  assert_int_equal(bench_data_check(find(LABELS), NULL), BENCH_DATA_UNREADABLE);

  const unsigned char bad[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xff, 0xff, 0xff};
  write_file(LABELS, bad, sizeof bad);
  assert_load_fails(LABELS, COCABO_E_INVALID, "cannot unpack");
}

static void an_empty_variable_means_the_folder_data(void **state) {
  (void)state;
  char path[BENCH_PATH_SIZE], *many = malloc(5000);
  cocabo_error err;
  assert_ok(bench_data_path("x/y", path, &err));
  assert_string_equal(path, in_folder("x/y"));
  assert_int_equal(setenv("COCABO_DATA", "", 1), 0);
  assert_ok(bench_data_path("x/y", path, &err));
  assert_string_equal(path, "data/x/y");
  assert_ok(bench_data_path("", path, &err));
  assert_string_equal(path, "data");
  assert_non_null(many);
  memset(many, 'a', 4999);
  many[4999] = '\0';
  assert_int_equal(setenv("COCABO_DATA", many, 1), 0);
  assert_fails(bench_data_path("x/y", path, &err), COCABO_E_INVALID,
               "the path of the data folder has 4999 bytes, want less than 4096");
  free(many);
  assert_int_equal(setenv("COCABO_DATA", folder, 1), 0);
}

/* ---- tables of numbers ---------------------------------------------------------- */

static cocabo_status read_text(const char *text, int skip, size_t columns,
                               bench_matrix *out, cocabo_error *err) {
  const size_t size = strlen(text);
  char *copy = size ? malloc(size) : NULL; /* no NUL: a reader must not need it */
  if (copy)
    memcpy(copy, text, size);
  const front_buffer buffer = {copy, size, size};
  const cocabo_status status =
      bench_read_table("t.csv", &buffer, skip, columns, out, err);
  free(copy);
  return status;
}

static void commas_and_blanks_divide(void **state) {
  (void)state;
  const char *const texts[] = {
      "a\n\n1.25,-3e-2\r\n\r\n7.5,11.125\r\n", "a,b\nb\n1.25   -3e-2\n7.5\t11.125",
      "\"a\"\nb\n  1.25 , -.03 \n \n\n7.5,11.125 \n\n", "\n\n1.25 -3e-2\n7.5 ,11.125"};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    bench_matrix m;
    cocabo_error err;
    assert_ok(read_text(texts[i], 2, 2, &m, &err));
    assert_int_equal(m.rows, 2);
    assert_int_equal(m.columns, 2);
    const double want[] = {1.25, -0.03, 7.5, 11.125};
    assert_memory_equal(m.at, want, sizeof want);
    bench_matrix_free(&m);
    assert_null(m.at);
  }
}

static void bad_rows_are_named(void **state) {
  (void)state;
  bench_matrix m;
  cocabo_error err;
  const struct {
    const char *text, *sentence;
  } cases[] = {
      {"", "t.csv has no rows of numbers"},
      {"1,2\n", "t.csv has no rows of numbers"},
      {"h\n\n\n", "t.csv has no rows of numbers"},
      {"h\n1,2\n3\n", "t.csv line 3 has 1 columns, want 2"},
      {"h\n1,2\n3,\n", "t.csv line 3 has 1 columns, want 2"},
      {"h\n1,2,3\n", "t.csv line 2 has more than 2 columns"},
      {"h\n1,2,\n", "t.csv line 2 has more than 2 columns"},
      {"h\n1,,2\n", "t.csv line 2 has \"\" in column 2, want a finite number"},
      {"h\n,1\n", "t.csv line 2 has \"\" in column 1, want a finite number"},
      {"h\n1,2x\n", "t.csv line 2 has \"2x\" in column 2, want a finite number"},
      {"h\n1,nan\n", "t.csv line 2 has \"nan\" in column 2, want a finite number"},
      {"h\n1,1e999\n", "t.csv line 2 has \"1e999\" in column 2, want a finite number"},
      {"h\n1,\xff\x01\n", "t.csv line 2 has \"?\?\" in column 2, want a finite number"},
      {"h\n1,00000000000000000000000000000000000000000000000000000000000000000\n",
       "t.csv line 2 has \"000000000000000000000000000000000000000000000000000000000000"
       "000\" in column 2, want a finite number"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    assert_fails(read_text(cases[i].text, 1, 2, &m, &err), COCABO_E_INVALID,
                 cases[i].sentence);
    assert_null(m.at);
  }
}

static void a_table_survives_failing_allocations(void **state) {
  (void)state;
  bench_matrix m;
  cocabo_error err;
  for (long k = 0; k < 2; k++) {
    cb_mem_fail_after(k);
    assert_int_equal(read_text("1,2\n3,4\n5,6\n7,8\n9,1\n", 0, 2, &m, &err),
                     COCABO_E_NO_MEMORY);
    assert_null(m.at);
  }
  cb_mem_fail_after(-1);
}

/* ---- idx files ------------------------------------------------------------------ */

static cocabo_status read_idx(const void *bytes, size_t size, size_t *n, size_t *each,
                              const unsigned char **items, cocabo_error *err) {
  static char copy[64];
  memcpy(copy, bytes, size);
  const front_buffer buffer = {copy, size, size};
  return bench_read_idx("t.idx", &buffer, n, each, items, err);
}

static void idx_items_are_found(void **state) {
  (void)state;
  size_t n = 0, each = 0;
  const unsigned char *items = NULL;
  cocabo_error err;
  const char images[] = "\0\0\10\3\0\0\0\2\0\0\0\3\0\0\0\1abcdef";
  assert_ok(read_idx(images, sizeof images - 1, &n, &each, &items, &err));
  assert_int_equal(n, 2);
  assert_int_equal(each, 3);
  assert_memory_equal(items, "abcdef", 6);
  const char labels[] = "\0\0\10\1\0\0\0\2xy";
  assert_ok(read_idx(labels, sizeof labels - 1, &n, &each, &items, &err));
  assert_int_equal(n, 2);
  assert_int_equal(each, 1);
  assert_memory_equal(items, "xy", 2);
}

static void bad_idx_is_refused(void **state) {
  (void)state;
#define CASE(bytes, sentence)                                                          \
  { bytes, sizeof(bytes) - 1, sentence }
  const struct {
    const char *bytes;
    size_t size;
    const char *sentence;
  } cases[] = {
      CASE("", "t.idx is not an idx file of bytes"),
      CASE("\0\0\10", "t.idx is not an idx file of bytes"),
      CASE("\0\1\10\1\0\0\0\1x", "t.idx is not an idx file of bytes"),
      CASE("\0\0\15\1\0\0\0\1x", "t.idx is not an idx file of bytes"),
      CASE("\0\0\10\0x", "t.idx is not an idx file of bytes"),
      CASE("\0\0\10\5\0\0\0\1\0\0\0\1\0\0\0\1\0\0\0\1\0\0\0\1x",
           "t.idx is not an idx file of bytes"),
      CASE("\0\0\10\3\0\0\0\1\0\0\0\1", "t.idx is cut in its header"),
      CASE("\0\0\10\1\0\0\0\0", "t.idx has 0 bytes of items, which is not what its "
                                "header says: dimension 1 is 0"),
      CASE("\0\0\10\1\0\0\0\3ab", "t.idx has 2 bytes of items, which is not what its "
                                  "header says: dimension 1 is 3"),
      CASE("\0\0\10\3\0\1\0\0\0\1\0\0\0\1\0\0ab",
           "t.idx has 2 bytes of items, which is not what its header says: dimension 1 "
           "is 65536"),
      CASE("\0\0\10\2\0\0\0\1\xff\xff\xff\xff"
           "ab",
           "t.idx has 2 bytes of items, which is not what its header says: dimension 2 "
           "is 4294967295"),
      CASE("\0\0\10\1\0\0\0\1ab", "t.idx has 2 bytes of items, want 1"),
  };
#undef CASE
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    size_t n = 0, each = 0;
    const unsigned char *items = NULL;
    cocabo_error err;
    assert_fails(read_idx(cases[i].bytes, cases[i].size, &n, &each, &items, &err),
                 COCABO_E_INVALID, cases[i].sentence);
    assert_null(items);
  }
}

/* ---- the real files ------------------------------------------------------------- */

/* Passes the test over without the file; a wrong one is a failure. */
static void load_or_skip(const char *path, front_buffer *out) {
  cocabo_error err = {0};
  if (real_folder)
    setenv("COCABO_DATA", real_folder, 1);
  else
    unsetenv("COCABO_DATA");
  const cocabo_status status = bench_data_load(path, out, &err);
  setenv("COCABO_DATA", folder, 1);
  if (status == COCABO_OK)
    return;
  print_message("%s\n", err.message);
  if (status != COCABO_E_NOT_FOUND)
    fail();
  skip();
}

static void boston_is_read(void **state) {
  (void)state;
  front_buffer text = {0};
  bench_matrix m;
  cocabo_error err;
  load_or_skip(BOSTON, &text);
  assert_ok(bench_read_table("boston", &text, 2, 14, &m, &err));
  assert_int_equal(m.rows, 506);
  assert_close(m.at[0], 0.00632, 0.0);
  assert_close(m.at[13], 24.0, 0.0);
  bench_matrix_free(&m);
  front_buffer_free(&text);
}

static void yacht_is_read(void **state) {
  (void)state;
  front_buffer text = {0};
  bench_matrix m;
  cocabo_error err;
  load_or_skip("yacht/yacht_hydrodynamics.data", &text);
  assert_ok(bench_read_table("yacht", &text, 2, 7, &m, &err));
  assert_int_equal(m.rows, 308);
  assert_close(m.at[0], -2.3, 0.0);
  assert_close(m.at[307 * 7 + 6], 46.66, 0.0);
  bench_matrix_free(&m);
  front_buffer_free(&text);
}

static void mnist_is_read(void **state) {
  (void)state;
  front_buffer images = {0}, labels = {0};
  size_t n = 0, each = 0;
  const unsigned char *items = NULL;
  cocabo_error err;
  load_or_skip("mnist/t10k-images-idx3-ubyte.gz", &images);
  load_or_skip(LABELS, &labels);
  assert_ok(bench_read_idx("images", &images, &n, &each, &items, &err));
  assert_int_equal(n, 10000);
  assert_int_equal(each, 784);
  assert_ok(bench_read_idx("labels", &labels, &n, &each, &items, &err));
  assert_int_equal(n, 10000);
  assert_int_equal(each, 1);
  assert_memory_equal(items, "\7\2\1\0\4\1\4\11\5\11", 10);
  front_buffer_free(&images);
  front_buffer_free(&labels);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_missing_file_says_where_to_get_it),
      cmocka_unit_test(another_file_is_wrong),
      cmocka_unit_test(a_folder_is_no_file),
      cmocka_unit_test(packed_bytes_are_checked_unpacked),
      cmocka_unit_test(a_file_with_its_own_checksums_is_only_opened),
      cmocka_unit_test(a_small_file_that_unpacks_to_much_is_refused),
      cmocka_unit_test(damaged_gz_is_refused),
      cmocka_unit_test(an_empty_variable_means_the_folder_data),
      cmocka_unit_test(commas_and_blanks_divide),
      cmocka_unit_test(bad_rows_are_named),
      cmocka_unit_test(a_table_survives_failing_allocations),
      cmocka_unit_test(idx_items_are_found),
      cmocka_unit_test(bad_idx_is_refused),
      cmocka_unit_test(boston_is_read),
      cmocka_unit_test(yacht_is_read),
      cmocka_unit_test(mnist_is_read),
  };
  return cmocka_run_group_tests_name("bench/data", tests, make_folder, remove_folder);
}
