/* SPDX-License-Identifier: Apache-2.0
 *
 * Segments in a replay: device memory from which the program's or our allocator serves blocks,
 * allocated as a whole or mapped piece by piece. They count as reserved, except views, which map
 * memory of another segment again. */
#include "analysis/state/replay_internal.h"

/* *segment*, which is not a view, was created. *more*: change in the number of segments. */
static void hold_bytes(struct vs_replay *replay, const struct vs_replay_segment *segment, uint64_t more,
                       uint32_t tid)
{
    struct vs_change change = vs_change_segment(segment->device, true, segment->size);
    replay->accounts[segment->device]->segment_count += more;
    replay->accounts[segment->device]->segment_allocs++;
    if (replay->subscribed & VS_CHANGE_HELD)
        vs_replay_publish(replay, (struct vs_published){.kind = VS_CHANGE_HELD, .piece = segment});
    if (replay->watch)
        replay->watch->held(replay->watch->context, replay, segment);
    vs_replay_change(replay, segment->device, &change, tid);
}

/* *segment* was released. */
static void release_bytes(struct vs_replay *replay, const struct vs_replay_segment *segment,
                          int64_t more)
{
    struct vs_change change = vs_change_segment(segment->device, false, segment->size);
    replay->accounts[segment->device]->segment_count += (uint64_t)more;
    if (replay->subscribed & VS_CHANGE_RELEASED)
        vs_replay_publish(replay, (struct vs_published){.kind = VS_CHANGE_RELEASED, .piece = segment});
    if (replay->watch)
        replay->watch->released(replay->watch->context, replay, segment);
    vs_replay_change(replay, segment->device, &change, 0);
}

/* Removes the mapped parts of [addr, addr + size); *whose* is the device of some of them, unchanged
 * when there were none. */
static enum vs_err unmap(struct vs_replay *replay, uint64_t addr, uint64_t size, unsigned *whose)
{
    for (;;) {
        struct vs_replay_segment taken;
        int change;
        enum vs_err err = VS_OK;
        vs_segments_unmap(&replay->segments, addr, size, &taken, &change);
        if (err || !taken.size)
            return err;
        *whose = taken.device;
        if (taken.view)
            continue;
        release_bytes(replay, &taken, change); /* may be one segment less */
    }
}

enum vs_err vs_replay_unmap(struct vs_replay *replay, const struct vs_event *event)
{
    if (replay->peak_states)
        vs_peak_states_keep_segments(replay);
    unsigned whose = VS_ACCOUNT_NONE;
    enum vs_err err =
        unmap(replay, event->segment_unmap.addr, event->segment_unmap.size, &whose);
    if (whose != VS_ACCOUNT_NONE)
        replay->accounts[whose]->segment_frees++;
    else
        replay->unmatched_frees++;
    return err;
}

enum vs_err vs_replay_segment(struct vs_replay *replay, const struct vs_event *event)
{
    if (replay->peak_states)
        vs_peak_states_keep_segments(replay);
    struct vs_replay_segment old;
    if (event->kind == VS_EVENT_segment_free) {
        if (!vs_segments_remove(&replay->segments, event->segment_free.addr, &old)) {
            replay->unmatched_frees++;
            return VS_OK;
        }
        if (old.view)
            return VS_OK;
        replay->accounts[old.device]->segment_frees++;
        release_bytes(replay, &old, -1);
        return VS_OK;
    }
    unsigned index;
    enum vs_err err = VS_OK;
    vs_replay_account_for(replay, event->segment_alloc.device, &index);
    if (err || index == VS_ACCOUNT_NONE)
        return err;
    struct vs_replay_segment segment = {.addr = event->segment_alloc.addr,
                                 .size = event->segment_alloc.size,
                                 .context = event->segment_alloc.context,
                                 .stream = event->segment_alloc.stream,
                                 .pool = event->segment_alloc.pool,
                                 .device = index};
    if (segment.size == 0)
        /* mapping nothing; the caller could not distinguish it from "none replaced" */
        return VS_OK;
    unsigned whose = VS_ACCOUNT_NONE;
    err = unmap(replay, segment.addr, segment.size, &whose);
    if (!err)
        vs_segments_add(&replay->segments, &segment, &old);
    if (err)
        return err;
    replay->unmatched_frees += whose != VS_ACCOUNT_NONE;
    if (old.size && !old.view) {
        release_bytes(replay, &old, -1);
        replay->unmatched_frees++;
    }
    hold_bytes(replay, &segment, 1, event->tid);
    return VS_OK;
}

enum vs_err vs_replay_map(struct vs_replay *replay, const struct vs_event *event)
{
    if (replay->peak_states)
        vs_peak_states_keep_segments(replay);
    unsigned index, joined;
    enum vs_err err = VS_OK;
    vs_replay_account_for(replay, event->segment_map.device, &index);
    if (err || index == VS_ACCOUNT_NONE || !event->segment_map.size)
        return err;
    struct vs_replay_segment segment = {.addr = event->segment_map.addr,
                                 .size = event->segment_map.size,
                                 .context = event->segment_map.context,
                                 .stream = event->segment_map.stream,
                                 .pool = event->segment_map.pool,
                                 .device = index,
                                 .mapped = true,
                                 .view = !event->segment_map.reserved};
    err = vs_segments_map(&replay->segments, &segment, &joined);
    if (err == VS_ERR_ARG) {
        replay->unmatched_frees++; /* of the existing mapping */
        return VS_OK;
    }
    if (err || segment.view)
        return err;
    hold_bytes(replay, &segment, UINT64_C(1) - joined, event->tid); /* may be one segment less */
    return VS_OK;
}

void vs_replay_lose_segments(struct vs_replay *replay, uint64_t context, unsigned device)
{
    if (replay->peak_states)
        vs_peak_states_keep_segments(replay);
    for (size_t i = replay->segments.count; i-- > 0;) {
        struct vs_replay_segment segment = replay->segments.items[i];
        if (segment.context != context || segment.device != device)
            continue;
        vs_segments_remove(&replay->segments, segment.addr, &segment);
        if (segment.view)
            continue;
        release_bytes(replay, &segment, -1);
    }
}
