/* SPDX-License-Identifier: Apache-2.0
 *
 * Verdict: the steps fit, and code that none of them ran takes memory beside what they left: a copy of
 * the model after the training, a first evaluation; or a branch of the training that runs for the first
 * time, which holds activations for its backward pass, as an evaluation without torch.no_grad() does. */
#include "analysis/oom/verdict.h"

static void explain(struct vs_oom *oom)
{
    uint64_t bytes = oom->after_bytes, gradients = oom->kinds[VS_KIND_GRADIENTS].bytes;
    uint64_t live = bytes - oom->failure.requested;
    bool fits = bytes >= oom->missing;
    const char *sites = vs_oom_site_list(oom, &oom->after_sites, 2), *size = vs_size_text(bytes);
    vs_oom_evidence(oom, "%s step%s fit, with a peak of %s; what failed ran in none of them",
                    vs_count_text(oom->steps_done), oom->steps_done == 1 ? "" : "s",
                    vs_size_text(oom->steps_peak));
    if (live)
        vs_oom_evidence(oom, "%s that other lines allocated since then is live, at %s", vs_size_text(live), sites);
    vs_oom_explain_rest(oom);
    vs_oom_explain_missing(oom);
    vs_oom_explain_share(oom, &vs_verdict_after);
    if (oom->after_graph)
        vs_oom_remedy(oom, "less_after_steps", bytes, fits, "run it under torch.no_grad() if "
                      "it only evaluates, at %s: activations hold %s for a backward pass; if it "
                      "trains, use a smaller batch", vs_oom_site(oom, &oom->after_caller, 2),
                      vs_size_text(oom->after_graph));
    else if (oom->after_copies > bytes / 2)
        vs_oom_remedy(oom, "less_after_steps", bytes, fits, "make the copies at %s on the host, for "
                      "example {k: v.cpu() for k, v in model.state_dict().items()}: %s with this "
                      "request", sites, size);
    else
        vs_oom_remedy(oom, "less_after_steps", bytes, fits, "use less memory at %s (copies on the host; "
                      "smaller batches in an evaluation): %s with this request", sites, size);
    if (oom->in_step) {
        vs_oom_smaller_step(oom);
        vs_oom_advise(oom);
    }
    if (gradients >= oom->missing / 10 && gradients)
        vs_oom_remedy(oom, "free_gradients", gradients, gradients >= oom->missing,
                      "free the gradients before it, with optimizer.zero_grad(): %s",
                      vs_size_text(gradients));
    vs_oom_bigger_device(oom);
}

const struct vs_verdict vs_verdict_after = {
    .name = "after_steps",
    .words = "new code: lines that no step ran before need more memory than was left",
    .noun = "what was allocated since the last step", .has_run = true,
    .live = offsetof(struct vs_oom, after_bytes), .remedy = "less_after_steps", .explain = explain,
    .site = offsetof(struct vs_oom, after_caller)};
