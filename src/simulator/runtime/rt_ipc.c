/* SPDX-License-Identifier: Apache-2.0
 *
 * Interprocess handles of memory and events in the runtime: the driver's own. */
#include "simulator/runtime/vs_sim_runtime.h"

#include <string.h>

_Static_assert(sizeof(cudaIpcMemHandle_t) == sizeof(CUipcMemHandle), "passed through");
_Static_assert(sizeof(cudaIpcEventHandle_t) == sizeof(CUipcEventHandle), "passed through");

cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t *handle, cudaEvent_t event)
{
    VS_RT_CALL(vs_rt.IpcGetEventHandle((CUipcEventHandle *)handle, event));
}

cudaError_t cudaIpcOpenEventHandle(cudaEvent_t *event, cudaIpcEventHandle_t handle)
{
    CUipcEventHandle h;
    cudaError_t e = vs_rt_enter_context();
    memcpy(&h, &handle, sizeof h);
    return vs_rt_result(e ? e : vs_rt_error(vs_rt.IpcOpenEventHandle(event, h)));
}

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *devPtr)
{
    VS_RT_CALL(vs_rt.IpcGetMemHandle((CUipcMemHandle *)handle, (CUdeviceptr)devPtr));
}

cudaError_t cudaIpcOpenMemHandle(void **devPtr, cudaIpcMemHandle_t handle, unsigned int flags)
{
    CUipcMemHandle h;
    cudaError_t e = vs_rt_enter_context();
    memcpy(&h, &handle, sizeof h);
    return vs_rt_result(e ? e : vs_rt_error(vs_rt.IpcOpenMemHandle((CUdeviceptr *)devPtr, h, flags)));
}

cudaError_t cudaIpcCloseMemHandle(void *devPtr)
{
    VS_RT_CALL(vs_rt.IpcCloseMemHandle((CUdeviceptr)devPtr));
}
