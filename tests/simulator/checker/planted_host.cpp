// SPDX-License-Identifier: Apache-2.0
#include <vramscope_simulator_kernels.hpp>

#include "planted_kernels.cuh"

VRAMSCOPE_SIM_KERNEL(ramp);
VRAMSCOPE_SIM_KERNEL(blend);
VRAMSCOPE_SIM_KERNEL(tally);
VRAMSCOPE_SIM_KERNEL(total);
