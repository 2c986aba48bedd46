/* SPDX-License-Identifier: Apache-2.0
 *
 * Verdict: one allocation unlike any other, or those of one step, without which the program has run:
 * the failed request, or live ones. */
#include "analysis/oom/verdict.h"

const char *vs_oom_spike_remedy(struct vs_oom *oom)
{
    const char *size = vs_size_text(oom->spike_bytes);
    const char *sites = vs_oom_site_list(oom, &oom->spike_sites, 2);
    if (oom->spike_count == 1)
        return vs_oom_text_of(oom, "split or avoid the %s at %s", size, sites);
    return vs_oom_text_of(oom, "split or avoid the %llu allocations, %s together, at %s",
                          (unsigned long long)oom->spike_count, size, sites);
}

/* Several blocks of a step that asks for more everywhere are that step, not a spike; nor are those of
 * code that no step ran, or those that a loop without marks keeps in each repetition. */
static uint64_t recovers(const struct vs_oom *oom)
{
    uint64_t larger = vs_verdict_larger.recovers(oom);
    bool after = oom->after_bytes && oom->spike_count > 1;
    bool grows = oom->growth_repeats && (oom->growth_replaced || oom->spike_count > 1) &&
                 oom->growth_bytes > oom->spike_bytes / 2;
    return after || grows || (larger && larger >= oom->missing) ? 0 : oom->spike_bytes;
}

static void explain(struct vs_oom *oom)
{
    uint64_t peak = oom->spike_peak;
    const char *whole = oom->limit ? "limit" : "device"; /* what oom->total is */
    const char *size = vs_size_text(oom->spike_bytes);
    const char *sites = vs_oom_site_list(oom, &oom->spike_sites, 3);
    if (oom->spike_count > 1)
        vs_oom_evidence(oom, "one step asked for %s in %llu allocations at %s; %s", size,
                        (unsigned long long)oom->spike_count, sites,
                        oom->spike_is_request ? "the failed request is one of them"
                            : "all are live");
    else
        vs_oom_evidence(oom, oom->spike_is_request ? "%s requested at %s"
                        : "%s live, allocated at %s", size, sites);
    vs_oom_evidence(oom, "this is %s of the %s; the largest other allocation was %s",
                    vs_percent_text(oom->spike_bytes, oom->total), whole,
                    vs_size_text(oom->steps_done ? oom->steps_largest : oom->largest));
    if (oom->steps_done)
        vs_oom_evidence(oom, "%s earlier step%s peaked at %s, %s of the %s",
                        vs_count_text(oom->steps_done), oom->steps_done == 1 ? "" : "s",
                        vs_size_text(peak), vs_percent_text(peak, oom->total), whole);
    else
        vs_oom_evidence(oom, "before it the program peaked at %s, %s of the %s",
                        vs_size_text(peak), vs_percent_text(peak, oom->total), whole);
    vs_oom_explain_missing(oom);
    if (oom->steps_done == 0)
        vs_oom_but(oom, "the program marks no steps: it was compared with the whole run before it");
    vs_oom_remedy(oom, "avoid_spike", oom->spike_bytes, true,
                  "%s: before %s the program peaked at %s", vs_oom_spike_remedy(oom),
                  oom->spike_count == 1 ? "it" : "them", vs_size_text(peak));
    if (oom->spike_is_request && oom->spike_count == 1)
        vs_oom_smaller_request(oom);
    vs_oom_bigger_device(oom);
}

const struct vs_verdict vs_verdict_spike = {
    .name = "single_spike",
    .words = "single spike: one allocation or step is far larger than any before it",
    .noun = "the spike", .recovers = recovers, .live = offsetof(struct vs_oom, spike_bytes),
    .explain = explain, .site = offsetof(struct vs_oom, spike_site)};
