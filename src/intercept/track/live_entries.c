/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. Entries are reused and never freed. */
#include "intercept/track/live_entries.h"

#include "base/vs_arena.h"
#include "base/vs_map.h"

#define CONTEXT_MAX ((UINT32_C(1) << 21) - 1)

/* All guarded by the tracker's lock. */
static struct vs_map table; /* address -> struct vs_live_entry * */
static struct vs_items entries;

struct vs_tracked vs_live_of(const struct vs_live_entry *entry, uint64_t addr)
{
    return (struct vs_tracked){.addr = addr,
                            .requested = entry->requested,
                            .size = entry->size,
                            .device = entry->device,
                            .context = entry->context,
                            .family = (enum vs_family)entry->family,
                            .holds = entry->holds,
                            .ticket = entry->ticket};
}

struct vs_live_entry *vs_live_find(uint64_t addr)
{
    return vs_map_pointer(&table, addr);
}

bool vs_live_put(struct vs_live_entry *entry, const struct vs_tracked *live, bool holds)
{
    bool is_new = !entry;
    if (is_new && !(entry = vs_items_take(&entries, sizeof *entry)))
        return false;
    if (is_new && vs_map_put_pointer(&table, live->addr, entry)) {
        vs_items_give(&entries, entry);
        return false;
    }
    *entry = (struct vs_live_entry){
        .requested = live->requested,
        .size = live->size,
        .ticket = live->ticket,
        .device = live->device & 63,
        .family = live->family & 15,
        .holds = holds,
        .context = live->context <= CONTEXT_MAX ? live->context & CONTEXT_MAX : 0};
    return true;
}

bool vs_live_remove(uint64_t addr, struct vs_tracked *was)
{
    uint64_t value;
    if (!vs_map_remove(&table, addr, &value))
        return false;
    struct vs_live_entry *entry = (struct vs_live_entry *)(uintptr_t)value;
    *was = vs_live_of(entry, addr);
    vs_items_give(&entries, entry);
    return true;
}

const struct vs_live_entry *vs_live_next(size_t *cursor, uint64_t *addr)
{
    const struct vs_map_slot *slot = vs_map_next(&table, cursor);
    if (!slot)
        return NULL;
    *addr = slot->key;
    return (const struct vs_live_entry *)(uintptr_t)slot->value;
}
