/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/kinds/allocation_log.h"

#include <stdlib.h>

#include "analysis/kinds/kinds.h"
#include "analysis/state/user_level.h"
#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"

struct allocation_log {
    struct vs_replay *replay;
    const struct vs_kinds *kinds;
    uint64_t *streams; /* by slot */
    size_t stream_capacity;
    vs_allocation_take *take;
    void *context;
    const struct vs_growth_steps *steps; /* that were found, or NULL */
    enum vs_err err; /* the first of a row that ended */
};

static struct vs_allocation_life allocation_of(const struct allocation_log *log,
                                               const struct vs_live *live)
{
    const struct vs_replay *replay = log->replay;
    const struct vs_site *site = &replay->sites.items[live->site];
    bool tensor = live->level == VS_LEVEL_FRAMEWORK;
    struct vs_allocation_life life = {
        .addr = live->addr, .requested = live->requested, .size = live->size,
        .born_ns = vs_replay_since(replay, live->time_ns), .born_event = live->event,
        .site = {site->stack, site->mark, site->api, tensor}, .site_index = live->site,
        .host = live->device == VS_HOST_INDEX, .account = live->device,
        .device = replay->accounts[live->device]->device, .context = live->context,
        .stream = log->streams[vs_replay_slot(replay, live)], .tid = live->tid,
        .family = live->family, .tensor = tensor, .counted = live->counted,
        .kind = tensor ? (enum vs_kind)live->kind : VS_KIND_UNKNOWN, .place = live->place,
        .module = vs_kinds_scope(log->kinds, tensor && live->kind != VS_KIND_WORKSPACES ? live->module : 0)};
    vs_found_step_place(log->steps, live->time_ns, &life.place);
    return life;
}

static void on_change(void *context, const struct vs_replay *replay, const struct vs_published *change)
{
    struct allocation_log *log = context;
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
    allocation.end = change->kind == VS_CHANGE_ENDED ? VS_ALLOCATION_FREED : VS_ALLOCATION_LOST;
    allocation.ended_event = replay->events;
    allocation.ended_ns = vs_replay_since(replay, replay->now_ns);
    log->err = log->take(log->context, replay, &allocation);
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

static enum vs_err first_error(void *context, struct vs_replay *replay,
                               const struct vs_event *event)
{
    (void)replay;
    (void)event;
    return ((struct allocation_log *)context)->err;
}

enum vs_err vs_allocations_read(struct vs_reader *reader, struct vs_symbols *symbols,
                                const struct vs_growth_steps *steps, vs_allocation_take *take,
                                void *context, const struct vs_observer *observer,
                                struct vs_replay **end)
{
    struct vs_replay *replay = vs_replay_open(reader);
    struct vs_kinds *kinds = vs_kinds_open(replay, symbols);
    struct allocation_log log = {.replay = replay, .kinds = kinds, .take = take, .context = context,
                                 .steps = steps};
    const struct vs_observer observers[] = {vs_kinds_observer(kinds),
                                            {VS_KINDS_EVERY, NULL, first_error, &log},
                                            observer ? *observer : (struct vs_observer){0}};
    struct vs_allocation_life *list = NULL;
    size_t count = 0, capacity = 0;
    vs_replay_subscribe(replay, VS_CHANGE_BORN | VS_CHANGE_ENDED | VS_CHANGE_LOST, on_change, &log);
    vs_reader_rewind(reader);
    enum vs_err err = vs_reading_run(reader, replay, NULL, observers,
                                     sizeof observers / sizeof *observers);
    vs_replay_finish(replay);
    vs_kinds_finish(kinds);
    for (unsigned i = 0; !err && i <= VS_HOST_INDEX; i++) {
        const struct vs_live *live;
        size_t cursor = 0;
        while (replay->accounts[i] && (live = vs_user_live_next(replay, i, &cursor)) != NULL) {
            VS_VEC_ADD(list, count, capacity, allocation_of(&log, live));
        }
    }
    VS_SORT(list, count, VS_UP(born_event));
    for (size_t i = 0; !err && i < count; i++)
        err = take(context, replay, &list[i]);
    free(list);
    free(log.streams);
    vs_kinds_close(kinds);
    if (err)
        vs_replay_close(replay);
    *end = err ? NULL : replay;
    return err;
}
