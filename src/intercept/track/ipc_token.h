/* SPDX-License-Identifier: Apache-2.0
 *
 * What stands in for a handle of cuIpcGetMemHandle when the block is not what the driver
 * exports but lies inside it: the driver's handle with the offset to add, in the same 64
 * bytes. The driver takes it for no handle at all, so a process without us that is sent
 * one is refused and never sees another block. */
#ifndef VS_IPC_TOKEN_H
#define VS_IPC_TOKEN_H

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

struct vs_ipc_token {
    CUipcMemHandle handle; /* the driver's, of the whole allocation */
    uint64_t offset;       /* of the block in it; a multiple of 512 below 2 TiB */
    uint64_t bytes;        /* of the block as asked for; below 1 TiB */
};

/* vs_ipc_token_make: false when it does not fit: handles are mostly zeroes, and only those
 * are left out. The same token gives the same bytes. */
bool vs_ipc_token_make(const struct vs_ipc_token *token, CUipcMemHandle *out);

/* vs_ipc_token_read: false when *handle* is none of ours. */
bool vs_ipc_token_read(const CUipcMemHandle *handle, struct vs_ipc_token *out);

#endif
