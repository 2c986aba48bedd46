/* SPDX-License-Identifier: Apache-2.0
 *
 * The decisions of VS_POLICY_COMPACT; see the header. A request that no free block
 * can hold is planned first and carried out afterwards, so that a plan which fails
 * has changed nothing:
 *   - the part that does not fill pages goes where the smallest piece of a page is
 *     that can hold it, at the end of the block or at its beginning;
 *   - whole free pages follow, the largest holes first, so that there are few pieces;
 *     the last hole is the smallest that suffices;
 *   - pages still missing are new ones, at home where they best continue free memory.
 * When growing the free memory at the edge of what is mapped needs fewer new pages
 * than that, it is done instead. */
#include "allocator/compact/compact.h"

#include "allocator/core/allocator_internal.h"

#define EDGE_TRIES 2048
#define HOLE_TRIES 8   /* for the last hole */
#define BORROW_MIN (2 * VS_PAGE_BYTES)
#define ROOM_TRIES 16  /* places without memory looked at */
#define RANGE_BYTES_UNKNOWN (UINT64_C(1) << 40) /* addresses for a device of unknown size */

struct compact_plan {
    struct vs_piece pieces[VS_EXTENTS_MAX]; /* whole pages */
    size_t count;
    struct vs_piece edge;                   /* the part of a page; 0 bytes: none */
    bool edge_first;                        /* it begins the block: the end of its page */
    uint64_t missing;                       /* pages that do not exist yet */
    uint64_t spare;                         /* bytes of the last whole page to leave alone */
};

static uint64_t round_up(uint64_t bytes)
{
    return (bytes + VS_PAGE_BYTES - 1) & ~(VS_PAGE_BYTES - 1);
}

static uint64_t round_down(uint64_t bytes)
{
    return bytes & ~(VS_PAGE_BYTES - 1);
}

struct vs_block *vs_compact_search_locked(struct vs_allocator *a, const struct vs_request *request)
{
    struct vs_pool *pool = request->pool;
    struct vs_block *block = vs_free_index_fit(&pool->index, request->rounded);
    if (block) {
        vs_free_remove(&pool->index, block);
        vs_block_set_state(block, VS_BLOCK_TAKEN);
        return block;
    }
    return vs_view_wake_locked(a, pool, request->rounded);
}

/* --- planning --- */

/* The whole pages inside a free block. */
static struct vs_piece whole_pages(const struct vs_block *block)
{
    struct vs_piece piece = {block->segment, 0, 0};
    if (!block->segment->handle_bytes)
        return piece; /* not a range: its memory cannot be mapped elsewhere */
    uint64_t end = round_down(block->addr + block->size);
    piece.addr = round_up(block->addr);
    piece.bytes = piece.addr < end ? end - piece.addr : 0;
    return piece;
}

/* Bytes at the start of a page that begins or lies in a free block and does not end in it. */
static uint64_t page_head(const struct vs_block *block)
{
    uint64_t end = block->addr + block->size;
    return round_down(end) >= block->addr ? end - round_down(end) : 0;
}

/* Bytes of a free block up to the end of the page it begins in the middle of. */
static uint64_t page_tail(const struct vs_block *block)
{
    uint64_t bytes = round_up(block->addr) - block->addr;
    return block->size >= bytes ? bytes : 0;
}

/* The smallest piece of a page that can hold *bytes* and touches an end of its page. */
static void find_edge(const struct vs_pool *pool, uint64_t bytes, struct compact_plan *plan)
{
    const struct vs_block *block = vs_free_index_fit(&pool->index, bytes);
    uint64_t best = UINT64_MAX;
    for (int tries = 0; block && best > bytes && tries < EDGE_TRIES; tries++) {
        if (block->segment->handle_bytes) {
            uint64_t head = page_head(block), tail = page_tail(block);
            uint64_t end = block->addr + block->size;
            if (head >= bytes && head < best) {
                best = head;
                plan->edge = (struct vs_piece){block->segment, end - head, bytes};
                plan->edge_first = false;
            }
            if (tail >= bytes && tail < best) {
                best = tail;
                plan->edge = (struct vs_piece){block->segment, block->addr + tail - bytes, bytes};
                plan->edge_first = true;
            }
        }
        block = vs_free_index_after(&pool->index, block);
    }
}

static bool planned(const struct compact_plan *plan, uint64_t addr)
{
    for (size_t i = 0; i < plan->count; i++) {
        if (addr - plan->pieces[i].addr < plan->pieces[i].bytes)
            return true;
    }
    return false;
}

/* The smallest hole with at least *bytes* in whole pages, of a few looked at. */
static struct vs_piece last_hole(const struct vs_pool *pool, uint64_t bytes,
                                 const struct compact_plan *plan)
{
    struct vs_piece best = {NULL, 0, 0};
    const struct vs_block *block = vs_free_index_fit(&pool->index, bytes);
    for (int tries = 0; block && tries < HOLE_TRIES; tries++) {
        struct vs_piece hole = whole_pages(block);
        if (hole.bytes >= bytes && (!best.range || hole.bytes < best.bytes) &&
            !planned(plan, hole.addr))
            best = hole;
        block = vs_free_index_after(&pool->index, block);
    }
    return best;
}

/* Whole free pages, *bytes* of them or what there is. */
static void gather(const struct vs_pool *pool, uint64_t bytes, struct compact_plan *plan)
{
    /* room for the edge and for new memory */
    const size_t limit = VS_EXTENTS_MAX - 2;
    const struct vs_block *block =
        vs_free_index_below(&pool->index, VS_ALLOCATOR_REQUEST_MAX + 1);
    while (bytes && block && block->size >= VS_PAGE_BYTES && plan->count < limit) {
        struct vs_piece hole = whole_pages(block);
        if (hole.bytes >= bytes) {
            struct vs_piece better = last_hole(pool, bytes, plan);
            if (better.range)
                hole = better;
            hole.bytes = bytes;
        }
        if (hole.bytes) {
            plan->pieces[plan->count++] = hole;
            bytes -= hole.bytes;
        }
        block = vs_free_index_before(&pool->index, block);
    }
    plan->missing = bytes / VS_PAGE_BYTES;
}

/* Whole free pages of other streams for what is missing. Small requests are left
 * alone: each would be a view. Only what private pools do not have is shared, and
 * nothing while a graph may be under capture, when nothing can be waited for. */
static void borrow(const struct vs_allocator *a, const struct vs_request *request,
                   struct compact_plan *plan)
{
    const struct vs_stream_pools *mine = request->pool->owner;
    if (request->rounded < BORROW_MIN || mine->home || a->captures || !a->ops.event_record)
        return;
    for (const struct vs_stream_pools *s = a->streams; s && plan->missing; s = s->next) {
        if (s != mine)
            gather(&s->pool[VS_POOL_LARGE], plan->missing * VS_PAGE_BYTES, plan);
    }
}

static void make_plan(const struct vs_pool *pool, uint64_t bytes, struct compact_plan *plan)
{
    uint64_t part = bytes % VS_PAGE_BYTES;
    plan->count = 0;
    plan->edge = (struct vs_piece){NULL, 0, 0};
    plan->spare = 0;
    bool apart = !vs_views_full(pool->owner);
    if (part && bytes > part && apart)
        find_edge(pool, part, plan);
    if (part && !plan->edge.bytes)
        plan->spare = VS_PAGE_BYTES - part;
    uint64_t rest = bytes - plan->edge.bytes + plan->spare;
    if (apart)
        gather(pool, rest, plan);
    else
        plan->missing = rest / VS_PAGE_BYTES;
}

/* --- new memory --- */

static enum vs_err new_range(struct vs_allocator *a, struct vs_pool *pool, uint64_t bytes,
                             struct vs_block **out)
{
    uint64_t total = a->config.total_memory, free_bytes;
    if (!total && a->ops.memory_info) {
        enum vs_err err = a->ops.memory_info(a->ops_ctx, &free_bytes, &total);
        if (err)
            return err;
    }
    uint64_t size = total ? round_up(total + total / 8) : RANGE_BYTES_UNKNOWN;
    struct vs_segment *range;
    enum vs_err err = vs_range_new_locked(a, pool, VS_PAGE_BYTES, size > bytes ? size : bytes,
                                          &range);
    if (err)
        return err;
    *out = range->first;
    return VS_OK;
}

/* Where *missing* bytes of new pages go: an unmapped block of at least that; or one
 * whose free neighbour needs fewer new pages to hold the whole request: then *edge*
 * is how many bytes, otherwise 0. Lower addresses first. */
static enum vs_err find_room(struct vs_allocator *a, const struct vs_request *request,
                             uint64_t missing, struct vs_block **out, uint64_t *edge)
{
    vs_block_ref unmapped = request->pool->unmapped;
    struct vs_block *block = vs_unmapped_first_from(unmapped, 0);
    *out = NULL;
    for (int tries = 0; block && tries < ROOM_TRIES; tries++) {
        const struct vs_block *before = block->prev;
        uint64_t have = before && before->state == VS_BLOCK_FREE ? before->size : 0;
        *edge = round_up(request->rounded - have);
        if (*edge < missing && *edge <= block->size) {
            *out = block;
            return VS_OK;
        }
        if (!*out && block->size >= missing)
            *out = block;
        block = vs_unmapped_first_from(unmapped, block->addr + 1);
    }
    *edge = 0;
    return *out ? VS_OK : new_range(a, request->pool, missing, out);
}

static enum vs_err map_new(struct vs_allocator *a, struct vs_block *block, uint64_t bytes)
{
    if (a->limited && a->reserved_bytes + bytes > a->allowed_bytes)
        return VS_ERR_DEVICE_OOM;
    return vs_range_map_locked(a, block, bytes);
}

/* --- carrying out --- */

/* In address order, edge and spare in place, neighbours joined. Returns how many. */
static size_t arrange(struct compact_plan *plan, struct vs_piece pieces[VS_EXTENTS_MAX])
{
    size_t count = 0;
    if (plan->edge.bytes && plan->edge_first)
        pieces[count++] = plan->edge;
    for (size_t i = 0; i < plan->count; i++) {
        size_t k = i;
        struct vs_piece piece = plan->pieces[i];
        for (; k && plan->pieces[k - 1].addr > piece.addr; k--)
            plan->pieces[k] = plan->pieces[k - 1];
        plan->pieces[k] = piece;
    }
    if (plan->count)
        plan->pieces[plan->count - 1].bytes -= plan->spare;
    for (size_t i = 0; i <= plan->count; i++) {
        struct vs_piece next = plan->edge;
        if (i < plan->count)
            next = plan->pieces[i];
        else if (!next.bytes || plan->edge_first)
            break;
        struct vs_piece *last = count ? &pieces[count - 1] : NULL;
        if (last && last->range == next.range && last->addr + last->bytes == next.addr)
            last->bytes += next.bytes;
        else
            pieces[count++] = next;
    }
    return count;
}

static enum vs_err carry_out(struct vs_allocator *a, struct vs_pool *pool, struct compact_plan *plan,
                             struct vs_block **out)
{
    struct vs_piece pieces[VS_EXTENTS_MAX];
    size_t count = arrange(plan, pieces);
    if (count > 1 || pieces[0].range->pool != pool)
        return vs_view_make_locked(a, pool, pieces, count, out);
    *out = vs_piece_carve_locked(a, &pieces[0]);
    return *out ? VS_OK : VS_ERR_NOMEM;
}

/* One plan. New pages stay cached when what follows them fails. */
static enum vs_err try_plan(struct vs_allocator *a, const struct vs_request *request,
                            bool may_borrow, struct vs_block **out)
{
    struct compact_plan plan;
    make_plan(request->pool, request->rounded, &plan);
    if (may_borrow)
        borrow(a, request, &plan);
    if (!plan.missing)
        return carry_out(a, request->pool, &plan, out);
    struct vs_block *room;
    uint64_t edge, bytes = plan.missing * VS_PAGE_BYTES;
    enum vs_err err = find_room(a, request, bytes, &room, &edge);
    if (err)
        return err;
    uint64_t addr = room->addr;
    struct vs_segment *range = room->segment;
    err = map_new(a, room, edge ? edge : bytes);
    if (err)
        return err;
    if (edge) {
        *out = vs_compact_search_locked(a, request);
        return VS_OK;
    }
    plan.pieces[plan.count++] = (struct vs_piece){range, addr, bytes};
    return carry_out(a, request->pool, &plan, out);
}

/* One attempt: without the memory of other streams when they cannot be waited for,
 * because of a capture or because the stream is no more. */
static enum vs_err assemble(struct vs_allocator *a, const struct vs_request *request,
                            struct vs_block **out)
{
    enum vs_err err = try_plan(a, request, true, out);
    return err && err != VS_ERR_DEVICE_OOM ? try_plan(a, request, false, out) : err;
}

enum vs_err vs_compact_obtain_locked(struct vs_allocator *a, struct vs_request *request,
                                     struct vs_block **out)
{
    enum vs_err err = assemble(a, request, out);
    if (err != VS_ERR_DEVICE_OOM)
        return err;
    if (vs_private_pool_fallback_locked(a, request, out))
        return VS_OK;
    if (a->captures)
        return err; /* nothing may be waited for */
    uint64_t released = 0, generation = a->generation;
    err = vs_segment_release_cached_locked(a, &released);
    if (a->generation != generation || err == VS_ERR_STATE)
        return VS_ERR_STATE;
    a->counters.num_alloc_retries++;
    *out = vs_compact_search_locked(a, request);
    if (*out)
        return VS_OK;
    err = assemble(a, request, out);
    if (err) /* a range made for this request */
        vs_range_drop_unmapped_locked(a, request->pool->owner->home);
    return err;
}
