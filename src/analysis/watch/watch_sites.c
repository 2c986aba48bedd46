/* SPDX-License-Identifier: Apache-2.0
 *
 * The call sites that hold most memory now. Stacks with the same functions of the user's are one
 * (vs_naming_key, whose result is kept for each stack). */
#include <stdlib.h>

#include "analysis/naming/naming.h"
#include "analysis/state/user_level.h"
#include "analysis/watch/watch_internal.h"
#include "base/reading/vs_vec.h"

#define OWN_KEY (UINT64_C(1) << 63)

static uint64_t group_key(struct vs_watch *w, uint32_t index)
{
    const struct vs_site *site = &w->replay->sites.items[index];
    uint64_t key = w->keys[index];
    if (key)
        return key;
    key = (uint64_t)index << 8 | OWN_KEY; /* told apart by its API */
    if (site->stack || site->mark) {
        vs_naming_key(w->replay->reader, &w->owners, site->stack, site->mark, &key);
        key = ((key * 16 + site->family) * 2 + (site->level == VS_LEVEL_FRAMEWORK)) *
                  VS_DEVICES_MAX + site->device;
        key |= key == 0;
    }
    return w->keys[index] = key;
}

struct watch_group {
    struct vs_watch_site row;
    uint64_t heaviest;
};

struct watch_groups {
    struct watch_group *items;
    size_t count, capacity;
    struct vs_map by_key; /* index */
};

static int heavier(const void *a, const void *b)
{
    const struct watch_group *x = a, *y = b;
    if (x->row.bytes != y->row.bytes)
        return x->row.bytes < y->row.bytes ? 1 : -1;
    return x->row.site < y->row.site ? -1 : x->row.site > y->row.site;
}

static void add_site(struct vs_watch *w, struct watch_groups *groups, uint32_t index)
{
    const struct vs_site *site = &w->replay->sites.items[index];
    uint64_t weight = vs_recording_weight(&w->replay->recording), key = group_key(w, index);
    size_t at = vs_xmap_number(&groups->by_key, key, groups->count);
    if (at == groups->count) {
        struct watch_group *fresh =
            vs_vec_push(&groups->items, &groups->count, &groups->capacity, sizeof *fresh);
        *fresh = (struct watch_group){.row = {.key = key, .site = index}};
    }
    struct watch_group *group = &groups->items[at];
    group->row.bytes += site->live_bytes * weight;
    group->row.count += site->live_count * weight;
    if (site->live_bytes > group->heaviest) {
        group->heaviest = site->live_bytes;
        group->row.site = index;
    }
    const uint64_t *grows = vs_map_get(&w->growth.by_site, index + 1);
    if (grows) {
        group->row.growing = true;
        group->row.growth_per_step += *grows * weight;
    }
}

void vs_watch_fill_sites(struct vs_watch *w, unsigned account, struct vs_watch_device *out)
{
    const struct vs_sites *sites = &w->replay->sites;
    struct watch_groups groups = {0};
    vs_vec_room(&w->keys, &w->key_count, sites->count, sizeof *w->keys);
    for (size_t i = 0; i < sites->count; i++) {
        const struct vs_site *site = &sites->items[i];
        if (site->device == account && site->live_bytes && vs_user_has_site(w->replay, site))
            add_site(w, &groups, (uint32_t)i);
    }
    vs_vec_sort(groups.items, groups.count, sizeof *groups.items, heavier);
    out->site_count = groups.count < VS_WATCH_SITES_MAX ? groups.count : VS_WATCH_SITES_MAX;
    out->sites_omitted = groups.count - out->site_count;
    for (size_t i = 0; i < groups.count; i++) {
        out->sites_bytes += groups.items[i].row.bytes;
        if (i < out->site_count)
            out->sites[i] = groups.items[i].row;
    }
    free(groups.items);
    vs_map_free(&groups.by_key);
}
