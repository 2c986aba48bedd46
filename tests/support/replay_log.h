/* SPDX-License-Identifier: Apache-2.0
 *
 * Recorded allocator traces for tests and benchmarks: reads the output of snapshot_to_events.py,
 * sets up an allocator in the initial state of the trace, runs it through the recorded requests and
 * counts how often it agreed with the recording. The device of a replay returns the recorded
 * addresses. */
#ifndef REPLAY_LOG_H
#define REPLAY_LOG_H

#include "allocator/core/allocator_internal.h"

struct vs_block_layout {
    uint64_t size;      /* multiple of 512 */
    uint64_t requested; /* live blocks: 1..size */
    bool live;
};

/* replay_adopt_segment: enters an existing segment, tiled by *count* blocks in address order
 * (no two free ones adjacent), as if it had been allocated and filled by requests: statistics count
 * it, except num_device_alloc; the sink receives nothing. Freed blocks of it count as safe to
 * reuse. The segment is freed through ops->segment_free like any other. *Returns* VS_ERR_ARG when
 * the blocks do not tile the segment or it overlaps another; VS_ERR_NOMEM leaves a part adopted:
 * destroy the allocator. */
enum vs_err replay_adopt_segment(struct vs_allocator *allocator, uint64_t addr, uint64_t size,
                                 enum vs_pool_kind kind, uint64_t stream,
                                 const struct vs_block_layout *blocks, size_t count) VS_MUST_CHECK;

enum replay_kind {
    REPLAY_ALLOC,
    REPLAY_FREE,
    REPLAY_SEGMENT_ALLOC,
    REPLAY_SEGMENT_FREE,
    REPLAY_OOM,
};

struct replay_event {
    enum replay_kind kind;
    uint64_t addr, size, stream;
};

struct replay_segment {
    uint64_t addr, size, stream;
    enum vs_pool_kind pool;
    size_t first_block, block_count;
};

struct replay_final {
    uint64_t addr, size;
    bool active;
};

struct replay_log {
    struct replay_segment *segments;
    size_t segment_count, segment_max;
    struct vs_block_layout *blocks;
    size_t block_count, block_max;
    struct replay_event *events;
    size_t event_count, event_max;
    struct replay_final *finals;
    size_t final_count, final_max;
};

struct replay_counts {
    uint64_t addr_ok, addr_mismatch, frees, splits, merges;
    uint64_t segment_ok, segment_bad;           /* size of a new segment */
    uint64_t segment_free_ok, segment_free_bad; /* freed when recorded, and whole */
    uint64_t final_ok, final_bad;
    uint64_t emptied; /* calls of empty_cache, as far as the recording shows them */
    uint64_t errors; /* calls that returned something unexpected */
};

/* A run of a log. *device_ops* expect it as their context. */
struct replay {
    const struct replay_log *log;
    size_t next; /* event */
    struct vs_allocator *allocator;
    struct replay_counts counts;
};

/* Exits with a message if the file cannot be read or has an unknown line. */
void replay_load(const char *path, struct replay_log *log);
void replay_log_free(struct replay_log *log);

/* The allocator of the log's initial state. */
enum vs_err replay_begin(const struct replay_log *log, struct replay *replay) VS_MUST_CHECK;
/* Runs it to the end; *step*, if not NULL, is called after each request. */
void replay_run(struct replay *replay, void (*step)(struct vs_allocator *allocator));
/* Compare the final blocks. */
void replay_compare(struct replay *replay);
void replay_end(struct replay *replay);

#endif
