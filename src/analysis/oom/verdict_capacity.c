/* SPDX-License-Identifier: Apache-2.0
 *
 * Verdict: the program needs more memory than the device has. Selected when no other applies. */
#include "analysis/oom/verdict.h"

#define LEAK_BLOCKS_MIN 8

/* One site that holds most, in blocks of one size of which none was freed: data that the program
 * needs, or blocks that it forgets to free in each iteration. A trace without steps that freed other
 * memory cannot tell these apart, so the evidence names the possible leak and the verdict stays. */
static void explain_equal_blocks(struct vs_oom *oom)
{
    const struct vs_report_site *site = oom->sites.count ? &oom->sites.items[0] : NULL;
    if (oom->steps_done || !site || oom->freed_bytes >= site->bytes || site->frees ||
        site->count < LEAK_BLOCKS_MIN || site->count != site->allocs ||
        site->bytes != site->count * site->largest || site->bytes < oom->live / 2)
        return;
    vs_oom_but(oom, "it may be a leak: %s made %s allocations of %s each, and freed none",
               vs_oom_site(oom, site, 2), vs_count_text(site->count), vs_size_text(site->largest));
    vs_oom_remedy(oom, "free_growth", site->bytes, false,
                  "if the program does not need all blocks of %s at once, free or reuse them: %s",
                  vs_oom_site(oom, site, 2), vs_size_text(site->bytes));
}

static void explain(struct vs_oom *oom)
{
    unsigned long long steps = oom->steps_done;
    struct vs_size_pair two = vs_sizes_apart(oom->failure.requested, oom->total);
    bool unknown = vs_oom_step_unknown(oom);
    vs_oom_explain_rest(oom);
    if (oom->total && oom->failure.requested > oom->total)
        vs_oom_evidence(oom, "the request alone, %s, is larger than the device, %s", two.a, two.b);
    vs_oom_evidence(oom, "live allocations hold %s, %s of the %s",
                    vs_size_text(oom->live), vs_percent_text(oom->live, oom->total),
                    oom->limit ? "limit" : "device");
    vs_oom_explain_rising(oom);
    if (oom->cached)
        vs_oom_evidence(oom, "%s more is cached, the largest hole %s%s",
                        vs_size_text(oom->cached), vs_size_text(oom->largest_hole),
                        oom->cached < oom->missing ? ": less than is missing"
                        : vs_oom_cause_of(oom, &vs_verdict_fragmentation)
                            ? "" /* named below, as what would let the request fit */
                            : ": most of it in ends of segments, which no block was freed from");
    if (oom->balance.known && oom->balance.pools > oom->pools_releasable + oom->missing / 10)
        vs_oom_evidence(oom, "%s more is unused in stream-ordered pools beside live blocks: trimming "
                        "does not return it",
                        vs_size_text(oom->balance.pools - oom->pools_releasable));
    if (steps)
        vs_oom_evidence(oom, "%s step%s fit, with a peak of %s%s", vs_count_text(steps), steps == 1
                        ? "" : "s", vs_size_text(oom->steps_peak),
                        oom->growth_bytes ? "" : "; nothing grows from step to step");
    vs_oom_explain_missing(oom);
    for (size_t i = 0; i < oom->cause_count; i++)
        if (oom->causes[i].enough && oom->causes[i].verdict == &vs_verdict_growth)
            vs_oom_but(oom, "it may be growth: %s allocated memory in %llu step%s and freed none "
                       "of it, %s; without that this request fits",
                       vs_oom_site_list(oom, &oom->growing, 2),
                       (unsigned long long)oom->growth_times, oom->growth_times == 1 ? "" : "s",
                       vs_size_text(oom->growth_bytes));
        else if (oom->causes[i].enough && oom->causes[i].bytes >= oom->live / VS_SMALL_CAUSE)
            vs_oom_but(oom, "without %s, %s, this request fits; %s", oom->causes[i].verdict->noun,
                       vs_size_text(oom->causes[i].bytes),
                       unknown ? "later ones of this step may not"
                               : "the program never ran with as much live, so later requests may not");
    explain_equal_blocks(oom);
    vs_oom_limit_requests(oom);
    vs_oom_common_remedies(oom);
    vs_oom_advise(oom);
}

const struct vs_verdict vs_verdict_capacity = {
    .name = "true_capacity",
    .words = "true capacity: the program needs more memory than the device has",
    .remedy = "smaller_step", .explain = explain, .sites = offsetof(struct vs_oom, sites)};
