/* SPDX-License-Identifier: Apache-2.0
 *
 * Inspection of the whole allocator: the snapshot of segments and blocks, and the check of every
 * invariant, which tests run after each step. */
#include <string.h>

#include "allocator/core/allocator_internal.h"
#include "allocator/core/block_ops.h"
#include "base/vs_log.h"

typedef void visitor(void *ctx, const struct vs_segment_info *segment,
                     const struct vs_block_info *block);

/* Visits each run of mapped blocks: the whole segment if it is one device allocation. */
static void visit_runs(const struct vs_segment *s, visitor *visit, void *ctx)
{
    if (s->view && s->first->state == VS_BLOCK_DORMANT)
        return;
    for (const struct vs_block *b = s->first; b;) {
        if (b->state == VS_BLOCK_UNMAPPED) {
            b = b->next;
            continue;
        }
        struct vs_segment_info run = {
            .addr = b->addr,
            .stream = s->pool->owner->stream,
            .pool = s->pool->kind,
            .expandable = s->handle_bytes != 0,
            .view = s->view != NULL,
        };
        if (s->pool->owner->home)
            run.pool_id = s->pool->owner->home->id;
        for (const struct vs_block *r = b; r && r->state != VS_BLOCK_UNMAPPED; r = r->next)
            run.size += r->size;
        visit(ctx, &run, NULL);
        for (; b && b->state != VS_BLOCK_UNMAPPED; b = b->next) {
            bool used = b->state == VS_BLOCK_LIVE || b->state == VS_BLOCK_PENDING;
            struct vs_block_info block = {b->addr, b->size, used ? b->used.requested : 0,
                                          (enum vs_block_state)b->state};
            visit(ctx, &run, &block);
        }
    }
}

void vs_allocator_snapshot(struct vs_allocator *a,
                           void (*visit)(void *ctx, const struct vs_segment_info *segment,
                                         const struct vs_block_info *block),
                           void *ctx)
{
    VS_FULL_LOCK_SCOPE(a);
    for (size_t i = 0; i < a->segment_count; i++)
        visit_runs(a->segments[i], visit, ctx);
}

/* The result of a recount of segments and blocks. */
struct recount {
    struct vs_allocator_stats stats; /* current fields only */
    uint64_t blocks, free, unmapped, live, pending, notes;
    uint64_t lent, lent_to_views; /* LENT blocks at home, and those that views own */
};

static void add(struct vs_stat stat[VS_STAT_POOLS], enum vs_pool_kind kind, uint64_t amount)
{
    stat[VS_STAT_ALL].current += amount;
    stat[VS_STAT_SMALL + kind].current += amount;
}

static const char *check_free_block(const struct vs_allocator *a, const struct vs_block *b,
                                    struct recount *r)
{
    enum vs_pool_kind kind = b->segment->pool->kind;
    if (vs_block_counts_split(b)) {
        add(r->stats.inactive_split, kind, 1);
        add(r->stats.inactive_split_bytes, kind, b->size);
    }
    if (b->idle.safe_after > a->sync_started + 1)
        return "a free block waits for a synchronisation that cannot be";
    if (b->state == VS_BLOCK_TAKEN)
        return NULL;
    r->free++;
    if (b->next && b->next->state == VS_BLOCK_FREE)
        return "two free neighbours are not merged";
    if (!vs_free_index_holds(&b->segment->pool->index, b))
        return "a free block is not in its index";
    return NULL;
}

static const char *check_used_block(struct vs_allocator *a, const struct vs_block *b,
                                    struct recount *r)
{
    enum vs_pool_kind kind = b->segment->pool->kind;
    bool live = b->state == VS_BLOCK_LIVE;
    if (vs_live_find(&vs_block_shard(b)->live, b->addr) != b ||
        live != (vs_live_get_locked(a, b->addr) == b))
        return "the pointer table and a block's state differ";
    if (b->used.requested == 0 || b->used.requested > b->size)
        return "a block is smaller than its request";
    add(r->stats.active, kind, 1);
    add(r->stats.active_bytes, kind, b->size);
    add(r->stats.requested_bytes, kind, b->used.requested);
    if (live) {
        add(r->stats.allocation, kind, 1);
        add(r->stats.allocated_bytes, kind, b->size);
        r->live++;
        r->stats.oversize_allocations.current += b->size >= a->max_split;
        if (b->used.has_uses != (vs_map_get(&a->uses, b->addr) != NULL))
            return "a live block's uses by other streams are miscounted";
    } else {
        r->pending++;
        r->notes += b->used.events;
        if (!b->used.events)
            return "a pending block waits for nothing";
    }
    return NULL;
}

static const char *check_unmapped_block(const struct vs_block *b, struct recount *r)
{
    const struct vs_segment *s = b->segment;
    if (!s->handle_bytes || (b->addr - s->addr) % s->handle_bytes || b->size % s->handle_bytes)
        return "an unmapped block is not whole handles of a range";
    if (b->next && b->next->state == VS_BLOCK_UNMAPPED)
        return "two unmapped neighbours are not merged";
    if (vs_unmapped_first_from(s->pool->unmapped, b->addr) != b)
        return "an unmapped block is not in its index";
    r->unmapped++;
    return NULL;
}

static const char *check_block(struct vs_allocator *a, const struct vs_block *b,
                               struct recount *r)
{
    if (b->state == VS_BLOCK_UNMAPPED)
        return check_unmapped_block(b, r);
    if (b->segment->handle_bytes)
        add(r->stats.reserved_bytes, b->segment->pool->kind, b->size);
    if (b->state == VS_BLOCK_LENT || b->state == VS_BLOCK_DORMANT)
        return NULL; /* views_check.c */
    bool used = b->state == VS_BLOCK_LIVE || b->state == VS_BLOCK_PENDING;
    return used ? check_used_block(a, b, r) : check_free_block(a, b, r);
}

static const char *check_segment(struct vs_allocator *a, size_t i, struct recount *r)
{
    const struct vs_segment *s = a->segments[i];
    if (i && a->segments[i - 1]->addr + a->segments[i - 1]->size > s->addr)
        return "segments overlap or are out of order";
    const char *view = vs_view_check_segment(s, &r->lent, &r->lent_to_views);
    if (view)
        return view;
    if (!s->handle_bytes && !s->view) {
        add(r->stats.segment, s->pool->kind, 1);
        add(r->stats.reserved_bytes, s->pool->kind, s->size);
        r->stats.oversize_segments.current += s->size >= a->max_split;
    }
    uint64_t at = s->addr;
    const struct vs_block *last = NULL;
    for (const struct vs_block *b = s->first; b; last = b, b = b->next) {
        if (b->addr != at || b->prev != last || b->segment != s || !b->size ||
            b->size % VS_BLOCK_MIN)
            return "blocks do not tile their segment";
        const char *broken = check_block(a, b, r);
        if (broken)
            return broken;
        at += b->size;
        r->blocks++;
    }
    if (at != s->addr + s->size)
        return "blocks do not fill their segment";
    return vs_page_index_check(s);
}

/* The contents of the streams' pools. */
struct pool_count {
    uint64_t indexed, unmapped, segments, streams;
};

static const char *check_streams(const struct vs_allocator *a, const struct vs_stream_pools *list,
                                 const struct vs_private_pool *home, struct pool_count *c)
{
    const struct vs_stream_pools *last = NULL;
    for (const struct vs_stream_pools *p = list; p; last = p, p = p->next) {
        if ((last && last->stream >= p->stream) || p->home != home)
            return "streams are out of order";
        const uint64_t *value = home ? NULL : vs_map_get(&a->stream_table, p->stream + 1);
        if (!home && (!value || (uintptr_t)*value != (uintptr_t)p))
            return "a stream is not in its table";
        if (!p->segments && !p->pins)
            return "an unused stream was kept";
        if (p->shard != vs_shards_of_stream((struct vs_shards *)&a->shards, p->stream))
            return "a stream is not in its shard";
        for (int kind = 0; kind < 2; kind++) {
            uint64_t count;
            if (p->pool[kind].kind != (enum vs_pool_kind)kind || p->pool[kind].owner != p ||
                !vs_free_index_check(&p->pool[kind].index, &count))
                return "a free index is out of order";
            c->indexed += count;
            if (!vs_unmapped_valid(p->pool[kind].unmapped, &count))
                return "an address index is out of order";
            c->unmapped += count;
        }
        const char *views = vs_views_check(&p->views);
        if (views)
            return views;
        c->segments += p->segments;
        c->streams += !home;
    }
    return NULL;
}

static const char *check_pools(const struct vs_allocator *a, const struct recount *r)
{
    struct pool_count c = {0};
    const char *broken = check_streams(a, a->streams, NULL, &c);
    for (const struct vs_private_pool *p = a->private_pools; p && !broken; p = p->next)
        broken = check_streams(a, p->streams, p, &c);
    if (broken)
        return broken;
    if (c.indexed != r->free || r->lent != r->lent_to_views || c.unmapped != r->unmapped || c.segments != a->segment_count ||
        c.streams != a->stream_table.count)
        return "pools and segments count differently";
    uint64_t captures = 0;
    for (const struct vs_scope *scope = a->scopes; scope; scope = scope->next) {
        captures++;
        if (!scope->pool->users)
            return "requests go to a pool that nobody uses";
    }
    if (a->captures != captures)
        return "captures count differently than they began";
    return NULL;
}

static const char *check_events(const struct vs_allocator *a, const struct recount *r)
{
    uint64_t notes = 0, retired = 0, last = 0;
    for (const struct vs_event_queue *q = a->queues; q; q = q->next) {
        uint64_t queued = 0;
        if (q != a->queues && q->stream <= last)
            return "event queues are out of order";
        last = q->stream;
        struct vs_note *const *end = &q->head;
        for (const struct vs_note *n = q->head; n; end = &n->next, n = n->next)
            queued++;
        if (end != q->tail || queued > q->refs || !q->refs)
            return "an event queue is inconsistent";
        notes += queued;
    }
    for (const struct vs_note *n = a->deferred; n; n = n->next)
        notes++;
    for (const struct vs_note *n = a->held; n; n = n->next)
        notes++;
    for (const struct vs_note *n = a->retired; n; n = n->next) {
        if (n->queue || n->block->state != VS_BLOCK_PENDING)
            return "a block that others know of is not away";
        retired++;
    }
    if (notes != a->pending_notes || notes + retired != r->notes)
        return "pending events are miscounted";
    return NULL;
}

static const char *check_statistics(const struct vs_allocator *a, const struct recount *r)
{
    struct vs_allocator_stats exported;
    const struct vs_allocator_stats *have = &exported, *want = &r->stats;
    vs_statistics_export(&a->counters, a->max_split, &exported);
#define VS_COMPARE(name)                                                     \
    for (int i = 0; i < VS_STAT_POOLS; i++) {                                \
        if (have->name[i].current != want->name[i].current)                  \
            return "statistics differ from a recount: " #name;               \
        if (have->name[i].peak < have->name[i].current)                      \
            return "a peak is below its current value: " #name;              \
    }
    VS_ALLOCATOR_POOL_STATS(VS_COMPARE)
#undef VS_COMPARE
    if (have->oversize_allocations.current != want->oversize_allocations.current ||
        have->oversize_segments.current != want->oversize_segments.current)
        return "oversize statistics differ from a recount";
    if (a->reserved_bytes != want->reserved_bytes[VS_STAT_ALL].current)
        return "reserved bytes differ from a recount";
    return NULL;
}

/* Under the full lock: the shards have counted nothing, and every node is accounted for. */
static const char *check_shards(const struct vs_allocator *a, const struct recount *r)
{
    static const struct vs_tally zero;
    uint64_t nodes = r->blocks, live = 0;
    for (uint32_t i = 0; i < a->shards.count; i++) {
        const struct vs_shard *shard = &a->shards.shard[i];
        if (shard->open || memcmp(&shard->tally, &zero, sizeof zero) != 0)
            return "a shard counts apart under the full lock";
        for (const void *node = shard->free_blocks.head; node; node = *(void *const *)node)
            nodes++;
        live += shard->live.count;
    }
    if (nodes != a->blocks_made || r->blocks != vs_block_count_locked(a) || live != r->live + r->pending)
        return "blocks are miscounted";
    return NULL;
}

enum vs_err vs_allocator_check(struct vs_allocator *a)
{
    struct recount r = {0};
    const char *broken = NULL;
    vs_full_lock_acquire(a);
    for (size_t i = 0; i < a->segment_count && !broken; i++)
        broken = check_segment(a, i, &r);
    if (!broken)
        broken = check_shards(a, &r);
    if (!broken && a->sync_completed > a->sync_started)
        broken = "a synchronisation completed before it began";
    if (!broken)
        broken = check_pools(a, &r);
    if (!broken)
        broken = check_events(a, &r);
    if (!broken)
        broken = check_statistics(a, &r);
    vs_full_lock_release(a);
    if (!broken)
        return VS_OK;
    vs_log(VS_LOG_ERROR, "allocator check: %s", broken);
    return VS_ERR_CORRUPT;
}
