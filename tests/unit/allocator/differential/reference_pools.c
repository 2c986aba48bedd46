/* SPDX-License-Identifier: Apache-2.0
 *
 * Private pools in the reference model: their requests, their lifetime, and their use as a last
 * resort (PyTorch: createOrIncrefPool, beginAllocateToPool, get_pool, releasePool,
 * try_mempool_fallback). Blocks refer to their pool by a number that is never reused. */
#include "reference_internal.h"

#include <stdlib.h>
#include <string.h>

static struct private_pool *find(struct model *m, struct vs_pool_id id)
{
    for (int i = 0; i < m->pool_count; i++) {
        if (m->pools[i].id.first == id.first && m->pools[i].id.second == id.second)
            return &m->pools[i];
    }
    return NULL;
}

struct private_pool *model_pool_numbered(struct model *m, uint64_t number)
{
    for (int i = 0; i < m->pool_count; i++) {
        if (m->pools[i].number == number)
            return &m->pools[i];
    }
    return NULL;
}

struct vs_pool_id model_pool_id(const struct model *m, uint64_t number)
{
    for (int i = 0; i < m->pool_count; i++) {
        if (m->pools[i].number == number)
            return m->pools[i].id;
    }
    return (struct vs_pool_id){0, 0};
}

/* --- users --- */

enum vs_err model_pool_retain(struct model *m, struct vs_pool_id id,
                              const struct vs_pool_source *source)
{
    if (!id.first && !id.second)
        return VS_ERR_ARG;
    struct private_pool *pool = find(m, id);
    if (pool && !pool->users)
        return VS_ERR_STATE;
    if (pool && source)
        return VS_ERR_ARG;
    if (pool) {
        RAN(m, pool_shared);
        pool->users++;
        return VS_OK;
    }
    if (m->pool_count == MODEL_POOLS_MAX)
        abort();
    pool = &m->pools[m->pool_count++];
    *pool = (struct private_pool){.number = ++m->pools_made, .id = id, .users = 1};
    pool->has_source = source != NULL;
    if (source)
        pool->source = *source;
    return VS_OK;
}

static int scope_of(struct model *m, struct vs_pool_id id)
{
    const struct private_pool *pool = find(m, id);
    for (int i = 0; pool && i < m->scope_count; i++) {
        if (m->scopes[i].pool == pool->number)
            return i;
    }
    return -1;
}

enum vs_err model_pool_begin(struct model *m, struct vs_pool_id id, vs_pool_filter *filter,
                             void *ctx)
{
    if (scope_of(m, id) >= 0)
        return VS_ERR_STATE;
    enum vs_err err = model_pool_retain(m, id, NULL);
    if (err)
        return err;
    m->scopes[m->scope_count++] = (struct scope){find(m, id)->number, filter, ctx};
    return VS_OK;
}

enum vs_err model_pool_end(struct model *m, struct vs_pool_id id)
{
    int i = scope_of(m, id);
    if (i < 0)
        return VS_ERR_STATE;
    m->scope_count--;
    memmove(&m->scopes[i], &m->scopes[i + 1],
            (size_t)(m->scope_count - i) * sizeof *m->scopes);
    return VS_OK;
}

enum vs_err model_pool_release(struct model *m, struct vs_pool_id id)
{
    struct private_pool *pool = find(m, id);
    if (!pool)
        return VS_ERR_NOT_FOUND;
    if (!pool->users || (pool->users == 1 && scope_of(m, id) >= 0))
        return VS_ERR_STATE;
    m->counts[MODEL_pool_freeable] += --pool->users == 0;
    return VS_OK;
}

enum vs_err model_pool_users(struct model *m, struct vs_pool_id id, uint64_t *users)
{
    const struct private_pool *pool = find(m, id);
    if (!pool)
        return VS_ERR_NOT_FOUND;
    *users = pool->users;
    return VS_OK;
}

enum vs_err model_pool_set(struct model *m, struct vs_pool_id id, unsigned flags)
{
    struct private_pool *pool = find(m, id);
    if (flags > (VS_POOL_USE_ON_OOM | VS_POOL_NO_SPLIT))
        return VS_ERR_ARG;
    if (!pool)
        return VS_ERR_NOT_FOUND;
    pool->flags = flags;
    return VS_OK;
}

/* --- captures --- */

bool model_capturing(const struct model *m)
{
    return m->captures_reported || (m->scope_count && !m->config.captures_reported);
}

void model_capture_begin(struct model *m)
{
    m->captures_reported++;
}

enum vs_err model_capture_end(struct model *m)
{
    if (!m->captures_reported)
        return VS_ERR_STATE;
    m->captures_reported--;
    return VS_OK;
}

/* --- selecting a pool --- */

/* Of those that accept the stream, the one begun last: scopes nest. */
uint64_t model_pool_for(struct model *m, uint64_t stream)
{
    uint64_t pool = 0;
    int matches = 0;
    for (int i = 0; i < m->scope_count; i++) {
        const struct scope *s = &m->scopes[i];
        if (!s->filter || s->filter(s->ctx, stream)) {
            pool = s->pool;
            matches++;
        }
    }
    m->counts[MODEL_pool_nested] += matches > 1;
    return pool;
}

/* PyTorch begins the pool for the search, which fails if it is begun already. */
static bool cannot_be_searched(struct model *m, const struct private_pool *pool)
{
    return m->as_pytorch && scope_of(m, pool->id) >= 0;
}

int model_pool_fallback(struct model *m, struct request *q)
{
    bool any = false;
    for (int p = 0; p < m->pool_count && !q->pool; p++) {
        if (!(m->pools[p].flags & VS_POOL_USE_ON_OOM) || !m->pools[p].users ||
            cannot_be_searched(m, &m->pools[p]))
            continue;
        struct request in_pool = *q;
        in_pool.pool = m->pools[p].number;
        in_pool.expandable = false; /* as in PyTorch */
        any = true;
        int i = model_search(m, &in_pool);
        if (i >= 0) {
            RAN(m, use_on_oom);
            *q = in_pool;
            return i;
        }
    }
    m->counts[MODEL_use_on_oom_missed] += any;
    return -1;
}

/* --- releasing --- */

static bool holds_memory(const struct model *m, uint64_t number)
{
    for (int i = 0; i < m->count; i++) {
        if (m->blocks[i].pool == number && !m->blocks[i].unmapped)
            return true;
    }
    return false;
}

void model_pool_forget(struct model *m, uint64_t number)
{
    struct private_pool *pool = model_pool_numbered(m, number);
    if (!pool || pool->users || holds_memory(m, number))
        return;
    RAN(m, pool_gone);
    int i = (int)(pool - m->pools);
    m->pool_count--;
    memmove(pool, pool + 1, (size_t)(m->pool_count - i) * sizeof *pool);
}

enum vs_err model_pool_empty(struct model *m, struct vs_pool_id id, uint64_t *released)
{
    struct private_pool *pool = find(m, id);
    *released = 0;
    if (!pool)
        return VS_ERR_NOT_FOUND;
    if (pool->users)
        return VS_OK;
    if (model_capturing(m))
        return VS_ERR_STATE;
    RAN(m, pool_emptied);
    m->stats.num_sync_all_streams++;
    model_wait_for_pool(m, pool->number);
    enum vs_err settled = model_settle(m, pool->number);
    enum vs_err err = model_release_private(m, pool->number, released);
    return settled ? settled : err;
}
