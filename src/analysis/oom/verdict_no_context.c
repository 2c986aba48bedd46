/* SPDX-License-Identifier: Apache-2.0
 *
 * Verdict: the failed call had to create a CUDA context, for which the device had too little free
 * memory. Nothing was allocated, so it needs no comparison with other causes: who held the memory is
 * evidence. */
#include "analysis/oom/verdict.h"

static bool decides(const struct vs_oom *oom)
{
    return oom->failure.overhead == 1 + VS_OVERHEAD_CONTEXT && vs_oom_is_out_of_memory(&oom->failure);
}

static void explain_own(struct vs_oom *oom)
{
    const struct vs_balance *b = &oom->balance;
    if (b->contexts)
        vs_oom_explain_contexts(oom, b->contexts);
    if (oom->reserved)
        vs_oom_evidence(oom, "allocations of this process hold %s, %s of the device",
                        vs_size_text(oom->reserved), vs_percent_text(oom->reserved, oom->total));
}

static void fewer_processes(struct vs_oom *oom)
{
    const struct vs_balance *b = &oom->balance;
    unsigned long long pid = b->process_count ? b->process[0].pid : 0;
    bool fits = b->others >= oom->missing;
    if (!b->others_known || !b->others)
        return;
    if (b->others_count == 1)
        vs_oom_remedy(oom, "stop_others", b->others, fits, "end or move process %llu: it holds %s",
                      pid, vs_size_text(b->others));
    else
        vs_oom_remedy(oom, "stop_others", b->others, fits,
                      "run fewer processes on this device (the largest is %llu), or let them share "
                      "one context under MPS: they hold %s", pid, vs_size_text(b->others));
}

static void explain(struct vs_oom *oom)
{
    const struct vs_balance *b = &oom->balance;
    unsigned long long count = b->context_count;
    bool own_first = b->contexts + oom->reserved >= b->others;
    if (own_first)
        explain_own(oom);
    unsigned long long others = b->others_count;
    if (b->others_known && b->others)
        vs_oom_evidence(oom, "%llu other process%s hold%s %s, %s of the device (from NVML), with "
                        "%s CUDA context%s", others, others == 1 ? "" : "es", others == 1 ? "s" : "",
                        vs_size_text(b->others), vs_percent_text(b->others, oom->total),
                        others == 1 ? "its" : "their", others == 1 ? "" : "s");
    else if (oom->free_known && oom->outside > b->contexts)
        vs_oom_evidence(oom, "%s of the device is held outside this process",
                        vs_size_text(oom->outside - b->contexts));
    if (!own_first)
        explain_own(oom);
    vs_oom_explain_missing(oom);
    if (!own_first)
        fewer_processes(oom);
    if (count)
        vs_oom_remedy(oom, "one_context", b->contexts, true,
                      "use one context, the primary one (cudaSetDevice), instead of creating another: "
                      "%llu exist%s", count, count == 1 ? "s" : "");
    if (own_first)
        fewer_processes(oom);
    vs_oom_bigger_device(oom);
}

const struct vs_verdict vs_verdict_no_context = {
    .name = "contexts",
    .words = "contexts: the device has too little free memory for another CUDA context",
    .decides = decides, .explain = explain};
