/* SPDX-License-Identifier: Apache-2.0
 *
 * Resolves a symbolic link, also to a file that does not exist yet: realpath(3) cannot do that, and
 * O_CREAT with O_EXCL does not follow links. */
#ifndef VS_LINK_H
#define VS_LINK_H

#include <stdbool.h>
#include <stddef.h>

/* vs_link_follow: while *path* (in a buffer of *max* bytes) is a symbolic link, replaces it by its
 * target. Links of other users except root are not followed, as anyone could place one in a shared
 * folder. A path that is not a link, or does not exist, is unchanged. Returns false with errno:
 * ELOOP, EPERM for another user's link, ENAMETOOLONG, or as readlink(2); *path* is then a link.
 * Uses 4 KiB of stack; no malloc. */
bool vs_link_follow(char *path, size_t max);

#endif
