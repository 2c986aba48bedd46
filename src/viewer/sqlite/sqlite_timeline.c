/* SPDX-License-Identifier: Apache-2.0
 *
 * The tables of the timeline: a row for each event, written while the trace is read. */
#include "viewer/sqlite/sqlite_rows.h"

#include <string.h>

#include "analysis/report/summary.h"
#include "analysis/state/activity.h"
#include "base/reading/vs_xalloc.h"

/* A call, and its number as a site. */
static uint64_t site_of(struct vs_sqlite_timeline *t, uint64_t stack, uint64_t api)
{
    const uint64_t call[] = {stack, api};
    return VS_SQLITE_CALLS + vs_intern(&t->calls, call, sizeof call);
}

/* A table has the fields of its events in their order, each as a letter says: t time, n number, z number but NULL for
 * 0, s string, k name of a kernel, c kind of a copy, m kind of memory, x stack, as the site of a call whose api is the
 * field before it. Behind them a wait has its thread, phase and step. */
static const struct {
    enum vs_event_kind kind;
    const char *table, *fields;
} tables[VS_SQLITE_TIMELINE_TABLES] = {
    {VS_EVENT_kernel, "kernels", "ttnnnknnnnnnnnzz"},
    {VS_EVENT_memcpy, "copies", "ttnnnncnnmmnnzz"},
    {VS_EVENT_memset, "memsets", "ttnnnnnnmzz"},
    {VS_EVENT_api_call, "calls", "ttnsnnn"},
    {VS_EVENT_work_call, "launches", "nsxn"},
    {VS_EVENT_sync, "waits", "ttnnznsx"},
};

void vs_sqlite_timeline_begin(struct vs_sqlite_timeline *t, struct vs_database *db)
{
    for (size_t i = 0; i < VS_SQLITE_TIMELINE_TABLES; i++)
        t->rows[i] = vs_database_prepare(db, tables[i].table, (int)strlen(tables[i].fields) +
                                                                  (tables[i].kind == VS_EVENT_sync ? 3 : 0));
    t->segments = vs_database_prepare(db, "segments", 8);
}

/* A change of the reserved memory. */
static void segment(struct vs_sqlite_timeline *t, const struct vs_replay *replay, const struct vs_event *event)
{
    bool more = event->kind == VS_EVENT_segment_alloc || event->kind == VS_EVENT_segment_map;
    /* Address, bytes, device and, where there is more, context, stream, pool and stack; of mapped memory the size of
     * the range comes before the bytes. */
    const uint64_t *of = event->fields + (event->kind == VS_EVENT_segment_map || event->kind == VS_EVENT_segment_unmap);
    uint64_t bytes = of[1], device = of[2];
    if (event->time_ns < t->from_ns || event->time_ns > t->to_ns || (t->one_device && device != t->device))
        return;
    vs_database_row(t->segments, VS_UINT(replay->events), VS_UINT(vs_replay_since(replay, event->time_ns)),
                    VS_UINT(device), VS_UINT(event->fields[0]), VS_UINT(more ? bytes : 0 - bytes), VS_KNOWN(more, of[4]),
                    VS_KNOWN(more, of[5]), VS_KNOWN(more, more ? site_of(t, of[6], 0) : 0));
}

void vs_sqlite_timeline_event(struct vs_sqlite_timeline *t, const struct vs_replay *replay,
                              const struct vs_event *event)
{
    struct vs_database_value values[VS_EVENT_FIELDS_MAX + 3] = {{0}};
    const struct vs_summary summary = {.memory = &t->memory, .replay = replay};
    size_t table = 0, count = 0;
    if (event->kind == VS_EVENT_segment_alloc || event->kind == VS_EVENT_segment_free ||
        event->kind == VS_EVENT_segment_map || event->kind == VS_EVENT_segment_unmap)
        segment(t, replay, event);
    while (table < VS_SQLITE_TIMELINE_TABLES && tables[table].kind != event->kind)
        table++;
    bool work = vs_event_has(event, VS_PROPERTY_ACTIVITY);
    if (table == VS_SQLITE_TIMELINE_TABLES ||
        (work && (!vs_activity_within(event, t->from_ns, t->to_ns, NULL) ||
                  (t->one_device && event->activity.device != t->device))) ||
        (event->kind == VS_EVENT_api_call &&
         (event->api_call.start_ns > t->to_ns || event->api_call.end_ns < t->from_ns)))
        return;
    for (const char *how = tables[table].fields; *how; how++, count++) {
        struct vs_database_value *value = &values[count];
        uint64_t of = event->fields[count];
        value->number = *how == 't' ? vs_replay_since(replay, of)
                        : *how == 'x' ? site_of(t, of, event->fields[count - 1]) : of;
        value->known = *how == 't' || *how == 'n' || *how == 'x' || (*how == 'z' && of);
        value->text = *how == 's'   ? vs_reader_string(replay->reader, of)
                      : *how == 'k' ? vs_summary_name_once(&summary, &t->names, of)
                      : *how == 'c' ? vs_copy_kind_name(of)
                      : *how == 'm' && of ? vs_memory_kind_name(of) : NULL;
    }
    if (event->kind == VS_EVENT_sync) {
        struct vs_place at = vs_phases_place(&replay->phases, event->tid);
        values[count++] = (struct vs_database_value)VS_UINT(event->tid);
        values[count++] = (struct vs_database_value)VS_KNOWN(at.phase, at.phase);
        values[count++] = (struct vs_database_value)VS_KNOWN(at.step_known, at.step);
    }
    vs_database_add(t->rows[table], values, count);
}

void vs_sqlite_timeline_free(struct vs_sqlite_timeline *t)
{
    vs_intern_free(&t->calls);
    vs_map_free(&t->names);
    vs_arena_free_all(&t->memory);
}
