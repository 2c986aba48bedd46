/* SPDX-License-Identifier: Apache-2.0
 *
 * Names and texts of runtime errors. Every error of driver_types.h has its name; those that this
 * runtime or its driver return also have a text. */
#include "simulator/runtime/vs_sim_runtime.h"

static const struct { /* errors that the driver does not have */
    cudaError_t error;
    const char *text;
} texts[] = {
    {cudaErrorInvalidConfiguration, "invalid configuration argument"},
    {cudaErrorInvalidPitchValue, "invalid pitch argument"},
    {cudaErrorInvalidSymbol, "invalid device symbol"},
    {cudaErrorInvalidHostPointer, "invalid host pointer"},
    {cudaErrorInvalidDevicePointer, "invalid device pointer"},
    {cudaErrorInvalidMemcpyDirection, "invalid copy direction for memcpy"},
    {cudaErrorInsufficientDriver, "CUDA driver version is insufficient for CUDA runtime version"},
    {cudaErrorMissingConfiguration, "__global__ function call is not configured"},
    {cudaErrorInvalidDeviceFunction, "invalid device function"},
};

const char *cudaGetErrorName(cudaError_t error)
{
    switch (error) {
#define VS_RT_ERROR(name) case name: return #name;
#define VS_CUPTI_RESULT(name)
#include "generated/vs_sim_error_table.h"
    default: return "unrecognized error code";
    }
}

const char *cudaGetErrorString(cudaError_t error)
{
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (texts[i].error == error)
            return texts[i].text;
    switch ((int)error) {
#define VS_SIM_ERROR(code, text)
#define VS_SIM_ERROR_OF_BOTH(code, text) case code: return text;
#include "simulator/driver/vs_sim_error_text_table.h"
    default: return cudaGetErrorName(error);
    }
}
