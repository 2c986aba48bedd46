// SPDX-License-Identifier: Apache-2.0
//
// Allocates by a fixed pseudo-random plan, so that two runs make the same requests: on two devices,
// plain, stream-ordered, pinned and managed, and through a framework; frees in other threads; runs
// out of memory; resets a device. MODE: churn ROUNDS, threads ROUNDS, killed ROUNDS [at-once]
// (waits, then SIGKILL).
#include <cuda_runtime_api.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <unistd.h>
#include <vector>

#include "c10_library.h"

namespace {

enum Kind { kPlain, kAsync, kPinned, kManaged, kFramework, kKinds };

struct Block {
    Kind kind;
    int device;
    void *ptr;
    size_t bytes;
};

struct Plan {
    uint64_t state;
    std::vector<Block> live;
    size_t framework[2] = {0, 0};
    uintptr_t next_tensor;

    explicit Plan(uint64_t seed) : state(seed), next_tensor(seed << 44 | uintptr_t(1) << 40) {}
    uint64_t next()
    {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        return state >> 33;
    }
};

void report(Plan &plan, const Block &block, bool made)
{
    const c10::Device device = {1, static_cast<int8_t>(block.device)};
    size_t &total = plan.framework[block.device];
    total = made ? total + block.bytes : total - block.bytes;
    int64_t bytes = static_cast<int64_t>(block.bytes);
    c10::reportMemoryUsageToProfiler(block.ptr, made ? bytes : -bytes, total, total + 4096, device);
}

bool make(Plan &plan)
{
    Block b = {static_cast<Kind>(plan.next() % kKinds), static_cast<int>(plan.next() % 2), nullptr,
               (1 + plan.next() % 64) * (plan.next() % 8 ? 700 : 90000)};
    cudaSetDevice(b.device);
    cudaError_t err = cudaSuccess;
    switch (b.kind) {
    case kPlain: err = cudaMalloc(&b.ptr, b.bytes); break;
    case kAsync: err = cudaMallocAsync(&b.ptr, b.bytes, nullptr); break;
    case kPinned: err = cudaMallocHost(&b.ptr, b.bytes); break;
    case kManaged: err = cudaMallocManaged(&b.ptr, b.bytes, cudaMemAttachGlobal); break;
    default:
        b.ptr = reinterpret_cast<void *>(plan.next_tensor += 1 << 24);
        report(plan, b, true);
    }
    if (err == cudaSuccess)
        plan.live.push_back(b);
    return err == cudaSuccess;
}

void give_back(Plan &plan, const Block &b)
{
    cudaSetDevice(b.device);
    switch (b.kind) {
    case kAsync: cudaFreeAsync(b.ptr, nullptr); break;
    case kPinned: cudaFreeHost(b.ptr); break;
    case kFramework: report(plan, b, false); break;
    default: cudaFree(b.ptr);
    }
}

void drop(Plan &plan, size_t i)
{
    Block b = plan.live[i];
    plan.live[i] = plan.live.back();
    plan.live.pop_back();
    if (plan.next() % 64 == 0)
        std::thread([&] { give_back(plan, b); }).join();
    else
        give_back(plan, b);
}

bool churn(Plan &plan, int rounds, bool failures)
{
    for (int i = 0; i < rounds; i++) {
        bool grow = plan.live.empty() || (plan.live.size() < 200 && plan.next() % 9 < 4 + i / 300 % 2);
        if (grow && !make(plan))
            return false;
        if (!grow)
            drop(plan, plan.next() % plan.live.size());
        void *much = nullptr;
        if (failures && i % 500 == 250 && cudaMalloc(&much, size_t(1) << 45) == cudaSuccess)
            return false;
    }
    return true;
}

// A reset frees the live memory of a device.
void reset(Plan &plan, int device)
{
    cudaSetDevice(device);
    cudaDeviceSynchronize();
    std::vector<Block> kept;
    for (const Block &b : plan.live) {
        if (b.kind == kFramework || b.kind == kAsync || b.kind == kManaged)
            give_back(plan, b);
        else if (b.device != device)
            kept.push_back(b);
    }
    plan.live.swap(kept);
    cudaSetDevice(device);
    cudaDeviceReset();
}

bool in_threads(int rounds)
{
    std::vector<std::thread> threads;
    bool good[4] = {false, false, false, false};
    for (int t = 0; t < 4; t++)
        threads.emplace_back([&good, t, rounds] {
            Plan plan(static_cast<uint64_t>(t) + 1);
            good[t] = churn(plan, rounds, false);
            while (!plan.live.empty())
                drop(plan, plan.live.size() - 1);
        });
    for (std::thread &thread : threads)
        thread.join();
    return good[0] && good[1] && good[2] && good[3];
}

} // namespace

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    int rounds = atoi(argv[2]);
    Plan plan(7);
    if (!strcmp(argv[1], "threads"))
        return in_threads(rounds) ? 0 : 1;
    if (!churn(plan, rounds, true))
        return 1;
    if (!strcmp(argv[1], "killed")) {
        if (argc == 3)
            sleep(2); // the totals are written meanwhile: --flush-ms=100
        raise(SIGKILL);
    }
    reset(plan, 0);
    return churn(plan, rounds, true) ? 0 : 1;
}
