// SPDX-License-Identifier: Apache-2.0
// Sum and maximum: a grid-stride loop, shuffles within a warp, shared memory between warps.
#pragma once

struct Sum {
    __host__ __device__ static float start() { return 0.0f; }
    __host__ __device__ float operator()(float a, float b) const { return a + b; }
};

struct Max {
    __host__ __device__ static float start() { return -3.402823466e38f; }
    __host__ __device__ float operator()(float a, float b) const { return a > b ? a : b; }
};

template <typename Op> __device__ __forceinline__ float warp_reduce(float value, Op op)
{
    for (int delta = warpSize / 2; delta > 0; delta /= 2)
        value = op(value, __shfl_down_sync(0xffffffffu, value, delta));
    return value;
}

template <typename Op>
__global__ void __launch_bounds__(1024) reduce(const float *in, float *out, size_t n, Op op)
{
    extern __shared__ float warps[]; // one float per warp
    float value = Op::start();
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n;
         i += (size_t)gridDim.x * blockDim.x)
        value = op(value, in[i]);
    value = warp_reduce(value, op);
    if (threadIdx.x % warpSize == 0)
        warps[threadIdx.x / warpSize] = value;
    __syncthreads();
    if (threadIdx.x < warpSize) {
        value = threadIdx.x < blockDim.x / warpSize ? warps[threadIdx.x] : Op::start();
        value = warp_reduce(value, op);
        if (threadIdx.x == 0)
            out[blockIdx.x] = value;
    }
}

// The classic tree in shared memory, with the last block of the grid doing the second step.
__global__ void reduce_tree(const int *in, int *partial, int *total, unsigned *done, int n)
{
    __shared__ int tree[256];
    __shared__ bool last;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tree[threadIdx.x] = i < n ? in[i] : 0;
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            tree[threadIdx.x] += tree[threadIdx.x + half];
    }
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = tree[0];
        __threadfence();
        last = atomicInc(done, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last)
        return;
    int sum = 0;
    for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x)
        sum += ((volatile int *)partial)[b];
    tree[threadIdx.x] = sum;
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            tree[threadIdx.x] += tree[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
        *total = tree[0];
}
