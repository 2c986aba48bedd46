/* SPDX-License-Identifier: Apache-2.0
 *
 * A PyTorch memory snapshot (torch.cuda.memory._dump_snapshot) as plain arrays: the segments and
 * blocks at its end, and the history of each device before it. Everything that the file claims is
 * checked here: numbers are within bounds, every segment is listed once, no array is walked twice.
 * Private to src/analysis/import. */
#ifndef VS_SNAPSHOT_H
#define VS_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allocator/core/allocator.h"
#include "analysis/import/import.h"
#include "analysis/import/pickle.h"
#include "analysis/state/replay.h"
#include "base/vs_err.h"

#define VS_SNAPSHOT_ADDRESS_MAX (UINT64_C(1) << 62)
#define VS_SNAPSHOT_SIZE_MAX VS_ALLOCATOR_REQUEST_MAX

enum vs_snapshot_action {
    VS_SNAPSHOT_ALLOC, VS_SNAPSHOT_FREE_REQUESTED, VS_SNAPSHOT_FREE_COMPLETED,
    VS_SNAPSHOT_SEGMENT_ALLOC, VS_SNAPSHOT_SEGMENT_FREE, VS_SNAPSHOT_SEGMENT_MAP,
    VS_SNAPSHOT_SEGMENT_UNMAP, VS_SNAPSHOT_OOM, VS_SNAPSHOT_OTHER, VS_SNAPSHOT_ACTIONS
};

/* One entry of a device's history. */
struct vs_snapshot_entry {
    uint64_t addr; /* of an oom: the device's free bytes */
    uint64_t size, stream, time_us;
    struct vs_pickle_list *frames;   /* NULL: none */
    struct vs_pickle_text *metadata; /* set by the program; NULL: none */
    enum vs_snapshot_action action;
};

struct vs_snapshot_block {
    uint64_t addr, size, requested;
    struct vs_pickle_list *frames;
    bool allocated; /* otherwise its free waits for other streams */
};

struct vs_snapshot_segment {
    uint64_t addr, size, stream;
    struct vs_pickle_list *frames;
    bool expandable;
};

/* A range of the program or of PyTorch (record_function), by its time. */
struct vs_snapshot_annotation {
    struct vs_pickle_text *name;
    uint64_t time_us;
    bool start;
};

struct vs_snapshot_device {
    struct vs_snapshot_entry *entries;
    struct vs_snapshot_segment *segments;
    struct vs_snapshot_block *blocks; /* those in use */
    size_t count, segment_count, segment_capacity, block_count, block_capacity;
};

struct vs_snapshot {
    struct vs_snapshot_device devices[VS_DEVICES_MAX];
    unsigned device_count;
    struct vs_snapshot_annotation *annotations;
    size_t annotation_count;
    bool timed;                         /* entries have times */
    bool steps;                         /* the program marked its steps, or set metadata */
    const struct vs_pickle_text *optimizer; /* the first range of an optimizer's step; NULL: none */
    struct vs_allocator_config config;  /* of its settings, those that decide block sizes */
    struct vs_pickle_text *conf;        /* the text of PYTORCH_CUDA_ALLOC_CONF; NULL: unknown */
};

/* vs_snapshot_take: fills the zeroed *snapshot* from *root*, to which it refers. On failure *why*
 * (VS_PICKLE_WHY_MAX bytes) receives the reason: VS_ERR_FORMAT, not a snapshot; VS_ERR_CORRUPT, a
 * value that cannot be. */
enum vs_err vs_snapshot_take(const struct vs_pickle_value *root, struct vs_snapshot *snapshot,
                             char *why) VS_MUST_CHECK;

void vs_snapshot_free(struct vs_snapshot *snapshot);

struct vs_import_writer;

/* vs_snapshot_trace: writes all of *snapshot* and counts in the writer's result. VS_ERR_CORRUPT (its
 * *why*), VS_ERR_IO (errno; *why* ""). */
enum vs_err vs_snapshot_trace(const struct vs_snapshot *snapshot, struct vs_import_writer *writer) VS_MUST_CHECK;

/* The state of a device's memory before the first entry of its history. A snapshot has the state at
 * its end; the history is undone on the segments, and a block that is freed, or in use at the end,
 * without having been allocated in the history was there before it. */

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
