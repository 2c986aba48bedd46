/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of graphs. An allocation node owns a block: address space without access, fixed for the
 * node's life, with a range in the registry. A launch takes physical memory for the block from its
 * device's graph memory, which keeps freed memory until it is trimmed; the pages are present from
 * the time the launch reaches the allocation until the block is freed. A block lives as long as
 * nodes or launches need it. Whether it is allocated in program order (`live`) and whether its
 * pages are present in device order (`mapped`) are separate states. */
#include "simulator/graph/vs_sim_graph.h"
#include "simulator/memory/vs_sim_memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct vs_sim_block {
    struct vs_sim_block *next;
    uintptr_t base;
    size_t bytes;          /* physical: whole pages */
    int device;
    uint64_t range_id;
    uint32_t freed_by; /* id of a graph with a free node for it; 0: none */
    uint32_t owner;    /* id of the graph that allocates it; 0: not known yet */
    unsigned nodes;    /* allocation nodes, including those of executable graphs */
    unsigned users;    /* launches that allocated it and were not freed, in device order */
    bool charged;      /* counted as used while it has users and its context exists */
    bool live;         /* allocated and not freed, in program order */
    bool mapped;
    bool gone; /* its context was destroyed */
};

/* Of one device. The attributes count freed memory as used until it is trimmed, as NVIDIA's sample
 * graphMemoryFootprint expects. */
struct graph_memory {
    uint64_t used, used_high, reserved, reserved_high;
};

static pthread_mutex_t blocks_mu = PTHREAD_MUTEX_INITIALIZER; /* also taken by engines */
static struct vs_sim_block *blocks;                           /* guarded by blocks_mu */
static struct graph_memory memories[VS_SIM_DEVICES_MAX];      /* guarded by blocks_mu */

/* ---- blocks ---- */

static struct vs_sim_block *find_locked(uintptr_t address)
{
    struct vs_sim_block *b = blocks;
    while (b && (b->base != address || b->gone))
        b = b->next;
    return b;
}

struct vs_sim_block *vs_sim_block_at(uintptr_t address)
{
    pthread_mutex_lock(&blocks_mu);
    struct vs_sim_block *b = find_locked(address);
    pthread_mutex_unlock(&blocks_mu);
    return b;
}

CUresult vs_sim_block_new(struct vs_sim_context *ctx, int device, size_t bytes,
                          struct vs_sim_block **block, CUdeviceptr *address)
{
    size_t mask = VS_SIM_PAGE_BYTES - 1;
    if (bytes > vs_sim_spec.capacity_bytes)
        return CUDA_ERROR_OUT_OF_MEMORY;
    struct vs_sim_block *b = vs_sim_need(calloc(1, sizeof *b));
    b->bytes = (bytes + mask) & ~mask;
    b->base = vs_sim_store_reserve(b->bytes, VS_SIM_PAGE_BYTES, 0);
    if (!b->base) {
        free(b);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    b->device = device;
    b->nodes = 1;
    struct vs_sim_range range = {.base = b->base,
                                 .bytes = bytes,
                                 .kind = VS_SIM_RANGE_GRAPH,
                                 .ctx = ctx,
                                 .device = device,
                                 .resident = -1};
    CUresult e = vs_sim_range_add(&range);
    if (e) {
        vs_sim_store_unreserve(b->base, b->bytes);
        free(b);
        return e;
    }
    b->range_id = range.id;
    pthread_mutex_lock(&blocks_mu);
    b->next = blocks;
    blocks = b;
    pthread_mutex_unlock(&blocks_mu);
    *block = b;
    *address = b->base;
    return CUDA_SUCCESS;
}

void vs_sim_block_where(const struct vs_sim_block *b, uintptr_t *base, uint64_t *range_id)
{
    *base = b->base;
    *range_id = b->range_id;
}

void vs_sim_block_hold(struct vs_sim_block *b)
{
    pthread_mutex_lock(&blocks_mu);
    b->nodes++;
    pthread_mutex_unlock(&blocks_mu);
}

static void delete_if_unused_locked(struct vs_sim_block *b)
{
    struct vs_sim_block **p = &blocks;
    if (b->nodes || b->users)
        return;
    while (*p != b)
        p = &(*p)->next;
    *p = b->next;
    if (!b->gone)
        vs_sim_range_remove(b->base, b->range_id, NULL);
    vs_sim_store_unreserve(b->base, b->bytes);
    free(b);
}

void vs_sim_block_release(struct vs_sim_block *b)
{
    pthread_mutex_lock(&blocks_mu);
    b->nodes--;
    delete_if_unused_locked(b);
    pthread_mutex_unlock(&blocks_mu);
}

CUresult vs_sim_block_plan_free(uintptr_t address, const struct vs_sim_graph *graph)
{
    CUresult e = CUDA_SUCCESS;
    pthread_mutex_lock(&blocks_mu);
    struct vs_sim_block *b = find_locked(address);
    if (!b || (b->freed_by && (b->freed_by == graph->id || b->freed_by == b->owner ||
                               graph->id == b->owner)))
        e = CUDA_ERROR_INVALID_VALUE;
    else
        b->freed_by = graph->id;
    pthread_mutex_unlock(&blocks_mu);
    return e;
}

void vs_sim_block_own(struct vs_sim_block *b, const struct vs_sim_graph *graph)
{
    pthread_mutex_lock(&blocks_mu);
    b->owner = graph->id;
    pthread_mutex_unlock(&blocks_mu);
}

/* ---- physical memory ---- */

static bool charge_locked(struct vs_sim_block *b)
{
    struct graph_memory *m = &memories[b->device];
    if (b->users++)
        return true;
    uint64_t cached = m->reserved - m->used;
    uint64_t more = b->bytes > cached ? b->bytes - cached : 0;
    if (more && !vs_sim_space_charge(b->device, more)) {
        b->users--;
        return false;
    }
    b->charged = true;
    m->reserved += more;
    m->used += b->bytes;
    m->used_high = m->reserved > m->used_high ? m->reserved : m->used_high;
    m->reserved_high = m->reserved > m->reserved_high ? m->reserved : m->reserved_high;
    return true;
}

static void return_locked(struct vs_sim_block *b)
{
    if (b->charged)
        memories[b->device].used -= b->bytes;
    b->charged = false;
}

static void uncharge_locked(struct vs_sim_block *b)
{
    if (!--b->users)
        return_locked(b);
}

static void note_resident(const struct vs_sim_block *b, int resident)
{
    struct vs_sim_range range;
    if (!b->gone && vs_sim_range_find(b->base, &range) && range.id == b->range_id) {
        range.resident = resident;
        vs_sim_range_update(&range);
    }
}

void vs_sim_block_map(struct vs_sim_block *b)
{
    pthread_mutex_lock(&blocks_mu);
    if (!b->gone && !mprotect((void *)b->base, b->bytes, PROT_READ | PROT_WRITE)) {
        b->mapped = true;
        note_resident(b, b->device);
    }
    pthread_mutex_unlock(&blocks_mu);
}

static void unmap_locked(struct vs_sim_block *b)
{
    note_resident(b, -1); /* returns when no work uses it any more */
    if (b->mapped)
        vs_sim_store_unmap(b->base, b->bytes);
    b->mapped = false;
}

void vs_sim_block_unmap(struct vs_sim_block *b)
{
    pthread_mutex_lock(&blocks_mu);
    unmap_locked(b);
    uncharge_locked(b);
    delete_if_unused_locked(b);
    pthread_mutex_unlock(&blocks_mu);
}

static CUresult submit_free(struct vs_sim_block *b, struct vs_sim_stream *stream)
{
    struct vs_sim_op *op = vs_sim_op_new_at_once(stream, VS_SIM_OP_UNMAP);
    op->u.block = b;
    return vs_sim_submit(stream, op, NULL);
}

CUresult vs_sim_block_free(uintptr_t address, struct vs_sim_stream *stream)
{
    pthread_mutex_lock(&blocks_mu);
    struct vs_sim_block *b = find_locked(address);
    bool live = b && b->live;
    if (live)
        b->live = false;
    pthread_mutex_unlock(&blocks_mu);
    if (!live)
        return CUDA_ERROR_INVALID_VALUE;
    if (stream)
        return submit_free(b, stream);
    vs_sim_block_unmap(b);
    return CUDA_SUCCESS;
}

void vs_sim_block_drop(uintptr_t address)
{
    pthread_mutex_lock(&blocks_mu);
    struct vs_sim_block *b = find_locked(address);
    if (b) {
        b->gone = true; /* its range has been removed */
        unmap_locked(b);
        return_locked(b);
        if (b->live) /* it will not be freed; pending frees still refer to the block */
            b->users--;
        b->live = false;
        delete_if_unused_locked(b);
    }
    pthread_mutex_unlock(&blocks_mu);
}

/* ---- launches ---- */

static bool allocates_before(const struct vs_sim_graph_exec *exec, const struct vs_sim_block *b,
                      size_t until)
{
    for (size_t i = 0; i < until; i++)
        if (exec->steps[i].node->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC &&
            exec->steps[i].node->u.alloc.block == b)
            return true;
    return false;
}

/* Each allocated block must be free before, and each freed block allocated. */
static CUresult check_locked(const struct vs_sim_graph_exec *exec)
{
    bool frees_itself = exec->flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    for (size_t i = 0; i < exec->step_count; i++) {
        const struct vs_sim_node *n = exec->steps[i].node;
        if (n->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC &&
            (n->u.alloc.block->gone || (n->u.alloc.block->live && !frees_itself)))
            return CUDA_ERROR_INVALID_VALUE;
        if (n->type == CU_GRAPH_NODE_TYPE_MEM_FREE) {
            const struct vs_sim_block *b = find_locked(n->u.freed);
            if (!b || (!b->live && !allocates_before(exec, b, i)))
                return CUDA_ERROR_INVALID_VALUE;
        }
    }
    return CUDA_SUCCESS;
}

static CUresult charge_all_locked(const struct vs_sim_graph_exec *exec)
{
    for (size_t i = 0; i < exec->step_count; i++) {
        if (exec->steps[i].node->type != CU_GRAPH_NODE_TYPE_MEM_ALLOC)
            continue;
        if (!vs_sim_fault_alloc(VS_SIM_FAMILY_GRAPH) &&
            charge_locked(exec->steps[i].node->u.alloc.block))
            continue;
        while (i-- > 0)
            if (exec->steps[i].node->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
                uncharge_locked(exec->steps[i].node->u.alloc.block);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    return CUDA_SUCCESS;
}

CUresult vs_sim_block_begin(struct vs_sim_graph_exec *exec, struct vs_sim_stream *stream)
{
    pthread_mutex_lock(&blocks_mu);
    CUresult e = check_locked(exec);
    if (!e)
        e = charge_all_locked(exec);
    pthread_mutex_unlock(&blocks_mu);
    for (size_t i = 0; i < exec->step_count && !e; i++) {
        const struct vs_sim_node *n = exec->steps[i].node;
        bool allocates = n->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC, was = false;
        pthread_mutex_lock(&blocks_mu);
        struct vs_sim_block *b = allocates                                ? n->u.alloc.block
                                 : n->type == CU_GRAPH_NODE_TYPE_MEM_FREE ? find_locked(n->u.freed)
                                                                          : NULL;
        if (b) {
            was = b->live;
            b->live = allocates;
        }
        pthread_mutex_unlock(&blocks_mu);
        if (allocates && was)
            e = submit_free(b, stream); /* AUTO_FREE_ON_LAUNCH */
    }
    return e;
}

/* ---- a device's graph memory ---- */

CUresult cuDeviceGraphMemTrim_entered(struct vs_sim_device *device)
{
    struct graph_memory *m = &memories[device->ordinal];
    pthread_mutex_lock(&blocks_mu);
    vs_sim_space_uncharge(device->ordinal, m->reserved - m->used);
    m->reserved = m->used;
    pthread_mutex_unlock(&blocks_mu);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetGraphMemAttribute_entered(struct vs_sim_device *device,
                                              CUgraphMem_attribute attr, void *value)
{
    struct graph_memory *m = &memories[device->ordinal];
    if (!value)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&blocks_mu);
    const uint64_t all[] = {
        [CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT] = m->reserved,
        [CU_GRAPH_MEM_ATTR_USED_MEM_HIGH] = m->used_high,
        [CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT] = m->reserved,
        [CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH] = m->reserved_high,
    };
    pthread_mutex_unlock(&blocks_mu);
    if ((unsigned)attr >= sizeof all / sizeof all[0])
        return CUDA_ERROR_INVALID_VALUE;
    *(cuuint64_t *)value = all[attr];
    return CUDA_SUCCESS;
}

CUresult cuDeviceSetGraphMemAttribute_entered(struct vs_sim_device *device,
                                              CUgraphMem_attribute attr, void *value)
{
    struct graph_memory *m = &memories[device->ordinal];
    bool used = attr == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH;
    if (!value || *(cuuint64_t *)value || (!used && attr != CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH))
        return CUDA_ERROR_INVALID_VALUE; /* the marks can only be reset */
    pthread_mutex_lock(&blocks_mu);
    *(used ? &m->used_high : &m->reserved_high) = m->reserved;
    pthread_mutex_unlock(&blocks_mu);
    return CUDA_SUCCESS;
}
