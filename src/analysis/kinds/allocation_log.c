/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. The replay has the live rows; what it does not keep of them (the number of the
 * event, the stream) is in two arrays beside its tables, by slot. */
#include "analysis/kinds/allocation_log.h"

#include <stdlib.h>

#include "analysis/kinds/kinds.h"
#include "analysis/state/user_level.h"
#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"

struct log_birth {
    uint64_t event, stream;
};

struct log_births {
    struct log_birth *items; /* by slot of the replay's table */
    size_t capacity;
};

struct vs_allocation_log {
    const struct vs_reader *reader;
    struct vs_replay *replay;
    struct vs_kinds *kinds;
    struct log_births device, framework;
    vs_allocation_take *take;
    void *context;
    const struct vs_growth_steps *steps; /* that were found, or NULL */
    enum vs_err err; /* the first of a row that ended */
};

static const struct log_birth *birth_of(const struct vs_allocation_log *log,
                                        const struct vs_live *live)
{
    static const struct log_birth none;
    bool tensor = live->level == VS_LEVEL_FRAMEWORK;
    const struct vs_live_table *table =
        tensor ? &log->replay->framework_live : &log->replay->device_live;
    const struct log_births *births = tensor ? &log->framework : &log->device;
    size_t slot = (size_t)(live - table->items);
    return slot < births->capacity ? &births->items[slot] : &none;
}

static struct vs_allocation_life allocation_of(const struct vs_allocation_log *log,
                                          const struct vs_live *live)
{
    const struct vs_replay *replay = log->replay;
    const struct vs_site *site = &replay->sites.items[live->site];
    const struct log_birth *birth = birth_of(log, live);
    uint64_t start = vs_replay_start_ns(replay);
    bool tensor = live->level == VS_LEVEL_FRAMEWORK;
    struct vs_allocation_life life = {
        .addr = live->addr, .requested = live->requested, .size = live->size,
        .born_ns = live->time_ns > start ? live->time_ns - start : 0, .born_event = birth->event,
        .site = {site->stack, site->mark, site->api, tensor}, .site_index = live->site,
        .host = live->device == VS_HOST_INDEX, .account = live->device,
        .device = replay->accounts[live->device]->device, .context = live->context,
        .stream = birth->stream, .tid = live->tid, .family = live->family, .tensor = tensor,
        .counted = live->counted, .kind = VS_KIND_UNKNOWN, .place = live->place};
    vs_found_step_place(log->steps, live->time_ns, &life.place);
    return life;
}

/* The replay is about to remove *live*. */
static void on_end(void *context, const struct vs_live *live, bool freed)
{
    struct vs_allocation_log *log = context;
    const struct vs_replay *replay = log->replay;
    if (log->err || (live->device != VS_HOST_INDEX && !vs_user_has_live(replay, live)))
        return;
    struct vs_allocation_life allocation = allocation_of(log, live);
    uint64_t start = vs_replay_start_ns(replay);
    allocation.end = freed ? VS_ALLOCATION_FREED : VS_ALLOCATION_LOST;
    allocation.ended_event = replay->events;
    allocation.ended_ns = replay->now_ns > start ? replay->now_ns - start : 0;
    if (allocation.tensor)
        allocation.kind = vs_kinds_ended(log->kinds);
    log->err = log->take(log->context, replay, &allocation);
}

enum vs_err vs_allocation_log_open(const struct vs_reader *reader, struct vs_symbols *symbols,
                                   vs_allocation_take *take, void *context,
                                   struct vs_allocation_log **out)
{
    struct vs_allocation_log *log = vs_xcalloc(1, sizeof *log);
    *log = (struct vs_allocation_log){.reader = reader, .take = take, .context = context};
    enum vs_err err = vs_replay_open(reader, &log->replay);
    if (!err)
        vs_kinds_open(reader, symbols, &log->kinds);
    if (err) {
        vs_allocation_log_close(log);
        return err;
    }
    log->replay->ends = on_end;
    log->replay->ends_context = log;
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
    vs_replay_close(log->replay);
    vs_kinds_close(log->kinds);
    free(log->device.items);
    free(log->framework.items);
    free(log);
}

const struct vs_replay *vs_allocation_log_replay(const struct vs_allocation_log *log)
{
    return log->replay;
}

/* Notes the birth of the allocation that *event* made, which the replay has now. */
static void note_birth(struct vs_allocation_log *log, const struct vs_event *event)
{
    bool tensor = event->kind == VS_EVENT_framework_alloc;
    struct vs_live_table *table = tensor ? &log->replay->framework_live : &log->replay->device_live;
    struct log_births *births = tensor ? &log->framework : &log->device;
    uint64_t addr = tensor ? event->framework_alloc.addr : event->alloc.addr;
    uint64_t stream = tensor ? 0 : event->alloc.stream;
    const struct vs_live *live = addr ? vs_live_table_find(table, addr) : NULL;
    if (!live)
        return;
    size_t slot = (size_t)(live - table->items);
    if (tensor) { /* the stream of its segment, if that was recorded */
        const struct vs_replay_segment *segment = vs_segments_find(&log->replay->segments, addr);
        stream = segment ? segment->stream : 0;
    }
    vs_vec_room(&births->items, &births->capacity, slot + 1, sizeof *births->items);
    births->items[slot] = (struct log_birth){log->replay->events, stream};
}

enum vs_err vs_allocation_log_event(struct vs_allocation_log *log, const struct vs_event *event)
{
    enum vs_err err = vs_kinds_event(log->kinds, event);
    if (!err)
        err = vs_replay_event(log->replay, event);
    if (!err)
        err = log->err;
    if (!err && (event->kind == VS_EVENT_alloc || event->kind == VS_EVENT_framework_alloc))
        note_birth(log, event);
    return err;
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

/* The live allocations of all accounts, with their kinds. */
static void gather_live(struct vs_allocation_log *log, const struct vs_kinds_table *kinds,
                        struct vs_allocation_life **out, size_t *count)
{
    const struct vs_replay *replay = log->replay;
    size_t capacity = 0;
    for (unsigned i = 0; i <= VS_HOST_INDEX; i++) {
        const struct vs_live *live;
        size_t cursor = 0;
        while (replay->accounts[i] && (live = vs_user_live_next(replay, i, &cursor)) != NULL) {
            vs_vec_room(out, &capacity, *count + 1, sizeof **out);
            struct vs_allocation_life *allocation = &(*out)[(*count)++];
            *allocation = allocation_of(log, live);
            const struct vs_kind_block *block =
                allocation->tensor ? vs_kinds_find(kinds, allocation->device, live->addr) : NULL;
            if (block)
                allocation->kind = block->kind;
        }
    }
    if (*count)
        qsort(*out, *count, sizeof **out, older);
}

enum vs_err vs_allocation_log_finish(struct vs_allocation_log *log)
{
    struct vs_allocation_life *live = NULL;
    struct vs_kinds_table kinds;
    size_t number, count = 0;
    enum vs_err err = vs_kinds_moment(log->kinds, VS_KINDS_ALL_DEVICES, true, &number);
    if (err)
        return err;
    vs_replay_finish(log->replay);
    vs_kinds_finish(log->kinds);
    vs_kinds_take(log->kinds, number, &kinds);
    gather_live(log, &kinds, &live, &count);
    for (size_t i = 0; !err && i < count; i++)
        err = log->take(log->context, log->replay, &live[i]);
    free(live);
    vs_kinds_table_free(&kinds);
    return err;
}
