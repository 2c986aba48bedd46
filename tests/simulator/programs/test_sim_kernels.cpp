/* SPDX-License-Identifier: Apache-2.0
 *
 * Barriers, warps and names of kernels that run on the host. Built twice, the second time with the
 * portable way of switching stacks. */
#include "host_facts.hpp"

__global__ void positions(unsigned *seen)
{
    unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    seen[block * blockDim.x * blockDim.y * blockDim.z + thread]++;
}

/* Each thread passes its number to the next one, around the block, n times. */
__global__ void pass_around(int *out, int times)
{
    __shared__ int ring[1024];
    int mine = threadIdx.x, next = (mine + 1) % blockDim.x;
    for (int i = 0; i < times; i++) {
        ring[next] = mine;
        __syncthreads();
        mine = ring[threadIdx.x];
        __syncthreads();
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = mine;
}

__global__ void leave_early(int *out)
{
    if (threadIdx.x % 3 == 0)
        return;
    int there = __syncthreads_count(threadIdx.x % 2);
    int all = __syncthreads_and(threadIdx.x < 1000), any = __syncthreads_or(threadIdx.x == 5);
    out[threadIdx.x] = there * 4 + all * 2 + any;
}

/* Halves of a warp do different numbers of shuffles before they meet. */
__global__ void divergent(int *out)
{
    unsigned lane = threadIdx.x % 32;
    int v = lane;
    if (lane < 16) {
        v = __shfl_xor_sync(0x0000ffffu, v, 1);
        v = __shfl_xor_sync(0x0000ffffu, v, 2);
        v = __shfl_xor_sync(0x0000ffffu, v, 4);
    } else {
        v = __shfl_down_sync(0xffff0000u, v, 3);
    }
    v += 100 * __shfl_sync(0xffffffffu, v, 31 - lane);
    out[threadIdx.x] = v;
}

__global__ void votes(unsigned *out)
{
    unsigned lane = threadIdx.x;
    out[lane] = __ballot_sync(0xffffffffu, lane % 5 == 0);
    out[32 + lane] = __match_any_sync(0xffffffffu, lane % 4);
    out[64 + lane] = __reduce_add_sync(0xffffffffu, lane);
    out[96 + lane] = __shfl_up_sync(0xffffffffu, lane, 3, 8);
    out[128 + lane] = __any_sync(0xffffffffu, lane == 9) + 2 * __all_sync(0xffffffffu, lane == 9);
}

__global__ void dynamic_shared(int *out)
{
    extern __shared__ int words[];
    words[threadIdx.x] = threadIdx.x * 7;
    __syncthreads();
    out[threadIdx.x] = words[blockDim.x - 1 - threadIdx.x];
}
VRAMSCOPE_SIM_DYNAMIC_SHARED(int, words);

struct Pair {
    double value;
    __device__ double twice() const { return 2 * value; }
};

template <typename T> __device__ T deep(T value, int depth)
{
    __syncthreads(); /* from within a recursion */
    return depth ? deep(value, depth - 1) + 1 : value;
}

namespace area {
template <typename T> __global__ void templated(T *out, Pair pair)
{
    out[threadIdx.x] = T(deep(pair.twice(), (int)threadIdx.x % 2 ? 4 : 4));
}
}

static __global__ void of_this_file(int *out) { atomicMin(out, -1); }
extern "C" __global__ void plain_name(int *out) { *out = atomicInc((unsigned *)out, 3u); }

template <auto kernel> static bool is_called(const char *name)
{
    return vramscope_sim::device_name(vramscope_sim::symbol_of<kernel>()) == name;
}

static void barriers()
{
    std::vector<unsigned> seen(3 * 2 * 2 * 5 * 3 * 2);
    run<&positions>(dim3(3, 2, 2), dim3(5, 3, 2), seen.data());
    fact(std::all_of(seen.begin(), seen.end(), [](unsigned n) { return n == 1; }),
         "every thread of every block runs once, at its own place");

    std::vector<int> out(2 * 1024);
    bool right = true;
    for (int threads : {1, 33, 100, 1024}) {
        run<&pass_around>(dim3(2), dim3(threads), out.data(), 37);
        for (int i = 0; i < 2 * threads; i++)
            right &= out[i] == ((i % threads - 37) % threads + threads) % threads;
    }
    fact(right, "__syncthreads holds back all threads of blocks of any size");

    std::fill(out.begin(), out.end(), -1);
    run<&leave_early>(dim3(1), dim3(90), out.data());
    right = true;
    for (int i = 0; i < 90; i++)
        right &= out[i] == (i % 3 ? 30 * 4 + 2 + 1 : -1);
    fact(right, "a barrier waits for threads that have not ended, and counts those alone");
}

static void warps()
{
    std::vector<int> out(64);
    run<&divergent>(dim3(1), dim3(64), out.data());
    auto first = [](int lane) { return lane < 16 ? lane ^ 7 : lane < 29 ? lane + 3 : lane; };
    bool right = true;
    for (int i = 0; i < 64; i++)
        right &= out[i] == first(i % 32) + 100 * first(31 - i % 32);
    fact(right, "parts of a warp shuffle among themselves, then all together");

    std::vector<unsigned> v(160);
    run<&votes>(dim3(1), dim3(32), v.data());
    right = true;
    for (unsigned i = 0; i < 32; i++)
        right &= v[i] == 0x42108421u && v[32 + i] == 0x11111111u << i % 4 && v[64 + i] == 496 &&
                 v[96 + i] == (i % 8 < 3 ? i : i - 3) && v[128 + i] == 1;
    fact(right, "votes, matches, reductions and shuffles of a width give the guide's answers");
}

static void language()
{
    std::vector<int> out(64);
    run<&dynamic_shared>(dim3(1), dim3(64), out.data());
    bool right = true;
    for (int i = 0; i < 64; i++)
        right &= out[i] == (63 - i) * 7;
    fact(right, "dynamic shared memory is that of the block");

    std::vector<double> sums(40);
    run<&area::templated<double>>(dim3(1), dim3(40), sums.data(), Pair{1.5});
    fact(std::all_of(sums.begin(), sums.end(), [](double d) { return d == 7; }),
         "threads wait within recursions");
    int word = 3;
    run<&of_this_file>(dim3(4), dim3(8), &word);
    fact(word == -1, "atomicMin");
    fact(is_called<&positions>("_Z9positionsPj") && is_called<&of_this_file>("_Z12of_this_filePi") &&
             is_called<&area::templated<double>>("_ZN4area9templatedIdEEvPT_4Pair") &&
             is_called<&plain_name>("plain_name"),
         "kernels are registered by the names that nvcc gives them");
    fact(vramscope_sim::variable_name("a") == "a" &&
             vramscope_sim::variable_name("one::two") == "_ZN3one3twoE",
         "so are variables");
}

int main()
{
    barriers();
    warps();
    language();
    return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
