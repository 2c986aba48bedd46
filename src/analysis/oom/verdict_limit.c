/* SPDX-License-Identifier: Apache-2.0
 *
 * Verdict: the option `limit` was reached while the device had more. */
#include "analysis/oom/verdict.h"

static uint64_t recovers(const struct vs_oom *oom)
{
    if (!oom->limit)
        return 0;
    if (!oom->device_total) /* not read: assume that the device has what is missing */
        return oom->missing;
    return oom->device_free > oom->free_bytes ? oom->device_free - oom->free_bytes : 0;
}

void vs_oom_raise_limit(struct vs_oom *oom)
{
    uint64_t wanted = oom->limit + oom->missing;
    struct vs_size_pair two = vs_sizes_apart(wanted, oom->limit);
    bool fits = oom->device_free >= oom->missing;
    vs_oom_remedy(oom, "raise_limit", wanted, fits,
                  "run with a limit of %s instead of %s, %s; later requests may need more", two.a,
                  two.b, fits ? "which the device has" : "more than the device has free");
}

static void explain(struct vs_oom *oom)
{
    const char *used = vs_percent_text(oom->limit - oom->free_bytes, oom->limit);
    bool fits = oom->device_free >= oom->missing;
    if (oom->device_total)
        vs_oom_evidence(oom, "the option limit allows %s of the device's %s; %s of that was in use",
                        vs_size_text(oom->limit), vs_size_text(oom->device_total), used);
    else
        vs_oom_evidence(oom, "the option limit allows %s of the device; %s of that was in use",
                        vs_size_text(oom->limit), used);
    if (fits)
        vs_oom_evidence(oom, "the device had %s free: without the limit the request fits",
                        vs_size_text(oom->device_free));
    vs_oom_explain_missing(oom);
    vs_oom_raise_limit(oom);
    vs_oom_common_remedies(oom);
}

const struct vs_verdict vs_verdict_limit = {
    .name = "imposed_limit",
    .words = "imposed limit: the run was limited to less memory than the device has",
    .noun = "the limit", .recovers = recovers, .last_resort = true, .explain = explain,
    .sites = offsetof(struct vs_oom, sites)};
