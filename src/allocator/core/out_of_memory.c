/* SPDX-License-Identifier: Apache-2.0
 *
 * Out of memory: the callbacks that may free some before the device call, and the record of a
 * failed request. Callbacks run with the full lock released, because they free through the
 * allocator like any other code; a failure is recorded under it, so that its figures are
 * consistent. */
#include "allocator/core/allocator_internal.h"

enum vs_err vs_allocator_add_free_callback(struct vs_allocator *a, vs_free_callback *callback,
                                           void *ctx)
{
    if (!callback)
        return VS_ERR_ARG;
    VS_FULL_LOCK_SCOPE(a);
    enum vs_err err = VS_ERR_LIMIT;
    if (a->callback_count < VS_FREE_CALLBACKS_MAX) {
        a->callbacks[a->callback_count].call = callback;
        a->callbacks[a->callback_count++].ctx = ctx;
        err = VS_OK;
    }
    return err;
}

bool vs_free_callbacks_run_locked(struct vs_allocator *a)
{
    bool freed = false;
    /* callbacks are never removed: the array may be read after the release */
    size_t count = a->callback_count;
    void *call = a->call;
    a->call = NULL;
    vs_full_lock_release(a);
    for (size_t i = 0; i < count; i++)
        freed |= a->callbacks[i].call(a->callbacks[i].ctx);
    vs_full_lock_acquire(a);
    a->call = call;
    return freed;
}

static uint64_t cached_in(const struct vs_pool *pool)
{
    uint64_t bytes = 0;
    for (const struct vs_block *block = vs_free_index_fit(&pool->index, 0); block;
         block = vs_free_index_after(&pool->index, block))
        bytes += block->size;
    return bytes;
}

static uint64_t cached_in_private_pools(const struct vs_allocator *a)
{
    uint64_t bytes = 0;
    for (const struct vs_private_pool *p = a->private_pools; p; p = p->next) {
        for (const struct vs_stream_pools *s = p->streams; s; s = s->next)
            bytes += cached_in(&s->pool[VS_POOL_SMALL]) + cached_in(&s->pool[VS_POOL_LARGE]);
    }
    return bytes;
}

void vs_oom_record_locked(struct vs_allocator *a, const struct vs_request *request)
{
    struct vs_oom_report *r = &a->oom;
    *r = (struct vs_oom_report){
        .requested = request->requested,
        .rounded = request->rounded,
        .tried = request->rounded > VS_ALLOCATOR_REQUEST_MAX
            ? request->rounded
            : vs_segment_size_for(&a->config, request->rounded),
        .stream = request->stream,
        .allowed = a->limited ? a->allowed_bytes : UINT64_MAX,
        .allocated = vs_counter_level(&a->counters.allocated_bytes),
        .cached_private = cached_in_private_pools(a),
        .expandable_segments = a->policy->mapped,
    };
    if (request->pool && request->pool->owner->home)
        r->pool_id = request->pool->owner->home->id;
    r->unallocated = a->reserved_bytes - r->allocated - r->cached_private;
    if (a->ops.memory_info &&
        a->ops.memory_info(a->ops_ctx, &r->device_free, &r->device_total))
        r->device_free = r->device_total = 0;
    if (!r->device_total)
        r->device_total = a->config.total_memory;
    r->count = ++a->counters.num_ooms;
    a->oom_noted = true;
    vs_allocator_emit_locked(a, VS_ALLOCATOR_OOM, request->kind, r->device_free,
                             request->requested, request->rounded, request->stream);
}

enum vs_err vs_allocator_last_oom(struct vs_allocator *a, struct vs_oom_report *out)
{
    VS_FULL_LOCK_SCOPE(a);
    bool noted = a->oom_noted;
    if (noted)
        *out = a->oom;
    return noted ? VS_OK : VS_ERR_NOT_FOUND;
}
