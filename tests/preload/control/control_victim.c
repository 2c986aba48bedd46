/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that annotates and controls its recording through vramscope_client.h alone: C99, not
 * linked with the library. Many allocations of several threads, the same in every run; with the
 * argument "stop" it stops and starts the recording meanwhile, with "threads stop" while another
 * thread allocates. With "stopped" it stops it before the first CUDA call, with "starting NVML" that
 * library does, during it. With "dump PATH" it writes a copy of its trace after half of the work.
 * With "copies N" it copies N times while the recording is stopped. With "subscribe" it becomes
 * CUPTI's subscriber after the recording has begun. Prints the peak of a window in bytes, -1 without
 * the library. */
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vramscope_client.h"

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)
#define ROUNDS 200
#define HELD 16

static void *device_alloc(size_t bytes)
{
    void *p = NULL;
    if (cudaMalloc(&p, bytes) != cudaSuccess)
        exit(3);
    return p;
}

static void device_free(void *p)
{
    if (cudaFree(p) != cudaSuccess)
        exit(4);
}

static int stops;

/* Blocks that outlive a stop and a start, on either side of them. */
static void work(unsigned seed)
{
    void *held[HELD] = {0};
    int i;
    for (i = 0; i < ROUNDS; i++) {
        unsigned slot = (seed = seed * 1103515245u + 12345u) >> 8;
        slot %= HELD;
        if (held[slot])
            device_free(held[slot]);
        held[slot] = device_alloc((64 + seed % 900) * KIB);
        if (stops && i % 40 == 10)
            vramscope_client_stop_recording();
        if (stops && i % 40 == 30)
            vramscope_client_start_recording();
    }
    if (stops)
        vramscope_client_start_recording();
    for (i = 0; i < HELD; i++) {
        if (held[i])
            device_free(held[i]);
    }
}

static void *thread(void *arg)
{
    work(99);
    return arg;
}

/* Ten copies that are recorded, then *n* that are not. */
static void copy(void *device, int n)
{
    static char host[4096];
    int i;
    for (i = 0; i < 10 + n; i++) {
        if (i == 10)
            vramscope_client_stop_recording();
        if (cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice) != cudaSuccess)
            exit(6);
    }
    vramscope_client_start_recording();
}

static void called(void *user, int domain, unsigned id, const void *data)
{
    (void)user, (void)domain, (void)id, (void)data;
}

/* As a profiler that comes later would: CUPTI has one subscriber. */
static void subscribe(void)
{
    union {
        void *object;
        int (*function)(void **, void (*)(void *, int, unsigned, const void *), void *);
    } found;
    void *library = dlopen("libcupti.so.13", RTLD_NOW), *handle;
    found.object = library ? dlsym(library, "cuptiSubscribe") : NULL;
    if (!found.object || found.function(&handle, called, NULL) != 0)
        exit(7);
}

int main(int argc, char **argv)
{
    int *stopped_with = NULL;
    struct vramscope_client_window window;
    long long peak = -1;
    int64_t number = vramscope_client_window_begin();
    void *kept, *big;
    pthread_t other;
    stops = argc > 1 && strcmp(argv[argc - 1], "stop") == 0;
    if (argc > 1 && strcmp(argv[1], "stopped") == 0)
        vramscope_client_stop_recording(); /* before the first CUDA call */
    if (argc > 2 && strcmp(argv[1], "starting") == 0) {
        /* the recording finds a library that is already loaded by its SONAME */
        void *library = dlopen(argv[2], RTLD_NOW);
        stopped_with = library ? (int *)dlsym(library, "stopped_with") : NULL;
        if (!stopped_with)
            return 8;
    }
    vramscope_client_step(7);
    vramscope_client_annotate("weights");
    kept = device_alloc(4 * MIB);
    if (stopped_with && *stopped_with != 0)
        return 9;
    vramscope_client_range_push("load");
    vramscope_client_annotate("taken back");
    vramscope_client_annotate(NULL);
    work(1);
    vramscope_client_range_pop();
    if (argc > 2 && strcmp(argv[1], "copies") == 0)
        copy(kept, atoi(argv[2]));
    if (argc > 1 && strcmp(argv[1], "subscribe") == 0)
        subscribe();
    if (argc > 2 && strcmp(argv[1], "dump") == 0 && vramscope_client_dump(argv[2]) != 0)
        perror(argv[2]);
    vramscope_client_step(8);
    if (argc > 1 && strcmp(argv[1], "threads") == 0 && pthread_create(&other, NULL, thread, NULL))
        return 5;
    work(2);
    if (argc > 1 && strcmp(argv[1], "threads") == 0)
        pthread_join(other, NULL);
    big = device_alloc(64 * MIB);
    vramscope_client_step_end();
    device_free(big);
    device_free(kept);
    if (vramscope_client_window_end(number, 0, &window) == 0)
        peak = window.allocated_end == 0 ? (long long)window.allocated_peak : -2;
    printf("%lld\n", peak);
    return 0;
}
