// SPDX-License-Identifier: Apache-2.0
//
// Reports as PyTorch's allocator does: two blocks of one segment, one freed, then a request that
// the device refuses; and once for the CPU, which is not a device.
#include <cuda_runtime_api.h>

#include <cstdio>

#include "c10_library.h"

int main()
{
    const c10::Device gpu = {1, 0}, cpu = {0, -1};
    const size_t mib = 1 << 20;
    void *segment = nullptr;
    if (cudaMalloc(&segment, 20 * mib))
        return 1;
    char *second = static_cast<char *>(segment) + 3 * mib;
    c10::reportMemoryUsageToProfiler(segment, 3 * mib, 3 * mib, 20 * mib, gpu);
    c10::reportMemoryUsageToProfiler(second, 4 * mib, 7 * mib, 20 * mib, gpu);
    c10::reportMemoryUsageToProfiler(segment, -static_cast<int64_t>(3 * mib), 4 * mib, 20 * mib, gpu);
    c10::reportMemoryUsageToProfiler(&segment, 64, 64, 64, cpu);
    void *none = nullptr;
    if (!cudaMalloc(&none, size_t(100) << 30))
        return 2;
    c10::reportOutOfMemoryToProfiler(int64_t(100) << 30, 4 * mib, 20 * mib, gpu);
    c10_calls seen = c10::calls_seen();
    std::printf("%d allocations, %d frees, %d failures\n", seen.allocations, seen.frees, seen.ooms);
    return 0;
}
