// SPDX-License-Identifier: Apache-2.0
#include <vramscope_simulator_kernels.hpp>

#include "matmul_kernels.cuh"

VRAMSCOPE_SIM_KERNEL(matmul<float, 16>);
VRAMSCOPE_SIM_KERNEL(matmul<double, 8>);
