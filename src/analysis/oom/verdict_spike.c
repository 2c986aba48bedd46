/* SPDX-License-Identifier: Apache-2.0
 *
 * Verdict: one allocation, larger than any in the completed steps, without which the earlier steps
 * fit: the failed request, or a live one of the current step. */
#include "analysis/oom/verdict.h"
#include "base/vs_size.h"

/* Whether *bytes* is larger than everything that completed steps allocated, at its own call site
 * (*before*) and at any other (*others*). */
static bool stands_out(const struct vs_oom *oom, uint64_t bytes, uint64_t before, uint64_t others)
{
    if (bytes == 0 || before >= bytes / 2 || others >= bytes / 2)
        return false;
    return bytes / 4 > others || bytes > oom->total / 4;
}

/* Without marked steps, earlier allocations can be compared where memory is freed and allocated
 * again. */
static bool repeats(const struct vs_oom *oom)
{
    return oom->steps_begun == 0 && oom->freed_bytes / 2 >= oom->earlier_peak &&
           oom->earlier_peak > 0;
}

/* The peak that the allocation is compared with, and the largest single allocation. */
static uint64_t peak_before(const struct vs_oom *oom)
{
    return oom->steps_done ? oom->steps_peak : oom->earlier_peak;
}

static uint64_t largest_before(const struct vs_oom *oom)
{
    return oom->steps_done ? oom->steps_largest : oom->largest;
}

static bool request_is_spike(const struct vs_oom *oom)
{
    return stands_out(oom, oom->failure.requested, oom->request_before, largest_before(oom));
}

static bool applies(const struct vs_oom *oom)
{
    if (oom->steps_done == 0 && !repeats(oom))
        return false;
    if (oom->total == 0 || peak_before(oom) + oom->outside > oom->total / 100 * 98)
        return false;
    return request_is_spike(oom) ||
           (oom->steps_done > 0 && oom->step_largest >= oom->missing &&
            stands_out(oom, oom->step_largest, oom->step_largest_before, largest_before(oom)));
}

static void explain(struct vs_oom *oom)
{
    oom->spike_is_request = request_is_spike(oom);
    oom->spike_bytes = oom->spike_is_request ? oom->failure.requested : oom->step_largest;
    const struct vs_report_site *site =
        oom->spike_is_request ? &oom->failure.site : &oom->step_largest_site;
    uint64_t peak = peak_before(oom);
    vs_oom_evidence(oom, oom->spike_is_request ? "%s requested at %s"
                                               : "%s allocated in this step at %s",
                    vs_oom_size(oom, oom->spike_bytes), vs_oom_site(oom, site, 3));
    vs_oom_evidence(oom, "this is %s of the device; the largest other allocation was %s",
                    vs_oom_percent(oom, oom->spike_bytes, oom->total),
                    vs_oom_size(oom, largest_before(oom)));
    if (oom->steps_done)
        vs_oom_evidence(oom, "%llu earlier step%s peaked at %s, %s of the device",
                        (unsigned long long)oom->steps_done, oom->steps_done == 1 ? "" : "s",
                        vs_oom_size(oom, peak), vs_oom_percent(oom, peak, oom->total));
    else
        vs_oom_evidence(oom, "before it the program peaked at %s, %s of the device",
                        vs_oom_size(oom, peak), vs_oom_percent(oom, peak, oom->total));
    vs_oom_explain_missing(oom);
    if (oom->steps_done == 0)
        vs_oom_but(oom, "the program marks no steps: it was compared with the whole run before it");
    vs_oom_remedy(oom, "avoid_spike", oom->spike_bytes, true,
                  "split or avoid the %s at %s: without it the run peaks at %s, which fits",
                  vs_oom_size(oom, oom->spike_bytes), vs_oom_site(oom, site, 2),
                  vs_oom_size(oom, peak));
    if (oom->spike_is_request)
        vs_oom_smaller_request(oom);
    vs_oom_bigger_device(oom);
}

const struct vs_verdict vs_verdict_spike = {
    "single_spike", "single spike: one allocation is far larger than any before it", applies,
    explain};
