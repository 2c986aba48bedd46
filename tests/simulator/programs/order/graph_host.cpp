// SPDX-License-Identifier: Apache-2.0
#include <vramscope_simulator_kernels.hpp>

#include "graph_kernels.cuh"

VRAMSCOPE_SIM_KERNEL(scale_add);
VRAMSCOPE_SIM_KERNEL(multiply);
VRAMSCOPE_SIM_KERNEL(accumulate);
