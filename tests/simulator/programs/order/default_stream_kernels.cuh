// SPDX-License-Identifier: Apache-2.0
// Collatz steps of the numbers from *first* on; the longest way into *longest.
#pragma once

__global__ void collatz(unsigned first, int n, unsigned *steps, unsigned long long *longest)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned count = 0;
    for (unsigned long long v = first + i; v != 1; count++)
        v = v % 2 ? 3 * v + 1 : v / 2;
    steps[i] = count;
    unsigned lanes = __activemask(); // one atomic for those that got here together
    unsigned leader = __ffs(lanes) - 1;
    unsigned long long mine = (unsigned long long)count << 32 | (0xffffffffu - (first + i));
    for (unsigned lane = 0; lane < 32; lane++)
        if (lanes >> lane & 1)
            mine = max(mine, __shfl_sync(lanes, mine, lane));
    if (threadIdx.x % 32 == leader)
        atomicMax(longest, mine);
}
