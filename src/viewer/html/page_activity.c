/* SPDX-License-Identifier: Apache-2.0
 *
 * When the buffer is full its rows are ordered and the earlier half is written; a
 * row that comes after a later one was written makes the section unordered. */
#include "viewer/html/page_activity.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/naming/name_text.h"
#include "analysis/state/activity.h"
#include "base/reading/vs_vec.h"
#include "trace/symbols/demangle.h"

#define WAITING_MAX ((size_t)1 << 17)
#define KERNEL_NAME_MAX 400 /* bytes of a name that are kept */

static int by_start(const void *a, const void *b)
{
    const struct vs_page_work *x = a, *y = b;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return (x->stream > y->stream) - (x->stream < y->stream);
}

static void order(struct vs_page_activity *activity)
{
    struct vs_page_work *rows = activity->waiting;
    size_t count = activity->waiting_count;
    for (size_t i = 1; i < count; i++)
        if (rows[i].start_ns < rows[i - 1].start_ns) {
            qsort(rows, count, sizeof *rows, by_start);
            return;
        }
}

static void write_rows(struct vs_page_activity *activity, size_t count)
{
    struct vs_column *c = activity->columns;
    for (size_t i = 0; i < count; i++) {
        const struct vs_page_work *row = &activity->waiting[i];
        activity->unordered |= row->start_ns < activity->last_ns;
        activity->last_ns = row->start_ns;
        vs_column_add(&c[VS_ACTIVITY_START], row->start_ns);
        vs_column_add(&c[VS_ACTIVITY_DURATION], row->duration_ns);
        vs_column_add(&c[VS_ACTIVITY_NAME], row->name);
        vs_column_add(&c[VS_ACTIVITY_STREAM], row->stream);
        vs_column_add(&c[VS_ACTIVITY_DEVICE], activity->numbers[row->device]);
        vs_column_add(&c[VS_ACTIVITY_TYPE], row->type);
        vs_column_add(&c[VS_ACTIVITY_BYTES], row->bytes);
    }
    memmove(activity->waiting, activity->waiting + count,
            (activity->waiting_count - count) * sizeof *activity->waiting);
    activity->waiting_count -= count;
}

static void keep_name(struct vs_page_activity *activity, uint64_t key, const char *text,
                      uint32_t *number)
{
    size_t length = strlen(text);
    vs_vec_room(&activity->names, &activity->name_capacity,
                activity->name_count + 1, sizeof *activity->names);
    char *kept = vs_xarena(&activity->memory, length + 1);
    memcpy(kept, text, length);
    *number = (uint32_t)activity->name_count;
    activity->names[activity->name_count++] = kept;
    vs_xmap_put(&activity->by_name, key, activity->name_count);
}

/* A kernel's readable name, at most KERNEL_NAME_MAX bytes. */
static void keep_kernel(struct vs_page_activity *activity, const struct vs_replay *replay,
                        uint64_t id, uint64_t key, uint32_t *number)
{
    const char *name = vs_reader_string(replay->reader, id);
    char *readable = strncmp(name, "_Z", 2) == 0 ? vs_demangle(name) : NULL;
    char text[KERNEL_NAME_MAX + 8];
    int length = snprintf(text, KERNEL_NAME_MAX, "%s", readable ? readable : name);
    if (length >= KERNEL_NAME_MAX)
        memcpy(text + KERNEL_NAME_MAX - 1, "...", 4);
    free(readable);
    keep_name(activity, key, text, number);
}

static void name_of(struct vs_page_activity *activity, const struct vs_replay *replay,
                    const struct vs_event *event, uint32_t *number)
{
    char text[64] = "memset";
    uint64_t key = event->kind == VS_EVENT_kernel   ? event->kernel.name * 2 + 2
                   : event->kind == VS_EVENT_memcpy ? event->memcpy.copy_kind * 8 + 3
                   : event->kind == VS_EVENT_memset ? 5
                                                    : 7;
    const uint64_t *found = vs_map_get(&activity->by_name, key);
    if (found) {
        *number = (uint32_t)(*found - 1);
        return;
    }
    if (event->kind == VS_EVENT_kernel) {
        keep_kernel(activity, replay, event->kernel.name, key, number);
        return;
    }
    if (event->kind == VS_EVENT_memcpy)
        snprintf(text, sizeof text, "copy %s", vs_copy_kind_name(event->memcpy.copy_kind));
    else if (event->kind == VS_EVENT_sync)
        snprintf(text, sizeof text, "synchronisation");
    keep_name(activity, key, text, number);
}

static void name_columns(struct vs_page_activity *activity)
{
    static const char *const names[] = {"start", "duration", "name", "stream",
                                        "device", "type", "bytes"};
    for (int i = 0; i < VS_ACTIVITY_COLUMNS; i++)
        activity->columns[i] = (struct vs_column){
            .name = names[i], .type = i == VS_ACTIVITY_START  ? VS_COLUMN_DELTA
                                      : i == VS_ACTIVITY_TYPE ? VS_COLUMN_U8
                                                              : VS_COLUMN_VARINT};
}

void vs_page_activity_event(struct vs_page_activity *activity,
                            const struct vs_replay *replay, const struct vs_event *event)
{
    if (!vs_event_has(event, VS_PROPERTY_ACTIVITY) ||
        !vs_activity_within(event, activity->from_ns, activity->to_ns))
        return;
    unsigned device = vs_replay_account(replay, event->activity.device);
    uint64_t start = event->activity.start_ns, end = event->activity.end_ns;
    if (device >= VS_DEVICES_MAX || end < start)
        return;
    struct vs_page_work row = {
        .start_ns = start > activity->start_ns ? start - activity->start_ns : 0,
        .duration_ns = end - start, .device = (uint8_t)device,
        .stream = vs_page_stream(activity->streams, (struct vs_page_stream){
            event->activity.stream, device, false}),
        .type = (uint8_t)(event->kind - VS_EVENT_kernel),
        .bytes = event->kind == VS_EVENT_memcpy   ? event->memcpy.bytes
                 : event->kind == VS_EVENT_memset ? event->memset.bytes
                                                  : 0};
    name_of(activity, replay, event, &row.name);
    if (activity->waiting_count == WAITING_MAX) {
        order(activity);
        write_rows(activity, WAITING_MAX / 2);
    }
    vs_vec_room(&activity->waiting, &activity->waiting_capacity,
                activity->waiting_count + 1, sizeof *activity->waiting);
    if (!activity->columns[0].name)
        name_columns(activity);
    activity->waiting[activity->waiting_count++] = row;
}

void vs_page_activity_finish(struct vs_page_activity *activity)
{
    if (!activity->columns[0].name)
        name_columns(activity);
    if (activity->waiting_count) {
        order(activity);
        write_rows(activity, activity->waiting_count);
    }
    free(activity->waiting);
    activity->waiting = NULL;
    activity->waiting_capacity = 0;
}

void vs_page_activity_free(struct vs_page_activity *activity)
{
    free(activity->waiting);
    free(activity->names);
    vs_map_free(&activity->by_name);
    vs_arena_free_all(&activity->memory);
    for (int i = 0; i < VS_ACTIVITY_COLUMNS; i++)
        vs_column_free(&activity->columns[i]);
}
