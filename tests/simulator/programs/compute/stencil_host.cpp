// SPDX-License-Identifier: Apache-2.0
#include <vramscope_simulator_kernels.hpp>

#include "stencil_kernels.cuh"

VRAMSCOPE_SIM_KERNEL(heat_step);
VRAMSCOPE_SIM_KERNEL(largest_difference);
