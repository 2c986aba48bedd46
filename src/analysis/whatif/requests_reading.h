/* SPDX-License-Identifier: Apache-2.0
 *
 * From a trace to the request log of one device, and the facts of the recorded run: requests_read.c
 * observes the reading and writes the log, requests_segments.c decides which driver memory holds a
 * framework's tensors and why cached memory was released. Internal to this folder. */
#ifndef VS_REQUESTS_READING_H
#define VS_REQUESTS_READING_H

#include "analysis/state/replay.h"
#include "analysis/whatif/recorded_memory.h"
#include "analysis/whatif/request_store.h"
#include "analysis/whatif/whatif.h"

/* A stream of VS_REUSE_STREAM_ORDERED requests (vramscope_torch_alloc); those of cudaMalloc have no
 * stream. */
#define VS_LANE_ORDERED (UINT32_C(1) << 31)

struct vs_whatif_log {
    struct vs_request_store store;
    struct vs_whatif_recorded recorded;
    uint64_t *stacks; /* of the sites */
    size_t site_count, site_capacity;
    uint32_t slot_count; /* of blocks of the level, of all devices */
    uint64_t *streams; /* of the lanes */
    size_t lane_count, lane_capacity;
};

/* vs_requests_choose: the device and the level to read. *device*: see vs_whatif_query; receives the
 * one with most memory in use. VS_ERR_NOT_FOUND. */
enum vs_err vs_requests_choose(struct vs_reader *reader, uint64_t *device,
                               enum vs_whatif_requests *requests) VS_MUST_CHECK;

/* vs_requests_read: fills *log* of which everything but the store's start is zero. */
enum vs_err vs_requests_read(struct vs_reader *reader, const struct vs_whatif_query *query,
                             struct vs_whatif_log *log) VS_MUST_CHECK;

/* What a block of the replay's device_live is to the log. */
struct vs_request_block {
    enum vs_recorded_role role;
    bool undecided; /* the role is a guess so far */
};

#define VS_OPEN_FAILURES 64
struct vs_open_failure {
    uint64_t event, bytes, steps_begun, live; /* live: bytes in use then */
};

struct vs_requests_reading {
    struct vs_whatif_log *log;
    const struct vs_whatif_query *query;
    struct vs_replay *replay;
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
    bool stopped;                /* at the query's last event */

    /* A run of released segments: by a retry, or because the program asked for it. */
    uint32_t release_tid;        /* 0: none */
    uint64_t release_used, release_limited; /* in use before it */
    uint32_t refused_tid;        /* the framework's request to the driver failed; 0: none */
    uint64_t refused_bytes, refused_event;

    size_t found; /* steps of the query's that have begun */
    struct vs_open_failure open[VS_OPEN_FAILURES];
    size_t open_count;
    bool segments_only; /* an imported snapshot: all memory of the device is the framework's */
    char limit[128];
};

/* --- requests_read.c --- */
void vs_reading_entry(struct vs_requests_reading *r, enum vs_request_kind kind);

/* --- requests_segments.c --- */
/* *block* was allocated and may hold tensors: it has role VS_ROLE_SEGMENT, and is not counted as
 * other memory, until a tensor elsewhere shows that it is not the framework's. */
void vs_reading_undecided(struct vs_requests_reading *r, struct vs_request_block *block);
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

#endif
