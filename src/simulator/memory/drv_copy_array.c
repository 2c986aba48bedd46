/* SPDX-License-Identifier: Apache-2.0
 *
 * One-dimensional copies to and from arrays. They access the first row of an array, since cuda.h
 * defines them for 1D arrays only; the functions of drv_copy_api.c copy boxes of larger ones. */
#include "simulator/memory/vs_sim_array.h"

enum copy_array_side { ARRAY, DEVICE, HOST };

struct driver_copy_array_place {
    enum copy_array_side side;
    uintptr_t at; /* address or array handle */
    size_t offset;
};

static CUresult end_of(const struct driver_copy_array_place *place, size_t bytes, struct vs_sim_end *end,
                       size_t *element)
{
    const size_t at[3] = {place->offset, 0, 0}, box[3] = {bytes, 1, 1};
    switch (place->side) {
    case ARRAY: return vs_sim_end_array((CUarray)place->at, at, box, end, element);
    case DEVICE: return vs_sim_end_device(place->at, bytes, end);
    default: return vs_sim_end_any(place->at, bytes, end);
    }
}

static CUresult copy(struct driver_copy_array_place to, struct driver_copy_array_place from, size_t bytes, CUstream handle, bool async)
{
    struct vs_sim_context *ctx;
    struct vs_sim_stream *stream;
    struct vs_sim_copy c = {.width = bytes, .height = 1, .depth = 1};
    size_t to_element = 0, from_element = 0;
    CUresult e = vs_sim_enter_context(&ctx);
    if (!e)
        e = vs_sim_stream_of(ctx, handle, &stream);
    if (e || !bytes)
        return e;
    if ((e = end_of(&to, bytes, &c.to, &to_element)) ||
        (e = end_of(&from, bytes, &c.from, &from_element)))
        return e;
    if (to_element && from_element && to_element != from_element)
        return CUDA_ERROR_INVALID_VALUE;
    return vs_sim_copy_submit(stream->ctx, stream, &c, async);
}

static struct driver_copy_array_place array(CUarray a, size_t offset)
{
    return (struct driver_copy_array_place){ARRAY, (uintptr_t)a, offset};
}
static struct driver_copy_array_place device(CUdeviceptr p) { return (struct driver_copy_array_place){DEVICE, (uintptr_t)p, 0}; }
static struct driver_copy_array_place host(const void *p) { return (struct driver_copy_array_place){HOST, (uintptr_t)p, 0}; }

/* ---- synchronous, in two forms ---- */

#define TWO_FORMS(name, to, from, ...)                                                        \
    CUresult name(__VA_ARGS__) { return copy(to, from, ByteCount, NULL, false); }      \
    CUresult name##_ptds(__VA_ARGS__) { return copy(to, from, ByteCount, CU_STREAM_PER_THREAD, false); }

TWO_FORMS(cuMemcpyDtoA_v2, array(dstArray, dstOffset), device(srcDevice), CUarray dstArray,
          size_t dstOffset, CUdeviceptr srcDevice, size_t ByteCount)
TWO_FORMS(cuMemcpyAtoD_v2, device(dstDevice), array(srcArray, srcOffset), CUdeviceptr dstDevice,
          CUarray srcArray, size_t srcOffset, size_t ByteCount)
TWO_FORMS(cuMemcpyHtoA_v2, array(dstArray, dstOffset), host(srcHost), CUarray dstArray,
          size_t dstOffset, const void *srcHost, size_t ByteCount)
TWO_FORMS(cuMemcpyAtoH_v2, host(dstHost), array(srcArray, srcOffset), void *dstHost,
          CUarray srcArray, size_t srcOffset, size_t ByteCount)
TWO_FORMS(cuMemcpyAtoA_v2, array(dstArray, dstOffset), array(srcArray, srcOffset), CUarray dstArray,
          size_t dstOffset, CUarray srcArray, size_t srcOffset, size_t ByteCount)

/* ---- asynchronous ---- */

#define ASYNC_FORM(name, to, from, ...) \
    CUresult name(__VA_ARGS__) { return copy(to, from, ByteCount, hStream, true); }

ASYNC_FORM(cuMemcpyHtoAAsync_v2, array(dstArray, dstOffset), host(srcHost), CUarray dstArray,
           size_t dstOffset, const void *srcHost, size_t ByteCount, CUstream hStream)
ASYNC_FORM(cuMemcpyAtoHAsync_v2, host(dstHost), array(srcArray, srcOffset), void *dstHost,
           CUarray srcArray, size_t srcOffset, size_t ByteCount, CUstream hStream)
