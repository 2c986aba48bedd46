/* SPDX-License-Identifier: Apache-2.0
 *
 * Opening memory of other processes: as the driver does, but for handles that name a
 * block inside what the driver exports (ipc_token.h). Those are opened as a whole, and
 * the program is given the block. In observe mode too: the exporter decides. */
#ifndef VS_IPC_IMPORT_H
#define VS_IPC_IMPORT_H

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

/* vs_ipc_open: the driver's cuIpcOpenMemHandle (*v2*: of that name), with its answer. Any
 * thread, no lock held. */
CUresult vs_ipc_open(bool v2, CUdeviceptr *ptr, CUipcMemHandle handle, unsigned flags);

/* vs_ipc_close: the driver's cuIpcCloseMemHandle of what vs_ipc_open gave. */
CUresult vs_ipc_close(CUdeviceptr ptr);

/* A block of another process, opened here by such a handle. */
struct vs_ipc_opened {
    uint64_t addr, bytes;
    uint64_t serial; /* unique among them; never reused */
};

/* vs_ipc_find: also for pointers inside it. *Cost*: one load when there is none. */
bool vs_ipc_find(CUdeviceptr ptr, struct vs_ipc_opened *out);

#endif
