/* SPDX-License-Identifier: Apache-2.0
 *
 * The files a recording makes. Only what it made itself is ever written to, cut or removed; what
 * has the name already stays what it is. Private to src/trace. */
#ifndef VS_OWN_FILE_H
#define VS_OWN_FILE_H

#include <stdbool.h>
#include <stdint.h>

/* vs_own_file_create: a new file at *path*, mode 0600, or the pipe or character device that is
 * there, which is written to as it is. Gives a descriptor, or -1 with errno: EEXIST for anything
 * else that is there, also behind a symbolic link. Without *keep_existing* that name, a link's
 * too, is taken from a file; what a link leads to stays. */
int vs_own_file_create(const char *path, bool keep_existing);

/* vs_own_file_remove: unlink *path* if it still is that file. */
void vs_own_file_remove(const char *path, uint64_t device, uint64_t inode);

#endif
