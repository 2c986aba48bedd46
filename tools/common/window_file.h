/* SPDX-License-Identifier: Apache-2.0
 *
 * The file of `vramscope report --windows`: one window on each line. */
#ifndef VS_WINDOW_FILE_H
#define VS_WINDOW_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/report/window_peaks.h"

/* vs_window_file_read: the windows of the file at *path*, "FROM TO" in ns since the start, in *out*; the
 * caller frees it. Empty lines and comments ("# ...") are skipped. Returns false, with a message, when
 * the file cannot be read, a line is not a window, or there is none. */
bool vs_window_file_read(const char *who, const char *path, struct vs_report_window **out, size_t *count);

#endif
