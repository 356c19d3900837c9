/* cocabo_store.h - stores by URL: studies that outlive the process.
 *
 *   sqlite:///study.db        a file, relative to the working directory
 *   sqlite:////tmp/study.db   a file, absolute
 *   study.db                  a bare path is a SQLite file too
 *   memory:                   in this process only
 *
 * When tell returns, the result survives the death of this process at any moment, and a
 * power cut too where the study's option durability is full. Several processes and
 * threads may use one file at once; it should be on a local disk.
 */
#ifndef COCABO_STORE_H
#define COCABO_STORE_H

#include "cocabo.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  COCABO_STORE_CREATE = 1u,   /* make the file if there is none */
  COCABO_STORE_READ_ONLY = 2u /* never write; appending is COCABO_E_STORE */
};

/* *out is owned by the caller and released by cocabo_store_free, after its studies.
 * COCABO_E_NOT_FOUND if there is no such file and COCABO_STORE_CREATE was not given. */
COCABO_API cocabo_status cocabo_store_open(cocabo_store **out, const char *url,
                                           unsigned flags,
                                           cocabo_error *err) COCABO_MUST_CHECK;

#ifdef __cplusplus
}
#endif
#endif /* COCABO_STORE_H */
