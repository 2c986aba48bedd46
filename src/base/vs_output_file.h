/* SPDX-License-Identifier: Apache-2.0
 *
 * Files that the read side writes whole: replacements of files, and folders of files that are kept
 * as a cache. Not for the recording side: it allocates memory.
 *
 * A replacement is a hidden file beside the one whose place it takes once it is written:
 * .NAME.PID.new, locked while it is written, so that the next process removes one that a killed
 * process left behind. A signal removes up to VS_REPLACEMENTS of a process. */
#ifndef VS_OUTPUT_FILE_H
#define VS_OUTPUT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VS_REPLACEMENTS 8

/* vs_replacement_make: an empty file beside *target*. Gives its descriptor and
 * the path in **path*, malloc'ed; -1 with errno set when it cannot be made. */
int vs_replacement_make(const char *target, char **path);

/* vs_replacement_like: give *fd* the permissions of the file open as *old* (-1: none), and its
 * owner when *owner*. false when it should have that owner and cannot. */
bool vs_replacement_like(int fd, int old, bool owner);

/* vs_replacement_same: is *path* the file open as *old* (-1: no), and *bytes* long? */
bool vs_replacement_same(const char *path, int old, uint64_t bytes);

/* vs_replacement_remember: vs_replacement_discard is to remove *path* as well, made otherwise. */
void vs_replacement_remember(const char *path);

/* vs_replacement_forget: the file *path* is gone or in its place: vs_replacement_discard does not remove it.
 * NULL does nothing. */
void vs_replacement_forget(const char *path);

/* vs_replacement_discard: for signal handlers, before the process ends: remove the new files
 * that are being written. */
void vs_replacement_discard(void);

/* ---- folders ---- */

/* vs_folder_make: *path* and the folders above it. False with errno where *path* is not a folder afterwards. */
bool vs_folder_make(const char *path, unsigned mode);

/* vs_folder_cache: writes the folder *name* of vramscope's caches to *out*: in XDG_CACHE_HOME, or ~/.cache.
 * False without a home directory. */
bool vs_folder_cache(const char *name, char *out, size_t room);

/* vs_folder_write: all of *bytes* to *fd*. False with errno. */
bool vs_folder_write(int fd, const void *bytes, size_t count);

enum vs_folder_entry {
    VS_FOLDER_FOREIGN,  /* left alone */
    VS_FOLDER_KEPT,     /* removed when there is too much */
    VS_FOLDER_UNFINISHED /* removed when nobody wrote to it for *stale_seconds* */
};

/* vs_folder_trim: remove the kept files of the folder *path* that were used longest ago, by
 * their time of modification, until at most *bytes_max* are left, and what processes that
 * were killed left unfinished. *classify* says by its name what a file is. */
void vs_folder_trim(const char *path, uint64_t bytes_max, unsigned stale_seconds,
                    enum vs_folder_entry (*classify)(const char *name));

#endif
