// SPDX-License-Identifier: Apache-2.0
// What a small transformer layer needs: scores, causal softmax, weighted sum, residual.
#pragma once

// One block per (head, query): scores[key] = q . k / sqrt(width), softmax over keys <= query.
__global__ void attention_weights(const float *q, const float *k, float *p, int length, int width)
{
    extern __shared__ float scores[]; // length, then one per warp
    float *shared = scores + length;
    int query = blockIdx.x, head = blockIdx.y;
    const float *mine = q + (head * length + query) * width;
    float most = -INFINITY, sum = 0.0f;
    for (int key = threadIdx.x; key <= query; key += blockDim.x) {
        const float *other = k + (head * length + key) * width;
        float dot = 0.0f;
        for (int i = 0; i < width; i++)
            dot += mine[i] * other[i];
        scores[key] = dot * rsqrtf((float)width);
        most = fmaxf(most, scores[key]);
    }
    for (int lanes = 16; lanes > 0; lanes /= 2)
        most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, lanes));
    if (threadIdx.x % 32 == 0)
        shared[threadIdx.x / 32] = most;
    __syncthreads();
    for (unsigned w = 0; w < blockDim.x / 32; w++)
        most = fmaxf(most, shared[w]);
    __syncthreads();
    for (int key = threadIdx.x; key <= query; key += blockDim.x) {
        scores[key] = __expf(scores[key] - most);
        sum += scores[key];
    }
    for (int lanes = 16; lanes > 0; lanes /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, lanes);
    if (threadIdx.x % 32 == 0)
        shared[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = 0.0f;
    for (unsigned w = 0; w < blockDim.x / 32; w++)
        sum += shared[w];
    for (int key = threadIdx.x; key < length; key += blockDim.x)
        p[(head * length + query) * length + key] = key <= query ? scores[key] / sum : 0.0f;
}

__global__ void attention_values(const float *p, const float *v, float *out, int length, int width)
{
    int query = blockIdx.x, head = blockIdx.y, i = threadIdx.x;
    float sum = 0.0f;
    for (int key = 0; key <= query; key++)
        sum += p[(head * length + query) * length + key] * v[(head * length + key) * width + i];
    out[(head * length + query) * width + i] = sum;
}

__global__ void add_residual(float *x, const float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = tanhf(x[i] + y[i]);
}
