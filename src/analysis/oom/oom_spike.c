/* SPDX-License-Identifier: Apache-2.0
 *
 * The exceptional allocation, for the post-mortem: the failed request, or the largest live block that
 * is unlike all others of its call site. Where memory goes round, all such blocks of the same step
 * belong to it: a step that asks for more than any before may do so in several allocations. */
#include "analysis/oom/oom_facts.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/state/user_level.h"
#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"

#define PART_LEAST 8      /* the others of the step: an eighth of the largest at least */
#define GROUP_MOST 16     /* blocks of one call site */
#define FREES_TOGETHER 8  /* without known steps: so few frees between two blocks of one step */

struct spike {
    const struct vs_history_block *largest; /* NULL: the failed request is the spike */
    uint64_t bytes;       /* of the largest, or of the request */
    uint64_t usual;       /* the largest allocation beside it */
    uint64_t *parts;      /* by site: its unlike live blocks of that step; 0: not one of the spike */
    uint64_t peak_before; /* before the first of them */
};

/* Without marked steps, earlier allocations can be compared where memory is freed and allocated
 * again. *peak*: of the live memory before. */
static bool has_past(const struct vs_oom *oom, uint64_t peak)
{
    return oom->steps_done > 0 ||
           (oom->steps_begun == 0 && peak > 0 && oom->freed_bytes / 2 >= peak);
}

/* Whether *block* was allocated in the same step as the spike. */
static bool same_step(const struct vs_oom_scene *scene, const struct spike *spike,
                      const struct vs_history_block *block)
{
    const struct vs_replay *replay = scene->summary->replay;
    const struct vs_growth_steps *steps = &scene->growth->steps;
    const struct vs_history_block *other = spike->largest;
    unsigned account = scene->failure->account;
    if (replay->phases.steps.begun)
        return block->epoch == (other ? other->epoch : vs_replay_epoch(replay));
    if (steps->source == VS_STEPS_FOUND && steps->account == account)
        return vs_steps_begun_by(steps->items, steps->count, block->time_ns) ==
               vs_steps_begun_by(steps->items, steps->count,
                                 other ? other->time_ns : scene->failure->time_ns);
    bool framework = vs_user_level(replay, account) == VS_LEVEL_FRAMEWORK;
    uint64_t at = other ? other->frees : scene->history->frees[account][framework];
    return (at > block->frees ? at - block->frees : block->frees - at) <= FREES_TOGETHER;
}

/* Whether *block* is one of the largest of its site, which is at the user's level of the device. */
static bool is_near_largest(const struct vs_oom_scene *scene, const struct vs_history_block *block)
{
    const struct vs_replay *replay = scene->summary->replay;
    const struct vs_history_site *site = &scene->history->sites[block->site];
    return block->used && site->account == scene->failure->account &&
           block->bytes > site->largest / 2 &&
           vs_user_has_site(replay, &replay->sites.items[block->site]);
}

/* The sites all of whose allocations of the largest size are live and of the spike's step. */
static void find_parts(const struct vs_oom *oom, const struct vs_oom_scene *scene,
                       struct spike *spike)
{
    const struct vs_history *history = scene->history;
    bool past = has_past(oom, spike->largest ? spike->peak_before : oom->live_peak);
    memset(spike->parts, 0, history->site_count * sizeof *spike->parts);
    for (size_t i = 0; past && i < history->block_count; i++)
        if (is_near_largest(scene, &history->blocks[i]) &&
            same_step(scene, spike, &history->blocks[i]))
            spike->parts[history->blocks[i].site]++;
    if (spike->largest && history->sites[spike->largest->site].near == 1)
        spike->parts[spike->largest->site] = 1;
    for (size_t i = 0; i < history->site_count; i++)
        if (spike->parts[i] != history->sites[i].near)
            spike->parts[i] = 0;
}

/* Of the parts only those that are larger than all else, and not much smaller than the spike. */
static void drop_usual(struct vs_oom *oom, const struct vs_oom_scene *scene, struct spike *spike)
{
    const struct vs_replay *replay = scene->summary->replay;
    const struct vs_history *history = scene->history;
    oom->largest = 0;
    for (size_t i = 0; i < history->site_count; i++) {
        const struct vs_history_site *site = &history->sites[i];
        if (site->account != scene->failure->account ||
            !vs_user_has_site(replay, &replay->sites.items[i]))
            continue;
        if (site->largest < spike->bytes / PART_LEAST)
            spike->parts[i] = 0;
        uint64_t other = spike->parts[i] ? site->lower : site->largest_late;
        if (other > oom->largest)
            oom->largest = other;
    }
    spike->usual = oom->steps_done ? oom->steps_largest : oom->largest;
    for (size_t i = 0; i < history->site_count; i++)
        if (history->sites[i].largest <= spike->usual)
            spike->parts[i] = 0;
}

/* The largest live block of a site that made a few of that size, all of them live. */
static const struct vs_history_block *largest_of_group(const struct vs_oom_scene *scene,
                                                       uint64_t *counts)
{
    const struct vs_history *history = scene->history;
    const struct vs_history_block *best = NULL;
    memset(counts, 0, history->site_count * sizeof *counts);
    for (size_t i = 0; i < history->block_count; i++)
        if (is_near_largest(scene, &history->blocks[i]) && history->blocks[i].frees)
            counts[history->blocks[i].site]++;
    for (size_t i = 0; i < history->block_count; i++) {
        const struct vs_history_block *block = &history->blocks[i];
        const struct vs_history_site *site = &history->sites[block->site];
        if (is_near_largest(scene, block) && counts[block->site] == site->near &&
            site->near <= GROUP_MOST && (!best || block->bytes > best->bytes))
            best = block;
    }
    return best;
}

void vs_oom_list_sites(struct vs_oom *oom, const struct vs_oom_scene *scene, struct vs_oom_part *parts,
                       const struct vs_report_site *request, struct vs_report_sites *out)
{
    size_t count = scene->history->site_count;
    struct vs_report_site *items = vs_xarena(&oom->memory, VS_OOM_STACKS_MAX * sizeof *items);
    *out = (struct vs_report_sites){.items = items, .weight = 1};
    if (request)
        items[out->count++] = *request;
    VS_SORT(parts, count, VS_DOWN(bytes), VS_UP(site));
    for (size_t i = 0; i + 1 < VS_OOM_STACKS_MAX && i < count && parts[i].count; i++) {
        struct vs_report_site one =
            vs_oom_name_site(oom, scene, parts[i].site, parts[i].bytes, parts[i].count);
        vs_oom_merge_site(out, items, &one);
    }
    VS_SORT(items, out->count, VS_DOWN(bytes));
}

static void add_parts(struct vs_oom *oom, const struct vs_oom_scene *scene, struct spike *spike)
{
    const struct vs_history *history = scene->history;
    struct vs_oom_part *parts = vs_xcalloc(history->site_count + 1, sizeof *parts);
    for (size_t i = 0; i < history->block_count; i++) {
        const struct vs_history_block *block = &history->blocks[i];
        const struct vs_history_site *site = block->used ? &history->sites[block->site] : NULL;
        if (!site || !spike->parts[block->site] || block->bytes <= site->largest / 2)
            continue;
        struct vs_oom_part *part = &parts[block->site];
        *part = (struct vs_oom_part){part->bytes + block->bytes, part->count + 1, block->site};
        oom->spike_bytes += block->bytes;
        oom->spike_count++;
        if (block->peak_before < spike->peak_before)
            spike->peak_before = block->peak_before;
    }
    vs_oom_list_sites(oom, scene, parts, spike->largest ? NULL : &oom->spike_site,
                      &oom->spike_sites);
    oom->spike_sites.total_bytes = oom->spike_bytes;
    size_t n = 0;
    for (; n < VS_OOM_STACKS_MAX && n < history->site_count && parts[n].count; n++) {
        const struct vs_history_site *site = &history->sites[parts[n].site];
        oom->spike_stacks.stack[n] = site->stack;
        oom->spike_stacks.bytes_min[n] = site->largest / 2 + 1;
    }
    oom->spike_stacks.count = n;
    free(parts);
}

static void forget(struct vs_oom *oom)
{
    oom->spike_bytes = oom->spike_count = 0;
    oom->spike_is_request = false;
    oom->spike_sites.count = oom->spike_stacks.count = 0;
}

/* Whether the failed request stands out. *peak*: of the completed steps, or so far. */
static void try_request(struct vs_oom *oom, const struct vs_oom_scene *scene, struct spike *spike,
                        uint64_t peak)
{
    spike->bytes = oom->failure.requested;
    spike->peak_before = peak;
    find_parts(oom, scene, spike);
    drop_usual(oom, scene, spike);
    /* larger than all that the program allocated in its steps, at its own call site and at any
     * other */
    if (!oom->total || !has_past(oom, oom->live_peak) || !spike->bytes ||
        oom->request_before >= spike->bytes / 2 || spike->usual >= spike->bytes / 2 ||
        (spike->bytes / 4 <= spike->usual && spike->bytes <= oom->total / 4))
        return;
    oom->spike_bytes = spike->bytes;
    oom->spike_is_request = true;
    oom->spike_count = 1;
    oom->spike_site = oom->failure.site;
    oom->spike_site.bytes = spike->bytes;
    oom->spike_site.count = 1;
    add_parts(oom, scene, spike);
    oom->spike_peak = spike->peak_before;
    if (spike->peak_before + oom->outside > oom->total / 100 * 98)
        forget(oom);
}

/* Whether *block* and those beside it stand out. */
static void try_block(struct vs_oom *oom, const struct vs_oom_scene *scene, struct spike *spike,
                      const struct vs_history_block *block)
{
    spike->largest = block;
    spike->bytes = block->bytes;
    spike->peak_before = block->peak_before;
    find_parts(oom, scene, spike);
    drop_usual(oom, scene, spike);
    if (!spike->parts[block->site] || spike->usual >= spike->bytes / 2)
        return;
    add_parts(oom, scene, spike);
    uint64_t rest = oom->live > oom->spike_bytes ? oom->live - oom->spike_bytes : 0;
    bool one_more = false; /* the failed request is one more of the blocks */
    for (size_t i = 0; i < oom->spike_sites.count && oom->failure.requested > spike->bytes / 2; i++)
        one_more |= vs_oom_same_site(&oom->spike_sites.items[i], &oom->failure.site);
    /* the program has run with as much as it would hold without them */
    if (one_more ||
        rest + oom->failure.requested > spike->peak_before + spike->peak_before / 50) {
        forget(oom);
        return;
    }
    oom->spike_peak = spike->peak_before;
    oom->spike_site = oom->spike_sites.items[0];
}

void vs_oom_spike_facts(struct vs_oom *oom, struct vs_oom_scene *scene)
{
    const struct vs_history *history = scene->history;
    struct spike spike = {.parts = vs_xcalloc(history->site_count + 1, sizeof *spike.parts)};
    if (!oom->cache.unreleased || oom->cache.unreleased < oom->missing) /* otherwise PyTorch need not keep that */
        try_request(oom, scene, &spike, oom->steps_done ? oom->steps_peak : oom->live_peak);
    const struct vs_history_block *block =
        vs_history_unlike(history, scene->summary->replay, scene->failure->account);
    bool steps = oom->steps_begun || scene->growth->steps.source == VS_STEPS_FOUND;
    const struct vs_history_block *group =
        steps ? largest_of_group(scene, spike.parts) : NULL; /* else its step is a guess */
    if (!oom->spike_bytes && group && (!block || group->bytes > block->bytes))
        try_block(oom, scene, &spike, group);
    if (!oom->spike_bytes && block)
        try_block(oom, scene, &spike, block);
    free(spike.parts);
}
