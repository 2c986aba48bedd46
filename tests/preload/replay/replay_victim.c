/* SPDX-License-Identifier: Apache-2.0
 *
 * Programs with fixed requests, for tests that compare a replayed setting with a real run:
 * replay_victim MODE [STEPS]. The sizes come from a generator of their own, the same on every
 * machine; "freed" and "trimmed" variants of a mode are what its remedy asks for. Exit status 3: an
 * allocation failed. */
#include <cuda_runtime_api.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vramscope_client.h"

#define MIB ((size_t)1 << 20)
#define KIB ((size_t)1 << 10)
#define LIVE_MAX 4096

static void *live[LIVE_MAX];
static uint64_t state = 1;

static uint64_t draw(uint64_t below)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (state >> 33) % below;
}

static void *need(size_t bytes)
{
    void *memory;
    cudaError_t error = cudaMalloc(&memory, bytes);
    if (error == cudaSuccess)
        return memory;
    fprintf(stderr, "cudaMalloc of %zu: %s\n", bytes, cudaGetErrorString(error));
    exit(3);
}

static void drop(void **memory)
{
    if (*memory && cudaFree(*memory) != cudaSuccess)
        exit(4);
    *memory = NULL;
}

static void step(int number, int begins)
{
    char name[32];
    snprintf(name, sizeof name, "step %d", number);
    if (begins)
        vramscope_client_range_push(name);
    else
        vramscope_client_range_pop();
}

/* Sizes from a few KiB to some ten MiB with random lives. */
static int mixed(int steps)
{
    static const struct {
        size_t least;
        uint64_t more; /* KiB */
    } sizes[] = {{KIB, 256}, {MIB, 4096}, {5 * MIB, 8192}, {12 * MIB, 20480}};
    for (int s = 0; s < steps; s++) {
        step(s, 1);
        for (int i = 0; i < 200; i++) {
            size_t at = draw(64);
            drop(&live[at]);
            uint64_t kind = draw(4);
            live[at] = need(sizes[kind].least + draw(sizes[kind].more) * KIB);
        }
        step(s, 0);
    }
    return 0;
}

/* Every second of many blocks is freed; then larger ones fit into no hole of a segment. */
static int fragment(int steps)
{
    for (int s = 0; s < steps; s++) {
        for (int i = 0; i < 120; i++)
            live[s * 120 + i] = need(5 * MIB);
        for (int i = 0; i < 120; i += 2)
            drop(&live[s * 120 + i]);
    }
    for (int s = 0; s < steps; s++)
        live[LIVE_MAX - 1 - s] = need(100 * MIB);
    return 0;
}

__attribute__((noinline)) static void *log_activation(size_t bytes)
{
    return need(bytes);
}

/* 24 MiB more are kept every step. */
static int leak(int steps, int freed)
{
    void *weights = need(300 * MIB);
    for (int s = 0; s < steps; s++) {
        step(s, 1);
        void *work = need(200 * MIB + (size_t)(s % 3) * 8 * MIB);
        void *kept = log_activation(24 * MIB);
        drop(&work);
        step(s, 0);
        if (freed)
            drop(&kept);
    }
    drop(&weights);
    return 0;
}

/* A stream-ordered pool keeps what it once had; then cudaMalloc needs it. */
static int pool(int trimmed)
{
    cudaMemPool_t device_pool;
    uint64_t keep = trimmed ? 0 : UINT64_MAX;
    void *blocks[16];
    if (cudaDeviceGetDefaultMemPool(&device_pool, 0) ||
        cudaMemPoolSetAttribute(device_pool, cudaMemPoolAttrReleaseThreshold, &keep))
        return 5;
    for (int i = 0; i < 16; i++)
        if (cudaMallocAsync(&blocks[i], 64 * MIB, 0))
            return 3;
    for (int i = 0; i < 16; i++)
        if (cudaFreeAsync(blocks[i], 0))
            return 4;
    if (cudaDeviceSynchronize())
        return 4;
    for (int i = 0; i < 10; i++)
        live[i] = need(100 * MIB);
    return 0;
}

/* Needs 1200 MiB; a probe for more than any device has fails before. */
static int probe(void)
{
    void *memory;
    for (size_t bytes = 4096 * MIB; bytes >= 1024 * MIB; bytes /= 2) {
        if (cudaMalloc(&memory, bytes) == cudaSuccess) {
            drop(&memory);
            break;
        }
    }
    for (int i = 0; i < 12; i++)
        live[i] = need(100 * MIB);
    return 0;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    int steps = argc > 2 ? atoi(argv[2]) : 6;
    if (steps < 1 || steps > 30)
        return 2;
    if (strcmp(mode, "mixed") == 0)
        return mixed(steps);
    if (strcmp(mode, "fragment") == 0)
        return fragment(steps);
    if (strcmp(mode, "leak") == 0 || strcmp(mode, "leak-freed") == 0)
        return leak(steps, mode[4] != 0);
    if (strcmp(mode, "pool") == 0 || strcmp(mode, "pool-trimmed") == 0)
        return pool(mode[4] != 0);
    if (strcmp(mode, "probe") == 0)
        return probe();
    fprintf(stderr, "replay_victim: no mode '%s'\n", mode);
    return 2;
}
