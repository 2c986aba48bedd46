// SPDX-License-Identifier: Apache-2.0
#include <vramscope_simulator_kernels.hpp>

#include "histogram_kernels.cuh"

VRAMSCOPE_SIM_VARIABLE(first_of_bin);
VRAMSCOPE_SIM_VARIABLE(histogram);
VRAMSCOPE_SIM_VARIABLE(rounds_done);
VRAMSCOPE_SIM_VARIABLE(busiest);
VRAMSCOPE_SIM_VARIABLE(text::bytes_seen);
VRAMSCOPE_SIM_KERNEL(count_bytes);
VRAMSCOPE_SIM_KERNEL(find_busiest);
