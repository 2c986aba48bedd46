/* SPDX-License-Identifier: Apache-2.0
 *
 * Cached memory that is also used by other processes (IPC) or by devices that transfer on their own
 * (GPUDirect RDMA). docs/allocator.md has the rules. */
#ifndef VS_SHARING_H
#define VS_SHARING_H

#include <cuda.h>
#include <stdbool.h>

#include "intercept/cache/caching.h"

/* vs_sharing_begin, _on: the program shares memory: from now on each of its blocks has a driver
 * allocation to itself. Never reset. */
void vs_sharing_begin(void);
bool vs_sharing_on(void);

/* vs_sharing_expect: start sharing now if loaded libraries share their buffers and mapped memory
 * could not be shared. Once per process; ~10 us. */
void vs_sharing_expect(void);

/* vs_sharing_keep: the live block is about to be shared for the reason *mark* of enum vs_keep_mark:
 * its memory is never used for another block. False without host memory: then it must not be
 * shared. */
bool vs_sharing_keep(const struct vs_cached_block *block, unsigned mark);

/* vs_sharing_unmark: *mark* no longer holds; the memory is still not reused. */
void vs_sharing_unmark(const struct vs_cached_block *block, unsigned mark);

/* vs_sharing_export: cuIpcGetMemHandle of *ptr* in *block*, live and cached: a handle by which a
 * process that also loads this library, or any process if that is possible, gets exactly the block;
 * otherwise CUDA_ERROR_NOT_SUPPORTED, with the reason printed once. */
CUresult vs_sharing_export(const struct vs_cached_block *block, CUdeviceptr ptr,
                           CUipcMemHandle *handle);

#endif
