// SPDX-License-Identifier: Apache-2.0
#include <vramscope_simulator_kernels.hpp>

#include "image_filter_kernels.cuh"

VRAMSCOPE_SIM_VARIABLE(weights);
VRAMSCOPE_SIM_KERNEL(blur_rows);
VRAMSCOPE_SIM_KERNEL(blur_columns);
