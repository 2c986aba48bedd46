/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of other processes, opened here. */
#include "intercept/hook.h"
#include "intercept/ipc_import.h"

CUresult cuIpcOpenMemHandle(CUdeviceptr *ptr, CUipcMemHandle handle, unsigned flags)
{
    return vs_ipc_open(false, ptr, handle, flags);
}

CUresult cuIpcOpenMemHandle_v2(CUdeviceptr *ptr, CUipcMemHandle handle, unsigned flags)
{
    return vs_ipc_open(true, ptr, handle, flags);
}

CUresult cuIpcCloseMemHandle(CUdeviceptr ptr)
{
    return vs_ipc_close(ptr);
}
