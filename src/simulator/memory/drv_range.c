/* SPDX-License-Identifier: Apache-2.0
 *
 * The registry of all address ranges known to CUDA: device, managed, pinned and registered memory.
 * A treap ordered by base address; ranges never overlap, so the range that contains an address is
 * the last one that begins at or below it. Callers get copies. */
#include "simulator/driver/vs_sim_driver.h"
#include "simulator/memory/vs_sim_memory.h"

#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/vs_treap.h"

struct node {
    struct node *left, *right;
    atomic_uint pins; /* running work that reads or writes it */
    struct vs_sim_range range;
};

static pthread_mutex_t ranges_mu = PTHREAD_MUTEX_INITIALIZER;
static struct node *root;                           /* guarded by ranges_mu */
static uint64_t next_id = 1;                        /* guarded by ranges_mu */
VS_TREAP_BY(node, struct node, range.base)

/* The node with the highest base at or below *address*. */
static struct node *floor_locked(uintptr_t address)
{
    return node_last_before(root, (uint64_t)address + 1);
}

static struct node *holder_locked(uintptr_t address)
{
    struct node *n = floor_locked(address);
    return n && address - n->range.base < n->range.bytes ? n : NULL;
}

CUresult vs_sim_range_add(struct vs_sim_range *range)
{
    struct node *n = vs_sim_need(malloc(sizeof *n));
    pthread_mutex_lock(&ranges_mu);
    struct node *below = floor_locked(range->base + range->bytes - 1);
    if (below && below->range.base + below->range.bytes > range->base) {
        pthread_mutex_unlock(&ranges_mu);
        free(n);
        return CUDA_ERROR_ALREADY_MAPPED;
    }
    range->id = next_id++;
    atomic_init(&n->pins, 0);
    n->range = *range;
    node_insert(&root, n, range->base);
    pthread_mutex_unlock(&ranges_mu);
    vs_sim_report_memory(range, false);
    vs_sim_uncomputed_range(range, false);
    if (vs_sim_checking)
        vs_sim_check_range_added(range);
    return CUDA_SUCCESS;
}

bool vs_sim_range_find(uintptr_t address, struct vs_sim_range *copy)
{
    pthread_mutex_lock(&ranges_mu);
    struct node *n = holder_locked(address);
    if (n)
        *copy = n->range;
    pthread_mutex_unlock(&ranges_mu);
    return n != NULL;
}

atomic_uint *vs_sim_range_pin(uintptr_t address, uint64_t id)
{
    pthread_mutex_lock(&ranges_mu);
    struct node *n = holder_locked(address);
    if (n && (n->range.id != id || (n->range.kind == VS_SIM_RANGE_GRAPH && n->range.resident < 0)))
        n = NULL;
    if (n)
        atomic_fetch_add(&n->pins, 1);
    pthread_mutex_unlock(&ranges_mu);
    return n ? &n->pins : NULL;
}

bool vs_sim_range_covers(uintptr_t address, size_t bytes, struct vs_sim_range *copy)
{
    return vs_sim_range_find(address, copy) && bytes <= copy->bytes - (address - copy->base);
}

bool vs_sim_range_at(uintptr_t base, enum vs_sim_range_kind kind, struct vs_sim_range *copy)
{
    return vs_sim_range_find(base, copy) && copy->base == base && copy->kind == kind;
}

bool vs_sim_range_remove(uintptr_t base, uint64_t id, struct vs_sim_range *copy)
{
    pthread_mutex_lock(&ranges_mu);
    struct node *n = floor_locked(base);
    if (n && (n->range.base != base || (id && n->range.id != id)))
        n = NULL;
    if (n)
        node_remove(&root, n, base);
    if (n && copy)
        *copy = n->range;
    pthread_mutex_unlock(&ranges_mu);
    if (!n)
        return false;
    /* no longer found by others; threads that pin a range are moving bytes and wait for nothing */
    for (int turn = 0; atomic_load(&n->pins); turn++)
        if (turn < 50)
            sched_yield();
        else
            usleep(20);
    vs_sim_report_memory(&n->range, true);
    vs_sim_uncomputed_range(&n->range, true);
    if (vs_sim_checking)
        vs_sim_check_range_removed(&n->range);
    free(n);
    return true;
}

void vs_sim_range_update(const struct vs_sim_range *range)
{
    pthread_mutex_lock(&ranges_mu);
    struct node *n = floor_locked(range->base);
    if (n && n->range.id == range->id)
        n->range = *range;
    bool leaves = n && n->range.id == range->id && range->kind == VS_SIM_RANGE_GRAPH &&
                  range->resident < 0;
    while (leaves && atomic_load(&n->pins)) { /* few, and only of graphs */
        pthread_mutex_unlock(&ranges_mu);
        usleep(20);
        pthread_mutex_lock(&ranges_mu);
        n = floor_locked(range->base);
        leaves = n && n->range.id == range->id;
    }
    pthread_mutex_unlock(&ranges_mu);
}

/* Stream-ordered memory outlives the context that allocated it (cuCtxDestroy). */
static struct node *owned_by(struct node *n, const struct vs_sim_context *ctx)
{
    if (!n || (n->range.ctx == ctx && n->range.kind != VS_SIM_RANGE_POOL))
        return n;
    struct node *found = owned_by(n->left, ctx);
    return found ? found : owned_by(n->right, ctx);
}

bool vs_sim_range_of_context(const struct vs_sim_context *ctx, struct vs_sim_range *copy)
{
    pthread_mutex_lock(&ranges_mu);
    struct node *n = owned_by(root, ctx);
    if (n)
        *copy = n->range;
    pthread_mutex_unlock(&ranges_mu);
    return n != NULL;
}
