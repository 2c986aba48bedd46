// SPDX-License-Identifier: Apache-2.0
// A program that allocates through templates of the toolkit's headers.
#include <thrust/device_vector.h>

static __attribute__((noinline)) void grow(thrust::device_vector<float> &points, size_t count)
{
    points.resize(count); // grow
}

int main()
{
    auto *points = new thrust::device_vector<float>; // never freed
    grow(*points, 4 << 20);
    new thrust::device_vector<int>(2 << 20); // indices
    void *own = nullptr;
    cudaMalloc(&own, 3 << 20); // own
    return cudaMalloc(&own, size_t(1) << 40) == cudaSuccess;
}
