/* SPDX-License-Identifier: Apache-2.0
 *
 * Where a symbolic link leads, also to a file that is to be made yet: what realpath(3) cannot
 * tell, and O_CREAT with O_EXCL does not follow. */
#ifndef VS_LINK_H
#define VS_LINK_H

#include <stdbool.h>
#include <stddef.h>

/* vs_link_follow: while *path* (in a buffer of *max* bytes) is a symbolic link, put there where it
 * leads. Links of other users, root aside, are not followed, as they could lead anyone astray in a
 * folder for all. What is no link, or not there, is left as it is. false with errno: ELOOP, EPERM
 * for another user's, ENAMETOOLONG, or as of readlink(2); *path* is then a link. Uses 4 KiB of
 * stack; no malloc. */
bool vs_link_follow(char *path, size_t max);

#endif
