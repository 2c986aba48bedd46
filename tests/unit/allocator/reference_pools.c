/* SPDX-License-Identifier: Apache-2.0
 *
 * Private pools in the reference model: who gets their memory, how long they live,
 * and their use as a last resort (PyTorch: beginAllocateToPool, get_pool,
 * releasePool, try_mempool_fallback). */
#include "reference_internal.h"

#include <string.h>

struct private_pool *model_pool_find(struct model *m, uint64_t id)
{
    for (int i = 0; i < m->pool_count; i++) {
        if (m->pools[i].id == id)
            return &m->pools[i];
    }
    return NULL;
}

static bool covers(const struct capture *c, uint64_t stream)
{
    return c->every_stream || c->stream == stream;
}

/* The pool begun last for the stream. */
uint64_t model_pool_for(struct model *m, uint64_t stream)
{
    uint64_t pool = 0;
    int matches = 0;
    for (int i = 0; i < m->capture_count; i++) {
        if (covers(&m->captures[i], stream)) {
            pool = m->captures[i].pool;
            matches++;
        }
    }
    m->counts[MODEL_pool_nested] += matches > 1;
    return pool;
}

static bool holds_memory(const struct model *m, uint64_t id)
{
    for (int i = 0; i < m->count; i++) {
        if (m->blocks[i].pool == id && !m->blocks[i].unmapped)
            return true;
    }
    return false;
}

void model_pools_forget_empty(struct model *m)
{
    for (int i = 0; i < m->pool_count;) {
        if (m->pools[i].use_count || holds_memory(m, m->pools[i].id)) {
            i++;
            continue;
        }
        RAN(m, pool_gone);
        m->pool_count--;
        memmove(&m->pools[i], &m->pools[i + 1],
                (size_t)(m->pool_count - i) * sizeof *m->pools);
    }
}

int model_pool_fallback(struct model *m, struct request *q)
{
    bool any = false;
    for (int p = 0; p < m->pool_count && !q->pool; p++) {
        if (!m->pools[p].use_on_oom)
            continue;
        struct request in_pool = *q;
        in_pool.pool = m->pools[p].id;
        in_pool.expandable = false; /* as PyTorch has it */
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
