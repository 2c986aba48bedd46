/* SPDX-License-Identifier: Apache-2.0
 *
 * A second allocator with the same rules, written to be obviously correct, however slow: one array
 * of blocks by address, every search a scan, every statistic recounted after every step. The
 * differential test drives it beside the real one. Single-threaded; uses malloc. It shares only the
 * public structures with src/allocator, and follows PyTorch's CUDACachingAllocator where that
 * defines the behaviour, docs/internals/allocator.md elsewhere. */
#ifndef REFERENCE_MODEL_H
#define REFERENCE_MODEL_H

#include "allocator/core/allocator.h"
#include "support/fake_device.h"

struct model;

/* Mechanisms used, so that tests can check their coverage; X(name) each. */
#define MODEL_MECHANISMS(X)                                                              \
    X(hit)              /* served from the cache */                                      \
    X(split)            /* a block split for a request */                                  \
    X(tail)             /* a large block's small remainder left in it */                  \
    X(tie)              /* of equally large blocks not the lowest, because of its age */            \
    X(merge)            /* free neighbours joined */                                     \
    X(division)         /* rounded by roundup_power2_divisions to more than 512 B steps */ \
    X(oversize_refused) /* a block not used for a smaller request because of max_split_size */  \
    X(rounding_refused) /* a block not used because of max_non_split_rounding */                 \
    X(segment)          /* a device allocation */                                        \
    X(pending)          /* a freed block waits for events */                             \
    X(event_done)       /* an event found complete */                               \
    X(event_not_ready)  /* polling stopped at an event that was not complete */                        \
    X(gc_round)         /* a garbage collection that searched for blocks */                \
    X(gc_second_round)  /* one with a second mean age */                             \
    X(gc_free)          /* a segment freed by it */                                     \
    X(fraction_refused) /* failed before the device call */                        \
    X(oversize_one)     /* one released oversize block was enough */                     \
    X(oversize_several) /* the largest ones released until they were enough */                 \
    X(oversize_short)   /* released, but not enough */                                 \
    X(retry)            /* device call repeated after the cache was released */                 \
    X(retry_served)     /* and that succeeded */                                            \
    X(oom)              /* out of memory returned to the client */                           \
    X(error)            /* another device error returned to the client */             \
    X(release)          /* a segment released with the cache */                        \
    X(release_failed)   /* a segment that the device did not free */                                \
    X(record_failed)    /* an event that the device did not record */                         \
    X(query_failed)     /* an event query that failed */                   \
    X(reuse_sync)       /* a synchronisation before reuse */                             \
    X(reuse_sync_failed)                                                                 \
    X(range)            /* address space reserved */                                     \
    X(range_released)                                                                    \
    X(map)              /* memory mapped into a range */                                 \
    X(map_joined)       /* mapped memory joined a free block before it */              \
    X(map_filled)       /* it closed a gap before a free block */                        \
    X(map_twice)        /* a request for which two parts were mapped */                  \
    X(map_failed)       /* no memory, or an error, for a part */                         \
    X(map_kept)         /* a part stayed mapped when the next one failed */              \
    X(grown_free)       /* growing reached a free block that was large enough already */   \
    X(larger_preferred) /* the best fit not used in favour of one that can grow less */        \
    X(unmap)            /* whole handles inside a free block released */               \
    X(unmap_edge)       /* parts of handles at its ends stayed */                          \
    X(unmap_failed)                                                                      \
    X(pool_request)     /* served from a private pool */                                 \
    X(pool_shared)      /* a pool with users got one more */                             \
    X(pool_segment)     /* memory allocated for a private pool */                            \
    X(pool_freeable)    /* a use count that reached 0 */                                 \
    X(pool_release)     /* memory of such a pool released */                           \
    X(pool_gone)        /* a pool without memory or users removed */                    \
    X(pool_nested)      /* a request that matches two active pools */                       \
    X(capture_deferred) /* a freed block waits for the end of the captures */            \
    X(capture_dropped)  /* its uses during the capture needed no event */                \
    X(capture_no_retry) /* out of memory without a release, because of a capture */

enum model_mechanism {
#define MODEL_ENUM(name) MODEL_##name,
    MODEL_MECHANISMS(MODEL_ENUM)
#undef MODEL_ENUM
    MODEL_MECHANISM_COUNT
};

extern const char *const model_mechanism_names[MODEL_MECHANISM_COUNT];

/* *event*: receives the events of an allocator's sink. */
struct model *model_new(const struct vs_allocator_config *config, struct fake_device *device,
                        void (*event)(void *ctx, const struct vs_allocator_event *event),
                        void *ctx);
void model_delete(struct model *model);
/* Where our allocator differs from PyTorch, follow PyTorch. Must be called before the first
 * request. */
void model_follow_pytorch(struct model *model);

enum vs_err model_malloc(struct model *model, uint64_t bytes, uint64_t stream,
                         struct vs_allocation *out);
enum vs_err model_free(struct model *model, uint64_t addr);
enum vs_err model_record_stream(struct model *model, uint64_t addr, uint64_t stream);
enum vs_err model_find(struct model *model, uint64_t addr, struct vs_allocation *out, bool *live);
enum vs_err model_empty_cache(struct model *model, uint64_t *released);
enum vs_err model_set_memory_fraction(struct model *model, double fraction);
uint64_t model_sync_begin(struct model *model);
void model_sync_end(struct model *model, uint64_t ticket);
void model_abandon(struct model *model);

/* As the functions of the same names. */
enum vs_err model_pool_begin(struct model *model, struct vs_pool_id id, vs_pool_filter *filter,
                             void *ctx);
enum vs_err model_pool_end(struct model *model, struct vs_pool_id id);
enum vs_err model_pool_release(struct model *model, struct vs_pool_id id);

const struct vs_allocator_stats *model_stats(const struct model *model);
void model_reset_peaks(struct model *model);
void model_reset_accumulated(struct model *model);

/* As vs_allocator_snapshot. */
void model_snapshot(const struct model *model,
                    void (*visit)(void *ctx, const struct vs_segment_info *segment,
                                  const struct vs_block_info *block),
                    void *ctx);

/* An array of MODEL_MECHANISM_COUNT counts. */
const uint64_t *model_counts(const struct model *model);

#endif
