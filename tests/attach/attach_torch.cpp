// SPDX-License-Identifier: Apache-2.0
//
// PyTorch's allocator for attach_program.py: segments from the device, blocks by its reports, and a thread that
// allocates and frees without Python, as the backward pass does. And ways to wait for standard input.
#include <cuda_runtime_api.h>

#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
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

// A call that the kernel does not repeat by itself. 0: input came.
extern "C" int wait_epoll()
{
    epoll_event event = {EPOLLIN, {}};
    int set = epoll_create1(0);
    epoll_ctl(set, EPOLL_CTL_ADD, 0, &event);
    return epoll_wait(set, &event, 1, -1) == 1 ? 0 : errno;
}

// Calls the kernel as Go and Rust do, with a value in a register that the kernel keeps. 0: it was kept.
extern "C" int wait_inline()
{
#if defined(__x86_64__)
    char byte;
    long result = SYS_read;
    unsigned long value = 0x1234567890abcdef, after;
    asm volatile("movq %3, %%xmm1\n\tsyscall\n\tmovq %%xmm1, %1"
                 : "+a"(result), "=&r"(after)
                 : "D"(0L), "r"(value), "S"(&byte), "d"(1L)
                 : "rcx", "r11", "memory", "xmm1");
    return after != value;
#else
    return 0;
#endif
}

extern "C" void wait_at_exit(void *)
{
    char byte;
    while (read(0, &byte, 1) > 0) {
    }
}
