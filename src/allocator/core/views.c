/* SPDX-License-Identifier: Apache-2.0
 *
 * Life of a view: made over pieces of free memory, used by one block at a time, dormant between
 * uses, dropped when there are too many or memory is short; see the header. The policy decides
 * which pieces, and when. */
#include "allocator/core/views.h"

#include "allocator/core/allocator_internal.h"

#define WAKE_TRIES 16 /* dormant views tried for one request */

/* --- pieces: free memory in its home range --- */

struct vs_block *vs_piece_carve_locked(struct vs_allocator *a, const struct vs_piece *piece)
{
    struct vs_block *block = vs_segment_block_at_locked(piece->range, piece->addr);
    uint64_t addr = piece->addr, bytes = piece->bytes;
    struct vs_block *before = NULL, *after = NULL;
    bool head = addr > block->addr;
    bool tail = addr + bytes < block->addr + block->size;
    const struct vs_pool *pool = block->segment->pool;
    if ((head && !(before = vs_block_new_in_locked(a, pool))) ||
        (tail && !(after = vs_block_new_in_locked(a, pool)))) {
        if (before)
            vs_block_recycle_locked(pool, before);
        return NULL;
    }
    vs_free_remove(&block->segment->pool->index, block);
    vs_block_carve(block, before, after, addr, bytes);
    vs_block_set(block, bytes, VS_BLOCK_TAKEN);
    return block;
}

/* Frees LENT blocks. */
static void give_home(struct vs_allocator *a, struct vs_block *lent, uint64_t safe_after)
{
    for (struct vs_block *next; lent; lent = next) {
        next = vs_block_of(lent->idle.left);
        vs_block_set_state(lent, VS_BLOCK_TAKEN);
        if (safe_after > lent->idle.safe_after)
            lent->idle.safe_after = safe_after;
        vs_block_cache_locked(a, lent);
    }
}

/* Lends *pieces*, all free: linked in order; *safe_after* receives their latest ticket. NULL when
 * host memory is out, and nothing changed. */
static struct vs_block *lend(struct vs_allocator *a, const struct vs_piece *pieces, size_t count,
                             uint64_t *safe_after)
{
    struct vs_block *first = NULL, *last = NULL;
    *safe_after = 0;
    for (size_t i = 0; i < count; i++) {
        struct vs_block *block = vs_piece_carve_locked(a, &pieces[i]);
        if (!block) {
            give_home(a, first, 0);
            return NULL;
        }
        vs_block_set_state(block, VS_BLOCK_LENT);
        block->idle.left = block->idle.right = 0;
        if (block->idle.safe_after > *safe_after)
            *safe_after = block->idle.safe_after;
        if (last)
            last->idle.left = vs_ref_of(block);
        else
            first = block;
        last = block;
    }
    return first;
}

static void dormant_remove(struct vs_views *views, struct vs_view *view)
{
    vs_free_remove(&views->index, view->segment->first);
    *(view->older ? &view->older->newer : &views->oldest) = view->newer;
    *(view->newer ? &view->newer->older : &views->newest) = view->older;
    views->count--;
}

static void set_size(const struct vs_view *view, uint64_t size, enum vs_block_state state)
{
    vs_block_set(view->segment->first, size, state);
    view->segment->size = size;
}

/* The block becomes TAKEN and owns the memory lent to it. */
static struct vs_block *occupy(struct vs_view *view, uint64_t bytes, struct vs_block *lent,
                               uint64_t safe_after)
{
    struct vs_block *block = view->segment->first;
    set_size(view, bytes, VS_BLOCK_TAKEN);
    view->lent = lent;
    for (; lent; lent = vs_block_of(lent->idle.left))
        lent->idle.right = vs_ref_of(block);
    block->idle.safe_after = safe_after;
    return block;
}

void vs_view_return_locked(struct vs_allocator *a, struct vs_block *block)
{
    struct vs_view *view = block->segment->view;
    uint64_t safe_after = block->idle.safe_after;
    give_home(a, view->lent, safe_after);
    view->lent = NULL;
    view->safe_after = safe_after;
    set_size(view, view->bytes, VS_BLOCK_DORMANT);
    struct vs_views *views = &block->segment->pool->owner->views;
    vs_free_insert(&views->index, view->segment->first);
    view->older = views->newest;
    view->newer = NULL;
    *(views->newest ? &views->newest->newer : &views->oldest) = view;
    views->newest = view;
    views->count++;
}

/* The pieces that hold a view's first *bytes* bytes; false when one of them is not free. */
static bool pieces_free(const struct vs_view *view, uint64_t bytes, struct vs_piece *pieces)
{
    for (uint32_t i = 0; i < view->extent_count; i++) {
        pieces[i] = view->extents[i];
        if (pieces[i].bytes > bytes)
            pieces[i].bytes = bytes;
        bytes -= pieces[i].bytes;
        const struct vs_block *block =
            vs_segment_block_at_locked(pieces[i].range, pieces[i].addr);
        if (block->state != VS_BLOCK_FREE ||
            pieces[i].addr + pieces[i].bytes > block->addr + block->size)
            return false;
    }
    return true;
}

struct vs_block *vs_view_wake_locked(struct vs_allocator *a, struct vs_pool *pool, uint64_t bytes)
{
    struct vs_views *views = &pool->owner->views;
    struct vs_block *block = vs_free_index_fit(&views->index, bytes);
    /* each of its pages is covered at least in part, or a page without an owner might be released
     * to the device while it is mapped here */
    for (int tries = 0; block && block->size < bytes + VS_PAGE_BYTES && tries < WAKE_TRIES;
         tries++) {
        struct vs_view *view = block->segment->view;
        struct vs_piece pieces[VS_EXTENTS_MAX];
        if (block->segment->pool == pool && pieces_free(view, bytes, pieces)) {
            uint64_t safe_after;
            struct vs_block *lent = lend(a, pieces, view->extent_count, &safe_after);
            if (!lent)
                return NULL;
            dormant_remove(views, view);
            return occupy(view, bytes, lent, safe_after);
        }
        block = vs_free_index_after(&views->index, block);
    }
    return NULL;
}

/* --- making and dropping --- */

/* Maps the pages of every extent, all or nothing. */
static enum vs_err map(struct vs_allocator *a, const struct vs_view *view, uint64_t addr)
{
    uint64_t at = addr;
    for (uint32_t i = 0; i < view->extent_count; i++) {
        const struct vs_piece *e = &view->extents[i];
        const uint64_t *handles = &e->range->handles[(e->addr - e->range->addr) / VS_PAGE_BYTES];
        enum vs_err err =
            a->ops.memory_map(a->ops_ctx, at, VS_PAGE_BYTES, handles, e->bytes / VS_PAGE_BYTES);
        if (err) {
            /* the addresses are unused so far; if this fails they are lost */
            enum vs_err ignored =
                at > addr ? a->ops.memory_unmap(a->ops_ctx, addr, at - addr)
                                : VS_OK;
            (void)ignored;
            return err;
        }
        at += e->bytes;
    }
    return VS_OK;
}

/* Reserves addresses for a view, maps its pages there, and makes its segment. */
static enum vs_err establish(struct vs_allocator *a, struct vs_pool *pool, struct vs_view *view)
{
    uint64_t addr, bytes = view->bytes;
    enum vs_err err = a->ops.range_reserve(a->ops_ctx, bytes, &addr);
    if (err)
        return err;
    err = map(a, view, addr);
    if (!err) {
        err = vs_segment_enter_locked(a, pool, addr, bytes, &view->segment);
        if (err) {
            enum vs_err ignored = a->ops.memory_unmap(a->ops_ctx, addr, bytes);
            (void)ignored;
        }
    }
    if (err) {
        enum vs_err ignored = a->ops.range_release(a->ops_ctx, addr, bytes);
        (void)ignored;
        return err == VS_ERR_ARG ? VS_ERR_DEVICE : err;
    }
    view->segment->view = view;
    vs_allocator_emit_locked(a, VS_ALLOCATOR_SEGMENT_MAP, pool->kind, addr, 0, bytes,
                             pool->owner->stream);
    return VS_OK;
}

enum vs_err vs_view_make_locked(struct vs_allocator *a, struct vs_pool *pool,
                                const struct vs_piece *pieces, size_t count,
                                struct vs_block **out)
{
    if (pool->owner->views.count >= VS_DORMANT_MAX && !a->captures) { /* otherwise no waiting is
                                                                       * allowed */
        /* views that cannot be dropped now are dropped later */
        enum vs_err ignored = vs_views_drop_locked(a, pool->owner, VS_DORMANT_MAX / 2);
        (void)ignored;
    }
    struct vs_view *view = vs_node_take_locked(a, &a->free_views, sizeof *view);
    if (!view)
        return VS_ERR_NOMEM;
    uint64_t bytes = 0, safe_after;
    for (size_t i = 0; i < count; i++)
        bytes += pieces[i].bytes;
    /* the pages of the pieces, in their home range */
    *view = (struct vs_view){.extent_count = (uint32_t)count};
    for (size_t i = 0; i < count; i++) {
        view->extents[i] = pieces[i];
        view->extents[i].bytes = (pieces[i].bytes + VS_PAGE_BYTES - 1) & ~(VS_PAGE_BYTES - 1);
        view->bytes += view->extents[i].bytes;
    }
    struct vs_block *lent = lend(a, pieces, count, &safe_after);
    enum vs_err err = lent ? establish(a, pool, view) : VS_ERR_NOMEM;
    if (err) {
        give_home(a, lent, 0);
        vs_node_give_locked(&a->free_views, view);
        return err;
    }
    *out = occupy(view, bytes, lent, safe_after);
    return VS_OK;
}

/* Unmaps the view and releases its addresses; if that fails, only the addresses are lost. */
static enum vs_err unmap(struct vs_allocator *a, const struct vs_view *view)
{
    uint64_t addr = view->segment->addr, bytes = view->bytes;
    enum vs_err err = a->ops.memory_unmap(a->ops_ctx, addr, bytes);
    enum vs_err ignored = err ? err : a->ops.range_release(a->ops_ctx, addr, bytes);
    (void)ignored;
    return err;
}

static enum vs_err drop(struct vs_allocator *a, struct vs_views *views, struct vs_view *view)
{
    enum vs_err err = unmap(a, view);
    if (err)
        return err;
    const struct vs_pool *pool = view->segment->pool;
    vs_allocator_emit_locked(a, VS_ALLOCATOR_SEGMENT_UNMAP, pool->kind, view->segment->addr, 0,
                             view->bytes, pool->owner->stream);
    dormant_remove(views, view);
    vs_segment_leave_locked(a, view->segment);
    vs_node_give_locked(&a->free_views, view);
    return VS_OK;
}

enum vs_err vs_views_drop_locked(struct vs_allocator *a, struct vs_stream_pools *pools,
                                 uint64_t keep)
{
    struct vs_views *views = &pools->views;
    enum vs_err first_error = VS_OK;
    if (views->count <= keep)
        return VS_OK;
    bool after_sync = a->config.reuse == VS_REUSE_AFTER_SYNC;
    if (!after_sync)
        first_error = a->ops.stream_synchronize(a->ops_ctx, pools->stream);
    if (first_error)
        return first_error;
    for (struct vs_view *view = views->oldest, *newer; view && views->count > keep; view = newer) {
        newer = view->newer;
        /* its bytes at home get the same ticket, so that their pages are not released too early */
        if (after_sync && view->safe_after > a->sync_completed)
            continue;
        enum vs_err err = drop(a, views, view);
        if (err && !first_error)
            first_error = err;
    }
    return first_error;
}

bool vs_views_unsettled_locked(const struct vs_allocator *a, const struct vs_views *views)
{
    for (const struct vs_view *view = views->oldest; view; view = view->newer) {
        if (view->safe_after > a->sync_completed)
            return true;
    }
    return false;
}

void vs_view_destroy(struct vs_allocator *a, const struct vs_segment *segment)
{
    enum vs_err ignored = a->ops.synchronize
        ? a->ops.synchronize(a->ops_ctx)
        : a->ops.stream_synchronize(a->ops_ctx, segment->pool->owner->stream);
    ignored = unmap(a, segment->view);
    (void)ignored;
}
