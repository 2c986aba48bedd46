/* SPDX-License-Identifier: Apache-2.0
 *
 * A trace as text, one line per event with every field by name: for tests and
 * for looking into a file. */
#ifndef VS_TRACE_DUMP_H
#define VS_TRACE_DUMP_H

#include <stdbool.h>
#include <stdio.h>

#include "trace/read/reader.h"

/* vs_trace_dump: write every event from the reader's present position on, then a
 * line with the condition. Texts are quoted, bytes outside printable ASCII as
 * \xNN; a stack is its frames as module+0xoffset, innermost first, when *frames*
 * is set, else its id. VS_ERR_NOMEM; VS_ERR_IO when *out* refuses. */
enum vs_err vs_trace_dump(struct vs_reader *reader, FILE *out, bool frames) VS_MUST_CHECK;

#endif
