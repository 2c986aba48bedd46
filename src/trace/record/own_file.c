/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. Another file may take a name between a check and the action on it: files are made
 * with O_EXCL, which never follows a link, and a pipe or device is checked again after it was
 * opened. */
#define _GNU_SOURCE
#include "trace/record/own_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_stream(const struct stat *st)
{
    return S_ISFIFO(st->st_mode) || S_ISCHR(st->st_mode);
}

/* Never a plain file: closing it again would release the locks that the program has on it. */
static int open_stream(const char *path)
{
    struct stat st;
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return -1;
    if (!fstat(fd, &st) && is_stream(&st)) {
        fcntl(fd, F_SETFL, 0); /* non-blocking only to refuse a pipe without a reader */
        return fd;
    }
    close(fd);
    errno = EEXIST;
    return -1;
}

/* A plain file is replaced, not overwritten: the old one may still be open in a reader or in
 * another recording process. */
int vs_own_file_create(const char *path, bool keep_existing)
{
    int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
    int fd = open(path, flags, 0600);
    struct stat st;
    if (fd >= 0 || errno != EEXIST)
        return fd;
    if (!stat(path, &st) && is_stream(&st))
        return open_stream(path);
    if (keep_existing)
        errno = EEXIST;
    else if (!unlink(path))
        fd = open(path, flags, 0600);
    return fd;
}

void vs_own_file_remove(const char *path, uint64_t device, uint64_t inode)
{
    struct stat st;
    if (!lstat(path, &st) && (uint64_t)st.st_dev == device && (uint64_t)st.st_ino == inode)
        unlink(path);
}
