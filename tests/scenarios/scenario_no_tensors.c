/* SPDX-License-Identifier: Apache-2.0
 *
 * Tensors through vramscope's pluggable allocator for PyTorch, if the process has it: the cache
 * with streams and private pools. */
#define VRAMSCOPE_WEAK
#include "scenario_parts.h"
#include "vramscope.h"

static struct vramscope_torch_pool current;

int scenario_tensor_alloc(void **address, size_t bytes, cudaStream_t stream, int number)
{
    (void)number;
    *address = vramscope_torch_alloc ? vramscope_torch_alloc(bytes, 0, stream) : NULL;
    return *address ? 0 : 2;
}

void scenario_tensor_free(void *address, size_t bytes, cudaStream_t stream)
{
    if (vramscope_torch_free)
        vramscope_torch_free(address, bytes, 0, stream);
}

void scenario_tensor_pool(uint64_t pool)
{
    if (!vramscope_torch_begin_allocate_to_pool)
        return;
    if (current.second)
        vramscope_torch_end_allocate_to_pool(0, current);
    current = (struct vramscope_torch_pool){0, pool};
    if (pool)
        vramscope_torch_begin_allocate_to_pool(0, current, NULL);
}
