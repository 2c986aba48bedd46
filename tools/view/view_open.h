/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of pages, and opening one in the user's browser. */
#ifndef VS_VIEW_OPEN_H
#define VS_VIEW_OPEN_H

#include <limits.h>
#include <stdbool.h>

/* vs_view_name: the page's name for the trace at *first* and, if not NULL, *second*: "train.html" for
 * "train.vst", in the same folder. Returns false, with a message of *who*, if it is too long. */
bool vs_view_name(const char *who, const char *first, const char *second, char out[PATH_MAX]);

/* vs_view_show: opens the file *path* with xdg-open, which goes on by itself. Where there is no desktop,
 * or no xdg-open, prints a line with *place* instead: the path, or the address to which it leads. */
void vs_view_show(const char *who, const char *path, const char *place);

/* vs_view_redirect: writes a page that leads to *url* to a new file with mode 0600, which the caller
 * removes: the arguments of a process are readable for everyone. False with errno. */
bool vs_view_redirect(const char *url, char path[PATH_MAX]);

#endif
