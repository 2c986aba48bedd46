// SPDX-License-Identifier: Apache-2.0
#include <vramscope_simulator_kernels.hpp>

#include "default_stream_kernels.cuh"

VRAMSCOPE_SIM_KERNEL(collatz);
