/* SPDX-License-Identifier: Apache-2.0
 *
 * CTC loss: descriptor, workspace and work. The workspace is cuDNN's own answer; assumed are the
 * forward and backward variables of every step for a label with blanks between, in FP32. */
#include <stdio.h>

#include "simulator/libraries/cudnn/vs_cudnn_internal.h"
#include "simulator/libraries/sizes/vs_library_sizes.h"

static int set(const char *function, struct cudnnCTCLossStruct *c, int type, int normalization, int nan,
               int gradient, int label_max)
{
    if (!dnn_is(c, DNN_CTCLOSS, function))
        return CUDNN_STATUS_BAD_PARAM;
    DNN_NEED(dnn_bits(type), "%s: no data type %d", function, type);
    DNN_NEED(normalization == CUDNN_LOSS_NORMALIZATION_NONE ||
                 normalization == CUDNN_LOSS_NORMALIZATION_SOFTMAX,
             "%s: no normalization %d", function, normalization);
    DNN_NEED(nan >= 0 && nan <= 1 && gradient >= 0 && gradient <= 1 && label_max >= 0,
             "%s: modes %d and %d, labels of %d", function, nan, gradient, label_max);
    *c = (struct cudnnCTCLossStruct){1, label_max};
    return CUDNN_STATUS_SUCCESS;
}

int cudnnSetCTCLossDescriptorEx(struct cudnnCTCLossStruct *c, int type, int normalization, int nan)
{
    return set(__func__, c, type, normalization, nan, 0, 0);
}

int cudnnSetCTCLossDescriptor_v9(struct cudnnCTCLossStruct *c, int type, int normalization, int gradient,
                                 int label_max)
{
    return set(__func__, c, type, normalization, CUDNN_NOT_PROPAGATE_NAN, gradient, label_max);
}

static int longest(const int *lengths, int count)
{
    int max = 0;
    for (int i = 0; i < count; i++)
        max = lengths[i] > max ? lengths[i] : max;
    return max;
}

int dnn_ctc(struct cudnnContext *handle, const struct dnn_ctc *l)
{
    const struct cudnnTensorStruct *p = l->probabilities;
    DNN_NEED(!l->missing, "%s: a tensor is NULL", l->name);
    if (!dnn_is(handle, DNN_HANDLE, l->name) || !dnn_is_set(l->c, DNN_CTCLOSS, l->name) ||
        !dnn_is_set(p, DNN_TENSOR, l->name))
        return CUDNN_STATUS_BAD_PARAM;
    DNN_NEED(!l->reads || (l->labels && l->label_lengths && l->input_lengths),
             "%s: labels or lengths are NULL", l->name);
    DNN_NEED(l->algorithm >= CUDNN_CTC_LOSS_ALGO_DETERMINISTIC &&
                 l->algorithm <= CUDNN_CTC_LOSS_ALGO_NON_DETERMINISTIC,
             "%s: no algorithm %d", l->name, l->algorithm);
    DNN_NEED(p->rank == 3, "%s: probabilities of %d dimensions; 3 are needed", l->name, p->rank);
    if (l->gradients && !dnn_is_set(l->gradients, DNN_TENSOR, l->name))
        return CUDNN_STATUS_BAD_PARAM;
    const int *dim = p->dim, label = l->reads ? longest(l->label_lengths, dim[1]) : l->c->label_max;
    if (l->reads && label > 256)
        return dnn_fail(CUDNN_STATUS_NOT_SUPPORTED, "%s: a label of %d elements; 256 are allowed",
                        l->name, label);
    DNN_NEED(!l->reads || longest(l->input_lengths, dim[1]) <= dim[0],
             "%s: an input is longer than the probabilities", l->name);
    DNN_NEED(l->computes || l->bytes, "%s: the result's pointer is NULL", l->name);
    DNN_NEED(!l->gradients || dnn_same_dims(p, l->gradients),
             "%s: the gradients have other dimensions than the probabilities", l->name);
    char key[128];
    double cells = (double)dim[0] * dim[1] * (2.0 * label + 1);
    snprintf(key, sizeof key, "steps %d batch %d classes %d label %d%s", dim[0], dim[1], dim[2], label,
             l->gradients ? "" : " without gradients");
    size_t needed = vs_library_workspace("ctc-loss", key, 2 * (uint64_t)cells * 4,
                                         "forward and backward variables of every step in FP32");
    if (!l->computes) {
        *l->bytes = needed;
        return CUDNN_STATUS_SUCCESS;
    }
    if (needed > l->given_bytes || (needed && !l->given))
        return dnn_fail(CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT,
                        "%s: %zu bytes of workspace; %zu are needed", l->name, l->given_bytes, needed);
    return dnn_elementwise(handle, l->name, p->type, cells, 20,
                           2 * dnn_tensor_bytes(p) + (double)needed);
}
