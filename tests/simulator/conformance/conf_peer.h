/* SPDX-License-Identifier: Apache-2.0
 *
 * A second process for tests of sharing: this program again, started before it uses CUDA, connected
 * by a socket that also transfers descriptors. Each side sends and receives whole messages; the
 * peer's exit status is its result. A failed step in the peer ends it with a line on standard
 * error. */
#ifndef CONF_PEER_H
#define CONF_PEER_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef PEER_ROLE
#define PEER_ROLE "VRAMSCOPE_TEST_PEER"
#endif

struct peer {
    pid_t pid;
    int socket;
};

/* peer_start: starts this program with *role* for its peer_run(). pid is -1 if that failed. */
static inline struct peer peer_start(const char *role)
{
    int ends[2];
    char socket[16];
    struct peer peer = {-1, -1};
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends))
        return peer;
    peer.pid = fork();
    if (!peer.pid) {
        snprintf(socket, sizeof socket, "%d", ends[1]);
        close(ends[0]);
        setenv(PEER_ROLE, role, 1);
        execl("/proc/self/exe", "peer", socket, (char *)NULL);
        _exit(126);
    }
    close(ends[1]);
    peer.socket = ends[0];
    return peer;
}

struct peer_role {
    const char *name;
    void (*run)(int socket);
};

/* peer_run: in the peer, runs its role, one of *count*, and ends; returns elsewhere. */
static inline void peer_run(const struct peer_role *roles, size_t count, int argc, char **argv)
{
    const char *name = getenv(PEER_ROLE);
    for (size_t i = 0; name && argc == 2 && i < count; i++)
        if (!strcmp(name, roles[i].name)) {
            roles[i].run(atoi(argv[1]));
            exit(0);
        }
}

/* peer_end: waits for its end; returns its exit status, 128 and more for a signal. */
static inline int peer_end(struct peer *peer)
{
    int status = 0;
    close(peer->socket);
    if (waitpid(peer->pid, &status, 0) != peer->pid)
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* peer_send: *bytes* and a descriptor (-1: none). 0: sent. */
static inline int peer_send(int socket, const void *data, size_t bytes, int fd)
{
    struct iovec part = {(void *)data, bytes};
    union {
        char space[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control;
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    memset(&control, 0, sizeof control);
    if (fd >= 0) {
        message.msg_control = control.space;
        message.msg_controllen = sizeof control.space;
        struct cmsghdr *head = CMSG_FIRSTHDR(&message);
        head->cmsg_level = SOL_SOCKET;
        head->cmsg_type = SCM_RIGHTS;
        head->cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(head), &fd, sizeof fd);
    }
    return sendmsg(socket, &message, MSG_NOSIGNAL) == (ssize_t)bytes ? 0 : -1;
}

/* peer_receive: receives exactly *bytes*, and an accompanying descriptor into *fd* (may be NULL).
 * 0: received; -1: the other side has ended or sent something else. */
static inline int peer_receive(int socket, void *data, size_t bytes, int *fd)
{
    struct iovec part = {data, bytes};
    union {
        char space[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control;
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.space,
                             .msg_controllen = sizeof control.space};
    if (recvmsg(socket, &message, 0) != (ssize_t)bytes)
        return -1;
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    if (fd && head && head->cmsg_type == SCM_RIGHTS)
        memcpy(fd, CMSG_DATA(head), sizeof *fd);
    return 0;
}

/* PEER: in the peer, ends it unless *condition*. */
#define PEER(condition)                                                              \
    do {                                                                             \
        if (!(condition)) {                                                          \
            fprintf(stderr, "peer: %s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            _exit(1);                                                                \
        }                                                                            \
    } while (0)

#endif
