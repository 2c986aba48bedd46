/* SPDX-License-Identifier: Apache-2.0
 *
 * Joining the shared memory of a communicator. Abstract sockets and memfds have no file, so
 * nothing remains of a run that was killed. The first rank sends the memfd over a connection, as
 * its /proc and its process number may mean nothing to a rank in another container. */
#define _GNU_SOURCE
#include "simulator/libraries/nccl/vs_nccl_segment.h"

#include <errno.h>
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
#include "simulator/libraries/common/vs_library_base.h"

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

struct server { /* of the thread that sends the memory; it closes both */
    int listener, memory;
};

union descriptor { /* the control data of a message that carries one */
    char bytes[CMSG_SPACE(sizeof(int))];
    struct cmsghdr head;
};

/* Sends the memory to each rank that connects, until the door is shut. A thread does this because one thread
 * of the program may join several communicators, each of which waits for ranks of other processes. */
static void *serve(void *argument)
{
    struct server *s = argument;
    union descriptor control = {.head = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS}};
    struct msghdr message = {.msg_iov = &(struct iovec){"", 1}, .msg_iovlen = 1,
                             .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    memcpy(CMSG_DATA(&control.head), &s->memory, sizeof s->memory);
    for (;;) {
        int client = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC);
        if (client < 0 && errno == EINVAL) /* shut */
            break;
        struct ucred who;
        if (client < 0)
            nanosleep(&(struct timespec){.tv_nsec = RETRY_NS}, NULL); /* no descriptor is free */
        else if (!getsockopt(client, SOL_SOCKET, SO_PEERCRED, &who, &(socklen_t){sizeof who}) &&
                 who.uid == geteuid())
            sendmsg(client, &message, MSG_NOSIGNAL);
        if (client >= 0)
            close(client);
    }
    close(s->listener);
    close(s->memory);
    free(s);
    return NULL;
}

/* The first rank: makes the memory and lets the others connect to *listener*, which is closed on an error. */
static struct vs_nccl_segment *make(int listener, int count, struct vs_nccl_door *door)
{
    size_t bytes = bytes_for(count);
    int memory = memfd_create("vramscope-nccl", MFD_CLOEXEC);
    bool ok = memory >= 0 && !ftruncate(memory, (off_t)bytes);
    struct vs_nccl_segment *segment = ok ? map(memory, bytes) : NULL;
    if (segment) {
        segment->count = (uint32_t)count;
        segment->ring_bytes = ring_bytes_for(count);
        segment->bytes = bytes;
        struct server *s = vs_sim_need(malloc(sizeof *s));
        *s = (struct server){listener, memory};
        *door = (struct vs_nccl_door){true, listener};
        if (!listen(listener, VS_NCCL_RANKS_MAX) && vs_sim_thread_start(serve, s))
            return segment;
        door->open = false;
        free(s);
        munmap(segment, bytes);
    }
    int why = errno;
    if (memory >= 0)
        close(memory);
    close(listener);
    errno = why;
    return NULL;
}

/* A later rank, *connected* to the first one: maps the memory that it sends. NULL: try again, or *text* says
 * why not. */
static struct vs_nccl_segment *receive(int connected, char *text, size_t text_bytes)
{
    union descriptor control;
    char byte;
    struct msghdr message = {.msg_iov = &(struct iovec){&byte, 1}, .msg_iovlen = 1,
                             .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    struct ucred who;
    struct stat st;
    int memory;
    if (getsockopt(connected, SOL_SOCKET, SO_PEERCRED, &who, &(socklen_t){sizeof who}))
        return NULL;
    if (who.uid != geteuid()) {
        snprintf(text, text_bytes, "the first rank runs as user %u, this one as user %u; start all ranks as "
                 "one user", who.uid, geteuid());
        return NULL;
    }
    if (recvmsg(connected, &message, MSG_CMSG_CLOEXEC) != 1)
        return NULL;
    struct cmsghdr *c = CMSG_FIRSTHDR(&message);
    if (!c || c->cmsg_type != SCM_RIGHTS) {
        snprintf(text, text_bytes, "no file descriptor is free for the shared memory; raise ulimit -n");
        return NULL;
    }
    memcpy(&memory, CMSG_DATA(c), sizeof memory);
    struct vs_nccl_segment *segment = fstat(memory, &st) ? NULL : map(memory, (size_t)st.st_size);
    if (!segment)
        snprintf(text, text_bytes, "no address space for the shared memory: %s", strerror(errno));
    close(memory);
    return segment;
}

struct vs_nccl_segment *vs_nccl_segment_join(const struct vs_nccl_key *key, int count, int rank,
                                             uint64_t wait_ns, struct vs_nccl_door *door, char *text,
                                             size_t text_bytes)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char *end = address.sun_path + 1;
    end += sprintf(end, "vramscope-nccl-");
    for (int i = 0; i < VS_NCCL_KEY_BYTES; i++)
        end += sprintf(end, "%02x", key->bytes[i]);
    socklen_t length = (socklen_t)(end - (char *)&address);
    struct vs_nccl_segment *segment = NULL;
    struct timeval answer = {.tv_sec = 1}; /* the first rank's process may be stopped, its backlog full */
    text[0] = '\0';
    for (uint64_t until = vs_clock_ns() + wait_ns; !segment && !text[0] && vs_clock_ns() < until;) {
        int s = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
        if (s < 0) {
            snprintf(text, text_bytes, "no socket: %s", strerror(errno));
        } else if (!bind(s, (struct sockaddr *)&address, length)) {
            segment = make(s, count, door);
            if (!segment)
                snprintf(text, text_bytes, "no shared memory for %d ranks: %s", count, strerror(errno));
        } else {
            setsockopt(s, SOL_SOCKET, SO_SNDTIMEO, &answer, sizeof answer); /* of connect, too */
            setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &answer, sizeof answer);
            if (!connect(s, (struct sockaddr *)&address, length))
                segment = receive(s, text, text_bytes);
            close(s);
            if (!segment && !text[0])
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
    if (door->open)
        shutdown(door->listener, SHUT_RDWR); /* ends serve(); a forked child may hold a copy */
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
