/* SPDX-License-Identifier: Apache-2.0
 *
 * Dropout. The states are those of a generator per thread that fits on the device: cuDNN's own
 * size of them is assumed as 48 bytes (a cuRAND state) for 2048 threads on each multiprocessor. */
#include "simulator/libraries/cudnn/vs_cudnn_internal.h"
#include "simulator/libraries/sizes/vs_library_sizes.h"

#define STATE_BYTES 48
#define THREADS_PER_SM 2048

int cudnnDropoutGetStatesSize(struct cudnnContext *handle, size_t *bytes)
{
    DNN_NEED_KIND(handle, DNN_HANDLE);
    DNN_NEED_POINTER(bytes);
    uint64_t processors = (uint64_t)vs_library_attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    *bytes = vs_library_size("dropout-states", "", processors * THREADS_PER_SM * STATE_BYTES,
                             "a generator's state of 48 bytes for 2048 threads per multiprocessor");
    return CUDNN_STATUS_SUCCESS;
}

int cudnnRestoreDropoutDescriptor(struct cudnnDropoutStruct *d, struct cudnnContext *handle,
                                  float probability, void *states, size_t bytes, unsigned long long seed)
{
    size_t needed;
    DNN_NEED_KIND(d, DNN_DROPOUT);
    int e = cudnnDropoutGetStatesSize(handle, &needed);
    if (e)
        return e;
    DNN_NEED(probability >= 0 && probability <= 1, "%s: a probability of %g", __func__,
             (double)probability);
    DNN_NEED(!states || bytes >= needed, "%s: states of %zu bytes; %zu are needed", __func__, bytes, needed);
    *d = (struct cudnnDropoutStruct){1, probability};
    return CUDNN_STATUS_SUCCESS;
}

int cudnnSetDropoutDescriptor(struct cudnnDropoutStruct *d, struct cudnnContext *handle,
                              float probability, void *states, size_t bytes, unsigned long long seed)
{
    int e = cudnnRestoreDropoutDescriptor(d, handle, probability, states, bytes, seed);
    if (e || !states)
        return e;
    return dnn_elementwise(handle, "cudnn_dropout_states", CUDNN_DATA_FLOAT, (double)bytes / STATE_BYTES,
                           100, (double)bytes);
}
