/* SPDX-License-Identifier: Apache-2.0
 *
 * Opening memory of other processes. Forwards to the driver, except for handles that name a block
 * inside the driver's exported allocation (ipc_token.h): that allocation is opened as a whole, and
 * the program gets the block. Also in observe mode, because the exporter decides on the handle. */
#ifndef VS_IPC_IMPORT_H
#define VS_IPC_IMPORT_H

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "intercept/track/tracker.h"

/* vs_ipc_open: the driver's cuIpcOpenMemHandle (*v2*: its _v2 form), with its result. Any thread,
 * no lock held. */
CUresult vs_ipc_open(bool v2, CUdeviceptr *ptr, CUipcMemHandle handle, unsigned flags);

/* vs_ipc_close: the driver's cuIpcCloseMemHandle for an address from vs_ipc_open. */
CUresult vs_ipc_close(CUdeviceptr ptr);

/* A block of another process, opened here by a token. */
struct vs_ipc_opened {
    uint64_t addr, bytes;
    uint64_t serial; /* unique; never reused */
};

/* vs_ipc_find: the opened block that contains the pointer. *Cost*: one load when there is none. */
bool vs_ipc_find(CUdeviceptr ptr, struct vs_ipc_opened *out);

/* --- foreign memory that the driver maps once however often it is opened: a repeated opening returns
 * the same address, and it stays until the last one is closed --- */

/* vs_opened: *live*, of family ipc, was opened; the first opening is recorded. Any thread. */
void vs_opened(const struct vs_tracked *live, const char *api);

/* vs_opened_close: closes one opening of *addr*. Returns false if it is the last: then it ends like
 * other tracked memory. */
bool vs_opened_close(uint64_t addr);

#endif
