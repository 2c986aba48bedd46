/* SPDX-License-Identifier: Apache-2.0
 *
 * The caching device allocator: caches memory allocated from a device and serves requests from it
 * by the placement rules of PyTorch's CUDACachingAllocator, so that block offsets, segment sizes
 * and statistics match PyTorch's. It never calls a device itself: memory, events and
 * synchronisation come through struct vs_device_ops, and events go to struct vs_event_sink. It
 * holds addresses only and never reads device memory, so it serves a live device, a simulated one
 * and a replayed trace alike.
 *
 * Threads: every function may be called from any thread unless it says otherwise; not from signal
 * handlers. Streams are distributed over shards, each with a lock of rank VS_RANK_ALLOCATOR. A
 * request served from the cache and the free of a block that no other stream used take the lock of
 * one shard: threads on streams of different shards do not wait for each other. Everything else
 * takes all of them. Locks are held across device operations and sink calls, except across the
 * synchronisation before reuse (see VS_REUSE_AFTER_SYNC). Statistics are exact, peaks included: as
 * if all calls had been made one after another.
 *
 * Host memory: from mmap only, never malloc; none is allocated while requests are served from the
 * cache and the number of blocks does not grow. */
#ifndef VS_ALLOCATOR_H
#define VS_ALLOCATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allocator/core/placement_policy.h"
#include "base/vs_err.h"

struct vs_allocator;

/* The device operations. Every function gets the context given to vs_allocator_create and returns
 * VS_OK, VS_ERR_DEVICE_OOM, VS_ERR_DEVICE or VS_ERR_STATE (not allowed now, as during stream
 * capture). They must not call the allocator, except where noted. Locks taken in them rank above
 * VS_RANK_ALLOCATOR. */
struct vs_device_ops {
    /* A new device allocation of *bytes*, a non-zero address of at least 256-byte
     * alignment that overlaps no other. Required. */
    enum vs_err (*segment_alloc)(void *ctx, size_t bytes, uint64_t *addr);
    /* Frees a whole one. On failure the allocator keeps it cached. Required. */
    enum vs_err (*segment_free)(void *ctx, uint64_t addr, size_t bytes);
    /* Waits for all work enqueued so far on the device or context. Required for
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
    /* Virtual memory, for expandable segments and the compact policy; all six or none. Sizes and
     * addresses are multiples of VS_PAGE_BYTES. range_: address space without memory. memory_:
     * physical memory without an address; it may be mapped at several addresses at once and returns
     * to the device when it is released and no mapping is left. map: *count* handles of
     * *bytes_each* one after another from *addr* on, readable and writable on return; on failure
     * none is mapped. unmap: a range that one or several calls of map made; the caller guarantees
     * that no work uses it. */
    enum vs_err (*range_reserve)(void *ctx, uint64_t bytes, uint64_t *addr);
    enum vs_err (*range_release)(void *ctx, uint64_t addr, uint64_t bytes);
    enum vs_err (*memory_create)(void *ctx, uint64_t bytes, uint64_t *handle);
    enum vs_err (*memory_release)(void *ctx, uint64_t handle, uint64_t bytes);
    enum vs_err (*memory_map)(void *ctx, uint64_t addr, uint64_t bytes_each,
                              const uint64_t *handles, size_t count);
    enum vs_err (*memory_unmap)(void *ctx, uint64_t addr, uint64_t bytes);
    /* Waits on the host for all work of one stream. Required with virtual memory under
     * VS_REUSE_STREAM_ORDERED. */
    enum vs_err (*stream_synchronize)(void *ctx, uint64_t stream);
};

/* The granularity of virtual memory: the same on every NVIDIA GPU so far. */
#define VS_PAGE_BYTES (UINT64_C(2) << 20)

enum vs_allocator_event_kind {
    VS_ALLOCATOR_ALLOC,          /* a block was allocated */
    VS_ALLOCATOR_FREE,           /* the client freed it (PyTorch: free_requested) */
    VS_ALLOCATOR_FREE_COMPLETED, /* no stream uses it any more; it is cached */
    VS_ALLOCATOR_SEGMENT_ALLOC,
    VS_ALLOCATOR_SEGMENT_FREE,
    VS_ALLOCATOR_OOM,            /* a request failed because the device is out of memory */
    VS_ALLOCATOR_SEGMENT_MAP,    /* memory mapped into a range: reserved grew */
    VS_ALLOCATOR_SEGMENT_UNMAP,  /* memory unmapped from it */
};

enum vs_pool_kind { VS_POOL_SMALL, VS_POOL_LARGE };

struct vs_allocator_event {
    enum vs_allocator_event_kind kind;
    enum vs_pool_kind pool;
    uint64_t addr;      /* block or segment; OOM: bytes free on the device */
    uint64_t requested; /* bytes asked for; segments: bytes allocated from the device or freed, 0
                         * where memory of other segments is mapped a second time */
    uint64_t size;      /* bytes of the block or segment; OOM: the rounded request */
    uint64_t stream;    /* the stream the memory belongs to */
    void *call;         /* argument of vs_allocator_malloc_for or _free_for; else NULL */
};

/* Receiver of events. Called with the lock of the stream's shard held, or all of them: in order for
 * each block, segment and stream, but concurrently for streams of different shards. Must not call
 * the allocator, must not store the pointer. */
struct vs_event_sink {
    void (*event)(void *ctx, const struct vs_allocator_event *event);
    uint32_t ignored; /* a bit for each kind (1 << kind) that is not reported */
};

/* When a freed block may be reused. */
enum vs_reuse {
    /* PyTorch: the client names the stream of every request. Memory is reused within one stream at
     * once, because work on a stream is ordered; other streams that used a block are named by
     * vs_allocator_record_stream and waited for by events. */
    VS_REUSE_STREAM_ORDERED,
    /* cudaMalloc and cudaFree: streams are unknown. A freed block is reused only after a
     * device-wide synchronisation that began after the free has completed; if there was none,
     * ops->synchronize is called first, with the lock released. Stream arguments are ignored. */
    VS_REUSE_AFTER_SYNC,
};

/* Which of several equally large free blocks is used. */
enum vs_tie {
    VS_TIE_LOWEST_ADDRESS, /* PyTorch before May 2026 (pull request 183591) */
    VS_TIE_OLDEST_SEGMENT, /* PyTorch since then: the lowest of the oldest segment; an expandable
                            * one is as old as its range of addresses */
};

#define VS_ROUNDUP_SLOTS 16

/* Zero is PyTorch's default for every field. Sizes in bytes. */
struct vs_allocator_config {
    enum vs_policy_id policy; /* by which rules blocks are placed */
    enum vs_reuse reuse;
    enum vs_tie tie; /* VS_POLICY_PYTORCH */
    /* VS_POLICY_PYTORCH: segments that grow by mapping memory. Needs virtual memory,
     * memory_info or total_memory, and stream_synchronize for stream-ordered reuse. */
    bool expandable_segments;
    /* Address space of each expandable segment: bytes, or a share of the device's memory; both 0,
     * or more than that: 9/8 of the device's memory. A larger request is out of memory. */
    uint64_t expandable_reserve_bytes;
    double expandable_reserve_fraction;
    /* Blocks of at least this size are never split nor used for smaller requests. 0: unlimited.
     * Otherwise at least the large segment size. */
    uint64_t max_split_size;
    /* Size of segments for large requests below 10 MiB, and of the handles of expandable ones (then
     * a multiple of 2 MiB). 0: 20 MiB. Otherwise above 10 MiB. */
    uint64_t large_segment_size;
    /* Maximum excess of a block beyond max_split_size over the request. 0: the large segment
     * size. */
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
    /* Of the device; 0: from ops->memory_info when needed. */
    uint64_t total_memory;
};

/* A private pool's id; {0, 0} is the default pool. */
struct vs_pool_id {
    uint64_t first, second;
};

struct vs_allocation {
    uint64_t addr;
    uint64_t requested; /* bytes asked for; 0 when the block is not live */
    uint64_t size;      /* bytes of the block: >= requested, tail included */
    uint64_t segment;   /* address of the segment that holds it */
    uint64_t serial;    /* number of this allocation, from 1, below 2^44, never reused by one
                         * allocator; 0 when the block is not live */
    /* set only by vs_allocator_find */
    bool mapped;        /* virtual memory mapped on demand */
    unsigned marks;     /* enum vs_keep_mark; 0: only the client uses it */
};

/* Larger requests fail as out of memory without a device call. */
#define VS_ALLOCATOR_REQUEST_MAX (UINT64_C(1) << 48)

/* vs_allocator_create: creates an empty allocator. *config*, *ops* and *sink* are copied; *sink*
 * may be NULL. *Returns* VS_ERR_ARG for a field out of its range or a missing operation,
 * VS_ERR_NOMEM, or what memory_info returned. Makes no device call other than memory_info. */
enum vs_err vs_allocator_create(const struct vs_allocator_config *config,
                                const struct vs_device_ops *ops, void *ops_ctx,
                                const struct vs_event_sink *sink, void *sink_ctx,
                                struct vs_allocator **out) VS_MUST_CHECK;

/* vs_allocator_destroy: frees every segment, live blocks included, releases pending events, and
 * frees the allocator. No other thread may be using it. NULL does nothing. */
void vs_allocator_destroy(struct vs_allocator *allocator);

/* vs_allocator_malloc_for, vs_allocator_free_for: the common form of the functions below. *call* is
 * passed to the events of this call. *exportable*: in a device allocation of its own
 * (ops->segment_alloc), because the driver's legacy IPC exports whole allocations: an importer then
 * sees only this block; a freed one is cached, and used whole for such requests of at least 8/9 of
 * its size. *stream* of a free: VS_NO_STREAM, or vs_allocator_record_stream with its errors first;
 * frees only when the use could be recorded; no more costly when *stream* is the block's own. */
#define VS_NO_STREAM UINT64_MAX
enum vs_err vs_allocator_malloc_for(struct vs_allocator *allocator, size_t bytes, uint64_t stream,
                                    bool exportable, void *call,
                                    struct vs_allocation *out) VS_MUST_CHECK;
enum vs_err vs_allocator_free_for(struct vs_allocator *allocator, uint64_t addr, uint64_t stream,
                                  void *call) VS_MUST_CHECK;

/* vs_allocator_malloc: a block of at least *bytes* for work on *stream* (any value but UINT64_MAX).
 * 0 bytes give VS_OK with address 0 and size 0, which vs_allocator_free accepts. *Returns*
 * VS_ERR_DEVICE_OOM when the device is out of memory even after all cached memory was released;
 * VS_ERR_STATE or VS_ERR_DEVICE from the device; VS_ERR_STATE also when the allocator was abandoned
 * meanwhile; VS_ERR_NOMEM for host memory. *Cost* on a cache hit: no device call (but see
 * VS_REUSE_AFTER_SYNC), no system call. Order of attempts: PyTorch CUDACachingAllocator,
 * DeviceCachingAllocator::malloc. */
static inline enum vs_err vs_allocator_malloc(struct vs_allocator *allocator, size_t bytes,
                                              uint64_t stream, struct vs_allocation *out)
{
    return vs_allocator_malloc_for(allocator, bytes, stream, false, NULL, out);
}

/* vs_allocator_free: frees a block. *addr*: exactly as returned by vs_allocator_malloc; 0 does
 * nothing. *Returns* VS_ERR_FOREIGN when the address is in none of our segments (the caller
 * forwards it); VS_ERR_STATE when it is in cached memory (a double free); VS_ERR_ARG when it points
 * inside a live block. Never synchronises, never fails for lack of memory. */
static inline enum vs_err vs_allocator_free(struct vs_allocator *allocator, uint64_t addr)
{
    return vs_allocator_free_for(allocator, addr, VS_NO_STREAM, NULL);
}

/* vs_allocator_record_stream: work on *stream* uses the block too; once freed it
 * waits for an event recorded there. The block's own stream, and any stream under
 * VS_REUSE_AFTER_SYNC, is ignored. *addr* as for free, with the same errors;
 * VS_ERR_UNSUPPORTED without event operations; VS_ERR_NOMEM. */
enum vs_err vs_allocator_record_stream(struct vs_allocator *allocator, uint64_t addr,
                                       uint64_t stream) VS_MUST_CHECK;

/* vs_allocator_keep: the live block that starts at *addr* is also used by others than the client
 * (another process has it open, or a device accesses its pages), who do not see a free: once freed,
 * its memory is never reused. A segment with only such blocks left is released to the device, at
 * once where possible; memory mapped on demand stays unavailable until the allocator's end. Until
 * then neither is cached nor released. *set* and *clear* change its marks, the reasons. *Returns*
 * VS_ERR_FOREIGN and VS_ERR_STATE as free does, VS_ERR_NOMEM: then the block must not be
 * exported. */
enum vs_keep_mark {
    VS_KEEP_EXPORTED = 1,     /* to another process */
    VS_KEEP_REGISTERED = 2,   /* for transfers of another device */
    VS_KEEP_SYNC_MEMOPS = 4,  /* that may begin at any time */
};
enum vs_err vs_allocator_keep(struct vs_allocator *allocator, uint64_t addr, unsigned set,
                              unsigned clear) VS_MUST_CHECK;

/* vs_allocator_find: the block that holds *addr*, which may point inside it. *live*: allocated and
 * not freed; false for cached memory and for blocks that wait for events. VS_ERR_FOREIGN outside
 * our segments and where an expandable one has no memory. *Cost*: one hash lookup for the start of
 * a live block; otherwise a binary search over segments and, in a large segment, a walk over its
 * blocks. */
enum vs_err vs_allocator_find(struct vs_allocator *allocator, uint64_t addr,
                              struct vs_allocation *out, bool *live) VS_MUST_CHECK;

/* vs_allocator_empty_cache: waits for pending events, then releases every wholly free segment, and
 * the free whole handles of expandable ones. *released_bytes* may be NULL; always written.
 * *Returns* the first error of the device; the rest is still tried. */
enum vs_err vs_allocator_empty_cache(struct vs_allocator *allocator, uint64_t *released_bytes);

/* --- private pools: PyTorch's for graph captures, and torch.cuda.MemPool ---
 *
 * A private pool has memory of its own, small and large, for every stream. It exists from its first
 * begin for as long as it has users; without users its free memory is released whenever
 * cached memory is, and the pool is removed with the last of it. While a pool is active, which counts
 * as a graph capture, events are neither recorded nor queried, blocks that other streams
 * used stay pending, and cached memory is released neither for a request nor by
 * vs_allocator_empty_cache, except that of pools without users. */

/* Whether requests of *stream* go to the pool. Called with the allocator's locks held by the thread
 * that makes the request; must not call the allocator. Under VS_REUSE_AFTER_SYNC the stream is
 * always 0. */
typedef bool vs_pool_filter(void *ctx, uint64_t stream);

/* vs_allocator_pool_begin: from now on requests that *filter* accepts (NULL: all) go to the pool,
 * which gets one more user. Several pools may be active at a time; the one that began last is tried
 * first, so that scopes nest. *Returns* VS_ERR_ARG for id {0, 0}; VS_ERR_STATE when this pool is
 * already active, or has no users and memory that is not released yet; VS_ERR_NOMEM. PyTorch:
 * beginAllocateToPool. */
enum vs_err vs_allocator_pool_begin(struct vs_allocator *allocator, struct vs_pool_id id,
                                    vs_pool_filter *filter, void *ctx) VS_MUST_CHECK;

/* vs_allocator_pool_end: ends that; the user stays. VS_ERR_STATE when the pool is not active.
 * PyTorch: endAllocateToPool. */
enum vs_err vs_allocator_pool_end(struct vs_allocator *allocator, struct vs_pool_id id)
    VS_MUST_CHECK;

/* vs_allocator_pool_release: removes a user. VS_ERR_NOT_FOUND; VS_ERR_STATE when it has none, or
 * for the last one while the pool is active. PyTorch: releasePool. */
enum vs_err vs_allocator_pool_release(struct vs_allocator *allocator, struct vs_pool_id id)
    VS_MUST_CHECK;

/* vs_allocator_sync_begin, _end: report a device-wide synchronisation by the host program: begin
 * before it starts, end with the ticket after it succeeded. Every block freed before begin is then
 * reusable without a synchronisation of ours. A failed synchronisation is never ended; tickets may
 * be ended in any order. */
uint64_t vs_allocator_sync_begin(struct vs_allocator *allocator);
void vs_allocator_sync_end(struct vs_allocator *allocator, uint64_t ticket);

enum vs_settled { VS_SETTLED, VS_UNSETTLED, VS_SETTLED_UNKNOWN };

/* vs_allocator_settled: VS_UNSETTLED if a cached block was freed since the last completed device-wide
 * synchronisation, under VS_REUSE_AFTER_SYNC. VS_SETTLED_UNKNOWN if another thread has the lock: never waits.
 * Cost: looks at each block. */
enum vs_settled vs_allocator_settled(struct vs_allocator *allocator);

/* vs_allocator_set_memory_fraction: as in the configuration, from now on; reserved memory stays.
 * VS_ERR_ARG outside [0, 1] or when the total is unknown. */
enum vs_err vs_allocator_set_memory_fraction(struct vs_allocator *allocator, double fraction)
    VS_MUST_CHECK;

enum { VS_STAT_ALL, VS_STAT_SMALL, VS_STAT_LARGE, VS_STAT_POOLS };

/* One statistic. current and peak are levels; allocated and freed are the sums of all increases and
 * decreases since the last reset_accumulated. */
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
    uint64_t num_alloc_retries;    /* device calls repeated after the cache was released */
    uint64_t num_ooms;
    uint64_t num_sync_all_streams; /* waits for all pending events */
    uint64_t num_device_alloc, num_device_free;
    int64_t max_split_size; /* -1: unlimited */
    uint64_t num_reuse_syncs; /* our own: synchronisations before reuse */
};

void vs_allocator_stats(struct vs_allocator *allocator, struct vs_allocator_stats *out);
/* Sets peaks to the current values. */
void vs_allocator_reset_peaks(struct vs_allocator *allocator);
/* Sets allocated, freed and the num_* counters to 0. */
void vs_allocator_reset_accumulated(struct vs_allocator *allocator);

/* vs_allocator_cached_bytes: reserved bytes in no active block, which the device's free figure does
 * not include. */
uint64_t vs_allocator_cached_bytes(struct vs_allocator *allocator);

enum vs_block_state {
    VS_BLOCK_FREE,    /* cached */
    VS_BLOCK_LIVE,    /* allocated */
    VS_BLOCK_PENDING, /* freed, waiting for events of other streams */
    VS_BLOCK_TAKEN,   /* chosen for a request that synchronises before reuse */
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
    uint64_t requested; /* for live and pending blocks; otherwise 0 */
    enum vs_block_state state;
};

/* vs_allocator_snapshot: calls *visit* for every segment by ascending address, first with block
 * NULL and then for each of its blocks by ascending address; blocks tile the segment. Each mapped
 * run of an expandable segment counts as one, as in PyTorch's snapshots. Under the lock: *visit*
 * must not call the allocator. */
void vs_allocator_snapshot(struct vs_allocator *allocator,
                           void (*visit)(void *ctx, const struct vs_segment_info *segment,
                                         const struct vs_block_info *block),
                           void *ctx);

/* vs_allocator_check: checks every invariant: blocks tile segments, neighbours are merged, each
 * free block is indexed once under its size, the pointer table has exactly the live blocks,
 * statistics equal a recount. VS_ERR_CORRUPT, with the violated one logged. For tests: O(blocks log
 * blocks). */
enum vs_err vs_allocator_check(struct vs_allocator *allocator) VS_MUST_CHECK;

/* vs_allocator_abandon: discards every segment, block and event without a device call, after the
 * context was reset or destroyed. Current statistics drop to 0 (counted as freed), peaks stay; the
 * sink receives nothing. The allocator remains usable, empty; requests that are synchronising fail
 * with VS_ERR_STATE. */
void vs_allocator_abandon(struct vs_allocator *allocator);

#endif
