/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. Follows one link at a time, each relative to its own folder. */
#include "base/vs_link.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINKS_MAX 40 /* as the kernel */

/* Replaces the link *path* by its target. */
static bool follow_one(char *path, size_t max)
{
    char target[PATH_MAX];
    ssize_t n = readlink(path, target, sizeof target);
    if (n <= 0)
        return false;
    const char *slash = strrchr(path, '/');
    size_t folder = *target != '/' && slash ? (size_t)(slash - path) + 1 : 0;
    if (n == sizeof target || folder + (size_t)n >= max) {
        errno = ENAMETOOLONG;
        return false;
    }
    memcpy(path + folder, target, (size_t)n);
    path[folder + (size_t)n] = 0;
    return true;
}

bool vs_link_follow(char *path, size_t max)
{
    struct stat st;
    for (unsigned i = 0; !lstat(path, &st) && S_ISLNK(st.st_mode); i++) {
        if (i == LINKS_MAX)
            errno = ELOOP;
        else if (st.st_uid && st.st_uid != geteuid())
            errno = EPERM;
        else if (follow_one(path, max))
            continue;
        return false;
    }
    return true;
}
