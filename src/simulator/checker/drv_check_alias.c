/* SPDX-License-Identifier: Apache-2.0
 *
 * Physical memory that is mapped at several addresses, at the same time or one after the other:
 * accesses to it by offset, at any address. Each mapping has its own map of accesses
 * (drv_check_memory.c); the map here is shared by all mappings of one piece of physical memory, and
 * lives until the memory is released and its last mapping is forgotten. Guarded by the checker's
 * lock. */
#include <stdlib.h>

#include "base/vs_map.h"
#include "simulator/checker/vs_sim_check_internal.h"

struct vs_sim_alias {
    uint64_t id; /* of the physical memory; never reused */
    unsigned refs;
    struct vs_sim_shadow shadow; /* by offset */
};

static struct vs_map aliases; /* id to struct vs_sim_alias */

struct vs_sim_alias *vs_sim_alias_ref(uint64_t id)
{
    uint64_t *value = vs_map_get(&aliases, id);
    struct vs_sim_alias *alias = value ? (struct vs_sim_alias *)(uintptr_t)*value : NULL;
    if (!alias) {
        alias = vs_sim_need(calloc(1, sizeof *alias));
        vs_sim_need(vs_map_put(&aliases, id, (uint64_t)(uintptr_t)alias) ? NULL : alias);
        alias->id = id;
        alias->refs = 1; /* of the memory itself */
    }
    alias->refs++;
    return alias;
}

void vs_sim_alias_unref(struct vs_sim_alias *alias)
{
    if (!alias)
        return;
    alias->refs--;
    if (alias->refs)
        return;
    vs_map_remove(&aliases, alias->id, NULL);
    vs_sim_shadow_free(&alias->shadow);
    free(alias);
}

void vs_sim_check_physical_gone(uint64_t id)
{
    vs_sim_check_lock();
    uint64_t *value = vs_map_get(&aliases, id);
    if (value)
        vs_sim_alias_unref((struct vs_sim_alias *)(uintptr_t)*value);
    vs_sim_check_release();
}

struct at {
    void (*conflict)(void *to, const struct vs_sim_access *access, struct vs_sim_actor *earlier,
                     enum vs_sim_how how, uintptr_t begin, uintptr_t end);
    void *to;
    uintptr_t base;
};

static void moved(void *to, const struct vs_sim_access *access, struct vs_sim_actor *earlier,
                  enum vs_sim_how how, uintptr_t begin, uintptr_t end)
{
    const struct at *at = to;
    at->conflict(at->to, access, earlier, how, at->base + begin, at->base + end);
}

void vs_sim_alias_access(struct vs_sim_alias *alias, uintptr_t base,
                         const struct vs_sim_access *access, vs_sim_conflict conflict, void *to)
{
    struct vs_sim_access by_offset = *access;
    struct at at = {.conflict = conflict, .to = to, .base = base};
    by_offset.begin -= base;
    by_offset.end -= base;
    vs_sim_shadow_access(&alias->shadow, &by_offset, moved, &at, NULL);
}
