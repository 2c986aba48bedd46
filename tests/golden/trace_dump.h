/* SPDX-License-Identifier: Apache-2.0
 *
 * A trace as text, one line per event with every field by name: for tests and for inspecting a
 * file. */
#ifndef VS_TRACE_DUMP_H
#define VS_TRACE_DUMP_H

#include <stdbool.h>
#include <stdio.h>

#include "trace/read/reader.h"

/* vs_trace_dump: writes every event from the reader's present position on, then a line with the
 * condition. Texts are quoted, bytes outside printable ASCII as \xNN; a stack is printed as its
 * frames, module+0xoffset, innermost first, when *frames* is set, otherwise as its id.
 * VS_ERR_IO when writing to *out* fails. */
enum vs_err vs_trace_dump(struct vs_reader *reader, FILE *out, bool frames) VS_MUST_CHECK;

#endif
