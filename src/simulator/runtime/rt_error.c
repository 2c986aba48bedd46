/* SPDX-License-Identifier: Apache-2.0
 *
 * Names and texts of runtime errors. Every error of driver_types.h has its name; those that this
 * runtime or its driver return also have a text. */
#include "simulator/runtime/vs_sim_runtime.h"

static const struct {
    cudaError_t error;
    const char *text;
} texts[] = {
    {cudaSuccess, "no error"},
    {cudaErrorInvalidValue, "invalid argument"},
    {cudaErrorMemoryAllocation, "out of memory"},
    {cudaErrorInitializationError, "initialization error"},
    {cudaErrorCudartUnloading, "driver shutting down"},
    {cudaErrorInvalidConfiguration, "invalid configuration argument"},
    {cudaErrorInvalidPitchValue, "invalid pitch argument"},
    {cudaErrorInvalidSymbol, "invalid device symbol"},
    {cudaErrorInvalidHostPointer, "invalid host pointer"},
    {cudaErrorInvalidDevicePointer, "invalid device pointer"},
    {cudaErrorInvalidMemcpyDirection, "invalid copy direction for memcpy"},
    {cudaErrorInsufficientDriver, "CUDA driver version is insufficient for CUDA runtime version"},
    {cudaErrorMissingConfiguration, "__global__ function call is not configured"},
    {cudaErrorInvalidDeviceFunction, "invalid device function"},
    {cudaErrorNoDevice, "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "invalid device ordinal"},
    {cudaErrorInvalidKernelImage, "device kernel image is invalid"},
    {cudaErrorDeviceUninitialized, "invalid device context"},
    {cudaErrorUnsupportedLimit, "limit is not supported on this architecture"},
    {cudaErrorPeerAccessUnsupported, "peer access is not supported between these two devices"},
    {cudaErrorFileNotFound, "file not found"},
    {cudaErrorOperatingSystem, "OS call failed or operation not supported on this OS"},
    {cudaErrorInvalidResourceHandle, "invalid resource handle"},
    {cudaErrorIllegalState, "the operation cannot be performed in the present state"},
    {cudaErrorSymbolNotFound, "named symbol not found"},
    {cudaErrorNotReady, "device not ready"},
    {cudaErrorIllegalAddress, "an illegal memory access was encountered"},
    {cudaErrorLaunchOutOfResources, "too many resources requested for launch"},
    {cudaErrorLaunchTimeout, "the launch timed out and was terminated"},
    {cudaErrorPeerAccessAlreadyEnabled, "peer access is already enabled"},
    {cudaErrorPeerAccessNotEnabled, "peer access has not been enabled"},
    {cudaErrorContextIsDestroyed, "context is destroyed"},
    {cudaErrorAssert, "device-side assert triggered"},
    {cudaErrorHostMemoryAlreadyRegistered,
     "part or all of the requested memory range is already mapped"},
    {cudaErrorHostMemoryNotRegistered, "pointer does not correspond to a registered memory region"},
    {cudaErrorLaunchFailure, "unspecified launch failure"},
    {cudaErrorNotPermitted, "operation not permitted"},
    {cudaErrorNotSupported, "operation not supported"},
    {cudaErrorStreamCaptureUnsupported, "operation not permitted when stream is capturing"},
    {cudaErrorTimeout, "wait operation timed out"},
    {cudaErrorUnknown, "unknown error"},
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
    return cudaGetErrorName(error);
}
