/* SPDX-License-Identifier: Apache-2.0
 *
 * Verdict: the option `limit` was reached while the device had more. */
#include "analysis/oom/verdict.h"
#include "base/vs_size.h"

static bool applies(const struct vs_oom *oom)
{
    return oom->limit && oom->missing;
}

static void explain(struct vs_oom *oom)
{
    uint64_t wanted = oom->limit + oom->missing;
    struct vs_size_pair two = vs_sizes_apart(wanted, oom->limit);
    const char *used = vs_oom_percent(oom, oom->limit - oom->free_bytes, oom->limit);
    bool fits = oom->device_free >= oom->missing;
    if (oom->device_total)
        vs_oom_evidence(oom, "the option limit allows %s of the device's %s; %s of that was in use",
                        vs_oom_size(oom, oom->limit), vs_oom_size(oom, oom->device_total), used);
    else
        vs_oom_evidence(oom, "the option limit allows %s of the device; %s of that was in use",
                        vs_oom_size(oom, oom->limit), used);
    if (fits)
        vs_oom_evidence(oom, "the device had %s free: without the limit the request fits",
                        vs_oom_size(oom, oom->device_free));
    vs_oom_explain_missing(oom);
    vs_oom_remedy(oom, "raise_limit", wanted, fits,
                  "run with a limit of at least %s instead of %s, %s; later requests may need more",
                  two.a, two.b, fits ? "which the device has" : "more than the device has free");
    /* on a device of that size one of these would be the verdict */
    if (vs_verdict_growth.applies(oom))
        vs_oom_free_growth(oom);
    else if (vs_verdict_fragmentation.applies(oom))
        vs_oom_use_holes(oom);
    vs_oom_common_remedies(oom);
}

const struct vs_verdict vs_verdict_limit = {
    "imposed_limit", "imposed limit: the run was limited to less memory than the device has",
    applies, explain};
