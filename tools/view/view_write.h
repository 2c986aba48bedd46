/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes a page to its file; used by `view` and at the end of `run`. */
#ifndef VS_VIEW_WRITE_H
#define VS_VIEW_WRITE_H

#include <stdbool.h>

#include "viewer/html/page.h"

/* vs_view_may_write: false, with a message of *who*, when *output* is one of the traces (*second* may
 * be NULL), or another trace. */
bool vs_view_may_write(const char *who, const char *output, const char *first, const char *second);

/* vs_view_write: writes the page, completely or not at all, to *path* (NULL: standard output), and
 * prints a line about it to *told* (NULL: nothing). Returns an exit code. */
int vs_view_write(const char *who, const char *path, const struct vs_page_data *first,
                  const struct vs_page_data *second, FILE *told);

/* vs_view_recorded: the page of a trace that was just recorded, whatever its condition, to *output*,
 * or if NULL to the trace's default name and opened in the browser. Messages on standard error. */
void vs_view_recorded(const char *who, const char *trace, const char *output);

#endif
