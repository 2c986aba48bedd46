/* SPDX-License-Identifier: Apache-2.0
 *
 * The size limit of the trace during recording (--max-trace-size). Later additions, names and
 * checkpoints, may exceed it; the command that adds them says so. */
#ifndef VS_SIZE_LIMIT_H
#define VS_SIZE_LIMIT_H

#include <stdint.h>

#include "trace/read/reader.h"

/* vs_size_limit: in bytes; 0: none. Changes the reader's position. */
uint64_t vs_size_limit(struct vs_reader *reader);

#endif
