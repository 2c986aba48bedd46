// SPDX-License-Identifier: Apache-2.0
#include <vramscope_simulator_kernels.hpp>

#include "textures_kernels.cuh"

VRAMSCOPE_SIM_KERNEL(fetch_linear);
VRAMSCOPE_SIM_KERNEL(sample_2d);
VRAMSCOPE_SIM_KERNEL(sample_colors);
VRAMSCOPE_SIM_KERNEL(sample_3d);
VRAMSCOPE_SIM_KERNEL(sample_layers);
VRAMSCOPE_SIM_KERNEL(sample_cube);
VRAMSCOPE_SIM_KERNEL(sample_levels);
VRAMSCOPE_SIM_KERNEL(turn);
