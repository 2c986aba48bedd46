/* SPDX-License-Identifier: Apache-2.0
 *
 * Verdict: PyTorch keeps unused segments, which it returns to the device before a request of its own
 * fails; this request was made to the device by someone else. */
#include "analysis/oom/verdict.h"

#define NEW_SEGMENT (UINT64_C(20) << 20) /* PyTorch takes that much for a small request */

static uint64_t recovers(const struct vs_oom *oom)
{
    return oom->cache.unreleased;
}

/* The largest part of the device that leaves enough for the request, in thousandths. */
static uint64_t fraction(const struct vs_oom *oom)
{
    uint64_t kept = oom->cache.segment_bytes;
    return kept > oom->missing ? (kept - oom->missing) / (oom->total / 1000 + 1) : 0;
}

/* Whether PyTorch would have run within that part: at the highest use before, the memory was not
 * unused. */
static bool is_enough(const struct vs_oom *oom)
{
    return !vs_oom_first_step(oom) && oom->live_peak + oom->cache.scattered + NEW_SEGMENT <=
                                          fraction(oom) * (oom->total / 1000);
}

static void explain(struct vs_oom *oom)
{
    const char *bytes = vs_size_text(oom->cache.unreleased);
    bool enough = is_enough(oom);
    vs_oom_evidence(oom, "%s, %s of the device, is in segments of PyTorch that hold no tensor; PyTorch "
                    "returns them to the device before a request of its own fails, but %s asked the "
                    "device itself", bytes, vs_percent_text(oom->cache.unreleased, oom->total),
                    oom->requester);
    if (oom->withheld_site.count)
        vs_oom_evidence(oom, "most were allocated at %s", vs_oom_site(oom, &oom->withheld_site, 3));
    if (vs_oom_first_step(oom))
        vs_oom_evidence(oom, "the first step had not ended: what its rest needs is unknown");
    else if (!enough)
        vs_oom_evidence(oom, "they were in use before: %s was live at the peak, and PyTorch's segments have %s",
                        vs_size_text(oom->live_peak), vs_size_text(oom->cache.segment_bytes));
    vs_oom_explain_missing(oom);
    vs_oom_explain_share(oom, &vs_verdict_unreleased);
    if (fraction(oom))
        vs_oom_remedy(oom, "leave_room", oom->missing, enough,
                      "leave room for %s: torch.cuda.set_per_process_memory_fraction(%.3f) at the "
                      "start; PyTorch then returns unused segments before it takes more",
                      oom->requester, (double)fraction(oom) / 1000);
    vs_oom_remedy(oom, "empty_cache", oom->cache.unreleased,
                  oom->cache.unreleased >= oom->missing &&
                      (enough || !oom->in_step || oom->steps_peak >= oom->live_peak),
                  "call torch.cuda.empty_cache() before this line: returns up to %s to the device",
                  bytes);
    vs_oom_common_remedies(oom);
}

const struct vs_verdict vs_verdict_unreleased = {
    .name = "framework_cache",
    .words = "PyTorch's cache: it keeps unused memory, and another request needs it from the device",
    .noun = "PyTorch's unused segments", .recovers = recovers, .has_run = true, .explain = explain};
