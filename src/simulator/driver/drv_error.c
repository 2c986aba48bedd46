/* SPDX-License-Identifier: Apache-2.0
 *
 * Names and texts of driver errors: every code of cuda.h has both, whether the
 * simulated driver returns it or not. */
#include "simulator/driver/vs_sim_driver.h"

struct error_text {
    CUresult error;
    const char *name, *text;
};

#define E(code, text)     \
    {                     \
        code, #code, text \
    }
static const struct error_text errors[] = {
    E(CUDA_SUCCESS, "no error"),
    E(CUDA_ERROR_INVALID_VALUE, "invalid argument"),
    E(CUDA_ERROR_OUT_OF_MEMORY, "out of memory"),
    E(CUDA_ERROR_NOT_INITIALIZED, "initialization error"),
    E(CUDA_ERROR_DEINITIALIZED, "driver shutting down"),
    E(CUDA_ERROR_PROFILER_DISABLED, "the profiler is not active in this run"),
    E(CUDA_ERROR_PROFILER_NOT_INITIALIZED, "deprecated: profiling works without initialization"),
    E(CUDA_ERROR_PROFILER_ALREADY_STARTED, "deprecated: the profiler was running already"),
    E(CUDA_ERROR_PROFILER_ALREADY_STOPPED, "deprecated: the profiler was stopped already"),
    E(CUDA_ERROR_STUB_LIBRARY, "CUDA driver is a stub library"),
    E(CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER, "the call needs a newer driver"),
    E(CUDA_ERROR_DEVICE_UNAVAILABLE, "the device is not available at present"),
    E(CUDA_ERROR_NO_DEVICE, "no CUDA-capable device is detected"),
    E(CUDA_ERROR_INVALID_DEVICE, "invalid device ordinal"),
    E(CUDA_ERROR_DEVICE_NOT_LICENSED, "the device has no license"),
    E(CUDA_ERROR_INVALID_IMAGE, "device kernel image is invalid"),
    E(CUDA_ERROR_INVALID_CONTEXT, "invalid device context"),
    E(CUDA_ERROR_CONTEXT_ALREADY_CURRENT, "deprecated: the context is current already"),
    E(CUDA_ERROR_MAP_FAILED, "mapping of buffer object failed"),
    E(CUDA_ERROR_UNMAP_FAILED, "unmapping failed"),
    E(CUDA_ERROR_ARRAY_IS_MAPPED, "the array is mapped"),
    E(CUDA_ERROR_ALREADY_MAPPED, "resource already mapped"),
    E(CUDA_ERROR_NO_BINARY_FOR_GPU, "the image has no code for this device"),
    E(CUDA_ERROR_ALREADY_ACQUIRED, "the resource was acquired already"),
    E(CUDA_ERROR_NOT_MAPPED, "resource not mapped"),
    E(CUDA_ERROR_NOT_MAPPED_AS_ARRAY, "the resource is not mapped as an array"),
    E(CUDA_ERROR_NOT_MAPPED_AS_POINTER, "the resource is not mapped as a pointer"),
    E(CUDA_ERROR_ECC_UNCORRECTABLE, "a memory error that could not be corrected"),
    E(CUDA_ERROR_UNSUPPORTED_LIMIT, "limit is not supported on this architecture"),
    E(CUDA_ERROR_CONTEXT_ALREADY_IN_USE,
      "exclusive-thread device already in use by a different thread"),
    E(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, "peer access is not supported between these two devices"),
    E(CUDA_ERROR_INVALID_PTX, "PTX that does not compile"),
    E(CUDA_ERROR_INVALID_GRAPHICS_CONTEXT, "the graphics context is not usable"),
    E(CUDA_ERROR_NVLINK_UNCORRECTABLE, "an NVLink error that could not be corrected"),
    E(CUDA_ERROR_JIT_COMPILER_NOT_FOUND, "the PTX compiler library was not found"),
    E(CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "PTX of a version that is not supported"),
    E(CUDA_ERROR_JIT_COMPILATION_DISABLED, "compilation of PTX is disabled"),
    E(CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY, "the device does not support this affinity"),
    E(CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC, "code that synchronizes on the device is not supported"),
    E(CUDA_ERROR_CONTAINED, "a contained error ended the context"),
    E(CUDA_ERROR_INVALID_SOURCE, "the kernel's source is not valid"),
    E(CUDA_ERROR_FILE_NOT_FOUND, "file not found"),
    E(CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND, "a symbol of a shared object was not found"),
    E(CUDA_ERROR_SHARED_OBJECT_INIT_FAILED, "a shared object could not be initialized"),
    E(CUDA_ERROR_OPERATING_SYSTEM, "OS call failed or operation not supported on this OS"),
    E(CUDA_ERROR_INVALID_HANDLE, "invalid resource handle"),
    E(CUDA_ERROR_ILLEGAL_STATE, "the operation cannot be performed in the present state"),
    E(CUDA_ERROR_LOSSY_QUERY, "the answer would leave something out"),
    E(CUDA_ERROR_NOT_FOUND, "named symbol not found"),
    E(CUDA_ERROR_NOT_READY, "device not ready"),
    E(CUDA_ERROR_ILLEGAL_ADDRESS, "an illegal memory access was encountered"),
    E(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "too many resources requested for launch"),
    E(CUDA_ERROR_LAUNCH_TIMEOUT, "the launch timed out and was terminated"),
    E(CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING, "the launch uses an incompatible texturing mode"),
    E(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, "peer access is already enabled"),
    E(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, "peer access has not been enabled"),
    E(CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE, "cannot set while device is active in this process"),
    E(CUDA_ERROR_CONTEXT_IS_DESTROYED, "context is destroyed"),
    E(CUDA_ERROR_ASSERT, "device-side assert triggered"),
    E(CUDA_ERROR_TOO_MANY_PEERS, "peer mapping resources exhausted"),
    E(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
      "part or all of the requested memory range is already mapped"),
    E(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED,
      "pointer does not correspond to a registered memory region"),
    E(CUDA_ERROR_HARDWARE_STACK_ERROR, "an error in a device call stack"),
    E(CUDA_ERROR_ILLEGAL_INSTRUCTION, "an illegal instruction was met"),
    E(CUDA_ERROR_MISALIGNED_ADDRESS, "an address is not aligned"),
    E(CUDA_ERROR_INVALID_ADDRESS_SPACE, "an instruction met memory of the wrong address space"),
    E(CUDA_ERROR_INVALID_PC, "the program counter is out of bounds"),
    E(CUDA_ERROR_LAUNCH_FAILED, "unspecified launch failure"),
    E(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, "too many blocks for a cooperative launch"),
    E(CUDA_ERROR_TENSOR_MEMORY_LEAK, "tensor memory was not given back"),
    E(CUDA_ERROR_NOT_PERMITTED, "operation not permitted"),
    E(CUDA_ERROR_NOT_SUPPORTED, "operation not supported"),
    E(CUDA_ERROR_SYSTEM_NOT_READY, "the system is not ready for CUDA yet"),
    E(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, "the parts of the driver are of different versions"),
    E(CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE,
      "the device does not support forward compatibility"),
    E(CUDA_ERROR_MPS_CONNECTION_FAILED, "no connection to the MPS control daemon"),
    E(CUDA_ERROR_MPS_RPC_FAILURE, "a call between MPS server and client failed"),
    E(CUDA_ERROR_MPS_SERVER_NOT_READY, "the MPS server takes no clients at present"),
    E(CUDA_ERROR_MPS_MAX_CLIENTS_REACHED, "the MPS server has no room for another client"),
    E(CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED, "the MPS server has no device connection left"),
    E(CUDA_ERROR_MPS_CLIENT_TERMINATED, "the MPS server ended this client"),
    E(CUDA_ERROR_CDP_NOT_SUPPORTED, "launches from the device are not supported"),
    E(CUDA_ERROR_CDP_VERSION_MISMATCH, "launches from the device of an incompatible version"),
    E(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "operation not permitted when stream is capturing"),
    E(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
      "operation failed due to a previous error during capture"),
    E(CUDA_ERROR_STREAM_CAPTURE_MERGE, "a dependency would merge two captures"),
    E(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, "the capture did not begin in this stream"),
    E(CUDA_ERROR_STREAM_CAPTURE_UNJOINED,
      "the capture has work in another stream that was not joined"),
    E(CUDA_ERROR_STREAM_CAPTURE_ISOLATION, "a dependency would cross the border of the capture"),
    E(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, "a dependency on the legacy stream is not allowed here"),
    E(CUDA_ERROR_CAPTURED_EVENT, "the event was last recorded in a capture"),
    E(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, "the capture was begun by another thread"),
    E(CUDA_ERROR_TIMEOUT, "wait operation timed out"),
    E(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, "the update is more than an executable graph can take"),
    E(CUDA_ERROR_EXTERNAL_DEVICE, "an error outside the GPU"),
    E(CUDA_ERROR_INVALID_CLUSTER_SIZE, "the cluster is not of a usable size"),
    E(CUDA_ERROR_FUNCTION_NOT_LOADED, "the function is not loaded"),
    E(CUDA_ERROR_INVALID_RESOURCE_TYPE, "a resource of the wrong type"),
    E(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION, "a resource configured in an unusable way"),
    E(CUDA_ERROR_KEY_ROTATION, "a key rotation did not happen in time"),
    E(CUDA_ERROR_UNKNOWN, "unknown error"),
};
#undef E

static const struct error_text *error_find(CUresult error)
{
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        if (errors[i].error == error)
            return &errors[i];
    return NULL;
}

CUresult cuGetErrorName(CUresult error, const char **pStr)
{
    if (!pStr)
        return CUDA_ERROR_INVALID_VALUE;
    const struct error_text *e = error_find(error);
    *pStr = e ? e->name : NULL;
    return e ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult error, const char **pStr)
{
    if (!pStr)
        return CUDA_ERROR_INVALID_VALUE;
    const struct error_text *e = error_find(error);
    *pStr = e ? e->text : NULL;
    return e ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
