/* SPDX-License-Identifier: Apache-2.0
 *
 * Families of processes, one kind per run, chosen by the first argument. Every member takes a known
 * number of bytes; those of "spawn" hold theirs until all of them do. */
#define _GNU_SOURCE
#include <cuda_runtime_api.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)

extern char **environ;

static void take(size_t mib)
{
    void *p;
    if (cudaMalloc(&p, mib * MIB) != cudaSuccess)
        exit(9);
}

static int wait_all(int count)
{
    int status, worst = 0;
    for (int i = 0; i < count; i++) {
        if (wait(&status) < 0 || status)
            worst = 8;
    }
    return worst;
}

/* Takes its bytes, reports that on descriptor 3 and holds them until 4 is closed. */
static int leaf(const char *mib)
{
    char byte = 1;
    take((size_t)atoi(mib));
    if (write(3, &byte, 1) != 1)
        return 7;
    return read(4, &byte, 1) != 0;
}

static void start(const char *program, int ready, int hold, int mib)
{
    char text[16];
    char *argv[] = {(char *)program, (char *)"leaf", text, NULL};
    posix_spawn_file_actions_t actions;
    pid_t pid;
    snprintf(text, sizeof text, "%d", mib);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ready, 3);
    posix_spawn_file_actions_adddup2(&actions, hold, 4);
    if (posix_spawn(&pid, program, &actions, NULL, argv, environ))
        exit(6);
    posix_spawn_file_actions_destroy(&actions);
}

/* N children at the same time: child i holds i MiB, the parent 5. */
static int spawn(const char *program, int count)
{
    int ready[2], hold[2];
    char byte;
    /* high numbers, and closed in the children, so that 3 and 4 are theirs alone */
    if (pipe2(ready, O_CLOEXEC) || pipe2(hold, O_CLOEXEC))
        return 5;
    int ready_in = fcntl(ready[1], F_DUPFD_CLOEXEC, 50), hold_out = fcntl(hold[0], F_DUPFD_CLOEXEC, 50);
    int hold_in = fcntl(hold[1], F_DUPFD_CLOEXEC, 50), ready_out = fcntl(ready[0], F_DUPFD_CLOEXEC, 50);
    close(ready[0]), close(ready[1]), close(hold[0]), close(hold[1]);
    take(5);
    for (int i = 1; i <= count; i++)
        start(program, ready_in, hold_out, i);
    for (int i = 0; i < count; i++) {
        if (read(ready_out, &byte, 1) != 1)
            return 4;
    }
    close(hold_in);
    return wait_all(count);
}

/* N programs one after the other in one process. */
static int chain(const char *program, int count)
{
    char text[16];
    take((size_t)count);
    if (count == 1)
        return 0;
    snprintf(text, sizeof text, "%d", count - 1);
    execl(program, program, "chain", text, (char *)NULL);
    return 3;
}

/* The child uses CUDA after its parent, which did as well, has ended. */
static int orphan(int between)
{
    int gone[2];
    char byte;
    if (pipe(gone))
        return 5;
    pid_t pid = fork();
    if (!pid) {
        close(gone[1]);
        if (between && fork())
            _exit(0); /* a daemon's second fork: no process in between is left */
        if (read(gone[0], &byte, 1) != 0)
            _exit(4);
        take(2);
        /* closing standard output informs a reader that waits for the whole family */
        exit(0);
    }
    close(gone[0]);
    take(1);
    if (between)
        return wait_all(1);
    return 0;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "", *number = argc > 2 ? argv[2] : "1";
    if (!strcmp(how, "leaf"))
        return leaf(number);
    if (!strcmp(how, "spawn"))
        return spawn(argv[0], atoi(number));
    if (!strcmp(how, "chain"))
        return chain(argv[0], atoi(number));
    if (!strcmp(how, "orphan"))
        return orphan(0);
    if (!strcmp(how, "daemon"))
        return orphan(1);
    if (!strcmp(how, "vfork")) {
        take(1);
        if (!vfork()) {
            execl(argv[0], argv[0], "chain", "1", (char *)NULL);
            _exit(3);
        }
        return wait_all(1);
    }
    if (!strcmp(how, "fork")) { /* before CUDA, both use it */
        pid_t pid = fork();
        take(pid ? 1 : 2);
        return pid ? wait_all(1) : 0;
    }
    return 2;
}
