/* SPDX-License-Identifier: Apache-2.0
 *
 * What `vramscope run` prints about each trace when the program has ended. */
#ifndef VS_SUMMARY_H
#define VS_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* vs_summary_print: the text report of the trace at *path* on *out*, then a line
 * naming the trace and what to do next. A trace that cannot be read gets one
 * line. */
void vs_summary_print(const char *path, FILE *out);

/* vs_summary_is_trace: do the first *n* bytes of a file look like a trace? */
bool vs_summary_is_trace(const char *bytes, size_t n);

#endif
