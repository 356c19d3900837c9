/* NAS-Bench-101: hashes, the table, the authors' file, and the problem NAS-CIFAR10.
 * What needs the real table says so and is passed over without it. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/rng.h"
#include "check.h"
#include "data.h"
#include "nasbench.h"
#include "oracle/nas.h"
#include "problem.h"
#include "problems/nas_cifar10.h"
#include "tfrecord.h"

enum { N_CELLS = sizeof oracle_cells / sizeof oracle_cells[0] };
enum { N_POINTS = sizeof oracle_nas_points / sizeof oracle_nas_points[0] };

static void hex_of(const uint8_t hash[NAS_HASH_SIZE],
                   char text[2 * NAS_HASH_SIZE + 1]) {
  for (int i = 0; i < NAS_HASH_SIZE; i++)
    snprintf(text + (ptrdiff_t)2 * i, 3, "%02x", hash[i]);
}

/* ---- cells ---------------------------------------------------------------------- */

static nas_cell cell_of(int n, const char *matrix, const char *operations) {
  nas_cell cell = {.n = n};
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      cell.edge[i][j] = matrix[i * n + j] == '1';
  for (int i = 0; i < n - 2; i++)
    cell.operation[i + 1] = operations[i] - '0';
  return cell;
}

static void hashes_agree_with_the_oracle(void **state) {
  (void)state;
  int valid = 0;
  for (int i = 0; i < N_CELLS; i++) {
    uint8_t hash[NAS_HASH_SIZE];
    char text[2 * NAS_HASH_SIZE + 1] = "";
    nas_cell cell =
        cell_of(oracle_cells[i].n, oracle_cells[i].matrix, oracle_cells[i].operations);
    if (nas_cell_prune(&cell)) {
      nas_cell_hash(&cell, hash);
      hex_of(hash, text);
      valid++;
    }
    assert_string_equal(text, oracle_cells[i].hash);
  }
  assert_string_equal(oracle_cells[0].hash, "00005c142e6f48ac74fdcf73e3439874");
  assert_in_range(valid, 20, N_CELLS - 10);
}

static void a_cell_without_a_path_stays_as_it_was(void **state) {
  (void)state;
  const nas_cell before = cell_of(4, "0100001000000000", "12");
  nas_cell cell = before;
  assert_false(nas_cell_prune(&cell));
  assert_memory_equal(&cell, &before, sizeof cell);
}

static void the_heaviest_edges_are_taken_and_ties_go_to_the_lower_index(void **state) {
  (void)state;
  const int operations[NAS_CHOSEN] = {2, 0, 1, 1, 0};
  double weights[NAS_PAIRS] = {0};
  weights[5] = 0.75;  /* 0 -> 6 */
  weights[20] = 0.5;  /* 5 -> 6 */
  weights[6] = 0.875; /* 1 -> 2 */
  const nas_cell cell = nas_cell_of(operations, weights, 5);
  const char *want = "0110001001000000000000000000000000000000010000000";
  for (int i = 0; i < NAS_MAX_VERTICES; i++)
    for (int j = 0; j < NAS_MAX_VERTICES; j++)
      assert_int_equal(cell.edge[i][j], want[i * NAS_MAX_VERTICES + j] == '1');
  for (int i = 0; i < NAS_CHOSEN; i++)
    assert_int_equal(cell.operation[i + 1], operations[i]);
}

/* ---- the table in its own format ------------------------------------------------ */

/* n cells whose hashes are 1, 3, 5, ... in their last byte. */
static front_buffer bin_of(int n) {
  front_buffer bytes = {0};
  cocabo_error err;
  const char head[] = {'N', 'B', '1', '0', '1', 'T', '1', 0, (char)n, 0, 0, 0};
  const unsigned char images[] = {0x00, 0x27, 0, 0}; /* 9984 */
  assert_ok(front_buffer_append(&bytes, head, sizeof head, &err));
  assert_ok(front_buffer_append(&bytes, images, sizeof images, &err));
  for (int i = 0; i < n; i++) {
    char record[24] = {0};
    record[15] = (char)(2 * i + 1);
    record[16] = (char)(10 * i);
    record[17] = 1;
    assert_ok(front_buffer_append(&bytes, record, sizeof record, &err));
  }
  return bytes;
}

static void entries_are_found_by_hash(void **state) {
  (void)state;
  for (int n = 1; n <= 9; n++) {
    front_buffer bytes = bin_of(n);
    nas_table table;
    cocabo_error err;
    assert_ok(nas_table_parse("t.bin", &bytes, &table, &err));
    assert_int_equal(table.n, n);
    for (int last = 0; last <= 2 * n + 1; last++) {
      const uint8_t hash[NAS_HASH_SIZE] = {[15] = (uint8_t)last};
      const nas_entry *entry = nas_table_find(&table, hash);
      if (last % 2 == 0 || last > 2 * n)
        assert_null(entry);
      else
        assert_close(entry->accuracy, (256 + last / 2 * 10) / 9984.0, 0.0);
    }
    nas_table_free(&table);
    front_buffer_free(&bytes);
  }
  const nas_table empty = {0};
  assert_null(nas_table_find(&empty, (const uint8_t[NAS_HASH_SIZE]){7}));
}

static void bad_tables_are_refused(void **state) {
  (void)state;
  const struct {
    size_t size; /* of the file that has 3 cells and 88 bytes */
    size_t at;   /* a byte that is changed */
    int to;
    const char *sentence;
  } cases[] = {
      {0, 0, 'N', "t.bin is not a table of NAS-Bench-101"},
      {15, 0, 'N', "t.bin is not a table of NAS-Bench-101"},
      {88, 7, 1, "t.bin is not a table of NAS-Bench-101"},
      {88, 12, 1, "t.bin counts 9985 test images, want 9984"},
      {88, 8, 4, "t.bin has 88 bytes, which is not what its 4 cells need"},
      {88, 11, 255, "t.bin has 88 bytes, which is not what its 4278190083 cells need"},
      {87, 0, 'N', "t.bin has 87 bytes, which is not what its 3 cells need"},
      {88, 8, 0, "t.bin has 88 bytes, which is not what its 0 cells need"},
      {88, 16 + 24 + 17, 40, "t.bin record 2 has 10250 images right of 9984"},
      {88, 16 + 48 + 18, 1, "t.bin record 3 has 65812 images right of 9984"},
      {88, 16 + 24 + 15, 1,
       "t.bin record 2 is not behind the one before it by its hash"},
      {88, 16 + 24 + 15, 200,
       "t.bin record 3 is not behind the one before it by its hash"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    front_buffer bytes = bin_of(3);
    nas_table table;
    cocabo_error err;
    assert_int_equal(bytes.size, 88);
    bytes.data[cases[i].at] = (char)cases[i].to;
    bytes.size = cases[i].size;
    assert_fails(nas_table_parse("t.bin", &bytes, &table, &err), COCABO_E_INVALID,
                 cases[i].sentence);
    assert_null(table.entries);
    front_buffer_free(&bytes);
  }
}

/* ---- the authors' file ---------------------------------------------------------- */

static void put_number(front_buffer *out, uint64_t number, int bytes) {
  cocabo_error err;
  for (int i = 0; i < bytes; i++, number >>= 8)
    assert_ok(front_buffer_append(out, &(char){(char)(number & 255)}, 1, &err));
}

static void put_frame(front_buffer *out, const void *data, size_t size) {
  cocabo_error err;
  const size_t start = out->size;
  put_number(out, size, 8);
  put_number(out, tfrecord_crc(out->data + start, 8), 4);
  assert_ok(front_buffer_append(out, data, size, &err));
  put_number(out, tfrecord_crc(data, size), 4);
}

static void put_text(front_buffer *out, const char *text) {
  put_frame(out, text, strlen(text));
}

/* Base64 written from its definition. */
static void encode_base64(const unsigned char *bytes, size_t n, char *out) {
  const char *letters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t i = 0; i < n; i += 3) {
    const unsigned b = i + 1 < n ? bytes[i + 1] : 0, c = i + 2 < n ? bytes[i + 2] : 0;
    const unsigned word = (unsigned)bytes[i] << 16 | b << 8 | c;
    for (int k = 0; k < 4; k++)
      *out++ = (size_t)k > n - i ? '=' : letters[word >> (18 - 6 * k) & 63];
  }
  *out = '\0';
}

/* Two evaluations: one of another accuracy, then one of this. */
static void metrics_of(double test, char *base64) {
  front_buffer m = {0};
  cocabo_error err;
  for (int k = 0; k < 2; k++) {
    const double accuracy = k == 0 ? 0.125 : test;
    uint64_t bits;
    memcpy(&bits, &accuracy, sizeof bits);
    put_number(&m, 0x0a, 1);                /* evaluation */
    put_number(&m, 9 + 9 + 3, 1);           /* its size */
    put_number(&m, 0x09, 1);                /* epoch */
    put_number(&m, 0x405b000000000000u, 8); /* 108.0 */
    put_number(&m, 0x29, 1);                /* test accuracy */
    put_number(&m, bits, 8);
    assert_ok(front_buffer_append(&m, "\x32\1x", 3, &err)); /* checkpoint path */
  }
  assert_ok(front_buffer_append(&m, "\x10\xa6\x22\x19", 4, &err)); /* parameters */
  put_number(&m, 0x4090900000000000u, 8);                          /* time */
  encode_base64((const unsigned char *)m.data, m.size, base64);
  front_buffer_free(&m);
}

static const char *record_of(const char *hash, int epochs, double test) {
  static char text[512];
  char base64[256];
  metrics_of(test, base64);
  snprintf(text, sizeof text, "[\"%s\", %d, \"0100\", \"input,output\", \"%s\"]", hash,
           epochs, base64);
  return text;
}

static cocabo_status read_bytes(const front_buffer *bytes, nas_table *out,
                                cocabo_error *err) {
  FILE *file = tmpfile();
  assert_non_null(file);
  if (bytes->size > 0)
    assert_int_equal(fwrite(bytes->data, 1, bytes->size, file), bytes->size);
  rewind(file);
  const cocabo_status status = nas_table_read_records("t.tfrecord", file, out, err);
  fclose(file);
  return status;
}

#define HASH_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define HASH_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

static void crc_is_the_published_one(void **state) {
  (void)state;
  const uint32_t plain = 0xe3069283; /* of "123456789" */
  assert_int_equal(tfrecord_crc("123456789", 9),
                   (uint32_t)((plain >> 15 | plain << 17) + 0xa282ead8u));
}

static void the_first_record_of_108_epochs_counts(void **state) {
  (void)state;
  front_buffer bytes = {0};
  nas_table table;
  cocabo_error err;
  put_text(&bytes, record_of(HASH_B, 36, 0.3));
  put_text(&bytes, record_of(HASH_B, 108, (float)(9001.0 / 9984.0)));
  put_text(&bytes, record_of(HASH_A, 108, 0.7531));
  put_text(&bytes, record_of(HASH_B, 108, 0.95));
  put_text(&bytes, record_of(HASH_A, 108, 0.2));
  assert_ok(read_bytes(&bytes, &table, &err));
  assert_int_equal(table.n, 2);
  assert_int_equal(table.entries[0].hash[3], 0xaa);
  assert_close(table.entries[0].accuracy, 0.7531, 0.0);
  assert_int_equal(table.entries[1].hash[15], 0xbb);
  assert_close(table.entries[1].accuracy, 9001.0 / 9984.0, 0.0);
  nas_table_free(&table);
  front_buffer_free(&bytes);
}

/* Whatever byte is changed and wherever the file ends, a sentence names the record; a
 * file that ends between two records is shorter and right. */
static void damage_is_found_everywhere(void **state) {
  (void)state;
  front_buffer bytes = {0};
  nas_table table;
  cocabo_error err;
  put_text(&bytes, record_of(HASH_A, 108, 0.9));
  const size_t first = bytes.size;
  put_text(&bytes, record_of(HASH_B, 108, 0.8));
  for (size_t i = 0; i < bytes.size; i++) {
    bytes.data[i] ^= 0x10;
    assert_int_equal(read_bytes(&bytes, &table, &err), COCABO_E_INVALID);
    assert_non_null(strstr(err.message, i < first ? "t.tfrecord record 1 is damaged"
                                                  : "t.tfrecord record 2 is damaged"));
    bytes.data[i] ^= 0x10;
  }
  const size_t whole = bytes.size;
  for (bytes.size = 1; bytes.size < whole; bytes.size++) {
    const cocabo_status status = read_bytes(&bytes, &table, &err);
    assert_int_equal(status, bytes.size == first ? COCABO_OK : COCABO_E_INVALID);
    if (status == COCABO_OK)
      nas_table_free(&table);
    else
      assert_string_equal(err.message, bytes.size < first
                                           ? "t.tfrecord record 1 is cut short"
                                           : "t.tfrecord record 2 is cut short");
  }
  front_buffer_free(&bytes);
}

static void absurd_sizes_are_refused(void **state) {
  (void)state;
  front_buffer bytes = {0};
  nas_table table;
  cocabo_error err;
  put_number(&bytes, (uint64_t)1 << 62, 8);
  put_number(&bytes, tfrecord_crc(bytes.data, 8), 4);
  assert_fails(read_bytes(&bytes, &table, &err), COCABO_E_INVALID,
               "t.tfrecord record 1 has 4611686018427387904 bytes, want at most 65536");
  front_buffer_free(&bytes);
}

static void bad_records_are_named(void **state) {
  (void)state;
  const char *const no_list =
      "t.tfrecord record 2 is not a list of hash, epochs, adjacency, operations and "
      "metrics";
  const char *const no_hash =
      "t.tfrecord record 2 has a hash that is not 32 hexadecimal digits";
  const char *const no_base64 = "t.tfrecord record 2 has metrics that are not base64";
  const char *const no_protobuf =
      "t.tfrecord record 2 has metrics that are not a protobuf of ModelMetrics";
  const char *const no_accuracy =
      "t.tfrecord record 2 has no test accuracy between 0 and 1";
#define METRICS(text) "[\"" HASH_B "\", 108, \"\", \"\", \"" text "\"]"
  const struct {
    const char *record, *sentence;
  } cases[] = {
      {"", "t.tfrecord record 2 is not JSON"},
      {"[1, 2", "t.tfrecord record 2 is not JSON"},
      {"[\"\xff\"]", "t.tfrecord record 2 is not JSON"},
      {"{}", no_list},
      {"[]", no_list},
      {"[\"" HASH_B "\", \"108\", \"\", \"\", \"\"]", no_list},
      {"[\"" HASH_B "\", 108, \"\", \"\", \"\", 1]", no_list},
      {"[\"ab\", 108, \"\", \"\", \"\"]", no_hash},
      {"[\"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbx\", 108, \"\", \"\", \"\"]", no_hash},
      {"[\"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbb  \", 108, \"\", \"\", \"\"]", no_hash},
      {METRICS("Ci0J*"), no_base64},
      {METRICS("Ci0JA"), no_base64},
      {METRICS("Ci0="),
       no_protobuf}, /* an evaluation of 45 bytes, none of them there */
      {METRICS("Cg=="), no_protobuf},             /* a tag alone */
      {METRICS("gA=="), no_protobuf},             /* a number without its end */
      {METRICS("gICAgICAgICAgIA="), no_protobuf}, /* a number of 11 bytes */
      {METRICS("Cw=="), no_protobuf},             /* a group, which nobody writes */
      {METRICS("CQAAAAAAAAAA"), no_protobuf},     /* an evaluation that is a double */
      {METRICS("CgMpAAA="), no_protobuf},         /* half an accuracy */
      {METRICS("Cv///////////wE="), no_protobuf}, /* 2^64 - 1 bytes */
      {METRICS(""), no_accuracy},
      {METRICS("CgA="), no_accuracy},
      {METRICS("CgUtAACAPw=="), no_accuracy}, /* field 5 as a float */
  };
#undef METRICS
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    front_buffer bytes = {0};
    nas_table table;
    cocabo_error err;
    put_text(&bytes, record_of(HASH_A, 108, 0.9));
    put_text(&bytes, cases[i].record);
    assert_fails(read_bytes(&bytes, &table, &err), COCABO_E_INVALID, cases[i].sentence);
    assert_null(table.entries);
    front_buffer_free(&bytes);
  }
}

static void accuracies_beyond_their_range_are_refused(void **state) {
  (void)state;
  const double bad[] = {-0.25, 1.0000001, NAN, INFINITY};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    front_buffer bytes = {0};
    nas_table table;
    cocabo_error err;
    put_text(&bytes, record_of(HASH_A, 108, bad[i]));
    assert_fails(read_bytes(&bytes, &table, &err), COCABO_E_INVALID,
                 "t.tfrecord record 1 has no test accuracy between 0 and 1");
    front_buffer_free(&bytes);
  }
}

static void a_file_without_108_epochs_is_refused(void **state) {
  (void)state;
  front_buffer bytes = {0};
  nas_table table;
  cocabo_error err;
  assert_fails(read_bytes(&bytes, &table, &err), COCABO_E_INVALID,
               "t.tfrecord has no record of 108 epochs");
  put_text(&bytes, record_of(HASH_A, 36, 0.9));
  assert_fails(read_bytes(&bytes, &table, &err), COCABO_E_INVALID,
               "t.tfrecord has no record of 108 epochs");
  front_buffer_free(&bytes);
}

static void failing_allocations_are_survived(void **state) {
  (void)state;
  front_buffer bytes = {0}, bin = bin_of(3);
  nas_table table;
  cocabo_error err;
  for (int i = 0; i < 40; i++)
    put_text(&bytes, record_of(i % 2 ? HASH_A : HASH_B, 108, 0.9));
  cocabo_status status = COCABO_E_NO_MEMORY;
  long k = 0;
  for (; status == COCABO_E_NO_MEMORY; k++) {
    cb_mem_fail_after(k);
    status = read_bytes(&bytes, &table, &err);
    cb_mem_fail_after(-1);
    assert_true(status == COCABO_OK || table.entries == NULL);
  }
  assert_int_equal(status, COCABO_OK);
  assert_true(k > 3);
  nas_table_free(&table);
  cb_mem_fail_after(0);
  assert_int_equal(nas_table_parse("t.bin", &bin, &table, &err), COCABO_E_NO_MEMORY);
  cb_mem_fail_after(-1);
  assert_null(table.entries);
  front_buffer_free(&bytes);
  front_buffer_free(&bin);
}

/* ---- the data folder ------------------------------------------------------------ */

static void write_into(const char *folder, const char *name,
                       const front_buffer *bytes) {
  char path[256];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes->data, 1, bytes->size, file), bytes->size);
  assert_int_equal(fclose(file), 0);
}

static void the_authors_file_stands_in_for_the_table(void **state) {
  (void)state;
  char folder[] = "/tmp/cocabo-nas-XXXXXX", path[256];
  const char *given = getenv("COCABO_DATA");
  char *kept = given ? strdup(given) : NULL;
  front_buffer bytes = {0};
  nas_table table;
  cocabo_error err;
  assert_non_null(mkdtemp(folder));
  assert_int_equal(setenv("COCABO_DATA", folder, 1), 0);
  assert_int_equal(nas_table_load(&table, &err), COCABO_E_NOT_FOUND);
  assert_non_null(strstr(err.message, "the authors of NAS-Bench-101"));

  snprintf(path, sizeof path, "%s/nasbench101", folder);
  assert_int_equal(mkdir(path, 0700), 0);
  put_text(&bytes, record_of(HASH_A, 108, 0.9));
  write_into(path, "nasbench_full.tfrecord", &bytes);
  assert_ok(nas_table_load(&table, &err));
  assert_int_equal(table.n, 1);
  nas_table_free(&table);

  bytes.size--;
  write_into(path, "nasbench_only108.tfrecord", &bytes);
  assert_int_equal(nas_table_load(&table, &err), COCABO_E_INVALID);
  assert_non_null(strstr(err.message, "nasbench_only108.tfrecord record 1 is cut"));

  write_into(path, "nb101_test108_run0.bin", &bytes); /* there, but another file */
  assert_int_equal(nas_table_load(&table, &err), COCABO_E_INVALID);
  assert_non_null(strstr(err.message, "nb101_test108_run0.bin has sha256"));

  const char *const names[] = {"nasbench101/nasbench_full.tfrecord",
                               "nasbench101/nasbench_only108.tfrecord",
                               "nasbench101/nb101_test108_run0.bin", "nasbench101", ""};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    snprintf(path, sizeof path, "%s/%s", folder, names[i]);
    assert_int_equal(remove(path), 0);
  }
  if (kept)
    setenv("COCABO_DATA", kept, 1);
  else
    unsetenv("COCABO_DATA");
  free(kept);
  front_buffer_free(&bytes);
}

/* Passes the test over where the data folder has no such file. */
static FILE *open_or_skip(const char *name) {
  char path[BENCH_PATH_SIZE];
  cocabo_error err;
  assert_ok(bench_data_path(name, path, &err));
  FILE *file = fopen(path, "rb");
  if (!file) {
    print_message("there is no %s\n", path);
    skip();
  }
  return file;
}

static void the_fixtures_are_read_or_refused(void **state) {
  (void)state;
  nas_table table;
  cocabo_error err;
  FILE *file = open_or_skip("nasbench101/fixture_mini.tfrecord");
  assert_ok(nas_table_read_records("mini", file, &table, &err));
  fclose(file);
  assert_int_equal(table.n, 12);
  for (size_t i = 0; i < table.n; i++) {
    char text[2 * NAS_HASH_SIZE + 1];
    hex_of(table.entries[i].hash, text);
    assert_string_equal(text, oracle_cells[i].hash);
  }
  assert_close(table.entries[0].accuracy, 9197.0 / 9984.0, 0.0);
  assert_close(table.entries[11].accuracy, 9269.0 / 9984.0, 0.0);
  nas_table_free(&table);

  file = open_or_skip("nasbench101/fixture_badcrc.tfrecord");
  assert_int_equal(nas_table_read_records("bad", file, &table, &err), COCABO_E_INVALID);
  fclose(file);
  assert_string_equal(err.message,
                      "bad record 1 is damaged: its data has another checksum");
  file = open_or_skip("nasbench101/fixture_truncated.tfrecord");
  assert_int_equal(nas_table_read_records("cut", file, &table, &err), COCABO_E_INVALID);
  fclose(file);
  assert_string_equal(err.message, "cut record 36 is cut short");
}

/* ---- the problem ---------------------------------------------------------------- */

static const bench_problem *problem_or_skip(void) {
  const bench_problem *problem = bench_problem_find("nas-cifar10");
  cocabo_error err;
  assert_non_null(problem);
  const cocabo_status status = bench_problem_load(problem, &err);
  if (status != COCABO_OK)
    print_message("%s\n", err.message);
  if (status == COCABO_E_NOT_FOUND)
    skip();
  assert_int_equal(status, COCABO_OK);
  return problem;
}

static void the_table_has_the_known_cells(void **state) {
  (void)state;
  nas_table table;
  cocabo_error err;
  problem_or_skip();
  assert_ok(nas_table_load(&table, &err));
  assert_int_equal(table.n, 423624);
  double best = 0.0;
  for (size_t i = 0; i < table.n; i++)
    best = fmax(best, table.entries[i].accuracy);
  assert_true(best == bench_problem_find("nas-cifar10")->optimum);
  nas_table_free(&table);
}

static cocabo_value operation_of(char digit) {
  static const char *const names[] = {"conv3x3", "conv1x1", "maxpool3x3"};
  return (cocabo_value){COCABO_TEXT, {.text = names[digit - '0']}};
}

static void values_agree_with_the_oracle(void **state) {
  (void)state;
  const bench_problem *problem = problem_or_skip();
  double best = 0.0;
  for (int i = 0; i < N_POINTS; i++) {
    cocabo_value values[NAS_CHOSEN + NAS_PAIRS + 1];
    for (int k = 0; k < NAS_CHOSEN; k++)
      values[k] = operation_of(oracle_nas_points[i].operations[k]);
    for (int k = 0; k < NAS_PAIRS; k++)
      values[NAS_CHOSEN + k] =
          (cocabo_value){COCABO_REAL, {.real = oracle_nas_points[i].weights[k]}};
    values[NAS_CHOSEN + NAS_PAIRS] =
        (cocabo_value){COCABO_INT, {.integer = oracle_nas_points[i].edges}};
    const double value = problem->value(problem, values, 7);
    assert_close(value, oracle_nas_points[i].right / 9984.0, 0.0);
    best = fmax(best, value);
  }
  assert_true(best == problem->optimum); /* it can be reached */
}

static double seconds_of_cpu(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

enum { RANDOM_INPUTS = 20000 };
static void random_inputs_are_in_the_table_or_invalid(void **state) {
  (void)state;
  const bench_problem *problem = problem_or_skip();
  cocabo_space *space;
  cocabo_error err;
  cb_rng rng = bench_rng(3, 99, 0);
  int valid = 0;
  double seconds = 0.0;
  assert_ok(bench_problem_space(problem, &space, &err));
  for (int i = 0; i < RANDOM_INPUTS; i++) {
    cb_cell cells[BENCH_MAX_INPUTS];
    cb_space_sample(space, &rng, cells);
    seconds -= seconds_of_cpu();
    const double value = bench_value_at_cells(problem, space, cells);
    seconds += seconds_of_cpu();
    assert_true(value == 0.0 || (value > 0.05 && value <= problem->optimum));
    valid += value > 0.0;
  }
  const double share = (double)valid / RANDOM_INPUTS;
  const double each = seconds / RANDOM_INPUTS;
  print_message("%.2f %% valid, %.1f us each\n", 100.0 * share, 1e6 * each);
  assert_true(share >= 0.43 && share <= 0.44);
#ifndef CB_SANITIZED
  assert_true(each < 50e-6);
#endif
  cocabo_space_free(space);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(hashes_agree_with_the_oracle),
      cmocka_unit_test(a_cell_without_a_path_stays_as_it_was),
      cmocka_unit_test(the_heaviest_edges_are_taken_and_ties_go_to_the_lower_index),
      cmocka_unit_test(entries_are_found_by_hash),
      cmocka_unit_test(bad_tables_are_refused),
      cmocka_unit_test(crc_is_the_published_one),
      cmocka_unit_test(the_first_record_of_108_epochs_counts),
      cmocka_unit_test(damage_is_found_everywhere),
      cmocka_unit_test(absurd_sizes_are_refused),
      cmocka_unit_test(bad_records_are_named),
      cmocka_unit_test(accuracies_beyond_their_range_are_refused),
      cmocka_unit_test(a_file_without_108_epochs_is_refused),
      cmocka_unit_test(failing_allocations_are_survived),
      cmocka_unit_test(the_authors_file_stands_in_for_the_table),
      cmocka_unit_test(the_fixtures_are_read_or_refused),
      cmocka_unit_test(the_table_has_the_known_cells),
      cmocka_unit_test(values_agree_with_the_oracle),
      cmocka_unit_test(random_inputs_are_in_the_table_or_invalid),
  };
  return cmocka_run_group_tests_name("bench/nasbench", tests, NULL, NULL);
}
