/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that allocates and frees in several threads until it is killed, and stores each call in
 * the tally after its return. Its argument is the file of the tally. */
#include <cuda_runtime_api.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "crash_tally.h"

#define HELD 16

static struct crash_tally *tally;

static void note(struct crash_thread *t, uint64_t n, void *address, uint64_t bytes)
{
    t->calls[n] = (struct crash_call){(uint64_t)(uintptr_t)address, bytes};
    atomic_store_explicit(&t->returned, n + 1, memory_order_release);
}

static __attribute__((noinline)) void *take(size_t bytes, unsigned depth)
{
    void *p = NULL;
    if (depth)
        p = take(bytes, depth - 1);
    else if (cudaMalloc(&p, bytes) != cudaSuccess)
        exit(3);
    __asm__ volatile("" ::: "memory"); /* another stack for each depth */
    return p;
}

static void *work(void *arg)
{
    struct crash_thread *t = arg;
    void *held[HELD] = {0};
    unsigned seed = (unsigned)(t - tally->threads) + 1;
    atomic_store(&t->tid, (uint64_t)syscall(SYS_gettid));
    for (uint64_t n = 0; n < CRASH_CALLS_MAX; n++) {
        seed = seed * 1664525u + 1013904223u;
        void **slot = &held[(seed >> 8) % HELD];
        if (*slot) {
            void *gone = *slot;
            if (cudaFree(gone) != cudaSuccess)
                exit(3);
            *slot = NULL;
            note(t, n, gone, 0);
        } else {
            size_t bytes = ((seed >> 16) % 300 + 1) * 512;
            *slot = take(bytes, (seed >> 12) % 9);
            note(t, n, *slot, bytes);
        }
    }
    for (;;)
        pause();
    return NULL;
}

int main(int argc, char **argv)
{
    int fd = argc > 1 ? open(argv[1], O_RDWR) : -1;
    tally = mmap(NULL, sizeof *tally, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (tally == MAP_FAILED || cudaFree(NULL) != cudaSuccess)
        return 2;
    close(fd);
    atomic_store(&tally->pid, (uint64_t)getpid());
    pthread_t thread;
    for (int i = 1; i < CRASH_THREADS; i++) {
        if (pthread_create(&thread, NULL, work, &tally->threads[i]))
            return 2;
    }
    work(&tally->threads[0]);
    return 0;
}
