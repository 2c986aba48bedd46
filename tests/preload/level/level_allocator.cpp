// SPDX-License-Identifier: Apache-2.0
//
// See the header. The real one reports after the segment is there, on the thread that requested it.
#include "level_allocator.h"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstdlib>

#include "preload/c10_library.h"

namespace c10 {
static const Device gpu = {1, 0};

static void must(bool done, const char *what)
{
    if (done)
        return;
    std::fprintf(stderr, "%s failed\n", what);
    std::exit(2);
}

static Segment mapped(size_t bytes)
{
    CUmemAllocationProp properties = {};
    CUmemAccessDesc access = {};
    CUmemGenericAllocationHandle handle;
    CUdeviceptr address;
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    must(cuMemAddressReserve(&address, bytes, 0, 0, 0) == CUDA_SUCCESS, "cuMemAddressReserve");
    must(cuMemCreate(&handle, bytes, &properties, 0) == CUDA_SUCCESS, "cuMemCreate");
    must(cuMemMap(address, bytes, 0, handle, 0) == CUDA_SUCCESS, "cuMemMap");
    access.location = properties.location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    must(cuMemSetAccess(address, bytes, &access, 1) == CUDA_SUCCESS, "cuMemSetAccess");
    return {reinterpret_cast<char *>(address), bytes, Source::mapped, handle};
}

Segment segment_alloc(size_t bytes, Source source, void *(*raw)(size_t))
{
    void *address = nullptr;
    if (source == Source::mapped) {
        must(cudaFree(nullptr) == cudaSuccess, "cudaFree"); // makes the context
        return mapped(bytes);
    }
    if (source == Source::raw)
        address = raw(bytes);
    else
        must(cudaMalloc(&address, bytes) == cudaSuccess, "cudaMalloc");
    must(address, "the segment");
    return {static_cast<char *>(address), bytes, source, 0};
}

void segment_free(const Segment &segment, void (*raw)(void *))
{
    CUdeviceptr address = reinterpret_cast<CUdeviceptr>(segment.address);
    if (segment.source == Source::raw) {
        raw(segment.address);
    } else if (segment.source == Source::device) {
        must(cudaFree(segment.address) == cudaSuccess, "cudaFree");
    } else {
        must(cuMemUnmap(address, segment.bytes) == CUDA_SUCCESS, "cuMemUnmap");
        must(cuMemRelease(segment.handle) == CUDA_SUCCESS, "cuMemRelease");
        must(cuMemAddressFree(address, segment.bytes) == CUDA_SUCCESS, "cuMemAddressFree");
    }
}

void block_alloc(const Segment &segment, size_t offset, size_t bytes)
{
    reportMemoryUsageToProfiler(segment.address + offset, static_cast<int64_t>(bytes), 0, 0, gpu);
}

void block_free(const Segment &segment, size_t offset, size_t bytes)
{
    reportMemoryUsageToProfiler(segment.address + offset, -static_cast<int64_t>(bytes), 0, 0, gpu);
}
} // namespace c10
