/* SPDX-License-Identifier: Apache-2.0
 *
 * vramscope's allocator in the benchmark on the loaded CUDA runtime: the same device as the peers',
 * so that the ratio to them compares only the allocators. */
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

#include "allocator/core/allocator.h"
#include "bench_contender.h"

static cudaStream_t streams[BENCH_STREAMS];

static enum vs_err from_cuda(cudaError_t error)
{
    return error == cudaSuccess                 ? VS_OK
           : error == cudaErrorMemoryAllocation ? VS_ERR_DEVICE_OOM
                                                : VS_ERR_DEVICE;
}

static enum vs_err segment_alloc(void *ctx, size_t bytes, uint64_t *addr)
{
    void *p;
    (void)ctx;
    enum vs_err err = from_cuda(cudaMalloc(&p, bytes));
    if (!err)
        *addr = (uintptr_t)p;
    return err;
}

static enum vs_err segment_free(void *ctx, uint64_t addr, size_t bytes)
{
    (void)ctx, (void)bytes;
    return from_cuda(cudaFree((void *)(uintptr_t)addr));
}

static enum vs_err synchronize(void *ctx)
{
    (void)ctx;
    return from_cuda(cudaDeviceSynchronize());
}

static enum vs_err event_record(void *ctx, uint64_t stream, uint64_t *event)
{
    cudaEvent_t e;
    (void)ctx;
    enum vs_err err = from_cuda(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
    if (!err)
        err = from_cuda(cudaEventRecord(e, (cudaStream_t)(uintptr_t)stream));
    if (!err)
        *event = (uintptr_t)e;
    return err;
}

static enum vs_err event_query(void *ctx, uint64_t event, bool *ready)
{
    (void)ctx;
    cudaError_t error = cudaEventQuery((cudaEvent_t)(uintptr_t)event);
    *ready = error == cudaSuccess;
    return error == cudaErrorNotReady ? VS_OK : from_cuda(error);
}

static enum vs_err event_synchronize(void *ctx, uint64_t event)
{
    (void)ctx;
    return from_cuda(cudaEventSynchronize((cudaEvent_t)(uintptr_t)event));
}

static void event_release(void *ctx, uint64_t event)
{
    (void)ctx;
    cudaEventDestroy((cudaEvent_t)(uintptr_t)event);
}

static void *open_(void)
{
    static const struct vs_allocator_config config = {.reuse = VS_REUSE_STREAM_ORDERED};
    static const struct vs_device_ops ops = {.segment_alloc = segment_alloc,
                                             .segment_free = segment_free,
                                             .synchronize = synchronize,
                                             .event_record = event_record,
                                             .event_query = event_query,
                                             .event_synchronize = event_synchronize,
                                             .event_release = event_release};
    struct vs_allocator *a;
    return vs_allocator_create(&config, &ops, NULL, NULL, NULL, &a) ? NULL : a;
}

static void close_(void *self) { vs_allocator_destroy(self); }

static uint64_t take(void *self, uint64_t bytes, unsigned stream)
{
    struct vs_allocation got;
    return vs_allocator_malloc(self, bytes, (uintptr_t)streams[stream], &got) ? 0 : got.addr;
}

static void give(void *self, uint64_t addr, uint64_t bytes, unsigned stream)
{
    (void)bytes, (void)stream;
    if (vs_allocator_free(self, addr))
        abort(); /* the benchmark frees each block exactly once */
}

const struct bench_contender *bench_contender(void)
{
    static const struct bench_contender ours = {
        "ours", "vramscope's allocator, policy pytorch, on the CUDA runtime", open_, close_, take,
        give};
    for (int i = 0; i < BENCH_STREAMS; i++) {
        if (cudaSetDevice(0) || cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking)) {
            fputs("peer_simulated: the CUDA runtime has no device\n", stderr);
            return NULL;
        }
    }
    return &ours;
}
