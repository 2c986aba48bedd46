/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of call sites and the growth rule; see the header. At a step's end only sites used
 * during it are checked, so the cost depends on the step's work, not on the program's number of
 * sites. */
#include "analysis/state/sites.h"

#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"
#include "ledger/change.h"

#define STEADY_RISES 3

void vs_growth_update(struct vs_growth *growth, uint64_t bytes, uint64_t serial, uint64_t number,
                      bool first)
{
    if (first) {
        growth->last = bytes;
        return;
    }
    if (bytes > growth->last) {
        if (growth->rises == 0) {
            growth->base = growth->last;
            growth->first_step = serial;
            growth->first_step_number = number;
        }
        growth->rises++;
        growth->last_step = serial;
    } else if (bytes < growth->last) {
        growth->falls++;
        if (bytes <= growth->base)
            growth->rises = growth->falls = 0;
    }
    growth->last = bytes;
}

bool vs_growth_steady(const struct vs_growth *growth, uint64_t steps_done)
{
    if (growth->rises < STEADY_RISES || growth->falls * 4 > growth->rises)
        return false;
    uint64_t usual_gap = (growth->last_step - growth->first_step) / (growth->rises - 1) + 1;
    return steps_done < growth->last_step || steps_done - growth->last_step <= 2 * usual_gap;
}

uint64_t vs_growth_per_step(const struct vs_growth *growth)
{
    if (growth->rises == 0 || growth->last <= growth->base)
        return 0;
    return (growth->last - growth->base) / (growth->last_step - growth->first_step + 1);
}

#define STACK_BITS 32
#define MARKS_MAX ((uint64_t)1 << 22) /* later lines share a row */

/* Unique: stack or API, mark, level and device have bits of their own. A stack that needs more than
 * its bits has no mark. */
static uint64_t key_of(const struct vs_site_key *key)
{
    uint64_t name = key->stack ? key->stack : key->api;
    uint64_t bits = name << 8 | (uint64_t)(key->level == VS_LEVEL_FRAMEWORK) << 7 | key->device;
    if (!key->stack)
        bits |= UINT64_C(1) << 63;
    if (key->mark && key->mark < MARKS_MAX && name >> STACK_BITS == 0)
        bits |= key->mark << (STACK_BITS + 8);
    return bits + 1;
}

uint32_t vs_sites_look_up(struct vs_sites *sites, const struct vs_site_key *key)
{
    uint64_t bits = key_of(key);
    const uint64_t *found = vs_map_get(&sites->by_key, bits);
    if (found)
        return (uint32_t)*found;
    vs_vec_room(&sites->items, &sites->capacity, sites->count + 1, sizeof *sites->items);
    vs_xmap_put(&sites->by_key, bits, sites->count);
    sites->items[sites->count] = (struct vs_site){.stack = key->stack, .api = key->api,
                                                  .device = key->device, .mark = key->mark,
                                                  .level = key->level};
    return (uint32_t)sites->count++;
}

const struct vs_site *vs_sites_find(const struct vs_sites *sites, const struct vs_site_key *key)
{
    const uint64_t *found = vs_map_get(&sites->by_key, key_of(key));
    return found ? &sites->items[*found] : NULL;
}

void vs_sites_count(struct vs_sites *sites, uint32_t index, uint64_t requested, uint64_t size)
{
    struct vs_site *site = &sites->items[index];
    site->allocs++;
    site->bytes += requested;
    site->live_bytes += size;
    site->live_count++;
    if (requested > site->largest)
        site->largest = requested;
    if (size > site->largest_in_step)
        site->largest_in_step = size;
    vs_sites_touch(sites, index);
}

void vs_sites_step_end(struct vs_sites *sites, uint64_t serial, uint64_t number)
{
    for (size_t i = 0; i < sites->touched_count; i++) {
        struct vs_site *site = &sites->items[sites->touched[i]];
        vs_growth_update(&site->growth, site->live_bytes, serial, number, !sites->step_seen);
        if (site->largest_in_step > site->largest_before_step)
            site->largest_before_step = site->largest_in_step;
        site->largest_in_step = 0;
        site->touched = false;
    }
    sites->touched_count = 0;
    sites->step_seen = true;
}

void vs_sites_window(struct vs_sites *sites)
{
    for (size_t i = 0; i < sites->count; i++) {
        struct vs_site *site = &sites->items[i];
        struct vs_site kept = {.stack = site->stack, .api = site->api, .device = site->device,
                               .family = site->family, .mark = site->mark, .level = site->level,
                               .backing = site->backing, .by_mark = site->by_mark,
                               .live_bytes = site->live_bytes, .live_count = site->live_count,
                               .touched = site->touched};
        kept.growth.last = site->live_bytes;
        *site = kept;
    }
}

void vs_sites_index(struct vs_sites *sites)
{
    for (size_t i = 0; i < sites->count; i++) {
        const struct vs_site *site = &sites->items[i];
        struct vs_site_key key = {site->stack, site->api, site->mark, site->device, site->level};
        vs_xmap_put(&sites->by_key, key_of(&key), i);
    }
}

void vs_sites_free(struct vs_sites *sites)
{
    free(sites->items);
    free(sites->touched);
    vs_map_free(&sites->by_key);
    *sites = (struct vs_sites){0};
}
