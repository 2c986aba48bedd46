/* SPDX-License-Identifier: Apache-2.0
 *
 * Joining the shared memory of a communicator. Abstract sockets and memfds have no file, so
 * nothing remains of a run that was killed. The first rank listens until all have come, and serves
 * nobody: a connection tells the others its process, in which they find the memfd by its name. */
#define _GNU_SOURCE
#include "simulator/libraries/nccl/vs_nccl_segment.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/vs_clock.h"

#define RETRY_NS 3000000
#define PAGE 4096

/* ---- layout ---- */

static size_t ranks_end(int count)
{
    size_t bytes = sizeof(struct vs_nccl_segment) + (size_t)count * sizeof(struct vs_nccl_rank);
    return (bytes + PAGE - 1) / PAGE * PAGE;
}

static uint32_t ring_bytes_for(int count)
{
    return count <= 32 ? 256 << 10 : count <= 128 ? 64 << 10 : 4 << 10;
}

static size_t pair_number(const struct vs_nccl_segment *segment, int from, int to)
{
    return (size_t)from * segment->count + (size_t)to;
}

struct vs_nccl_ring *vs_nccl_ring_of(struct vs_nccl_segment *segment, int from, int to)
{
    unsigned char *rings = (unsigned char *)segment + ranks_end((int)segment->count);
    return (struct vs_nccl_ring *)rings + pair_number(segment, from, to);
}

unsigned char *vs_nccl_ring_bytes(struct vs_nccl_segment *segment, int from, int to)
{
    size_t pairs = (size_t)segment->count * segment->count;
    size_t heads = (pairs * sizeof(struct vs_nccl_ring) + PAGE - 1) / PAGE * PAGE;
    return (unsigned char *)segment + ranks_end((int)segment->count) + heads +
           pair_number(segment, from, to) * segment->ring_bytes;
}

static size_t bytes_for(int count)
{
    size_t pairs = (size_t)count * (size_t)count;
    size_t heads = (pairs * sizeof(struct vs_nccl_ring) + PAGE - 1) / PAGE * PAGE;
    return ranks_end(count) + heads + pairs * ring_bytes_for(count);
}

static struct vs_nccl_segment *map(int memory, size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, memory, 0);
    return at == MAP_FAILED ? NULL : at;
}

/* ---- joining ---- */

/* The first rank: makes the memory, then lets the others connect to *listener*. */
static struct vs_nccl_segment *make(int listener, const char *name, int count, struct vs_nccl_door *door)
{
    size_t bytes = bytes_for(count);
    int memory = memfd_create(name, MFD_CLOEXEC);
    bool ok = memory >= 0 && !ftruncate(memory, (off_t)bytes);
    struct vs_nccl_segment *segment = ok ? map(memory, bytes) : NULL;
    *door = (struct vs_nccl_door){true, listener, memory};
    if (segment) {
        segment->count = (uint32_t)count;
        segment->ring_bytes = ring_bytes_for(count);
        segment->bytes = bytes;
        if (!listen(listener, VS_NCCL_RANKS_MAX)) /* connections wait there; none is accepted */
            return segment;
        munmap(segment, bytes);
    }
    int why = errno;
    vs_nccl_segment_shut(door);
    errno = why;
    return NULL;
}

/* A later rank, connected to the first one's process: maps the memory *name* of it; NULL: try again, or
 * *text* says why not. */
static struct vs_nccl_segment *find(int connected, const char *name, char *text, size_t text_bytes)
{
    char path[32], file[256], link[256];
    struct ucred who;
    struct stat st;
    struct vs_nccl_segment *segment = NULL;
    if (getsockopt(connected, SOL_SOCKET, SO_PEERCRED, &who, &(socklen_t){sizeof who}) ||
        who.uid != geteuid())
        return NULL;
    snprintf(path, sizeof path, "/proc/%d/fd", (int)who.pid);
    snprintf(file, sizeof file, "/memfd:%s (deleted)", name);
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder && !segment && !text[0] && (entry = readdir(folder));) {
        ssize_t n = readlinkat(dirfd(folder), entry->d_name, link, sizeof link);
        if (n != (ssize_t)strlen(file) || memcmp(link, file, (size_t)n))
            continue;
        int memory = openat(dirfd(folder), entry->d_name, O_RDWR | O_CLOEXEC);
        if (memory < 0)
            break;
        segment = fstat(memory, &st) ? NULL : map(memory, (size_t)st.st_size);
        if (!segment)
            snprintf(text, text_bytes, "no address space for the shared memory: %s", strerror(errno));
        close(memory);
    }
    if (folder)
        closedir(folder);
    return segment;
}

struct vs_nccl_segment *vs_nccl_segment_join(const struct vs_nccl_key *key, int count, int rank,
                                             uint64_t wait_ns, struct vs_nccl_door *door, char *text,
                                             size_t text_bytes)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char *name = address.sun_path + 1, *end = name + sprintf(name, "vramscope-nccl-");
    for (int i = 0; i < VS_NCCL_KEY_BYTES; i++)
        end += sprintf(end, "%02x", key->bytes[i]);
    socklen_t length = (socklen_t)(end - (char *)&address);
    struct vs_nccl_segment *segment = NULL;
    text[0] = '\0';
    for (uint64_t until = vs_clock_ns() + wait_ns; !segment && !text[0] && vs_clock_ns() < until;) {
        int s = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
        if (s < 0) {
            snprintf(text, text_bytes, "no socket: %s", strerror(errno));
        } else if (!bind(s, (struct sockaddr *)&address, length)) {
            segment = make(s, name, count, door);
            if (!segment)
                snprintf(text, text_bytes, "no shared memory for %d ranks: %s", count, strerror(errno));
        } else {
            if (!connect(s, (struct sockaddr *)&address, length))
                segment = find(s, name, text, text_bytes);
            close(s);
            if (!segment)
                nanosleep(&(struct timespec){.tv_nsec = RETRY_NS}, NULL);
        }
    }
    if (!segment && !text[0])
        snprintf(text, text_bytes, "the first rank did not answer");
    else if (segment && segment->count != (uint32_t)count)
        snprintf(text, text_bytes, "this rank was started for %d ranks, another one for %u", count,
                 segment->count);
    else if (segment && atomic_exchange(&segment->ranks[rank].taken, 1))
        snprintf(text, text_bytes, "rank %d has joined already: two processes use its number", rank);
    if (!segment || !text[0])
        return segment;
    vs_nccl_segment_leave(segment);
    return NULL;
}

void vs_nccl_segment_shut(struct vs_nccl_door *door)
{
    if (!door->open)
        return;
    shutdown(door->listener, SHUT_RDWR); /* a forked child may hold a copy */
    close(door->listener);
    if (door->memory >= 0)
        close(door->memory);
    door->open = false;
}

void vs_nccl_segment_leave(struct vs_nccl_segment *segment)
{
    munmap(segment, segment->bytes);
}

/* ---- bells ---- */

void vs_nccl_bell_ring(struct vs_nccl_rank *rank)
{
    atomic_fetch_add(&rank->bell, 1); /* pairs with the sleepers of vs_nccl_bell_sleep */
    if (atomic_load(&rank->sleepers))
        syscall(SYS_futex, &rank->bell, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

void vs_nccl_bell_sleep(struct vs_nccl_rank *rank, uint32_t seen, unsigned ms)
{
    struct timespec limit = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};
    atomic_fetch_add(&rank->sleepers, 1);
    if (atomic_load(&rank->bell) == seen)
        syscall(SYS_futex, &rank->bell, FUTEX_WAIT, seen, &limit, NULL, 0);
    atomic_fetch_sub(&rank->sleepers, 1);
}

uint64_t vs_nccl_process_start(int pid)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return 0;
    size_t n = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[n] = '\0';
    char *at = strrchr(text, ')'); /* behind the name, which may contain anything */
    char state = 'X';
    unsigned long long started = 0;
    if (!at || sscanf(at + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d "
                              "%*d %*d %llu", &state, &started) != 2)
        return 0;
    return state == 'Z' || state == 'X' ? 0 : started;
}
