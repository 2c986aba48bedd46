/* SPDX-License-Identifier: Apache-2.0
 *
 * The size that a trace was to stay below while it was recorded (--max-trace-size). What is put
 * into it afterwards, names and checkpoints, may carry it over that; who does so says it. */
#ifndef VS_SIZE_LIMIT_H
#define VS_SIZE_LIMIT_H

#include <stdint.h>

#include "trace/read/reader.h"

/* vs_size_limit: in bytes; 0: none. The reader's position is lost. */
uint64_t vs_size_limit(struct vs_reader *reader);

#endif
