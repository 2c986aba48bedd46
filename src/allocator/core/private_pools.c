/* SPDX-License-Identifier: Apache-2.0
 *
 * Private pools: separate memory for graph captures and for programs that ask for a pool of their
 * own (PyTorch: PrivatePool, beginAllocateToPool, endAllocateToPool, releasePool). A pool has a
 * pair of block pools for each stream, like the default one. It lives while it has users; one
 * without users is freeable: its memory is released whenever the cache is emptied, and the pool is
 * removed with the last of it. Requests go to the pool begun last among those whose filter accepts
 * their stream.
 *
 * During a graph capture no code may wait for the device or query events; the other files check
 * `captures` for that. Every active pool counts as one. */
#include "allocator/core/allocator_internal.h"

static struct vs_private_pool *find(const struct vs_allocator *a, struct vs_pool_id id)
{
    struct vs_private_pool *pool = a->private_pools;
    while (pool && (pool->id.first != id.first || pool->id.second != id.second))
        pool = pool->next;
    return pool;
}

/* create_or_incref_pool */
static enum vs_err retain(struct vs_allocator *a, struct vs_pool_id id,
                          struct vs_private_pool **out)
{
    struct vs_private_pool *pool = find(a, id);
    if (pool) {
        if (!pool->users)
            return VS_ERR_STATE;
        pool->users++;
        *out = pool;
        return VS_OK;
    }
    pool = vs_node_take_locked(a, &a->free_private_pools, sizeof *pool);
    if (!pool)
        return VS_ERR_NOMEM;
    *pool = (struct vs_private_pool){.id = id, .users = 1};
    struct vs_private_pool **link = &a->private_pools;
    while (*link)
        link = &(*link)->next;
    *link = pool;
    *out = pool;
    return VS_OK;
}

static struct vs_scope **scope_of(struct vs_allocator *a, struct vs_pool_id id)
{
    struct vs_scope **link = &a->scopes;
    const struct vs_private_pool *pool = find(a, id);
    while (*link && (*link)->pool != pool)
        link = &(*link)->next;
    return link;
}

enum vs_err vs_allocator_pool_begin(struct vs_allocator *a, struct vs_pool_id id,
                                    vs_pool_filter *filter, void *ctx)
{
    if (!id.first && !id.second) /* the default pool */
        return VS_ERR_ARG;
    VS_FULL_LOCK_SCOPE(a);
    if (*scope_of(a, id))
        return VS_ERR_STATE;
    struct vs_scope *scope = vs_node_take_locked(a, &a->free_scopes, sizeof *scope);
    if (!scope)
        return VS_ERR_NOMEM;
    struct vs_private_pool *pool;
    enum vs_err err = retain(a, id, &pool);
    if (err) {
        vs_node_give_locked(&a->free_scopes, scope);
        return err;
    }
    *scope = (struct vs_scope){.pool = pool, .filter = filter, .ctx = ctx};
    scope->next = a->scopes; /* scopes nest: the innermost is tried first */
    a->scopes = scope;
    a->captures++;
    return VS_OK;
}

enum vs_err vs_allocator_pool_end(struct vs_allocator *a, struct vs_pool_id id)
{
    VS_FULL_LOCK_SCOPE(a);
    struct vs_scope **link = scope_of(a, id), *scope = *link;
    if (scope) {
        *link = scope->next;
        a->captures--;
        vs_node_give_locked(&a->free_scopes, scope);
    }
    return scope ? VS_OK : VS_ERR_STATE;
}

enum vs_err vs_allocator_pool_release(struct vs_allocator *a, struct vs_pool_id id)
{
    VS_FULL_LOCK_SCOPE(a);
    struct vs_private_pool *pool = find(a, id);
    enum vs_err err = !pool ? VS_ERR_NOT_FOUND : !pool->users ? VS_ERR_STATE : VS_OK;
    /* the last user cannot be removed while the pool is active */
    if (!err && pool->users == 1 && *scope_of(a, id))
        err = VS_ERR_STATE;
    if (!err)
        pool->users--;
    return err;
}

/* get_pool */
struct vs_private_pool *vs_private_pool_for_locked(const struct vs_allocator *a, uint64_t stream)
{
    for (const struct vs_scope *scope = a->scopes; scope; scope = scope->next) {
        if (!scope->filter || scope->filter(scope->ctx, stream))
            return scope->pool;
    }
    return NULL;
}

/* --- releasing memory --- */

static enum vs_err release_freeable(struct vs_allocator *a, struct vs_private_pool *pool,
                                    uint64_t *released)
{
    enum vs_err small = vs_segment_release_kind_locked(a, &pool->streams, VS_POOL_SMALL, released);
    enum vs_err large = vs_segment_release_kind_locked(a, &pool->streams, VS_POOL_LARGE, released);
    /* otherwise a range whose first mapping failed would keep the pool for ever */
    vs_range_drop_unmapped_locked(a, pool);
    if (!pool->users && !pool->streams) {
        struct vs_private_pool **link = &a->private_pools;
        while (*link != pool)
            link = &(*link)->next;
        *link = pool->next;
        vs_node_give_locked(&a->free_private_pools, pool);
    }
    return small ? small : large;
}

enum vs_err vs_private_pools_release_locked(struct vs_allocator *a, uint64_t *released)
{
    enum vs_err first_error = VS_OK;
    for (struct vs_private_pool *pool = a->private_pools, *next; pool; pool = next) {
        next = pool->next;
        enum vs_err err = pool->users ? VS_OK : release_freeable(a, pool, released);
        if (err && !first_error)
            first_error = err;
    }
    return first_error;
}
