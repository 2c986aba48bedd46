/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the traces that processes are recording: a process has its trace open, a FILE.live lies
 * beside it, and the recorder's lock says whose it is. Only links in /proc are read, which does not
 * stop or slow the processes; descriptors of other users' processes may be read by root alone. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/reading/vs_vec.h"
#include "tools/common/command.h"
#include "tools/top/top_command.h"
#include "trace/read/reader.h"

#define DEPTH_MAX 64 /* of descendants */

static void add_found(struct vs_top_finds *finds, uint64_t pid, const char *path)
{
    for (size_t i = 0; i < finds->count; i++)
        if (strcmp(finds->items[i].path, path) == 0)
            return;
    vs_vec_room(&finds->items, &finds->capacity, finds->count + 1, sizeof *finds->items);
    finds->items[finds->count++] = (struct vs_top_found){pid, vs_xstrdup(path)};
}

void vs_top_finds_free(struct vs_top_finds *finds)
{
    for (size_t i = 0; i < finds->count; i++)
        free(finds->items[i].path);
    free(finds->items);
    *finds = (struct vs_top_finds){0};
}

static bool has_live(const char *path)
{
    char live[PATH_MAX + 8];
    snprintf(live, sizeof live, "%s.live", path);
    return access(live, F_OK) == 0;
}

/* The path by which this process can open what descriptor *name* of *pid* refers to: the target of
 * its link, or below the process's own root folder. */
static bool path_of(int folder, uint64_t pid, const char *name, char path[PATH_MAX])
{
    char target[PATH_MAX - 64];
    struct stat there, here;
    ssize_t n = readlinkat(folder, name, target, sizeof target - 1);
    if (n <= 0 || *target != '/')
        return false;
    target[n] = 0;
    snprintf(path, PATH_MAX, "%s", target);
    if (!has_live(path)) {
        snprintf(path, PATH_MAX, "/proc/%" PRIu64 "/root%s", pid, target);
        if (!has_live(path))
            return false;
    }
    return !fstatat(folder, name, &there, 0) && !stat(path, &here) && S_ISREG(here.st_mode) &&
           there.st_ino == here.st_ino && there.st_dev == here.st_dev;
}

/* The trace that *pid* records. Returns false when its descriptors cannot be read. */
static bool look_at(uint64_t pid, struct vs_top_finds *out)
{
    char name[64], path[PATH_MAX];
    snprintf(name, sizeof name, "/proc/%" PRIu64 "/fd", pid);
    DIR *folder = opendir(name);
    if (!folder)
        return false;
    for (struct dirent *entry; (entry = vs_tool_entry(&folder));) {
        if (!isdigit((unsigned char)*entry->d_name) ||
            !path_of(dirfd(folder), pid, entry->d_name, path))
            continue;
        uint64_t recorder = vs_reader_recorded_by(path);
        if (recorder && (recorder == pid || recorder == VS_RECORDED_ELSEWHERE))
            add_found(out, pid, path);
    }
    return true;
}

static bool descends_from(uint64_t pid, uint64_t ancestor)
{
    for (unsigned depth = 0; pid && depth < DEPTH_MAX; depth++) {
        /* The parent of *pid*; 0: none, or unknown. */
        char name[64], text[512];
        unsigned long long parent = 0;
        snprintf(name, sizeof name, "/proc/%" PRIu64 "/stat", pid);
        int fd = open(name, O_RDONLY | O_CLOEXEC);
        ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
        if (fd >= 0)
            close(fd);
        text[n > 0 ? n : 0] = 0;
        const char *end = strrchr(text, ')');
        pid = end && sscanf(end, ") %*c %llu", &parent) == 1 ? parent : 0;
        if (pid == ancestor)
            return true;
    }
    return false;
}

/* The traces of the descendants of *ancestor*; 0: of all processes but this one. */
static void look_at_all(uint64_t ancestor, struct vs_top_finds *out)
{
    DIR *proc = opendir("/proc");
    for (struct dirent *entry; (entry = vs_tool_entry(&proc));) {
        uint64_t pid = strtoull(entry->d_name, NULL, 10);
        if (pid && (ancestor ? pid != ancestor && descends_from(pid, ancestor)
                             : pid != (uint64_t)getpid()))
            look_at(pid, out);
    }
}

void vs_top_find_all(struct vs_top_finds *out)
{
    look_at_all(0, out);
}

enum vs_err vs_top_find_pid(uint64_t pid, struct vs_top_finds *out, char *why)
{
    char name[64];
    size_t before = out->count;
    snprintf(name, sizeof name, "/proc/%" PRIu64, pid);
    if (access(name, F_OK)) {
        snprintf(why, VS_READER_WHY_MAX, "there is no process %" PRIu64, pid);
        return VS_ERR_NOT_FOUND;
    }
    bool readable = look_at(pid, out);
    int denied = readable ? 0 : errno;
    if (out->count == before)
        look_at_all(pid, out);
    if (out->count > before)
        return VS_OK;
    if (denied == EACCES || denied == EPERM) {
        snprintf(why, VS_READER_WHY_MAX,
                 "process %" PRIu64 " belongs to another user; run top as that user or as root, or "
                 "give the path of its trace", pid);
        return VS_ERR_IO;
    }
    snprintf(why, VS_READER_WHY_MAX,
             "process %" PRIu64 " records no trace: it has not used CUDA yet, or it was not started "
             "with `vramscope run`", pid);
    return VS_ERR_STATE;
}
