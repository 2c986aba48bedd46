// SPDX-License-Identifier: Apache-2.0
#include <vramscope_simulator_kernels.hpp>

#include "managed_kernels.cuh"

VRAMSCOPE_SIM_VARIABLE(total);
VRAMSCOPE_SIM_KERNEL(axpy);
VRAMSCOPE_SIM_KERNEL(sum_up);
