/* Files of NAS-Bench-101 in the authors' format. The first byte says what the rest is:
 * 'f' a file as it stands, 'm' the metrics of a record, else records, one a line.
 * Checksums are no hurdle to somebody hostile, so they are right for all but 'f'. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <nettle/base64.h>

#include "common/buffer.h"
#include "fuzz/fuzz_demand.h"
#include "tfrecord.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void put(front_buffer *out, const void *bytes, size_t size) {
  cocabo_error err;
  demand(front_buffer_append(out, bytes, size, &err) == COCABO_OK, "there is memory");
}

static void put_number(front_buffer *out, uint64_t number, int bytes) {
  for (int i = 0; i < bytes; i++, number >>= 8)
    put(out, &(uint8_t){(uint8_t)number}, 1);
}

static void put_frame(front_buffer *out, const void *data, size_t size) {
  const size_t start = out->size;
  put_number(out, size, 8);
  put_number(out, tfrecord_crc(out->data + start, 8), 4);
  put(out, data, size);
  put_number(out, tfrecord_crc(data, size), 4);
}

static void put_lines(front_buffer *out, const char *text, size_t size) {
  const char *end = text + size;
  while (text < end) {
    const char *newline = memchr(text, '\n', (size_t)(end - text));
    const char *stop = newline ? newline : end;
    put_frame(out, text, (size_t)(stop - text));
    text = newline ? newline + 1 : end;
  }
}

static void put_metrics(front_buffer *out, const uint8_t *metrics, size_t size) {
  static const char before[] = "[\"0123456789abcdef0123456789ABCDEF\",108,\"\",\"\",\"";
  front_buffer record = {0};
  char *base64 = malloc(BASE64_ENCODE_RAW_LENGTH(size) + 1);
  demand(base64 != NULL, "there is memory");
  base64_encode_raw(base64, size, metrics);
  put(&record, before, sizeof before - 1);
  put(&record, base64, BASE64_ENCODE_RAW_LENGTH(size));
  put(&record, "\"]", 2);
  put_frame(out, record.data, record.size);
  front_buffer_free(&record);
  free(base64);
}

static void demand_table(const nas_table *table) {
  demand(table->n > 0, "a table has entries");
  for (size_t i = 0; i < table->n; i++) {
    const nas_entry *entry = &table->entries[i];
    demand(entry->accuracy >= 0.0 && entry->accuracy <= 1.0, "an accuracy is a share");
    demand(nas_table_find(table, entry->hash) == entry, "every entry is found");
  }
}

static void read_file(const front_buffer *bytes) {
  nas_table table;
  cocabo_error err;
  FILE *file = bytes->size > 0 ? fmemopen(bytes->data, bytes->size, "rb") : NULL;
  if (!file)
    return;
  const cocabo_status status = nas_table_read_records("file", file, &table, &err);
  fclose(file);
  if (status == COCABO_OK)
    demand_table(&table);
  else
    demand_sentence(&err, status);
  nas_table_free(&table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0)
    return 0;
  front_buffer bytes = {0};
  if (data[0] == 'f')
    put(&bytes, data + 1, size - 1);
  else if (data[0] == 'm')
    put_metrics(&bytes, data + 1, size - 1);
  else
    put_lines(&bytes, (const char *)data + 1, size - 1);
  read_file(&bytes);
  front_buffer_free(&bytes);
  return 0;
}
