/* SPDX-License-Identifier: Apache-2.0
 *
 * Verdict: free and cached memory together would be enough, but no piece is large enough. */
#include "analysis/oom/verdict.h"

/* At least half of the holes must come from frees, the rest may be ends of segments: those of
 * segments that are not filled yet are no cause. Or as much was live before, so that the demand is
 * not new. */
static uint64_t recovers(const struct vs_oom *oom)
{
    if (oom->growth_pins && oom->growth_bytes >= oom->missing)
        return 0; /* the holes are an effect of what is kept between them */
    bool from_frees = oom->steps_done > 0 ||
                      (oom->steps_begun == 0 && oom->freed_bytes >= oom->cache.scattered / 2);
    bool demanded_before = oom->live + oom->failure.requested <= oom->live_peak;
    return from_frees || demanded_before ? oom->cache.scattered : 0;
}

static void explain(struct vs_oom *oom)
{
    const struct vs_cache_census *cache = &oom->cache;
    uint64_t all = oom->free_bytes + cache->scattered + oom->empty_bytes;
    struct vs_size_pair two = vs_sizes_apart(all, oom->failure.requested);
    vs_oom_evidence(oom, "%s free on the device and %s cached in %s hole%s, the largest %s",
                    vs_size_text(oom->free_bytes),
                    vs_sizes_apart(cache->scattered, cache->largest).a,
                    vs_count_text(cache->pieces), cache->pieces == 1 ? "" : "s",
                    vs_sizes_apart(cache->largest, cache->scattered).a);
    vs_oom_evidence(oom, "together %s for a request of %s, and no piece is large enough", two.a,
                    two.b);
    if (oom->pin_site.count)
        vs_oom_evidence(oom, "most holes lie beside blocks of %s",
                        vs_oom_site(oom, &oom->pin_site, 3));
    vs_oom_explain_rising(oom);
    vs_oom_explain_share(oom, &vs_verdict_fragmentation);
    vs_oom_remedy(oom, "use_holes", all, all >= oom->need,
                  "allocate long-lived blocks before the others, or reuse one large buffer: the "
                  "holes have %s", vs_size_text(cache->scattered));
    vs_oom_smaller_request(oom);
    vs_oom_common_remedies(oom);
}

const struct vs_verdict vs_verdict_fragmentation = {
    .name = "fragmentation",
    .words = "fragmentation: enough memory is free, in pieces that are too small",
    .noun = "holes between its blocks", .recovers = recovers, .explain = explain,
    .site = offsetof(struct vs_oom, pin_site)};
