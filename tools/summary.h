/* SPDX-License-Identifier: Apache-2.0
 *
 * What `vramscope run` prints about each trace when the program has ended. */
#ifndef VS_SUMMARY_H
#define VS_SUMMARY_H

#include <stdio.h>

/* vs_summary_print: the text report of the trace at *path* on *out*, then a line
 * naming the trace and what to do next. A trace that cannot be read gets one
 * line. */
void vs_summary_print(const char *path, FILE *out);

#endif
