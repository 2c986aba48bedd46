/* SPDX-License-Identifier: Apache-2.0
 *
 * What scenario.c asks of its libraries: a vendor's library that allocates for itself
 * (scenario_vendor.c), and PyTorch's allocator (scenario_tensors.cpp for its segments and reports,
 * scenario_no_tensors.c for vramscope's own through its pluggable interface). */
#ifndef SCENARIO_PARTS_H
#define SCENARIO_PARTS_H

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

int scenario_vendor_alloc(void **address, size_t bytes);
void scenario_vendor_free(void *address);

/* A tensor for work on *stream*, whose number is *number*; 2: out of memory. */
int scenario_tensor_alloc(void **address, size_t bytes, cudaStream_t stream, int number);
void scenario_tensor_free(void *address, size_t bytes, cudaStream_t stream);
/* Further tensors of the program are in private pool *pool*; 0: in none. */
void scenario_tensor_pool(uint64_t pool);

#ifdef __cplusplus
}
#endif
#endif
