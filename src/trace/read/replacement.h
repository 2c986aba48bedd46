/* SPDX-License-Identifier: Apache-2.0
 *
 * The hidden file beside a trace that is to take its place: .NAME.PID.new, locked while it is
 * written, so that one left behind by a process that was killed is known and removed by the
 * next. One at a time in a process; the tools' own outputs are written so, too. */
#ifndef VS_REPLACEMENT_H
#define VS_REPLACEMENT_H

#include <stdbool.h>

struct vs_source; /* trace/read/reader_internal.h */

/* vs_replacement_make: an empty file beside *target*. Gives its descriptor and
 * the path in **path*, malloc'ed; -1 with errno set when it cannot be made. */
int vs_replacement_make(const char *target, char **path);

/* vs_replacement_like: give *fd* the permissions of *old*, and its owner when *owner*. false when
 * it should have that owner and cannot. */
bool vs_replacement_like(int fd, const struct vs_source *old, bool owner);

/* vs_replacement_same: is what is at *path* the file that *old* was opened from, of that size? */
bool vs_replacement_same(const char *path, const struct vs_source *old);

/* vs_replacement_forget: the file is gone or in its place; nothing is left to be removed by
 * vs_rewrite_discard. */
void vs_replacement_forget(void);

#endif
