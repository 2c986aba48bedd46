// SPDX-License-Identifier: Apache-2.0
#include <vramscope_simulator_kernels.hpp>

#include "async_pool_kernels.cuh"

VRAMSCOPE_SIM_KERNEL(fill_squares);
VRAMSCOPE_SIM_KERNEL(add_up);
