/* SPDX-License-Identifier: Apache-2.0
 *
 * Programs whose memory is given by an argument, for `vramscope fit`: fit_victim MODE [SIZE]. A
 * size is in MiB, allocated in pieces of 64 MiB. */
#define _GNU_SOURCE
#include <cuda_runtime_api.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "vramscope_client.h"

#define PIECE 64
#define PIECES_MAX 8192 /* 512 GiB */

static void *pieces[PIECES_MAX];
static int count;

/* 0, or the error of the piece that failed. */
static cudaError_t grow(int mib)
{
    for (; mib > 0 && count < PIECES_MAX; mib -= PIECE) {
        size_t bytes = (size_t)(mib < PIECE ? mib : PIECE) << 20;
        cudaError_t error = cudaMalloc(&pieces[count], bytes);
        if (error) {
            fprintf(stderr, "cudaMalloc: %s\n", cudaGetErrorString(error));
            return error;
        }
        count++;
    }
    return cudaSuccess;
}

static void shrink(void)
{
    while (count)
        cudaFree(pieces[--count]);
}

static int hold(int mib)
{
    if (grow(mib))
        return 1;
    shrink();
    return 0;
}

/* Steps that grow: the last one needs *mib*. */
static int steps(int mib)
{
    char name[32];
    for (int i = 1; i <= 4; i++) {
        snprintf(name, sizeof name, "step %d", i);
        vramscope_client_range_push(name);
        vramscope_client_range_push("backward");
        if (grow(mib * i / 4))
            return 1;
        shrink();
        vramscope_client_range_pop();
        vramscope_client_range_pop();
    }
    return 0;
}

/* A training without an end. */
static int train(int mib)
{
    char name[32];
    for (int i = 0;; i++) {
        snprintf(name, sizeof name, "step %d", i);
        vramscope_client_range_push(name);
        if (grow(i == 1 ? mib : PIECE))
            return 1;
        shrink();
        vramscope_client_range_pop();
        usleep(10000);
    }
}

/* Tries less until it is enough. */
static int recover(int mib)
{
    void *p;
    for (; mib >= PIECE; mib /= 2)
        if (cudaMalloc(&p, (size_t)mib << 20) == cudaSuccess)
            return cudaFree(p) != cudaSuccess;
    return 1;
}

/* Two processes that use one device at the same time. */
static int share(int mib)
{
    int ready[2], go[2], failed = 0, status;
    char byte;
    if (pipe(ready) || pipe(go))
        return 2;
    for (int i = 0; i < 2; i++) {
        if (fork() == 0) {
            int bad = grow(mib) != cudaSuccess;
            if (write(ready[1], "", 1) != 1 || read(go[0], &byte, 1) != 1)
                bad = 1;
            _exit(bad);
        }
    }
    for (int i = 0; i < 2; i++)
        failed |= read(ready[0], &byte, 1) != 1;
    failed |= write(go[1], "..", 2) != 2;
    while (wait(&status) > 0)
        failed |= status != 0;
    return failed;
}

static int notes(int mib)
{
    const char *path = getenv("VRAMSCOPE_SIMULATE_NOTES");
    int fd = path ? open(path, O_WRONLY | O_APPEND) : -1;
    if (fd < 0)
        return 2;
    dprintf(fd, "assumed\t%d\tcuDNN\tworkspace of conv1\t67108864\tnot measured\n", getpid());
    dprintf(fd, "assumed\t%d\tcuDNN\tworkspace of conv1\t67108864\tnot measured\n", getpid());
    dprintf(fd, "unsupported\t%d\tcuSPARSE\tcusparseSpSM_solve\t0\t\n", getpid());
    dprintf(fd, "decided\t%d\tvalues\ttrain.py:31: `if bad`\t1\tread as False\n", getpid());
    dprintf(fd, "decided\t%d\tvalues\ttrain.py:31: `if bad`\t5\tread as False\n", getpid());
    dprintf(fd, "read\t%d\tvalues\ttrain.py:40: `x.item()`\t2\tread as 0\n", getpid());
    dprintf(fd, "read\t%d\tvalues\ttrain.py:40: `x.item()`\t1\tread as 1\n", getpid());
    dprintf(fd, "values\t%d\t\t\t0\tcomputed=12 skipped=3 failed=1 read=3 decided=6\n", getpid());
    dprintf(fd, "not a note\n");
    return hold(mib);
}

/* Waits to be interrupted, as a program that takes long. */
static int wait_here(int mib)
{
    if (grow(mib))
        return 1;
    close(open("waiting", O_WRONLY | O_CREAT, 0666));
    for (;;)
        pause();
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(int mib);
    } modes[] = {{"hold", hold}, {"steps", steps}, {"train", train}, {"recover", recover},
                 {"share", share}, {"notes", notes}, {"wait", wait_here}};
    const char *mode = argc > 1 ? argv[1] : "";
    int mib = argc > 2 ? atoi(argv[argc - 1]) : 64;
    const char *equals = argc > 2 ? strchr(argv[argc - 1], '=') : NULL;
    if (equals)
        mib = atoi(equals + 1);
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (strcmp(mode, modes[i].name) == 0)
            return modes[i].run(mib);
    if (strcmp(mode, "swallow") == 0)
        return grow(mib) ? 0 : 0;
    if (strcmp(mode, "second") == 0)
        return cudaSetDevice(1) ? (fprintf(stderr, "invalid device ordinal\n"), 1) : hold(mib);
    if (strcmp(mode, "crash") == 0)
        return grow(mib) ? 1 : raise(SIGSEGV);
    if (strcmp(mode, "fail") == 0)
        return grow(mib) ? 1 : (fprintf(stderr, "line 1\nthe data set is missing\n"), 3);
    return 0; /* "nothing" */
}
