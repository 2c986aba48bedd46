// SPDX-License-Identifier: Apache-2.0
#include <vramscope_simulator_kernels.hpp>

#include "groups_kernels.cuh"

VRAMSCOPE_SIM_DYNAMIC_SHARED(int, scratch);
VRAMSCOPE_SIM_KERNEL(tile_sums);
VRAMSCOPE_SIM_KERNEL(group_sums);
VRAMSCOPE_SIM_KERNEL(keep_positive);
VRAMSCOPE_SIM_KERNEL(smooth);
