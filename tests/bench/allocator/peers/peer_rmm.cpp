// RMM's pool resource over cudaMalloc in the benchmark: the headers of the librmm wheel, on the
// loaded CUDA runtime. Each free records an event of its stream; that is part of RMM's design, and
// costs as much as the runtime's event.
#include <rmm/cuda_stream_view.hpp>
#include <rmm/mr/device/cuda_memory_resource.hpp>
#include <rmm/mr/device/pool_memory_resource.hpp>

#include <cuda_runtime_api.h>

#include <cstdio>
#include <exception>

#include "bench_contender.h"

using pool_resource = rmm::mr::pool_memory_resource<rmm::mr::cuda_memory_resource>;

static constexpr std::size_t set_aside[] = {std::size_t{64} << 30, std::size_t{4} << 30};

static cudaStream_t streams[BENCH_STREAMS];
static rmm::mr::cuda_memory_resource device_memory;

// The smaller size where address space is limited, as under valgrind; it then grows.
static void *open()
{
    for (auto bytes : set_aside) {
        try {
            return new pool_resource(&device_memory, bytes);
        } catch (const std::exception &e) {
            std::fprintf(stderr, "peer_rmm: %s\n", e.what());
        }
    }
    return nullptr;
}

static void close(void *self) { delete static_cast<pool_resource *>(self); }

static uint64_t take(void *self, uint64_t bytes, unsigned stream)
try {
    auto *pool = static_cast<pool_resource *>(self);
    return reinterpret_cast<uintptr_t>(
        pool->allocate_async(bytes, rmm::cuda_stream_view{streams[stream]}));
} catch (const std::exception &e) {
    std::fprintf(stderr, "peer_rmm: %s\n", e.what());
    return 0;
}

static void give(void *self, uint64_t addr, uint64_t bytes, unsigned stream)
{
    static_cast<pool_resource *>(self)->deallocate_async(
        reinterpret_cast<void *>(addr), bytes, rmm::cuda_stream_view{streams[stream]});
}

extern "C" const struct bench_contender *bench_contender()
{
    static const struct bench_contender rmm = {
        "rmm", "RMM " RMM_VERSION "'s pool_memory_resource over cudaMalloc, 64 GiB set aside", open,
        close, take, give};
    if (cudaSetDevice(0) != cudaSuccess) {
        std::fputs("peer_rmm: the CUDA runtime has no device\n", stderr);
        return nullptr;
    }
    for (auto &stream : streams) {
        if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess)
            return nullptr;
    }
    return &rmm;
}
