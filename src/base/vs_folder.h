/* SPDX-License-Identifier: Apache-2.0
 *
 * Folders of files that are kept as a cache: made when needed, and trimmed to a size. Not for
 * the recording side: it allocates memory. */
#ifndef VS_FOLDER_H
#define VS_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* vs_folder_make: *path* and the folders above it, with mode 0700. False where *path* is not
 * a folder afterwards, or its name is too long. */
bool vs_folder_make(const char *path);

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
