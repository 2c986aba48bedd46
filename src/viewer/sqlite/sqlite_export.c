/* SPDX-License-Identifier: Apache-2.0
 *
 * The trace as an SQLite database: allocations are inserted while the trace is read; the
 * tables that they refer to follow at the end, when all names are known. Of a part of the trace: the
 * allocations that were live in it, whose ends may come later; the sums of devices are those of the
 * part. Memory: the live set, the call sites, and SQLite's cache of 16 MiB. */
#include "viewer/export/export.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/kinds/allocation_log.h"
#include "analysis/state/user_level.h"
#include "base/reading/vs_vec.h"
#include "viewer/sqlite/sqlite_rows.h"

struct sqlite_export {
    struct vs_database *db;
    struct vs_database_insert *allocations, *steps;
    unsigned char *used; /* of the replay's sites: an allocation refers to it */
    size_t used_capacity;
    struct vs_allocation_filter wanted;
    struct vs_sqlite_timeline timeline;
    uint64_t step_event, step_ns, steps_begun;
    uint64_t written;
    bool no_timeline;
    struct vs_sqlite_job job;
};

static enum vs_err take(void *context, const struct vs_replay *replay,
                        const struct vs_allocation_life *life)
{
    static const char *const ends[] = {NULL, "freed", "context destroyed"};
    struct sqlite_export *e = context;
    struct vs_database_insert *row = e->allocations;
    bool ended = life->end != VS_ALLOCATION_LIVE;
    if (!vs_allocation_wanted(&e->wanted, life, vs_replay_start_ns(replay)))
        return VS_OK;
    const struct vs_module_scope *scope = &life->module;
    char module[512];
    snprintf(module, sizeof module, "%.*s", (int)scope->length, scope->text);
    vs_vec_room(&e->used, &e->used_capacity, life->site_index + 1, 1);
    e->used[life->site_index] = 1;
    vs_database_row(row, VS_KNOWN(!life->host, life->device), VS_UINT(life->addr),
                    VS_UINT(life->requested), VS_UINT(life->size), VS_UINT(life->born_event),
                    VS_UINT(life->born_ns), VS_TEXT(ends[life->end]),
                    VS_KNOWN(ended, life->ended_event), VS_KNOWN(ended, life->ended_ns),
                    VS_UINT(life->site_index), VS_KNOWN(life->place.phase, life->place.phase),
                    VS_KNOWN(life->place.step_known, life->place.step),
                    VS_TEXT(life->tensor ? vs_kind_name(life->kind) : NULL),
                    VS_TEXT(life->tensor ? "tensor" : vs_family_name(life->family)),
                    VS_UINT(life->stream), VS_UINT(life->context), VS_UINT(life->tid),
                    VS_TEXT(scope->length ? module : NULL), VS_TEXT(vs_torch_pass_name(scope->pass)));
    e->written++;
    return vs_database_error(e->db);
}

/* Whether the step that ends now overlaps the part of the trace that is exported. */
static bool is_wanted_step(const struct sqlite_export *e, const struct vs_replay *replay)
{
    const struct vs_time_window *window = e->wanted.window;
    const struct vs_time_window_end *from = window ? &window->from : NULL;
    const struct vs_time_window_end *to = window ? &window->to : NULL;
    if (from && from->given &&
        (from->by_event ? replay->events < from->value : replay->now_ns < from->value))
        return false;
    return !to || !to->given ||
           (to->by_event ? e->step_event <= to->value
                         : e->step_ns + vs_replay_start_ns(replay) <= to->value);
}

/* Writes the timeline's rows, and the steps that have ended; notes where steps begin. */
static enum vs_err follow(void *context, struct vs_replay *replay, const struct vs_event *event)
{
    struct sqlite_export *e = context;
    if (!e->no_timeline)
        vs_sqlite_timeline_event(&e->timeline, replay, event);
    if (event->kind == VS_EVENT_option) {
        const char *name = vs_reader_string(replay->reader, event->option.name);
        const char *value = vs_reader_string(replay->reader, event->option.value);
        vs_job_rank_option(&e->job.rank, name, value);
        e->job.name = strcmp(name, "JOB") ? e->job.name : value;
    }
    const struct vs_steps *steps = &replay->phases.steps;
    uint64_t start = vs_replay_start_ns(replay);
    if (replay->step_ended && is_wanted_step(e, replay)) {
        uint64_t live = 0;
        for (unsigned i = 0; i < replay->account_count; i++)
            live += vs_user_sums(replay, i).allocated;
        vs_database_row(e->steps, VS_UINT(steps->number), VS_UINT(e->step_event),
                        VS_UINT(e->step_ns), VS_UINT(replay->events),
                        VS_UINT(replay->now_ns - start), VS_UINT(live));
    }
    if (steps->begun == e->steps_begun)
        return VS_OK;
    e->steps_begun = steps->begun;
    e->step_event = replay->events;
    e->step_ns = replay->now_ns - start;
    return VS_OK;
}

/* The sums of devices in a part of the trace, as the report has them for it. */
static enum vs_err read_devices(struct vs_reader *reader, struct sqlite_export *e)
{
    const struct vs_time_window *window = e->wanted.window;
    struct vs_trace_state *state = NULL;
    enum vs_err err = vs_span_open(reader, window, &state);
    if (!err && window->from.given)
        e->timeline.from_ns = window->from.by_event ? state->replay->now_ns : window->from.value;
    if (!err)
        err = vs_reading_run(reader, state->replay, window, NULL, 0);
    if (!err) {
        if (window->to.given)
            e->timeline.to_ns = window->to.by_event ? state->replay->now_ns : window->to.value;
        vs_replay_finish(state->replay);
        vs_sqlite_devices(e->db, state->replay, &e->wanted);
    }
    vs_trace_state_close(state);
    return err;
}

static enum vs_err read_all(struct vs_reader *reader, struct sqlite_export *e,
                            struct vs_stack_names *names, struct vs_export_result *result)
{
    const struct vs_observer observer = {VS_KINDS_EVERY, NULL, follow, e};
    struct vs_growth_steps steps = {0};
    struct vs_replay *replay = NULL;
    enum vs_err err = vs_found_steps_read(reader, &steps);
    if (!err)
        err = vs_allocations_read(reader, vs_stack_names_symbols(names), &steps, take, e, &observer,
                                  &replay);
    if (!err) {
        vs_export_ended(reader, result);
        /* Steps that were found: each ends where the next one begins. */
        uint64_t start = vs_replay_start_ns(replay), count = e->wanted.window || steps.source != VS_STEPS_FOUND ? 0 : steps.count;
        for (size_t i = 0; i < count && i * steps.stride < steps.done; i++) {
            const struct vs_growth_step *step = &steps.items[i];
            bool last = i + 1 == count;
            vs_database_row(e->steps, VS_UINT(steps.first_number + i * steps.stride),
                            VS_UINT(step->event), VS_UINT(step->time_ns - start),
                            VS_UINT(last ? replay->events : step[1].event),
                            VS_UINT((last ? replay->now_ns : step[1].time_ns) - start),
                            VS_UINT(step->end_bytes));
        }
        if (e->wanted.one_device &&
            vs_replay_account(replay, e->wanted.device) == VS_ACCOUNT_NONE)
            err = VS_ERR_NOT_FOUND;
    }
    if (!err) {
        if (!e->wanted.window)
            vs_sqlite_devices(e->db, replay, &e->wanted);
        vs_export_recording(&replay->recording, vs_replay_start_ns(replay), result);
        size_t sites = replay->sites.count < e->used_capacity ? replay->sites.count
                                                              : e->used_capacity;
        vs_sqlite_tables(e->db, replay, names, e->used, sites, &e->timeline.calls,
                         result->condition == VS_TRACE_COMPLETE, &e->wanted, &e->job);
    }
    vs_found_steps_free(&steps);
    vs_replay_close(replay);
    return err;
}

enum vs_err vs_export_sqlite(struct vs_reader *reader, FILE *out,
                             const struct vs_export_options *options,
                             struct vs_export_result *result)
{
    struct sqlite_export e = {
        .wanted = {options->window, options->one_device, options->device}, .no_timeline = options->no_timeline,
        .timeline = {.to_ns = UINT64_MAX, .one_device = options->one_device, .device = options->device}};
    struct vs_stack_names *names = vs_stack_names_open(reader);
    enum vs_err err = vs_database_open(out, vs_sqlite_schema, &e.db);
    if (!err) {
        e.allocations = vs_database_prepare(e.db, "allocations", 19);
        e.steps = vs_database_prepare(e.db, "steps", 6);
        vs_sqlite_timeline_begin(&e.timeline, e.db);
        if (e.wanted.window)
            err = read_devices(reader, &e);
        if (!err)
            err = read_all(reader, &e, names, result);
        int saved_errno = errno;
        enum vs_err closed = vs_database_close(e.db, !err);
        if (err)
            errno = saved_errno;
        err = err ? err : closed;
    }
    result->written = e.written;
    free(e.used);
    vs_sqlite_timeline_free(&e.timeline);
    vs_stack_names_close(names);
    return err;
}
