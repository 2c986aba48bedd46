/* SPDX-License-Identifier: Apache-2.0
 *
 * Verdict: the caching allocator holds free memory that this request may not use: of other streams
 * or of a private pool. */
#include "analysis/oom/verdict.h"

static uint64_t recovers(const struct vs_oom *oom)
{
    return oom->cache.withheld;
}

/* Whether nearly all of it is kept by private pools: no other cache remains to be named. */
static bool is_private(const struct vs_oom *oom)
{
    return oom->cache.private_pools >= oom->cache.withheld / 10 * 9;
}

static void explain(struct vs_oom *oom)
{
    const struct vs_cache_census *cache = &oom->cache;
    const char *bytes = vs_size_text(cache->withheld);
    const char *share = vs_percent_text(cache->withheld, oom->total);
    const char *largest = vs_size_text(cache->withheld_largest);
    if (is_private(oom))
        vs_oom_evidence(oom, "%s is cached and free, %s of the device, in pieces of up to %s; "
                        "PyTorch neither used nor released it: a private pool "
                        "(torch.cuda.MemPool, or of a CUDA graph) keeps it", bytes, share, largest);
    else
        vs_oom_evidence(oom, "%s is cached and free, %s of the device, but belongs to other "
                        "%s; the largest piece is %s", bytes, share,
                        cache->other_streams == cache->withheld ? "streams"
                            : "streams or to a private pool", largest);
    if (oom->withheld_site.count)
        vs_oom_evidence(oom, oom->withheld_live
                                 ? "blocks of %s keep its segments from being released"
                                 : "its segments were allocated at %s and hold no block now",
                        vs_oom_site(oom, &oom->withheld_site, 3));
    vs_oom_explain_missing(oom);
    vs_oom_explain_share(oom, &vs_verdict_cache);
    if (is_private(oom))
        vs_oom_remedy(oom, "delete_pool", cache->withheld, cache->withheld >= oom->missing,
                      "delete the private pool (its MemPool object and tensors, or the CUDA graph), "
                      "or allocate there only what needs it (use_mem_pool): up to %s", bytes);
    else
        vs_oom_remedy(oom, "share_cache", cache->withheld, cache->withheld >= oom->missing,
                      "allocate on the stream that used this memory, or free the last blocks of the "
                      "other stream (or private pool) and call empty_cache: up to %s", bytes);
    vs_oom_bigger_device(oom);
}

const struct vs_verdict vs_verdict_cache = {
    .name = "other_cache",
    .words = "other cache: free memory is cached for other streams or a private pool",
    .noun = "the cache of other streams and pools", .recovers = recovers, .explain = explain,
    .site = offsetof(struct vs_oom, withheld_site)};
