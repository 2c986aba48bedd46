/* SPDX-License-Identifier: Apache-2.0
 *
 * Which driver memory holds a framework's tensors: the framework asks the driver for a segment just
 * before it reports the first tensor in it, on the same thread. Until then the memory is undecided;
 * it becomes other memory when a tensor elsewhere shows that it was not for the framework. A later
 * tensor in it still makes it a segment.
 *
 * And why segments were released: a request that found no memory releases the cache and asks again;
 * otherwise the program asked for it (empty_cache). The next event of the thread decides: memory
 * from the driver that would not have fitted before the release belongs to a retry. */
#include <string.h>

#include "analysis/whatif/requests_reading.h"

#define UNDECIDED_EVENTS 4096

void vs_reading_holder(struct vs_requests_reading *r, uint64_t block, uint64_t addr,
                       uint64_t bytes)
{
    struct vs_replay_segment old, holder = {.addr = addr, .size = bytes, .stream = block};
    if (bytes)
        vs_segments_add(&r->holders, &holder, &old);
}

void vs_reading_holder_gone(struct vs_requests_reading *r, uint64_t addr)
{
    struct vs_replay_segment gone;
    vs_segments_remove(&r->holders, addr, &gone);
}

void vs_reading_segment(struct vs_requests_reading *r, const struct vs_live *live)
{
    size_t slot = (size_t)(live - r->replay->device_live.items);
    if (slot >= r->block_capacity)
        return; /* of another device, by a damaged trace */
    struct vs_request_block *block = &r->blocks[slot];
    if (block->undecided) {
        block->undecided = false;
        r->undecided--;
    } else if (block->role == VS_ROLE_OTHER) {
        vs_recorded_role(&r->memory, live->family, live->size, VS_ROLE_OTHER, VS_ROLE_SEGMENT);
        block->role = VS_ROLE_SEGMENT;
    } else {
        return;
    }
    r->held_segments += live->size;
    if (live->family == VS_FAMILY_VMM)
        r->log->recorded.expandable = true;
}

void vs_reading_hold(struct vs_requests_reading *r, uint64_t addr, uint64_t bytes)
{
    const struct vs_replay_segment *end = r->holders.items + r->holders.count;
    const struct vs_replay_segment *s = vs_segments_find(&r->holders, addr);
    for (; s && s < end && s->addr < addr + bytes; s++) {
        const struct vs_live *live = vs_live_table_find(&r->replay->device_live, s->stream);
        if (live)
            vs_reading_segment(r, live);
    }
    if (r->undecided)
        vs_reading_decide(r, r->event->tid);
}

void vs_reading_decide(struct vs_requests_reading *r, uint32_t tid)
{
    size_t left = r->undecided;
    for (size_t i = r->replay->device_live.slots; i-- > 0 && left;) {
        const struct vs_live *live = &r->replay->device_live.items[i];
        if (i >= r->block_capacity || !r->blocks[i].undecided)
            continue;
        struct vs_request_block *block = &r->blocks[i];
        left--;
        if (tid && live->tid != tid && r->number - r->undecided_since < UNDECIDED_EVENTS)
            continue;
        block->undecided = false;
        r->undecided--;
        vs_recorded_role(&r->memory, live->family, live->size, VS_ROLE_SEGMENT, VS_ROLE_OTHER);
        block->role = VS_ROLE_OTHER;
    }
}

void vs_reading_release(struct vs_requests_reading *r)
{
    if (r->release_tid == r->event->tid)
        return;
    r->release_tid = r->event->tid;
    r->release_used = vs_recorded_used(&r->memory);
    uint64_t serving = r->framework ? r->held_segments : r->memory.segments + r->memory.direct;
    r->release_limited = vs_recorded_held(&r->memory, serving) - r->memory.managed;
}

void vs_reading_released(struct vs_requests_reading *r, bool asked_device, uint64_t need)
{
    /* a collection of old segments comes before the driver is asked, whether or not there is
     * room */
    const struct vs_whatif_recorded *recorded = &r->log->recorded;
    bool collects = strstr(r->process->conf[r->framework], "garbage_collection_threshold");
    bool over = (recorded->total_bytes && r->release_used + need > recorded->total_bytes) ||
                (recorded->limit_bytes != VS_WHATIF_NONE &&
                 r->release_limited + need > recorded->limit_bytes);
    bool retry = r->refused_tid == r->release_tid || (asked_device && (!need || collects || over));
    r->release_tid = 0;
    if (!retry)
        vs_reading_entry(r, VS_REQUEST_EMPTY);
}
