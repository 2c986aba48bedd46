/* SPDX-License-Identifier: Apache-2.0
 *
 * Verdict: the program went on after the failure: a probe for the largest size that fits, a retry
 * with less, a step that was skipped. Nothing is to blame; why it was refused is evidence only. */
#include "analysis/oom/verdict.h"

static bool decides(const struct vs_oom *oom)
{
    return oom->failure.recovered && vs_oom_is_out_of_memory(&oom->failure);
}

static void explain(struct vs_oom *oom)
{
    vs_oom_evidence(oom, oom->failure.workspace
                             ? "it was the workspace of a library: PyTorch caught the error and took "
                               "a smaller one or a slower algorithm"
                         : oom->went_on
                             ? "the program allocated memory again afterwards, and ended without an "
                               "error"
                             : "its thread allocated memory again afterwards, or a later step was "
                               "completed");
    vs_oom_evidence(oom, "why it was refused: %s", oom->refusal->words);
}

const struct vs_verdict vs_verdict_recovered = {
    .name = "recovered",
    .words = "recovered: the request was refused, and the program went on without it",
    .decides = decides, .explain = explain};
