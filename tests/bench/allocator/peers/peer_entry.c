/* SPDX-License-Identifier: Apache-2.0
 *
 * vramscope's entry points for PyTorch's pluggable allocator in the benchmark: libvramscope opened
 * by the program, as PyTorch opens it, on the loaded CUDA runtime. Compared with `ours` it shows
 * the cost of the entry points themselves. VRAMSCOPE_RECORD=off: without a trace; VRAMSCOPE_POLICY:
 * the policy. */
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench_contender.h"

static cudaStream_t streams[BENCH_STREAMS];
static void *(*entry_alloc)(size_t bytes, int device, void *stream);
static void (*entry_free)(void *pointer, size_t bytes, int device, void *stream);
static void (*entry_reset)(void);

static void *open_entry(void)
{
    entry_reset();
    return streams;
}

static void close_entry(void *self)
{
    (void)self;
    entry_reset();
}

static uint64_t take(void *self, uint64_t bytes, unsigned stream)
{
    (void)self;
    return (uintptr_t)entry_alloc(bytes, 0, streams[stream]);
}

static void give(void *self, uint64_t addr, uint64_t bytes, unsigned stream)
{
    (void)self;
    entry_free((void *)(uintptr_t)addr, bytes, 0, streams[stream]);
}

static bool find_entry(void)
{
    void *lib = dlopen("libvramscope.so", RTLD_NOW | RTLD_LOCAL);
    if (lib) {
        *(void **)&entry_alloc = dlsym(lib, "vramscope_torch_alloc");
        *(void **)&entry_free = dlsym(lib, "vramscope_torch_free");
        *(void **)&entry_reset = dlsym(lib, "vramscope_torch_reset");
    }
    if (entry_alloc && entry_free && entry_reset)
        return true;
    fprintf(stderr, "peer_entry: %s\n", dlerror());
    return false;
}

const struct bench_contender *bench_contender(void)
{
    static char what[128];
    static struct bench_contender entry = {"entry", what,        open_entry,
                                           close_entry, take, give};
    const char *record = getenv("VRAMSCOPE_RECORD"), *policy = getenv("VRAMSCOPE_POLICY");
    if (!find_entry())
        return NULL;
    for (int i = 0; i < BENCH_STREAMS; i++) {
        if (cudaSetDevice(0) || cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking)) {
            fputs("peer_entry: the CUDA runtime has no device\n", stderr);
            return NULL;
        }
    }
    snprintf(what, sizeof what, "vramscope_torch_alloc and _free, record=%s, policy=%s",
             record ? record : "on", policy ? policy : "pytorch");
    return &entry;
}
