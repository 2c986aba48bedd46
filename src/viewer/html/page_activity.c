/* SPDX-License-Identifier: Apache-2.0
 *
 * When the buffer is full its rows are ordered and the earlier half is written; a
 * row that comes after a later one was written makes the section unordered. */
#include "viewer/html/page_data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/naming/name_text.h"
#include "analysis/report/site_text.h"

#define WAITING_MAX ((size_t)1 << 17)
#define KERNEL_NAME_MAX 400 /* bytes of a name that are kept */

static uint32_t place_of(struct vs_page_activity *activity, uint64_t stack)
{
    if (!stack)
        return 0;
    uint64_t name = vs_xmap_number(&activity->by_name, stack * 8 + 1, activity->name_count);
    if (name == activity->name_count) {
        VS_VEC_ADD(activity->names, activity->name_count, activity->name_capacity, "");
        VS_VEC_ADD(activity->places, activity->place_count, activity->place_capacity,
                   (struct vs_page_place){(uint32_t)name, stack});
    }
    return (uint32_t)name + 1;
}

/* With the call site of work, whose call comes before or behind it. */
static void write_row(void *context, void *of)
{
    struct vs_page_activity *activity = context;
    const struct vs_page_work *row = of;
    const struct vs_work_call *begun = row->type < 3 ? vs_work_calls_find(&activity->calls, row->link) : NULL;
    const uint64_t values[VS_ACTIVITY_COLUMNS] = {
        [VS_ACTIVITY_START] = row->start_ns, [VS_ACTIVITY_DURATION] = row->duration_ns,
        [VS_ACTIVITY_NAME] = row->name, [VS_ACTIVITY_STREAM] = row->stream,
        [VS_ACTIVITY_DEVICE] = row->type < 4 ? activity->numbers[row->device] : 0,
        [VS_ACTIVITY_TYPE] = row->type, [VS_ACTIVITY_BYTES] = row->bytes, [VS_ACTIVITY_LINK] = row->link,
        [VS_ACTIVITY_THREAD] = row->thread,
        [VS_ACTIVITY_PLACE] = begun ? place_of(activity, begun->stack) : row->place};
    activity->unordered |= row->start_ns < activity->last_ns;
    activity->last_ns = row->start_ns;
    for (int c = 0; c < VS_ACTIVITY_COLUMNS; c++)
        vs_column_add(&activity->columns[c], values[c]);
}

/* The number of the readable name of *event*; a kernel's is cut after KERNEL_NAME_MAX bytes. */
static uint32_t name_of(struct vs_page_activity *activity, const struct vs_replay *replay,
                        const struct vs_event *event)
{
    char text[KERNEL_NAME_MAX + 8] = "memset";
    uint64_t key = event->kind == VS_EVENT_kernel   ? event->kernel.name * 2 + 2
                   : event->kind == VS_EVENT_memcpy ? event->memcpy.copy_kind * 8 + 3
                   : event->kind == VS_EVENT_memset ? 5
                   : event->kind == VS_EVENT_sync   ? event->sync.api * 8 + 7
                                                    : event->api_call.api * 8 + 7;
    key += key == 0; /* a damaged trace: no key of a map */
    uint64_t number = vs_xmap_number(&activity->by_name, key, activity->name_count);
    if (number < activity->name_count)
        return (uint32_t)number;
    if (event->kind == VS_EVENT_kernel) {
        const struct vs_summary summary = {.memory = &activity->memory, .replay = replay};
        if (snprintf(text, KERNEL_NAME_MAX, "%s", vs_summary_name(&summary, event->kernel.name)) >= KERNEL_NAME_MAX)
            memcpy(text + KERNEL_NAME_MAX - 1, "...", 4);
    } else if (event->kind == VS_EVENT_memcpy) {
        snprintf(text, sizeof text, "copy %s", vs_copy_kind_name(event->memcpy.copy_kind));
    } else if (event->kind != VS_EVENT_memset) {
        bool wait = event->kind == VS_EVENT_sync;
        const char *api = vs_reader_string(replay->reader, wait ? event->sync.api : event->api_call.api);
        snprintf(text, KERNEL_NAME_MAX, "%s", *api ? api + strspn(api, "_") : "wait for the device");
        if (!wait) /* the version of the call: cudaLaunchKernel_v7000 */
            text[strcspn(text, "_")] = '\0';
    }
    VS_VEC_ADD(activity->names, activity->name_count, activity->name_capacity,
               vs_xarena_text(&activity->memory, text));
    return (uint32_t)number;
}

void vs_page_activity_event(struct vs_page_activity *activity,
                            const struct vs_replay *replay, const struct vs_event *event)
{
    if (event->kind == VS_EVENT_work_call) {
        vs_work_calls_add(&activity->calls, event);
        return;
    }
    bool call = event->kind == VS_EVENT_api_call;
    uint64_t start = call ? event->api_call.start_ns : event->activity.start_ns;
    uint64_t end = call ? event->api_call.end_ns : event->activity.end_ns;
    unsigned device = call ? 0 : vs_replay_account(replay, event->activity.device);
    if (device >= VS_DEVICES_MAX || end < start || start > activity->to_ns || end < activity->from_ns)
        return;
    const struct vs_work work = vs_work_of(event);
    struct vs_page_work row = {
        .start_ns = start > activity->start_ns ? start - activity->start_ns : 0,
        .duration_ns = end - start, .device = (uint8_t)device,
        .stream = call ? 0 : vs_page_stream(activity->streams, (struct vs_page_stream){
            event->activity.stream, device, false}),
        .type = (uint8_t)(call ? 4 + (event->api_call.driver != 0) : event->kind - VS_EVENT_kernel),
        .link = call ? event->api_call.correlation : work.correlation,
        .thread = call ? (uint32_t)event->api_call.thread : event->kind == VS_EVENT_sync ? event->tid : 0,
        .bytes = work.bytes};
    row.place = event->kind == VS_EVENT_sync ? place_of(activity, event->sync.stack) : 0;
    row.name = name_of(activity, replay, event);
    if (!activity->waiting.rows)
        activity->waiting = (struct vs_sorted_rows){.size = sizeof row, .most = WAITING_MAX, .leaves = write_row};
    vs_sorted_rows_add(&activity->waiting, activity, &row);
}

void vs_page_activity_finish(struct vs_page_activity *activity, const struct vs_replay *replay,
                             struct vs_symbols *symbols)
{
    struct vs_wrappers wrappers;
    struct vs_summary summary = {.memory = &activity->memory, .replay = replay, .symbols = symbols,
                                 .wrappers = &wrappers};
    char text[VS_CHAIN_TEXT_MAX];
    vs_sorted_rows_leave(&activity->waiting, activity, 0);
    vs_summary_wrappers(&summary, &wrappers);
    for (size_t i = 0; i < activity->place_count; i++) {
        const struct vs_page_place *place = &activity->places[i];
        struct vs_report_site site = {.stacks = 1};
        vs_summary_frames(&summary, place->stack, 0, &site);
        activity->names[place->name] = vs_xarena_text(&activity->memory, vs_text_label(text, &site));
    }
}

void vs_page_activity_free(struct vs_page_activity *activity)
{
    free(activity->waiting.rows);
    free(activity->names);
    free(activity->places);
    vs_map_free(&activity->by_name);
    free(activity->calls.ring);
    vs_arena_free_all(&activity->memory);
}
