/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/report/held_segments.h"

#include <stdlib.h>

#include "analysis/report/summary.h"
#include "analysis/state/user_level.h"
#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"
#include "base/vs_treap.h"

struct vs_held_node {
    struct vs_held_node *left, *right;
    struct vs_held_segment segment;
};

struct held_at {
    uint64_t device, addr;
};

static struct vs_held_node *held_node(struct vs_held_node *n)
{
    return n;
}

static struct vs_held_node *held_link(struct vs_held_node *n)
{
    return n;
}

static struct vs_held_node **held_left(struct vs_held_node *n)
{
    return &n->left;
}

static struct vs_held_node **held_right(struct vs_held_node *n)
{
    return &n->right;
}

static uint64_t held_address(const struct vs_held_node *n)
{
    return n->segment.addr ^ (n->segment.device << 57); /* no device has addresses as high */
}

static bool held_before(const struct vs_held_node *n, struct held_at at)
{
    return n->segment.device != at.device ? n->segment.device < at.device
        : n->segment.addr < at.addr;
}

VS_TREAP(held, struct vs_held_node, struct vs_held_node *, struct held_at)

static void add(struct vs_held_segments *held, struct vs_held_segment segment)
{
    struct vs_held_node *node = held->spare;
    if (node)
        held->spare = node->left;
    else
        node = vs_xarena(&held->arena, sizeof *node);
    *node = (struct vs_held_node){.segment = segment};
    held_insert(&held->tree, node, (struct held_at){segment.device, segment.addr});
    held->count++;
}

/* Memory of [addr, addr + bytes) is no longer held; a segment may be released in parts. */
static void release(struct vs_held_segments *held, uint64_t device, uint64_t addr, uint64_t bytes)
{
    uint64_t to = bytes < UINT64_MAX - addr ? addr + bytes : UINT64_MAX;
    const struct held_at at = {device, addr};
    while (addr < to) {
        /* the first segment that overlaps it */
        struct vs_held_node *node = held_last_before(held->tree, at);
        if (!node || node->segment.device != device ||
            addr - node->segment.addr >= node->segment.bytes)
            node = held_first_from(held->tree, at);
        if (!node || node->segment.device != device || node->segment.addr >= to)
            return;
        struct vs_held_segment whole = node->segment;
        uint64_t end = whole.addr + whole.bytes;
        if (whole.addr < addr) {
            node->segment.bytes = addr - whole.addr;
        } else {
            held_remove(&held->tree, node, (struct held_at){device, whole.addr});
            node->left = held->spare;
            held->spare = node;
            held->count--;
        }
        if (to < end)
            add(held, (struct vs_held_segment){device, to, end - to, whole.stack});
    }
}

static void hold(struct vs_held_segments *held, struct vs_held_segment segment)
{
    uint64_t most = UINT64_MAX - segment.addr;
    segment.bytes = segment.bytes < most ? segment.bytes : most;
    if (!segment.bytes)
        return;
    release(held, segment.device, segment.addr, segment.bytes);
    add(held, segment);
}

void vs_held_segments_free(struct vs_held_segments *held)
{
    vs_arena_free_all(&held->arena);
    *held = (struct vs_held_segments){0};
}

void vs_held_segments_event(struct vs_held_segments *held, const struct vs_event *event)
{
    switch (event->kind) {
    case VS_EVENT_segment_alloc:
        hold(held, (struct vs_held_segment){event->segment_alloc.device, event->segment_alloc.addr,
                                         event->segment_alloc.size, event->segment_alloc.stack});
        return;
    case VS_EVENT_segment_map:
        hold(held, (struct vs_held_segment){event->segment_map.device, event->segment_map.addr,
                                         event->segment_map.reserved, event->segment_map.stack});
        return;
    case VS_EVENT_segment_free:
        release(held, event->segment_free.device, event->segment_free.addr, event->segment_free.size);
        return;
    case VS_EVENT_segment_unmap:
        release(held, event->segment_unmap.device, event->segment_unmap.addr,
                event->segment_unmap.size);
        return;
    default: return;
    }
}

/* The last of *count* segments, by address, that starts at or before *addr*; *count* when none does. */
static size_t segment_before(const struct vs_held_segment *segments, size_t count, uint64_t addr)
{
    size_t after = VS_VEC_UP_TO(segments, count, addr, addr);
    return after ? after - 1 : count;
}

size_t vs_held_list(const struct vs_held_segments *held, uint64_t device,
                    struct vs_held_segment **out)
{
    const struct vs_held_node *node = held_first_from(held->tree, (struct held_at){device, 0});
    size_t count = 0;
    *out = vs_xcalloc(held->count + 1, sizeof **out);
    for (; node && node->segment.device == device;
         node = held_first_from(held->tree, (struct held_at){device, node->segment.addr + 1}))
        (*out)[count++] = node->segment;
    return count;
}

void vs_held_unused(const struct vs_held_segments *held, const struct vs_replay *replay,
                    unsigned account, struct vs_held_segment **out, size_t *count)
{
    struct vs_held_segment *all;
    struct vs_user_segment *own = NULL;
    uint64_t device = replay->accounts[account]->device;
    size_t cursor = 0, n = vs_held_list(held, device, &all), capacity = held->count + 1, known = n;
    size_t own_count = 0, kept = 0;
    /* and the segments of a framework that lie in none of them */
    vs_user_segments(replay, account, &own, &own_count);
    vs_vec_room(&all, &capacity, n + own_count, sizeof *all);
    for (size_t i = 0; i < own_count; i++) {
        size_t at = segment_before(all, known, own[i].addr);
        if (at == known || own[i].addr - all[at].addr >= all[at].bytes)
            all[n++] = (struct vs_held_segment){
                device, own[i].addr, own[i].size,
                own[i].site < replay->sites.count ? replay->sites.items[own[i].site].stack : 0};
    }
    free(own);
    VS_SORT(all, n, VS_UP(addr));
    uint64_t *used = vs_xcalloc(n + 1, sizeof *used);
    for (const struct vs_live *live; (live = vs_user_live_next(replay, account,
                                                               &cursor)) != NULL;) {
        /* takes the block off the segments that it lies in: of mapped memory there may be
         * several */
        size_t at = segment_before(all, n, live->addr);
        uint64_t addr = live->addr, left = live->size;
        for (; left && at < n && all[at].addr <= addr && addr - all[at].addr < all[at].bytes;
             at++) {
            uint64_t room = all[at].bytes - (addr - all[at].addr), part = left < room ? left : room;
            used[at] += part;
            addr += part;
            left -= part;
        }
    }
    for (size_t i = 0; i < n; i++) {
        if (used[i] >= all[i].bytes)
            continue;
        all[kept] = all[i];
        all[kept++].bytes -= used[i];
    }
    free(used);
    *out = all;
    *count = kept;
}

void vs_segment_sites(const struct vs_summary *summary, const struct vs_held_segment *held,
                      size_t held_count, uint64_t device, struct vs_report_sites *out)
{
    struct vs_site_list list = {
        .items = vs_xarena(summary->memory, (held_count + 1) * sizeof *list.items)};
    for (size_t i = 0; i < held_count; i++)
        if (held[i].device == device)
            vs_site_list_add(summary, &list, held[i].stack, "", held[i].bytes, 1, out)->stacks = 1;
    vs_map_free(&list.by_text);
    VS_SORT(list.items, list.count, VS_DOWN(bytes), VS_DOWN(count));
    out->items = list.items;
    out->count = list.count;
}
