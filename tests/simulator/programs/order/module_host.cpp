// SPDX-License-Identifier: Apache-2.0
#include <vramscope_simulator_kernels.hpp>

#include "module_kernels.cuh"

VRAMSCOPE_SIM_DYNAMIC_SHARED(float, block);
VRAMSCOPE_SIM_VARIABLE(weight);
VRAMSCOPE_SIM_VARIABLE(calls);
VRAMSCOPE_SIM_KERNEL(vector_add);
VRAMSCOPE_SIM_KERNEL(reverse_blocks);
