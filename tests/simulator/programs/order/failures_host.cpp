// SPDX-License-Identifier: Apache-2.0
#undef NDEBUG // before all headers; see failures_kernels.cuh
#include <vramscope_simulator_kernels.hpp>

#include "failures_kernels.cuh"

VRAMSCOPE_SIM_KERNEL(check_below);
VRAMSCOPE_SIM_KERNEL(stop_at);
VRAMSCOPE_SIM_KERNEL(fail_before_barrier);
VRAMSCOPE_SIM_KERNEL(add_one);
