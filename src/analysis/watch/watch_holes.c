/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory that is held for a device but not in use. In segments of our cache: vs_replay_holes. In the
 * segments of a framework, which are allocations of the device: the gaps between its blocks. */
#include <stdlib.h>

#include "analysis/state/user_level.h"
#include "analysis/watch/watch_internal.h"
#include "base/reading/vs_vec.h"

struct watch_extent {
    uint64_t addr, size;
};

struct watch_extents {
    struct watch_extent *items;
    size_t count, capacity;
};

static int by_address(const void *a, const void *b)
{
    const struct watch_extent *x = a, *y = b;
    return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* The live blocks of *account* in *table*; *backing*: only those that hold a framework's blocks. */
static void list(const struct vs_replay *replay, const struct vs_live_table *table,
                 unsigned account, bool backing, struct watch_extents *out)
{
    for (size_t i = 0; i < table->slots; i++) {
        const struct vs_live *live = &table->items[i];
        if (!live->used || live->device != account ||
            (backing && !replay->sites.items[live->site].backing))
            continue;
        struct watch_extent *extent =
            vs_vec_push(&out->items, &out->count, &out->capacity, sizeof *extent);
        *extent = (struct watch_extent){live->addr, live->size};
    }
    vs_vec_sort(out->items, out->count, sizeof *out->items, by_address);
}

static void add_hole(struct vs_holes *holes, uint64_t size)
{
    if (!size)
        return;
    holes->free_bytes += size;
    holes->count++;
    if (size > holes->largest)
        holes->largest = size;
}

void vs_watch_fill_holes(const struct vs_watch *w, unsigned account, struct vs_holes *out)
{
    const struct vs_replay *replay = w->replay;
    *out = (struct vs_holes){0};
    if (vs_user_level(replay, account) != VS_LEVEL_FRAMEWORK) {
        vs_replay_holes(replay, account, out);
        return;
    }
    struct watch_extents segments = {0}, blocks = {0};
    list(replay, &replay->device_live, account, true, &segments);
    list(replay, &replay->framework_live, account, false, &blocks);
    size_t at = 0;
    for (size_t i = 0; i < segments.count; i++) {
        const struct watch_extent *segment = &segments.items[i];
        uint64_t used = 0;
        while (at < blocks.count && blocks.items[at].addr < segment->addr)
            at++;
        size_t first = at;
        for (; at < blocks.count && blocks.items[at].addr - segment->addr < segment->size; at++) {
            uint64_t offset = blocks.items[at].addr - segment->addr;
            uint64_t end = offset + blocks.items[at].size;
            add_hole(out, offset > used ? offset - used : 0);
            used = end > used ? end : used;
        }
        add_hole(out, used < segment->size ? segment->size - used : 0);
        if (at == first)
            out->empty_bytes += segment->size;
    }
    free(segments.items);
    free(blocks.items);
}
