// SPDX-License-Identifier: Apache-2.0
// A pass over one chunk of a long signal: brightness and contrast, four numbers at a time.
#pragma once

__global__ void adjust(float4 *chunk, int quads, float gain, float offset)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= quads)
        return;
    float4 v = chunk[i];
    chunk[i] = make_float4(__saturatef(v.x * gain + offset), __saturatef(v.y * gain + offset),
                           __saturatef(v.z * gain + offset), __saturatef(v.w * gain + offset));
}
