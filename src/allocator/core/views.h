/* SPDX-License-Identifier: Apache-2.0
 *
 * Views: how the compact policy makes one block out of several pieces of free memory. Physical
 * pages have a home, their place in a range; a view is another range of addresses where the same
 * pages are mapped a second time, one after another. Its block owns exactly the bytes it covers: in
 * the home range these are LENT, so that the unused part of the last page stays free there. All
 * other pages are covered completely.
 *
 * When a view's block is freed, the bytes become free at home at once and the view stays mapped,
 * dormant: when the same bytes are free again it is reused without a driver call. A dormant view
 * costs only addresses. Work on one stream is ordered whatever addresses it uses, so two mappings
 * of a page need no wait.
 *
 * A view is a segment of one block: LIVE, PENDING or TAKEN with the requested size, or DORMANT with
 * the whole mapped size. It counts neither as a segment nor as reserved. The caller holds the full
 * lock. */
#ifndef VS_VIEWS_H
#define VS_VIEWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allocator/core/free_index.h"
#include "base/vs_err.h"

struct vs_allocator;
struct vs_block;
struct vs_segment;
struct vs_pool;
struct vs_stream_pools;

#define VS_EXTENTS_MAX 64u
/* Maximum of dormant views of a stream; at the limit the oldest half is dropped. */
#define VS_DORMANT_MAX 256u

/* Free memory in one place: a part of a range. */
struct vs_piece {
    struct vs_segment *range;
    uint64_t addr, bytes;
};

struct vs_view {
    uint64_t bytes;                /* whole pages, mapped at the segment's address */
    uint64_t safe_after;           /* dormant: its ticket, as of a free block */
    struct vs_view *older, *newer; /* list of dormant views, in the order in which they became
                                    * dormant */
    struct vs_segment *segment;
    struct vs_block *lent;         /* the memory that its block owns at home: linked by idle.left,
                                    * in order */
    uint32_t extent_count;
    struct vs_piece extents[VS_EXTENTS_MAX]; /* whole pages */
};

/* The dormant views of a stream. */
struct vs_views {
    struct vs_free_index index; /* by the size that they can hold */
    struct vs_view *oldest, *newest;
    uint64_t count;
};

/* vs_view_make_locked: a TAKEN block over *pieces*, free memory of *pool*'s ranges; each begins at
 * the start of a page and, except the last, ends at the end of one; together the bytes wanted;
 * *count* in 2..VS_EXTENTS_MAX. On the device's error or VS_ERR_NOMEM the pieces are free again. */
enum vs_err vs_view_make_locked(struct vs_allocator *allocator, struct vs_pool *pool,
                                const struct vs_piece *pieces, size_t count,
                                struct vs_block **out);

/* vs_view_wake_locked: finds a dormant view of *pool* whose memory is free, for *bytes*. Returns
 * its block, TAKEN; NULL when there is none. Tries a few only. */
struct vs_block *vs_view_wake_locked(struct vs_allocator *allocator, struct vs_pool *pool,
                                     uint64_t bytes);

/* vs_view_return_locked: frees the block of a view, whose idle fields are set; its view becomes
 * dormant. */
void vs_view_return_locked(struct vs_allocator *allocator, struct vs_block *block);

/* vs_views_drop_locked: unmaps all but *keep* of the dormant views of a stream, oldest first, after
 * a wait for the stream; under VS_REUSE_AFTER_SYNC those that are safe. Returns the first error of
 * the device; those views stay dormant. The pools are pinned. */
enum vs_err vs_views_drop_locked(struct vs_allocator *allocator, struct vs_stream_pools *pools,
                                 uint64_t keep);

/* Whether dropping them needs a synchronisation first, under VS_REUSE_AFTER_SYNC. */
bool vs_views_unsettled_locked(const struct vs_allocator *allocator, const struct vs_views *views);

/* At the end of the allocator: unmaps a view, used or not; the tables stay. */
void vs_view_destroy(struct vs_allocator *allocator, const struct vs_segment *segment);

/* vs_piece_carve_locked: splits a piece out of the free block around it, as a TAKEN block of
 * exactly that size. NULL when host memory is out, and nothing changed. */
struct vs_block *vs_piece_carve_locked(struct vs_allocator *allocator,
                                       const struct vs_piece *piece);

/* For vs_allocator_check: returns the problem, or NULL. Adds the LENT blocks of the segment to
 * *lent*, those that it owns to *lent_to_views*. */
const char *vs_view_check_segment(const struct vs_segment *segment, uint64_t *lent,
                                  uint64_t *lent_to_views);
const char *vs_views_check(const struct vs_views *views);

#endif
