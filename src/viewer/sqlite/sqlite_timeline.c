/* SPDX-License-Identifier: Apache-2.0
 *
 * The tables of the timeline: a row for each event, written while the trace is read. */
#include "viewer/sqlite/sqlite_rows.h"

#include <stdlib.h>

#include "analysis/report/summary.h"
#include "analysis/state/activity.h"
#include "base/reading/vs_xalloc.h"

/* A call, and its number as a site. */
static uint64_t site_of(struct vs_sqlite_timeline *t, uint64_t stack, uint64_t api)
{
    const uint64_t call[] = {stack, api};
    return VS_SQLITE_CALLS + vs_intern(&t->calls, call, sizeof call);
}

/* The name of a kernel, looked up once. */
static const char *kernel_name(struct vs_sqlite_timeline *t, const struct vs_replay *replay, uint64_t id)
{
    struct vs_summary summary = {.memory = &t->memory, .replay = replay};
    const char *name = vs_map_pointer(&t->names, id + 1);
    if (!name) {
        name = vs_summary_name(&summary, id);
        vs_xmap_put(&t->names, id + 1, (uint64_t)(uintptr_t)name);
    }
    return name;
}

void vs_sqlite_timeline_begin(struct vs_sqlite_timeline *t, struct vs_database *db)
{
    t->kernels = vs_database_prepare(db, "kernels", 16);
    t->copies = vs_database_prepare(db, "copies", 15);
    t->memsets = vs_database_prepare(db, "memsets", 9);
    t->api_calls = vs_database_prepare(db, "calls", 7);
    t->launches = vs_database_prepare(db, "launches", 7);
    t->waits = vs_database_prepare(db, "waits", 10);
    t->segments = vs_database_prepare(db, "segments", 8);
}

/* A change of the reserved memory. */
static void segment(struct vs_sqlite_timeline *t, const struct vs_replay *replay, const struct vs_event *event)
{
    bool more = event->kind == VS_EVENT_segment_alloc || event->kind == VS_EVENT_segment_map;
    uint64_t addr, bytes, device, stream = 0, pool = 0, stack = 0;
    switch (event->kind) {
    case VS_EVENT_segment_alloc:
        addr = event->segment_alloc.addr, bytes = event->segment_alloc.size, device = event->segment_alloc.device;
        stream = event->segment_alloc.stream, pool = event->segment_alloc.pool, stack = event->segment_alloc.stack;
        break;
    case VS_EVENT_segment_map:
        addr = event->segment_map.addr, bytes = event->segment_map.reserved, device = event->segment_map.device;
        stream = event->segment_map.stream, pool = event->segment_map.pool, stack = event->segment_map.stack;
        break;
    case VS_EVENT_segment_free:
        addr = event->segment_free.addr, bytes = event->segment_free.size, device = event->segment_free.device;
        break;
    default:
        addr = event->segment_unmap.addr, bytes = event->segment_unmap.reserved, device = event->segment_unmap.device;
    }
    if (event->time_ns < t->from_ns || event->time_ns > t->to_ns || (t->one_device && device != t->device))
        return;
    vs_database_row(t->segments, VS_UINT(replay->events), VS_UINT(vs_replay_since(replay, event->time_ns)),
                    VS_UINT(device), VS_UINT(addr), VS_UINT(more ? bytes : 0 - bytes), VS_KNOWN(more, stream),
                    VS_KNOWN(more, pool), VS_KNOWN(more, more ? site_of(t, stack, 0) : 0));
}

void vs_sqlite_timeline_event(struct vs_sqlite_timeline *t, const struct vs_replay *replay,
                              const struct vs_event *event)
{
    uint64_t start = vs_replay_since(replay, event->activity.start_ns),
             end = vs_replay_since(replay, event->activity.end_ns);
    struct vs_place at;
    if (vs_event_has(event, VS_PROPERTY_ACTIVITY) &&
        (!vs_activity_within(event, t->from_ns, t->to_ns) || (t->one_device && event->activity.device != t->device)))
        return;
    switch (event->kind) {
    case VS_EVENT_kernel:
        vs_database_row(t->kernels, VS_UINT(start), VS_UINT(end), VS_UINT(event->kernel.device),
                        VS_UINT(event->kernel.context), VS_UINT(event->kernel.stream),
                        VS_TEXT(kernel_name(t, replay, event->kernel.name)), VS_UINT(event->kernel.correlation),
                        VS_UINT(event->kernel.grid_x), VS_UINT(event->kernel.grid_y), VS_UINT(event->kernel.grid_z),
                        VS_UINT(event->kernel.block_x), VS_UINT(event->kernel.block_y),
                        VS_UINT(event->kernel.block_z), VS_UINT(event->kernel.shared_bytes),
                        VS_KNOWN(event->kernel.graph, event->kernel.graph),
                        VS_KNOWN(event->kernel.graph, event->kernel.graph_node));
        break;
    case VS_EVENT_memcpy: {
        const struct vs_event_memcpy *copy = &event->memcpy;
        bool known = copy->src_kind || copy->dst_kind;
        vs_database_row(t->copies, VS_UINT(start), VS_UINT(end), VS_UINT(copy->device), VS_UINT(copy->context),
                        VS_UINT(copy->stream), VS_UINT(copy->bytes), VS_TEXT(vs_copy_kind_name(copy->copy_kind)),
                        VS_UINT(copy->async), VS_UINT(copy->correlation),
                        VS_TEXT(known ? vs_memory_kind_name(copy->src_kind) : NULL),
                        VS_TEXT(known ? vs_memory_kind_name(copy->dst_kind) : NULL),
                        VS_KNOWN(known, copy->src_device), VS_KNOWN(known, copy->dst_device),
                        VS_KNOWN(copy->graph, copy->graph), VS_KNOWN(copy->graph, copy->graph_node));
        break;
    }
    case VS_EVENT_memset:
        vs_database_row(t->memsets, VS_UINT(start), VS_UINT(end), VS_UINT(event->memset.device),
                        VS_UINT(event->memset.context), VS_UINT(event->memset.stream), VS_UINT(event->memset.bytes),
                        VS_UINT(event->memset.correlation), VS_KNOWN(event->memset.graph, event->memset.graph),
                        VS_KNOWN(event->memset.graph, event->memset.graph_node));
        break;
    case VS_EVENT_api_call:
        if (event->api_call.start_ns <= t->to_ns && event->api_call.end_ns >= t->from_ns)
            vs_database_row(t->api_calls, VS_UINT(start), VS_UINT(end), VS_UINT(event->api_call.thread),
                            VS_TEXT(vs_reader_string(replay->reader, event->api_call.api)),
                            VS_UINT(event->api_call.correlation), VS_UINT(event->api_call.driver),
                            VS_UINT(event->api_call.result));
        break;
    case VS_EVENT_work_call: {
        if (event->time_ns > t->to_ns)
            break;
        uint64_t thread = event->work_call.thread ? event->work_call.thread : event->tid;
        at = vs_phases_place(&replay->phases, (uint32_t)thread);
        vs_database_row(t->launches, VS_UINT(event->work_call.correlation),
                        VS_UINT(vs_replay_since(replay, event->time_ns)),
                        VS_TEXT(vs_reader_string(replay->reader, event->work_call.api)), VS_UINT(thread),
                        VS_UINT(site_of(t, event->work_call.stack, event->work_call.api)),
                        VS_KNOWN(at.phase, at.phase), VS_KNOWN(at.step_known, at.step));
        break;
    }
    case VS_EVENT_sync:
        at = vs_phases_place(&replay->phases, event->tid);
        vs_database_row(t->waits, VS_UINT(start), VS_UINT(end), VS_UINT(event->sync.device),
                        VS_KNOWN(event->sync.sync_kind == VS_WAIT_STREAM, event->sync.stream),
                        VS_UINT(event->sync.sync_kind),
                        VS_TEXT(event->sync.api ? vs_reader_string(replay->reader, event->sync.api) : NULL),
                        VS_UINT(event->tid),
                        VS_KNOWN(event->sync.api, event->sync.api ? site_of(t, event->sync.stack, event->sync.api) : 0),
                        VS_KNOWN(at.phase, at.phase), VS_KNOWN(at.step_known, at.step));
        break;
    case VS_EVENT_segment_alloc: case VS_EVENT_segment_free: case VS_EVENT_segment_map: case VS_EVENT_segment_unmap:
        segment(t, replay, event);
        break;
    default:
        break;
    }
}

void vs_sqlite_timeline_free(struct vs_sqlite_timeline *t)
{
    vs_intern_free(&t->calls);
    vs_map_free(&t->names);
    vs_arena_free_all(&t->memory);
}
