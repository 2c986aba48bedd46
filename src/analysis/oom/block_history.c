/* SPDX-License-Identifier: Apache-2.0
 *
 * A block counts as kept if it is older than any freed block of its site ever
 * became: a ring of buffers or a cache of fixed size has no such blocks, however many it holds. A
 * site grows if it kept blocks at several times, and still did so lately. */
#include "analysis/oom/oom_facts.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/state/driver_pages.h"
#include "analysis/state/user_level.h"
#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"

#define TIMES_MIN_STEPS 3 /* as many rises as vs_growth_steady asks for */
#define SMALL_BESIDE 8    /* a request that is so many times smaller than the largest of its site */

static void on_birth(struct vs_history *h, const struct vs_replay *replay,
                     const struct vs_published *change)
{
    const struct vs_live *live = change->live;
    const struct vs_site *row = &replay->sites.items[live->site];
    const struct vs_account *account = replay->accounts[live->device];
    int level = live->level == VS_LEVEL_FRAMEWORK;
    uint64_t *peak = &h->peak[live->device][level], frees = h->frees[live->device][level];
    uint32_t epoch = (uint32_t)vs_replay_epoch(replay), number = live->site + 1;
    bool paged = live->size >= VS_DRIVER_SMALL && !level && !live->in_segment &&
                 (live->family == VS_FAMILY_DEVICE || live->family == VS_FAMILY_ARRAY ||
                  live->family == VS_FAMILY_VMM);
    if (change->slot >= h->block_count) {
        h->block_count = change->slot + 1;
        vs_vec_room(&h->blocks, &h->block_capacity, h->block_count, sizeof *h->blocks);
    }
    if (number > h->site_count) {
        h->site_count = number;
        vs_vec_room(&h->sites, &h->site_capacity, number, sizeof *h->sites);
    }
    struct vs_history_stretch *stretch = &h->stretch[live->device][level];
    if (stretch->epoch != epoch) /* of the loops that mark no steps */
        *stretch = (struct vs_history_stretch){.epoch = epoch, .last = stretch->last,
                                               .before = stretch->last, .first = number};
    bool again = stretch->last == number && stretch->last_frees == frees; /* a batch's input and target */
    stretch->befores += stretch->before == number && !again;
    stretch->firsts += stretch->first == number && !again;
    stretch->last = number;
    stretch->last_frees = frees;
    if (stretch->phase != live->place.phase)
        stretch->passes += strcmp(replay->phases.items[live->place.phase].name, "backward") == 0;
    stretch->phase = live->place.phase;
    h->blocks[change->slot] = (struct vs_history_block){
        .addr = live->addr, .bytes = live->size, .family = live->family, .site = live->site,
        .held = paged ? vs_driver_pages(live->size) : live->size,
        .stream = level ? change->event->framework_alloc.framework_stream : 0, .frees = frees,
        .time_ns = replay->now_ns, .epoch = epoch, .pass = stretch->passes, .step = (uint32_t)replay->phases.steps.number,
        .peak_before = *peak, .used = true};
    struct vs_history_site *site = &h->sites[live->site];
    site->stack = row->stack;
    site->api = row->api;
    site->account = live->device;
    site->framework = level;
    bool late = frees > 0;
    site->allocs++;
    site->live_bytes += live->size;
    if (live->size / 2 >= site->largest) {
        site->lower = site->largest;
        site->near = 0;
    }
    if (live->size > site->largest)
        site->largest = live->size;
    if (live->size > site->largest / 2)
        site->near++;
    else if (live->size > site->lower)
        site->lower = live->size;
    if (late && live->size > site->largest_late)
        site->largest_late = live->size;
    /* small requests of the same line, of labels beside outputs, are not compared with those that grow */
    if (site->allocs == 1 || live->requested / SMALL_BESIDE > site->last) {
        site->first = site->last = live->requested;
        site->rises = site->falls = site->repeats = 0;
    }
    site->repeats += live->requested > site->last / SMALL_BESIDE;
    site->falls += live->requested < site->last && live->requested > site->last / SMALL_BESIDE;
    if (live->requested > site->last) {
        site->last = live->requested;
        site->rises++;
    }
    *peak = level ? account->framework.peak.allocated : account->sums.peak.allocated;
}

static void end_block(struct vs_history *h, const struct vs_replay *replay, size_t slot, bool freed)
{
    struct vs_history_block *block = &h->blocks[slot];
    struct vs_history_site *site = &h->sites[block->site];
    uint64_t *frees = &h->frees[site->account][site->framework];
    uint64_t age = *frees - block->frees, epochs = vs_replay_epoch(replay) - block->epoch;
    uint64_t passes = h->stretch[site->account][site->framework].passes;
    passes -= epochs ? 0 : block->pass;
    block->used = false;
    site->live_bytes -= block->bytes;
    if (!freed)
        return;
    site->freed++;
    ++*frees;
    site->oldest_frees = age > site->oldest_frees ? age : site->oldest_frees;
    site->oldest_epochs = epochs > site->oldest_epochs ? epochs : site->oldest_epochs;
    site->oldest_passes = passes > site->oldest_passes ? passes : site->oldest_passes;
}

static void on_change(void *context, const struct vs_replay *replay, const struct vs_published *change)
{
    struct vs_history *h = context;
    if (!change->live->counted)
        return; /* imported */
    if (change->kind == VS_CHANGE_BORN)
        on_birth(h, replay, change);
    else if (change->slot < h->block_count && h->blocks[change->slot].used)
        end_block(h, replay, change->slot, change->kind == VS_CHANGE_ENDED);
}

void vs_history_open(struct vs_history *history, struct vs_replay *replay)
{
    vs_replay_subscribe(replay, VS_CHANGE_BORN | VS_CHANGE_ENDED | VS_CHANGE_LOST, on_change, history);
}

/* All memory of a device ends with its context, except that of pools. */
void vs_history_lost(struct vs_history *h, const struct vs_replay *replay, unsigned account)
{
    if (account == VS_ACCOUNT_NONE || replay->accounts[account]->sums.now.allocated)
        return;
    for (size_t i = 0; i < h->block_count; i++)
        if (h->blocks[i].used && h->sites[h->blocks[i].site].account == account)
            end_block(h, replay, i, false);
}

void vs_history_copy(struct vs_history *to, const struct vs_history *from)
{
    struct vs_history_block *blocks = to->blocks;
    struct vs_history_site *sites = to->sites;
    size_t block_capacity = to->block_capacity, site_capacity = to->site_capacity;
    *to = *from;
    to->blocks = blocks;
    to->sites = sites;
    to->block_capacity = block_capacity;
    to->site_capacity = site_capacity;
    vs_vec_room(&to->blocks, &to->block_capacity, from->block_count, sizeof *blocks);
    vs_vec_room(&to->sites, &to->site_capacity, from->site_count, sizeof *sites);
    if (from->block_count)
        memcpy(to->blocks, from->blocks, from->block_count * sizeof *blocks);
    if (from->site_count)
        memcpy(to->sites, from->sites, from->site_count * sizeof *sites);
}

/* --- growth --- */

/* The clock that ages are counted by. */
struct history_clock {
    bool steps;
    bool stretch; /* counts frees, of the blocks of *epoch* alone; or */
    bool passes;  /* backward passes, likewise */
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
    return clock->steps ? block->epoch : clock->passes ? block->pass : block->frees;
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
    return site->freed == 0 || age > (clock->passes ? site->oldest_passes : site->oldest_frees);
}

struct kept_birth {
    uint64_t at, bytes, held, time_ns;
    uint32_t site, step;
};

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

/* The sites that grow by *clock*. */
static size_t growing(const struct vs_history *h, const struct vs_replay *replay, unsigned account,
                      struct history_clock clock, struct vs_history_growth *out, size_t max)
{
    struct kept_birth *births = NULL;
    size_t count = 0, capacity = 0, found = 0;
    for (size_t i = 0; i < h->block_count; i++) {
        const struct vs_history_block *block = &h->blocks[i];
        if (!block->used || h->sites[block->site].account != account || !outlived(h, block, &clock))
            continue;
        VS_VEC_ADD(births, count, capacity,
                   (struct kept_birth){born(block, &clock), block->bytes, block->held,
                                       block->time_ns, block->site, block->step});
    }
    VS_SORT(births, count, VS_UP(site), VS_UP(at), VS_UP(time_ns));
    for (size_t from = 0, to; from < count; from = to) {
        struct vs_history_growth one;
        for (to = from + 1; to < count && births[to].site == births[from].site; to++)
            ;
        if (!judge(births + from, to - from, &clock, &one) ||
            !vs_user_has_site(replay, &replay->sites.items[one.site]))
            continue;
        if (found < max)
            out[found++] = one;
        else if (one.held > out[max - 1].held)
            out[max - 1] = one;
        VS_SORT(out, found, VS_DOWN(held), VS_UP(site));
    }
    free(births);
    return found;
}

size_t vs_history_growing(const struct vs_history *h, const struct vs_replay *replay,
                          unsigned account, struct vs_history_growth *out, size_t max)
{
    return growing(h, replay, account, clock_of(h, replay, account), out, max);
}

size_t vs_history_growing_since(const struct vs_history *h, const struct vs_replay *replay,
                                unsigned account, struct vs_history_growth *out, size_t max,
                                uint64_t *repeats, bool *passes)
{
    int level = vs_user_level(replay, account) == VS_LEVEL_FRAMEWORK;
    const struct vs_history_stretch *stretch = &h->stretch[account][level];
    uint64_t done = replay->phases.steps.done, epoch = vs_replay_epoch(replay);
    struct history_clock clock = {.stretch = true, .epoch = epoch, .now = h->frees[account][level]};
    *repeats = stretch->befores;
    if (done && stretch->firsts > stretch->befores) /* layers repeat in a first step, too */
        *repeats = stretch->firsts;
    *passes = clock.passes = stretch->epoch == epoch && stretch->passes >= VS_HISTORY_TIMES_MIN;
    if (clock.passes)
        *repeats = clock.now = stretch->passes;
    if (!epoch || stretch->epoch != epoch ||
        *repeats < (done || clock.passes ? 1 : 2) * VS_HISTORY_TIMES_MIN)
        return 0;
    size_t count = growing(h, replay, account, clock, out, max), kept = 0;
    for (size_t i = 0; i < count; i++) {
        /* A site that keeps no more blocks than two completed steps would allocate there may be the
         * forward pass of a larger step. */
        uint64_t allocs = h->sites[out[i].site].allocs;
        uint64_t earlier = allocs > out[i].count ? allocs - out[i].count : 0;
        if ((done == 0 || out[i].count > 2 * (earlier / done)) && 2 * out[i].times >= *repeats)
            out[kept++] = out[i];
    }
    return kept;
}

void vs_history_inputs(struct vs_history *h, const struct vs_replay *replay, unsigned account)
{
    struct vs_history_stretch *stretch = &h->stretch[account][1];
    uint64_t *counts = vs_xcalloc(h->site_count + 1, sizeof *counts), *times;
    size_t best = 0, found = 0, all = 0;
    const struct vs_live *live;
    for (size_t at = 0; (live = vs_user_live_next(replay, account, &at)) != NULL; all++)
        if (live->kind == VS_KIND_INPUTS && live->site < h->site_count && ++counts[live->site] > counts[best])
            best = live->site;
    times = vs_xcalloc(all + 1, sizeof *times); /* the lowest bit: of an activation */
    all = 0;
    for (size_t at = 0; (live = vs_user_live_next(replay, account, &at)) != NULL;)
        if (live->kind == VS_KIND_ACTIVATIONS || (live->kind == VS_KIND_INPUTS && live->site == best))
            times[all++] = live->time_ns << 1 | (live->kind == VS_KIND_ACTIVATIONS);
    vs_vec_sort(times, all, sizeof *times, vs_order_u64);
    for (size_t i = 0; i < all; i++) /* those that come to the device together are one */
        if (!(times[i] & 1) && (!i || (times[i - 1] & 1)))
            times[found++] = times[i] >> 1;
    stretch->inputs = !replay->phases.steps.done && stretch->epoch == vs_replay_epoch(replay) &&
                      stretch->epoch && stretch->passes < VS_HISTORY_TIMES_MIN &&
                      found >= VS_HISTORY_TIMES_MIN;
    for (size_t i = 0; stretch->inputs && i < h->block_count; i++)
        h->blocks[i].pass =
            (uint32_t)vs_vec_below(times, found, sizeof *times, 0, h->blocks[i].time_ns + 1);
    if (stretch->inputs)
        stretch->passes = (uint32_t)found;
    free(counts);
    free(times);
}

uint32_t *vs_history_times(const struct vs_history *h, const struct vs_replay *replay, unsigned account)
{
    struct history_clock clock = clock_of(h, replay, account);
    uint32_t *times = vs_xcalloc(h->site_count + 1, sizeof *times);
    struct kept_birth *births = NULL;
    size_t count = 0, capacity = 0;
    for (size_t i = 0; i < h->block_count; i++)
        if (h->blocks[i].used)
            VS_VEC_ADD(births, count, capacity,
                       (struct kept_birth){.at = born(&h->blocks[i], &clock), .site = h->blocks[i].site});
    VS_SORT(births, count, VS_UP(site), VS_UP(at));
    for (size_t i = 0; i < count; i++)
        times[births[i].site] += !i || births[i].site != births[i - 1].site || births[i].at != births[i - 1].at;
    free(births);
    return times;
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
    bool steady = site->rises + (request > site->last) >= RISES_MIN && site->falls <= site->rises / 10;
    return steady && request >= site->last && request / 2 >= site->first ? site->first : 0;
}

void vs_history_free(struct vs_history *h)
{
    free(h->blocks);
    free(h->sites);
    *h = (struct vs_history){0};
}
