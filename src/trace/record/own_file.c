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
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/vs_arena.h"
#include "base/vs_clock.h"
#include "base/vs_cancel.h"
#include "base/vs_link.h"
#include "base/vs_signal_guard.h"

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

enum vs_err vs_own_copy_begin(struct vs_own_copy *copy, int fd, uint64_t bytes, const void *tail,
                              size_t tail_bytes)
{
    char name[64]; /* another one of *fd*, for reading: the trace may have been moved */
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    *copy = (struct vs_own_copy){.from = open(name, O_RDONLY | O_CLOEXEC), .bytes = bytes,
                                 .tail_bytes = tail_bytes};
    if (copy->from < 0)
        return VS_ERR_IO;
    copy->tail = vs_pages_map(tail_bytes);
    if (copy->tail) {
        memcpy(copy->tail, tail, tail_bytes);
        return VS_OK;
    }
    vs_own_copy_close(copy);
    errno = ENOMEM;
    return VS_ERR_IO;
}

void vs_own_copy_close(struct vs_own_copy *copy)
{
    if (copy->tail)
        vs_pages_unmap(copy->tail, copy->tail_bytes);
    close(copy->from);
}

/* The name of the file that *path* leads to. VS_ERR_ARG: it is the trace, or neither a plain file
 * nor absent. Nothing is opened: a pipe without a reader would block. */
static enum vs_err resolve(const char *path, int from, char real[PATH_MAX])
{
    struct stat st, own;
    if (snprintf(real, PATH_MAX, "%s", path) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return VS_ERR_IO;
    }
    if (!vs_link_follow(real, PATH_MAX))
        return VS_ERR_IO;
    if (stat(real, &st))
        return errno == ENOENT ? VS_OK : VS_ERR_IO;
    if (S_ISDIR(st.st_mode)) {
        errno = EISDIR;
        return VS_ERR_IO;
    }
    bool same = !fstat(from, &own) && st.st_dev == own.st_dev && st.st_ino == own.st_ino;
    return S_ISREG(st.st_mode) && !same ? VS_OK : VS_ERR_ARG;
}

static bool copy_all(const struct vs_own_copy *copy, int to)
{
    off_t at = 0;
    while ((uint64_t)at < copy->bytes) {
        uint64_t left = copy->bytes - (uint64_t)at;
        ssize_t n = sendfile(to, copy->from, &at, left < (1u << 30) ? left : 1u << 30);
        if (n == 0)
            errno = EIO; /* somebody cut the trace */
        if (n == 0 || (n < 0 && errno != EINTR))
            return false;
    }
    for (size_t done = 0; done < copy->tail_bytes;) {
        ssize_t n = write(to, copy->tail + done, copy->tail_bytes - done);
        if (n > 0)
            done += (size_t)n;
        else if (n == 0 || errno != EINTR)
            return false;
    }
    return true;
}

/* Errors that some file systems report only when a descriptor is closed. */
static bool put_all(const struct vs_own_copy *copy, int to)
{
    int second = -1;
    struct vs_signal_guard guard;
    vs_signal_guard_enter(&guard);
    bool good = copy_all(copy, to) && (second = dup(to)) >= 0 && !close(second);
    VS_KEEP_ERRNO();
    vs_signal_guard_leave(&guard);
    return good;
}

static bool rename_or_remove(const char *beside, const char *path)
{
    if (!rename(beside, path))
        return true;
    VS_KEEP_ERRNO();
    unlink(beside);
    return false;
}

/* A link replaces nothing: *beside* has the file until it is renamed. */
static bool give_name(int fd, const char *path, const char *beside)
{
    char name[64];
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    if (!linkat(AT_FDCWD, name, AT_FDCWD, path, AT_SYMLINK_FOLLOW))
        return true;
    return errno == EEXIST && !linkat(AT_FDCWD, name, AT_FDCWD, beside, AT_SYMLINK_FOLLOW) &&
           rename_or_remove(beside, path);
}

/* Whether that is possible here. *good* only then, with errno. */
static bool replace_nameless(const struct vs_own_copy *copy, const char *path, const char *beside,
                             bool *good)
{
    /* a file in the folder of *path* that the kernel removes with this process; -1: not supported */
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    if (slash)
        slash[1] = '\0';
    int to = open(slash ? folder : ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600);
    if (to < 0)
        return false;
    *good = put_all(copy, to);
    bool able = !*good || (*good = give_name(to, path, beside));
    VS_KEEP_ERRNO();
    close(to);
    return able;
}

/* *beside*: a name that no other thread or process takes. */
static bool replace(const struct vs_own_copy *copy, const char *path, const char *beside)
{
    bool good;
    if (replace_nameless(copy, path, beside, &good))
        return good;
    int to = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (to < 0)
        return false;
    good = put_all(copy, to);
    int error = errno;
    close(to);
    if (good)
        return rename_or_remove(beside, path);
    unlink(beside);
    errno = error;
    return false;
}

enum vs_err vs_own_copy_write(const struct vs_own_copy *copy, const char *path)
{
    char real[PATH_MAX], beside[PATH_MAX];
    enum vs_err err = resolve(path, copy->from, real);
    if (err)
        return err;
    if (snprintf(beside, sizeof beside, "%s.%d-%llx.new", real, (int)syscall(SYS_gettid),
                 (unsigned long long)vs_clock_ns()) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return VS_ERR_IO;
    }
    return replace(copy, real, beside) ? VS_OK : VS_ERR_IO;
}
