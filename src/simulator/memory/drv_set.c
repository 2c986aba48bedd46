/* SPDX-License-Identifier: Apache-2.0
 *
 * Memsets. On device memory all forms return before the bytes are written, as
 * cuda.h documents; on host memory the synchronous forms wait. */
#include "simulator/driver/vs_sim_driver.h"

CUresult vs_sim_set_describe(const CUDA_MEMSET_NODE_PARAMS *p, struct vs_sim_set *set)
{
    size_t row, span;
    if (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4)
        return CUDA_ERROR_INVALID_VALUE;
    if (!p->width || !p->height || p->dst % p->elementSize ||
        __builtin_mul_overflow(p->width, (size_t)p->elementSize, &row) ||
        (p->height > 1 && (p->pitch < row || p->pitch % p->elementSize)) ||
        __builtin_mul_overflow(p->height - 1, p->pitch, &span) ||
        __builtin_add_overflow(span, row, &span))
        return CUDA_ERROR_INVALID_VALUE;
    *set = (struct vs_sim_set){.to = {.pitch = p->pitch},
                               .width = p->width,
                               .height = p->height,
                               .value = p->value,
                               .element = (uint8_t)p->elementSize,
                               .async = true};
    return vs_sim_end_device(p->dst, span, &set->to);
}

static CUresult set(CUdeviceptr to, size_t pitch, uint32_t value, uint8_t element, size_t width,
                    size_t height, CUstream handle, bool async)
{
    struct vs_sim_stream *stream;
    CUDA_MEMSET_NODE_PARAMS params = {to, pitch, value, element, width, height};
    struct vs_sim_set described;
    CUresult e = vs_sim_enter_stream(handle, &stream);
    if (e || !width || !height)
        return e;
    e = vs_sim_set_describe(&params, &described);
    if (!e && !async)
        e = vs_sim_not_capturing(stream);
    if (e)
        return e;
    struct vs_sim_op *op = vs_sim_op_new(stream, VS_SIM_OP_SET);
    described.async = async;
    op->u.set = described;
    op->correlation = vs_sim_correlate(VS_SIM_ACTIVITY_SET);
    if (!async && described.to.memory == VS_SIM_MEMORY_PINNED)
        return vs_sim_run_now(stream, op);
    return vs_sim_submit(stream, op, NULL);
}

#define SET_FORMS(bits, type)                                                                     \
    CUresult cuMemsetD##bits##_v2(CUdeviceptr dst, type value, size_t N)                          \
    {                                                                                             \
        return set(dst, 0, value, bits / 8, N, 1, NULL, false);                            \
    }                                                                                             \
    CUresult cuMemsetD##bits##Async(CUdeviceptr dst, type value, size_t N, CUstream hStream)      \
    {                                                                                             \
        return set(dst, 0, value, bits / 8, N, 1, hStream, true);                          \
    }                                                                                             \
    CUresult cuMemsetD2D##bits##_v2(CUdeviceptr dst, size_t pitch, type value, size_t width,      \
                                    size_t height)                                                \
    {                                                                                             \
        return set(dst, pitch, value, bits / 8, width, height, NULL, false);               \
    }                                                                                             \
    CUresult cuMemsetD2D##bits##Async(CUdeviceptr dst, size_t pitch, type value, size_t width,    \
                                      size_t height, CUstream hStream)                            \
    {                                                                                             \
        return set(dst, pitch, value, bits / 8, width, height, hStream, true);             \
    }

SET_FORMS(8, unsigned char)
SET_FORMS(16, unsigned short)
SET_FORMS(32, unsigned int)
