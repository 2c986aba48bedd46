/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. A block counts as kept if it is older than any freed block of its site ever
 * became: a ring of buffers or a cache of fixed size has no such blocks, however many it holds. A
 * site grows if it kept blocks at several times, and still did so lately. */
#include "analysis/oom/block_history.h"

#include <stdlib.h>

#include "analysis/state/driver_pages.h"
#include "analysis/state/user_level.h"
#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"

#define TIMES_MIN_STEPS 3 /* as many rises as vs_growth_steady asks for */

static void drop(struct vs_history *h, const struct vs_replay *replay, int level, uint64_t addr,
                 bool freed)
{
    uint64_t slot;
    if (!vs_map_remove(&h->by_addr[level], addr, &slot))
        return;
    struct vs_history_block *block = &h->blocks[slot];
    struct vs_history_site *site = &h->sites[block->site];
    site->live_bytes -= block->bytes;
    if (freed) {
        uint64_t age = h->frees[site->account][level] - block->frees;
        uint64_t epochs = vs_replay_epoch(replay) - block->epoch;
        site->freed++;
        h->frees[site->account][level]++;
        site->oldest_frees = age > site->oldest_frees ? age : site->oldest_frees;
        site->oldest_epochs = epochs > site->oldest_epochs ? epochs : site->oldest_epochs;
    }
    block->used = false;
    block->site = h->free_slot;
    h->free_slot = (uint32_t)slot + 1;
}

static void take_block(struct vs_history *h, int level, uint64_t addr, size_t *slot)
{
    *slot = h->free_slot ? h->free_slot - 1 : h->block_count;
    vs_vec_room(&h->blocks, &h->block_capacity, *slot + 1, sizeof *h->blocks);
    vs_xmap_put(&h->by_addr[level], addr, *slot);
    if (h->free_slot)
        h->free_slot = h->blocks[*slot].site;
    else
        h->block_count++;
}

static void note_size(struct vs_history_site *site, uint64_t bytes, bool late)
{
    site->allocs++;
    site->live_bytes += bytes;
    if (bytes / 2 >= site->largest) {
        site->lower = site->largest;
        site->near = 0;
    }
    if (bytes > site->largest)
        site->largest = bytes;
    if (bytes > site->largest / 2)
        site->near++;
    else if (bytes > site->lower)
        site->lower = bytes;
    if (late && bytes > site->largest_late)
        site->largest_late = bytes;
}

/* The block that was just added was asked for with *requested* bytes. */
static void note_request(struct vs_history *h, const struct vs_replay *replay, uint64_t requested)
{
    struct vs_history_site *site = replay->changed_site < h->site_count
                                       ? &h->sites[replay->changed_site] : NULL;
    if (!site || !site->allocs)
        return;
    if (site->allocs == 1)
        site->first = site->last = requested;
    site->rises += requested > site->last;
    site->falls += requested < site->last;
    site->last = requested;
}

/* Bytes that an allocation takes from the device. */
static uint64_t held_bytes(uint64_t family, uint64_t bytes, bool in_segment)
{
    bool paged = family == VS_FAMILY_DEVICE || family == VS_FAMILY_ARRAY || family == VS_FAMILY_VMM;
    if (!paged || in_segment || bytes < VS_DRIVER_SMALL)
        return bytes;
    return vs_driver_pages(bytes);
}

/* The site of the block that the replay has just added. */
static void open_site(struct vs_history *h, const struct vs_replay *replay, int level,
                      unsigned account)
{
    uint32_t index = replay->changed_site;
    vs_vec_room(&h->sites, &h->site_capacity, (size_t)index + 1, sizeof *h->sites);
    if (index >= h->site_count)
        h->site_count = (size_t)index + 1;
    const struct vs_site *site = &replay->sites.items[index];
    h->sites[index].stack = site->stack;
    h->sites[index].api = site->api;
    h->sites[index].account = account;
    h->sites[index].framework = level;
}

/* The request of the block that was just added, for the loops that mark no steps. */
static void note_stretch(struct vs_history_stretch *stretch, uint32_t epoch, uint32_t site)
{
    if (stretch->epoch != epoch)
        *stretch = (struct vs_history_stretch){.epoch = epoch, .last = stretch->last,
                                               .before = stretch->last, .first = site + 1};
    stretch->befores += stretch->before == site + 1;
    stretch->firsts += stretch->first == site + 1;
    stretch->last = site + 1;
}

static void add(struct vs_history *h, const struct vs_replay *replay, int level,
                const struct vs_history_block *made, unsigned account)
{
    uint32_t site = replay->changed_site;
    size_t slot;
    if (site == VS_SITE_NONE)
        return;
    drop(h, replay, level, made->addr, true); /* its free is not in the trace */
    open_site(h, replay, level, account);
    take_block(h, level, made->addr, &slot);
    struct vs_history_block *block = &h->blocks[slot];
    *block = *made;
    block->frees = h->frees[account][level];
    block->time_ns = replay->now_ns;
    block->epoch = (uint32_t)vs_replay_epoch(replay);
    block->step = (uint32_t)replay->phases.steps.number;
    block->peak_before = h->peak[account][level];
    block->site = site;
    block->used = true;
    note_size(&h->sites[site], made->bytes, block->frees > 0);
    note_stretch(&h->stretch[account][level], block->epoch, site);
    const struct vs_account *a = replay->accounts[account];
    h->peak[account][level] = level ? a->framework.peak.allocated : a->sums.peak.allocated;
}

static void add_device(struct vs_history *h, const struct vs_replay *replay,
                       const struct vs_event_alloc *alloc)
{
    unsigned account = VS_HOST_INDEX;
    if (alloc->family >= VS_FAMILY_COUNT || !alloc->addr || alloc->family == VS_FAMILY_IPC)
        return;
    if (!vs_family_on_host(alloc->family))
        account = vs_replay_account(replay, alloc->device);
    if (account == VS_ACCOUNT_NONE)
        return;
    bool in_segment = alloc->family == VS_FAMILY_DEVICE &&
                      vs_segments_find(&replay->segments, alloc->addr) != NULL;
    struct vs_history_block made = {.addr = alloc->addr, .bytes = alloc->size,
                                    .family = (uint32_t)alloc->family,
                                    .held = held_bytes(alloc->family, alloc->size, in_segment)};
    add(h, replay, 0, &made, account);
    note_request(h, replay, alloc->requested);
}

static void add_framework(struct vs_history *h, const struct vs_replay *replay,
                          const struct vs_event_framework_alloc *alloc)
{
    unsigned account = vs_replay_account(replay, alloc->device);
    struct vs_history_block made = {.addr = alloc->addr, .bytes = alloc->size, .held = alloc->size,
                                    .family = VS_FAMILY_DEVICE,
                                    .stream = alloc->framework_stream};
    if (account == VS_ACCOUNT_NONE || !alloc->addr)
        return;
    add(h, replay, 1, &made, account);
    note_request(h, replay, alloc->size);
}

/* All memory of a device ends with its context, except that of pools. */
static void lose_account(struct vs_history *h, const struct vs_replay *replay, unsigned account)
{
    if (account == VS_ACCOUNT_NONE || replay->accounts[account]->sums.now.allocated)
        return;
    for (size_t i = 0; i < h->block_count; i++)
        for (int level = 0; level < 2; level++)
            if (h->blocks[i].used && h->sites[h->blocks[i].site].account == account)
                drop(h, replay, level, h->blocks[i].addr, false);
}

void vs_history_event(struct vs_history *h, const struct vs_replay *replay,
                      const struct vs_event *event)
{
    switch (event->kind) {
    case VS_EVENT_alloc: add_device(h, replay, &event->alloc); return;
    case VS_EVENT_framework_alloc: add_framework(h, replay, &event->framework_alloc); return;
    case VS_EVENT_free: drop(h, replay, 0, event->free.addr, true); break;
    case VS_EVENT_framework_free: drop(h, replay, 1, event->framework_free.addr, true); break;
    case VS_EVENT_context:
        if (!event->context.alive)
            lose_account(h, replay, vs_replay_account(replay, event->context.device));
        break;
    default: break;
    }
}

/* --- growth --- */

/* The clock that ages are counted by. */
struct history_clock {
    bool steps;
    bool stretch; /* counts frees, of the blocks of *epoch* alone */
    uint64_t epoch;
    uint64_t now;
};

static struct history_clock clock_of(const struct vs_history *h, const struct vs_replay *replay,
                                     unsigned account)
{
    bool steps = replay->phases.steps.begun > 0;
    bool framework = vs_user_level(replay, account) == VS_LEVEL_FRAMEWORK;
    return (struct history_clock){
        .steps = steps, .now = steps ? vs_replay_epoch(replay) : h->frees[account][framework]};
}

static uint64_t born(const struct vs_history_block *block, const struct history_clock *clock)
{
    return clock->steps ? block->epoch : block->frees;
}

static bool outlived(const struct vs_history *h, const struct vs_history_block *block,
                     const struct history_clock *clock)
{
    const struct vs_history_site *site = &h->sites[block->site];
    uint64_t age = clock->now - born(block, clock);
    if (clock->stretch && block->epoch != clock->epoch)
        return false;
    if (born(block, clock) == 0 && !clock->steps)
        return false; /* the program was still building up */
    if (clock->steps)
        return block->epoch > 0 && age > site->oldest_epochs;
    return site->freed == 0 || age > site->oldest_frees;
}

struct kept_birth {
    uint64_t at, bytes, held, time_ns;
    uint32_t site, step;
};

static int by_site_and_birth(const void *a, const void *b)
{
    const struct kept_birth *x = a, *y = b;
    if (x->site != y->site)
        return x->site < y->site ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

static int by_kept_bytes(const void *a, const void *b)
{
    const struct vs_history_growth *x = a, *y = b;
    if (x->held != y->held)
        return x->held < y->held ? 1 : -1;
    return x->site < y->site ? -1 : x->site > y->site;
}

/* Judges the births of one site, sorted; false when it does not grow. */
static bool judge(const struct kept_birth *births, size_t count, const struct history_clock *clock,
                  struct vs_history_growth *out)
{
    uint64_t times = 0;
    *out = (struct vs_history_growth){.site = births->site, .count = count,
                                      .since_step = births->step, .since_ns = births->time_ns};
    for (size_t i = 0; i < count; i++) {
        times += i == 0 || births[i].at != births[i - 1].at;
        out->bytes += births[i].bytes;
        out->held += births[i].held;
    }
    uint64_t first = births[0].at, last = births[count - 1].at;
    if (times < (clock->steps ? TIMES_MIN_STEPS : VS_HISTORY_TIMES_MIN))
        return false;
    uint64_t gap = (last - first) / (times - 1) + 1;
    out->times = times;
    out->steps = clock->steps ? clock->now / 2 - first / 2 : 0; /* it counts begins and ends */
    out->per_time = out->bytes / times;
    return clock->now - last <= 3 * gap;
}

static void gather_kept(const struct vs_history *h, unsigned account,
                        const struct history_clock *clock, struct kept_birth **out,
                        size_t *count)
{
    size_t capacity = 0;
    for (size_t i = 0; i < h->block_count; i++) {
        const struct vs_history_block *block = &h->blocks[i];
        if (!block->used || h->sites[block->site].account != account || !outlived(h, block, clock))
            continue;
        vs_vec_room(out, &capacity, *count + 1, sizeof **out);
        (*out)[(*count)++] = (struct kept_birth){born(block, clock), block->bytes, block->held,
                                                 block->time_ns, block->site, block->step};
    }
    if (*count)
        qsort(*out, *count, sizeof **out, by_site_and_birth);
}

/* The sites that grow by *clock*. */
static size_t growing(const struct vs_history *h, const struct vs_replay *replay, unsigned account,
                      struct history_clock clock, struct vs_history_growth *out, size_t max,
                      enum vs_err *err)
{
    struct kept_birth *births = NULL;
    size_t count = 0, found = 0;
    *err = VS_OK;
    gather_kept(h, account, &clock, &births, &count);
    for (size_t from = 0, to; from < count; from = to) {
        struct vs_history_growth one;
        for (to = from + 1; to < count && births[to].site == births[from].site; to++)
            ;
        if (!judge(births + from, to - from, &clock, &one) ||
            !vs_user_has_site(replay, &replay->sites.items[one.site]))
            continue;
        if (found < max)
            out[found++] = one;
        else if (by_kept_bytes(&one, &out[max - 1]) < 0)
            out[max - 1] = one;
        qsort(out, found, sizeof *out, by_kept_bytes);
    }
    free(births);
    return found;
}

size_t vs_history_growing(const struct vs_history *h, const struct vs_replay *replay,
                          unsigned account, struct vs_history_growth *out, size_t max,
                          enum vs_err *err)
{
    return growing(h, replay, account, clock_of(h, replay, account), out, max, err);
}

/* Whether a site keeps more blocks than two completed steps would allocate there: otherwise it may be
 * the forward pass of a larger step. */
static bool beyond_steps(const struct vs_history *h, const struct vs_history_growth *found,
                         uint64_t done)
{
    uint64_t allocs = h->sites[found->site].allocs;
    uint64_t earlier = allocs > found->count ? allocs - found->count : 0;
    return done == 0 || found->count > 2 * (earlier / done);
}

size_t vs_history_growing_since(const struct vs_history *h, const struct vs_replay *replay,
                                unsigned account, struct vs_history_growth *out, size_t max,
                                uint64_t *repeats, enum vs_err *err)
{
    int level = vs_user_level(replay, account) == VS_LEVEL_FRAMEWORK;
    const struct vs_history_stretch *stretch = &h->stretch[account][level];
    uint64_t done = replay->phases.steps.done, epoch = vs_replay_epoch(replay);
    struct history_clock clock = {.stretch = true, .epoch = epoch, .now = h->frees[account][level]};
    *err = VS_OK;
    *repeats = stretch->befores;
    if (done && stretch->firsts > stretch->befores) /* layers repeat in a first step, too */
        *repeats = stretch->firsts;
    if (!epoch || stretch->epoch != epoch ||
        *repeats < (done ? 1 : 2) * VS_HISTORY_TIMES_MIN)
        return 0;
    size_t count = growing(h, replay, account, clock, out, max, err), kept = 0;
    for (size_t i = 0; i < count; i++)
        if (beyond_steps(h, &out[i], done) && 2 * out[i].times >= *repeats)
            out[kept++] = out[i];
    return kept;
}

static void add_time(struct vs_history_times *site, uint64_t at)
{
    unsigned i = 0;
    while (i < site->times && site->at[i] != at)
        i++;
    if (i == site->times && i < VS_HISTORY_TIMES_MIN)
        site->at[site->times++] = at;
}

void vs_history_times(const struct vs_history *h, const struct vs_replay *replay, unsigned account,
                      struct vs_history_times *sites, size_t count)
{
    struct history_clock clock = clock_of(h, replay, account);
    struct vs_map by_site = {0}; /* site + 1 -> index in *sites* */
    for (size_t i = 0; i < count; i++) {
        sites[i].times = 0;
        vs_xmap_put(&by_site, sites[i].site + UINT64_C(1), i);
    }
    for (size_t i = 0; i < h->block_count; i++) {
        const struct vs_history_block *block = &h->blocks[i];
        const uint64_t *index = block->used ? vs_map_get(&by_site, block->site + UINT64_C(1)) : NULL;
        if (index)
            add_time(&sites[*index], born(block, &clock));
    }
    vs_map_free(&by_site);
}

/* --- the block unlike all others --- */

const struct vs_history_block *vs_history_unlike(const struct vs_history *h,
                                                 const struct vs_replay *replay, unsigned account)
{
    const struct vs_history_block *best = NULL;
    for (size_t i = 0; i < h->block_count; i++) {
        const struct vs_history_block *block = &h->blocks[i];
        const struct vs_history_site *site = block->used ? &h->sites[block->site] : NULL;
        if (!site || site->account != account || (best && block->bytes <= best->bytes) ||
            block->bytes < site->largest || site->near > 1 ||
            !(replay->phases.steps.begun ? block->epoch > 1 : block->frees > 0))
            continue;
        if (vs_user_has_site(replay, &replay->sites.items[block->site]))
            best = block;
    }
    return best;
}

/* --- requests that become larger --- */

#define RISES_MIN 5

uint64_t vs_history_rising(const struct vs_history_site *site, uint64_t request)
{
    bool steady = site->rises >= RISES_MIN && site->falls <= site->rises / 10;
    return steady && request >= site->last && request / 2 >= site->first ? site->first : 0;
}

void vs_history_free(struct vs_history *h)
{
    free(h->blocks);
    free(h->sites);
    for (int level = 0; level < 2; level++)
        vs_map_free(&h->by_addr[level]);
    *h = (struct vs_history){0};
}
