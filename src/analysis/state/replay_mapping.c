/* SPDX-License-Identifier: Apache-2.0
 *
 * Mappings of physical memory in a replay, and the segments of a framework's allocator: driver
 * memory, and address ranges where mapped memory holds its blocks (expandable segments). Mappings
 * change no sum: the memory was counted when it was created. */
#include <stdlib.h>

#include "analysis/state/replay_internal.h"
#include "analysis/state/user_level.h"
#include "base/reading/vs_vec.h"

void vs_replay_mapped(struct vs_replay *replay, const struct vs_event *event)
{
    uint64_t addr = event->kind == VS_EVENT_vmm_unmap ? event->vmm_unmap.addr : event->vmm_map.addr;
    const struct vs_mapping *old = replay->peak_states ? vs_mappings_at(&replay->mappings, addr) : NULL;
    if (old)
        vs_peak_states_keep_mapping(replay, old);
    if (event->kind == VS_EVENT_vmm_unmap) {
        vs_mappings_remove(&replay->mappings, event->vmm_unmap.addr);
        return;
    }
    unsigned index = vs_replay_account(replay, event->vmm_map.device);
    if (index == VS_ACCOUNT_NONE || !event->vmm_map.addr || !event->vmm_map.size)
        return; /* of memory that is not in the trace */
    struct vs_mapping mapping = {
        .addr = event->vmm_map.addr, .size = event->vmm_map.size, .device = index, .event = replay->events,
        .memory = event->vmm_map.imported ? 0 : VS_ADDR_MEMORY | event->vmm_map.memory};
    vs_mappings_add(&replay->mappings, &mapping);
}

const struct vs_live *vs_replay_memory_at(const struct vs_replay *replay, uint64_t addr)
{
    const struct vs_mapping *mapping =
        replay->mappings.count ? vs_mappings_find(&replay->mappings, addr) : NULL;
    return mapping && mapping->memory ? vs_live_table_find(&replay->device_live, mapping->memory)
                                      : NULL;
}

static int by_address(const void *a, const void *b)
{
    const struct vs_user_segment *x = a, *y = b;
    return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* Joins mappings that follow each other; returns the number of the rest. *list* is by address. */
static size_t join(struct vs_user_segment *list, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        struct vs_user_segment *last = kept ? &list[kept - 1] : NULL;
        if (last && last->mapped && list[i].mapped && last->addr + last->size == list[i].addr)
            last->size += list[i].size;
        else
            list[kept++] = list[i];
    }
    return kept;
}

static void put(struct vs_user_segment **list, size_t *capacity, size_t *count,
                const struct vs_user_segment *one)
{
    vs_vec_room(list, capacity, *count + 1, sizeof **list);
    (*list)[(*count)++] = *one;
}

void vs_user_segments(const struct vs_replay *replay, unsigned account,
                      struct vs_user_segment **out, size_t *out_count)
{
    struct vs_user_segment *list = NULL;
    size_t count = 0, capacity = 0;
    for (size_t i = 0; i < replay->device_live.slots; i++) {
        const struct vs_live *live = &replay->device_live.items[i];
        if (!live->used || live->device != account || live->family != VS_FAMILY_DEVICE ||
            live->in_segment || !replay->sites.items[live->site].backing)
            continue;
        put(&list, &capacity, &count,
            &(struct vs_user_segment){live->addr, live->size, live->site, false});
    }
    for (size_t i = 0; i < replay->mappings.count; i++) {
        const struct vs_mapping *mapping = &replay->mappings.items[i];
        const struct vs_live *memory =
            mapping->device == account && mapping->memory
                ? vs_live_table_find(&replay->device_live, mapping->memory) : NULL;
        if (memory && replay->sites.items[memory->site].backing)
            put(&list, &capacity, &count,
                &(struct vs_user_segment){mapping->addr, mapping->size, memory->site, true});
    }
    if (count)
        qsort(list, count, sizeof *list, by_address);
    *out = list;
    *out_count = join(list, count);
}
