/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the process that is recording a trace, or how it ended. The recorder holds a lock on the
 * trace, which the kernel releases with the process. Where locks do not work, or the program closed
 * all descriptors and the lock with them, the process that FILE.live names must have FILE.live
 * mapped, because another process may have its pid by now. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "trace/format/format.h"
#include "trace/read/reader_internal.h"

/* Where a process's mappings may not be read, its existence has to do. */
static bool maps_file(pid_t pid, ino_t inode)
{
    char name[64], line[PATH_MAX + 128];
    uint64_t mapped;
    bool found = false;
    snprintf(name, sizeof name, "/proc/%ld/maps", (long)pid);
    FILE *maps = fopen(name, "r");
    if (!maps)
        return errno == EACCES || errno == EPERM;
    while (!found && fgets(line, sizeof line, maps))
        found = sscanf(line, "%*s %*s %*s %*s %" SCNu64, &mapped) == 1 && mapped == inode;
    bool refused = ferror(maps);
    fclose(maps);
    return found || refused;
}

static uint64_t locked_by(int fd)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET}; /* any byte, whatever the size */
    if (fcntl(fd, F_OFD_GETLK, &lock) || lock.l_type == F_UNLCK)
        return 0;
    return lock.l_pid > 0 ? (uint64_t)lock.l_pid : VS_RECORDED_ELSEWHERE;
}

static int open_live(const char *path)
{
    char *live = vs_reader_live_path(path);
    int fd = live ? open(live, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) : -1;
    free(live);
    return fd;
}

/* Reads FILE.live's header, and its inode. */
static bool read_live(int fd, struct vs_live_header *header, struct stat *st)
{
    return pread(fd, header, sizeof *header, 0) == (ssize_t)sizeof *header && !fstat(fd, st) &&
           !memcmp(header->magic, VS_LIVE_MAGIC, VS_MAGIC_BYTES) &&
           header->byte_order == VS_BYTE_ORDER;
}

uint64_t vs_reader_holder(int fd, int live)
{
    uint64_t holder = fd >= 0 ? locked_by(fd) : 0;
    struct vs_live_header header;
    struct stat st;
    if (holder || live < 0 || !read_live(live, &header, &st) || !header.pid || header.pid > INT_MAX)
        return holder;
    pid_t pid = (pid_t)header.pid;
    bool runs = !kill(pid, 0) || errno == EPERM;
    return runs && maps_file(pid, st.st_ino) ? header.pid : 0;
}

uint64_t vs_reader_recorded_by(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), live = open_live(path);
    uint64_t holder = vs_reader_holder(fd, live);
    if (live >= 0)
        close(live);
    if (fd >= 0)
        close(fd);
    return holder;
}

bool vs_reader_record_outcome(const char *path, uint64_t pid, enum vs_outcome outcome,
                              uint32_t status)
{
    struct vs_live_header header;
    struct stat st;
    uint32_t words[2] = {outcome, status};
    int found = open_live(path);
    bool its = found >= 0 && read_live(found, &header, &st) && header.pid == pid;
    if (found >= 0)
        close(found);
    if (!its)
        return false;
    char *live = vs_reader_live_path(path);
    int fd = live ? open(live, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;
    free(live);
    if (fd < 0)
        return false;
    bool done = pwrite(fd, words, sizeof words, offsetof(struct vs_live_header, end_kind)) ==
                (ssize_t)sizeof words;
    close(fd);
    return done;
}

bool vs_reader_owns_live(const char *path, const char *live)
{
    struct vs_file_header header;
    uint8_t uuid[sizeof header.uuid];
    enum vs_live_look look = vs_live_look(live, uuid);
    if (look != VS_LIVE_HOLDS)
        return look == VS_LIVE_EMPTY;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    bool read = fd >= 0 && pread(fd, &header, sizeof header, 0) == (ssize_t)sizeof header;
    if (fd >= 0)
        close(fd);
    return read && !memcmp(header.uuid, uuid, sizeof uuid);
}

bool vs_reader_clear_live(const char *live, char kept[PATH_MAX])
{
    uint8_t uuid[16];
    enum vs_live_look look = vs_live_look(live, uuid);
    *kept = 0;
    if (look == VS_LIVE_EMPTY)
        return !unlink(live);
    if (look != VS_LIVE_HOLDS)
        return look == VS_LIVE_NONE;
    return vs_live_set_aside(live, uuid, kept);
}

bool vs_reader_needs_live(const char *path)
{
    struct vs_reader *reader;
    if (vs_reader_open(path, &reader, NULL))
        return false;
    bool needs = vs_recovery_newest(&reader->recovery) != 0;
    vs_reader_close(reader);
    return needs;
}

static bool begins_with(const char *path, const char *magic)
{
    char found[VS_MAGIC_BYTES];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    bool read = fd >= 0 && pread(fd, found, sizeof found, 0) == (ssize_t)sizeof found;
    if (fd >= 0)
        close(fd);
    return read && !memcmp(found, magic, sizeof found);
}

bool vs_reader_is_trace(const char *path)
{
    return begins_with(path, VS_FILE_MAGIC);
}

bool vs_reader_is_part(const char *path)
{
    return begins_with(path, VS_FILE_MAGIC) || begins_with(path, VS_LIVE_MAGIC);
}
