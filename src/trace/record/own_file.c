/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. Another file may take a name between a check and the action on it: files are made
 * with O_EXCL, which never follows a link, and a pipe or device is checked again after it was
 * opened. */
#define _GNU_SOURCE
#include "trace/record/own_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/sendfile.h>
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

/* --- copies --- */

static bool copy_all(int from, int to)
{
    for (;;) {
        ssize_t n = sendfile(to, from, NULL, (size_t)1 << 30);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n == 0;
    }
}

static bool is_same(int fd, const char *path)
{
    struct stat a, b;
    return !fstat(fd, &a) && !stat(path, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* *fd* by another name, for reading: the trace may have been moved. */
static int reopen(int fd)
{
    char name[64];
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    return open(name, O_RDONLY | O_CLOEXEC);
}

static bool replace(int from, const char *path, const char *beside)
{
    int to = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (to < 0)
        return false;
    bool good = copy_all(from, to);
    int error = errno;
    if (close(to) && good) {
        error = errno;
        good = false;
    }
    if (good && rename(beside, path)) {
        error = errno;
        good = false;
    }
    if (!good)
        unlink(beside);
    errno = error;
    return good;
}

enum vs_err vs_own_file_copy(int fd, const char *path)
{
    char beside[PATH_MAX];
    if (is_same(fd, path))
        return VS_ERR_ARG;
    if (snprintf(beside, sizeof beside, "%s.%d.new", path, (int)getpid()) >= (int)sizeof beside) {
        errno = ENAMETOOLONG;
        return VS_ERR_IO;
    }
    int from = reopen(fd);
    if (from < 0)
        return VS_ERR_IO;
    bool good = replace(from, path, beside);
    int error = errno;
    close(from);
    errno = error;
    return good ? VS_OK : VS_ERR_IO;
}
