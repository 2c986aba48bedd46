/* SPDX-License-Identifier: Apache-2.0
 *
 * Names and texts of runtime errors. Every error of driver_types.h has its name; those that this
 * runtime or its driver return also have a text. */
#include "simulator/runtime/vs_sim_runtime.h"

static const struct {
    cudaError_t error;
    const char *name, *text;
} errors[] = {
#define E(code, text)     \
    {                     \
        code, #code, text \
    }
    E(cudaSuccess, "no error"),
    E(cudaErrorInvalidValue, "invalid argument"),
    E(cudaErrorMemoryAllocation, "out of memory"),
    E(cudaErrorInitializationError, "initialization error"),
    E(cudaErrorCudartUnloading, "driver shutting down"),
    E(cudaErrorProfilerDisabled, NULL),
    E(cudaErrorProfilerNotInitialized, NULL),
    E(cudaErrorProfilerAlreadyStarted, NULL),
    E(cudaErrorProfilerAlreadyStopped, NULL),
    E(cudaErrorInvalidConfiguration, "invalid configuration argument"),
    E(cudaErrorInvalidPitchValue, "invalid pitch argument"),
    E(cudaErrorInvalidSymbol, "invalid device symbol"),
    E(cudaErrorInvalidHostPointer, "invalid host pointer"),
    E(cudaErrorInvalidDevicePointer, "invalid device pointer"),
    E(cudaErrorInvalidTexture, NULL),
    E(cudaErrorInvalidTextureBinding, NULL),
    E(cudaErrorInvalidChannelDescriptor, NULL),
    E(cudaErrorInvalidMemcpyDirection, "invalid copy direction for memcpy"),
    E(cudaErrorAddressOfConstant, NULL),
    E(cudaErrorTextureFetchFailed, NULL),
    E(cudaErrorTextureNotBound, NULL),
    E(cudaErrorSynchronizationError, NULL),
    E(cudaErrorInvalidFilterSetting, NULL),
    E(cudaErrorInvalidNormSetting, NULL),
    E(cudaErrorMixedDeviceExecution, NULL),
    E(cudaErrorNotYetImplemented, NULL),
    E(cudaErrorMemoryValueTooLarge, NULL),
    E(cudaErrorStubLibrary, NULL),
    E(cudaErrorInsufficientDriver, "CUDA driver version is insufficient for CUDA runtime version"),
    E(cudaErrorCallRequiresNewerDriver, NULL),
    E(cudaErrorInvalidSurface, NULL),
    E(cudaErrorDuplicateVariableName, NULL),
    E(cudaErrorDuplicateTextureName, NULL),
    E(cudaErrorDuplicateSurfaceName, NULL),
    E(cudaErrorDevicesUnavailable, NULL),
    E(cudaErrorIncompatibleDriverContext, NULL),
    E(cudaErrorMissingConfiguration, "__global__ function call is not configured"),
    E(cudaErrorPriorLaunchFailure, NULL),
    E(cudaErrorLaunchMaxDepthExceeded, NULL),
    E(cudaErrorLaunchFileScopedTex, NULL),
    E(cudaErrorLaunchFileScopedSurf, NULL),
    E(cudaErrorSyncDepthExceeded, NULL),
    E(cudaErrorLaunchPendingCountExceeded, NULL),
    E(cudaErrorInvalidDeviceFunction, "invalid device function"),
    E(cudaErrorNoDevice, "no CUDA-capable device is detected"),
    E(cudaErrorInvalidDevice, "invalid device ordinal"),
    E(cudaErrorDeviceNotLicensed, NULL),
    E(cudaErrorSoftwareValidityNotEstablished, NULL),
    E(cudaErrorStartupFailure, NULL),
    E(cudaErrorInvalidKernelImage, "device kernel image is invalid"),
    E(cudaErrorDeviceUninitialized, "invalid device context"),
    E(cudaErrorMapBufferObjectFailed, NULL),
    E(cudaErrorUnmapBufferObjectFailed, NULL),
    E(cudaErrorArrayIsMapped, NULL),
    E(cudaErrorAlreadyMapped, NULL),
    E(cudaErrorNoKernelImageForDevice, NULL),
    E(cudaErrorAlreadyAcquired, NULL),
    E(cudaErrorNotMapped, NULL),
    E(cudaErrorNotMappedAsArray, NULL),
    E(cudaErrorNotMappedAsPointer, NULL),
    E(cudaErrorECCUncorrectable, NULL),
    E(cudaErrorUnsupportedLimit, "limit is not supported on this architecture"),
    E(cudaErrorDeviceAlreadyInUse, NULL),
    E(cudaErrorPeerAccessUnsupported, "peer access is not supported between these two devices"),
    E(cudaErrorInvalidPtx, NULL),
    E(cudaErrorInvalidGraphicsContext, NULL),
    E(cudaErrorNvlinkUncorrectable, NULL),
    E(cudaErrorJitCompilerNotFound, NULL),
    E(cudaErrorUnsupportedPtxVersion, NULL),
    E(cudaErrorJitCompilationDisabled, NULL),
    E(cudaErrorUnsupportedExecAffinity, NULL),
    E(cudaErrorUnsupportedDevSideSync, NULL),
    E(cudaErrorContained, NULL),
    E(cudaErrorInvalidSource, NULL),
    E(cudaErrorFileNotFound, "file not found"),
    E(cudaErrorSharedObjectSymbolNotFound, NULL),
    E(cudaErrorSharedObjectInitFailed, NULL),
    E(cudaErrorOperatingSystem, "OS call failed or operation not supported on this OS"),
    E(cudaErrorInvalidResourceHandle, "invalid resource handle"),
    E(cudaErrorIllegalState, "the operation cannot be performed in the present state"),
    E(cudaErrorLossyQuery, NULL),
    E(cudaErrorSymbolNotFound, "named symbol not found"),
    E(cudaErrorNotReady, "device not ready"),
    E(cudaErrorIllegalAddress, "an illegal memory access was encountered"),
    E(cudaErrorLaunchOutOfResources, "too many resources requested for launch"),
    E(cudaErrorLaunchTimeout, "the launch timed out and was terminated"),
    E(cudaErrorLaunchIncompatibleTexturing, NULL),
    E(cudaErrorPeerAccessAlreadyEnabled, "peer access is already enabled"),
    E(cudaErrorPeerAccessNotEnabled, "peer access has not been enabled"),
    E(cudaErrorSetOnActiveProcess, NULL),
    E(cudaErrorContextIsDestroyed, "context is destroyed"),
    E(cudaErrorAssert, "device-side assert triggered"),
    E(cudaErrorTooManyPeers, NULL),
    E(cudaErrorHostMemoryAlreadyRegistered,
      "part or all of the requested memory range is already mapped"),
    E(cudaErrorHostMemoryNotRegistered,
      "pointer does not correspond to a registered memory region"),
    E(cudaErrorHardwareStackError, NULL),
    E(cudaErrorIllegalInstruction, NULL),
    E(cudaErrorMisalignedAddress, NULL),
    E(cudaErrorInvalidAddressSpace, NULL),
    E(cudaErrorInvalidPc, NULL),
    E(cudaErrorLaunchFailure, "unspecified launch failure"),
    E(cudaErrorCooperativeLaunchTooLarge, NULL),
    E(cudaErrorTensorMemoryLeak, NULL),
    E(cudaErrorNotPermitted, "operation not permitted"),
    E(cudaErrorNotSupported, "operation not supported"),
    E(cudaErrorSystemNotReady, NULL),
    E(cudaErrorSystemDriverMismatch, NULL),
    E(cudaErrorCompatNotSupportedOnDevice, NULL),
    E(cudaErrorMpsConnectionFailed, NULL),
    E(cudaErrorMpsRpcFailure, NULL),
    E(cudaErrorMpsServerNotReady, NULL),
    E(cudaErrorMpsMaxClientsReached, NULL),
    E(cudaErrorMpsMaxConnectionsReached, NULL),
    E(cudaErrorMpsClientTerminated, NULL),
    E(cudaErrorCdpNotSupported, NULL),
    E(cudaErrorCdpVersionMismatch, NULL),
    E(cudaErrorStreamCaptureUnsupported, "operation not permitted when stream is capturing"),
    E(cudaErrorStreamCaptureInvalidated, NULL),
    E(cudaErrorStreamCaptureMerge, NULL),
    E(cudaErrorStreamCaptureUnmatched, NULL),
    E(cudaErrorStreamCaptureUnjoined, NULL),
    E(cudaErrorStreamCaptureIsolation, NULL),
    E(cudaErrorStreamCaptureImplicit, NULL),
    E(cudaErrorCapturedEvent, NULL),
    E(cudaErrorStreamCaptureWrongThread, NULL),
    E(cudaErrorTimeout, "wait operation timed out"),
    E(cudaErrorGraphExecUpdateFailure, NULL),
    E(cudaErrorExternalDevice, NULL),
    E(cudaErrorInvalidClusterSize, NULL),
    E(cudaErrorFunctionNotLoaded, NULL),
    E(cudaErrorInvalidResourceType, NULL),
    E(cudaErrorInvalidResourceConfiguration, NULL),
    E(cudaErrorUnknown, "unknown error"),
#undef E
};

#define ERROR_COUNT (sizeof errors / sizeof errors[0])

const char *cudaGetErrorName(cudaError_t error)
{
    for (size_t i = 0; i < ERROR_COUNT; i++)
        if (errors[i].error == error)
            return errors[i].name;
    return "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error)
{
    for (size_t i = 0; i < ERROR_COUNT; i++)
        if (errors[i].error == error)
            return errors[i].text ? errors[i].text : errors[i].name;
    return "unrecognized error code";
}
