/* base.h - the helpers of src/base that programs use too, under their own names: how a
 * call fails, memory, texts and numbers, and JSON. cli/ sees src/ through this header
 * alone. */
#ifndef FRONT_BASE_H
#define FRONT_BASE_H

#include "base/json_tree.h"
#include "base/mem.h"
#include "base/status.h"
#include "base/text.h"
#include "base/token.h"

#endif
