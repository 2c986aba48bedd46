/* SPDX-License-Identifier: Apache-2.0
 *
 * From a trace to the request log of one device, and the facts of the recorded run: requests_read.c
 * observes the reading and writes the log, requests_segments.c decides which driver memory holds a
 * framework's tensors and why cached memory was released. Internal to this folder. */
#ifndef VS_REQUESTS_READING_H
#define VS_REQUESTS_READING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allocator/core/allocator.h"
#include "analysis/state/driver_pages.h"
#include "analysis/state/reading.h"
#include "analysis/state/replay.h"
#include "analysis/whatif/whatif.h"
#include "base/vs_err.h"
#include "base/vs_map.h"
#include "trace/format/event.h"

/* --- The request log of a what-if: entries of a few bytes each, in the order of the trace. The
 * first 96 MiB are in memory, the rest in a temporary file without a name. Written once, then read
 * by any number of cursors, each with its own position and buffer. --- */

enum vs_request_kind {
    VS_REQUEST_END,       /* no more entries */
    VS_REQUEST_ALLOC,     /* *slot*: of the block; *bytes*: requested; *lane*; *site* */
    VS_REQUEST_FREE,      /* *slot* */
    VS_REQUEST_FAILED,    /* failed when recorded; *bytes*, *lane*, *site* */
    VS_REQUEST_EMPTY,     /* the program released the cache */
    VS_REQUEST_STEP,      /* a step ended, *bytes* in all so far; 0: the first one begins */
    VS_REQUEST_CONTEXT,   /* the context ended, and its cache with it */
    /* Levels of memory that is not replayed: *bytes* is the new one. */
    VS_REQUEST_OTHER,     /* the program's other device memory, in the driver's pages */
    VS_REQUEST_LIMITED,   /* the same and stream-ordered memory in use, without rounding: as the
                           * option limit counts it */
    VS_REQUEST_MANAGED,   /* managed memory: in the report's sums, its place is unknown */
    VS_REQUEST_OUTSIDE,   /* contexts, modules, the unexplained rest */
    VS_REQUEST_OTHERS,    /* other processes */
    VS_REQUEST_POOL_LIVE, /* stream-ordered memory in use */
    VS_REQUEST_POOL_HELD, /* reserved by its pools */
    VS_REQUEST_OTHER_FAILED, /* other memory of *bytes* could not be had when recorded */
};

struct vs_request_entry {
    enum vs_request_kind kind;
    uint64_t event; /* number of the event, from 1 */
    uint64_t bytes;
    uint32_t slot;  /* number of a live block; used again after its free */
    uint32_t lane;  /* the stream, in order of first use; the highest bit: VS_LANE_ORDERED */
    uint32_t site;  /* number of the call site, in order of first use */
};

#define VS_REQUEST_CHUNK (UINT64_C(1) << 20)
#define VS_REQUEST_CHUNKS_HELD 96

struct vs_request_store {
    uint8_t *held[VS_REQUEST_CHUNKS_HELD]; /* chunks in memory */
    size_t chunks;                         /* complete ones, the file's included */
    uint8_t *open;                         /* the chunk being written */
    size_t used;                           /* bytes of it */
    int file;                              /* -1: none */
    uint64_t last_event, entries;
    enum vs_err err;                       /* the first failure: no entry follows */
};

void vs_request_store_init(struct vs_request_store *store);
void vs_request_store_free(struct vs_request_store *store);
/* vs_request_add: *entry*'s event must not be below the previous one. */
void vs_request_add(struct vs_request_store *store, const struct vs_request_entry *entry);
/* vs_request_store_seal: no more entries. VS_ERR_IO: the file could not be written. */
enum vs_err vs_request_store_seal(struct vs_request_store *store) VS_MUST_CHECK;

struct vs_request_cursor {
    const struct vs_request_store *store;
    const uint8_t *at;
    uint8_t *buffer; /* of chunks from the file */
    size_t chunk;    /* the next one */
    uint64_t event;
};

/* vs_request_rewind: to the first entry; *cursor* zero-initialised before the first use. */
void vs_request_rewind(struct vs_request_cursor *cursor, const struct vs_request_store *store);
/* vs_request_next: the next entry; VS_REQUEST_END at the end. VS_ERR_IO. */
enum vs_err vs_request_next(struct vs_request_cursor *cursor, struct vs_request_entry *out)
    VS_MUST_CHECK;
void vs_request_cursor_free(struct vs_request_cursor *cursor);

/* --- The device memory of a recorded run that is not replayed: the program's other allocations,
 * its stream-ordered pools, memory of graphs, and what is outside the program. Fed with the same
 * events as the log; each level that changed becomes an entry. --- */

/* Zero-initialise; the user frees *pages*. */
struct vs_recorded_memory {
    uint64_t total;      /* bytes of the device; 0: unknown */
    uint64_t other;      /* not replayed, counted by the option limit; as requested */
    uint64_t other_pages, other_small; /* of it: pages of large allocations; small ones, which share pages */
    uint64_t managed;    /* not replayed; counted by the report only: its place is unknown */
    uint64_t graph_live, graph_driver;
    uint64_t pool_live, pool_row; /* pool_row: reserved, as last reported */
    uint64_t segments;   /* of vramscope's cache */
    struct vs_map pages; /* shared driver pages: number + 1 -> allocations that touch it */
    uint64_t page_bytes; /* driver pages of cudaMalloc memory outside segments */
    uint64_t mapped;     /* physical memory of cuMemCreate, and arrays */
    uint64_t direct;     /* bytes of the replayed requests without a segment */
    uint64_t others_row; /* memory of other processes, as last reported */
    bool others_known;
    uint64_t outside, others;
    uint64_t other_peak, outside_peak, contexts_peak, others_peak, pool_kept_peak;
    /* the levels of the last entries */
    uint64_t said[VS_REQUEST_POOL_HELD + 1]; /* by enum vs_request_kind */
};

/* What a driver allocation is to the log. */
enum vs_recorded_role {
    VS_ROLE_REQUEST, /* one of the requests */
    VS_ROLE_SEGMENT, /* holds requests of a framework */
    VS_ROLE_OTHER,
};

/* vs_recorded_change: a driver allocation, or a block of vramscope's cache (*addr* 0: it has no
 * pages of its own), that was allocated (*add*), or freed: *role* as when it was added, or last set
 * by vs_recorded_role. */
void vs_recorded_change(struct vs_recorded_memory *memory, enum vs_family family, uint64_t addr,
                        uint64_t bytes, enum vs_recorded_role role, bool add);
/* vs_recorded_role: it has another role than assumed. */
void vs_recorded_role(struct vs_recorded_memory *memory, enum vs_family family, uint64_t bytes,
                      enum vs_recorded_role from, enum vs_recorded_role to);

/* vs_recorded_reading: *free_bytes* of *total_bytes* of the device were free. */
void vs_recorded_reading(struct vs_recorded_memory *memory, uint64_t free_bytes,
                         uint64_t total_bytes);
void vs_recorded_usage(struct vs_recorded_memory *memory, const struct vs_event *event);

/* vs_recorded_held: as the report counts `reserved`, with *serving* bytes for the requests. */
uint64_t vs_recorded_held(const struct vs_recorded_memory *memory, uint64_t serving);

/* vs_recorded_used: bytes of the device in use, as far as known. */
uint64_t vs_recorded_used(const struct vs_recorded_memory *memory);

/* vs_recorded_say: adds an entry for each level that changed. */
void vs_recorded_say(struct vs_recorded_memory *memory, struct vs_request_store *store,
                     uint64_t event);

/* A stream of VS_REUSE_STREAM_ORDERED requests (vramscope_torch_alloc); those of cudaMalloc have no
 * stream. */
#define VS_LANE_ORDERED (UINT32_C(1) << 31)

struct vs_whatif_log {
    struct vs_request_store store;
    struct vs_whatif_recorded recorded;
    uint64_t *stacks; /* of the sites */
    size_t site_count, site_capacity;
    uint32_t slot_count; /* of blocks of the level, of all devices */
    /* Steps that the program does not mark, but its requests show: the events with which they begin,
     * where the one before ends. Marked ones are entries. */
    uint64_t *found;
    size_t found_count;
    bool last_ended;                     /* the last of them */
    uint64_t edges[VS_WHATIF_BUCKETS];   /* the first event of each bucket of time */
    size_t edge_count;                   /* 0: no curves */
};

/* What a block of the replay's device_live is to the log. */
struct vs_request_block {
    enum vs_recorded_role role;
    bool undecided; /* the role is a guess so far */
};

#define VS_OPEN_FAILURES 64
struct vs_open_failure {
    uint64_t event, bytes, steps_begun, live; /* live: bytes in use then */
};

/* What a trace says before its devices. */
struct vs_requests_process {
    uint64_t exe; /* string id */
    const struct vs_policy *policy; /* of vramscope's cache; NULL: none */
    uint64_t steps;       /* that have ended */
    uint64_t until_event; /* as in the query */
    bool segments_only;   /* an imported snapshot: all memory of the device is the framework's */
    char limit[128], conf[2][256]; /* options; conf: by enum vs_whatif_requests */
};

struct vs_requests_reading {
    struct vs_whatif_log *log;
    struct vs_replay *replay;
    const struct vs_requests_process *process;
    bool stopped;         /* there: no more events */
    const struct vs_event *event; /* the present one */
    uint64_t number, device;
    bool framework;

    struct vs_request_block *blocks; /* by slot of device_live */
    size_t block_capacity;
    bool *gone; /* by slot of framework_live: the tensor was lost with the memory that held it */
    size_t gone_capacity;
    struct vs_map sites, lanes; /* stack or stream + 1 -> number */

    struct vs_recorded_memory memory;
    struct vs_segments holders;  /* framework: driver memory that may hold tensors; its field
                                  * stream is the address of the block */
    size_t undecided;            /* blocks of that kind */
    uint64_t undecided_since;    /* event */
    uint64_t held_segments;      /* bytes of segments that hold tensors */
    uint64_t live;               /* requests, bytes as asked for */
    bool segments_lost;          /* by the present event, with the tensors in them */
    bool before_steps;           /* none had begun before the present event */

    /* A run of released segments: by a retry, or because the program asked for it. */
    uint32_t release_tid;        /* 0: none */
    uint64_t release_used, release_limited; /* in use before it */
    uint32_t refused_tid;        /* the framework's request to the driver failed; 0: none */
    uint64_t refused_bytes, refused_event;

    struct vs_open_failure open[VS_OPEN_FAILURES];
    size_t open_count;
};

/* --- requests_read.c --- */

/* vs_requests_begin: *r* reads the requests of *device*, of which there were none so far, into *log*, of which
 * everything but the store's start is zero. Its observer, and its subscriber of VS_REQUESTS_CHANGES, have *r* as
 * context. _conclude: after the last event; _end frees what *r* has, not the log. */
#define VS_REQUESTS_CHANGES \
    (VS_CHANGE_BORN | VS_CHANGE_ENDED | VS_CHANGE_LOST | VS_CHANGE_HELD | VS_CHANGE_RELEASED)
void vs_requests_begin(struct vs_requests_reading *r, struct vs_whatif_log *log, struct vs_replay *replay,
                       const struct vs_requests_process *process, uint64_t device, enum vs_whatif_requests requests);
vs_observe vs_requests_before, vs_requests_after;
void vs_requests_changed(void *r, const struct vs_replay *replay, const struct vs_published *change);
enum vs_err vs_requests_conclude(struct vs_requests_reading *r) VS_MUST_CHECK;
void vs_requests_end(struct vs_requests_reading *r);

void vs_reading_entry(struct vs_requests_reading *r, enum vs_request_kind kind);

/* --- requests_segments.c --- */
/* vs_reading_segment: it holds tensors, or will. */
void vs_reading_segment(struct vs_requests_reading *r, const struct vs_live *live);

/* The block whose address is *block* has its memory at [addr, addr + bytes). */
void vs_reading_holder(struct vs_requests_reading *r, uint64_t block, uint64_t addr,
                       uint64_t bytes);
void vs_reading_holder_gone(struct vs_requests_reading *r, uint64_t addr);
/* A tensor: the memory below it holds requests. */
void vs_reading_hold(struct vs_requests_reading *r, uint64_t addr, uint64_t bytes);
/* Memory of *tid* (0: of any thread) that is still undecided is other memory. */
void vs_reading_decide(struct vs_requests_reading *r, uint32_t tid);
/* Segments are being released; then: the next event of that thread. *need*: bytes that it took from
 * the driver, 0 otherwise. */
void vs_reading_release(struct vs_requests_reading *r);
void vs_reading_released(struct vs_requests_reading *r, bool asked_device, uint64_t need);

/* --- The device of a what-if: addresses without memory, and a count of the driver's pages, which
 * refuses what does not fit beside the memory that is not replayed. Serves the allocator through
 * vs_limited_device_ops, and single driver allocations. --- */

struct vs_driver_slab;

#define VS_LIMITED_FIRST (UINT64_C(1) << 32) /* address */
/* The user frees *slabs* and *room*. */
struct vs_limited_device {
    uint64_t capacity, limit; /* VS_WHATIF_NONE: none */
    uint64_t total;           /* as the allocator sees it */
    /* bytes now: for the requests, in pages and as the report counts them */
    uint64_t pages, reserved;
    /* not replayed: enum vs_request_kind has the meaning of each */
    uint64_t other, limited, managed, outside, others, pool_live, pool_kept;
    uint64_t refused_need, refused_short; /* of the last refusal */
    uint64_t segments;        /* allocations so far */
    uint64_t next_addr, next_handle;
    struct vs_driver_slab *slabs; /* pages of small allocations */
    uint16_t *room; /* of each slab: at least its longest free run in units; 0 without users */
    size_t slab_count, slab_capacity, room_capacity;
};

extern const struct vs_device_ops vs_limited_device_ops; /* ctx: struct vs_limited_device */

/* vs_limited_used: bytes of the device in use. vs_limited_counted: as the option limit counts them.
 * vs_limited_over: bytes by which they exceed the device or the limit. */
uint64_t vs_limited_used(const struct vs_limited_device *device);
uint64_t vs_limited_counted(const struct vs_limited_device *device);
uint64_t vs_limited_over(const struct vs_limited_device *device);

/* vs_limited_take, _give: one allocation by the driver: small ones share pages. The address is
 * unique while it is allocated. VS_ERR_DEVICE_OOM, VS_ERR_NOMEM. */
enum vs_err vs_limited_take(struct vs_limited_device *device, uint64_t bytes, uint64_t *addr)
    VS_MUST_CHECK;
void vs_limited_give(struct vs_limited_device *device, uint64_t addr, uint64_t bytes);

#endif
