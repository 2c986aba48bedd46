// SPDX-License-Identifier: Apache-2.0
#include <vramscope_simulator_kernels.hpp>

#include "vmm_vector_kernels.cuh"

VRAMSCOPE_SIM_KERNEL(append);
VRAMSCOPE_SIM_KERNEL(check_sum);
