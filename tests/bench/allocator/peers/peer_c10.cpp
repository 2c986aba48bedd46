// PyTorch's own caching allocator in the benchmark: libc10_cuda from the torch wheel, called as
// torch's C++ code calls it, on the loaded CUDA runtime. There is one per process: opening another
// empties its cache.
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/PeerToPeerAccess.h>
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdio>
#include <exception>

#include "bench_contender.h"

namespace c10::cuda::_internal {
void setHasPrimaryContext(bool (*)(DeviceIndex)); // libtorch_cuda's part in libc10_cuda
}

namespace allocator = c10::cuda::CUDACachingAllocator;

static cudaStream_t streams[BENCH_STREAMS];

static bool has_primary_context(c10::DeviceIndex index)
{
    unsigned flags;
    int active = 0;
    return cuDevicePrimaryCtxGetState(index, &flags, &active) == CUDA_SUCCESS && active;
}

static bool start()
{
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || !devices || cudaSetDevice(0) != cudaSuccess)
        return false;
    for (auto &stream : streams) {
        if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess)
            return false;
    }
    c10::cuda::_internal::setHasPrimaryContext(has_primary_context);
    c10::cuda::detail::init_p2p_access_cache(devices);
    allocator::init(devices);
    return true;
}

static void *open()
{
    allocator::emptyCache();
    return streams;
}

static void close(void *) { allocator::emptyCache(); }

static uint64_t take(void *, uint64_t bytes, unsigned stream)
try {
    return reinterpret_cast<uintptr_t>(allocator::raw_alloc_with_stream(bytes, streams[stream]));
} catch (const std::exception &e) {
    std::fprintf(stderr, "peer_c10: %s\n", e.what());
    return 0;
}

static void give(void *, uint64_t addr, uint64_t, unsigned)
{
    allocator::raw_delete(reinterpret_cast<void *>(addr));
}

extern "C" const struct bench_contender *bench_contender()
try {
    static const struct bench_contender c10 = {
        "c10", "PyTorch " TORCH_VERSION "'s CUDACachingAllocator, native backend, default settings",
        open, close, take, give};
    if (start())
        return &c10;
    std::fputs("peer_c10: the CUDA runtime has no device\n", stderr);
    return nullptr;
} catch (const std::exception &e) {
    std::fprintf(stderr, "peer_c10: %s\n", e.what());
    return nullptr;
}
