/* SPDX-License-Identifier: Apache-2.0
 *
 * The invariants of the replay, for tests: recomputes every sum from the live table and the
 * segments. */
#include <string.h>

#include "analysis/state/replay_internal.h"

struct sums {
    struct vs_levels now;
    uint64_t blocks, segments, segment_count, count[VS_FAMILY_COUNT];
};

static void add_up(const struct vs_replay *replay, unsigned account, struct sums *sums)
{
    *sums = (struct sums){.blocks = 0};
    for (size_t i = 0; i < replay->device_live.slots; i++) {
        const struct vs_live *live = &replay->device_live.items[i];
        if (!live->used || live->device != account)
            continue;
        sums->now.family[live->family] += live->size;
        sums->count[live->family]++;
        if (!live->counted)
            continue;
        sums->now.allocated += live->size;
        sums->now.requested += live->requested;
        if (live->in_segment)
            sums->blocks += live->size;
        else if (live->family != VS_FAMILY_GRAPH)
            sums->now.reserved += live->size;
    }
    for (size_t i = 0; i < replay->segments.count; i++) {
        const struct vs_replay_segment *segment = &replay->segments.items[i];
        if (segment->device == account && !segment->view) {
            sums->segments += segment->size;
            sums->segment_count++;
        }
    }
    uint64_t graphs = replay->accounts[account]->sums.graph_driver;
    if (graphs < sums->now.family[VS_FAMILY_GRAPH])
        graphs = sums->now.family[VS_FAMILY_GRAPH];
    sums->now.reserved += sums->segments + graphs;
}

/* Unrecorded allocations are only in the sums. */
static bool all_recorded(const struct vs_account *a)
{
    bool all_known = true;
    for (int level = 0; level < VS_LEVEL_COUNT; level++)
        for (int why = 0; why < VS_WHY_COUNT; why++)
            all_known &= !a->unrecorded[level][why].allocs && !a->unrecorded[level][why].frees;
    return all_known;
}

static bool account_agrees(const struct vs_replay *replay, unsigned index)
{
    const struct vs_account *a = replay->accounts[index];
    const struct vs_levels *now = &a->sums.now;
    struct sums sums;
    add_up(replay, index, &sums);
    bool below = a->peak_allocated.bytes >= now->allocated &&
                 a->peak_reserved.bytes >= now->reserved &&
                 a->peak_requested.bytes >= now->requested;
    if (!all_recorded(a))
        return below;
    for (int f = 0; f < VS_FAMILY_COUNT; f++)
        if (vs_ledger_live(&a->sums, (unsigned)f) != sums.count[f])
            return false;
    return below && !memcmp(now, &sums.now, sizeof *now) && vs_ledger_check(&a->sums, false) &&
           vs_ledger_block_bytes(&a->sums) == sums.blocks &&
           a->sums.segment_bytes == sums.segments && a->segment_count == sums.segment_count;
}

/* The live table of *level* agrees with its sites. */
static bool sites_agree(const struct vs_replay *replay, const struct vs_live_table *table,
                        uint8_t level)
{
    uint64_t live = 0, count = 0, held = 0, made = 0;
    for (size_t i = 0; i < table->slots; i++) {
        const struct vs_live *one = &table->items[i];
        live += one->used ? one->size : 0;
        count += one->used;
        if (one->used && (one->level != level || replay->sites.items[one->site].level != level))
            return false;
    }
    for (size_t i = 0; i < replay->sites.count; i++) {
        const struct vs_site *site = &replay->sites.items[i];
        if (site->level != level)
            continue;
        held += site->live_bytes;
        made += site->live_count;
        if (site->allocs != site->frees + site->live_count + site->lost_count)
            return false;
    }
    return held == live && made == count && count == table->count &&
           count == table->by_addr.count;
}

/* The user's level of an account. */
static bool user_level_agrees(const struct vs_replay *replay, unsigned index)
{
    const struct vs_account *a = replay->accounts[index];
    uint64_t backing = 0;
    for (size_t i = 0; i < replay->device_live.slots; i++) {
        const struct vs_live *live = &replay->device_live.items[i];
        if (live->used && live->counted && live->device == index &&
            replay->sites.items[live->site].backing)
            backing += live->size;
    }
    if (!a->user.split)
        return !a->user.backing;
    if (a->user.peak.bytes < vs_user_allocated(a))
        return false;
    return !all_recorded(a) || backing == a->user.backing;
}

bool vs_replay_check(const struct vs_replay *replay)
{
    for (unsigned i = 0; i < replay->account_count; i++)
        if (!account_agrees(replay, i))
            return false;
    for (size_t i = 1; i < replay->segments.count; i++)
        if (replay->segments.items[i - 1].addr >= replay->segments.items[i].addr)
            return false;
    for (unsigned i = 0; i < replay->account_count; i++)
        if (!user_level_agrees(replay, i))
            return false;
    return account_agrees(replay, VS_HOST_INDEX) &&
           sites_agree(replay, &replay->device_live, VS_LEVEL_DEVICE) &&
           sites_agree(replay, &replay->framework_live, VS_LEVEL_FRAMEWORK);
}
