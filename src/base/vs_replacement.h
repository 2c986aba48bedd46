/* SPDX-License-Identifier: Apache-2.0
 *
 * A hidden file beside one whose place it takes once it is written whole: .NAME.PID.new,
 * locked while it is written, so that one left behind by a process that was killed is removed
 * by the next. One at a time in a process. */
#ifndef VS_REPLACEMENT_H
#define VS_REPLACEMENT_H

#include <stdbool.h>
#include <stdint.h>

/* vs_replacement_make: creates an empty file beside *target*. Returns its descriptor and the path
 * in **path*, malloc'ed; -1 with errno set when it cannot be created. */
int vs_replacement_make(const char *target, char **path);

/* vs_replacement_like: give *fd* the permissions of the file open as *old* (-1: none), and its
 * owner when *owner*. false when it should have that owner and cannot. */
bool vs_replacement_like(int fd, int old, bool owner);

/* vs_replacement_same: is *path* the file open as *old* (-1: no), and *bytes* long? */
bool vs_replacement_same(const char *path, int old, uint64_t bytes);

/* vs_replacement_forget: the file is gone or in its place; nothing is left to be removed by
 * vs_replacement_discard. */
void vs_replacement_forget(void);

/* vs_replacement_discard: for signal handlers, before the process ends: remove the new file
 * that is being written, if any. */
void vs_replacement_discard(void);

#endif
