/* tfrecord.h - NAS-Bench-101 as its authors publish it: nasbench_only108.tfrecord and
 * nasbench_full.tfrecord.
 *
 * A record is u64 size | u32 crc(size) | data | u32 crc(data), little endian, with
 * masked CRC-32C, which is what tells a damaged file. Its data is the JSON
 * [hash, epochs, adjacency, operations, metrics], its metrics base64 of a protobuf:
 *   ModelMetrics    1 repeated EvaluationData, 2 parameters, 3 time
 *   EvaluationData  1 epoch, 2 time, 3 train, 4 validation, 5 test accuracy, 6 path
 */
#ifndef BENCH_TFRECORD_H
#define BENCH_TFRECORD_H

#include <stdint.h>
#include <stdio.h>

#include "cocabo.h"
#include "nasbench.h"

/* Of all records with 108 epochs, the first of each cell, and of that the test accuracy
 * of the last evaluation. The file is read in a stream, up to its end. `name` is for
 * the sentences, which name the record by its number from 1. *out is the caller's. */
cocabo_status nas_table_read_records(const char *name, FILE *file, nas_table *out,
                                     cocabo_error *err);

/* CRC-32C (Castagnoli), masked so that the checksum of data that holds checksums is no
 * plain one. */
uint32_t tfrecord_crc(const void *bytes, size_t size);

#endif
