/* SPDX-License-Identifier: Apache-2.0
 *
 * Verdict rules, most specific first; each needs evidence in figures, and what
 * none explains is true capacity:
 *   absurd         larger than any device there is
 *   refused        the device said that enough was free
 *   imposed limit  the option limit was nearer than the device's own end
 *   growth         sites that rise every step hold what was missing
 *   fragmentation  free + cached would do, no piece is large enough, and either
 *                  as much was live before (so the demand is not what is new), or
 *                  the pieces are a good part of what is reserved and come from
 *                  frees rather than from segments not yet filled
 *   spike          one allocation, unlike any of the completed steps, without
 *                  which the earlier steps fit
 *   other process  a good part of the device is held by processes that NVML names, and
 *                  without them the request fits
 *   outside        most of the device is held by others
 * Growth comes before fragmentation because a leak scatters survivors over many
 * segments: the holes are then its effect. */
#include "analysis/oom/diagnose.h"

#define TIB (UINT64_C(1) << 40)
#define GIB (UINT64_C(1) << 30)

static void remedy(struct vs_oom *oom, enum vs_remedy_kind kind, uint64_t bytes, uint64_t other,
                   bool fits)
{
    if (oom->remedy_count < VS_REMEDIES_MAX)
        oom->remedies[oom->remedy_count++] = (struct vs_remedy){kind, bytes, other, fits};
}

static bool absurd(const struct vs_oom *oom)
{
    uint64_t bound = oom->total > TIB / 8 ? oom->total * 8 : TIB;
    return oom->failure.requested > bound;
}

/* Growth that is a trifle beside what is reserved only counts when the very same
 * request was met in an earlier step: then growth is what changed. */
static bool growth(const struct vs_oom *oom, const struct vs_diagnose_facts *facts)
{
    if (oom->missing == 0 || oom->growth_bytes < oom->missing)
        return false;
    return oom->growth_bytes >= oom->reserved / 20 ||
           facts->request_before >= oom->failure.requested;
}

static bool fragmentation(const struct vs_oom *oom, const struct vs_diagnose_facts *facts)
{
    uint64_t request = oom->failure.requested;
    if (oom->missing == 0 || oom->cached == 0 || oom->largest_hole >= request)
        return false;
    if (oom->free_bytes + oom->cached < request)
        return false;
    if (oom->allocated + request <= oom->earlier_peak)
        return true;
    bool from_frees = oom->steps_done > 0 ||
                      (oom->steps_begun == 0 && facts->freed_bytes >= oom->cached);
    return from_frees && oom->cached >= oom->reserved / 100 * 15;
}

/* Does *bytes* stand out from everything that completed steps did, at its own call
 * site (*before*) and at any other (*others*)? */
static bool stands_out(const struct vs_oom *oom, uint64_t bytes, uint64_t before, uint64_t others)
{
    if (bytes == 0 || before >= bytes / 2 || others >= bytes / 2)
        return false;
    return bytes / 4 > others || bytes > oom->total / 4;
}

static bool spike(struct vs_oom *oom, const struct vs_diagnose_facts *facts)
{
    uint64_t request = oom->failure.requested, earlier, others;
    if (oom->steps_done > 0) {
        earlier = oom->steps_peak;
        others = facts->steps_largest;
    } else if (oom->steps_begun == 0 && facts->freed_bytes / 2 >= oom->earlier_peak &&
               oom->earlier_peak > 0) {
        /* no steps marked, but memory goes round and round: the past is a guide */
        earlier = oom->earlier_peak;
        others = facts->largest;
    } else {
        return false;
    }
    if (oom->total == 0 || earlier + oom->outside > oom->total / 100 * 98)
        return false;
    if (stands_out(oom, request, facts->request_before, others)) {
        oom->spike_bytes = request;
        oom->spike_is_request = true;
    } else if (oom->steps_done > 0 && facts->live_spike >= oom->missing &&
               stands_out(oom, facts->live_spike, facts->live_spike_before, others)) {
        oom->spike_bytes = facts->live_spike;
    } else {
        return false;
    }
    oom->spike_next = others;
    return true;
}

/* Would the request be met if the other processes were gone? */
static bool others_in_the_way(const struct vs_oom *oom)
{
    return oom->balance.known && oom->balance.others_known && oom->missing > 0 &&
           oom->balance.others >= oom->missing;
}

static bool others(const struct vs_oom *oom)
{
    return others_in_the_way(oom) && oom->balance.others > oom->total / 4;
}

static bool outside(const struct vs_oom *oom)
{
    return oom->free_known && oom->outside > oom->total / 2 && oom->outside > 2 * GIB &&
           oom->outside - GIB >= oom->missing;
}

static void common_remedies(struct vs_oom *oom)
{
    if (oom->missing == 0)
        return;
    if (oom->step_bytes > 0 && oom->in_step)
        remedy(oom, VS_REMEDY_SMALLER_STEP, oom->step_bytes / 2, oom->step_bytes,
               oom->step_bytes / 2 >= oom->missing);
    if (oom->sites.count > 0)
        remedy(oom, VS_REMEDY_SHRINK_SITE, oom->sites.items[0].bytes / 2,
               oom->sites.items[0].bytes, oom->sites.items[0].bytes / 2 >= oom->missing);
    if (oom->total > 0 && !oom->limit)
        remedy(oom, VS_REMEDY_BIGGER_DEVICE, oom->total + oom->missing, oom->total, true);
}

/* On a device of that size the work itself would have been to blame: that comes second. */
static void limit_remedies(struct vs_oom *oom, const struct vs_diagnose_facts *facts)
{
    uint64_t available = oom->free_bytes + oom->empty_bytes;
    remedy(oom, VS_REMEDY_RAISE_LIMIT, oom->limit + oom->missing, oom->limit,
           oom->device_free >= oom->missing);
    if (growth(oom, facts))
        remedy(oom, VS_REMEDY_FREE_GROWTH, oom->growth_bytes, oom->growth_per_step, true);
    else if (fragmentation(oom, facts))
        remedy(oom, VS_REMEDY_USE_HOLES, oom->free_bytes + oom->cached,
               oom->largest_hole > available ? oom->largest_hole : available, true);
}

static enum vs_verdict choose(struct vs_oom *oom, const struct vs_diagnose_facts *facts)
{
    if (oom->failure.host)
        return VS_VERDICT_HOST;
    if (absurd(oom))
        return VS_VERDICT_ABSURD;
    if (oom->free_known && oom->free_bytes >= oom->need)
        return VS_VERDICT_REFUSED;
    if (oom->limit && oom->missing)
        return VS_VERDICT_LIMIT;
    if (growth(oom, facts))
        return VS_VERDICT_GROWTH;
    if (fragmentation(oom, facts))
        return VS_VERDICT_FRAGMENTATION;
    if (spike(oom, facts))
        return VS_VERDICT_SPIKE;
    if (others(oom))
        return VS_VERDICT_OTHERS;
    return outside(oom) ? VS_VERDICT_OUTSIDE : VS_VERDICT_CAPACITY;
}

void vs_diagnose(struct vs_oom *oom, const struct vs_diagnose_facts *facts)
{
    uint64_t request = oom->failure.requested;
    uint64_t available = oom->free_bytes + oom->empty_bytes;
    oom->verdict = choose(oom, facts);
    switch (oom->verdict) {
    case VS_VERDICT_HOST:
        return;
    case VS_VERDICT_ABSURD:
        remedy(oom, VS_REMEDY_FIX_SIZE, request, oom->total, true);
        return;
    case VS_VERDICT_LIMIT:
        limit_remedies(oom, facts);
        break;
    case VS_VERDICT_REFUSED:
        remedy(oom, VS_REMEDY_LIFT_LIMIT, oom->free_bytes, oom->need, true);
        return;
    case VS_VERDICT_GROWTH:
        remedy(oom, VS_REMEDY_FREE_GROWTH, oom->growth_bytes, oom->growth_per_step, true);
        if (oom->total > 0)
            remedy(oom, VS_REMEDY_BIGGER_DEVICE, oom->total + oom->missing, oom->total, true);
        return;
    case VS_VERDICT_FRAGMENTATION:
        remedy(oom, VS_REMEDY_USE_HOLES, oom->free_bytes + oom->cached,
               oom->largest_hole > available ? oom->largest_hole : available, true);
        remedy(oom, VS_REMEDY_SMALLER_REQUEST,
               oom->largest_hole > available ? oom->largest_hole : available, request, true);
        break;
    case VS_VERDICT_SPIKE:
        remedy(oom, VS_REMEDY_AVOID_SPIKE, oom->spike_bytes,
               oom->steps_done ? oom->steps_peak : oom->earlier_peak, true);
        if (oom->spike_is_request)
            remedy(oom, VS_REMEDY_SMALLER_REQUEST,
                   oom->largest_hole > available ? oom->largest_hole : available, request, true);
        if (oom->total > 0)
            remedy(oom, VS_REMEDY_BIGGER_DEVICE, oom->total + oom->missing, oom->total, true);
        return;
    case VS_VERDICT_OTHERS:
        remedy(oom, VS_REMEDY_STOP_OTHERS, oom->balance.others, oom->missing, true);
        break;
    case VS_VERDICT_OUTSIDE:
        remedy(oom, VS_REMEDY_STOP_OTHERS, oom->outside, oom->missing, true);
        break;
    case VS_VERDICT_CAPACITY:
        if (others_in_the_way(oom))
            remedy(oom, VS_REMEDY_STOP_OTHERS, oom->balance.others, oom->missing, true);
        break;
    case VS_VERDICT_COUNT:
        break;
    }
    if (oom->empty_bytes > 0)
        remedy(oom, VS_REMEDY_RELEASE_CACHE, oom->empty_bytes, oom->need,
               oom->free_bytes + oom->empty_bytes >= oom->need);
    common_remedies(oom);
}
