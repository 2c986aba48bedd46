/* SPDX-License-Identifier: Apache-2.0
 *
 * Expandable segments in the reference model: address ranges, of 9/8 of the device's memory unless
 * configured smaller, for each stream and pool, whose blocks are mapped or not; memory in handles
 * of 2 MiB (small) or 20 MiB, mapped at the lowest place that fits (PyTorch: find_expandable_block,
 * map_block, unmap_block). */
#include "reference_internal.h"

#include <stdlib.h>

static uint64_t handle_bytes(const struct model *m, bool large)
{
    return large ? model_large_segment(m) : 2 * MODEL_MIB;
}

static bool neighbours(const struct model *m, int low, int high)
{
    return low >= 0 && high < m->count && m->blocks[low].segment == m->blocks[high].segment;
}

static bool usable(const struct block *b)
{
    return b->unmapped || model_is_free(b);
}

/* The place where the request can grow: the lowest unmapped block with enough space, or the free
 * one right before it. */
static int find_space(const struct model *m, const struct request *q)
{
    for (int i = 0; i < m->count; i++) {
        const struct block *b = &m->blocks[i];
        if (!b->unmapped || b->large != q->large || b->pool != q->pool || b->stream != q->stream)
            continue;
        int from = neighbours(m, i - 1, i) && usable(&m->blocks[i - 1]) ? i - 1 : i;
        uint64_t bytes = 0;
        for (int k = from; neighbours(m, from, k) && usable(&m->blocks[k]); k++)
            bytes += m->blocks[k].size;
        if (bytes >= q->size)
            return from;
    }
    return -1;
}

static int index_of_unmapped(const struct model *m, uint64_t addr)
{
    for (int i = 0; i < m->count; i++) {
        if (m->blocks[i].addr == addr && m->blocks[i].unmapped)
            return i;
    }
    return -1;
}

static enum vs_err new_range(struct model *m, const struct request *q, int *out)
{
    uint64_t total = m->config.total_memory ? m->config.total_memory : m->device->capacity;
    uint64_t bytes = total + total / 8, addr;
    if (m->config.expandable_reserve_bytes && m->config.expandable_reserve_bytes < bytes)
        bytes = m->config.expandable_reserve_bytes;
    bytes = model_round_up(bytes, handle_bytes(m, q->large));
    if (q->size > bytes)
        return VS_ERR_DEVICE_OOM; /* even if memory was free, it could not be mapped */
    enum vs_err err = fake_device_ops.range_reserve(m->device, bytes, &addr);
    if (err)
        return err;
    RAN(m, range);
    model_insert(m, (struct block){.addr = addr, .size = bytes, .segment = addr,
                                   .segment_size = bytes, .stream = q->stream, .pool = q->pool,
                                   .large = q->large, .age = model_age(m), .expandable = true,
                                   .unmapped = true});
    *out = index_of_unmapped(m, addr);
    return VS_OK;
}

/* Creates and maps all *count* handles from *addr* on, or none. */
static enum vs_err map_handles(struct model *m, uint64_t addr, uint64_t each, size_t count)
{
    uint64_t *handles = calloc(count, sizeof *handles);
    size_t made = 0;
    enum vs_err err = VS_OK;
    if (!handles)
        abort();
    while (made < count && !err) {
        err = fake_device_ops.memory_create(m->device, each, &handles[made]);
        made += !err;
    }
    if (!err)
        err = fake_device_ops.memory_map(m->device, addr, each, handles, count);
    for (size_t i = 0; i < made; i++) /* mapped parts stay, without their handles */
        (void)fake_device_ops.memory_release(m->device, handles[i], each);
    free(handles);
    m->counts[MODEL_map_failed] += err != VS_OK;
    return err;
}

/* Maps the first *size* bytes, rounded up to handles, of unmapped block *i*. *at*: the block that
 * then holds them. */
static enum vs_err map_block(struct model *m, int i, uint64_t size, int *at)
{
    struct block b = m->blocks[i], rest = b;
    uint64_t each = handle_bytes(m, b.large), bytes = model_round_up(size, each);
    enum vs_err err = map_handles(m, b.addr, each, bytes / each);
    if (err)
        return err;
    RAN(m, map);
    model_emit(m, VS_ALLOCATOR_SEGMENT_MAP, &b, b.addr, bytes, bytes);
    m->blocks[i].unmapped = false;
    m->blocks[i].size = bytes;
    m->blocks[i].unsafe_until = 0;
    if (bytes < b.size) {
        rest.addr += bytes;
        rest.size -= bytes;
        model_insert(m, rest);
    }
    if (neighbours(m, i, i + 1) && model_is_free(&m->blocks[i + 1])) {
        RAN(m, map_filled);
        model_join(m, i);
    }
    if (neighbours(m, i - 1, i) && model_is_free(&m->blocks[i - 1])) {
        RAN(m, map_joined);
        model_join(m, --i);
    }
    m->blocks[i].born_free = m->searches;
    m->stats.num_device_alloc++;
    model_recount(m);
    *at = i;
    return VS_OK;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

enum vs_err model_grow(struct model *m, const struct request *q, int *out)
{
    int i = find_space(m, q), parts = 0;
    enum vs_err err = i < 0 ? new_range(m, q, &i) : VS_OK;
    if (!err && m->blocks[i].unmapped) {
        parts++;
        err = map_block(m, i, smaller(m->blocks[i].size, q->size), &i);
    }
    while (!err && m->blocks[i].size < q->size) {
        uint64_t missing = q->size - m->blocks[i].size;
        parts++;
        err = map_block(m, i + 1, smaller(m->blocks[i + 1].size, missing), &i);
    }
    m->counts[MODEL_map_twice] += parts > 1;
    m->counts[MODEL_map_kept] += err && parts > 1;
    m->counts[MODEL_grown_free] += !err && !parts;
    *out = i;
    return err;
}

static void drop_range(struct model *m, int i)
{
    if (fake_device_ops.range_release(m->device, m->blocks[i].addr, m->blocks[i].size))
        abort();
    RAN(m, range_released);
    model_erase(m, i);
}

void model_drop_unmapped(struct model *m, uint64_t pool)
{
    for (int i = 0; i < m->count;) {
        const struct block *b = &m->blocks[i];
        if (b->pool == pool && b->unmapped && model_alone(b))
            drop_range(m, i);
        else
            i++;
    }
}

/* The whole handles inside block *i*. */
static bool whole_handles(const struct model *m, int i, uint64_t *from, uint64_t *to)
{
    const struct block *b = &m->blocks[i];
    uint64_t each = handle_bytes(m, b->large), offset = b->addr - b->segment;
    *from = b->segment + model_round_up(offset, each);
    *to = b->segment + (offset + b->size) / each * each;
    return *from < *to;
}

/* Under VS_REUSE_AFTER_SYNC one wait covers everything to be unmapped. */
enum vs_err model_settle(struct model *m)
{
    uint64_t from, to;
    for (int i = 0; i < m->count; i++) {
        const struct block *b = &m->blocks[i];
        const struct private_pool *own = model_pool_numbered(m, b->pool);
        if (own && own->users)
            continue;
        if (b->expandable && model_is_free(b) && b->unsafe_until > m->syncs_done &&
            whole_handles(m, i, &from, &to))
            return model_make_safe(m, i);
    }
    return VS_OK;
}

uint64_t model_unmap(struct model *m, int i, enum vs_err *err)
{
    struct block b = m->blocks[i], part = b;
    uint64_t from, to;
    if (!whole_handles(m, i, &from, &to) || b.unsafe_until > m->syncs_done)
        return 0;
    if (m->config.reuse == VS_REUSE_STREAM_ORDERED)
        *err = fake_device_ops.stream_synchronize(m->device, b.stream);
    if (!*err)
        *err = fake_device_ops.memory_unmap(m->device, from, to - from);
    if (*err) {
        RAN(m, unmap_failed);
        return 0;
    }
    RAN(m, unmap);
    model_emit(m, VS_ALLOCATOR_SEGMENT_UNMAP, &b, from, to - from, to - from);
    m->counts[MODEL_pool_release] += b.pool != 0;
    m->counts[MODEL_unmap_edge] += from > b.addr || to < b.addr + b.size;
    model_erase(m, i);
    part.born_free = m->searches;
    if (from > b.addr) {
        part.size = from - b.addr;
        model_insert(m, part);
    }
    if (to < b.addr + b.size) {
        part.addr = to;
        part.size = b.addr + b.size - to;
        model_insert(m, part);
    }
    part.addr = from;
    part.size = to - from;
    part.unmapped = true;
    model_insert(m, part);
    m->stats.num_device_free++;
    model_recount(m);
    i = index_of_unmapped(m, from);
    if (neighbours(m, i, i + 1) && m->blocks[i + 1].unmapped)
        model_join(m, i);
    if (neighbours(m, i - 1, i) && m->blocks[i - 1].unmapped)
        model_join(m, --i);
    if (model_alone(&m->blocks[i]))
        drop_range(m, i);
    return to - from;
}
