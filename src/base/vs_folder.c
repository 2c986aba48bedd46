/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. */
#include "base/vs_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

bool vs_folder_make(const char *path)
{
    char part[PATH_MAX];
    size_t n = strlen(path);
    if (!n || n >= sizeof part)
        return false;
    memcpy(part, path, n + 1);
    for (size_t i = 1; i <= n; i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        part[i] = '\0';
        if (mkdir(part, 0700) && errno != EEXIST && i == n)
            return false;
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

/* --- keeping it small --- */

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
