/* SPDX-License-Identifier: Apache-2.0
 *
 * When the buffer is full its rows are ordered and the earlier half is written; a
 * row that comes after a later one was written makes the section unordered. */
#include "viewer/html/page_data.h"

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

/* Orders the rows that are waiting, and writes the first *count* of them. */
static void write_rows(struct vs_page_activity *activity, size_t count)
{
    struct vs_column *c = activity->columns;
    if (!count)
        return;
    for (size_t i = 1; i < activity->waiting_count; i++)
        if (activity->waiting[i].start_ns < activity->waiting[i - 1].start_ns) {
            qsort(activity->waiting, activity->waiting_count, sizeof *activity->waiting, by_start);
            break;
        }
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

/* The number of the readable name of *event*; a kernel's is cut after KERNEL_NAME_MAX bytes. */
static uint32_t name_of(struct vs_page_activity *activity, const struct vs_replay *replay,
                        const struct vs_event *event)
{
    char text[KERNEL_NAME_MAX + 8] = "memset";
    uint64_t key = event->kind == VS_EVENT_kernel   ? event->kernel.name * 2 + 2
                   : event->kind == VS_EVENT_memcpy ? event->memcpy.copy_kind * 8 + 3
                   : event->kind == VS_EVENT_memset ? 5
                                                    : event->sync.api * 8 + 7;
    key += key == 0; /* a damaged trace: no key of a map */
    uint64_t number = vs_xmap_number(&activity->by_name, key, activity->name_count);
    if (number < activity->name_count)
        return (uint32_t)number;
    if (event->kind == VS_EVENT_kernel) {
        const char *name = vs_reader_string(replay->reader, event->kernel.name);
        char *readable = strncmp(name, "_Z", 2) == 0 ? vs_demangle(name) : NULL;
        int length = snprintf(text, KERNEL_NAME_MAX, "%s", readable ? readable : name);
        if (length >= KERNEL_NAME_MAX)
            memcpy(text + KERNEL_NAME_MAX - 1, "...", 4);
        free(readable);
    } else if (event->kind == VS_EVENT_memcpy) {
        snprintf(text, sizeof text, "copy %s", vs_copy_kind_name(event->memcpy.copy_kind));
    } else if (event->kind == VS_EVENT_sync) {
        const char *api = vs_reader_string(replay->reader, event->sync.api);
        snprintf(text, KERNEL_NAME_MAX, "%s", *api ? api : "wait for the device");
    }
    VS_VEC_ADD(activity->names, activity->name_count, activity->name_capacity,
               vs_xarena_text(&activity->memory, text));
    return (uint32_t)number;
}

void vs_page_activity_event(struct vs_page_activity *activity,
                            const struct vs_replay *replay, const struct vs_event *event)
{
    if (!vs_activity_within(event, activity->from_ns, activity->to_ns))
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
    row.name = name_of(activity, replay, event);
    if (activity->waiting_count == WAITING_MAX)
        write_rows(activity, WAITING_MAX / 2);
    VS_VEC_ADD(activity->waiting, activity->waiting_count, activity->waiting_capacity, row);
}

void vs_page_activity_finish(struct vs_page_activity *activity)
{
    write_rows(activity, activity->waiting_count);
}

void vs_page_activity_free(struct vs_page_activity *activity)
{
    free(activity->waiting);
    free(activity->names);
    vs_map_free(&activity->by_name);
    vs_arena_free_all(&activity->memory);
}
