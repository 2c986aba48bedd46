/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the files that read the requests of a trace: requests_read.c passes each event on,
 * requests_live.c keeps live blocks and writes their entries, requests_segments.c decides which
 * driver memory holds a framework's tensors and why cached memory was released. Private to these. */
#ifndef VS_REQUESTS_READING_H
#define VS_REQUESTS_READING_H

#include "analysis/state/phases.h"
#include "analysis/state/segment_index.h"
#include "analysis/whatif/recorded_memory.h"
#include "analysis/whatif/requests_read.h"

#define VS_NO_SLOT UINT32_MAX

struct vs_request_block { /* live driver memory */
    uint64_t addr, bytes, context;
    uint32_t slot;   /* of a request; otherwise VS_NO_SLOT */
    uint32_t tid;    /* that allocated it */
    uint8_t family, role;
    bool in_cache;   /* inside a segment of vramscope's cache */
    bool undecided;  /* its role is a guess so far */
    bool used;       /* false: on the free list */
    uint32_t next_free;
};

#define VS_OPEN_FAILURES 64
struct vs_open_failure {
    uint64_t event, bytes, steps_begun, live; /* live: bytes in use then */
};

struct vs_requests_reading {
    struct vs_reader *reader;
    struct vs_whatif_log *log;
    const struct vs_whatif_query *query;
    const struct vs_event *event; /* the present one */
    uint64_t number, device;
    bool framework;

    struct vs_map by_addr; /* of driver memory: address -> index in blocks */
    struct vs_request_block *blocks;
    size_t block_count, block_capacity;
    uint32_t block_free; /* head of the free list + 1 */
    struct vs_map tensors; /* address -> slot + 1 */
    uint64_t *slot_bytes;  /* requested; of a free slot: the next free one + 1 */
    size_t slot_capacity;
    uint32_t slot_free;
    struct vs_map sites, lanes; /* stack or stream + 1 -> number */

    struct vs_recorded_memory memory;
    struct vs_segments cache;    /* of vramscope's cache */
    struct vs_segments holders;  /* framework: driver memory that may hold tensors; its field
                                  * stream is the address of the block */
    size_t undecided;            /* blocks of that kind */
    uint64_t undecided_since;    /* event */
    uint64_t held_segments;      /* bytes of segments that hold tensors */
    uint64_t live;               /* requests, bytes as asked for */

    /* A run of released segments: by a retry, or because the program asked for it. */
    uint32_t release_tid;        /* 0: none */
    uint64_t release_used, release_limited; /* in use before it */
    uint32_t refused_tid;        /* the framework's request to the driver failed; 0: none */
    uint64_t refused_bytes, refused_event;

    struct vs_phases phases;
    size_t found; /* steps of the query's that have begun */
    struct vs_open_failure open[VS_OPEN_FAILURES];
    size_t open_count;
    bool segments_only; /* an imported snapshot: all memory of the device is the framework's */
    char limit[128];
};

/* --- requests_live.c --- */
enum vs_err vs_reading_request(struct vs_requests_reading *r, uint64_t bytes, uint64_t stream,
                               bool ordered, uint64_t stack, uint32_t *slot) VS_MUST_CHECK;
enum vs_err vs_reading_freed(struct vs_requests_reading *r, uint32_t slot) VS_MUST_CHECK;
/* A request, or other memory, that failed. *stream*: of a framework's. */
enum vs_err vs_reading_failed(struct vs_requests_reading *r, enum vs_request_kind kind,
                              uint64_t event, uint64_t bytes, uint64_t stack, uint64_t stream)
    VS_MUST_CHECK;
enum vs_err vs_reading_entry(struct vs_requests_reading *r, enum vs_request_kind kind) VS_MUST_CHECK;
/* The step that ended recovered from the failures before it. */
void vs_reading_recovered(struct vs_requests_reading *r);
/* Index of a new block; VS_ERR_NOMEM. */
enum vs_err vs_reading_block(struct vs_requests_reading *r, uint64_t addr, uint32_t *index)
    VS_MUST_CHECK;
/* The driver memory at *addr*, or NULL. */
struct vs_request_block *vs_reading_find(struct vs_requests_reading *r, uint64_t addr);
void vs_reading_drop_block(struct vs_requests_reading *r, struct vs_request_block *block);

/* --- requests_segments.c --- */
/* *block* was allocated and may hold tensors: it has role VS_ROLE_SEGMENT, and is not counted as
 * other memory, until a tensor elsewhere shows that it is not the framework's. */
void vs_reading_undecided(struct vs_requests_reading *r, struct vs_request_block *block);
/* vs_reading_segment: it holds tensors, or will. */
void vs_reading_segment(struct vs_requests_reading *r, struct vs_request_block *block);

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
enum vs_err vs_reading_released(struct vs_requests_reading *r, bool asked_device, uint64_t need)
    VS_MUST_CHECK;

#endif
