/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. A list of the segments for those who read them all, and a search tree that finds
 * those of an address. */
#include "analysis/report/held_segments.h"

#include <stdlib.h>

#include "analysis/report/summary.h"
#include "analysis/state/user_level.h"
#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"
#include "base/vs_treap.h"

/* Where a segment is: a node of the tree. *item*: its number in the list. */
struct vs_held_place {
    struct vs_held_place *left, *right;
    uint64_t device, addr;
    size_t item;
};

struct place_key {
    uint64_t device, addr;
};

static struct vs_held_place *place_node(struct vs_held_place *n)
{
    return n;
}

static struct vs_held_place *place_link(struct vs_held_place *n)
{
    return n;
}

static struct vs_held_place **place_left(struct vs_held_place *n)
{
    return &n->left;
}

static struct vs_held_place **place_right(struct vs_held_place *n)
{
    return &n->right;
}

static uint64_t place_address(const struct vs_held_place *n)
{
    return n->addr ^ (n->device << 57); /* no device has addresses as high */
}

static bool place_before(const struct vs_held_place *n, struct place_key at)
{
    return n->device != at.device ? n->device < at.device : n->addr < at.addr;
}

VS_TREAP(place, struct vs_held_place, struct vs_held_place *, struct place_key)

static void add(struct vs_held_segments *held, struct vs_held_segment segment)
{
    size_t need = held->count + 1;
    vs_vec_room(&held->items, &held->capacity, need, sizeof *held->items);
    vs_vec_room(&held->places, &held->places_capacity, need, sizeof(struct vs_held_place *));
    struct vs_held_place *place = held->spare;
    if (place)
        held->spare = place->left;
    else
        place = vs_xarena(&held->arena, sizeof *place);
    *place = (struct vs_held_place){.device = segment.device, .addr = segment.addr, .item = held->count};
    place_insert(&held->tree, place, (struct place_key){segment.device, segment.addr});
    held->places[held->count] = place;
    held->items[held->count++] = segment;
}

/* The last of the list gets its number. */
static void drop(struct vs_held_segments *held, struct vs_held_place *place)
{
    size_t item = place->item, last = --held->count;
    place_remove(&held->tree, place, (struct place_key){place->device, place->addr});
    held->items[item] = held->items[last];
    held->places[item] = held->places[last];
    held->places[item]->item = item;
    place->left = held->spare;
    held->spare = place;
}

/* The first segment of *device* that overlaps [addr, end); NULL when none does. */
static struct vs_held_place *first_within(const struct vs_held_segments *held, uint64_t device,
                                          uint64_t addr, uint64_t end)
{
    struct place_key at = {device, addr};
    struct vs_held_place *place = addr < end ? place_last_before(held->tree, at) : NULL;
    if (place && place->device == device && addr - place->addr < held->items[place->item].bytes)
        return place;
    place = place_first_from(held->tree, at);
    return place && place->device == device && place->addr < end ? place : NULL;
}

/* Removes the first bytes of a segment: it starts at *addr* from here on. */
static void start_at(struct vs_held_segments *held, struct vs_held_place *place, uint64_t addr)
{
    struct vs_held_segment *segment = &held->items[place->item];
    place_remove(&held->tree, place, (struct place_key){place->device, place->addr});
    segment->bytes -= addr - segment->addr;
    segment->addr = place->addr = addr;
    place_insert(&held->tree, place, (struct place_key){place->device, addr});
}

/* Memory of [addr, addr + bytes) is no longer held; a segment may be released in parts. */
static void release(struct vs_held_segments *held, uint64_t device, uint64_t addr, uint64_t bytes)
{
    uint64_t to = bytes < UINT64_MAX - addr ? addr + bytes : UINT64_MAX;
    struct vs_held_place *place;
    while ((place = first_within(held, device, addr, to)) != NULL) {
        struct vs_held_segment whole = held->items[place->item];
        uint64_t end = whole.addr + whole.bytes;
        if (whole.addr < addr)
            held->items[place->item].bytes = addr - whole.addr;
        else if (to < end)
            start_at(held, place, to);
        else
            drop(held, place);
        if (whole.addr < addr && to < end)
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
    free(held->items);
    free(held->places);
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

static int by_address(const void *a, const void *b)
{
    const struct vs_held_segment *x = a, *y = b;
    return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* The last of *count* segments, by address, that starts at or before *addr*; *count* when none does. */
static size_t segment_before(const struct vs_held_segment *segments, size_t count, uint64_t addr)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (segments[middle].addr <= addr)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? low - 1 : count;
}

/* Adds the segments of a framework that lie in none of the first *count*. */
static void add_of_framework(const struct vs_replay *replay, unsigned account,
                             struct vs_held_segment **all, size_t *count)
{
    struct vs_user_segment *own = NULL;
    size_t own_count = 0, held = *count, capacity = held;
    vs_user_segments(replay, account, &own, &own_count);
    vs_vec_room(all, &capacity, held + own_count + 1, sizeof **all);
    for (size_t i = 0; i < own_count; i++) {
        size_t at = segment_before(*all, held, own[i].addr);
        if (at < held && own[i].addr - (*all)[at].addr < (*all)[at].bytes)
            continue;
        (*all)[(*count)++] = (struct vs_held_segment){
            replay->accounts[account]->device, own[i].addr, own[i].size,
            own[i].site < replay->sites.count ? replay->sites.items[own[i].site].stack : 0};
    }
    free(own);
}

/* Takes the block off the segments that it lies in: of mapped memory there may be several. */
static void use(const struct vs_held_segment *segments, uint64_t *used, size_t count, const struct vs_live *live)
{
    size_t at = segment_before(segments, count, live->addr);
    uint64_t addr = live->addr, left = live->size;
    for (; left && at < count && segments[at].addr <= addr && addr - segments[at].addr < segments[at].bytes; at++) {
        uint64_t room = segments[at].bytes - (addr - segments[at].addr), part = left < room ? left : room;
        used[at] += part;
        addr += part;
        left -= part;
    }
}

void vs_held_unused(const struct vs_held_segments *held, const struct vs_replay *replay,
                    unsigned account, struct vs_held_segment **out, size_t *count)
{
    uint64_t device = replay->accounts[account]->device;
    struct vs_held_segment *all = vs_xcalloc(1, (held->count + 1) * sizeof *all);
    size_t cursor = 0, n = 0, kept = 0;
    for (size_t i = 0; i < held->count; i++)
        if (held->items[i].device == device)
            all[n++] = held->items[i];
    qsort(all, n, sizeof *all, by_address);
    add_of_framework(replay, account, &all, &n);
    qsort(all, n, sizeof *all, by_address);
    uint64_t *used = vs_xcalloc(n + 1, sizeof *used);
    for (const struct vs_live *live; (live = vs_user_live_next(replay, account, &cursor)) != NULL;)
        use(all, used, n, live);
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
    qsort(list.items, list.count, sizeof *list.items, vs_heavier_site);
    out->items = list.items;
    out->count = list.count;
}
