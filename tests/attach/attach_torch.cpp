// SPDX-License-Identifier: Apache-2.0
//
// PyTorch's allocator for attach_program.py: segments from the device, blocks by its reports, and a thread that
// allocates and frees without Python, as the backward pass does.
#include <cuda_runtime_api.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "../preload/c10_library.h"

static const c10::Device gpu = {1, 0};
static size_t allocated, reserved;
static std::atomic<bool> stop(false);
static std::atomic<int> turns(0);
static std::thread churn;

extern "C" void *torch_segment(size_t bytes)
{
    void *segment = nullptr;
    reserved += bytes;
    return cudaMalloc(&segment, bytes) ? nullptr : segment;
}

extern "C" void torch_segment_free(void *segment, size_t bytes)
{
    reserved -= bytes;
    cudaFree(segment);
}

extern "C" void torch_block(char *at, int64_t bytes)
{
    allocated += static_cast<size_t>(bytes);
    c10::reportMemoryUsageToProfiler(at, bytes, allocated, reserved, gpu);
}

// Ends with the block in use.
extern "C" void torch_churn(char *at, int64_t bytes)
{
    churn = std::thread([=] {
        for (bool last = false; !last; turns++) {
            last = stop;
            c10::reportMemoryUsageToProfiler(at, -bytes, allocated, reserved, gpu);
            c10::reportMemoryUsageToProfiler(at, bytes, allocated, reserved, gpu);
            std::this_thread::sleep_for(std::chrono::microseconds(100)); // fewer events
        }
    });
    while (turns < 10)
        std::this_thread::yield();
}

extern "C" void torch_churn_end()
{
    stop = true;
    churn.join();
}
