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

static int workspace(const char *function, const struct cudnnTensorStruct *probabilities,
                     const struct cudnnTensorStruct *gradients, int label, size_t *bytes)
{
    char key[128];
    DNN_NEED(bytes, "%s: the result's pointer is NULL", function);
    DNN_NEED(probabilities->rank == 3, "%s: probabilities of %d dimensions; 3 are needed", function,
             probabilities->rank);
    DNN_NEED(!gradients || dnn_same_dims(probabilities, gradients),
             "%s: the gradients have other dimensions than the probabilities", function);
    const int *dim = probabilities->dim;
    snprintf(key, sizeof key, "steps %d batch %d classes %d label %d%s", dim[0], dim[1], dim[2], label,
             gradients ? "" : " without gradients");
    *bytes = vs_library_workspace("ctc-loss", key,
                                  2ull * (uint64_t)dim[0] * (uint64_t)dim[1] * (2ull * (uint64_t)label + 1) * 4,
                                  "forward and backward variables of every step in FP32");
    return CUDNN_STATUS_SUCCESS;
}

static int longest(const int *lengths, int count)
{
    int max = 0;
    for (int i = 0; i < count; i++)
        max = lengths[i] > max ? lengths[i] : max;
    return max;
}

int cudnnGetCTCLossWorkspaceSize(struct cudnnContext *handle, struct cudnnTensorStruct *const probabilities,
                                 struct cudnnTensorStruct *const gradients, const int *labels,
                                 const int *label_lengths, const int *input_lengths, int algorithm,
                                 struct cudnnCTCLossStruct *c, size_t *bytes)
{
    DNN_NEED_KIND(handle, DNN_HANDLE);
    DNN_NEED_SET(c, DNN_CTCLOSS);
    DNN_NEED_SET(probabilities, DNN_TENSOR);
    DNN_NEED(labels && label_lengths && input_lengths, "%s: labels or lengths are NULL", __func__);
    DNN_NEED(algorithm >= CUDNN_CTC_LOSS_ALGO_DETERMINISTIC &&
                 algorithm <= CUDNN_CTC_LOSS_ALGO_NON_DETERMINISTIC,
             "%s: no algorithm %d", __func__, algorithm);
    DNN_NEED(probabilities->rank == 3, "%s: probabilities of %d dimensions; 3 are needed", __func__,
             probabilities->rank);
    if (gradients)
        DNN_NEED_SET(gradients, DNN_TENSOR);
    int longest_label = longest(label_lengths, probabilities->dim[1]);
    if (longest_label > 256)
        return dnn_fail(CUDNN_STATUS_NOT_SUPPORTED, "%s: a label of %d elements; 256 are allowed",
                        __func__, longest_label);
    DNN_NEED(longest(input_lengths, probabilities->dim[1]) <= probabilities->dim[0],
             "%s: an input is longer than the probabilities", __func__);
    return workspace(__func__, probabilities, gradients, longest_label, bytes);
}

int cudnnGetCTCLossWorkspaceSize_v8(struct cudnnContext *handle, int algorithm,
                                    struct cudnnCTCLossStruct *c,
                                    struct cudnnTensorStruct *const probabilities,
                                    struct cudnnTensorStruct *const gradients, size_t *bytes)
{
    DNN_NEED_KIND(handle, DNN_HANDLE);
    DNN_NEED_SET(c, DNN_CTCLOSS);
    DNN_NEED_SET(probabilities, DNN_TENSOR);
    DNN_NEED(algorithm >= CUDNN_CTC_LOSS_ALGO_DETERMINISTIC &&
                 algorithm <= CUDNN_CTC_LOSS_ALGO_NON_DETERMINISTIC,
             "%s: no algorithm %d", __func__, algorithm);
    if (gradients)
        DNN_NEED_SET(gradients, DNN_TENSOR);
    return workspace(__func__, probabilities, gradients, c->label_max, bytes);
}

static int run(const char *function, struct cudnnContext *handle, struct cudnnTensorStruct *probabilities,
               int label, size_t needed, const void *given_workspace, size_t given)
{
    if (needed > given || (needed && !given_workspace))
        return dnn_fail(CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT,
                        "%s: %zu bytes of workspace; %zu are needed", function, given, needed);
    double cells = (double)probabilities->dim[0] * probabilities->dim[1] * (2.0 * label + 1);
    return dnn_elementwise(handle, function, probabilities->type, cells, 20,
                           2 * dnn_tensor_bytes(probabilities) + (double)needed);
}

int cudnnCTCLoss(struct cudnnContext *handle, struct cudnnTensorStruct *const probabilities_desc,
                 const void *probabilities, int *labels, int *label_lengths, int *input_lengths, void *costs,
                 struct cudnnTensorStruct *const gradients_desc, void *gradients, int algorithm,
                 struct cudnnCTCLossStruct *c, void *given, size_t bytes)
{
    size_t needed;
    DNN_NEED(probabilities && costs, "%s: a tensor is NULL", __func__);
    int e = cudnnGetCTCLossWorkspaceSize(handle, probabilities_desc, gradients ? gradients_desc : NULL, labels,
                                         label_lengths, input_lengths, algorithm, c, &needed);
    return e ? e
             : run(__func__, handle, probabilities_desc, longest(label_lengths, probabilities_desc->dim[1]),
                   needed, given, bytes);
}

int cudnnCTCLoss_v8(struct cudnnContext *handle, int algorithm, struct cudnnCTCLossStruct *c,
                    struct cudnnTensorStruct *const probabilities_desc, const void *probabilities,
                    int *labels, int *label_lengths, int *input_lengths, void *costs,
                    struct cudnnTensorStruct *const gradients_desc, void *gradients, size_t bytes,
                    void *given)
{
    size_t needed;
    DNN_NEED(probabilities && costs && labels && label_lengths && input_lengths, "%s: a tensor is NULL",
             __func__);
    int e = cudnnGetCTCLossWorkspaceSize_v8(handle, algorithm, c, probabilities_desc,
                                            gradients ? gradients_desc : NULL, &needed);
    return e ? e : run(__func__, handle, probabilities_desc, c->label_max, needed, given, bytes);
}
