/* SPDX-License-Identifier: Apache-2.0
 *
 * Addresses for which the driver's answer is wrong for the program: cached memory, and blocks of
 * other processes that lie inside an allocation opened here. */
#ifndef VS_KNOWN_BLOCK_H
#define VS_KNOWN_BLOCK_H

#include <cuda.h>
#include <stdbool.h>

#include "intercept/cache/caching.h"

/* vs_known_cached: finds the live block of *ptr*, if that is cached memory. A pointer past the
 * requested bytes is in no live block. Do not call with vs_thread.inside > 0. Takes the allocators'
 * locks. */
bool vs_known_cached(CUdeviceptr ptr, struct vs_cached_block *block);

/* vs_known_block: likewise, also for opened blocks, which have no context and are live. */
bool vs_known_block(CUdeviceptr ptr, struct vs_cached_block *block);

#endif
