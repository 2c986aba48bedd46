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

/* A page to be written. */
struct vs_view_page_file {
    const char *path;                     /* NULL: standard output */
    const char *traces[2];                /* what it is made from; the second may be NULL */
    const struct vs_page_data *data[2];   /* likewise */
};

/* vs_view_write: writes the page, completely or not at all, with no more permissions than its traces
 * have, and prints a line about it to *told* (NULL: nothing). Returns an exit code. */
int vs_view_write(const char *who, const struct vs_view_page_file *page, FILE *told);

/* vs_view_recorded: the pages of *count* traces that were just recorded, whatever their condition, under
 * their default names. The one of the process that failed, or has the largest peak, is opened in the
 * browser; with *output* only that one is written, there. Messages on standard error. */
void vs_view_recorded(const char *who, char *const *traces, size_t count, const char *output);

#endif
