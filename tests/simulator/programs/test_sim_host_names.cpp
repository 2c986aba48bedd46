/* SPDX-License-Identifier: Apache-2.0
 *
 * Host code in the same file as kernels may use the names of device code for its own: variables,
 * members and parameters called gridDim or warpSize, std::min and std::max, its own min, max and
 * rsqrtf, assert. */
#include "host_facts.hpp"

#include <array>
#include <assert.h> /* again */
#include <cooperative_groups/reduce.h>
#include <functional>
#include <numeric>

using namespace std;

/* As NVIDIA's samples define them for the host. */
inline int max(int a, int b) { return a > b ? a : b; }
inline int min(int a, int b) { return a < b ? a : b; }
inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }

struct Shape {
    dim3 gridDim, blockDim;
    int warpSize = 64, threadIdx = 1, blockIdx = 2;
    int max() const { return warpSize; }
    template <typename T> T min(T v) const { return v; }
};

__global__ void scale(float *v, int n, float by)
{
    int i = max(0, int(blockIdx.x * blockDim.x + threadIdx.x));
    float least = min(1.0f, by), mixed = max(1, 2.5f);
    if (i < n)
        v[i] *= least + 0 * mixed + float(warpSize - 32) + rsqrt(1.0) - rsqrtf(1.0f);
}

__global__ void places(int *out)
{
    dim3 block = blockDim, grid(gridDim.x, gridDim.y);
    uint3 here = threadIdx;
    if (here.x == 0)
        out[blockIdx.x] = int(block.x * 10 + grid.x);
}

static float on_host(int gridDim, int blockDim, const array<int, 3> &threadIdx)
{
    int warpSize = 16, blockIdx = 4;
    auto add = [=](int a) { return a + gridDim + blockDim; };
    float most = std::max(float(warpSize), 2.0f), least = (std::min)(1.5f, 2.5f);
    int larger = max(3, 9), smaller = min(add(1), 1000);
    double widest = fmax(1.0, max(2.0, 3.0));
    vector<int> v = {3, 1, 2};
    assert(larger == 9 && threadIdx.size() == 3);
    return most + least + float(larger + smaller + blockIdx + *max_element(v.begin(), v.end())) +
           float(widest) + rsqrtf(4.0f);
}

int main()
{
    Shape shape;
    shape.gridDim = dim3(3);
    shape.blockDim = dim3(8);
    fact(on_host(1, 2, {1, 2, 3}) == 16 + 1.5f + 9 + 4 + 4 + 3 + 3 + 0.5f,
         "local names hide those of device code");
    fact(shape.max() + shape.min(2) + shape.threadIdx + shape.blockIdx == 69,
         "members have any of the names");
    vector<float> v(24, 4.0f);
    run<&scale>(shape.gridDim, shape.blockDim, v.data(), 20, 0.5f);
    fact(v[0] == 2 && v[19] == 2 && v[20] == 4, "a kernel in the same file computes");
    int out[3] = {};
    run<&places>(shape.gridDim, shape.blockDim, &out[0]);
    fact(out[0] == 83 && out[2] == 83, "blockDim and gridDim have the type dim3");
    return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
