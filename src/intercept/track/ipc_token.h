/* SPDX-License-Identifier: Apache-2.0
 *
 * Replaces a handle of cuIpcGetMemHandle when the block lies inside the driver's exported
 * allocation: the driver's handle plus the block's offset, in the same 64 bytes. The driver rejects
 * it as invalid, so a process without this library gets an error and never sees another block. */
#ifndef VS_IPC_TOKEN_H
#define VS_IPC_TOKEN_H

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

struct vs_ipc_token {
    CUipcMemHandle handle; /* the driver's, for the whole allocation */
    uint64_t offset;       /* of the block in the allocation; a multiple of 512 below 2 TiB */
    uint64_t bytes;        /* requested bytes of the block; below 1 TiB */
};

/* vs_ipc_token_make: false when the token does not fit in 64 bytes: handles are mostly zeros, and
 * only zeros are left out. Equal tokens give equal bytes. */
bool vs_ipc_token_make(const struct vs_ipc_token *token, CUipcMemHandle *out);

/* vs_ipc_token_read: false when *handle* is not a token. */
bool vs_ipc_token_read(const CUipcMemHandle *handle, struct vs_ipc_token *out);

#endif
