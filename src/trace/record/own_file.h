/* SPDX-License-Identifier: Apache-2.0
 *
 * The files a recording creates. Only files that it created itself are ever written to, cut or
 * removed; an existing file of that name is left as it is. A copy that the program asks for replaces
 * a plain file. Private to src/trace. */
#ifndef VS_OWN_FILE_H
#define VS_OWN_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vs_err.h"

/* vs_own_file_create: a new file at *path*, mode 0600, or the existing pipe or character device,
 * which is written to as it is. Returns a descriptor, or -1 with errno: EEXIST for anything else
 * that exists, also behind a symbolic link. Without *keep_existing* an existing file or link is
 * unlinked first; the target of a link stays. */
int vs_own_file_create(const char *path, bool keep_existing);

/* vs_own_file_remove: unlink *path* if it still is that file. */
void vs_own_file_remove(const char *path, uint64_t device, uint64_t inode);

/* A copy of a file that only grows: its first *bytes*, which no longer change, and a tail. */
struct vs_own_copy {
    int from;
    uint64_t bytes;
    unsigned char *tail;
    size_t tail_bytes;
};

/* vs_own_copy_begin: remember the first *bytes* of the file open as *fd* (for writing only), and the
 * *tail* that follows them in the copy. VS_ERR_IO with errno. */
enum vs_err vs_own_copy_begin(struct vs_own_copy *copy, int fd, uint64_t bytes, const void *tail,
                              size_t tail_bytes) VS_MUST_CHECK;
/* vs_own_copy_write: the copy becomes *path*; a file of that name, also behind a link, is replaced
 * when all of the copy is written, so that no reader finds half of one. A process killed meanwhile
 * leaves nothing, except PATH.*.new: a whole copy if it was killed between two system calls; part of
 * one where the file system has no files without a name (O_TMPFILE), as NFS. VS_ERR_IO with errno;
 * *path* is as before then. VS_ERR_ARG: *path* is that file itself, or a pipe, a device or a
 * socket. */
enum vs_err vs_own_copy_write(const struct vs_own_copy *copy, const char *path) VS_MUST_CHECK;
void vs_own_copy_close(struct vs_own_copy *copy);

#endif
