/* SPDX-License-Identifier: Apache-2.0
 *
 * Creation and end of an allocator: checking its configuration, the memory fraction, and the two
 * ways to end its contents: released (destroy), discarded because the context is gone (abandon). */
#include <string.h>

#include "allocator/core/allocator_internal.h"

static bool config_valid(const struct vs_allocator_config *config)
{
    if (config->reuse != VS_REUSE_STREAM_ORDERED && config->reuse != VS_REUSE_AFTER_SYNC)
        return false;
    if (config->tie != VS_TIE_LOWEST_ADDRESS && config->tie != VS_TIE_OLDEST_SEGMENT)
        return false;
    uint64_t large = config->large_segment_size;
    if (large && (large <= VS_LARGE_EXACT_MIN || large > VS_ALLOCATOR_REQUEST_MAX ||
                  large % (config->expandable_segments ? VS_PAGE_BYTES : VS_BLOCK_MIN)))
        return false;
    if (config->max_split_size && config->max_split_size < (large ? large : VS_MAX_SPLIT_MIN))
        return false;
    if (config->max_non_split_rounding > VS_ALLOCATOR_REQUEST_MAX)
        return false;
    if (!(config->garbage_collection_threshold >= 0 && config->garbage_collection_threshold < 1))
        return false;
    if (!(config->expandable_reserve_fraction >= 0))
        return false;
    for (int i = 0; i < VS_ROUNDUP_SLOTS; i++) {
        uint32_t divisions = config->roundup_power2_divisions[i];
        if (divisions & (divisions - 1))
            return false;
    }
    return true;
}

static bool ops_valid(const struct vs_device_ops *ops, const struct vs_allocator_config *config)
{
    bool after_sync = config->reuse == VS_REUSE_AFTER_SYNC;
    int events = !!ops->event_record + !!ops->event_query + !!ops->event_synchronize +
                 !!ops->event_release;
    int virtual = !!ops->range_reserve + !!ops->range_release + !!ops->memory_create +
                  !!ops->memory_release + !!ops->memory_map + !!ops->memory_unmap;
    return ops->segment_alloc && ops->segment_free && (events == 0 || events == 4) &&
           (virtual == 0 || virtual == 6) &&
           (!after_sync || ops->synchronize) &&
           (!config->expandable_segments ||
            (virtual && (after_sync || ops->stream_synchronize) &&
             (config->total_memory || ops->memory_info)));
}

/* Called before the first use without the lock, later under it. */
static enum vs_err set_fraction(struct vs_allocator *a, double fraction)
{
    if (!(fraction >= 0 && fraction <= 1))
        return VS_ERR_ARG;
    if (fraction == 0 || fraction == 1) {
        a->limited = false;
        return VS_OK;
    }
    uint64_t total = a->config.total_memory, free_bytes;
    if (!total) {
        if (!a->ops.memory_info)
            return VS_ERR_ARG;
        enum vs_err err = a->ops.memory_info(a->ops_ctx, &free_bytes, &total);
        if (err)
            return err;
    }
    a->allowed_bytes = (uint64_t)(fraction * (double)total);
    a->limited = true;
    return VS_OK;
}

/* Resets the tables to empty; their contents are not touched. */
static void reset_tables(struct vs_allocator *a)
{
    memset(&a->segments, 0, (size_t)((char *)&a->counters - (char *)&a->segments));
    a->reserved_bytes = 0;
    a->deferred_tail = &a->deferred;
    a->held_tail = &a->held;
    vs_shards_discard_locked(&a->shards);
}

static void unmap_tables(struct vs_allocator *a)
{
    for (size_t i = 0; i < a->segment_count; i++) {
        struct vs_segment *s = a->segments[i];
        if (s->handle_bytes)
            vs_range_tables_unmap(s);
        vs_page_tables_give_locked(a, s);
    }
    for (uint32_t i = 0; i < a->shards.count; i++)
        vs_live_free(&a->shards.shard[i].live);
    vs_slabs_give(&a->slabs);
    vs_map_free(&a->uses);
    vs_map_free(&a->stream_table);
    vs_pages_unmap(a->segments, a->segment_capacity * sizeof *a->segments);
    vs_arena_free_all(&a->arena);
}

enum vs_err vs_allocator_create(const struct vs_allocator_config *config,
                                const struct vs_device_ops *ops, void *ops_ctx,
                                const struct vs_event_sink *sink, void *sink_ctx,
                                struct vs_allocator **out)
{
    if ((unsigned)config->policy >= VS_POLICY_COUNT)
        return VS_ERR_ARG;
    const struct vs_policy *policy = vs_policies[config->policy];
    struct vs_allocator_config made = *config;
    if (policy->configure)
        policy->configure(&made);
    if (!config_valid(&made) || !ops_valid(ops, &made))
        return VS_ERR_ARG;
    if (policy->mapped &&
        (!ops->range_reserve ||
         (made.reuse == VS_REUSE_STREAM_ORDERED && !ops->stream_synchronize)))
        return VS_ERR_UNSUPPORTED;
    struct vs_allocator *a = vs_pages_map(sizeof *a);
    if (!a)
        return VS_ERR_NOMEM;
    a->config = made;
    a->policy = made.expandable_segments ? &vs_policy_expandable : policy;
    a->max_split = a->config.max_split_size ? a->config.max_split_size : UINT64_MAX;
    a->non_split_rounding = config->max_non_split_rounding ? config->max_non_split_rounding
                            : config->large_segment_size   ? config->large_segment_size
                                                           : VS_NON_SPLIT_ROUNDING;
    a->ops = *ops;
    a->ops_ctx = ops_ctx;
    if (sink)
        a->sink = *sink;
    a->sink_ctx = sink_ctx;
    vs_shards_init(&a->shards);
    reset_tables(a);
    enum vs_err err = set_fraction(a, config->memory_fraction);
    if (err) {
        vs_pages_unmap(a, sizeof *a);
        return err;
    }
    *out = a;
    return VS_OK;
}

enum vs_err vs_allocator_set_memory_fraction(struct vs_allocator *a, double fraction)
{
    VS_FULL_LOCK_SCOPE(a);
    return set_fraction(a, fraction);
}

void vs_allocator_destroy(struct vs_allocator *a)
{
    if (!a)
        return;
    vs_events_drop_locked(a);
    for (size_t i = 0; i < a->segment_count; i++) {
        struct vs_segment *s = a->segments[i];
        if (s->handle_bytes || s->view) {
            (s->view ? vs_view_destroy : vs_range_destroy)(a, s);
            continue;
        }
        /* on failure the device has already lost it */
        if (vs_segment_give_back(a, s) == VS_OK)
            vs_allocator_emit_locked(a, VS_ALLOCATOR_SEGMENT_FREE, s->pool->kind, s->addr, s->size,
                                     s->size, s->pool->owner->stream);
    }
    unmap_tables(a);
    vs_pages_unmap(a, sizeof *a);
}

void vs_allocator_abandon(struct vs_allocator *a)
{
    VS_FULL_LOCK_SCOPE(a);
    a->generation++;
    unmap_tables(a);
    reset_tables(a);
    vs_statistics_discard(&a->counters);
}
