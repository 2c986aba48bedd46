/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. What has an identity (a device, a stream, a thread, a range with an id) is
 * entered by it, so that news replace it where it stands; ranges that nest are found from
 * the latest back. */
#include "analysis/checkpoint/carried.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/state/vec.h"

static uint64_t key_of(uint32_t kind, uint64_t id)
{
    uint64_t key = (id ^ (uint64_t)kind << 56) * UINT64_C(0x9e3779b97f4a7c15);
    return key ? key : 1;
}

static bool same(const struct vs_event *a, uint32_t kind, uint64_t id)
{
    return a->kind == kind && a->fields[0] == id;
}

/* Its place in the list; SIZE_MAX when it is not there. Kinds entered here have their
 * identity in their first field. */
static size_t find(const struct vs_carried *carried, uint32_t kind, uint64_t id)
{
    const uint64_t *found = vs_map_get(&carried->by_key, key_of(kind, id));
    return found && same(&carried->items[*found], kind, id) ? (size_t)*found : SIZE_MAX;
}

/* Close the gaps. */
static enum vs_err pack(struct vs_carried *carried)
{
    size_t kept = 0;
    for (size_t i = 0; i < carried->count; i++) {
        if (!carried->items[i].kind)
            continue;
        carried->items[kept] = carried->items[i];
        if (vs_event_has(&carried->items[kept], VS_PROPERTY_NUMBERED)) {
            const struct vs_event *event = &carried->items[kept];
            enum vs_err err =
                vs_map_put(&carried->by_key, key_of(event->kind, event->fields[0]), kept);
            if (err)
                return err;
        }
        kept++;
    }
    carried->count = kept;
    carried->gone = 0;
    return VS_OK;
}

static enum vs_err append(struct vs_carried *carried, const struct vs_event *event)
{
    if (carried->gone > 64 && carried->gone > carried->count / 2) {
        enum vs_err err = pack(carried);
        if (err)
            return err;
    }
    if (carried->count >= VS_CARRIED_MAX)
        return VS_OK;
    enum vs_err err = vs_vec_grow(&carried->items, &carried->capacity, carried->count + 1,
                                  sizeof *carried->items);
    if (!err && vs_event_has(event, VS_PROPERTY_NUMBERED))
        err = vs_map_put(&carried->by_key, key_of(event->kind, event->fields[0]), carried->count);
    if (err)
        return err;
    carried->items[carried->count++] = *event;
    return VS_OK;
}

static void drop(struct vs_carried *carried, size_t at)
{
    if (at == SIZE_MAX)
        return;
    struct vs_event *event = &carried->items[at];
    if (vs_event_has(event, VS_PROPERTY_NUMBERED))
        vs_map_remove(&carried->by_key, key_of(event->kind, event->fields[0]), NULL);
    event->kind = 0;
    carried->gone++;
    while (carried->count && !carried->items[carried->count - 1].kind) {
        carried->count--;
        carried->gone--;
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

/* New, replaced, or gone. */
static enum vs_err keep(struct vs_carried *carried, const struct vs_event *event)
{
    size_t at = find(carried, event->kind, event->fields[0]);
    if (!is_alive(event)) {
        drop(carried, at);
        return VS_OK;
    }
    if (at == SIZE_MAX)
        return append(carried, event);
    carried->items[at] = *event;
    return VS_OK;
}

static enum vs_err line(struct vs_carried *carried, const struct vs_event *event)
{
    if (carried->lines[event->kind] == VS_CARRIED_LINES)
        return VS_OK;
    carried->lines[event->kind]++;
    return append(carried, event);
}

static void pop(struct vs_carried *carried, const struct vs_event *event)
{
    for (size_t i = carried->count; i-- > 0;) {
        const struct vs_event *open = &carried->items[i];
        if (open->kind == VS_EVENT_range_push && open->tid == event->tid &&
            open->range_push.domain == event->range_pop.domain) {
            drop(carried, i);
            return;
        }
    }
}

enum vs_err vs_carried_event(struct vs_carried *carried, const struct vs_event *event)
{
    if (!vs_event_has(event, VS_PROPERTY_STATE))
        return VS_OK;
    if (vs_event_has(event, VS_PROPERTY_NUMBERED))
        return keep(carried, event);
    switch (event->kind) {
    case VS_EVENT_process:
        return carried->count && carried->items[0].kind == VS_EVENT_process
                   ? VS_OK : append(carried, event);
    case VS_EVENT_range_end: {
        drop(carried, find(carried, VS_EVENT_range_start, event->range_end.range));
        return VS_OK;
    }
    case VS_EVENT_range_push: return append(carried, event);
    case VS_EVENT_range_pop: pop(carried, event); return VS_OK;
    default: return line(carried, event);
    }
}

void vs_carried_free(struct vs_carried *carried)
{
    free(carried->items);
    vs_map_free(&carried->by_key);
    *carried = (struct vs_carried){0};
}
