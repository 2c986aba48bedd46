/* SPDX-License-Identifier: Apache-2.0
 *
 * Verdicts: other processes listed by NVML hold a large part of the device, and the request fits
 * without them; or most of the device is held outside this program by an unknown user. */
#include "analysis/oom/verdict.h"

#define CONTEXTS_AT_MOST (UINT64_C(1) << 30)
#define PROCESSES_SHOWN 3

static uint64_t recovers_others(const struct vs_oom *oom)
{
    return oom->balance.known && oom->balance.others_known ? oom->balance.others : 0;
}

static void stop_others(struct vs_oom *oom)
{
    const struct vs_balance *balance = &oom->balance;
    struct vs_size_pair two = vs_sizes_apart(balance->others, oom->missing);
    unsigned long long largest = balance->process_count ? balance->process[0].pid : 0;
    bool fits = balance->others >= oom->missing;
    if (balance->others_count == 1 && largest)
        vs_oom_remedy(oom, "stop_others", balance->others, fits,
                      "end or move process %llu: it holds %s, and %s is missing", largest, two.a,
                      two.b);
    else
        vs_oom_remedy(oom, "stop_others", balance->others, fits,
                      "end or move the other processes (the largest is %llu): they hold %s, and %s "
                      "is missing", largest, two.a, two.b);
}

static void explain_others(struct vs_oom *oom)
{
    const struct vs_balance *balance = &oom->balance;
    bool one = balance->others_count == 1;
    vs_oom_evidence(oom, "%llu other process%s hold%s %s, %s of the device (from NVML); this "
                    "program's allocations hold %s", (unsigned long long)balance->others_count,
                    one ? "" : "es", one ? "s" : "", vs_size_text(balance->others),
                    vs_percent_text(balance->others, oom->total), vs_size_text(oom->reserved));
    for (size_t i = 0; !one && i < balance->process_count && i < PROCESSES_SHOWN; i++)
        vs_oom_evidence(oom, "process %llu holds %s", (unsigned long long)balance->process[i].pid,
                        vs_size_text(balance->process[i].bytes));
    vs_oom_explain_missing(oom);
    vs_oom_explain_share(oom, &vs_verdict_others);
    if (oom->reserved > balance->others)
        vs_oom_but(oom, "this program holds more than they do");
    stop_others(oom);
    vs_oom_common_remedies(oom);
}

const struct vs_verdict vs_verdict_others = {
    .name = "other_process", .words = "other process: others hold a large part of the device",
    .noun = "the other processes", .recovers = recovers_others, .explain = explain_others};

/* Of an unknown owner: other processes that cannot be told from this one, or memory in no figure. */
static uint64_t recovers_outside(const struct vs_oom *oom)
{
    const struct vs_balance *b = &oom->balance;
    uint64_t bytes = oom->outside;
    if (!oom->free_known || oom->limit)
        return 0;
    if (b->known && b->others_known)
        bytes = b->unexplained > 0 ? (uint64_t)b->unexplained : 0;
    else if (b->known)
        bytes = bytes > b->contexts + b->pools + b->rounding
                    ? bytes - b->contexts - b->pools - b->rounding : 0;
    uint64_t context = b->contexts ? 0 : CONTEXTS_AT_MOST;
    return bytes > context && bytes > oom->total / 2 ? bytes - context : 0;
}

static void explain_outside(struct vs_oom *oom)
{
    struct vs_size_pair two = vs_sizes_apart(oom->outside, oom->missing);
    vs_oom_evidence(oom, "%s, %s of the device, is held outside this program's allocations, which "
                    "hold %s", vs_size_text(oom->outside),
                    vs_percent_text(oom->outside, oom->total), vs_size_text(oom->reserved));
    vs_oom_explain_missing(oom);
    vs_oom_but(oom, "contexts and modules of this program are part of it");
    vs_oom_remedy(oom, "stop_others", oom->outside, true,
                  "end other processes on the device (nvidia-smi lists them): they and the "
                  "contexts hold %s, and %s is missing", two.a, two.b);
    vs_oom_common_remedies(oom);
}

const struct vs_verdict vs_verdict_outside = {
    .name = "outside_memory", .words = "memory outside the program: others hold most of the device",
    .noun = "memory of an unknown owner", .recovers = recovers_outside,
    .explain = explain_outside};
