/* SPDX-License-Identifier: Apache-2.0
 *
 * The less frequent operations on an account; the frequent ones are in the header. */
#include "ledger/ledger.h"

unsigned vs_ledger_rise(struct vs_ledger *ledger, const struct vs_levels *height)
{
    struct vs_levels *peak = &ledger->peak;
    unsigned rose = height->allocated > peak->allocated ? VS_ROSE_ALLOCATED : 0;
    rose |= height->requested > peak->requested ? VS_ROSE_REQUESTED : 0;
    rose |= height->reserved > peak->reserved ? VS_ROSE_RESERVED : 0;
    vs_levels_raise(peak, height);
    return rose;
}

void vs_levels_raise(struct vs_levels *high, const struct vs_levels *now)
{
    for (unsigned i = 0; i < VS_SUMS; i++)
        vs_sum_raise(&high->sum[i], now->sum[i]);
}

void vs_ledger_restart_peaks(struct vs_ledger *ledger)
{
    for (unsigned i = 0; i < VS_SUMS; i++)
        vs_sum_write(&ledger->peak.sum[i], ledger->now.sum[i]);
}

void vs_ledger_restart(struct vs_ledger *ledger)
{
    vs_ledger_restart_peaks(ledger);
    for (unsigned f = 0; f < VS_FAMILY_COUNT; f++)
        ledger->family[f] =
            (struct vs_family_counts){.live_before = vs_ledger_live(ledger, f)};
}

bool vs_ledger_check(const struct vs_ledger *ledger, bool framework)
{
    uint64_t allocated = 0, reserved = ledger->segment_bytes + ledger->direct_bytes;
    for (unsigned f = 0; f < VS_FAMILY_COUNT; f++) {
        if (f == VS_FAMILY_IPC)
            continue;
        allocated += ledger->now.family[f];
        reserved += f == VS_FAMILY_DEVICE || f == VS_FAMILY_GRAPH ? 0 : ledger->now.family[f];
    }
    for (unsigned i = 0; i < VS_SUMS; i++) {
        if (ledger->now.sum[i] > ledger->peak.sum[i])
            return false;
    }
    return ledger->now.allocated == allocated &&
           (framework || ledger->now.reserved == reserved + ledger->graph_reserved);
}
