/* SPDX-License-Identifier: Apache-2.0
 *
 * Verdict: stream-ordered pools, or the driver's memory for graphs, keep memory that nothing uses. */
#include "analysis/oom/verdict.h"

static uint64_t recovers(const struct vs_oom *oom)
{
    if (oom->failure.family == VS_FAMILY_ASYNC && oom->growing.count &&
        oom->growing.items[0].family == VS_FAMILY_ASYNC && oom->growth_bytes >= oom->missing)
        return 0; /* growth inside the pools leaves holes there: they are its effect */
    return oom->balance.known ? oom->pools_releasable + oom->balance.graphs : 0;
}

static const struct vs_report_site *culprit(const struct vs_oom *oom)
{
    return oom->pools_releasable >= oom->balance.graphs ? &oom->pool_site : NULL;
}

static void explain(struct vs_oom *oom)
{
    const struct vs_balance *b = &oom->balance;
    uint64_t bytes = recovers(oom), pools = oom->pools_releasable;
    if (b->pools)
        vs_oom_evidence(oom, "stream-ordered pools (cudaMallocAsync) hold %s, %s of the device, that "
                        "nothing uses; their live allocations take %s",
                        vs_size_text(b->pools), vs_percent_text(b->pools, oom->total),
                        vs_size_text(b->live[VS_FAMILY_ASYNC]));
    if (b->graphs)
        vs_oom_evidence(oom, "the driver keeps %s for graphs that are not running",
                        vs_size_text(b->graphs));
    if (pools < b->pools / 10 * 9)
        vs_oom_evidence(oom, "trimming the pools returns about %s of that: the rest lies beside live "
                        "blocks", vs_size_text(pools));
    if (pools && oom->pool_site.count)
        vs_oom_evidence(oom, "most of it was allocated and freed at %s, at most %s at once",
                        vs_oom_site(oom, &oom->pool_site, 3), vs_size_text(oom->pool_site.largest));
    vs_oom_explain_missing(oom);
    vs_oom_explain_share(oom, &vs_verdict_pool);
    if (pools)
        vs_oom_remedy(oom, "trim_pools", bytes, bytes >= oom->missing,
                      "call cudaMemPoolTrimTo(pool, 0) before large requests, or lower "
                      "cudaMemPoolAttrReleaseThreshold: returns %s to the device",
                      vs_size_text(pools));
    if (b->graphs)
        vs_oom_remedy(oom, "trim_graphs", b->graphs, b->graphs >= oom->missing,
                      "call cudaDeviceGraphMemTrim: returns %s to the device",
                      vs_size_text(b->graphs));
    if (oom->failure.family == VS_FAMILY_DEVICE && b->pools)
        vs_oom_remedy(oom, "use_pool", b->pools, false,
                      "allocate with cudaMallocAsync here too: it can use the pool's memory");
}

const struct vs_verdict vs_verdict_pool = {
    .name = "kept_pool",
    .words = "cached in pools: CUDA's memory pools hold memory that nothing uses",
    .noun = "the pools' unused memory", .recovers = recovers, .explain = explain,
    .culprit = culprit};
