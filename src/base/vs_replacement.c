/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. The owner of a file: the pid in its name belongs to this system's processes or to
 * another container's; the lock works across containers. */
#define _GNU_SOURCE
#include "base/vs_replacement.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define TRIES_MAX 100
#define PREFIX_BYTES 208

/* For a signal handler, which reads it only while *pending* is set. */
static char pending_path[PATH_MAX];
static volatile sig_atomic_t pending;

/* .NAME.PID.new or .NAME.PID.N.new, with *prefix* ".NAME." */
static bool is_one(const char *name, const char *prefix, long *pid)
{
    size_t n = strlen(prefix);
    char *end;
    if (strncmp(name, prefix, n) || !isdigit((unsigned char)name[n]))
        return false;
    *pid = strtol(name + n, &end, 10);
    if (*end == '.' && isdigit((unsigned char)end[1]))
        strtol(end + 1, &end, 10);
    return *pid > 0 && *pid <= INT_MAX && !strcmp(end, ".new");
}

static void remove_stale(const char *folder, const char *prefix)
{
    DIR *dir = opendir(folder);
    const struct dirent *entry;
    long pid;
    while (dir && (entry = readdir(dir))) {
        if (!is_one(entry->d_name, prefix, &pid) || !kill((pid_t)pid, 0) || errno != ESRCH)
            continue;
        int fd = openat(dirfd(dir), entry->d_name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        if (fd >= 0 && !flock(fd, LOCK_EX | LOCK_NB))
            unlinkat(dirfd(dir), entry->d_name, 0);
        if (fd >= 0)
            close(fd);
    }
    if (dir)
        closedir(dir);
}

static int create(const char *folder, const char *prefix, char **path)
{
    int fd = -1;
    char again[16] = "";
    for (unsigned i = 1; fd < 0 && i <= TRIES_MAX; i++) {
        if (asprintf(path, "%s/%s%ld%s.new", folder, prefix, (long)getpid(), again) < 0) {
            *path = NULL;
            return -1;
        }
        fd = open(*path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd >= 0)
            break;
        free(*path);
        *path = NULL;
        if (errno != EEXIST)
            return -1;
        snprintf(again, sizeof again, ".%u", i);
    }
    return fd;
}

int vs_replacement_make(const char *target, char **path)
{
    char prefix[PREFIX_BYTES];
    char *folder = strdup(target), *slash = folder ? strrchr(folder, '/') : NULL;
    *path = NULL;
    if (!folder)
        return -1;
    snprintf(prefix, sizeof prefix, ".%.200s.", slash ? slash + 1 : folder);
    if (slash)
        *slash = 0;
    const char *where = !slash ? "." : *folder ? folder : "/";
    sigset_t all, before;
    remove_stale(where, prefix);
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before); /* a signal handler cannot see the file before it is
                                              * registered */
    int fd = create(where, prefix, path);
    if (fd >= 0 && strlen(*path) < sizeof pending_path && !pending) {
        memcpy(pending_path, *path, strlen(*path) + 1);
        pending = 1;
    }
    int saved_errno = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    free(folder);
    int unlocked = fd >= 0 ? flock(fd, LOCK_EX | LOCK_NB) : 0; /* without locks, the pid decides */
    (void)unlocked;
    errno = saved_errno;
    return fd;
}

bool vs_replacement_like(int fd, int old, bool owner)
{
    struct stat was, is;
    if (old < 0 || fstat(old, &was) || fstat(fd, &is))
        return true; /* stays private, as it was created */
    mode_t mode = was.st_mode & 0777;
    if (owner && (is.st_uid != was.st_uid || is.st_gid != was.st_gid) &&
        fchown(fd, was.st_uid, was.st_gid)) {
        if (is.st_uid != was.st_uid)
            return false;
        mode &= 0707; /* its group is a different one */
    }
    int private = fchmod(fd, mode); /* as it was created */
    (void)private;
    return true;
}

bool vs_replacement_same(const char *path, int old, uint64_t bytes)
{
    struct stat was, is;
    if (old < 0 || fstat(old, &was) || stat(path, &is))
        return false;
    return was.st_dev == is.st_dev && was.st_ino == is.st_ino &&
           (uint64_t)is.st_size == bytes;
}

void vs_replacement_forget(void)
{
    pending = 0;
}

void vs_replacement_discard(void)
{
    if (pending)
        unlink(pending_path);
}
