/* SPDX-License-Identifier: Apache-2.0
 *
 * Counts of repeated openings, by address. Memory that ended in another way, with its context for
 * example, leaves a count behind, which the next opening of the address recognises as stale. */
#include "intercept/track/opened.h"

#include "base/vs_lock.h"
#include "base/vs_map.h"

static struct vs_lock lock = VS_LOCK_INIT(VS_RANK_OPENED, "opened again");
static struct vs_map again; /* guarded by lock: address -> openings after the first */

static bool opened_again_locked(uint64_t addr)
{
    uint64_t *times = vs_map_get(&again, addr);
    if (times)
        ++*times;
    return times || vs_map_put(&again, addr, 1) == VS_OK;
}

void vs_opened(const struct vs_tracked *live, const char *api)
{
    VS_LOCK_SCOPE(&lock);
    bool is_open = vs_track_is(live->addr, live->family);
    bool counted = is_open && opened_again_locked(live->addr);
    if (!is_open)
        vs_map_remove(&again, live->addr, NULL);
    if (!counted)
        vs_track_alloc(live, 0, api);
}

bool vs_opened_close(uint64_t addr)
{
    VS_LOCK_SCOPE(&lock);
    uint64_t *times = vs_map_get(&again, addr);
    bool others = times && vs_track_is(addr, VS_FAMILY_IPC);
    if (times && (!others || !--*times))
        vs_map_remove(&again, addr, NULL);
    return others;
}
