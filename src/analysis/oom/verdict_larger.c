/* SPDX-License-Identifier: Apache-2.0
 *
 * Verdict: the step in progress asks for more than any completed one, as with one long sequence or a
 * batch of another size. At the sizes of the steps before, the program has run. */
#include "analysis/oom/verdict.h"

#define NEAR 50 /* the peak of the completed steps, and such a part of it */

/* A request whose call site allocated nothing before is taken to be larger as the blocks are: PyTorch
 * reports a refused request from another place than one that it serves. */
static uint64_t recovers(const struct vs_oom *oom)
{
    uint64_t request = oom->failure.requested;
    if (!oom->request_before && oom->larger_bytes)
        request -= (uint64_t)((double)request * (double)oom->larger_beyond /
                              (double)oom->larger_bytes);
    bool ran = oom->live + request <=
               oom->steps_peak + oom->steps_peak / NEAR + oom->larger_beyond;
    bool one_block = oom->larger_count == 1 ||
                     (oom->spike_count == 1 && oom->spike_bytes / 7 >= oom->larger_beyond / 8);
    return oom->larger_site.count && ran && !one_block ? oom->larger_beyond : 0;
}

static void explain(struct vs_oom *oom)
{
    struct vs_size_pair first = vs_sizes_apart(oom->larger_first, oom->larger_usual);
    struct vs_size_pair all =
        vs_sizes_apart(oom->larger_bytes, oom->larger_bytes - oom->larger_beyond);
    vs_oom_evidence(oom, "%s step%s fit, with a peak of %s; this one asks for more at the same lines",
                    vs_count_text(oom->steps_done), oom->steps_done == 1 ? "" : "s",
                    vs_size_text(oom->steps_peak));
    vs_oom_evidence(oom, "it begins at %s: %s, at most %s in the steps before",
                    vs_oom_site(oom, &oom->larger_site, 2), first.a, first.b);
    vs_oom_evidence(oom, "so far %s of its requests are larger than any at these lines before: %s "
                    "together instead of at most %s",
                    vs_count_text(oom->larger_count), all.a, all.b);
    vs_oom_explain_rising(oom);
    vs_oom_explain_missing(oom);
    vs_oom_explain_share(oom, &vs_verdict_larger);
    vs_oom_remedy(oom, "limit_step", oom->larger_beyond, oom->larger_beyond >= oom->missing,
                  "limit what one step asks for, from %s on (sequence length, batch; put inputs of "
                  "like length together): at the sizes of the steps before it would need %s less",
                  vs_oom_site(oom, &oom->larger_site, 2), vs_size_text(oom->larger_beyond));
    vs_oom_common_remedies(oom);
}

const struct vs_verdict vs_verdict_larger = {
    .name = "larger_step",
    .words = "larger step: this step asks for more than any before it, and those fit",
    .noun = "what this step asks for beyond those before", .recovers = recovers,
    .live = offsetof(struct vs_oom, larger_beyond), .has_run = true, .remedy = "limit_step",
    .explain = explain,
    .site = offsetof(struct vs_oom, larger_site)};
