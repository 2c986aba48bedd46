// SPDX-License-Identifier: Apache-2.0
// The kernels of all programs, compiled by the host's C++ compiler: once, as the simulator's header is
// most of the work. Every program is linked with all of them; their names differ.
#undef NDEBUG // before all headers; see order/failures_kernels.cuh
#include <vramscope_simulator_kernels.hpp>

#include "compute/attention_kernels.cuh"
#include "compute/groups_kernels.cuh"
#include "compute/histogram_kernels.cuh"
#include "compute/reduction_kernels.cuh"
#include "compute/stencil_kernels.cuh"
#include "compute/textures_kernels.cuh"
#include "memory/async_pool_kernels.cuh"
#include "memory/ipc_kernels.cuh"
#include "memory/managed_kernels.cuh"
#include "memory/vmm_vector_kernels.cuh"
#include "order/default_stream_kernels.cuh"
#include "order/failures_kernels.cuh"
#include "order/graph_kernels.cuh"
#include "order/halo_exchange_kernels.cuh"
#include "order/module_kernels.cuh"
#include "order/pipeline_kernels.cuh"

// attention
VRAMSCOPE_SIM_DYNAMIC_SHARED(float, scores);
VRAMSCOPE_SIM_KERNEL(attention_weights);
VRAMSCOPE_SIM_KERNEL(attention_values);
VRAMSCOPE_SIM_KERNEL(add_residual);

// groups
VRAMSCOPE_SIM_DYNAMIC_SHARED(int, scratch);
VRAMSCOPE_SIM_KERNEL(tile_sums);
VRAMSCOPE_SIM_KERNEL(group_sums);
VRAMSCOPE_SIM_KERNEL(keep_positive);
VRAMSCOPE_SIM_KERNEL(smooth);

// histogram
VRAMSCOPE_SIM_VARIABLE(first_of_bin);
VRAMSCOPE_SIM_VARIABLE(histogram);
VRAMSCOPE_SIM_VARIABLE(rounds_done);
VRAMSCOPE_SIM_VARIABLE(busiest);
VRAMSCOPE_SIM_VARIABLE(text::bytes_seen);
VRAMSCOPE_SIM_KERNEL(count_bytes);
VRAMSCOPE_SIM_KERNEL(find_busiest);

// reduction
VRAMSCOPE_SIM_DYNAMIC_SHARED(float, warps);
VRAMSCOPE_SIM_KERNEL(reduce<Sum>);
VRAMSCOPE_SIM_KERNEL(reduce<Max>);
VRAMSCOPE_SIM_KERNEL(reduce_tree);

// stencil
VRAMSCOPE_SIM_KERNEL(heat_step);
VRAMSCOPE_SIM_KERNEL(largest_difference);

// textures
VRAMSCOPE_SIM_KERNEL(fetch_linear);
VRAMSCOPE_SIM_KERNEL(sample_2d);
VRAMSCOPE_SIM_KERNEL(sample_colors);
VRAMSCOPE_SIM_KERNEL(sample_3d);
VRAMSCOPE_SIM_KERNEL(sample_layers);
VRAMSCOPE_SIM_KERNEL(sample_cube);
VRAMSCOPE_SIM_KERNEL(sample_levels);
VRAMSCOPE_SIM_KERNEL(turn);

// async_pool
VRAMSCOPE_SIM_KERNEL(fill_squares);
VRAMSCOPE_SIM_KERNEL(add_up);

// ipc
VRAMSCOPE_SIM_KERNEL(produce);
VRAMSCOPE_SIM_KERNEL(consume);

// managed
VRAMSCOPE_SIM_VARIABLE(total);
VRAMSCOPE_SIM_KERNEL(axpy);
VRAMSCOPE_SIM_KERNEL(sum_up);

// vmm_vector
VRAMSCOPE_SIM_KERNEL(append);
VRAMSCOPE_SIM_KERNEL(check_sum);

// default_stream
VRAMSCOPE_SIM_KERNEL(collatz);

// failures
VRAMSCOPE_SIM_KERNEL(check_below);
VRAMSCOPE_SIM_KERNEL(stop_at);
VRAMSCOPE_SIM_KERNEL(fail_before_barrier);
VRAMSCOPE_SIM_KERNEL(add_one);

// graph
VRAMSCOPE_SIM_KERNEL(scale_add);
VRAMSCOPE_SIM_KERNEL(multiply);
VRAMSCOPE_SIM_KERNEL(accumulate);

// halo_exchange
VRAMSCOPE_SIM_VARIABLE(medium);
VRAMSCOPE_SIM_VARIABLE(steps_taken);
VRAMSCOPE_SIM_KERNEL(wave_step);

// module
VRAMSCOPE_SIM_DYNAMIC_SHARED(float, block);
VRAMSCOPE_SIM_VARIABLE(weight);
VRAMSCOPE_SIM_VARIABLE(calls);
VRAMSCOPE_SIM_KERNEL(vector_add);
VRAMSCOPE_SIM_KERNEL(reverse_blocks);

// pipeline
VRAMSCOPE_SIM_KERNEL(adjust);
