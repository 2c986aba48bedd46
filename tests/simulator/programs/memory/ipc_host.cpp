// SPDX-License-Identifier: Apache-2.0
#include <vramscope_simulator_kernels.hpp>

#include "ipc_kernels.cuh"

VRAMSCOPE_SIM_KERNEL(produce);
VRAMSCOPE_SIM_KERNEL(consume);
