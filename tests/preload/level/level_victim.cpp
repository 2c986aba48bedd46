// SPDX-License-Identifier: Apache-2.0
//
// Windows of peaks around tensors in segments (level_allocator.h) and memory beside them. Argument:
// device, mapped or pool: where the segments come from. The first window begins before the first
// segment; with a pool after it: only the block in it tells what the pool's memory is. Prints for
// each window its figures, in bytes.
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "level_allocator.h"
#include "vramscope_client.h"

static constexpr size_t MIB = size_t{1} << 20;

static void *pool_alloc(size_t bytes)
{
    using alloc_fn = void *(*)(size_t, int, void *);
    static alloc_fn alloc = reinterpret_cast<alloc_fn>(dlsym(RTLD_DEFAULT, "vramscope_torch_alloc"));
    return alloc ? alloc(bytes, 0, nullptr) : nullptr;
}

static void pool_free(void *address)
{
    using free_fn = void (*)(void *, size_t, int, void *);
    static free_fn put = reinterpret_cast<free_fn>(dlsym(RTLD_DEFAULT, "vramscope_torch_free"));
    put(address, 0, 0, nullptr);
}

static void *beside(size_t bytes)
{
    void *address = nullptr;
    if (cudaMalloc(&address, bytes))
        std::exit(3);
    return address;
}

static void print(const char *name, int64_t window)
{
    vramscope_client_window w = {};
    if (vramscope_client_window_end(window, 0, &w))
        std::exit(4);
    std::printf("%s begin_ns=%llu end_ns=%llu begin=%llu end=%llu peak=%llu tensors=%llu allocated=%llu "
                "allocations=%llu frees=%llu\n", name, (unsigned long long)w.begin_ns,
                (unsigned long long)w.end_ns, (unsigned long long)w.user_begin,
                (unsigned long long)w.user_end, (unsigned long long)w.user_peak,
                (unsigned long long)w.tensors_peak, (unsigned long long)w.allocated_peak,
                (unsigned long long)w.user_allocations, (unsigned long long)w.user_frees);
}

int main(int argc, char **argv)
{
    const char *from = argc > 1 ? argv[1] : "device";
    c10::Source source = !std::strcmp(from, "pool")     ? c10::Source::raw
                         : !std::strcmp(from, "mapped") ? c10::Source::mapped
                                                        : c10::Source::device;
    void *first = beside(8 * MIB), *gone = beside(40 * MIB);
    cudaFree(gone);
    int64_t before = 0;
    c10::Segment segments[3];
    for (int i = 0; i < 3; i++) { // of one call site
        if (i == (source == c10::Source::raw)) {
            before = vramscope_client_window_begin();
            gone = beside(16 * MIB);
            cudaFree(gone);
        }
        segments[i] = c10::segment_alloc(20 * MIB, source, pool_alloc);
        c10::block_alloc(segments[i], 0, 3 * MIB);
    }
    print("first", before);
    int64_t whole = vramscope_client_window_begin(), part = vramscope_client_window_begin();
    c10::block_alloc(segments[0], 4 * MIB, 12 * MIB); // the peak of tensors
    c10::block_free(segments[0], 4 * MIB, 12 * MIB);
    print("tensors", part);
    part = vramscope_client_window_begin();
    void *large = beside(60 * MIB); // the peak of the sum
    std::thread([&] { c10::block_alloc(segments[1], 4 * MIB, 2 * MIB); }).join();
    cudaFree(large);
    print("beside", part);
    part = vramscope_client_window_begin();
    c10::block_free(segments[1], 4 * MIB, 2 * MIB);
    c10::block_free(segments[1], 0, 3 * MIB);
    c10::segment_free(segments[1], pool_free);
    print("freed", part);
    print("whole", whole);
    cudaFree(first);
    return 0;
}
