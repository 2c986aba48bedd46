// SPDX-License-Identifier: Apache-2.0
#include <vramscope_simulator_kernels.hpp>

#include "halo_exchange_kernels.cuh"

VRAMSCOPE_SIM_VARIABLE(medium);
VRAMSCOPE_SIM_VARIABLE(steps_taken);
VRAMSCOPE_SIM_KERNEL(wave_step);
