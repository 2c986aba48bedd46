/* SPDX-License-Identifier: Apache-2.0
 *
 * Addresses of which the driver knows something else than the program: cached memory, and
 * blocks of other processes that lie inside what is open here. */
#ifndef VS_KNOWN_BLOCK_H
#define VS_KNOWN_BLOCK_H

#include <cuda.h>
#include <stdbool.h>

#include "intercept/cache/caching.h"

/* vs_known_cached: is *ptr* in cached memory? A pointer behind the bytes that were asked
 * for is in no live block. Not inside our own work. Takes the allocators' locks. */
bool vs_known_cached(CUdeviceptr ptr, struct vs_cached_block *block);

/* vs_known_block: likewise, or in an opened block, which has no context and is live. */
bool vs_known_block(CUdeviceptr ptr, struct vs_cached_block *block);

#endif
