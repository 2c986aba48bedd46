/* SPDX-License-Identifier: Apache-2.0
 *
 * The files a recording creates. Only files that it created itself are ever written to, cut or
 * removed; an existing file of that name is left as it is. A copy that the program asks for takes
 * the place that it names. Private to src/trace. */
#ifndef VS_OWN_FILE_H
#define VS_OWN_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vs_err.h"

/* vs_own_file_create: a new file at *path*, mode 0600, or the existing pipe or character device,
 * which is written to as it is. Returns a descriptor, or -1 with errno: EEXIST for anything else
 * that exists, also behind a symbolic link. Without *keep_existing* an existing file or link is
 * unlinked first; the target of a link stays. */
int vs_own_file_create(const char *path, bool keep_existing);

/* vs_own_file_remove: unlink *path* if it still is that file. */
void vs_own_file_remove(const char *path, uint64_t device, uint64_t inode);

/* vs_own_file_copy: the contents of the file open as *fd* (for writing only) become *path*, which is
 * replaced when all of them are written, so that no reader finds half of a copy. VS_ERR_IO with
 * errno; *path* is as before then. VS_ERR_ARG: *path* is that file itself. */
enum vs_err vs_own_file_copy(int fd, const char *path) VS_MUST_CHECK;

#endif
