/* SPDX-License-Identifier: Apache-2.0
 *
 * The message of a thread's last error. */
#include <stdio.h>
#include <string.h>

#include "simulator/libraries/cudnn/vs_cudnn_internal.h"

#define MESSAGE_MAX 512

static _Thread_local char last_message[MESSAGE_MAX];

int dnn_fail(int status, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(last_message, sizeof last_message, format, list);
    va_end(list);
    return status;
}

int dnn_driver(CUresult result, const char *function)
{
    if (!result)
        return CUDNN_STATUS_SUCCESS;
    const struct vs_library_driver *d = vs_library_driver();
    const char *name = NULL;
    if (!d || d->cuGetErrorName(result, &name) || !name)
        name = "an unknown error";
    return dnn_fail(CUDNN_STATUS_EXECUTION_FAILED_CUDA_DRIVER, "%s: the driver returned %s", function,
                    name);
}

void cudnnGetLastErrorString(char *message, size_t max_size)
{
    if (!message || !max_size)
        return;
    size_t length = strnlen(last_message, max_size - 1);
    memcpy(message, last_message, length);
    message[length] = '\0';
    last_message[0] = '\0';
}
