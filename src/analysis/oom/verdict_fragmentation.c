/* SPDX-License-Identifier: Apache-2.0
 *
 * Verdict: free and cached memory together would suffice, but no piece is large enough. */
#include "analysis/oom/verdict.h"
#include "base/vs_size.h"

/* Either as much was live before, so that the demand is not new; or the holes are a large part of
 * reserved memory and come from frees, not from segments that are not filled yet. */
static bool applies(const struct vs_oom *oom)
{
    uint64_t request = oom->failure.requested;
    if (oom->missing == 0 || oom->cached == 0 || oom->largest_hole >= request)
        return false;
    if (oom->free_bytes + oom->cached < request)
        return false;
    if (oom->allocated + request <= oom->earlier_peak)
        return true;
    bool from_frees = oom->steps_done > 0 ||
                      (oom->steps_begun == 0 && oom->freed_bytes >= oom->cached);
    return from_frees && oom->cached >= oom->reserved / 100 * 15;
}

void vs_oom_use_holes(struct vs_oom *oom)
{
    uint64_t all = oom->free_bytes + oom->cached;
    struct vs_size_pair two = vs_sizes_apart(all, vs_oom_at_once(oom));
    vs_oom_remedy(oom, "use_holes", all, true,
                  "keep the free memory in one piece (%s in all, at most %s of it together): "
                  "allocate large buffers before small long-lived ones, or reuse one buffer",
                  two.a, two.b);
}

static void explain(struct vs_oom *oom)
{
    struct vs_size_pair two =
        vs_sizes_apart(oom->free_bytes + oom->cached, oom->failure.requested);
    vs_oom_evidence(oom, "%s free on the device and %s cached in %llu hole%s, the largest %s",
                    vs_oom_size(oom, oom->free_bytes), vs_sizes_apart(oom->cached,
                    oom->largest_hole).a, (unsigned long long)oom->holes,
                    oom->holes == 1 ? "" : "s", vs_sizes_apart(oom->largest_hole, oom->cached).a);
    vs_oom_evidence(oom, "together %s for a request of %s, and no piece is large enough", two.a,
                    two.b);
    vs_oom_use_holes(oom);
    vs_oom_smaller_request(oom);
    vs_oom_common_remedies(oom);
}

const struct vs_verdict vs_verdict_fragmentation = {
    "fragmentation", "fragmentation: enough memory is free, in pieces that are too small", applies,
    explain};
