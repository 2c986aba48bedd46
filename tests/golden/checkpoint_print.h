/* SPDX-License-Identifier: Apache-2.0
 *
 * The checkpoints in a trace as the C reader restores them, as text: for each its entry in the
 * table, the definitions since the previous one, and the modules and the records of the state, in the
 * order of docs/internals/trace-format.md §2.8, their fields as plain numbers: those that the state
 * before lacks, and the number of the others. Contents of maps are sorted by address. */
#ifndef VS_CHECKPOINT_PRINT_H
#define VS_CHECKPOINT_PRINT_H

#include <stdio.h>

#include "trace/read/reader.h"

/* vs_checkpoint_print: *reader* must not have read anything yet. VS_ERR_CORRUPT: one is
 * invalid. */
enum vs_err vs_checkpoint_print(struct vs_reader *reader, FILE *out) VS_MUST_CHECK;

#endif
