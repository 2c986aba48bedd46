/* SPDX-License-Identifier: Apache-2.0
 *
 * Work on the stream of a handle: a kernel with a cost for each call. */
#include "simulator/libraries/cudnn/vs_cudnn_internal.h"

static enum vs_sim_number number_of(int type, bool tensor_cores)
{
    switch (type) {
    case CUDNN_DATA_DOUBLE:
    case CUDNN_DATA_COMPLEX_FP64:
        return VS_SIM_FP64;
    case CUDNN_DATA_HALF:
    case CUDNN_DATA_BFLOAT16:
        return VS_SIM_FP16;
    case CUDNN_DATA_FP8_E4M3:
    case CUDNN_DATA_FP8_E5M2:
    case CUDNN_DATA_FP8_E8M0:
    case CUDNN_DATA_FP8_E5M3:
    case CUDNN_DATA_FP4_E2M1:
        return VS_SIM_FP8;
    case CUDNN_DATA_INT8:
    case CUDNN_DATA_UINT8:
    case CUDNN_DATA_INT8x4:
    case CUDNN_DATA_UINT8x4:
    case CUDNN_DATA_INT8x32:
        return VS_SIM_INT8;
    default:
        return tensor_cores ? VS_SIM_TF32 : VS_SIM_FP32;
    }
}

int dnn_submit(struct cudnnContext *handle, const struct dnn_cost *cost)
{
    double blocks = cost->bytes / (256 * 16); /* each thread moves 16 bytes */
    struct vs_sim_work work = {
        .name = cost->kernel,
        .number = number_of(cost->type, cost->tensor_cores),
        .operations = cost->operations,
        .bytes = cost->bytes,
        .blocks = blocks < 1 ? 1 : blocks > 1e6 ? 1000000 : (uint64_t)blocks,
    };
    return dnn_driver(vs_library_submit(handle->stream, &work), cost->kernel);
}

int dnn_elementwise(struct cudnnContext *handle, const char *kernel, int type, double elements,
                    double per_element, double bytes)
{
    struct dnn_cost cost = {.kernel = kernel, .type = type == CUDNN_DATA_DOUBLE ? type : CUDNN_DATA_FLOAT,
                            .operations = elements * per_element, .bytes = bytes};
    return dnn_submit(handle, &cost);
}
