/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the tests of vramscope_simulator_kernels.hpp: facts, and blocks that are run directly,
 * without a device, nvcc or the simulator. The programs exit with 0 if all facts hold. */
#ifndef HOST_FACTS_HPP
#define HOST_FACTS_HPP

#include <vramscope_simulator_kernels.hpp>

static int failures;

static void fact(bool holds, const char *what)
{
    std::printf("%s: %s\n", what, holds ? "ok" : "FAILED");
    failures += !holds;
}

template <auto kernel, typename... A>
static void launched(bool cooperative, dim3 grid, dim3 block, A... args)
{
    void *pointers[] = {&args..., nullptr};
    vramscope_sim_launch launch = {
        {grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, 256, pointers, cooperative};
    vramscope_sim::host_kernel<kernel>::blocks(&launch, 0, (unsigned long)grid.x * grid.y * grid.z);
}

template <auto kernel, typename... A> static void run(dim3 grid, dim3 block, A... args)
{
    launched<kernel>(false, grid, block, args...);
}

#endif
