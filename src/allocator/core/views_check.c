/* SPDX-License-Identifier: Apache-2.0
 *
 * Invariants of views, for vs_allocator_check: a view owns exactly the memory lent to it, at the
 * places where its pages are mapped from. */
#include "allocator/core/views.h"

#include "allocator/core/allocator_internal.h"

/* Checks that *lent*, in order, covers the pages of the extents. */
static const char *check_lent(const struct vs_view *view)
{
    const struct vs_block *block = view->segment->first, *lent = view->lent;
    uint64_t left = block->size;
    for (uint32_t i = 0; i < view->extent_count; i++) {
        const struct vs_piece *e = &view->extents[i];
        uint64_t size = e->bytes < left ? e->bytes : left;
        if (!lent || lent->state != VS_BLOCK_LENT || lent->addr != e->addr ||
            lent->size != size || !size || vs_block_of(lent->idle.right) != block ||
            lent->segment != e->range)
            return "a view does not own what is lent to it";
        left -= size;
        lent = vs_block_of(lent->idle.left);
    }
    if (left || lent)
        return "a view owns more or less than its block";
    return NULL;
}

static const char *check_view(const struct vs_segment *s, uint64_t *lent_to)
{
    const struct vs_view *view = s->view;
    const struct vs_block *block = s->first;
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < view->extent_count; i++)
        bytes += view->extents[i].bytes;
    if (view->segment != s || block->next || view->extent_count < 2 || bytes != view->bytes)
        return "a view is not what its segment says";
    if (block->state == VS_BLOCK_DORMANT) {
        if (view->lent || block->size != bytes ||
            !vs_free_index_holds(&s->pool->owner->views.index, block))
            return "a dormant view is not idle, or not in its index";
        return NULL;
    }
    if (block->size > bytes || bytes - block->size >= VS_PAGE_BYTES)
        return "a view has a page that its block does not use";
    for (const struct vs_block *lent = view->lent; lent; lent = vs_block_of(lent->idle.left))
        ++*lent_to;
    return check_lent(view);
}

const char *vs_view_check_segment(const struct vs_segment *segment, uint64_t *lent,
                                  uint64_t *lent_to_views)
{
    for (const struct vs_block *b = segment->first; b; b = b->next)
        *lent += b->state == VS_BLOCK_LENT;
    return segment->view ? check_view(segment, lent_to_views) : NULL;
}

const char *vs_views_check(const struct vs_views *views)
{
    uint64_t count = 0, indexed;
    const struct vs_view *last = NULL;
    for (const struct vs_view *view = views->oldest; view; last = view, view = view->newer) {
        if (view->older != last || view->segment->first->state != VS_BLOCK_DORMANT)
            return "dormant views are out of order";
        count++;
    }
    if (last != views->newest || !vs_free_index_check(&views->index, &indexed) ||
        count != views->count || indexed != count)
        return "dormant views are miscounted";
    return NULL;
}
