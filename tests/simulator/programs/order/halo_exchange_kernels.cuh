// SPDX-License-Identifier: Apache-2.0
// One step of a wave in a string. Each device has the constants of its own part.
#pragma once

struct Medium {
    float speed2, damping;
};

__constant__ Medium medium = {0.25f, 1.0f};
__device__ int steps_taken;

// One cell more at each end than *n*: the neighbours' cells.
__global__ void wave_step(const float *now, const float *before, float *next, int n)
{
    int i = 1 + blockIdx.x * blockDim.x + threadIdx.x;
    if (i > n)
        return;
    float curve = now[i - 1] - 2.0f * now[i] + now[i + 1];
    next[i] = medium.damping * (2.0f * now[i] - before[i] + medium.speed2 * curve);
    if (i == 1)
        steps_taken++;
}
