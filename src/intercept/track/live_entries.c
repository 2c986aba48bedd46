/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. Entries are reused and never freed. */
#include "intercept/track/live_entries.h"

#include "base/vs_arena.h"
#include "base/vs_map.h"

#define ENTRIES_AT_ONCE 64 /* single entries would be rounded up */
#define CONTEXT_MAX ((UINT32_C(1) << 21) - 1)

/* All guarded by the tracker's lock. */
static struct vs_map table; /* address -> struct vs_live_entry * */
static struct vs_arena arena;
static struct vs_live_entry *free_entries;

static struct vs_live_entry *entry_take(void)
{
    struct vs_live_entry *entry = free_entries;
    if (!entry && (entry = vs_arena_alloc(&arena, ENTRIES_AT_ONCE * sizeof *entry))) {
        for (int i = 0; i < ENTRIES_AT_ONCE - 1; i++)
            entry[i].next_free = &entry[i + 1];
        entry[ENTRIES_AT_ONCE - 1].next_free = NULL;
    }
    if (entry)
        free_entries = entry->next_free;
    return entry;
}

static void entry_give(struct vs_live_entry *entry)
{
    entry->next_free = free_entries;
    free_entries = entry;
}

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
    const uint64_t *value = vs_map_get(&table, addr);
    return value ? (struct vs_live_entry *)(uintptr_t)*value : NULL;
}

bool vs_live_put(struct vs_live_entry *entry, const struct vs_tracked *live, bool holds)
{
    bool is_new = !entry;
    if (is_new && !(entry = entry_take()))
        return false;
    if (is_new && vs_map_put(&table, live->addr, (uint64_t)(uintptr_t)entry)) {
        entry_give(entry);
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
    entry_give(entry);
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
