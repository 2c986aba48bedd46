/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/kinds/allocation_log.h"

#include <stdlib.h>

#include "analysis/kinds/kinds.h"
#include "analysis/state/user_level.h"
#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"

struct vs_allocation_log {
    struct vs_replay *replay;
    struct vs_kinds *kinds;
    struct vs_observer kinds_observer;
    uint64_t *streams; /* by slot */
    size_t stream_capacity;
    vs_allocation_take *take;
    void *context;
    const struct vs_growth_steps *steps; /* that were found, or NULL */
    enum vs_err err; /* the first of a row that ended */
};

static struct vs_allocation_life allocation_of(const struct vs_allocation_log *log,
                                               const struct vs_live *live)
{
    const struct vs_replay *replay = log->replay;
    const struct vs_site *site = &replay->sites.items[live->site];
    uint64_t start = vs_replay_start_ns(replay);
    bool tensor = live->level == VS_LEVEL_FRAMEWORK;
    struct vs_allocation_life life = {
        .addr = live->addr, .requested = live->requested, .size = live->size,
        .born_ns = live->time_ns > start ? live->time_ns - start : 0, .born_event = live->event,
        .site = {site->stack, site->mark, site->api, tensor}, .site_index = live->site,
        .host = live->device == VS_HOST_INDEX, .account = live->device,
        .device = replay->accounts[live->device]->device, .context = live->context,
        .stream = log->streams[vs_replay_slot(replay, live)], .tid = live->tid,
        .family = live->family, .tensor = tensor, .counted = live->counted,
        .kind = tensor ? (enum vs_kind)live->kind : VS_KIND_UNKNOWN, .place = live->place};
    vs_found_step_place(log->steps, live->time_ns, &life.place);
    return life;
}

static void on_change(void *context, const struct vs_replay *replay, const struct vs_published *change)
{
    struct vs_allocation_log *log = context;
    const struct vs_live *live = change->live;
    if (change->kind == VS_CHANGE_BORN) { /* of a tensor: the stream of its segment, if that was recorded */
        const struct vs_replay_segment *segment =
            live->level == VS_LEVEL_FRAMEWORK ? vs_segments_find(&replay->segments, live->addr) : NULL;
        vs_vec_room(&log->streams, &log->stream_capacity, change->slot + 1, sizeof *log->streams);
        log->streams[change->slot] = live->level != VS_LEVEL_FRAMEWORK ? change->event->alloc.stream
                                     : segment                         ? segment->stream : 0;
        return;
    }
    if (log->err || (live->device != VS_HOST_INDEX && !vs_user_has_live(replay, live)))
        return;
    struct vs_allocation_life allocation = allocation_of(log, live);
    uint64_t start = vs_replay_start_ns(replay);
    allocation.end = change->kind == VS_CHANGE_ENDED ? VS_ALLOCATION_FREED : VS_ALLOCATION_LOST;
    allocation.ended_event = replay->events;
    allocation.ended_ns = replay->now_ns > start ? replay->now_ns - start : 0;
    log->err = log->take(log->context, replay, &allocation);
}

enum vs_err vs_allocation_log_open(const struct vs_reader *reader, struct vs_symbols *symbols,
                                   vs_allocation_take *take, void *context,
                                   struct vs_allocation_log **out)
{
    struct vs_allocation_log *log = vs_xcalloc(1, sizeof *log);
    *log = (struct vs_allocation_log){.take = take, .context = context};
    log->replay = vs_replay_open(reader);
    log->kinds = vs_kinds_open(log->replay, symbols);
    log->kinds_observer = vs_kinds_observer(log->kinds);
    vs_replay_subscribe(log->replay, VS_CHANGE_BORN | VS_CHANGE_ENDED | VS_CHANGE_LOST, on_change, log);
    *out = log;
    return VS_OK;
}

void vs_allocation_log_steps(struct vs_allocation_log *log, const struct vs_growth_steps *steps)
{
    log->steps = steps;
}

void vs_allocation_log_close(struct vs_allocation_log *log)
{
    if (!log)
        return;
    vs_kinds_close(log->kinds);
    vs_replay_close(log->replay);
    free(log->streams);
    free(log);
}

const struct vs_replay *vs_allocation_log_replay(const struct vs_allocation_log *log)
{
    return log->replay;
}

enum vs_err vs_allocation_log_event(struct vs_allocation_log *log, const struct vs_event *event)
{
    enum vs_err err = VS_OK;
    if (log->kinds_observer.kinds & VS_KIND_BIT(event->kind))
        err = log->kinds_observer.before(log->kinds, log->replay, event);
    vs_replay_event(log->replay, event);
    return err ? err : log->err;
}

bool vs_allocation_wanted(const struct vs_allocation_filter *filter,
                          const struct vs_allocation_life *life, uint64_t start_ns)
{
    const struct vs_time_window *window = filter->window;
    if (filter->one_device && (life->host || life->device != filter->device))
        return false;
    if (!window)
        return true;
    const struct vs_time_window_end *from = &window->from, *to = &window->to;
    bool ended = life->end != VS_ALLOCATION_LIVE;
    if (from->given && ended &&
        (from->by_event ? life->ended_event < from->value : life->ended_ns + start_ns < from->value))
        return false;
    return !to->given || (to->by_event ? life->born_event <= to->value
                                       : life->born_ns + start_ns <= to->value);
}

static int older(const void *a, const void *b)
{
    const struct vs_allocation_life *x = a, *y = b;
    return x->born_event < y->born_event ? -1 : x->born_event > y->born_event;
}

enum vs_err vs_allocation_log_finish(struct vs_allocation_log *log)
{
    const struct vs_replay *replay = log->replay;
    struct vs_allocation_life *list = NULL;
    size_t count = 0, capacity = 0;
    enum vs_err err = VS_OK;
    vs_replay_finish(log->replay);
    vs_kinds_finish(log->kinds);
    for (unsigned i = 0; i <= VS_HOST_INDEX; i++) {
        const struct vs_live *live;
        size_t cursor = 0;
        while (replay->accounts[i] && (live = vs_user_live_next(replay, i, &cursor)) != NULL) {
            vs_vec_room(&list, &capacity, count + 1, sizeof *list);
            list[count++] = allocation_of(log, live);
        }
    }
    if (count)
        qsort(list, count, sizeof *list, older);
    for (size_t i = 0; !err && i < count; i++)
        err = log->take(log->context, replay, &list[i]);
    free(list);
    return err;
}
