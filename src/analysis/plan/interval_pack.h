/* SPDX-License-Identifier: Apache-2.0
 *
 * Packing: offsets for blocks whose lifetimes are known, so that no two that are alive together
 * overlap and the highest end is low (dynamic storage allocation, NP-hard; solved here by greedy
 * placement in several orders). Time is the number of the block: block i is created at time i. Time
 * may bend back once: a repetitive program has its period at the end, and a block that is still
 * alive when the next repetition begins is also alive at the period's start. */
#ifndef VS_INTERVAL_PACK_H
#define VS_INTERVAL_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vs_err.h"

#define VS_INTERVAL_UNPLACED UINT32_MAX

struct vs_interval {
    uint32_t size;   /* granules; 0: not placed */
    uint32_t death;  /* alive from its own number to before this; greater than its number */
    uint32_t again;  /* also alive from the bend to before this; 0: no */
    uint32_t offset; /* result */
};

struct vs_packing {
    uint64_t bound; /* peak of granules alive at once: the minimum for any placement */
    uint64_t peak;  /* highest end of a placed block */
    bool too_long;  /* more work than the budget allows: no block is placed, peak is the bound */
};

/* The work of a placement: blocks looked at, which is about the number of pairs alive together, for
 * each order; a few ns each. All placements of a plan together, and one order. */
#define VS_INTERVAL_VISITS_MAX UINT64_C(4000000000)
#define VS_INTERVAL_ORDER_MAX UINT64_C(1000000000)
#define VS_INTERVAL_COUNT_MAX (UINT32_C(1) << 21) /* blocks; 100 bytes of memory each */

/* vs_interval_pack: places *count* blocks; *bend* is the number where the period starts, or 0.
 * Stops at the first order that comes within 1/4096 of the bound, otherwise uses the best one that
 * the work left in *budget* allows. The same blocks give the same offsets on every machine.
 * VS_ERR_NOMEM; VS_ERR_LIMIT when 2^32 - 2 granules do not suffice. */
enum vs_err vs_interval_pack(struct vs_interval *blocks, size_t count, uint32_t bend,
                             uint64_t *budget, struct vs_packing *out) VS_MUST_CHECK;

#endif
