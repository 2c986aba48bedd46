/* SPDX-License-Identifier: Apache-2.0
 *
 * The caching device allocator: keeps memory taken from a device and serves
 * requests from it by the placement rules of PyTorch's CUDACachingAllocator, so
 * that block offsets, segment sizes and statistics are the ones its users know.
 * It never touches a device itself: memory, events and synchronisation come
 * through struct vs_device_ops, and what happened is told to struct
 * vs_event_sink. It holds addresses only and never reads device memory, so it
 * serves a live device, a simulated one and a replayed trace alike.
 *
 * Threads: every function may be called from any thread unless it says
 * otherwise; not from signal handlers. Streams are dealt out to shards, each with
 * a lock of rank VS_RANK_ALLOCATOR. A request that the cache serves and the free
 * of a block that no other stream used take the lock of one shard: threads on
 * streams of different shards do not wait for each other. Everything else takes
 * all of them. Locks are held across device operations and sink calls, except
 * across the synchronisation before reuse (see VS_REUSE_AFTER_SYNC). Statistics
 * are exact, peaks included: as if all calls had been made one after another.
 *
 * Host memory: from mmap only, never malloc; none is asked for while requests
 * are served from the cache and the number of blocks does not grow. */
#ifndef VS_ALLOCATOR_H
#define VS_ALLOCATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allocator/core/placement_policy.h"
#include "base/vs_err.h"

struct vs_allocator;

/* What the allocator needs from a device. Every function gets the context given
 * to vs_allocator_create and returns VS_OK, VS_ERR_DEVICE_OOM, VS_ERR_DEVICE or
 * VS_ERR_STATE (not allowed at this moment, as during stream capture). They must
 * not call the allocator, except where said. Locks taken in them rank above
 * VS_RANK_ALLOCATOR. */
struct vs_device_ops {
    /* A new device allocation of *bytes*, a non-zero address of at least 256-byte
     * alignment that overlaps no other. Required. */
    enum vs_err (*segment_alloc)(void *ctx, size_t bytes, uint64_t *addr);
    /* Give one back, whole. On failure the allocator keeps it cached. Required. */
    enum vs_err (*segment_free)(void *ctx, uint64_t addr, size_t bytes);
    /* Wait for all work enqueued so far on the device or context. Required for
     * VS_REUSE_AFTER_SYNC; called without the allocator's lock, so it may call
     * vs_allocator_sync_begin and _end. */
    enum vs_err (*synchronize)(void *ctx);
    /* Events, for vs_allocator_record_stream; all four or none. A handle is
     * opaque and belongs to the allocator until event_release. */
    enum vs_err (*event_record)(void *ctx, uint64_t stream, uint64_t *event);
    enum vs_err (*event_query)(void *ctx, uint64_t event, bool *ready);
    enum vs_err (*event_synchronize)(void *ctx, uint64_t event);
    void (*event_release)(void *ctx, uint64_t event);
    /* Free and total bytes of the device. May be NULL: then out-of-memory events
     * carry 0 free bytes, and a memory fraction needs config.total_memory. */
    enum vs_err (*memory_info)(void *ctx, uint64_t *free_bytes, uint64_t *total_bytes);
    /* Virtual memory, for expandable segments and the compact policy; all six or
     * none. Sizes and addresses are multiples of VS_PAGE_BYTES. range_: address
     * space without memory. memory_: physical memory without an address; it may be
     * mapped at several addresses at once and is given back to the device when it
     * is released and mapped nowhere. map: *count* handles of *bytes_each* one after
     * another from *addr* on, readable and writable on return; none of them after a
     * failure. unmap: exactly what
     * one or several maps made; the caller has seen to it that no work uses it. */
    enum vs_err (*range_reserve)(void *ctx, uint64_t bytes, uint64_t *addr);
    enum vs_err (*range_release)(void *ctx, uint64_t addr, uint64_t bytes);
    enum vs_err (*memory_create)(void *ctx, uint64_t bytes, uint64_t *handle);
    enum vs_err (*memory_release)(void *ctx, uint64_t handle, uint64_t bytes);
    enum vs_err (*memory_map)(void *ctx, uint64_t addr, uint64_t bytes_each,
                              const uint64_t *handles, size_t count);
    enum vs_err (*memory_unmap)(void *ctx, uint64_t addr, uint64_t bytes);
    /* Wait on the host for all work of one stream. Needed beside virtual memory
     * under VS_REUSE_STREAM_ORDERED. */
    enum vs_err (*stream_synchronize)(void *ctx, uint64_t stream);
};

/* The granularity of virtual memory: that of every NVIDIA GPU so far. */
#define VS_PAGE_BYTES (UINT64_C(2) << 20)

enum vs_allocator_event_kind {
    VS_ALLOCATOR_ALLOC,          /* a block was handed out */
    VS_ALLOCATOR_FREE,           /* the client gave it back (PyTorch: free_requested) */
    VS_ALLOCATOR_FREE_COMPLETED, /* no stream uses it any more; it is cached */
    VS_ALLOCATOR_SEGMENT_ALLOC,
    VS_ALLOCATOR_SEGMENT_FREE,
    VS_ALLOCATOR_OOM,            /* a request failed for want of device memory */
    VS_ALLOCATOR_SEGMENT_MAP,    /* memory mapped into a range: reserved grew */
    VS_ALLOCATOR_SEGMENT_UNMAP,  /* taken out of it again */
};

enum vs_pool_kind { VS_POOL_SMALL, VS_POOL_LARGE };

struct vs_allocator_event {
    enum vs_allocator_event_kind kind;
    enum vs_pool_kind pool;
    uint64_t addr;      /* block or segment; OOM: bytes free on the device */
    uint64_t requested; /* bytes asked for; segments: those taken from the device or given back,
                           0 where memory of other segments is mapped a second time */
    uint64_t size;      /* bytes of the block or segment; OOM: the rounded request */
    uint64_t stream;    /* the stream the memory belongs to */
};

/* Who is told. Called with the lock of the stream's shard held, or all of them: in
 * the order things happen to a block, a segment or a stream, but for streams of
 * different shards by several threads at once. Must not call the allocator, must
 * not keep the pointer. */
struct vs_event_sink {
    void (*event)(void *ctx, const struct vs_allocator_event *event);
    uint32_t ignored; /* a bit for each kind (1 << kind) that need not be told */
};

/* When may a freed block be handed out again? */
enum vs_reuse {
    /* PyTorch: the client names the stream of every request. Memory goes round
     * within one stream at once, because work on a stream is ordered; other
     * streams that used a block are named by vs_allocator_record_stream and
     * waited for by events. */
    VS_REUSE_STREAM_ORDERED,
    /* cudaMalloc and cudaFree: nothing is known about streams. A freed block is
     * handed out only when a device-wide synchronisation that began after the
     * free has completed; if there was none, ops->synchronize is called first,
     * with the lock released. Stream arguments are ignored. */
    VS_REUSE_AFTER_SYNC,
};

/* Which of several equally large free blocks serves a request? */
enum vs_tie {
    VS_TIE_LOWEST_ADDRESS, /* PyTorch before May 2026 (pull request 183591) */
    VS_TIE_OLDEST_SEGMENT, /* PyTorch since then: the lowest of the segment made first; an
                              expandable one is as old as its range of addresses */
};

#define VS_ROUNDUP_SLOTS 16

/* Zero is PyTorch's default for every field. Sizes in bytes. */
struct vs_allocator_config {
    enum vs_policy_id policy; /* by which rules blocks are placed */
    enum vs_reuse reuse;
    enum vs_tie tie; /* VS_POLICY_PYTORCH */
    /* vs_allocator_capture_begin and _end tell of every capture, as PyTorch 2.15 does;
     * otherwise a private pool that is being allocated to counts as one, as before. */
    bool captures_reported;
    /* VS_POLICY_PYTORCH: segments that grow by mapping memory. Needs virtual memory,
     * memory_info or total_memory, and stream_synchronize for stream-ordered reuse. */
    bool expandable_segments;
    /* Address space of each expandable segment: bytes, or a share of the device's memory;
     * both 0, or more than that: 9/8 of the device's memory. A request above it is out
     * of memory. */
    uint64_t expandable_reserve_bytes;
    double expandable_reserve_fraction;
    /* Blocks of at least this size are never split nor served to smaller
     * requests. 0: unlimited. At least the large segment size otherwise. */
    uint64_t max_split_size;
    /* Of segments for large requests below 10 MiB, and of the handles of expandable
     * ones (then a multiple of 2 MiB). 0: 20 MiB. Above 10 MiB otherwise. */
    uint64_t large_segment_size;
    /* How much larger than the request a block beyond max_split_size may be.
     * 0: the large segment size. */
    uint64_t max_non_split_rounding;
    /* Per slot of request size (slot = floor(log2 bytes) - 20, clamped to 0..15):
     * round up to 1/divisions of a power of two. 0 or 1: multiples of 512 B.
     * Powers of two. */
    uint32_t roundup_power2_divisions[VS_ROUNDUP_SLOTS];
    /* Collect old cached segments once reserved bytes exceed this share of the
     * allowed memory; 0: never. Only with memory_fraction set. In [0, 1). */
    double garbage_collection_threshold;
    /* Share of total_memory that may be reserved; 0 or 1: no limit of our own. */
    double memory_fraction;
    /* Of the device; 0: ask ops->memory_info when it is needed. */
    uint64_t total_memory;
};

/* A private pool's name; {0, 0} is the pool of everybody. */
struct vs_pool_id {
    uint64_t first, second;
};

struct vs_allocation {
    uint64_t addr;
    uint64_t requested; /* bytes asked for; 0 when the block is not live */
    uint64_t size;      /* bytes of the block: >= requested, tail included */
    uint64_t segment;   /* address of the segment that holds it */
    uint64_t serial;    /* of this allocation, from 1, below 2^44, never given twice by one
                           allocator; 0 when the block is not live */
    /* said by vs_allocator_find alone */
    bool mapped;        /* virtual memory mapped on demand */
    unsigned marks;     /* enum vs_keep_mark; 0: nobody but the client knows of it */
};

/* Requests above this are refused as out of memory without asking the device. */
#define VS_ALLOCATOR_REQUEST_MAX (UINT64_C(1) << 48)

/* vs_allocator_create: an empty allocator. *config*, *ops* and *sink* are copied;
 * *sink* may be NULL. *Returns* VS_ERR_ARG for a field out of its range or a
 * missing operation, VS_ERR_NOMEM, or what memory_info returned. Makes no device
 * call other than memory_info. */
enum vs_err vs_allocator_create(const struct vs_allocator_config *config,
                                const struct vs_device_ops *ops, void *ops_ctx,
                                const struct vs_event_sink *sink, void *sink_ctx,
                                struct vs_allocator **out) VS_MUST_CHECK;

/* vs_allocator_destroy: give every segment back to the device, live blocks
 * included, release pending events, and free the allocator. No other thread may
 * be using it. NULL does nothing. */
void vs_allocator_destroy(struct vs_allocator *allocator);

/* vs_allocator_malloc: a block of at least *bytes* for work on *stream* (any
 * value but UINT64_MAX). 0 bytes give VS_OK with address 0 and size 0, which
 * vs_allocator_free accepts. *Returns* VS_ERR_DEVICE_OOM after everything cached
 * and free was given back and the device still refused; VS_ERR_STATE or
 * VS_ERR_DEVICE as the device said; VS_ERR_STATE also when the allocator was
 * abandoned meanwhile; VS_ERR_NOMEM for host memory. *Cost* on a cache hit: no
 * device call (but see VS_REUSE_AFTER_SYNC), no system call. Order of attempts:
 * PyTorch CUDACachingAllocator, DeviceCachingAllocator::malloc. */
enum vs_err vs_allocator_malloc(struct vs_allocator *allocator, size_t bytes, uint64_t stream,
                                struct vs_allocation *out) VS_MUST_CHECK;

/* vs_allocator_malloc_exportable: the same, in an allocation of the device
 * (ops->segment_alloc) that no other block shares, so that the driver's legacy IPC, which
 * exports whole allocations, shows an importer this block and nothing else. A freed one
 * is cached, and serves requests like it of at least 8/9 of its size: whole. */
enum vs_err vs_allocator_malloc_exportable(struct vs_allocator *allocator, size_t bytes,
                                           uint64_t stream, struct vs_allocation *out) VS_MUST_CHECK;

/* vs_allocator_free: give a block back. *addr*: exactly as vs_allocator_malloc
 * gave it; 0 does nothing. *Returns* VS_ERR_FOREIGN when the address is in none
 * of our segments (the caller forwards it); VS_ERR_STATE when it is in cached
 * memory (a double free); VS_ERR_ARG when it points inside a live block. Never
 * synchronises, never fails for want of memory. */
enum vs_err vs_allocator_free(struct vs_allocator *allocator, uint64_t addr) VS_MUST_CHECK;

/* vs_allocator_free_on: vs_allocator_record_stream, then vs_allocator_free, with their
 * errors; freed only when the use could be noted. *Cost*: that of the free when *stream*
 * is the block's own. */
enum vs_err vs_allocator_free_on(struct vs_allocator *allocator, uint64_t addr, uint64_t stream)
    VS_MUST_CHECK;

/* vs_allocator_record_stream: work on *stream* uses the block too; once freed it
 * waits for an event recorded there. The block's own stream, and any stream under
 * VS_REUSE_AFTER_SYNC, is ignored. *addr* as for free, with the same errors;
 * VS_ERR_UNSUPPORTED without event operations; VS_ERR_NOMEM. */
enum vs_err vs_allocator_record_stream(struct vs_allocator *allocator, uint64_t addr,
                                       uint64_t stream) VS_MUST_CHECK;

/* vs_allocator_keep: others than the client know of the live block that starts at *addr*
 * (another process has it open, a device was told its pages) and hear of no free: once it
 * is freed its memory serves nobody again. A segment in which nothing else is left goes
 * back to the device, at once where it can; memory mapped on demand stays away until the allocator's end.
 * Neither is cached nor given back meanwhile. *set* and *clear* change its marks, which
 * say why. *Returns* VS_ERR_FOREIGN and VS_ERR_STATE as free does, VS_ERR_NOMEM: then
 * the block must not be told to anybody. */
enum vs_keep_mark {
    VS_KEEP_EXPORTED = 1,     /* to another process */
    VS_KEEP_REGISTERED = 2,   /* for transfers of another device */
    VS_KEEP_SYNC_MEMOPS = 4,  /* that may begin at any time */
};
enum vs_err vs_allocator_keep(struct vs_allocator *allocator, uint64_t addr, unsigned set,
                              unsigned clear) VS_MUST_CHECK;

/* vs_allocator_find: the block that holds *addr*, which may point inside it.
 * *live*: handed out and not freed; false for cached memory and for blocks that
 * wait for events. VS_ERR_FOREIGN outside our segments and where an expandable one
 * has no memory. *Cost*: one hash look-up
 * for the start of a live block; otherwise a binary search over segments and, in
 * a large segment, a walk over its blocks. */
enum vs_err vs_allocator_find(struct vs_allocator *allocator, uint64_t addr,
                              struct vs_allocation *out, bool *live) VS_MUST_CHECK;

/* vs_allocator_empty_cache: wait for pending events, then give every wholly free
 * segment back, and what is free in whole handles of expandable ones. *released_bytes* may be NULL; written always. *Returns* the first
 * error of the device; the rest is still tried. */
enum vs_err vs_allocator_empty_cache(struct vs_allocator *allocator, uint64_t *released_bytes);

/* --- private pools: PyTorch's for graph captures, and torch.cuda.MemPool ---
 *
 * A private pool has memory of its own, small and large, for every stream. It exists
 * from its first retain or begin and is kept while it has users; without users its
 * free memory goes back whenever cached memory is released, and the pool with the last
 * of it. While a graph is under capture (config.captures_reported) events are neither
 * recorded nor asked about, blocks that other streams used stay pending, and
 * no cached memory is released for a request, nor by vs_allocator_empty_cache other
 * than that of pools without users. */

/* Where a pool's segments come from; like the operations of the same name. */
struct vs_pool_source {
    enum vs_err (*segment_alloc)(void *ctx, uint64_t bytes, uint64_t *addr);
    enum vs_err (*segment_free)(void *ctx, uint64_t addr, uint64_t bytes);
    void *ctx;
};

/* Do requests of *stream* go to the pool? Called with the allocator's locks held by
 * the thread that makes the request; must not call the allocator. Under
 * VS_REUSE_AFTER_SYNC the stream is always 0. */
typedef bool vs_pool_filter(void *ctx, uint64_t stream);

enum vs_pool_flag {
    VS_POOL_USE_ON_OOM = 1, /* what it has cached serves others when the device has no more */
    VS_POOL_NO_SPLIT = 2,   /* blocks are handed out whole */
};

/* vs_allocator_pool_retain: one more user; a new pool when there is none of this id.
 * *source*: copied; NULL for the device; a pool with one has no expandable segments.
 * *Returns* VS_ERR_ARG for id {0, 0} or a source for a pool that exists; VS_ERR_STATE
 * for one that has no users any more and waits for its memory to go; VS_ERR_NOMEM.
 * PyTorch: createOrIncrefPool. */
enum vs_err vs_allocator_pool_retain(struct vs_allocator *allocator, struct vs_pool_id id,
                                     const struct vs_pool_source *source) VS_MUST_CHECK;

/* vs_allocator_pool_begin: from now on requests that *filter* accepts (NULL: all) go to
 * the pool, which has one more user. Several pools may be allocated to at a time; the
 * one that began last is asked first, so that scopes nest. Errors as for retain; VS_ERR_STATE also when
 * this pool is being allocated to already. PyTorch: beginAllocateToPool. */
enum vs_err vs_allocator_pool_begin(struct vs_allocator *allocator, struct vs_pool_id id,
                                    vs_pool_filter *filter, void *ctx) VS_MUST_CHECK;

/* vs_allocator_pool_end: no more requests go there; its user stays. VS_ERR_STATE when
 * none did. PyTorch: endAllocateToPool. */
enum vs_err vs_allocator_pool_end(struct vs_allocator *allocator, struct vs_pool_id id)
    VS_MUST_CHECK;

/* vs_allocator_pool_release: one user less. VS_ERR_NOT_FOUND; VS_ERR_STATE when it has
 * none, or for the last one while requests still go there. PyTorch: releasePool. */
enum vs_err vs_allocator_pool_release(struct vs_allocator *allocator, struct vs_pool_id id)
    VS_MUST_CHECK;

enum vs_err vs_allocator_pool_users(struct vs_allocator *allocator, struct vs_pool_id id,
                                    uint64_t *users) VS_MUST_CHECK;

/* vs_allocator_pool_set: *flags* of enum vs_pool_flag replace those before. VS_ERR_ARG
 * for others; VS_ERR_NOT_FOUND. */
enum vs_err vs_allocator_pool_set(struct vs_allocator *allocator, struct vs_pool_id id,
                                  unsigned flags) VS_MUST_CHECK;

/* vs_allocator_pool_empty: vs_allocator_empty_cache for one pool: waits for the events
 * of its blocks and gives its free memory back; nothing while it has users.
 * VS_ERR_NOT_FOUND; VS_ERR_STATE during a capture. */
enum vs_err vs_allocator_pool_empty(struct vs_allocator *allocator, struct vs_pool_id id,
                                    uint64_t *released_bytes);

/* vs_allocator_capture_begin, _end: a graph is under capture, of whichever stream, from
 * before the device is told to begin until it has ended. Several may be at a time. end:
 * VS_ERR_STATE when none was begun. PyTorch: markCaptureBegin, markCaptureEnd. */
void vs_allocator_capture_begin(struct vs_allocator *allocator);
enum vs_err vs_allocator_capture_end(struct vs_allocator *allocator) VS_MUST_CHECK;

/* --- when memory runs short --- */

#define VS_FREE_CALLBACKS_MAX 8

/* Free what can be freed; did it free anything? May call the allocator. */
typedef bool vs_free_callback(void *ctx);

/* vs_allocator_add_free_callback: *callback* is called, with no lock held, for every
 * request the cache cannot serve, before the device is asked. It stays for the life of
 * the allocator. VS_ERR_LIMIT beyond VS_FREE_CALLBACKS_MAX. PyTorch:
 * FreeMemoryCallback. */
enum vs_err vs_allocator_add_free_callback(struct vs_allocator *allocator,
                                           vs_free_callback *callback, void *ctx) VS_MUST_CHECK;

/* The figures of PyTorch's out-of-memory message, in bytes. */
struct vs_oom_report {
    uint64_t count;     /* num_ooms with this one */
    uint64_t requested; /* as asked for */
    uint64_t rounded;   /* the block it would have been */
    uint64_t tried;     /* the segment it would have needed: "tried to allocate" */
    uint64_t stream;
    struct vs_pool_id pool_id;
    uint64_t device_total, device_free; /* 0 when unknown */
    uint64_t allowed;        /* by the memory fraction; UINT64_MAX: no limit */
    uint64_t allocated;      /* in use by the client */
    uint64_t cached_private; /* free in private pools; PyTorch adds it to allocated */
    uint64_t unallocated;    /* other reserved bytes that are not in use */
    bool expandable_segments;
};

/* vs_allocator_last_oom: the last request that failed for want of memory, at the moment
 * it failed. VS_ERR_NOT_FOUND when none did. */
enum vs_err vs_allocator_last_oom(struct vs_allocator *allocator, struct vs_oom_report *out)
    VS_MUST_CHECK;

/* vs_allocator_sync_begin, _end: the host program itself synchronises the whole
 * device: begin before it starts, end with the ticket after it succeeded. Every
 * block freed before begin is then reusable without a synchronisation of ours. A
 * failed synchronisation is never ended; tickets may be ended in any order. */
uint64_t vs_allocator_sync_begin(struct vs_allocator *allocator);
void vs_allocator_sync_end(struct vs_allocator *allocator, uint64_t ticket);

/* vs_allocator_set_memory_fraction: as in the configuration, from now on; what is
 * already reserved stays. VS_ERR_ARG outside [0, 1] or when the total is unknown. */
enum vs_err vs_allocator_set_memory_fraction(struct vs_allocator *allocator, double fraction)
    VS_MUST_CHECK;

struct vs_plan;

/* vs_allocator_use_plan: place requests by a plan (plan.h), which must outlive the
 * allocator; for VS_POLICY_COMPACT, best before the first request. What the plan does not
 * know, or what does not fit there at the moment, is placed as without one. *Returns*
 * VS_ERR_UNSUPPORTED for another policy, VS_ERR_STATE when there is a plan already,
 * VS_ERR_NOMEM. */
enum vs_err vs_allocator_use_plan(struct vs_allocator *allocator, const struct vs_plan *plan)
    VS_MUST_CHECK;

struct vs_plan_stats {
    uint64_t followed;       /* requests that were where the plan has them */
    uint64_t deviated;       /* that were not in the plan, or not there */
    uint64_t resynchronised; /* times the place in the plan was found again */
    uint64_t placed;         /* got their planned place */
    uint64_t occupied;       /* it was not free */
    uint64_t refused;        /* the device had no memory for it */
};
/* Zeroes without a plan. */
void vs_allocator_plan_stats(struct vs_allocator *allocator, struct vs_plan_stats *out);

enum { VS_STAT_ALL, VS_STAT_SMALL, VS_STAT_LARGE, VS_STAT_POOLS };

/* One figure. current and peak are levels; allocated and freed are the sums of
 * all increases and decreases since the last reset_accumulated. */
struct vs_stat {
    uint64_t current, peak, allocated, freed;
};

/* PyTorch's names, in its order; X(name) once for each. */
#define VS_ALLOCATOR_POOL_STATS(X)                                                      \
    X(allocation)           /* blocks in use by the client */                           \
    X(segment)              /* device allocations held */                               \
    X(active)               /* blocks in use or waiting for events */                   \
    X(inactive_split)       /* cached blocks that share a segment with another block */ \
    X(allocated_bytes)      /* of blocks in use, block sizes */                         \
    X(reserved_bytes)       /* held from the device */                                  \
    X(active_bytes)         /* of active blocks, block sizes */                         \
    X(inactive_split_bytes) /* of inactive_split blocks */                              \
    X(requested_bytes)      /* of active blocks, as asked for */

struct vs_allocator_stats {
#define VS_STAT_FIELD(name) struct vs_stat name[VS_STAT_POOLS];
    VS_ALLOCATOR_POOL_STATS(VS_STAT_FIELD)
#undef VS_STAT_FIELD
    struct vs_stat oversize_allocations, oversize_segments; /* of at least max_split_size */
    uint64_t num_alloc_retries;    /* device asked again after the cache was given back */
    uint64_t num_ooms;
    uint64_t num_sync_all_streams; /* waits for all pending events */
    uint64_t num_device_alloc, num_device_free;
    int64_t max_split_size; /* -1: unlimited */
    uint64_t num_reuse_syncs; /* ours: synchronisations before reuse */
};

void vs_allocator_stats(struct vs_allocator *allocator, struct vs_allocator_stats *out);
/* Peaks become the current values. */
void vs_allocator_reset_peaks(struct vs_allocator *allocator);
/* allocated, freed and the num_* counters become 0. */
void vs_allocator_reset_accumulated(struct vs_allocator *allocator);

/* vs_allocator_pool_reserved: reserved_bytes of one private pool, which the figures of
 * vs_allocator_stats contain. The resets apply to it. VS_ERR_NOT_FOUND. PyTorch:
 * reserved_bytes_by_private_pools. */
enum vs_err vs_allocator_pool_reserved(struct vs_allocator *allocator, struct vs_pool_id id,
                                       struct vs_stat out[VS_STAT_POOLS]) VS_MUST_CHECK;

/* vs_allocator_cached_bytes: reserved and in no active block: what the device's
 * free figure leaves out. */
uint64_t vs_allocator_cached_bytes(struct vs_allocator *allocator);

enum vs_block_state {
    VS_BLOCK_FREE,    /* cached */
    VS_BLOCK_LIVE,    /* handed out */
    VS_BLOCK_PENDING, /* freed, waiting for events of other streams */
    VS_BLOCK_TAKEN,   /* chosen for a request that is synchronising before reuse */
    VS_BLOCK_UNMAPPED, /* addresses without memory; never in a snapshot */
    VS_BLOCK_LENT,     /* part of a block elsewhere, in a segment that is a view */
    VS_BLOCK_DORMANT,  /* a view that no block uses; never in a snapshot */
};

struct vs_segment_info {
    uint64_t addr, size, stream;
    enum vs_pool_kind pool;
    bool expandable; /* mapped on demand */
    struct vs_pool_id pool_id;
    bool view;       /* memory that other segments have as VS_BLOCK_LENT; not reserved again */
};

struct vs_block_info {
    uint64_t addr, size;
    uint64_t requested; /* live and pending blocks; otherwise 0 */
    enum vs_block_state state;
};

/* vs_allocator_snapshot: call *visit* for every segment by rising address, first
 * with block NULL and then for each of its blocks by rising address; blocks tile
 * the segment. Of an expandable segment each mapped run counts as one, as in
 * PyTorch's snapshots. Under the lock: *visit* must not call the allocator. */
void vs_allocator_snapshot(struct vs_allocator *allocator,
                           void (*visit)(void *ctx, const struct vs_segment_info *segment,
                                         const struct vs_block_info *block),
                           void *ctx);

/* vs_allocator_check: walk every invariant: blocks tile segments, neighbours are
 * merged, each free block is indexed once under its size, the pointer table holds
 * exactly the live blocks, statistics equal what a recount gives. VS_ERR_CORRUPT,
 * with the broken one logged. For tests: O(blocks log blocks). */
enum vs_err vs_allocator_check(struct vs_allocator *allocator) VS_MUST_CHECK;

/* vs_allocator_abandon: forget every segment, block and event without touching
 * the device: its context was reset or destroyed. Current statistics drop to 0
 * (counted as freed), peaks stay; the sink is told nothing. The allocator remains
 * usable, empty; requests synchronising at the moment fail with VS_ERR_STATE. */
void vs_allocator_abandon(struct vs_allocator *allocator);

/* vs_allocator_fork_child: in the child of a fork, whatever the parent's threads
 * were doing: free the lock and start empty, as after abandon but with zero
 * statistics. The parent's tables are left mapped, for they may be half changed.
 * Nothing is needed in the parent. Call once per allocator, from the only thread. */
void vs_allocator_fork_child(struct vs_allocator *allocator);

#endif
