/* SPDX-License-Identifier: Apache-2.0
 *
 * Joining the shared memory of a communicator. Abstract sockets and memfds have no file, so
 * nothing remains of a run that was killed. The first rank serves the others from a thread that
 * ends when all have come. */
#define _GNU_SOURCE
#include "simulator/libraries/nccl/vs_nccl_segment.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/vs_clock.h"
#include "simulator/libraries/common/vs_library_base.h"

#define MAGIC 0x6c63636e
#define RETRY_NS 3000000
#define PAGE 4096

struct join_request {
    uint32_t magic, count, rank;
};

struct join_reply {
    uint32_t magic, accepted, count;
};

struct server { /* of the thread that hands out the descriptor */
    int listener, memory;
    struct vs_nccl_segment *segment;
    unsigned char taken[VS_NCCL_RANKS_MAX];
};

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

/* ---- serving ---- */

static bool send_memory(int to, int memory, const struct join_reply *reply)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } space = {{0}};
    struct iovec data = {(void *)reply, sizeof *reply};
    struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1};
    if (reply->accepted) {
        message.msg_control = space.bytes;
        message.msg_controllen = sizeof space.bytes;
        struct cmsghdr *c = CMSG_FIRSTHDR(&message);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(c), &memory, sizeof memory);
    }
    return sendmsg(to, &message, MSG_NOSIGNAL) == (ssize_t)sizeof *reply;
}

static void serve_one(struct server *s, int client)
{
    struct join_request request;
    struct timeval limit = {.tv_sec = 5};
    struct ucred who;
    socklen_t length = sizeof who;
    setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    if (getsockopt(client, SOL_SOCKET, SO_PEERCRED, &who, &length) || who.uid != geteuid() ||
        recv(client, &request, sizeof request, 0) != (ssize_t)sizeof request ||
        request.magic != MAGIC)
        return;
    struct join_reply reply = {MAGIC, 0, s->segment->count};
    reply.accepted = request.count == s->segment->count && request.rank < request.count &&
                     !s->taken[request.rank];
    if (send_memory(client, s->memory, &reply) && reply.accepted)
        s->taken[request.rank] = 1;
}

static bool all_taken(const struct server *s)
{
    for (uint32_t i = 0; i < s->segment->count; i++)
        if (!s->taken[i])
            return false;
    return true;
}

static void *serve(void *argument)
{
    struct server *s = argument;
    while (!all_taken(s) && !atomic_load(&s->segment->closed)) {
        struct pollfd p = {.fd = s->listener, .events = POLLIN};
        if (poll(&p, 1, 500) <= 0)
            continue;
        int client = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC);
        if (client < 0)
            continue;
        serve_one(s, client);
        close(client);
    }
    shutdown(s->listener, SHUT_RDWR); /* a forked child may hold a copy */
    close(s->listener);
    close(s->memory);
    munmap(s->segment, ranks_end((int)s->segment->count));
    free(s);
    return NULL;
}

/* ---- joining ---- */

static socklen_t address_of(const struct vs_nccl_key *key, struct sockaddr_un *address)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    char *at = address->sun_path + 1;
    at += sprintf(at, "vramscope-nccl-");
    for (int i = 0; i < VS_NCCL_KEY_BYTES; i++)
        at += sprintf(at, "%02x", key->bytes[i]);
    return (socklen_t)(at - (char *)address);
}

/* The first rank: makes the memory and serves it on *listener*. */
static struct vs_nccl_segment *make(int listener, int count, int rank)
{
    size_t bytes = bytes_for(count);
    struct server *s = vs_sim_need(calloc(1, sizeof *s));
    struct vs_nccl_segment *segment = NULL;
    int memory = memfd_create("vramscope-nccl", MFD_CLOEXEC);
    if (memory < 0 || ftruncate(memory, (off_t)bytes))
        goto failed;
    segment = map(memory, bytes);
    s->segment = segment ? map(memory, ranks_end(count)) : NULL;
    if (!s->segment)
        goto failed;
    segment->count = (uint32_t)count;
    segment->ring_bytes = ring_bytes_for(count);
    segment->bytes = bytes;
    s->listener = listener;
    s->memory = memory;
    s->taken[rank] = 1;
    if (listen(listener, VS_NCCL_RANKS_MAX) == 0 && vs_sim_thread_start(serve, s))
        return segment;
    munmap(s->segment, ranks_end(count));
failed:
    if (segment)
        munmap(segment, bytes);
    if (memory >= 0)
        close(memory);
    close(listener);
    free(s);
    return NULL;
}

static int receive_memory(int from, struct join_reply *reply)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } space;
    struct iovec data = {reply, sizeof *reply};
    struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1, .msg_control = space.bytes,
                             .msg_controllen = sizeof space.bytes};
    if (recvmsg(from, &message, MSG_CMSG_CLOEXEC) != (ssize_t)sizeof *reply)
        return -1;
    struct cmsghdr *c = CMSG_FIRSTHDR(&message);
    int memory = -1;
    if (c && c->cmsg_type == SCM_RIGHTS)
        memcpy(&memory, CMSG_DATA(c), sizeof memory);
    return memory;
}

/* A later rank, on a connected socket. NULL with an empty *text*: try again. */
static struct vs_nccl_segment *ask(int s, int count, int rank, char *text, size_t text_bytes)
{
    struct join_request request = {MAGIC, (uint32_t)count, (uint32_t)rank};
    struct join_reply reply = {0};
    struct timeval limit = {.tv_sec = 10};
    setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    if (send(s, &request, sizeof request, MSG_NOSIGNAL) != (ssize_t)sizeof request)
        return NULL;
    int memory = receive_memory(s, &reply);
    if (reply.magic == MAGIC && !reply.accepted && reply.count != (uint32_t)count)
        snprintf(text, text_bytes, "this rank was started for %d ranks, another one for %u",
                 count, reply.count);
    else if (reply.magic == MAGIC && !reply.accepted)
        snprintf(text, text_bytes, "rank %d has joined already: two processes use its number", rank);
    if (memory < 0)
        return NULL;
    struct vs_nccl_segment *segment = map(memory, bytes_for(count));
    close(memory);
    if (!segment)
        snprintf(text, text_bytes, "no address space for the shared memory: %s", strerror(errno));
    return segment;
}

struct vs_nccl_segment *vs_nccl_segment_join(const struct vs_nccl_key *key, int count, int rank,
                                             uint64_t wait_ns, char *text, size_t text_bytes)
{
    struct sockaddr_un address;
    socklen_t length = address_of(key, &address);
    text[0] = '\0';
    for (uint64_t until = vs_clock_ns() + wait_ns; !text[0] && vs_clock_ns() < until;) {
        int s = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
        if (s < 0) {
            snprintf(text, text_bytes, "no socket: %s", strerror(errno));
            return NULL;
        }
        if (bind(s, (struct sockaddr *)&address, length) == 0) {
            struct vs_nccl_segment *made = make(s, count, rank);
            if (!made)
                snprintf(text, text_bytes, "no shared memory for %d ranks: %s", count,
                         strerror(errno));
            return made;
        }
        struct vs_nccl_segment *segment = NULL;
        if (connect(s, (struct sockaddr *)&address, length) == 0)
            segment = ask(s, count, rank, text, text_bytes);
        close(s);
        if (segment)
            return segment;
        nanosleep(&(struct timespec){.tv_nsec = RETRY_NS}, NULL);
    }
    if (!text[0])
        snprintf(text, text_bytes, "the first rank did not answer");
    return NULL;
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
