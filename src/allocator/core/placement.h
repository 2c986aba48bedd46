/* SPDX-License-Identifier: Apache-2.0
 *
 * The placement rules as pure functions: how a request is rounded, which pool it belongs to, how
 * large a new segment is, when a block is split. They follow PyTorch's CUDACachingAllocator by
 * function name; the functions have no state. */
#ifndef VS_PLACEMENT_H
#define VS_PLACEMENT_H

#include "allocator/core/allocator.h"

#define VS_MIB (UINT64_C(1) << 20)
#define VS_BLOCK_MIN UINT64_C(512)            /* kMinBlockSize: every size is a multiple of it */
#define VS_SMALL_MAX VS_MIB                   /* kSmallSize: largest small-pool request */
#define VS_SMALL_SEGMENT (2 * VS_MIB)         /* kSmallBuffer */
#define VS_LARGE_SEGMENT (20 * VS_MIB)        /* kLargeBuffer */
#define VS_LARGE_EXACT_MIN (10 * VS_MIB)      /* kMinLargeAlloc */
#define VS_LARGE_ROUNDING (2 * VS_MIB)        /* kRoundLarge */
#define VS_MAX_SPLIT_MIN (20 * VS_MIB)
#define VS_NON_SPLIT_ROUNDING (20 * VS_MIB)

static inline uint64_t vs_round_up(uint64_t bytes, uint64_t multiple)
{
    return (bytes + multiple - 1) / multiple * multiple;
}

static inline unsigned vs_floor_log2(uint64_t n)
{
    return 63u ^ (unsigned)__builtin_clzll(n);
}

/* roundup_power2_next_division: *divisions* is a power of two above 1, *bytes* > 0. */
static inline uint64_t vs_round_to_division(uint64_t bytes, uint32_t divisions)
{
    if ((bytes & (bytes - 1)) == 0)
        return bytes;
    uint64_t floor = UINT64_C(1) << vs_floor_log2(bytes);
    uint64_t step = floor >> vs_floor_log2(divisions);
    if (step == 0)
        return floor << 1;
    return (bytes + step - 1) & ~(step - 1);
}

/* round_size: bytes of the block for a request of 1..VS_ALLOCATOR_REQUEST_MAX. */
static inline uint64_t vs_round_request(const struct vs_allocator_config *config, uint64_t bytes)
{
    if (bytes < VS_BLOCK_MIN)
        return VS_BLOCK_MIN;
    unsigned log = vs_floor_log2(bytes);
    unsigned slot = log < 20 ? 0 : log - 20;
    if (slot >= VS_ROUNDUP_SLOTS)
        slot = VS_ROUNDUP_SLOTS - 1;
    uint32_t divisions = config->roundup_power2_divisions[slot];
    if (divisions > 1 && bytes > VS_BLOCK_MIN * divisions)
        return vs_round_to_division(bytes, divisions);
    return (bytes + VS_BLOCK_MIN - 1) & ~(VS_BLOCK_MIN - 1);
}

/* get_allocation_size: bytes of the segment made for a rounded request. */
static inline uint64_t vs_segment_size(uint64_t rounded)
{
    if (rounded <= VS_SMALL_MAX)
        return VS_SMALL_SEGMENT;
    if (rounded < VS_LARGE_EXACT_MIN)
        return VS_LARGE_SEGMENT;
    return (rounded + VS_LARGE_ROUNDING - 1) & ~(VS_LARGE_ROUNDING - 1);
}

/* The same with the configured size of large segments. */
static inline uint64_t vs_segment_size_for(const struct vs_allocator_config *config,
                                           uint64_t rounded)
{
    if (config->large_segment_size && rounded > VS_SMALL_MAX && rounded < VS_LARGE_EXACT_MIN)
        return config->large_segment_size;
    return vs_segment_size(rounded);
}

/* should_split: whether to split a block of *size* for a request of *rounded*. *max_split* is
 * UINT64_MAX when unlimited. */
static inline bool vs_should_split(enum vs_pool_kind pool, uint64_t size, uint64_t rounded,
                                   uint64_t max_split)
{
    uint64_t rest = size - rounded;
    if (pool == VS_POOL_SMALL)
        return rest >= VS_BLOCK_MIN;
    return rounded < max_split && rest > VS_SMALL_MAX;
}

/* get_free_block: whether a request of *rounded* may use a free block of *size*. */
static inline bool vs_may_take(uint64_t size, uint64_t rounded, uint64_t max_split,
                               uint64_t non_split_rounding)
{
    if (rounded < max_split)
        return size < max_split;
    return size < rounded + non_split_rounding;
}

#endif
