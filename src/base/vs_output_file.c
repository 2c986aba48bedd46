/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. Whether a replacement is left over: the process id in its name may belong to
 * another container, so its lock decides as well. */
#define _GNU_SOURCE
#include "base/vs_output_file.h"

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
#include <time.h>
#include <unistd.h>

#include "base/vs_cancel.h"
#include "base/vs_option.h"

#define TRIES_MAX 100
#define PREFIX_BYTES 208

/* For a signal handler, which reads a path only while its *pending* is set. */
static char pending_paths[VS_REPLACEMENTS][PATH_MAX];
static volatile sig_atomic_t pending[VS_REPLACEMENTS];

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
    DIR *dir = opendir(where);
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
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before); /* a signal handler cannot see the file before it is
                                              * registered */
    int fd = create(where, prefix, path);
    if (fd >= 0)
        vs_replacement_remember(*path);
    VS_KEEP_ERRNO();
    sigprocmask(SIG_SETMASK, &before, NULL);
    free(folder);
    int unlocked = fd >= 0 ? flock(fd, LOCK_EX | LOCK_NB) : 0; /* without locks, the pid decides */
    (void)unlocked;
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

void vs_replacement_remember(const char *path)
{
    unsigned i = 0;
    while (i < VS_REPLACEMENTS && pending[i])
        i++;
    if (i < VS_REPLACEMENTS && strlen(path) < PATH_MAX) {
        memcpy(pending_paths[i], path, strlen(path) + 1);
        pending[i] = 1;
    }
}

void vs_replacement_forget(const char *path)
{
    for (unsigned i = 0; i < VS_REPLACEMENTS && path; i++)
        pending[i] = pending[i] && strcmp(pending_paths[i], path) != 0;
}

void vs_replacement_discard(void)
{
    for (unsigned i = 0; i < VS_REPLACEMENTS; i++) {
        if (pending[i])
            unlink(pending_paths[i]);
    }
}

/* --- folders of kept files --- */

bool vs_folder_cache(const char *name, char *out, size_t room)
{
    const char *home = vs_environment("XDG_CACHE_HOME"), *below = "";
    if (!home || *home != '/') {
        home = vs_environment("HOME");
        below = "/.cache";
    }
    return home && *home == '/' && snprintf(out, room, "%s%s/vramscope/%s", home, below, name) < (int)room;
}

bool vs_folder_make(const char *path, unsigned mode)
{
    char part[PATH_MAX];
    size_t n = strlen(path);
    int why = 0;
    if (!n || n >= sizeof part) {
        errno = n ? ENAMETOOLONG : ENOENT;
        return false;
    }
    memcpy(part, path, n + 1);
    for (size_t i = 1; i <= n; i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        part[i] = '\0';
        if (mkdir(part, mode) && errno != EEXIST) {
            why = why ? why : errno; /* a folder above may be there all the same */
            errno = why;
            if (i == n)
                return false;
        }
        part[i] = path[i];
    }
    return true;
}

bool vs_folder_write(int fd, const void *bytes, size_t count)
{
    for (const char *from = bytes; count;) {
        ssize_t n = write(fd, from, count);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        from += n;
        count -= (size_t)n;
    }
    return true;
}

struct folder_file {
    struct timespec used;
    uint64_t bytes;
    char name[NAME_MAX + 1];
};

static int longest_unused(const void *a, const void *b)
{
    const struct folder_file *x = a, *y = b;
    if (x->used.tv_sec != y->used.tv_sec)
        return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
    return x->used.tv_nsec < y->used.tv_nsec ? -1 : x->used.tv_nsec > y->used.tv_nsec;
}

/* One more file of *files*. False when there is no memory: the rest is trimmed another time. */
static bool note(struct folder_file **files, size_t *count, size_t *capacity, const char *name,
                 const struct stat *st)
{
    if (*count == *capacity) {
        size_t larger = *capacity ? *capacity * 2 : 64;
        struct folder_file *moved = realloc(*files, larger * sizeof *moved);
        if (!moved)
            return false;
        *files = moved;
        *capacity = larger;
    }
    struct folder_file *file = &(*files)[(*count)++];
    file->used = st->st_mtim;
    file->bytes = (uint64_t)st->st_size;
    snprintf(file->name, sizeof file->name, "%s", name);
    return true;
}

void vs_folder_trim(const char *path, uint64_t bytes_max, unsigned stale_seconds,
                    enum vs_folder_entry (*classify)(const char *name))
{
    DIR *dir = opendir(path);
    struct folder_file *files = NULL;
    size_t count = 0, capacity = 0;
    uint64_t total = 0;
    const struct dirent *entry;
    struct stat st;
    if (!dir)
        return;
    while ((entry = readdir(dir))) {
        enum vs_folder_entry what = classify(entry->d_name);
        if (what == VS_FOLDER_FOREIGN ||
            fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
            continue;
        if (what == VS_FOLDER_KEPT) {
            if (!note(&files, &count, &capacity, entry->d_name, &st))
                break;
            total += (uint64_t)st.st_size;
        } else if (time(NULL) - st.st_mtim.tv_sec > (time_t)stale_seconds) {
            unlinkat(dirfd(dir), entry->d_name, 0);
        }
    }
    if (total > bytes_max)
        qsort(files, count, sizeof *files, longest_unused);
    for (size_t i = 0; i < count && total > bytes_max; i++) {
        if (!unlinkat(dirfd(dir), files[i].name, 0) || errno == ENOENT)
            total -= files[i].bytes;
    }
    free(files);
    closedir(dir);
}
