/* SPDX-License-Identifier: Apache-2.0
 *
 * The invariants of the replay, for tests: every sum worked out again from the
 * live table and the segments. */
#include "analysis/state/replay.h"

struct sums {
    uint64_t allocated, requested, blocks, outside, segments, segment_count;
    uint64_t family[VS_FAMILY_COUNT], count[VS_FAMILY_COUNT];
};

static void add_up(const struct vs_replay *replay, unsigned account, struct sums *sums)
{
    *sums = (struct sums){0};
    for (size_t i = 0; i < replay->live_slots; i++) {
        const struct vs_live *live = &replay->lives[i];
        if (!live->used || live->device != account)
            continue;
        sums->family[live->family] += live->size;
        sums->count[live->family]++;
        if (!live->counted)
            continue;
        sums->allocated += live->size;
        sums->requested += live->requested;
        if (live->family != VS_FAMILY_GRAPH)
            *(live->in_segment ? &sums->blocks : &sums->outside) += live->size;
    }
    for (size_t i = 0; i < replay->segments.count; i++) {
        const struct vs_replay_segment *segment = &replay->segments.items[i];
        if (segment->device == account && !segment->view) {
            sums->segments += segment->size;
            sums->segment_count++;
        }
    }
}

static bool account_agrees(const struct vs_replay *replay, unsigned index)
{
    const struct vs_account *a = replay->accounts[index];
    struct sums sums;
    add_up(replay, index, &sums);
    bool all_known = true; /* what has no events of its own is only in the sums */
    for (int level = 0; level < VS_LEVEL_COUNT; level++)
        for (int why = 0; why < VS_WHY_COUNT; why++)
            all_known &= !a->unrecorded[level][why].allocs && !a->unrecorded[level][why].frees;
    if (!all_known)
        return a->peak_allocated.bytes >= a->allocated && a->peak_reserved.bytes >= a->reserved &&
               a->peak_requested.bytes >= a->requested;
    for (int f = 0; f < VS_FAMILY_COUNT; f++)
        if (a->family[f].live_bytes != sums.family[f] || a->family[f].live_count != sums.count[f] ||
            a->family[f].peak_bytes < sums.family[f])
            return false;
    uint64_t graphs = sums.family[VS_FAMILY_GRAPH];
    if (graphs < a->graph_reserved)
        graphs = a->graph_reserved;
    return a->allocated == sums.allocated && a->requested == sums.requested &&
           a->block_bytes == sums.blocks && a->segment_bytes == sums.segments &&
           a->segment_count == sums.segment_count &&
           a->reserved == sums.segments + sums.outside + graphs &&
           a->peak_allocated.bytes >= a->allocated && a->peak_requested.bytes >= a->requested &&
           a->peak_reserved.bytes >= a->reserved;
}

static bool sites_agree(const struct vs_replay *replay)
{
    uint64_t live = 0, count = 0, held = 0, made = 0;
    for (size_t i = 0; i < replay->live_slots; i++) {
        live += replay->lives[i].used ? replay->lives[i].size : 0;
        count += replay->lives[i].used;
    }
    for (size_t i = 0; i < replay->sites.count; i++) {
        const struct vs_site *site = &replay->sites.items[i];
        held += site->live_bytes;
        made += site->live_count;
        if (site->allocs != site->frees + site->live_count + site->lost_count)
            return false;
    }
    return held == live && made == count && count == replay->live_count &&
           count == replay->by_addr.count;
}

bool vs_replay_check(const struct vs_replay *replay)
{
    for (unsigned i = 0; i < replay->account_count; i++)
        if (!account_agrees(replay, i))
            return false;
    for (size_t i = 1; i < replay->segments.count; i++)
        if (replay->segments.items[i - 1].addr >= replay->segments.items[i].addr)
            return false;
    return account_agrees(replay, VS_HOST_INDEX) && sites_agree(replay);
}
