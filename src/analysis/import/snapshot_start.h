/* SPDX-License-Identifier: Apache-2.0
 *
 * The state of a device's memory before the first entry of its history. A snapshot has the state at
 * its end; the history is undone on the segments, and a block that is freed, or in use at the end,
 * without having been allocated in the history was there before it. Private to
 * src/analysis/import. */
#ifndef VS_SNAPSHOT_START_H
#define VS_SNAPSHOT_START_H

#include "analysis/import/snapshot.h"

/* Memory that expandable segments map and unmap as a whole: the ranges of all such entries, cut at
 * each other's ends. In order of addresses. */
struct vs_snapshot_piece {
    uint64_t addr, end, stream;
    uint64_t number; /* of its memory; 0: not mapped */
    bool mapped;
};

struct vs_snapshot_start {
    struct vs_snapshot_segment *segments; /* not the expandable ones */
    struct vs_snapshot_block *blocks;     /* in use; size 0: only the request is known */
    struct vs_snapshot_piece *pieces;     /* mapped as at the start */
    size_t segment_count, segment_capacity, block_count, block_capacity, piece_count;
    uint64_t work; /* left: steps over pieces */
    bool overwritten; /* the history had begun earlier: its first entries are lost */
};

/* vs_snapshot_start_find: fills the zeroed *start*. VS_ERR_CORRUPT when expandable segments map
 * more ranges than can be followed. */
enum vs_err vs_snapshot_start_find(const struct vs_snapshot_device *device,
                                   struct vs_snapshot_start *start) VS_MUST_CHECK;

void vs_snapshot_start_free(struct vs_snapshot_start *start);

/* vs_snapshot_pieces: the pieces of *addr* … *addr* + *size*: the first and, in *count*, their
 * number. VS_ERR_CORRUPT as above. */
enum vs_err vs_snapshot_pieces(struct vs_snapshot_start *start, uint64_t addr, uint64_t size,
                               size_t *first, size_t *count) VS_MUST_CHECK;

#endif
