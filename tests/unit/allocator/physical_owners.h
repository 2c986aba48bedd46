/* SPDX-License-Identifier: Apache-2.0
 *
 * Records the owner of each 512 bytes of a fake device's physical memory. An event sink that
 * follows every block to the pages it is mapped on and fails the test when memory is allocated that
 * another block owns, at any address, or that is not mapped; and under VS_REUSE_AFTER_SYNC when no
 * synchronisation began since it was freed. */
#ifndef PHYSICAL_OWNERS_H
#define PHYSICAL_OWNERS_H

#include "allocator_test.h"

#define GRANULE UINT64_C(512)
#define GRANULES (VS_PAGE_BYTES / GRANULE)

struct physical_page {
    uint32_t owner[GRANULES]; /* 0: none */
    uint32_t freed[GRANULES]; /* device.syncs + 1 at the free; 0: never */
};

struct physical_owners {
    struct fake_device *device;
    bool after_sync;
    struct physical_page **pages; /* by handle */
    size_t count;
    uint32_t blocks;
    uint64_t live; /* bytes */
    uint64_t reserved; /* according to the events */
};

static inline struct physical_page *physical_page(struct physical_owners *o, uint64_t addr,
                                                  uint64_t *offset)
{
    uint64_t handle;
    assert_true(fake_memory_at(&o->device->memory, addr, &handle, offset));
    if (handle >= o->count) {
        size_t count = 2 * (size_t)handle + 64;
        o->pages = realloc(o->pages, count * sizeof *o->pages);
        assert_non_null(o->pages);
        memset(o->pages + o->count, 0, (count - o->count) * sizeof *o->pages);
        o->count = count;
    }
    if (!o->pages[handle]) {
        o->pages[handle] = calloc(1, sizeof **o->pages);
        assert_non_null(o->pages[handle]);
    }
    return o->pages[handle];
}

/* Gives *size* bytes at *addr* to *owner*, or removes the owner if 0. */
static inline void physical_own(struct physical_owners *o, uint64_t addr, uint64_t size,
                                uint32_t owner)
{
    for (uint64_t at = addr; at < addr + size;) {
        uint64_t offset;
        struct physical_page *page = physical_page(o, at, &offset);
        for (uint64_t g = offset / GRANULE; g < GRANULES && at < addr + size; g++, at += GRANULE) {
            if (owner) {
                assert_int_equal(page->owner[g], 0);
                if (o->after_sync)
                    assert_true(page->freed[g] <= o->device->syncs);
            } else {
                assert_int_not_equal(page->owner[g], 0);
                page->freed[g] = (uint32_t)o->device->syncs + 1;
            }
            page->owner[g] = owner;
        }
    }
}

static inline void physical_event(void *ctx, const struct vs_allocator_event *e)
{
    struct physical_owners *o = ctx;
    switch (e->kind) {
    case VS_ALLOCATOR_ALLOC:
        physical_own(o, e->addr, e->size, ++o->blocks);
        o->live += e->size;
        break;
    case VS_ALLOCATOR_FREE_COMPLETED:
        physical_own(o, e->addr, e->size, 0);
        o->live -= e->size;
        break;
    case VS_ALLOCATOR_SEGMENT_MAP:
        o->reserved += e->requested;
        break;
    case VS_ALLOCATOR_SEGMENT_UNMAP:
        o->reserved -= e->requested;
        break;
    default:
        break;
    }
}

static const struct vs_event_sink physical_sink = {.event = physical_event};

static inline void physical_free(struct physical_owners *o)
{
    for (size_t i = 0; i < o->count; i++)
        free(o->pages[i]);
    free(o->pages);
}

#endif
