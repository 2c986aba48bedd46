/* SPDX-License-Identifier: Apache-2.0
 *
 * The user's level of an account: tensors and memory of the device that does not hold them; see the
 * header. Kept only from the first sign of a framework on: a block that it reports, or an allocation
 * by its allocator. Until then both levels are the same, and the fields of the account serve for
 * both. */
#include "analysis/state/user_level.h"

#include "analysis/naming/library.h"
#include "analysis/state/replay_internal.h"

uint64_t vs_user_allocated(const struct vs_account *account)
{
    int64_t outside = (int64_t)(account->sums.now.allocated - account->user.backing);
    return account->framework.now.allocated + (outside > 0 ? (uint64_t)outside : 0);
}

void vs_user_split(struct vs_replay *replay, unsigned index)
{
    struct vs_account *a = replay->accounts[index];
    struct vs_user_account *user = &a->user;
    if (user->split)
        return;
    uint64_t backing = user->backing, peak = a->peak_allocated.bytes;
    user->split = true;
    user->peak = a->peak_allocated;
    user->peak.bytes = peak > backing ? peak - backing : 0;
    user->step_peak = a->step_peak > backing ? a->step_peak - backing : 0;
    user->steps_peak = a->steps_peak;
    user->step_largest = a->step_largest;
    user->steps_largest = a->steps_largest;
    user->largest = a->largest;
    user->freed_bytes = a->freed_bytes;
    user->growth = a->growth;
    vs_peak_states_split(replay, index);
    vs_phases_user_split(&replay->phases, index, backing);
}

void vs_user_judge_site(struct vs_replay *replay, struct vs_site *site)
{
    if (site->device == VS_HOST_INDEX || site->backing || !site->stack)
        return;
    site->backing = vs_library_is_allocator(replay->reader, site->stack);
    for (size_t i = 0; i < replay->pool_count && !site->backing; i++)
        site->backing = vs_library_same_pool(replay->reader, replay->pools[i], site->stack);
    if (site->backing)
        vs_user_split(replay, site->device);
}

void vs_user_learn_pool(struct vs_replay *replay, uint64_t stack)
{
    if (vs_library_is_allocator(replay->reader, stack))
        return;
    for (size_t i = 0; i < replay->pool_count; i++)
        if (vs_library_same_pool(replay->reader, replay->pools[i], stack))
            return;
    if (replay->pool_count < VS_POOLS_MAX)
        replay->pools[replay->pool_count++] = stack;
}

void vs_user_holds_tensors(struct vs_replay *replay, struct vs_site *site)
{
    struct vs_user_account *user = &replay->accounts[site->device]->user;
    vs_peak_states_keep_site(replay, (uint32_t)(site - replay->sites.items));
    site->backing = true;
    vs_user_learn_pool(replay, site->stack);
    for (size_t i = 0; i < replay->device_live.slots; i++) {
        const struct vs_live *live = &replay->device_live.items[i];
        if (live->used && live->counted && &replay->sites.items[live->site] == site)
            user->backing += live->size;
    }
    vs_user_split(replay, site->device);
}

void vs_user_device_freed(struct vs_account *account, const struct vs_site *site,
                          const struct vs_live *live, bool freed)
{
    if (!site->backing)
        account->user.freed_bytes += freed ? live->size : 0;
    else if (live->counted)
        account->user.backing -= live->size;
}

void vs_user_rose(struct vs_replay *replay, unsigned index, struct vs_place place, uint64_t size,
                  uint64_t bytes)
{
    struct vs_account *account = replay->accounts[index];
    struct vs_user_account *user = &account->user;
    if (bytes > user->peak.bytes) {
        vs_peak_states_raised(replay);
        user->peak = (struct vs_peak){.bytes = bytes, .event = replay->events,
                                      .time_ns = replay->now_ns, .place = place,
                                      .allocated = account->sums.now.allocated,
                                      .requested = account->sums.now.requested,
                                      .reserved = account->sums.now.reserved};
    }
    if (bytes > user->step_peak)
        user->step_peak = bytes;
    if (size > user->step_largest)
        user->step_largest = size;
    if (size > user->largest)
        user->largest = size;
    vs_phases_user_level(&replay->phases, place.phase, index, bytes);
}

void vs_user_device_rose(struct vs_replay *replay, unsigned index, const struct vs_live *live)
{
    struct vs_phase *phase = &replay->phases.items[live->place.phase];
    if (!replay->sites.items[live->site].backing) {
        vs_user_rose(replay, index, live->place, live->counted ? live->size : 0,
                     vs_user_allocated(replay->accounts[index]));
        return;
    }
    phase->user_allocs--; /* counted with the device's; its tensors are counted instead */
    phase->user_bytes -= live->requested;
}

void vs_user_step_end(struct vs_account *account, const struct vs_steps *steps)
{
    struct vs_user_account *user = &account->user;
    uint64_t bytes = vs_user_allocated(account);
    vs_growth_update(&user->growth, bytes, steps->done, steps->number, steps->done == 1);
    if (user->step_peak > user->steps_peak)
        user->steps_peak = user->step_peak;
    if (user->step_largest > user->steps_largest)
        user->steps_largest = user->step_largest;
    user->step_peak = bytes;
    user->step_largest = 0;
}

void vs_user_window(const struct vs_replay *replay, struct vs_account *account,
                    struct vs_place place)
{
    uint64_t bytes = vs_user_allocated(account);
    account->user = (struct vs_user_account){
        .split = true, .reports = account->user.reports, .backing = account->user.backing, .step_peak = bytes,
        .growth = {.last = bytes},
        .peak = {.bytes = bytes, .event = bytes ? replay->events : 0, .time_ns = replay->now_ns,
                 .place = place, .allocated = account->sums.now.allocated,
                 .requested = account->sums.now.requested,
                 .reserved = account->sums.now.reserved}};
}

/* --- for the readers of a replay --- */

enum vs_level vs_user_level(const struct vs_replay *replay, unsigned account)
{
    return replay->accounts[account]->user.reports ? VS_LEVEL_FRAMEWORK : VS_LEVEL_DEVICE;
}

struct vs_user_sums vs_user_sums(const struct vs_replay *replay, unsigned account)
{
    const struct vs_account *a = replay->accounts[account];
    if (vs_user_level(replay, account) == VS_LEVEL_DEVICE)
        return (struct vs_user_sums){
            .level = VS_LEVEL_DEVICE, .allocated = a->sums.now.allocated,
            .outside = a->sums.now.allocated, .peak = &a->peak_allocated,
            .step_peak = a->step_peak, .steps_peak = a->steps_peak,
            .step_largest = a->step_largest, .steps_largest = a->steps_largest,
            .largest = a->largest, .freed_bytes = a->freed_bytes, .growth = &a->growth};
    const struct vs_user_account *user = &a->user;
    uint64_t allocated = vs_user_allocated(a), tensors = a->framework.now.allocated;
    return (struct vs_user_sums){
        .level = VS_LEVEL_FRAMEWORK, .allocated = allocated, .tensors = tensors,
        .outside = allocated - tensors, .backing = user->backing, .peak = &user->peak,
        .step_peak = user->step_peak, .steps_peak = user->steps_peak,
        .step_largest = user->step_largest, .steps_largest = user->steps_largest,
        .largest = user->largest, .freed_bytes = user->freed_bytes, .growth = &user->growth};
}

bool vs_user_has_site(const struct vs_replay *replay, const struct vs_site *site)
{
    if (vs_user_level(replay, site->device) == VS_LEVEL_DEVICE)
        return site->level != VS_LEVEL_FRAMEWORK;
    return !site->backing;
}

bool vs_user_has_live(const struct vs_replay *replay, const struct vs_live *live)
{
    return live->used && vs_user_has_site(replay, &replay->sites.items[live->site]);
}

const struct vs_live *vs_user_live_next(const struct vs_replay *replay, unsigned account,
                                        size_t *cursor)
{
    const struct vs_live_table *device = &replay->device_live, *framework = &replay->framework_live;
    while (*cursor < device->slots + framework->slots) {
        size_t at = (*cursor)++;
        const struct vs_live *live = at < device->slots ? &device->items[at]
                                                        : &framework->items[at - device->slots];
        if (live->used && live->device == account && vs_user_has_live(replay, live))
            return live;
    }
    return NULL;
}

uint64_t vs_user_phase_peak(const struct vs_replay *replay, const struct vs_phase *phase,
                            unsigned account)
{
    if (vs_user_level(replay, account) == VS_LEVEL_FRAMEWORK)
        return account < phase->user_count ? phase->user_peaks[account] : 0;
    return account < phase->peak_count ? phase->peaks[account] : 0;
}

uint64_t vs_user_phase_allocs(const struct vs_replay *replay, const struct vs_phase *phase,
                              uint64_t *bytes)
{
    bool framework = false;
    for (unsigned i = 0; i < replay->account_count; i++)
        framework |= vs_user_level(replay, i) == VS_LEVEL_FRAMEWORK;
    *bytes = phase->alloc_bytes + (framework ? phase->user_bytes : 0);
    return phase->allocs + (framework ? phase->user_allocs : 0);
}

const struct vs_site *vs_user_failure_site(const struct vs_replay *replay,
                                           const struct vs_failure *failure)
{
    struct vs_site_key key = {failure->stack, failure->api, 0, failure->account, VS_LEVEL_DEVICE};
    if (!failure->framework)
        return vs_sites_find(&replay->sites, &key);
    key.level = VS_LEVEL_FRAMEWORK;
    key.api = 0;
    const struct vs_site *site = vs_sites_find(&replay->sites, &key);
    if (!site || !site->by_mark || !failure->mark)
        return site;
    key.mark = failure->mark;
    return vs_sites_find(&replay->sites, &key);
}
