/* SPDX-License-Identifier: Apache-2.0
 *
 * Verdict: CUDA contexts, modules and the limits of stack, heap and printf of this process hold more
 * than one usual context, and the request would have fitted without the excess. */
#include "analysis/oom/verdict.h"

void vs_oom_explain_contexts(struct vs_oom *oom, uint64_t bytes)
{
    unsigned long long count = oom->balance.context_count;
    vs_oom_evidence(oom, "%llu CUDA context%s of this process hold%s %s, %s of the device", count,
                    count == 1 ? "" : "s", count == 1 ? "s" : "", vs_size_text(bytes),
                    vs_percent_text(bytes, oom->total));
}

static uint64_t recovers(const struct vs_oom *oom)
{
    return oom->balance.known ? oom->context_excess : 0;
}

static void explain(struct vs_oom *oom)
{
    const struct vs_balance *b = &oom->balance;
    unsigned long long count = b->context_count;
    uint64_t modules = b->modules > 0 ? (uint64_t)b->modules : 0;
    uint64_t limits = b->limits > 0 ? (uint64_t)b->limits : 0;
    uint64_t all = b->contexts + modules + limits, bytes = oom->context_excess;
    vs_oom_explain_contexts(oom, all);
    if (modules)
        vs_oom_evidence(oom, "%s of that are modules (code and variables)", vs_size_text(modules));
    if (limits)
        vs_oom_evidence(oom, "%s of that came with limits set by the program (cudaDeviceSetLimit: "
                        "stack, heap, printf)", vs_size_text(limits));
    if (oom->contexts_made)
        vs_oom_evidence(oom, "%llu of the contexts %s created at %s",
                        (unsigned long long)oom->contexts_made, oom->contexts_made == 1 ? "was" : "were",
                        vs_oom_site(oom, &oom->context_site, 3));
    else if (oom->context_site.count)
        vs_oom_evidence(oom, "%s of that was taken by calls at %s",
                        vs_size_text(oom->context_site.bytes),
                        vs_oom_site(oom, &oom->context_site, 3));
    vs_oom_explain_missing(oom);
    vs_oom_explain_share(oom, &vs_verdict_context);
    if (count > 1)
        vs_oom_remedy(oom, "one_context", bytes, bytes >= oom->missing,
                      "use the primary context (cudaSetDevice) in all libraries instead of %llu "
                      "contexts: about %s", count, vs_size_text(b->contexts / count * (count - 1)));
    if (limits)
        vs_oom_remedy(oom, "lower_limits", limits, limits >= oom->missing,
                      "set smaller limits with cudaDeviceSetLimit: up to %s", vs_size_text(limits));
    if (modules && !oom->loads_lazily)
        vs_oom_remedy(oom, "load_lazily", modules, modules >= oom->missing,
                      "load modules when they are first used (CUDA_MODULE_LOADING=LAZY), for fewer "
                      "architectures");
    vs_oom_bigger_device(oom);
}

const struct vs_verdict vs_verdict_context = {
    .name = "contexts", .words = "contexts: CUDA contexts and modules hold an unusual part of the device",
    .noun = "contexts and modules beyond what is usual", .recovers = recovers, .explain = explain,
    .site = offsetof(struct vs_oom, context_site)};
