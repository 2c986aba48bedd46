/* SPDX-License-Identifier: Apache-2.0
 *
 * Live blocks while a trace is read, and the entries of the log about them. A request has a slot
 * while it is live; slots are used again, so that a run needs a table of the live blocks only. */
#include <string.h>

#include "analysis/whatif/requests_reading.h"
#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"

/* --- driver memory --- */

struct vs_request_block *vs_reading_find(struct vs_requests_reading *r, uint64_t addr)
{
    const uint64_t *index = vs_map_get(&r->by_addr, addr);
    return index ? &r->blocks[*index] : NULL;
}

enum vs_err vs_reading_block(struct vs_requests_reading *r, uint64_t addr, uint32_t *index)
{
    size_t i = r->block_free ? r->block_free - 1 : r->block_count;
    enum vs_err err = VS_OK;
    vs_vec_room(&r->blocks, &r->block_capacity, i + 1, sizeof *r->blocks);
    if (!err && i >= UINT32_MAX - 1)
        err = VS_ERR_LIMIT;
    if (!err)
        vs_xmap_put(&r->by_addr, addr, i);
    if (err)
        return err;
    if (r->block_free)
        r->block_free = r->blocks[i].next_free;
    else
        r->block_count++;
    r->blocks[i] = (struct vs_request_block){.addr = addr, .used = true, .slot = VS_NO_SLOT};
    *index = (uint32_t)i;
    return VS_OK;
}

void vs_reading_drop_block(struct vs_requests_reading *r, struct vs_request_block *block)
{
    vs_map_remove(&r->by_addr, block->addr, NULL);
    block->used = false;
    block->next_free = r->block_free;
    r->block_free = (uint32_t)(block - r->blocks) + 1;
}

/* --- requests --- */

static void number_of(struct vs_map *map, uint64_t key, uint32_t *out, bool *fresh)
{
    if (key == UINT64_MAX)
        key = 0; /* not known; key + 1 would be 0, which a map cannot hold */
    const uint64_t *known = vs_map_get(map, key + 1);
    *fresh = !known;
    *out = known ? (uint32_t)*known : (uint32_t)map->count;
    if (!known)
        vs_xmap_put(map, key + 1, *out);
}

static enum vs_err site_of(struct vs_requests_reading *r, uint64_t stack, uint32_t *out)
{
    bool fresh;
    struct vs_whatif_log *log = r->log;
    enum vs_err err = VS_OK;
    number_of(&r->sites, stack, out, &fresh);
    if (err || !fresh)
        return err;
    vs_vec_room(&log->stacks, &log->site_capacity, *out + 1, sizeof *log->stacks);
    if (err)
        return err;
    log->stacks[(*out)] = stack;
    log->site_count = *out + 1;
    return VS_OK;
}

static void lane_of(struct vs_requests_reading *r, uint64_t stream, bool ordered,
                    uint32_t *out)
{
    bool fresh;
    struct vs_whatif_log *log = r->log;
    if (!ordered && !r->framework)
        stream = 0;
    number_of(&r->lanes, stream, out, &fresh);
    if (fresh)
        vs_vec_room(&log->streams, &log->lane_capacity, *out + 1, sizeof *log->streams);
    if (fresh) {
        log->streams[*out] = stream;
        log->lane_count = *out + 1;
    }
    if (ordered)
        *out |= VS_LANE_ORDERED;
}

static enum vs_err take_slot(struct vs_requests_reading *r, uint64_t bytes, uint32_t *out)
{
    struct vs_whatif_log *log = r->log;
    if (r->slot_free) {
        *out = r->slot_free - 1;
        r->slot_free = (uint32_t)r->slot_bytes[*out];
    } else {
        if (log->slot_count == VS_NO_SLOT - 1)
            return VS_ERR_LIMIT;
        vs_vec_room(&r->slot_bytes, &r->slot_capacity, log->slot_count + 1,
                    sizeof *r->slot_bytes);
        *out = log->slot_count++;
    }
    r->slot_bytes[*out] = bytes;
    return VS_OK;
}

/* The least memory with which all of this could be in use at once. */
static void note_least(struct vs_requests_reading *r)
{
    struct vs_whatif_recorded *recorded = &r->log->recorded;
    uint64_t least = vs_recorded_held(&r->memory, r->live);
    if (r->live > recorded->live_peak)
        recorded->live_peak = r->live;
    if (least > recorded->least_peak)
        recorded->least_peak = least;
}

/* A request of that size succeeded: the program recovered from failures of at most that size. */
static void served(struct vs_requests_reading *r, uint64_t bytes)
{
    size_t left = 0;
    for (size_t i = 0; i < r->open_count; i++) {
        if (bytes < r->open[i].bytes)
            r->open[left++] = r->open[i];
    }
    r->open_count = left;
}

enum vs_err vs_reading_request(struct vs_requests_reading *r, uint64_t bytes, uint64_t stream,
                               bool ordered, uint64_t stack, uint32_t *slot)
{
    struct vs_request_entry entry = {
        .kind = VS_REQUEST_ALLOC, .event = r->number, .bytes = bytes};
    enum vs_err err = site_of(r, stack, &entry.site);
    if (!err)
        lane_of(r, stream, ordered, &entry.lane);
    if (!err)
        err = take_slot(r, bytes, &entry.slot);
    if (!err)
        err = vs_request_add(&r->log->store, &entry);
    if (err)
        return err;
    *slot = entry.slot;
    r->live += bytes;
    r->log->recorded.request_count++;
    if (r->open_count)
        served(r, bytes);
    note_least(r);
    return VS_OK;
}

enum vs_err vs_reading_freed(struct vs_requests_reading *r, uint32_t slot)
{
    struct vs_request_entry entry = {
        .kind = VS_REQUEST_FREE, .event = r->number, .slot = slot};
    enum vs_err err = vs_request_add(&r->log->store, &entry);
    if (err)
        return err;
    r->live -= r->slot_bytes[slot];
    r->slot_bytes[slot] = r->slot_free;
    r->slot_free = slot + 1;
    r->log->recorded.free_count++;
    return VS_OK;
}

enum vs_err vs_reading_failed(struct vs_requests_reading *r, enum vs_request_kind kind,
                              uint64_t event, uint64_t bytes, uint64_t stack, uint64_t stream)
{
    struct vs_request_entry entry = {.kind = kind, .event = event, .bytes = bytes};
    if (entry.event < r->log->store.last_event)
        entry.event = r->log->store.last_event;
    enum vs_err err = site_of(r, stack, &entry.site);
    if (!err && kind == VS_REQUEST_FAILED)
        lane_of(r, stream, false, &entry.lane);
    if (!err)
        err = vs_request_add(&r->log->store, &entry);
    if (err)
        return err;
    r->log->recorded.failures++;
    if (r->open_count == VS_OPEN_FAILURES)
        memmove(r->open, r->open + 1, --r->open_count * sizeof *r->open);
    r->open[r->open_count++] = (struct vs_open_failure){
        entry.event, bytes, r->phases.steps.begun, vs_recorded_held(&r->memory, r->live)};
    return VS_OK;
}

void vs_reading_recovered(struct vs_requests_reading *r)
{
    size_t left = 0;
    for (size_t i = 0; i < r->open_count; i++) {
        if (r->phases.steps.begun <= r->open[i].steps_begun)
            r->open[left++] = r->open[i];
    }
    r->open_count = left;
}

enum vs_err vs_reading_entry(struct vs_requests_reading *r, enum vs_request_kind kind)
{
    struct vs_request_entry entry = {
        .kind = kind, .event = r->number, .bytes = r->log->recorded.steps};
    return vs_request_add(&r->log->store, &entry);
}
