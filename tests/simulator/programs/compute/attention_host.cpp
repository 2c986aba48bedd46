// SPDX-License-Identifier: Apache-2.0
#include <vramscope_simulator_kernels.hpp>

#include "attention_kernels.cuh"

VRAMSCOPE_SIM_DYNAMIC_SHARED(float, scores);
VRAMSCOPE_SIM_KERNEL(attention_weights);
VRAMSCOPE_SIM_KERNEL(attention_values);
VRAMSCOPE_SIM_KERNEL(add_residual);
