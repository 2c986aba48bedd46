// SPDX-License-Identifier: Apache-2.0
#include <vramscope_simulator_kernels.hpp>

#include "scan_kernels.cuh"

VRAMSCOPE_SIM_KERNEL(scan_blocks);
VRAMSCOPE_SIM_KERNEL(add_sums);
VRAMSCOPE_SIM_KERNEL(mark<MultipleOf>);
VRAMSCOPE_SIM_KERNEL(gather);
