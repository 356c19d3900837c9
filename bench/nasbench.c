/* nasbench.c - cells of NAS-Bench-101: pruning of what is not between input and
 * output, the hash that isomorphic cells share, and the table of results, which is
 * sorted by hash and searched by halves. */
#include "nasbench.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <nettle/md5.h>

#include "base/mem.h"
#include "base/status.h"
#include "data.h"
#include "tfrecord.h"

/* ---- pruning -------------------------------------------------------------------- */

/* Vertices are in topological order, so one pass each way finds what is connected. */
static void mark_useful(const nas_cell *cell, bool useful[NAS_MAX_VERTICES]) {
  bool from_input[NAS_MAX_VERTICES] = {true}, to_output[NAS_MAX_VERTICES] = {false};
  const int n = cell->n;
  to_output[n - 1] = true;
  for (int i = 0; i < n; i++)
    for (int j = i + 1; j < n; j++)
      from_input[j] |= from_input[i] && cell->edge[i][j];
  for (int j = n - 1; j >= 0; j--)
    for (int i = 0; i < j; i++)
      to_output[i] |= to_output[j] && cell->edge[i][j];
  for (int i = 0; i < n; i++)
    useful[i] = from_input[i] && to_output[i];
}

bool nas_cell_prune(nas_cell *cell) {
  bool useful[NAS_MAX_VERTICES] = {false};
  int kept[NAS_MAX_VERTICES] = {0};
  nas_cell pruned = {0};
  mark_useful(cell, useful);
  if (!useful[0])
    return false;
  for (int i = 0; i < cell->n; i++)
    if (useful[i])
      kept[pruned.n++] = i;
  for (int i = 0; i < pruned.n; i++) {
    pruned.operation[i] = cell->operation[kept[i]];
    for (int j = i + 1; j < pruned.n; j++)
      pruned.edge[i][j] = cell->edge[kept[i]][kept[j]];
  }
  *cell = pruned;
  return true;
}

/* ---- the hash ------------------------------------------------------------------- */

/* It is one of texts: digests go into it as hex. */
typedef struct hex {
  char text[2 * MD5_DIGEST_SIZE];
} hex;

static void add_text(struct md5_ctx *md5, const char *text, size_t size) {
  md5_update(md5, size, (const uint8_t *)text);
}

static hex digest_of(struct md5_ctx *md5) {
  static const char digits[] = "0123456789abcdef";
  uint8_t digest[MD5_DIGEST_SIZE];
  hex out;
  md5_digest(md5, sizeof digest, digest);
  for (int i = 0; i < MD5_DIGEST_SIZE; i++) {
    out.text[2 * i] = digits[digest[i] >> 4];
    out.text[2 * i + 1] = digits[digest[i] & 15];
  }
  return out;
}

static void sort_hexes(int n, hex *items) {
  for (int i = 1; i < n; i++)
    for (int j = i; j > 0 && memcmp(&items[j], &items[j - 1], sizeof(hex)) < 0; j--) {
      const hex moved = items[j];
      items[j] = items[j - 1];
      items[j - 1] = moved;
    }
}

static int label_of(const nas_cell *cell, int v) {
  if (v == 0)
    return -1;
  return v == cell->n - 1 ? -2 : cell->operation[v];
}

static hex first_hash(const nas_cell *cell, int v) {
  struct md5_ctx md5;
  char text[48];
  int out = 0, in = 0;
  for (int w = 0; w < cell->n; w++) {
    out += cell->edge[v][w];
    in += cell->edge[w][v];
  }
  const int size =
      snprintf(text, sizeof text, "(%d, %d, %d)", out, in, label_of(cell, v));
  md5_init(&md5);
  add_text(&md5, text, (size_t)size);
  return digest_of(&md5);
}

/* The hashes, sorted, of what leads to v or of what v leads to. */
static void add_neighbours(struct md5_ctx *md5, const nas_cell *cell, int v, bool in,
                           const hex *hashes) {
  hex near[NAS_MAX_VERTICES];
  int n = 0;
  for (int w = 0; w < cell->n; w++)
    if (in ? cell->edge[w][v] : cell->edge[v][w])
      near[n++] = hashes[w];
  sort_hexes(n, near);
  for (int i = 0; i < n; i++)
    add_text(md5, near[i].text, sizeof(hex));
  add_text(md5, "|", 1);
}

static hex next_hash(const nas_cell *cell, int v, const hex *hashes) {
  struct md5_ctx md5;
  md5_init(&md5);
  add_neighbours(&md5, cell, v, true, hashes);
  add_neighbours(&md5, cell, v, false, hashes);
  add_text(&md5, hashes[v].text, sizeof(hex));
  return digest_of(&md5);
}

/* The sorted hashes as Python prints a list of them: the authors' code is in it. */
static void hash_list(int n, hex *hashes, uint8_t hash[NAS_HASH_SIZE]) {
  struct md5_ctx md5;
  md5_init(&md5);
  sort_hexes(n, hashes);
  for (int i = 0; i < n; i++) {
    add_text(&md5, i == 0 ? "['" : "', '", i == 0 ? 2 : 4);
    add_text(&md5, hashes[i].text, sizeof(hex));
  }
  add_text(&md5, "']", 2);
  md5_digest(&md5, NAS_HASH_SIZE, hash);
}

void nas_cell_hash(const nas_cell *cell, uint8_t hash[NAS_HASH_SIZE]) {
  hex hashes[NAS_MAX_VERTICES], next[NAS_MAX_VERTICES];
  for (int v = 0; v < cell->n; v++)
    hashes[v] = first_hash(cell, v);
  for (int round = 0; round < cell->n; round++) {
    for (int v = 0; v < cell->n; v++)
      next[v] = next_hash(cell, v, hashes);
    memcpy(hashes, next, sizeof(hex) * (size_t)cell->n);
  }
  hash_list(cell->n, hashes, hash);
}

/* ---- the table ------------------------------------------------------------------ */

void nas_table_free(nas_table *table) {
  cb_free(table->entries);
  *table = (nas_table){0};
}

const nas_entry *nas_table_find(const nas_table *table,
                                const uint8_t hash[NAS_HASH_SIZE]) {
  size_t low = 0, high = table->n;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    const nas_entry *entry = &table->entries[middle];
    const int order = memcmp(hash, entry->hash, NAS_HASH_SIZE);
    if (order == 0)
      return entry;
    if (order < 0)
      high = middle;
    else
      low = middle + 1;
  }
  return NULL;
}

double nas_share_of_images(double accuracy) {
  const double share = round(accuracy * NAS_IMAGES) / NAS_IMAGES;
  return fabs(accuracy - share) < 1e-6 ? share : accuracy;
}

/* The file, little endian: eight letters, u32 n, u32 images, then n records by hash:
 * the hash, u16 right images, u16 0, u32 parameters. */
static const char magic[8] = "NB101T1";
enum { HEADER = 16, RECORD = NAS_HASH_SIZE + 8 };

static uint32_t read_u32(const char *at) {
  const unsigned char *b = (const unsigned char *)at;
  return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static cocabo_status parse_header(const char *name, const front_buffer *bytes,
                                  size_t *n, cocabo_error *err) {
  if (bytes->size < HEADER || memcmp(bytes->data, magic, sizeof magic) != 0)
    return cb_fail(err, COCABO_E_INVALID, "%s is not a table of NAS-Bench-101", name);
  *n = read_u32(bytes->data + 8);
  const uint32_t images = read_u32(bytes->data + 12);
  if (images != NAS_IMAGES)
    return cb_fail(err, COCABO_E_INVALID, "%s counts %u test images, want %d", name,
                   (unsigned)images, NAS_IMAGES);
  if (*n == 0 || (bytes->size - HEADER) / RECORD != *n ||
      (bytes->size - HEADER) % RECORD != 0)
    return cb_fail(err, COCABO_E_INVALID,
                   "%s has %zu bytes, which is not what its %zu cells need", name,
                   bytes->size, *n);
  return COCABO_OK;
}

static cocabo_status parse_records(const char *name, const char *at, nas_table *out,
                                   cocabo_error *err) {
  for (size_t i = 0; i < out->n; i++, at += RECORD) {
    nas_entry *entry = &out->entries[i];
    const uint32_t right = read_u32(at + NAS_HASH_SIZE);
    memcpy(entry->hash, at, NAS_HASH_SIZE);
    entry->accuracy = (double)right / NAS_IMAGES;
    if (right > NAS_IMAGES)
      return cb_fail(err, COCABO_E_INVALID, "%s record %zu has %u images right of %d",
                     name, i + 1, (unsigned)right, NAS_IMAGES);
    if (i > 0 && memcmp(entry[-1].hash, entry->hash, NAS_HASH_SIZE) >= 0)
      return cb_fail(err, COCABO_E_INVALID,
                     "%s record %zu is not behind the one before it by its hash", name,
                     i + 1);
  }
  return COCABO_OK;
}

cocabo_status nas_table_parse(const char *name, const front_buffer *bytes,
                              nas_table *out, cocabo_error *err) {
  size_t n = 0;
  *out = (nas_table){0};
  CB_TRY(parse_header(name, bytes, &n, err));
  nas_table table = {.n = n, .entries = cb_calloc(n, sizeof(nas_entry))};
  if (!table.entries)
    return cb_no_memory(err);
  const cocabo_status status = parse_records(name, bytes->data + HEADER, &table, err);
  if (status == COCABO_OK)
    *out = table;
  else
    nas_table_free(&table);
  return status;
}

/* ---- the data folder ------------------------------------------------------------ */

static cocabo_status load_bin(nas_table *out, cocabo_error *err) {
  static const char path[] = "nasbench101/nb101_test108_run0.bin";
  front_buffer bytes = {0};
  CB_TRY(bench_data_load(path, &bytes, err));
  const cocabo_status status = nas_table_parse(path, &bytes, out, err);
  front_buffer_free(&bytes);
  return status;
}

/* COCABO_E_NOT_FOUND where there is no such file. */
static cocabo_status load_records(const char *path, nas_table *out, cocabo_error *err) {
  FILE *file = NULL;
  CB_TRY(bench_data_open(path, &file, err));
  const cocabo_status status = nas_table_read_records(path, file, out, err);
  fclose(file);
  return status;
}

cocabo_status nas_table_load(nas_table *out, cocabo_error *err) {
  static const char *const paths[] = {"nasbench101/nasbench_only108.tfrecord",
                                      "nasbench101/nasbench_full.tfrecord"};
  *out = (nas_table){0};
  const cocabo_status status = load_bin(out, err);
  if (status != COCABO_E_NOT_FOUND)
    return status;
  for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
    cocabo_error other;
    const cocabo_status found = load_records(paths[i], out, &other);
    if (found == COCABO_E_NOT_FOUND)
      continue; /* err says where the table comes from */
    if (found != COCABO_OK && err)
      *err = other;
    return found;
  }
  return status;
}
