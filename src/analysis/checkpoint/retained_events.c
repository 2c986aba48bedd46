/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. Events with an identity (a device, a stream, a thread, a range with an id) are
 * indexed by it, so that a new one replaces the old one in place; nested ranges are searched from
 * the latest back. */
#include "analysis/checkpoint/retained_events.h"

#include <stdlib.h>
#include <string.h>

#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"

static uint64_t key_of(uint32_t kind, uint64_t id)
{
    uint64_t key = (id ^ (uint64_t)kind << 56) * UINT64_C(0x9e3779b97f4a7c15);
    return key ? key : 1;
}

static bool same(const struct vs_event *a, uint32_t kind, uint64_t id)
{
    return a->kind == kind && a->fields[0] == id;
}

/* Its index in the list; SIZE_MAX when there is none. Kinds indexed here have their identity in
 * their first field. */
static size_t find(const struct vs_retained *retained, uint32_t kind, uint64_t id)
{
    const uint64_t *found = vs_map_get(&retained->by_key, key_of(kind, id));
    return found && same(&retained->items[*found], kind, id) ? (size_t)*found : SIZE_MAX;
}

static void append(struct vs_retained *retained, const struct vs_event *event)
{
    if (retained->gone > 64 && retained->gone > retained->count / 2) {
        size_t kept = 0; /* closes the gaps */
        for (size_t i = 0; i < retained->count; i++) {
            if (!retained->items[i].kind)
                continue;
            retained->items[kept] = retained->items[i];
            const struct vs_event *one = &retained->items[kept];
            if (vs_event_has(one, VS_PROPERTY_NUMBERED))
                vs_xmap_put(&retained->by_key, key_of(one->kind, one->fields[0]), kept);
            kept++;
        }
        retained->count = kept;
        retained->gone = 0;
    }
    if (retained->count >= VS_RETAINED_MAX)
        return;
    vs_vec_room(&retained->items, &retained->capacity, retained->count + 1,
                sizeof *retained->items);
    if (vs_event_has(event, VS_PROPERTY_NUMBERED))
        vs_xmap_put(&retained->by_key, key_of(event->kind, event->fields[0]), retained->count);
    retained->items[retained->count++] = *event;
}

static void drop(struct vs_retained *retained, size_t at)
{
    if (at == SIZE_MAX)
        return;
    struct vs_event *event = &retained->items[at];
    if (vs_event_has(event, VS_PROPERTY_NUMBERED))
        vs_map_remove(&retained->by_key, key_of(event->kind, event->fields[0]), NULL);
    event->kind = 0;
    retained->gone++;
    while (retained->count && !retained->items[retained->count - 1].kind) {
        retained->count--;
        retained->gone--;
    }
}

static bool is_alive(const struct vs_event *event)
{
    const struct vs_event_info *info = vs_event_describe(event->kind);
    for (unsigned i = 0; i < info->field_count; i++) {
        if (strcmp(info->fields[i].name, "alive") == 0)
            return event->fields[i] != 0;
    }
    return true;
}

/* Adds, replaces or removes an event. */
static void keep(struct vs_retained *retained, const struct vs_event *event)
{
    size_t at = find(retained, event->kind, event->fields[0]);
    if (!is_alive(event)) {
        drop(retained, at);
        return;
    }
    if (at == SIZE_MAX) {
        append(retained, event);
        return;
    }
    retained->items[at] = *event;
}

static void line(struct vs_retained *retained, const struct vs_event *event)
{
    if (retained->lines[event->kind] == VS_RETAINED_LINES)
        return;
    retained->lines[event->kind]++;
    append(retained, event);
}

static void pop(struct vs_retained *retained, const struct vs_event *event)
{
    for (size_t i = retained->count; i-- > 0;) {
        const struct vs_event *open = &retained->items[i];
        if (open->kind == VS_EVENT_range_push && open->tid == event->tid &&
            open->range_push.domain == event->range_pop.domain) {
            drop(retained, i);
            return;
        }
    }
}

void vs_retained_event(struct vs_retained *retained, const struct vs_event *event)
{
    if (!vs_event_has(event, VS_PROPERTY_STATE))
        return;
    if (vs_event_has(event, VS_PROPERTY_NUMBERED)) {
        keep(retained, event);
        return;
    }
    switch (event->kind) {
    case VS_EVENT_process:
        if (!(retained->count && retained->items[0].kind == VS_EVENT_process))
            append(retained, event);
        return;
    case VS_EVENT_range_end: {
        drop(retained, find(retained, VS_EVENT_range_start, event->range_end.range));
        return;
    }
    case VS_EVENT_range_push: append(retained, event); return;
    case VS_EVENT_range_pop: pop(retained, event); return;
    default: line(retained, event); return;
    }
}

void vs_retained_free(struct vs_retained *retained)
{
    free(retained->items);
    vs_map_free(&retained->by_key);
    *retained = (struct vs_retained){0};
}
