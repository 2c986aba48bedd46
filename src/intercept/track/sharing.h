/* SPDX-License-Identifier: Apache-2.0
 *
 * Cached memory that others than the program use: other processes (IPC) and other devices
 * that transfer by themselves (GPUDirect RDMA). docs/sharing.md has the rules. */
#ifndef VS_SHARING_H
#define VS_SHARING_H

#include <cuda.h>
#include <stdbool.h>

#include "intercept/cache/caching.h"

/* vs_sharing_begin, _on: the program shares memory: from now on each block it is given has
 * an allocation of the driver to itself. Never taken back. */
void vs_sharing_begin(void);
bool vs_sharing_on(void);

/* vs_sharing_expect: libraries are loaded that share what they are given, and mapped
 * memory could not be: then sharing begins now. Once per process; ~10 us. */
void vs_sharing_expect(void);

/* vs_sharing_keep: others are about to know of the live block, for the reason *mark* of
 * enum vs_keep_mark: its memory serves nobody else any more. False without host memory:
 * then nobody may know of it. */
bool vs_sharing_keep(const struct vs_cached_block *block, unsigned mark);

/* vs_sharing_unmark: *mark* no longer holds; the memory stays kept. */
void vs_sharing_unmark(const struct vs_cached_block *block, unsigned mark);

/* vs_sharing_export: cuIpcGetMemHandle of *ptr* in *block*, live and cached: a handle by
 * which a process that is under us too, or any where that is right, gets exactly the
 * block; or the reason why not, said once, and CUDA_ERROR_NOT_SUPPORTED. */
CUresult vs_sharing_export(const struct vs_cached_block *block, CUdeviceptr ptr,
                           CUipcMemHandle *handle);

#endif
