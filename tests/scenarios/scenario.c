/* SPDX-License-Identifier: Apache-2.0
 *
 * A CUDA program that does what a list of lines says, so that a generator can plant any cause of
 * running out of memory. Each call site is a function of its own, whose name the list gives: the
 * diagnosis must name it. Usage: scenario FILE; exit 1 at the first refused request that no line
 * expects, 2 for a line that it does not understand.
 *
 *   a SITE FAMILY BYTES SLOT   allocate into a slot (a number; -1: keep no pointer)
 *   t SITE FAMILY BYTES SLOT   the same, but a refusal is expected
 *   f SLOT                     free
 *   push NAME, pop             an NVTX range; early NAME, as first lines: before CUDA is used
 *   sync                       wait for the device
 *   context                    one more context
 *   stack BYTES                stack of every thread of the device (cuCtxSetLimit)
 *   threshold BYTES            of the device's default pool
 *   stream N                   further requests are for stream N (0: the default one)
 *   private N                  further requests of PyTorch's allocator go to its pool N; 0: none
 *   module PATH                the module of PyTorch whose forward code runs from here on; without PATH: none
 *   exit N                     ends the program */
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <inttypes.h>
#include <nvtx3/nvToolsExt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenario_parts.h"

#define SLOTS 65536
#define STREAMS 16

static struct slot {
    void *address;
    CUmemGenericAllocationHandle memory;
    size_t bytes;
    char family;
    int stream;
} slots[SLOTS];
static cudaStream_t streams[STREAMS];
static cudaMemPool_t pools[2]; /* of family pool0, pool1 */
static int stream;

__attribute__((always_inline)) static inline int alloc_mapped(struct slot *slot, size_t bytes)
{
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    slot->bytes = bytes = (bytes + (2u << 20) - 1) / (2u << 20) * (2u << 20);
    return (int)cuMemCreate(&slot->memory, bytes, &prop, 0);
}

/* Inlined into every site, so that the site is the first function of the program on the stack. */
__attribute__((always_inline)) static inline int allocate(struct slot *slot, const char *family,
                                                          size_t bytes)
{
    slot->family = *family;
    slot->stream = stream;
    slot->bytes = bytes;
    switch (*family) {
    case 'd': return cudaMalloc(&slot->address, bytes);
    case 'a': return cudaMallocAsync(&slot->address, bytes, streams[stream]);
    case 'p': return cudaMallocFromPoolAsync(&slot->address, bytes, pools[family[4] - '0'],
                                             streams[stream]);
    case 'm': return cudaMallocManaged(&slot->address, bytes, cudaMemAttachGlobal);
    case 'h': return cudaMallocHost(&slot->address, bytes);
    case 'v': return alloc_mapped(slot, bytes);
    case 'l': return scenario_vendor_alloc(&slot->address, bytes);
    case 't': return scenario_tensor_alloc(&slot->address, bytes, streams[stream], stream);
    }
    return -1;
}

static void release(struct slot *slot)
{
    switch (slot->family) {
    case 'd': cudaFree(slot->address); break;
    case 'a': case 'p': cudaFreeAsync(slot->address, streams[slot->stream]); break;
    case 'm': cudaFree(slot->address); break;
    case 'h': cudaFreeHost(slot->address); break;
    case 'v': cuMemRelease(slot->memory); break;
    case 'l': scenario_vendor_free(slot->address); break;
    case 't': scenario_tensor_free(slot->address, slot->bytes, streams[slot->stream]); break;
    }
    *slot = (struct slot){0};
}

#define SITES(X) X(load_weights) X(make_activation) X(scratch_buffer) X(append_history) \
    X(remember_result) X(cache_response) X(evaluate_whole_set) X(build_index) X(lookup_tables) \
    X(stage_batch) X(tokenize) X(write_log) X(fill_queue) X(resize_image) X(grow_table) \
    X(attention_scores) X(collective_buffers) X(probe_memory)
#define SITE(name) \
    __attribute__((noinline)) static int name(struct slot *slot, const char *family, size_t bytes) \
    { \
        int error = allocate(slot, family, bytes); \
        __asm__ volatile("" ::: "memory"); \
        return error; \
    }
SITES(SITE)

static const struct {
    const char *name;
    int (*call)(struct slot *, const char *, size_t);
} sites[] = {
#define ROW(name) {#name, name},
    SITES(ROW)
};

static int run_site(const char *site, const char *family, size_t bytes, long number, bool expected)
{
    struct slot lost = {0}, *slot = number < 0 ? &lost : &slots[number];
    for (size_t i = 0; i < sizeof sites / sizeof *sites; i++) {
        if (strcmp(site, sites[i].name) != 0)
            continue;
        int error = sites[i].call(slot, family, bytes);
        if (!error)
            return 0;
        *slot = (struct slot){0};
        if (expected) {
            cudaGetLastError();
            return 0;
        }
        printf("%s: no memory for %zu bytes (%d)\n", site, bytes, error);
        return 1;
    }
    return 2;
}

static int one_more_context(void)
{
    CUcontext context, before;
    cuCtxGetCurrent(&before);
#if CUDA_VERSION >= 13000
    int error = cuCtxCreate(&context, NULL, 0, 0);
#else
    int error = cuCtxCreate(&context, 0, 0);
#endif
    cuCtxSetCurrent(before);
    if (error)
        printf("no memory for a context (%d)\n", error);
    return error ? 1 : 0;
}

__attribute__((weak)) void vramscope_torch_module(const char *path, unsigned pass, unsigned tid);

static int run_line(char *line, bool *ended)
{
    char word[32] = "", site[64], family[16];
    uint64_t bytes = 0;
    long slot = 0;
    int used = 0;
    cudaMemPool_t pool;
    sscanf(line, "%31s %n", word, &used);
    char *rest = line + used;
    rest[strcspn(rest, "\n")] = 0;
    if (strcmp(word, "a") == 0 || strcmp(word, "t") == 0) {
        if (sscanf(rest, "%63s %15s %" SCNu64 " %ld", site, family, &bytes, &slot) != 4 || slot >= SLOTS)
            return 2;
        return run_site(site, family, bytes, slot, *word == 't');
    }
    if (strcmp(word, "push") == 0 || strcmp(word, "early") == 0)
        return nvtxRangePushA(rest) < 0 ? 2 : 0;
    if (strcmp(word, "pop") == 0)
        return nvtxRangePop() < 0 ? 2 : 0;
    if (strcmp(word, "module") == 0) {
        if (vramscope_torch_module) /* of the recording library */
            vramscope_torch_module(rest, *rest ? 1 : 0, 0);
        return 0;
    }
    sscanf(rest, "%" SCNu64, &bytes);
    if (strcmp(word, "f") == 0 && bytes < SLOTS)
        release(&slots[bytes]);
    else if (strcmp(word, "sync") == 0)
        return cudaDeviceSynchronize() ? 2 : 0;
    else if (strcmp(word, "context") == 0)
        return one_more_context();
    else if (strcmp(word, "stack") == 0)
        return cudaDeviceSetLimit(cudaLimitStackSize, bytes) ? 1 : 0;
    else if (strcmp(word, "threshold") == 0)
        return 2 * (cudaDeviceGetDefaultMemPool(&pool, 0) ||
                    cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &bytes));
    else if (strcmp(word, "stream") == 0)
        stream = (int)(bytes % STREAMS);
    else if (strcmp(word, "private") == 0)
        scenario_tensor_pool(bytes);
    else if (strcmp(word, "exit") == 0) {
        *ended = true;
        return (int)bytes;
    } else
        return 2;
    return 0;
}

static int prepare(void)
{
    struct cudaMemPoolProps props = {.allocType = cudaMemAllocationTypePinned,
                                     .location = {.type = cudaMemLocationTypeDevice}};
    uint64_t all = UINT64_MAX;
    if (cudaFree(NULL))
        return 2;
    for (int i = 1; i < STREAMS; i++)
        if (cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking))
            return 2;
    for (int i = 0; i < 2; i++)
        if (cudaMemPoolCreate(&pools[i], &props) ||
            cudaMemPoolSetAttribute(pools[i], cudaMemPoolAttrReleaseThreshold, &all))
            return 2;
    return 0;
}

int main(int argc, char **argv)
{
    static char line[70000]; /* names of 64 KiB */
    FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
    int status = file ? 0 : 2;
    bool ended = false, prepared = false;
    while (!status && !ended && fgets(line, sizeof line, file)) {
        if (!prepared && strncmp(line, "early ", 6) != 0) {
            status = prepare();
            prepared = true;
        }
        if (!status)
            status = run_line(line, &ended);
    }
    if (status == 2)
        printf("scenario: not understood, or not possible: %s\n", file ? line : "usage: scenario FILE");
    if (file)
        fclose(file);
    return status;
}
