/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocks and segments of a trace as rows of the page, collected while the trace is replayed. A
 * row is begun at the birth of a block and gets its lifetime and its kind later; the other
 * columns are encoded at once. Blocks are those of the user's level (user_level.h): a framework's
 * tensors, and memory of the device that does not hold them. Each block has a place on the axis
 * of its device: in its segment, or, where no allocator is above the device's, one of its own.
 * Memory: about 40 bytes for each block, and the live set. Private to this folder; not
 * thread-safe. */
#ifndef VS_PAGE_ROWS_H
#define VS_PAGE_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/kinds/kinds.h"
#include "analysis/naming/kind.h"
#include "analysis/report/report.h"
#include "analysis/state/replay.h"
#include "base/vs_arena.h"
#include "viewer/html/page_column.h"
#include "viewer/html/page_scan.h"

/* --- address_axis.c: segments, which lie terabytes apart, one beside the other at the lowest free
 * place that is large enough, so that the axis is hardly longer than the memory held at its peak --- */

struct vs_axis_gap {
    struct vs_axis_gap *left, *right;
    uint64_t start, size;
    uint64_t largest; /* no gap of the subtree is larger */
};

/* Zero-initialise. A treap of the free gaps by their start; the last one has no end. */
struct vs_axis {
    struct vs_arena memory; /* of the gaps */
    struct vs_axis_gap *root, *unused; /* unused: a list by *left* */
    uint64_t end;           /* highest end of a place so far */
};

/* vs_axis_take: the lowest place for *size* bytes (rounded up to 512); false if there is none: an
 * absurd size of a damaged trace. Cost: the logarithm of the number of gaps, in the mean. */
bool vs_axis_take(struct vs_axis *axis, uint64_t size, uint64_t *place);

/* vs_axis_give: frees the place that vs_axis_take returned for *size*. */
void vs_axis_give(struct vs_axis *axis, uint64_t place, uint64_t size);

void vs_axis_free(struct vs_axis *axis);

/* --- page_rows.c --- */

#define VS_PAGE_NO_KIND VS_KIND_COUNT /* not a tensor */

/* Addresses that have a place on the axis; a node of a search tree. */
struct vs_page_room {
    struct vs_page_room *left, *right;
    uint64_t addr, size, place;
    uint64_t taken;   /* bytes taken from the axis at *place*; 0: of a zone, which keeps them */
    uint32_t segment; /* row + 1; 0: none */
    uint32_t block;   /* row + 1, where the addresses are a block without a segment; 0: none */
    uint8_t device;
};

struct vs_page_segment {
    uint64_t born_ns, died_ns; /* died 0: still held */
    uint64_t bytes, place, addr, pool;
    uint32_t stream, site;     /* site + 1, of the replay; 0: none */
    uint8_t device, family;
    bool older;                /* than the page's part of the trace */
};

/* Of a live allocation, by its slot (vs_replay_slot). */
struct vs_page_live {
    uint32_t row;     /* + 1; 0: none */
    uint32_t segment; /* row + 1; 0: none */
    uint64_t place, taken; /* on the axis; taken: by the block itself */
};

/* The block that was freed last: those of allocators are often placed where it was. Of several between the births of
 * two rows, the one with the latest end, then with the last row, so that a reader finds the same one; blocks that lived
 * for 0 ns do not count. */
struct vs_page_freed {
    uint64_t died, place; /* ns since the start */
    uint32_t rows, row, segment; /* rows: there were then */
};

/* A block; some fields are filled in only when it ends or the trace does. */
struct vs_page_block {
    uint64_t born;  /* ns since the start */
    uint64_t lived; /* 0: still live; else lifetime in ns + 1 */
    uint32_t site;  /* index in the replay's sites */
    uint32_t step;  /* row + 1; 0: none */
    uint8_t kind, device; /* device: its account */
    bool step_known; /* by a mark of the program; otherwise it may be in a step that is found */
    bool assumed;    /* its kind: from what its stack's other blocks became */
    uint32_t kept;   /* rows from its own to the last one born before it ended */
    uint32_t freed_phase, freed_by; /* phase of its free; the function that was called, + 1 in *frees* */
};

struct vs_page_tensor {
    uint64_t name, what; /* string id; enum vs_torch_tensor */
};

/* What a stream column holds: numbers in the order of first use, + 1. */
struct vs_page_stream {
    uint64_t stream;
    unsigned device;
    bool framework; /* the framework's own number of it */
};

struct vs_page_streams {
    struct vs_page_stream *items;
    size_t count, capacity;
    struct vs_map by_key;
    uint64_t latest_key; /* asked for, and its answer */
    uint32_t latest;
};

/* vs_page_stream: the number + 1 of *stream*; 0 if it has none. */
uint32_t vs_page_stream(struct vs_page_streams *streams, struct vs_page_stream stream);

/* Pools by their column; the allocators' pools of small and of large blocks. */
enum vs_page_pool { VS_PAGE_POOL_UNKNOWN, VS_PAGE_POOL_SMALL, VS_PAGE_POOL_LARGE };

enum vs_page_block_column {
    VS_BLOCK_BORN, VS_BLOCK_KEPT, VS_BLOCK_AFTER, VS_BLOCK_BYTES, VS_BLOCK_WASTE, VS_BLOCK_SITE, VS_BLOCK_PLACE,
    VS_BLOCK_SEGMENT, VS_BLOCK_STREAM, VS_BLOCK_DEVICE, VS_BLOCK_PHASE, VS_BLOCK_STEP, VS_BLOCK_KIND,
    VS_BLOCK_FAMILY, VS_BLOCK_COLUMNS
};
/* Of every block, in the same order; of a column that has nothing to say there are no values. */
enum vs_page_life_column {
    VS_LIFE_ADDRESS, VS_LIFE_FREED_PHASE, VS_LIFE_FREED_BY, VS_LIFE_ASSUMED,
    VS_LIFE_MODULE, VS_LIFE_TENSOR, VS_LIFE_COLUMNS
};
enum vs_page_segment_column {
    VS_SEGMENT_BORN, VS_SEGMENT_LIVED, VS_SEGMENT_BYTES, VS_SEGMENT_PLACE, VS_SEGMENT_ADDRESS,
    VS_SEGMENT_DEVICE, VS_SEGMENT_STREAM, VS_SEGMENT_POOL, VS_SEGMENT_FAMILY, VS_SEGMENT_SITE,
    VS_SEGMENT_COLUMNS
};

/* Zero-initialise, then set start_ns, columns and streams; and unless the rows are *learning*,
 * framework and the zones. Then vs_page_rows_begin. */
struct vs_page_rows {
    const struct vs_replay *replay;
    uint64_t start_ns;           /* of the trace's clock: time 0 of the page */
    uint32_t step;               /* row of the present step + 1; 0: none. Set by the owner */
    bool unordered;              /* a row was born before the one above it */
    bool ended;                  /* the window is over: rows stay as they are, but for their kind */
    bool learning;               /* which devices have a framework is seen on the way */
    bool framework[VS_DEVICES_MAX]; /* the device has one, by account */
    struct vs_page_streams *streams; /* not owned */
    struct vs_map frees_by_name;    /* string id -> index in frees */
    uint64_t *frees;                /* string ids of functions that freed a block: "cudaFree" */
    size_t free_count, free_capacity;
    struct vs_modules modules;      /* of PyTorch, and what each thread runs */
    struct vs_map tensor_rows;      /* row + 1 -> index in tensors */
    struct vs_map tensors_by_name;  /* string id * 4 + what, + 1 -> index in tensors */
    struct vs_page_tensor *tensors; /* names that the program told */
    size_t tensor_count, tensor_capacity;
    const struct vs_scan_zone *zones; /* not owned */
    uint64_t *zone_places;       /* + 1; 0: no place yet */
    size_t zone_count;
    struct vs_axis axes[VS_DEVICES_MAX];
    struct vs_page_room *rooms, *unused_rooms;
    struct vs_arena memory;      /* of the rooms */
    struct vs_page_live *live;   /* by slot */
    struct vs_page_block *blocks;
    struct vs_page_segment *segments;
    struct vs_page_freed freed;
    size_t live_capacity, count, capacity, segment_count, segment_capacity;
    struct vs_column *columns, *segment_columns, *life_columns; /* not owned */
    uint64_t imported;           /* allocations of other processes, which have no rows */
    enum vs_err err;             /* VS_ERR_NOMEM: an axis has no place for an absurd size */
};

/* vs_page_rows_begin: rows for everything that is live in *replay* now, in order of birth, and from
 * now on for each block that it publishes. */
void vs_page_rows_begin(struct vs_page_rows *rows, struct vs_replay *replay);

/* vs_page_rows_mapped: a `vmm_map` or `vmm_unmap` event, after the replay has it. */
void vs_page_rows_mapped(struct vs_page_rows *rows, const struct vs_event *event);

/* vs_page_rows_module: a `torch_module` event. vs_page_rows_tensor: a `torch_tensor` event. */
void vs_page_rows_module(struct vs_page_rows *rows, const struct vs_event *event);
void vs_page_rows_tensor(struct vs_page_rows *rows, const struct vs_event *event);

/* vs_page_rows_encode: completes the columns. *site_numbers* has a number for each site of the replay,
 * *device_numbers* for each account. *found*: steps that were found, or NULL. *kinds*: the replay's
 * tensors have their kinds. */
void vs_page_rows_encode(struct vs_page_rows *rows, const uint32_t *site_numbers,
                         const uint8_t *device_numbers, const struct vs_report_steps *found,
                         bool kinds);

void vs_page_rows_free(struct vs_page_rows *rows);

/* --- page_rooms.c: places --- */

/* vs_page_room_find: the addresses that contain *addr*; NULL: none. */
struct vs_page_room *vs_page_room_find(const struct vs_page_rows *rows, uint64_t addr);

/* vs_page_room_add: a place for [addr, addr + size) of *device*: of the zone that contains it, or
 * of its own. What had these addresses before is removed. NULL if there is no place (rows->err). */
struct vs_page_room *vs_page_room_add(struct vs_page_rows *rows, unsigned device, uint64_t addr,
                                      uint64_t size);

/* vs_page_room_cut: the addresses [addr, addr + size) end; a room that is longer keeps its other
 * parts, its segment ends and goes on as others. */
void vs_page_room_cut(struct vs_page_rows *rows, uint64_t addr, uint64_t size);

/* vs_page_room_keep: [addr, addr + size) of *device* is at *place*, of which it has taken *taken*
 * bytes. */
struct vs_page_room *vs_page_room_keep(struct vs_page_rows *rows, unsigned device, uint64_t addr,
                                       uint64_t size, uint64_t place, uint64_t taken);

/* vs_page_segment_add: a row for *room*. */
void vs_page_segment_add(struct vs_page_rows *rows, struct vs_page_room *room,
                         const struct vs_page_segment *segment);

#endif
