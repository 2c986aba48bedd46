/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. The page index of the lane's range finds the block at a planned address. */
#include "allocator/plan/plan_place.h"

#include "allocator/core/allocator_internal.h"
#include "allocator/core/block_ops.h"

static uint64_t page_down(uint64_t bytes)
{
    return bytes & ~(VS_PAGE_BYTES - 1);
}

static uint64_t page_up(uint64_t bytes)
{
    return page_down(bytes + VS_PAGE_BYTES - 1);
}

static bool available(const struct vs_block *block)
{
    return block && (block->state == VS_BLOCK_FREE || block->state == VS_BLOCK_UNMAPPED);
}

/* Maps memory for the pages of an UNMAPPED block that lie in [addr, end). Returns the FREE block
 * that contains them; NULL when the device is out of memory. */
static struct vs_block *map_part(struct vs_allocator *a, struct vs_block *block, uint64_t addr,
                                 uint64_t end)
{
    vs_block_ref *unmapped = &block->segment->pool->unmapped;
    uint64_t from = page_down(addr), until = page_up(end);
    struct vs_block *part = block;
    if (until > block->addr + block->size)
        until = block->addr + block->size;
    if (from > block->addr) { /* the part below stays without memory */
        part = vs_block_new_in_locked(a, block->segment->pool);
        if (!part)
            return NULL;
        vs_block_cut(block, part, from - block->addr);
        vs_block_set_state(block, VS_BLOCK_UNMAPPED);
        vs_block_set_state(part, VS_BLOCK_UNMAPPED);
        vs_unmapped_insert(unmapped, part, part->addr);
    }
    uint64_t bytes = until - part->addr;
    if (!(a->limited && a->reserved_bytes + bytes > a->allowed_bytes) &&
        vs_range_map_locked(a, part, bytes) == VS_OK)
        return part;
    if (part != block) {
        vs_unmapped_remove(unmapped, part, part->addr);
        vs_block_absorb(block, part);
        vs_block_recycle_locked(block->segment->pool, part);
    }
    return NULL;
}

/* The free block around [addr, end), all of it with memory; otherwise NULL. *block* holds addr. */
static struct vs_block *make_free(struct vs_allocator *a, struct vs_plan_use *use,
                                  struct vs_block *block, uint64_t addr, uint64_t end)
{
    for (const struct vs_block *b = block; b && b->addr < end; b = b->next) {
        if (!available(b)) {
            use->occupied++;
            return NULL;
        }
    }
    for (struct vs_block *b = block; b && b->addr < end; b = b->next) {
        if (b->state == VS_BLOCK_FREE)
            continue;
        b = block = map_part(a, b, addr, end); /* merged with the free memory before it */
        if (!b) {
            use->refused++;
            return NULL;
        }
    }
    return block;
}

/* The lane's range, made again if it was released. */
static struct vs_segment *range_of(struct vs_allocator *a, const struct vs_request *request,
                                   struct vs_plan_lane *lane)
{
    uint64_t bytes = page_up(lane->follow.stream->granules * VS_PLAN_GRANULE);
    if (!bytes)
        return NULL;
    struct vs_segment *range = lane->range ? vs_segment_find_locked(a, lane->range) : NULL;
    if (range && range->addr == lane->range && range->size == bytes &&
        range->pool == request->pool && range->handle_bytes)
        return range;
    if (vs_range_new_locked(a, request->pool, VS_PAGE_BYTES, bytes, &range))
        return NULL;
    lane->range = range->addr;
    return range;
}

static struct vs_plan_lane *lane_of(struct vs_plan_use *use, uint64_t stream)
{
    for (uint32_t i = 0; i < use->bound; i++) {
        if (use->lanes[i].stream == stream)
            return &use->lanes[i];
    }
    if (use->bound == use->plan.header->stream_count)
        return NULL;
    use->lanes[use->bound].stream = stream;
    return &use->lanes[use->bound++];
}

struct vs_block *vs_planned_take_locked(struct vs_allocator *a, const struct vs_request *request)
{
    struct vs_plan_use *use = a->plan;
    struct vs_plan_lane *lane = lane_of(use, request->stream);
    if (!lane)
        return NULL;
    const struct vs_plan_entry *e = vs_follow_request(&lane->follow, request->requested);
    if (!e || e->offset == VS_PLAN_NONE || e->granules * VS_PLAN_GRANULE != request->rounded)
        return NULL;
    struct vs_segment *range = range_of(a, request, lane);
    if (!range)
        return NULL;
    uint64_t addr = range->addr + e->offset * VS_PLAN_GRANULE, end = addr + request->rounded;
    struct vs_block *block =
        make_free(a, use, vs_segment_block_at_locked(range, addr), addr, end);
    if (block)
        block = vs_block_carve_locked(a, block, addr, request->rounded);
    use->placed += block != NULL;
    return block;
}

/* --- for the client --- */

void vs_plan_use_free(struct vs_plan_use *use)
{
    if (!use)
        return;
    for (uint32_t i = 0; i < VS_PLAN_STREAMS_MAX; i++)
        vs_follow_free(&use->lanes[i].follow);
    vs_pages_unmap(use, sizeof *use);
}

static enum vs_err new_use(const struct vs_plan *plan, struct vs_plan_use **out)
{
    struct vs_plan_use *use = vs_pages_map(sizeof *use);
    if (!use)
        return VS_ERR_NOMEM;
    use->plan = *plan;
    for (uint32_t i = 0; i < plan->header->stream_count; i++) {
        enum vs_err err = vs_follow_init(&use->lanes[i].follow, plan, i);
        if (err) {
            vs_plan_use_free(use);
            return err;
        }
    }
    *out = use;
    return VS_OK;
}

enum vs_err vs_allocator_use_plan(struct vs_allocator *a, const struct vs_plan *plan)
{
    if (!a->policy->plannable)
        return VS_ERR_UNSUPPORTED;
    struct vs_plan_use *use;
    enum vs_err err = new_use(plan, &use);
    if (err)
        return err;
    vs_full_lock_acquire(a);
    if (a->plan) {
        err = VS_ERR_STATE;
    } else {
        a->plan = use;
        __atomic_store_n(&a->sharded, false, __ATOMIC_RELAXED); /* every request has to be seen */
    }
    vs_full_lock_release(a);
    if (err)
        vs_plan_use_free(use);
    return err;
}

void vs_allocator_plan_stats(struct vs_allocator *a, struct vs_plan_stats *out)
{
    *out = (struct vs_plan_stats){0};
    vs_full_lock_acquire(a);
    for (uint32_t i = 0; a->plan && i < a->plan->bound; i++) {
        const struct vs_follow *f = &a->plan->lanes[i].follow;
        out->followed += f->followed;
        out->deviated += f->deviated;
        out->resynchronised += f->resynchronised;
    }
    if (a->plan) {
        out->placed = a->plan->placed;
        out->occupied = a->plan->occupied;
        out->refused = a->plan->refused;
    }
    vs_full_lock_release(a);
}
