/* SPDX-License-Identifier: Apache-2.0
 *
 * What formats that write allocations and frees in the order of the trace know of its blocks. Which
 * memory holds a framework's blocks is known only after a first reading; the stream of a block is in
 * the event of its allocation alone. Memory: a few bytes for each slot of live memory. Not
 * thread-safe. */
#ifndef VS_HISTORY_BLOCKS_H
#define VS_HISTORY_BLOCKS_H

#include "analysis/state/replay.h"

/* Zero-initialise. */
struct vs_history_blocks {
    bool *backing; /* by site: its memory holds the framework's blocks */
    size_t site_count;
    bool framework[VS_HOST_INDEX + 1]; /* by account: a framework has reported blocks */
    struct vs_block_stream {
        uint64_t event, stream; /* of the allocation */
    } *streams; /* by slot */
    size_t stream_capacity;
};

/* vs_history_blocks_learn: fills the first three from *replay* after the first reading. */
void vs_history_blocks_learn(struct vs_history_blocks *blocks, const struct vs_replay *replay);

/* vs_history_holds: whether *live* is memory of the device that holds a framework's blocks. */
bool vs_history_holds(const struct vs_history_blocks *blocks, const struct vs_live *live);

/* vs_history_born: keeps the stream of the block that *change* (VS_CHANGE_BORN) allocates, and returns it.
 * vs_history_stream: the stream that was kept; 0: none. */
uint64_t vs_history_born(struct vs_history_blocks *blocks, const struct vs_published *change);
uint64_t vs_history_stream(const struct vs_history_blocks *blocks, const struct vs_replay *replay,
                           const struct vs_live *live);

/* vs_history_address: that of memory; of arrays and unmapped physical memory, which have none, a number
 * from 2^52 on. The readers' numbers have 53 bits. */
uint64_t vs_history_address(uint64_t addr);

void vs_history_blocks_free(struct vs_history_blocks *blocks);

#endif
