/* SPDX-License-Identifier: Apache-2.0
 *
 * An invalid checkpoint costs only time: the state is then computed from the start
 * of the trace. */
#include "analysis/checkpoint/trace_state.h"

#include <stdlib.h>

#include "base/reading/vs_xalloc.h"
#include "trace/read/seek.h"

struct vs_trace_state *vs_trace_state_open(struct vs_reader *reader)
{
    struct vs_trace_state *moment = vs_xcalloc(1, sizeof *moment);
    moment->reader = reader;
    moment->has_user_level = true;
    moment->replay = vs_replay_open(reader);
    return moment;
}

void vs_trace_state_close(struct vs_trace_state *moment)
{
    if (!moment)
        return;
    vs_replay_close(moment->replay);
    vs_activity_free(&moment->activity);
    vs_retained_free(&moment->retained);
    free(moment);
}

void vs_trace_state_event(struct vs_trace_state *moment, const struct vs_event *event)
{
    vs_replay_event(moment->replay, event);
    vs_activity_event_within(&moment->activity, event, 0, UINT64_MAX);
    vs_retained_event(&moment->retained, event);
}

/* Loads the state at checkpoint *index* and moves the reader there. VS_ERR_CORRUPT: not usable. */
static enum vs_err load_checkpoint(struct vs_reader *reader, size_t index,
                                   struct vs_trace_state **out)
{
    struct vs_checkpoints *checkpoints = vs_reader_checkpoints(reader);
    struct vs_trace_state *moment = vs_trace_state_open(reader);
    uint64_t shown = vs_checkpoints_item(checkpoints, index)->shown;
    enum vs_err err = vs_reader_to_checkpoint(reader, index);
    if (!err)
        err = vs_checkpoints_each(checkpoints, index, VS_CHECKPOINT_STATE, vs_trace_state_load,
                                  moment);
    if (!err)
        err = vs_trace_state_loaded(moment);
    if (!err && moment->replay->events != shown)
        err = VS_ERR_CORRUPT;
    if (err) {
        vs_trace_state_close(moment);
        return err == VS_ERR_NOMEM ? err : VS_ERR_CORRUPT;
    }
    *out = moment;
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
static enum vs_err go_on(struct vs_trace_state *moment, const struct trace_state_goal *goal)
{
    struct vs_event event;
    enum vs_err err = VS_OK;
    bool head = moment->replay->events == 0;
    while (!err) {
        if (goal->by_event && moment->replay->events >= goal->value)
            return VS_OK;
        err = vs_reader_next(moment->reader, &event);
        head = head && !err && vs_event_has(&event, VS_PROPERTY_HEAD);
        if (!err && !goal->by_event && !head && event.time_ns >= goal->value) {
            vs_reader_unread(moment->reader, &event);
            return VS_OK;
        }
        if (!err)
            vs_trace_state_event(moment, &event);
    }
    return err == VS_ERR_END ? VS_OK : err;
}

static enum vs_err at(struct vs_reader *reader, struct trace_state_goal goal,
                      struct vs_trace_state **out)
{
    struct vs_trace_state *moment = NULL;
    size_t index = nearest(reader, &goal);
    enum vs_err err = index == SIZE_MAX ? VS_ERR_CORRUPT : load_checkpoint(reader, index, &moment);
    if (!err && !moment->has_user_level) { /* its definitions serve, its state does not */
        vs_trace_state_close(moment);
        moment = NULL;
        index = SIZE_MAX;
        err = VS_ERR_CORRUPT;
    }
    if (err == VS_ERR_CORRUPT) {
        if (index != SIZE_MAX)
            vs_reader_set_checkpoints(reader, NULL);
        moment = vs_trace_state_open(reader);
        vs_reader_rewind(reader);
        err = VS_OK;
    }
    if (!err)
        err = go_on(moment, &goal);
    if (err) {
        vs_trace_state_close(moment);
        return err;
    }
    *out = moment;
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

void vs_trace_state_window(struct vs_trace_state *moment, uint64_t time_ns)
{
    struct vs_activity *activity = &moment->activity;
    uint64_t known_ns = activity->last_ns > activity->known_ns ? activity->last_ns
                                                               : activity->known_ns;
    vs_activity_free(activity);
    activity->known_ns = known_ns;
    vs_replay_window(moment->replay, time_ns);
}
