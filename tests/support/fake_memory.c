/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. */
#include "support/fake_memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/reading/vs_vec.h"

#define PAGE (UINT64_C(2) << 20)

#define FALLING_BYTES (UINT64_C(1) << 45)

enum vs_err fake_memory_reserve(struct fake_memory *m, uint64_t bytes, uint64_t *addr)
{
    if (!bytes || bytes % PAGE)
        return VS_ERR_ARG;
    vs_vec_room(&m->ranges, &m->range_max, m->range_count + 1, sizeof *m->ranges);
    *addr = FAKE_RANGE_BASE + m->next_range;
    m->next_range += bytes + PAGE; /* ranges never touch */
    size_t place = m->range_count++;
    if (m->falling) {
        *addr = FAKE_RANGE_BASE + FALLING_BYTES - m->next_range;
        memmove(m->ranges + 1, m->ranges, place * sizeof *m->ranges);
        place = 0;
    }
    m->ranges[place] = (struct fake_range){*addr, bytes};
    return VS_OK;
}

/* Index of the first mapping that ends above *addr*. */
static size_t mapping_after(const struct fake_memory *m, uint64_t addr)
{
    size_t low = 0, high = m->mapping_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (m->mappings[middle].addr + m->mappings[middle].bytes > addr)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static bool nothing_mapped(const struct fake_memory *m, uint64_t addr, uint64_t bytes)
{
    size_t i = mapping_after(m, addr);
    return i == m->mapping_count || m->mappings[i].addr >= addr + bytes;
}

/* Index of the range that starts at or below *addr*, the last such; count: none. */
static size_t range_of(const struct fake_memory *m, uint64_t addr)
{
    size_t low = 0, high = m->range_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (m->ranges[middle].addr <= addr)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? low - 1 : m->range_count;
}

enum vs_err fake_memory_unreserve(struct fake_memory *m, uint64_t addr, uint64_t bytes)
{
    size_t i = range_of(m, addr);
    if (i == m->range_count || m->ranges[i].addr != addr || m->ranges[i].bytes != bytes ||
        !nothing_mapped(m, addr, bytes))
        return VS_ERR_ARG;
    m->range_count--;
    memmove(&m->ranges[i], &m->ranges[i + 1], (m->range_count - i) * sizeof *m->ranges);
    return VS_OK;
}

enum vs_err fake_memory_create(struct fake_memory *m, uint64_t bytes, uint64_t *handle)
{
    if (!bytes || bytes % PAGE)
        return VS_ERR_ARG;
    vs_vec_room(&m->handles, &m->handle_max, m->handle_count + 1, sizeof *m->handles);
    m->handles[m->handle_count++] = (struct fake_handle){.bytes = bytes, .held = true};
    *handle = m->handle_count;
    return VS_OK;
}

static struct fake_handle *handle_at(const struct fake_memory *m, uint64_t handle)
{
    if (!handle || handle > m->handle_count || !m->handles[handle - 1].bytes)
        return NULL;
    return &m->handles[handle - 1];
}

static uint64_t drop_if_unused(struct fake_handle *h)
{
    uint64_t bytes = h->bytes;
    if (h->held || h->mappings)
        return 0;
    h->bytes = 0;
    return bytes;
}

enum vs_err fake_memory_release(struct fake_memory *m, uint64_t handle, uint64_t bytes,
                                uint64_t *returned)
{
    struct fake_handle *h = handle_at(m, handle);
    if (!h || !h->held || h->bytes != bytes)
        return VS_ERR_ARG;
    h->held = false;
    *returned = drop_if_unused(h);
    return VS_OK;
}

enum vs_err fake_memory_map(struct fake_memory *m, uint64_t addr, uint64_t bytes_each,
                            const uint64_t *handles, size_t count)
{
    size_t r = range_of(m, addr), i = mapping_after(m, addr);
    if (!count || addr % PAGE || r == m->range_count ||
        addr - m->ranges[r].addr + bytes_each * count > m->ranges[r].bytes ||
        !nothing_mapped(m, addr, bytes_each * count))
        return VS_ERR_ARG;
    for (size_t k = 0; k < count; k++) {
        const struct fake_handle *h = handle_at(m, handles[k]);
        if (!h || !h->held || h->bytes != bytes_each)
            return VS_ERR_ARG;
    }
    vs_vec_room(&m->mappings, &m->mapping_max, m->mapping_count + count, sizeof *m->mappings);
    memmove(&m->mappings[i + count], &m->mappings[i],
            (m->mapping_count - i) * sizeof *m->mappings);
    m->mapping_count += count;
    for (size_t k = 0; k < count; k++) {
        m->mappings[i + k] = (struct fake_mapping){addr + k * bytes_each, bytes_each, handles[k]};
        m->handles[handles[k] - 1].mappings++;
    }
    return VS_OK;
}

enum vs_err fake_memory_unmap(struct fake_memory *m, uint64_t addr, uint64_t bytes,
                              uint64_t *returned)
{
    size_t first = mapping_after(m, addr), end = first;
    uint64_t at = addr;
    while (end < m->mapping_count && m->mappings[end].addr == at && at - addr < bytes)
        at += m->mappings[end++].bytes;
    if (!bytes || at - addr != bytes)
        return VS_ERR_ARG;
    *returned = 0;
    for (size_t i = first; i < end; i++) {
        struct fake_handle *h = handle_at(m, m->mappings[i].handle);
        h->mappings--;
        *returned += drop_if_unused(h);
    }
    memmove(&m->mappings[first], &m->mappings[end],
            (m->mapping_count - end) * sizeof *m->mappings);
    m->mapping_count -= end - first;
    return VS_OK;
}

bool fake_memory_at(const struct fake_memory *m, uint64_t addr, uint64_t *handle,
                    uint64_t *offset)
{
    size_t i = mapping_after(m, addr);
    if (i == m->mapping_count || m->mappings[i].addr > addr)
        return false;
    *handle = m->mappings[i].handle;
    *offset = addr - m->mappings[i].addr;
    return true;
}

void fake_memory_free_all(struct fake_memory *m)
{
    free(m->mappings);
    free(m->ranges);
    free(m->handles);
    *m = (struct fake_memory){0};
}
