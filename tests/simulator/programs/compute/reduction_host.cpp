// SPDX-License-Identifier: Apache-2.0
#include <vramscope_simulator_kernels.hpp>

#include "reduction_kernels.cuh"

VRAMSCOPE_SIM_DYNAMIC_SHARED(float, warps);
VRAMSCOPE_SIM_KERNEL(reduce<Sum>);
VRAMSCOPE_SIM_KERNEL(reduce<Max>);
VRAMSCOPE_SIM_KERNEL(reduce_tree);
