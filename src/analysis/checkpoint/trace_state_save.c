/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes a state as records. Maps are written in the order of their keys, so that the
 * same state always gives the same bytes; lists in batches, so that the size of a record is
 * bounded. */
#include <stdlib.h>
#include <string.h>

#include "analysis/checkpoint/trace_state_fields.h"
#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"

#define BATCH 1024 /* items in one record */

/* Ends a record of *n* items if it is full. Returns whether it did. */
static bool end_batch(struct vs_state_record *r, unsigned tag, size_t n)
{
    if (n % BATCH)
        return false;
    vs_state_end(r, tag);
    return true;
}

static void end_list(struct vs_state_record *r, unsigned tag, size_t n)
{
    if (n % BATCH)
        vs_state_end(r, tag);
}

static void save_phases(struct vs_state_record *r, const struct vs_phases *phases)
{
    for (size_t i = 0; i < phases->count; i++) {
        const struct vs_phase *phase = &phases->items[i];
        struct vs_trace_state_phase one = {
            *phase, i, phase->name, phase->prefix, strlen(phase->name),
            phase->prefix == phase->name ? 0 : strlen(phase->prefix) + 1};
        vs_trace_state_io_phase(r, &one, UINT32_MAX);
        vs_state_end(r, VS_TRACE_STATE_PHASE);
    }
}

static void save_account(struct vs_state_record *r, struct vs_replay *replay, unsigned index)
{
    bool host = index == VS_HOST_INDEX;
    vs_state_bool(r, &host);
    vs_trace_state_io_account(r, replay->accounts[index], &replay->phases);
    vs_state_end(r, VS_TRACE_STATE_ACCOUNT);
    if (host)
        return;
    uint64_t number = index;
    vs_state_u64(r, &number);
    vs_trace_state_io_usage(r, &replay->accounts[index]->usage);
    vs_state_end(r, VS_TRACE_STATE_USAGE);
    if (!replay->accounts[index]->user.split)
        return;
    vs_state_u64(r, &number);
    vs_trace_state_io_user(r, replay->accounts[index], &replay->phases);
    vs_state_end(r, VS_TRACE_STATE_USER);
}

/* The items of a map in the order of their keys, so that the same state always gives the same bytes
 * and neighbouring records compress well. */
static struct vs_map_slot *sorted(const struct vs_map *map)
{
    struct vs_map_slot *slots = vs_xcalloc(map->count + 1, sizeof *slots);
    size_t cursor = 0, n = 0;
    const struct vs_map_slot *slot;
    while (n < map->count && (slot = vs_map_next(map, &cursor)) != NULL)
        slots[n++] = *slot;
    qsort(slots, n, sizeof *slots, vs_order_u64);
    return slots;
}

static void save_map(struct vs_state_record *r, const struct vs_map *map,
                     enum vs_trace_state_tag tag)
{
    struct vs_map_slot *slots = sorted(map);
    for (size_t i = 0; i < map->count; i++) {
        vs_state_u64(r, &slots[i].key);
        vs_state_u64(r, &slots[i].value);
        end_batch(r, tag, i + 1);
    }
    end_list(r, tag, map->count);
    free(slots);
}

/* The call sites of *level* in their order; *numbers* receives their numbers. */
static void save_sites(struct vs_state_record *r, struct vs_sites *sites, enum vs_level level,
                       uint32_t *numbers)
{
    bool device = level == VS_LEVEL_DEVICE;
    unsigned tag = device ? VS_TRACE_STATE_SITES : VS_TRACE_STATE_FRAMEWORK_SITES;
    uint32_t n = 0;
    for (size_t i = 0; i < sites->count; i++) {
        if (sites->items[i].level != level)
            continue;
        numbers[i] = n++;
        device ? vs_trace_state_io_site(r, &sites->items[i])
               : vs_trace_state_io_framework_site(r, &sites->items[i]);
        end_batch(r, tag, n);
    }
    end_list(r, tag, n);
}

static void save_backing(struct vs_state_record *r, const struct vs_sites *sites,
                         const uint32_t *numbers)
{
    size_t n = 0;
    for (size_t i = 0; i < sites->count; i++) {
        uint64_t number = numbers[i];
        if (!sites->items[i].backing)
            continue;
        vs_state_u64(r, &number);
        end_batch(r, VS_TRACE_STATE_BACKING, ++n);
    }
    end_list(r, VS_TRACE_STATE_BACKING, n);
}

/* The blocks of a framework whose size is not that which was asked for. */
static void save_rounding(struct vs_state_record *r, const struct vs_live_table *table)
{
    struct vs_map_slot *slots = sorted(&table->by_addr);
    size_t n = 0;
    for (size_t i = 0; i < table->by_addr.count; i++) {
        const struct vs_live *live = &table->items[slots[i].value];
        uint64_t addr = live->addr, rounding = live->size - live->requested;
        if (!rounding)
            continue;
        vs_state_u64(r, &addr);
        vs_state_u64(r, &rounding);
        end_batch(r, VS_TRACE_STATE_ROUNDING, ++n);
    }
    end_list(r, VS_TRACE_STATE_ROUNDING, n);
    free(slots);
}

static void save_live(struct vs_state_record *r, const struct vs_replay *replay, unsigned tag,
                      struct vs_live live, struct vs_trace_state_last_live *last)
{
    if (tag == VS_TRACE_STATE_LIVE) {
        vs_trace_state_io_live(r, &live, last);
    } else if (tag == VS_TRACE_STATE_BIRTHS) {
        vs_trace_state_io_birth(r, &live, &replay->phases);
    } else if (tag == VS_TRACE_STATE_FRAMEWORK) {
        vs_state_u64(r, &live.addr);
        vs_state_u64(r, &live.size);
    } else {
        vs_trace_state_io_framework_birth(r, &live, last, &replay->phases);
    }
}

/* The rows of a live table by address, as records of *tag*. */
static void save_lives(struct vs_state_record *r, const struct vs_replay *replay, unsigned tag,
                       const uint32_t *numbers)
{
    bool device = tag == VS_TRACE_STATE_LIVE || tag == VS_TRACE_STATE_BIRTHS;
    const struct vs_live_table *table = device ? &replay->device_live : &replay->framework_live;
    struct vs_map_slot *slots = sorted(&table->by_addr);
    struct vs_trace_state_last_live last = {0};
    for (size_t i = 0; i < table->by_addr.count; i++) {
        struct vs_live live = table->items[slots[i].value];
        live.site = numbers[live.site];
        save_live(r, replay, tag, live, &last);
        if (end_batch(r, tag, i + 1))
            last = (struct vs_trace_state_last_live){0};
    }
    end_list(r, tag, table->by_addr.count);
    free(slots);
}

/* Segments or mappings. */
static void save_segments(struct vs_state_record *r, struct vs_segments *set, unsigned tag,
                          void (*io)(struct vs_state_record *, struct vs_replay_segment *, uint64_t *))
{
    uint64_t last = 0;
    for (size_t i = 0; i < set->count; i++) {
        io(r, &set->items[i], &last);
        if (end_batch(r, tag, i + 1))
            last = 0;
    }
    end_list(r, tag, set->count);
}

static void save_lists(struct vs_state_record *r, struct vs_trace_state *m)
{
    struct vs_replay *replay = m->replay;
    uint32_t *numbers = vs_xcalloc(replay->sites.count + 1, sizeof *numbers);
    save_sites(r, &replay->sites, VS_LEVEL_DEVICE, numbers);
    save_sites(r, &replay->sites, VS_LEVEL_FRAMEWORK, numbers);
    save_backing(r, &replay->sites, numbers);
    struct vs_phases *phases = &replay->phases;
    for (size_t i = 0; i < phases->thread_count; i++) {
        struct vs_thread *thread = &phases->threads[i];
        bool whole = thread->depth <= thread->capacity || thread->capacity == VS_RANGE_DEPTH_MAX;
        uint32_t kept = thread->depth < thread->capacity ? thread->depth : thread->capacity;
        uint32_t depth = whole ? thread->depth : kept; /* levels that found no room are dropped */
        vs_state_u32(r, &thread->tid, UINT32_MAX);
        vs_state_u64(r, &thread->last_alloc);
        vs_state_u32(r, &depth, UINT32_MAX);
        for (uint32_t k = 0; k < kept; k++)
            vs_trace_state_io_range(r, &thread->ranges[k], phases);
        vs_state_u64(r, &thread->last_framework_alloc);
        vs_state_end(r, VS_TRACE_STATE_THREAD);
    }
    save_map(r, &replay->phases.open_steps, VS_TRACE_STATE_OPEN_STEPS);
    save_lives(r, replay, VS_TRACE_STATE_LIVE, numbers);
    save_lives(r, replay, VS_TRACE_STATE_BIRTHS, numbers);
    save_lives(r, replay, VS_TRACE_STATE_FRAMEWORK, numbers);
    save_lives(r, replay, VS_TRACE_STATE_FRAMEWORK_BIRTHS, numbers);
    save_rounding(r, &replay->framework_live);
    free(numbers);
    save_segments(r, &replay->segments, VS_TRACE_STATE_SEGMENTS, vs_trace_state_io_segment);
    save_segments(r, &replay->mappings, VS_TRACE_STATE_MAPPINGS, vs_trace_state_io_mapping);
    for (size_t i = 0; i < replay->failure_count; i++) {
        vs_trace_state_io_failure(r, &replay->failures[i], &replay->phases);
        vs_state_end(r, VS_TRACE_STATE_FAILURE);
    }
    for (size_t i = 0; i < m->activity.kernel_count; i++) {
        vs_trace_state_io_kernel(r, &m->activity.kernels[i]);
        end_batch(r, VS_TRACE_STATE_KERNELS, i + 1);
    }
    end_list(r, VS_TRACE_STATE_KERNELS, m->activity.kernel_count);
    for (size_t i = 0; i < m->activity.device_count; i++) {
        vs_trace_state_io_device_activity(r, &m->activity.devices[i]);
        end_batch(r, VS_TRACE_STATE_ACTIVITY, i + 1);
    }
    end_list(r, VS_TRACE_STATE_ACTIVITY, m->activity.device_count);
    size_t n = 0;
    for (size_t i = 0; i < m->retained.count; i++) {
        if (!m->retained.items[i].kind)
            continue;
        vs_trace_state_io_event(r, &m->retained.items[i]);
        end_batch(r, VS_TRACE_STATE_EVENTS, ++n);
    }
    end_list(r, VS_TRACE_STATE_EVENTS, n);
}

enum vs_err vs_trace_state_save(struct vs_trace_state *m, vs_checkpoint_take *take, void *context)
{
    struct vs_state_record record = {.writing = true, .take = take, .context = context};
    struct vs_state_record *r = &record;
    struct vs_replay *replay = m->replay;
    vs_trace_state_io_totals(r, m);
    vs_state_end(r, VS_TRACE_STATE_TOTALS);
    save_phases(r, &replay->phases);
    for (unsigned i = 0; i < replay->account_count; i++)
        save_account(r, replay, i);
    save_account(r, replay, VS_HOST_INDEX);
    save_lists(r, m);
    return vs_state_flush(r);
}
