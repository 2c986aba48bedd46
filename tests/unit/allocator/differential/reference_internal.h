/* SPDX-License-Identifier: Apache-2.0
 *
 * The state of the reference model, shared by its files. A block is an element of one array by
 * address; its neighbours in the same segment are the adjacent elements. Pointers and indices into
 * the array are valid until the next insertion or removal; addresses stay valid. */
#ifndef REFERENCE_INTERNAL_H
#define REFERENCE_INTERNAL_H

#include "reference_model.h"

#define MODEL_PENDING_MAX 65536
#define MODEL_POOLS_MAX 64
#define MODEL_MIB (UINT64_C(1) << 20)

struct block {
    uint64_t addr, size, requested;
    uint64_t segment, segment_size; /* the device allocation, or the whole range */
    uint64_t stream, pool;          /* pool: 0, or the number of a private one */
    uint64_t age;                   /* of the segment; 0 unless it decides */
    uint64_t unsafe_until;          /* synchronisation number */
    uint64_t born_free;             /* search number when it became free */
    uint32_t uses, capture_uses;    /* a bit for each other stream */
    int event_count;
    bool large, expandable;
    bool unmapped; /* address space only */
    bool busy;     /* in use by the client */
    bool waiting;  /* freed, for events or the end of captures */
};

struct pending {
    uint64_t stream, event, addr;
};

struct private_pool {
    uint64_t number; /* in blocks */
    struct vs_pool_id id;
    uint64_t users;
};

struct scope {
    uint64_t pool;
    vs_pool_filter *filter;
    void *ctx;
};

struct model {
    struct vs_allocator_config config;
    struct fake_device *device;
    void (*event)(void *ctx, const struct vs_allocator_event *event);
    void *event_ctx;
    struct block *blocks;
    int count, capacity;
    struct pending pending[MODEL_PENDING_MAX];
    int pending_count;
    struct deferred {
        uint64_t addr; /* of a block with events to be recorded */
        bool refused;  /* by the device; otherwise for a capture */
    } deferred[MODEL_PENDING_MAX];
    int deferred_count;
    struct private_pool pools[MODEL_POOLS_MAX];
    int pool_count;
    uint64_t pools_made, segments_made;
    bool as_pytorch;
    struct scope scopes[MODEL_POOLS_MAX]; /* active pools */
    int scope_count; /* each counts as a capture */
    uint64_t syncs_begun, syncs_done, searches;
    struct vs_allocator_stats stats;
    uint64_t counts[MODEL_MECHANISM_COUNT];
};

#define RAN(m, name) ((m)->counts[MODEL_##name]++)

/* A request in progress. */
struct request {
    uint64_t bytes, size, stream, pool;
    bool large, expandable;
};

/* --- reference_model.c --- */
/* An event about memory: block *b*'s kind and stream; *requested* and *size* as in the event. */
void model_emit(const struct model *m, enum vs_allocator_event_kind kind, const struct block *b,
                uint64_t addr, uint64_t requested, uint64_t size);
int model_index_of(const struct model *m, uint64_t addr);
void model_insert(struct model *m, struct block block);
void model_erase(struct model *m, int i);
/* Joins block *i* with the one after it. */
void model_join(struct model *m, int i);
void model_now_free(struct model *m, uint64_t addr);
bool model_is_free(const struct block *b);
/* Whether one block is the whole segment. */
bool model_alone(const struct block *b);
uint64_t model_max_split(const struct model *m);
uint64_t model_allowed(const struct model *m);
uint64_t model_round_up(uint64_t n, uint64_t to);
/* The order of a pool's free blocks: stream, size, and among equals the address, or the segment's
 * age before it. */
bool model_after(const struct block *x, const struct block *y);
/* Synchronises unless block *i* is safe already. */
enum vs_err model_make_safe(struct model *m, int i);
uint64_t model_large_segment(const struct model *m);
/* The cached block for a request; -1: none. */
int model_search(struct model *m, const struct request *q);

/* The age of a segment created now. */
uint64_t model_age(struct model *m);

/* --- reference_statistics.c --- */
void model_recount(struct model *m);

/* --- reference_events.c --- */
/* Polls pending events, or with *wait* waits for them. */
void model_look_at_events(struct model *m, bool wait);

/* --- reference_release.c --- */
enum vs_err model_release_all(struct model *m, uint64_t *released);
void model_collect_garbage(struct model *m);
bool model_release_oversize(struct model *m, const struct request *q);

/* --- reference_expandable.c --- */
enum vs_err model_grow(struct model *m, const struct request *q, int *out);
/* Waits as model_unmap requires for the shared pool and those without users. */
enum vs_err model_settle(struct model *m);
/* Drops ranges of a pool that hold no memory. */
void model_drop_unmapped(struct model *m, uint64_t pool);
/* Releases the whole handles inside block *i*; returns the bytes released. */
uint64_t model_unmap(struct model *m, int i, enum vs_err *err);

/* --- reference_pools.c --- */
uint64_t model_pool_for(struct model *m, uint64_t stream);
/* NULL: none, or the shared one. */
struct private_pool *model_pool_numbered(struct model *m, uint64_t number);
struct vs_pool_id model_pool_id(const struct model *m, uint64_t number);
/* Removes a pool that has neither users nor memory. */
void model_pool_forget(struct model *m, uint64_t number);

#endif
