/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks, orders and waits for copies; the entry points are in drv_copy_api.c. Waits follow cuda.h
 * ("API synchronization behavior"): a synchronous copy returns when it is complete, except between
 * device memories; an asynchronous one returns immediately, except to or from pageable memory,
 * where a small source is staged and the call waits for all others. */
#include "simulator/driver/vs_sim_driver.h"
#include "simulator/memory/vs_sim_memory.h"

#include <stdlib.h>
#include <string.h>

#define STAGED_MAX 65536 /* larger pageable sources are not staged */

/* *range*: NULL: pageable memory. */
static void end_from(const struct vs_sim_range *range, uintptr_t address, size_t bytes,
                     struct vs_sim_end *end)
{
    bool pool =
        range && range->kind == VS_SIM_RANGE_POOL; /* its blocks change owners in stream order */
    bool mapped = range && range->kind == VS_SIM_RANGE_MAPPED;
    end->base = address;
    end->mapped_bytes = mapped ? bytes : 0;
    end->device = range ? range->device : -1;
    end->pool = pool ? range->pool : NULL;
    end->id = pool || !range ? 0 : range->id;
    end->memory = !range                                   ? VS_SIM_MEMORY_PAGEABLE
                  : range->kind == VS_SIM_RANGE_MANAGED    ? VS_SIM_MEMORY_MANAGED
                  : range->kind == VS_SIM_RANGE_HOST ||
                          range->kind == VS_SIM_RANGE_REGISTERED || (mapped && range->device < 0)
                      ? VS_SIM_MEMORY_PINNED
                      : VS_SIM_MEMORY_DEVICE;
}

/* Memory of cuMemMap may consist of several adjacent mappings. */
static bool reaches(const struct vs_sim_range *range, uintptr_t address, size_t bytes)
{
    if (range->kind == VS_SIM_RANGE_MAPPED)
        return vs_sim_mapped_span(address, bytes, false);
    return bytes <= range->bytes - (address - range->base);
}

CUresult vs_sim_end_device(uintptr_t address, size_t bytes, struct vs_sim_end *end)
{
    struct vs_sim_range range;
    if (!vs_sim_range_find(address, &range) || range.kind == VS_SIM_RANGE_ARRAY ||
        !reaches(&range, address, bytes)) {
        if (vs_sim_checking)
            vs_sim_check_pointer(address, bytes);
        return CUDA_ERROR_INVALID_VALUE;
    }
    end_from(&range, address, bytes, end);
    return CUDA_SUCCESS;
}

CUresult vs_sim_end_any(uintptr_t address, size_t bytes, struct vs_sim_end *end)
{
    struct vs_sim_range range;
    if (!address)
        return CUDA_ERROR_INVALID_VALUE;
    if (vs_sim_range_find(address, &range)) {
        if (range.kind != VS_SIM_RANGE_REGISTERED && !reaches(&range, address, bytes))
            return CUDA_ERROR_INVALID_VALUE;
        end_from(&range, address, bytes, end);
        return CUDA_SUCCESS;
    }
    if (vs_sim_checking)
        vs_sim_check_pointer(address, bytes);
    end_from(NULL, address, bytes, end);
    return CUDA_SUCCESS;
}

static bool must_wait(const struct vs_sim_copy *copy, bool async)
{
    bool from_host = vs_sim_on_host(&copy->from), to_host = vs_sim_on_host(&copy->to);
    if (!async)
        return from_host || to_host;
    if (copy->to.memory == VS_SIM_MEMORY_PAGEABLE || (from_host && to_host))
        return true;
    return copy->from.memory == VS_SIM_MEMORY_PAGEABLE && !copy->staged;
}

/* A small pageable source is read now, so that the caller may reuse it immediately; so is an answer
 * in place of device memory. */
static void stage(struct vs_sim_copy *copy, bool async)
{
    size_t bytes = copy->width;
    if (!vs_sim_on_host(&copy->from) && vs_sim_on_host(&copy->to) && copy->height == 1 &&
        copy->depth == 1)
        vs_sim_answer_take(bytes, &copy->staged);
    else if (copy->from.memory == VS_SIM_MEMORY_PAGEABLE && !vs_sim_on_host(&copy->to) && async &&
             copy->height == 1 && copy->depth == 1 && bytes <= STAGED_MAX)
        copy->staged = vs_sim_dup((const void *)copy->from.base, bytes);
}

CUresult vs_sim_copy_submit(struct vs_sim_context *ctx, struct vs_sim_stream *stream,
                            struct vs_sim_copy *copy, bool async)
{
    if (!copy->width || !copy->height || !copy->depth)
        return CUDA_SUCCESS;
    CUresult e = async ? CUDA_SUCCESS : vs_sim_not_capturing(stream);
    if (e)
        return e;
    struct vs_sim_op *op = vs_sim_op_new(stream, VS_SIM_OP_COPY);
    copy->async = async;
    copy->staged = NULL;
    bool captured = atomic_load(&stream->capture); /* read when the graph runs */
    if (!captured)
        stage(copy, async);
    op->u.copy = *copy;
    op->correlation = vs_sim_correlate(VS_SIM_ACTIVITY_COPY);
    if (captured || !must_wait(copy, async))
        return vs_sim_submit(stream, op, NULL);
    e = vs_sim_run_now(stream, op);
    return e ? e : (CUresult)atomic_load(&ctx->fault);
}
