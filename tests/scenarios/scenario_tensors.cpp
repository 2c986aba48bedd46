// SPDX-License-Identifier: Apache-2.0
//
// A small caching allocator that behaves as PyTorch's towards the device and the profiler: segments
// by cudaMalloc (2 MiB for small tensors, 20 MiB up to 10 MiB, else whole 2 MiB), blocks by best
// fit in the pool of their stream, and each tensor reported through the functions of libc10. When
// the device refuses, unused segments are freed and the request is made again; then the report of
// out of memory. One device, one thread.
#include "scenario_parts.h"

#include <map>

#include "../preload/c10_library.h"

namespace {
constexpr size_t mib = size_t(1) << 20;

struct block {
    char *address;
    size_t bytes;
    bool used, first; // first: of its segment
    uint64_t pool;
};

std::map<char *, block> blocks;
size_t allocated, reserved;
uint64_t private_pool;

const c10::Device gpu = {1, 0};

size_t rounded(size_t bytes) { return bytes < 512 ? 512 : (bytes + 511) / 512 * 512; }

size_t segment_bytes(size_t bytes)
{
    if (bytes <= mib)
        return 2 * mib;
    if (bytes < 10 * mib)
        return 20 * mib;
    return (bytes + 2 * mib - 1) / (2 * mib) * (2 * mib);
}

void free_unused_segments()
{
    for (auto it = blocks.begin(); it != blocks.end();) {
        auto next = std::next(it);
        bool whole = it->second.first && (next == blocks.end() || next->second.first);
        if (!it->second.used && whole) {
            cudaFree(it->second.address);
            reserved -= it->second.bytes;
            blocks.erase(it);
        }
        it = next;
    }
}

block *best_fit(size_t bytes, uint64_t pool)
{
    block *best = nullptr;
    for (auto &entry : blocks) {
        block &b = entry.second;
        if (!b.used && b.pool == pool && b.bytes >= bytes && (!best || b.bytes < best->bytes))
            best = &b;
    }
    return best;
}

void split(block &b, size_t bytes)
{
    size_t rest = b.bytes - bytes;
    if (rest < (b.pool & 1 ? 512 : mib))
        return;
    b.bytes = bytes;
    blocks[b.address + bytes] = {b.address + bytes, rest, false, false, b.pool};
}

int new_segment(size_t bytes, uint64_t pool)
{
    void *address = nullptr;
    int error = cudaMalloc(&address, bytes);
    if (error) {
        cudaGetLastError();
        free_unused_segments();
        error = cudaMalloc(&address, bytes);
    }
    if (error)
        return error;
    reserved += bytes;
    char *start = static_cast<char *>(address);
    blocks[start] = {start, bytes, false, true, pool};
    return 0;
}
} // namespace

extern "C" int scenario_tensor_alloc(void **address, size_t bytes, cudaStream_t, int number)
{
    size_t size = rounded(bytes);
    uint64_t pool = private_pool << 32 | uint64_t(number) << 1 | (size <= mib);
    block *found = best_fit(size, pool);
    if (!found) {
        if (new_segment(segment_bytes(size), pool)) {
            c10::reportOutOfMemoryToProfiler(int64_t(size), allocated, reserved, gpu);
            return 2;
        }
        found = best_fit(size, pool);
    }
    split(*found, size);
    found->used = true;
    allocated += found->bytes;
    *address = found->address;
    c10::reportMemoryUsageToProfiler(*address, int64_t(found->bytes), allocated, reserved, gpu);
    return 0;
}

extern "C" void scenario_tensor_free(void *address, size_t, cudaStream_t)
{
    auto it = blocks.find(static_cast<char *>(address));
    if (it == blocks.end() || !it->second.used)
        return;
    it->second.used = false;
    allocated -= it->second.bytes;
    c10::reportMemoryUsageToProfiler(address, -int64_t(it->second.bytes), allocated, reserved, gpu);
    auto next = std::next(it);
    if (next != blocks.end() && !next->second.first && !next->second.used) {
        it->second.bytes += next->second.bytes;
        blocks.erase(next);
    }
    if (!it->second.first) {
        auto before = std::prev(it);
        if (!before->second.used) {
            before->second.bytes += it->second.bytes;
            blocks.erase(it);
        }
    }
}

extern "C" void scenario_tensor_pool(uint64_t pool) { private_pool = pool; }
