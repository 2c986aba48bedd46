/* SPDX-License-Identifier: Apache-2.0
 *
 * An invalid checkpoint costs only time: the state is then computed from the start
 * of the trace. */
#include "analysis/checkpoint/trace_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"
#include "base/vs_size.h"
#include "trace/read/seek.h"

struct vs_trace_state *vs_trace_state_open(struct vs_reader *reader)
{
    struct vs_trace_state *point = vs_xcalloc(1, sizeof *point);
    point->reader = reader;
    point->has_user_level = true;
    point->replay = vs_replay_open(reader);
    return point;
}

void vs_trace_state_close(struct vs_trace_state *point)
{
    if (!point)
        return;
    vs_replay_close(point->replay);
    vs_activity_free(&point->activity);
    free(point->retained.items);
    vs_map_free(&point->retained.by_key);
    free(point);
}

void vs_trace_state_event(struct vs_trace_state *point, const struct vs_event *event)
{
    vs_replay_event(point->replay, event);
    vs_activity_event_within(&point->activity, event, 0, UINT64_MAX);
    vs_retained_event(&point->retained, event);
}

/* Loads the state at checkpoint *index* and moves the reader there. VS_ERR_CORRUPT: not usable. */
static enum vs_err load_checkpoint(struct vs_reader *reader, size_t index,
                                   struct vs_trace_state **out)
{
    struct vs_checkpoints *checkpoints = vs_reader_checkpoints(reader);
    struct vs_trace_state *point = vs_trace_state_open(reader);
    uint64_t shown = vs_checkpoints_item(checkpoints, index)->shown;
    enum vs_err err = vs_reader_to_checkpoint(reader, index);
    if (!err)
        err = vs_checkpoints_each(checkpoints, index, VS_CHECKPOINT_STATE, vs_trace_state_load,
                                  point);
    if (!err)
        err = vs_trace_state_loaded(point);
    if (!err && point->replay->events != shown)
        err = VS_ERR_CORRUPT;
    if (err) {
        vs_trace_state_close(point);
        return err == VS_ERR_NOMEM ? err : VS_ERR_CORRUPT;
    }
    *out = point;
    return VS_OK;
}

struct trace_state_goal {
    bool by_event;
    uint64_t value;
};

static size_t nearest(const struct vs_reader *reader, const struct trace_state_goal *goal)
{
    const struct vs_checkpoints *checkpoints = vs_reader_checkpoints(reader);
    if (!checkpoints)
        return SIZE_MAX;
    if (!goal->by_event)
        return vs_checkpoints_before_time(checkpoints, goal->value);
    size_t found = SIZE_MAX;
    const struct vs_checkpoint *item;
    for (size_t i = 0; (item = vs_checkpoints_item(checkpoints, i)) != NULL; i++) {
        if (item->shown > goal->value)
            break;
        found = i;
    }
    return found;
}

/* The head counts as known from the first event on, although it was recorded a little later. */
static enum vs_err go_on(struct vs_trace_state *point, const struct trace_state_goal *goal)
{
    struct vs_event event;
    enum vs_err err = VS_OK;
    bool head = point->replay->events == 0;
    while (!err) {
        if (goal->by_event && point->replay->events >= goal->value)
            return VS_OK;
        err = vs_reader_next(point->reader, &event);
        head = head && !err && vs_event_has(&event, VS_PROPERTY_HEAD);
        if (!err && !goal->by_event && !head && event.time_ns >= goal->value) {
            vs_reader_unread(point->reader, &event);
            return VS_OK;
        }
        if (!err)
            vs_trace_state_event(point, &event);
    }
    return err == VS_ERR_END ? VS_OK : err;
}

static enum vs_err at(struct vs_reader *reader, struct trace_state_goal goal,
                      struct vs_trace_state **out)
{
    struct vs_trace_state *point = NULL;
    size_t index = nearest(reader, &goal);
    enum vs_err err = index == SIZE_MAX ? VS_ERR_CORRUPT : load_checkpoint(reader, index, &point);
    if (!err && !point->has_user_level) { /* its definitions serve, its state does not */
        vs_trace_state_close(point);
        point = NULL;
        index = SIZE_MAX;
        err = VS_ERR_CORRUPT;
    }
    if (err == VS_ERR_CORRUPT) {
        if (index != SIZE_MAX)
            vs_reader_set_checkpoints(reader, NULL);
        point = vs_trace_state_open(reader);
        vs_reader_rewind(reader);
        err = VS_OK;
    }
    if (!err)
        err = go_on(point, &goal);
    if (err) {
        vs_trace_state_close(point);
        return err;
    }
    *out = point;
    return VS_OK;
}

enum vs_err vs_trace_state_at(struct vs_reader *reader, uint64_t time_ns,
                              struct vs_trace_state **out)
{
    return at(reader, (struct trace_state_goal){false, time_ns}, out);
}

enum vs_err vs_trace_state_at_event(struct vs_reader *reader, uint64_t event,
                                    struct vs_trace_state **out)
{
    return at(reader, (struct trace_state_goal){true, event}, out);
}

void vs_trace_state_window(struct vs_trace_state *point, uint64_t time_ns)
{
    struct vs_activity *activity = &point->activity;
    uint64_t known_ns = activity->last_ns > activity->known_ns ? activity->last_ns
                                                               : activity->known_ns;
    vs_activity_free(activity);
    activity->known_ns = known_ns;
    vs_replay_window(point->replay, time_ns);
}

/* --- the earlier events that still matter. Those with an identity (a device, a stream, a thread, a range
 * with an id) are indexed by it, so that a new one replaces the old one in place; nested ranges are
 * searched from the latest back. --- */

static uint64_t key_of(uint32_t kind, uint64_t id)
{
    uint64_t key = (id ^ (uint64_t)kind << 56) * UINT64_C(0x9e3779b97f4a7c15);
    return key ? key : 1;
}

/* Kinds indexed here have their identity in their first field. */
struct vs_event *vs_retained_find(const struct vs_retained *retained, uint32_t kind, uint64_t id)
{
    const uint64_t *found = vs_map_get(&retained->by_key, key_of(kind, id));
    struct vs_event *at = found ? &retained->items[*found] : NULL;
    return at && at->kind == kind && at->fields[0] == id ? at : NULL;
}

struct vs_event *vs_retained_closed(const struct vs_retained *retained, const struct vs_event *pop)
{
    for (size_t i = retained->count; i-- > 0;) {
        struct vs_event *open = &retained->items[i];
        if (open->kind == VS_EVENT_range_push && open->tid == pop->tid &&
            open->range_push.domain == pop->range_pop.domain)
            return open;
    }
    return NULL;
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

static void drop(struct vs_retained *retained, struct vs_event *event)
{
    if (!event)
        return;
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

void vs_retained_event(struct vs_retained *retained, const struct vs_event *event)
{
    if (!vs_event_has(event, VS_PROPERTY_STATE))
        return;
    if (vs_event_has(event, VS_PROPERTY_NUMBERED)) {
        struct vs_event *at = vs_retained_find(retained, event->kind, event->fields[0]);
        if (!is_alive(event))
            drop(retained, at);
        else if (!at)
            append(retained, event);
        else
            *at = *event;
        return;
    }
    switch (event->kind) {
    case VS_EVENT_process:
        if (!(retained->count && retained->items[0].kind == VS_EVENT_process))
            append(retained, event);
        return;
    case VS_EVENT_range_end:
        drop(retained, vs_retained_find(retained, VS_EVENT_range_start, event->range_end.range));
        return;
    case VS_EVENT_range_push: append(retained, event); return;
    case VS_EVENT_range_pop: drop(retained, vs_retained_closed(retained, event)); return;
    default:
        if (retained->lines[event->kind] < VS_RETAINED_LINES) {
            retained->lines[event->kind]++;
            append(retained, event);
        }
        return;
    }
}

/* --- parts --- */

#define PROCESS_WITHIN 64 /* events: the process is among the first of a trace */

enum vs_err vs_span_of(struct vs_reader *reader, struct vs_span *out)
{
    struct vs_span span = {0};
    struct vs_event event;
    enum vs_err err = vs_reader_extent(reader, &span.extent);
    span.start_ns = span.extent.first_ns;
    if (!err)
        vs_reader_rewind(reader);
    for (int i = 0; !err && i < PROCESS_WITHIN; i++) {
        err = vs_reader_next(reader, &event);
        if (err || event.kind != VS_EVENT_process)
            continue;
        if (event.process.start_ns && event.process.start_ns <= span.start_ns)
            span.start_ns = event.process.start_ns;
        break;
    }
    if (err && err != VS_ERR_END)
        return err;
    *out = span;
    vs_reader_rewind(reader);
    return VS_OK;
}

bool vs_span_end(const struct vs_span *span, const struct vs_time_spec *spec,
                   struct vs_time_window_end *out, char *why)
{
    uint64_t length = span->extent.last_ns - span->start_ns, ns;
    *out = (struct vs_time_window_end){0};
    if (spec->kind == VS_TIME_NONE)
        return true;
    if (!span->extent.events) {
        snprintf(why, VS_READER_WHY_MAX, "the trace has no events");
        return false;
    }
    if (spec->kind == VS_TIME_EVENT) {
        *out = (struct vs_time_window_end){true, true, spec->value};
        if (spec->value <= span->extent.events)
            return true;
        snprintf(why, VS_READER_WHY_MAX, "there is no such event: the trace has %s events",
                 vs_count_text(span->extent.events));
        return false;
    }
    if (vs_time_spec_ns(spec, length, &ns) != VS_OK) {
        snprintf(why, VS_READER_WHY_MAX, "before the start: the trace lasts %s",
                 vs_time_text(length));
        return false;
    }
    if (ns > length) {
        snprintf(why, VS_READER_WHY_MAX, "after the end of the trace, at %s",
                 vs_time_text(length));
        return false;
    }
    *out = (struct vs_time_window_end){true, false, span->start_ns + ns};
    return true;
}

enum vs_err vs_span_open(struct vs_reader *reader, const struct vs_time_window *window,
                           struct vs_trace_state **out)
{
    const struct vs_time_window_end *from = &window->from;
    struct vs_trace_state *point;
    enum vs_err err = !from->given    ? vs_trace_state_at_event(reader, 0, &point)
                      : from->by_event ? vs_trace_state_at_event(reader, from->value - 1, &point)
                                       : vs_trace_state_at(reader, from->value, &point);
    if (err)
        return err;
    if (from->given)
        vs_trace_state_window(point, from->by_event ? 0 : from->value);
    *out = point;
    return VS_OK;
}

enum vs_err vs_span_state(struct vs_reader *reader, const struct vs_time_window *window,
                             struct vs_trace_state **out)
{
    const struct vs_time_window_end *to = &window->to;
    if (!to->given)
        return vs_trace_state_at_event(reader, UINT64_MAX, out);
    return to->by_event ? vs_trace_state_at_event(reader, to->value, out)
                        : vs_trace_state_at(reader, to->value + 1, out);
}
