/* tfrecord.c - reads the authors' file of NAS-Bench-101 record by record: frame and
 * checksums, JSON, base64, protobuf. Whatever is not as expected is refused with the
 * number of the record. */
#include "tfrecord.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <nettle/base16.h>
#include <nettle/base64.h>

#include "base/json_tree.h"
#include "base/mem.h"
#include "base/status.h"

/* The file, and the record at hand; published ones have about 500 bytes. */
enum { MAX_RECORD = 1 << 16 };
typedef struct reader {
  const char *name;
  FILE *file;
  unsigned long long record; /* its number, from 1 */
  size_t size;
  char data[MAX_RECORD];
  uint8_t metrics[BASE64_DECODE_LENGTH(MAX_RECORD)];
  cb_json_tree json; /* of the record */
} reader;

/* Fails with a sentence that starts with the file and the record. */
static cocabo_status fail(const reader *r, const char *what, cocabo_error *err) {
  return cb_fail(err, COCABO_E_INVALID, "%s record %llu %s", r->name, r->record, what);
}

/* ---- frames --------------------------------------------------------------------- */

uint32_t tfrecord_crc(const void *bytes, size_t size) {
  static const uint32_t of_four_bits[16] = {
      0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3,
      0x61c69362, 0x7198540d, 0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
      0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75};
  const uint8_t *at = bytes;
  uint32_t crc = UINT32_MAX;
  for (size_t i = 0; i < size; i++) {
    crc ^= at[i];
    crc = crc >> 4 ^ of_four_bits[crc & 15];
    crc = crc >> 4 ^ of_four_bits[crc & 15];
  }
  crc = ~crc;
  return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

static uint64_t read_little_endian(const uint8_t *at, int bytes) {
  uint64_t number = 0;
  for (int i = bytes - 1; i >= 0; i--)
    number = number << 8 | at[i];
  return number;
}

static cocabo_status fail_reading(const reader *r, cocabo_error *err) {
  if (!ferror(r->file))
    return fail(r, "is cut short", err);
  return cb_fail(err, COCABO_E_INVALID, "cannot read %s: %s", r->name, strerror(errno));
}

static cocabo_status read_data(reader *r, cocabo_error *err) {
  uint8_t crc[4];
  if (fread(r->data, 1, r->size, r->file) < r->size ||
      fread(crc, 1, sizeof crc, r->file) < sizeof crc)
    return fail_reading(r, err);
  if (tfrecord_crc(r->data, r->size) != read_little_endian(crc, 4))
    return fail(r, "is damaged: its data has another checksum", err);
  return COCABO_OK;
}

/* Reads the next record; *end where there is none. */
static cocabo_status read_frame(reader *r, bool *end, cocabo_error *err) {
  uint8_t head[12]; /* the size and its checksum */
  const size_t size = fread(head, 1, sizeof head, r->file);
  *end = size == 0 && !ferror(r->file);
  if (*end)
    return COCABO_OK;
  r->record++;
  if (size < sizeof head)
    return fail_reading(r, err);
  if (tfrecord_crc(head, 8) != read_little_endian(head + 8, 4))
    return fail(r, "is damaged: its size has another checksum", err);
  const uint64_t bytes = read_little_endian(head, 8);
  if (bytes > MAX_RECORD)
    return cb_fail(err, COCABO_E_INVALID,
                   "%s record %llu has %llu bytes, want at most %d", r->name, r->record,
                   (unsigned long long)bytes, MAX_RECORD);
  r->size = (size_t)bytes;
  return read_data(r, err);
}

/* ---- protobuf ------------------------------------------------------------------- */

/* What is left of a message. */
typedef struct message {
  const uint8_t *at;
  size_t size;
} message;

/* How the value of a field is laid out. */
enum { VARINT = 0, EIGHT_BYTES = 1, COUNTED_BYTES = 2, FOUR_BYTES = 5 };
typedef struct field {
  uint64_t number;
  int layout;
  message value; /* of a varint: empty, none matters here */
} field;

static bool take_varint(message *m, uint64_t *out) {
  *out = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (m->size == 0)
      return false;
    const uint8_t byte = *m->at++;
    m->size--;
    *out |= (uint64_t)(byte & 127) << shift;
    if (byte < 128)
      return true;
  }
  return false;
}

static bool take_bytes(message *m, uint64_t size, message *out) {
  if (size > m->size)
    return false;
  *out = (message){m->at, (size_t)size};
  m->at += size;
  m->size -= (size_t)size;
  return true;
}

static bool take_field(message *m, field *f) {
  uint64_t tag = 0, number = 0;
  if (!take_varint(m, &tag))
    return false;
  *f = (field){.number = tag >> 3, .layout = (int)(tag & 7)};
  switch (f->layout) {
  case VARINT:
    return take_varint(m, &number);
  case EIGHT_BYTES:
    return take_bytes(m, 8, &f->value);
  case FOUR_BYTES:
    return take_bytes(m, 4, &f->value);
  case COUNTED_BYTES:
    return take_varint(m, &number) && take_bytes(m, number, &f->value);
  default:
    return false;
  }
}

static double double_of(const field *f) {
  const uint64_t bits = read_little_endian(f->value.at, 8);
  double number = 0.0;
  memcpy(&number, &bits, sizeof number);
  return number;
}

enum { METRICS_EVALUATION = 1, EVALUATION_TEST = 5 };
static const double none = -1.0; /* no accuracy */

static bool read_evaluation(message m, double *test) {
  field f;
  *test = none;
  while (m.size > 0) {
    if (!take_field(&m, &f))
      return false;
    if (f.number == EVALUATION_TEST && f.layout == EIGHT_BYTES)
      *test = double_of(&f);
  }
  return true;
}

/* The test accuracy of the last evaluation; those before it are of earlier epochs. */
static bool read_metrics(message m, double *test) {
  field f;
  *test = none;
  while (m.size > 0) {
    if (!take_field(&m, &f))
      return false;
    if (f.number == METRICS_EVALUATION &&
        (f.layout != COUNTED_BYTES || !read_evaluation(f.value, test)))
      return false;
  }
  return true;
}

/* ---- records -------------------------------------------------------------------- */

/* The fields of the JSON that matter; borrowed from it. */
typedef struct fields {
  const char *hash, *metrics;
  size_t hash_size, metrics_size;
  int64_t epochs;
} fields;

static bool decode_hash(const fields *f, uint8_t hash[NAS_HASH_SIZE]) {
  struct base16_decode_ctx base16;
  size_t size = 0;
  if (f->hash_size != BASE16_ENCODE_LENGTH(NAS_HASH_SIZE))
    return false;
  base16_decode_init(&base16);
  return base16_decode_update(&base16, &size, hash, f->hash_size, f->hash) &&
         base16_decode_final(&base16) && size == NAS_HASH_SIZE;
}

/* The message lies in the reader, where there is room for as much as a record holds. */
static bool decode_metrics(reader *r, const fields *f, message *out) {
  struct base64_decode_ctx base64;
  size_t size = 0;
  base64_decode_init(&base64);
  if (!base64_decode_update(&base64, &size, r->metrics, f->metrics_size, f->metrics) ||
      !base64_decode_final(&base64))
    return false;
  *out = (message){r->metrics, size};
  return true;
}

static cocabo_status read_entry(reader *r, const fields *f, nas_entry *out,
                                cocabo_error *err) {
  message metrics = {0};
  double test = none;
  if (!decode_hash(f, out->hash))
    return fail(r, "has a hash that is not 32 hexadecimal digits", err);
  if (!decode_metrics(r, f, &metrics))
    return fail(r, "has metrics that are not base64", err);
  if (!read_metrics(metrics, &test))
    return fail(r, "has metrics that are not a protobuf of ModelMetrics", err);
  if (!(test >= 0.0 && test <= 1.0))
    return fail(r, "has no test accuracy between 0 and 1", err);
  out->accuracy = nas_share_of_images(test);
  return COCABO_OK;
}

/* The entries so far, with the numbers of their records. */
typedef struct numbered {
  nas_entry entry;
  unsigned long long record;
} numbered;

typedef struct entries {
  numbered *items;
  size_t n, capacity;
} entries;

static cocabo_status append(entries *all, numbered item, cocabo_error *err) {
  void *items = all->items;
  if (!cb_reserve(&items, &all->capacity, all->n + 1, sizeof *all->items))
    return cb_no_memory(err);
  all->items = items;
  all->items[all->n++] = item;
  return COCABO_OK;
}

enum { EPOCHS = 108 };
static cocabo_status take_record(reader *r, entries *all, cocabo_error *err) {
  fields f = {0};
  const char *text[5] = {0};
  size_t n = 0;
  numbered item = {.record = r->record};
  const cocabo_status status = cb_json_read_all(&r->json, r->data, r->size, err);
  if (status == COCABO_E_INVALID)
    return fail(r, "is not JSON", err);
  CB_TRY(status);
  const cb_json_node *list = r->json.nodes, *epochs = NULL;
  for (const cb_json_node *part = cb_json_first(list); part && n < 5;
       part = cb_json_next(list, part), n++) {
    text[n] = cb_json_text(part);
    epochs = n == 1 ? part : epochs;
  }
  if (list->type != CB_JSON_ARRAY || list->items != 5 || !text[0] ||
      !cb_json_is(epochs, CB_JSON_INTEGER) || !text[2] || !text[3] || !text[4])
    return fail(r, "is not a list of hash, epochs, adjacency, operations and metrics",
                err);
  f.hash = text[0];
  f.hash_size = strlen(text[0]);
  f.epochs = epochs->value.as.integer;
  f.metrics = text[4];
  f.metrics_size = strlen(text[4]);
  if (f.epochs != EPOCHS)
    return COCABO_OK;
  CB_TRY(read_entry(r, &f, &item.entry, err));
  return append(all, item, err);
}

/* ---- the table ------------------------------------------------------------------ */

static int compare(const void *a, const void *b) {
  const numbered *p = a, *q = b;
  const int order = memcmp(p->entry.hash, q->entry.hash, NAS_HASH_SIZE);
  return order != 0 ? order : (p->record > q->record) - (p->record < q->record);
}

static cocabo_status make_table(const char *name, entries *all, nas_table *out,
                                cocabo_error *err) {
  if (all->n == 0)
    return cb_fail(err, COCABO_E_INVALID, "%s has no record of %d epochs", name,
                   EPOCHS);
  nas_table table = {.entries = cb_calloc(all->n, sizeof(nas_entry))};
  if (!table.entries)
    return cb_no_memory(err);
  qsort(all->items, all->n, sizeof *all->items, compare);
  for (size_t i = 0; i < all->n; i++) {
    const nas_entry *entry = &all->items[i].entry;
    if (i == 0 || memcmp(entry->hash, all->items[i - 1].entry.hash, NAS_HASH_SIZE) != 0)
      table.entries[table.n++] = *entry;
  }
  *out = table;
  return COCABO_OK;
}

static cocabo_status read_all(reader *r, entries *all, cocabo_error *err) {
  for (;;) {
    bool end = false;
    CB_TRY(read_frame(r, &end, err));
    if (end)
      return COCABO_OK;
    CB_TRY(take_record(r, all, err));
  }
}

cocabo_status nas_table_read_records(const char *name, FILE *file, nas_table *out,
                                     cocabo_error *err) {
  entries all = {0};
  *out = (nas_table){0};
  reader *r = cb_calloc(1, sizeof *r);
  if (!r)
    return cb_no_memory(err);
  r->name = name;
  r->file = file;
  cocabo_status status = read_all(r, &all, err);
  if (status == COCABO_OK)
    status = make_table(name, &all, out, err);
  cb_free(all.items);
  cb_json_tree_free(&r->json);
  cb_free(r);
  return status;
}
