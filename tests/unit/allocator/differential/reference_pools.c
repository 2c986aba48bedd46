/* SPDX-License-Identifier: Apache-2.0
 *
 * Private pools in the reference model: their requests and their lifetime (PyTorch:
 * createOrIncrefPool, beginAllocateToPool, get_pool, releasePool). Blocks refer to their pool by a number that is never reused. */
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
    const struct private_pool *pool = model_pool_numbered((struct model *)(uintptr_t)m, number);
    return pool ? pool->id : (struct vs_pool_id){0, 0};
}

/* --- users --- */

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
    if (!id.first && !id.second)
        return VS_ERR_ARG;
    struct private_pool *pool = find(m, id);
    if (pool && !pool->users)
        return VS_ERR_STATE;
    if (pool) {
        RAN(m, pool_shared);
        pool->users++;
    } else if (m->pool_count == MODEL_POOLS_MAX) {
        abort();
    } else {
        pool = &m->pools[m->pool_count++];
        *pool = (struct private_pool){.number = ++m->pools_made, .id = id, .users = 1};
    }
    m->scopes[m->scope_count++] = (struct scope){pool->number, filter, ctx};
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

/* --- releasing --- */

void model_pool_forget(struct model *m, uint64_t number)
{
    struct private_pool *pool = model_pool_numbered(m, number);
    if (!pool || pool->users)
        return;
    for (int i = 0; i < m->count; i++)
        if (m->blocks[i].pool == number && !m->blocks[i].unmapped)
            return;
    RAN(m, pool_gone);
    int i = (int)(pool - m->pools);
    m->pool_count--;
    memmove(pool, pool + 1, (size_t)(m->pool_count - i) * sizeof *pool);
}
