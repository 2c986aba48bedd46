/* SPDX-License-Identifier: Apache-2.0
 *
 * Cost and workspace of a convolution. Only a real device knows the workspace: a measured row of
 * the table of sizes is used if there is one. Otherwise it is assumed from what cuDNN's kernels for
 * tensor cores do: they read and write channels-last memory, so tensors in another layout are
 * copied (the kernels nchwToNhwc and nhwcToNchw in profiles of real runs), and the gradient of a
 * filter is summed in FP32 before it is rounded to a narrower type. Two kinds of problem have public
 * figures, which say which of the three tensors are copied. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "simulator/libraries/cudnn/vs_cudnn_internal.h"
#include "simulator/libraries/sizes/vs_library_sizes.h"

static const char *const direction_names[] = {
    [DNN_FORWARD] = "forward",
    [DNN_BACKWARD_DATA] = "backward data",
    [DNN_BACKWARD_FILTER] = "backward filter",
};
static const char *const kernels[] = {
    [DNN_FORWARD] = "cudnn_convolution_forward",
    [DNN_BACKWARD_DATA] = "cudnn_convolution_backward_data",
    [DNN_BACKWARD_FILTER] = "cudnn_convolution_backward_filter",
};

static double product(const int64_t *dim, int from, int to)
{
    double n = 1;
    for (int i = from; i < to; i++)
        n *= (double)dim[i];
    return n;
}

static double bytes_of(const struct dnn_convolution *c, const int64_t *dim)
{
    return product(dim, 0, c->rank) * dnn_bits(c->type) / 8;
}

void dnn_convolution_cost(const struct dnn_convolution *c, struct dnn_cost *cost)
{
    *cost = (struct dnn_cost){
        .kernel = kernels[c->direction],
        .type = c->type,
        .tensor_cores = c->tensor_cores,
        .operations = 2 * product(c->y, 0, c->rank) * product(c->w, 1, c->rank),
        .bytes = bytes_of(c, c->x) + bytes_of(c, c->w) + bytes_of(c, c->y),
    };
}

int dnn_put_dims(char *text, int at, const char *name, const int64_t *dim, int rank)
{
    at += snprintf(text + at, (size_t)(DNN_KEY_MAX - at), " %s ", name);
    for (int i = 0; i < rank && at < DNN_KEY_MAX; i++)
        at += snprintf(text + at, (size_t)(DNN_KEY_MAX - at), "%s%" PRId64, i ? "x" : "", dim[i]);
    return at < DNN_KEY_MAX ? at : DNN_KEY_MAX - 1;
}

/* key_of: names the problem as rows of the table do (sizes.tsv). */
static void key_of(const struct dnn_convolution *c, char *text)
{
    int at = snprintf(text, DNN_KEY_MAX, "%s %s%s %s", direction_names[c->direction],
                      dnn_type_name(c->type),
                      c->type == CUDNN_DATA_FLOAT && c->tensor_cores ? " (TF32)" : "",
                      c->channels_last ? "channels-last" : "channels-first");
    at = dnn_put_dims(text, at, "x", c->x, c->rank);
    at = dnn_put_dims(text, at, "w", c->w, c->rank);
    at = dnn_put_dims(text, at, "pad", c->pad, c->rank - 2);
    at = dnn_put_dims(text, at, "stride", c->stride, c->rank - 2);
    dnn_put_dims(text, at, "dilation", c->dilation, c->rank - 2);
}

static bool uses_tensor_cores(const struct dnn_convolution *c)
{
    return c->type == CUDNN_DATA_HALF || c->type == CUDNN_DATA_BFLOAT16 ||
           (c->type == CUDNN_DATA_FLOAT && c->tensor_cores);
}

static bool depthwise(const struct dnn_convolution *c) { return c->w[1] == 1 && c->x[1] > 1; }

size_t dnn_convolution_workspace(const struct dnn_convolution *c)
{
    char key[DNN_KEY_MAX];
    const char *why = "channels-last kernels need none";
    double bytes = 0;
    if (depthwise(c)) {
        why = "depthwise kernels read the tensors as they are";
    } else if (!uses_tensor_cores(c)) {
        why = "kernels without tensor cores read the tensors as they are";
    } else if (!c->channels_last) {
        bytes = bytes_of(c, c->x) + bytes_of(c, c->w) + bytes_of(c, c->y);
        why = "channels-last copies of the three tensors";
        if (c->direction == DNN_FORWARD && c->rank == 5 && c->type == CUDNN_DATA_FLOAT) {
            bytes = bytes_of(c, c->x) + bytes_of(c, c->w);
            why = "input and weight, as on an A100: https://github.com/pytorch/pytorch/issues/128947";
        } else if (c->direction == DNN_FORWARD && c->rank == 4 && dnn_bits(c->type) == 16) {
            bytes = bytes_of(c, c->x) + bytes_of(c, c->y);
            why = "input and output, as in https://github.com/pytorch/pytorch/issues/123533";
        }
    }
    if (c->direction == DNN_BACKWARD_FILTER && dnn_bits(c->type) < 32 && !depthwise(c)) {
        bytes += product(c->w, 0, c->rank) * 4;
        why = c->channels_last ? "the filter's gradient in FP32"
                               : "channels-last copies of the three tensors, and the filter's gradient in FP32";
    }
    key_of(c, key);
    return vs_library_workspace("convolution", key, (uint64_t)bytes, why);
}
