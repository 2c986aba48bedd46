/* SPDX-License-Identifier: Apache-2.0
 *
 * Verdict: the driver rounds each allocation up to its pages of 2 MiB, and the rounding holds the
 * memory that the request needs. */
#include "analysis/oom/verdict.h"

static uint64_t recovers(const struct vs_oom *oom)
{
    return oom->balance.known ? oom->balance.rounding : 0;
}

static void explain(struct vs_oom *oom)
{
    const struct vs_balance *b = &oom->balance;
    const struct vs_report_site *site = &oom->rounded_site;
    vs_oom_evidence(oom, "the driver allocates pages of 2 MiB: %s, %s of the device, lies in their "
                    "unused ends; the allocations themselves use %s", vs_size_text(b->rounding),
                    vs_percent_text(b->rounding, oom->total), vs_size_text(oom->allocated));
    if (site->count)
        vs_oom_evidence(oom, "%s of that in allocations at %s, the largest %s",
                        vs_size_text(site->bytes), vs_oom_site(oom, site, 3),
                        vs_size_text(site->largest));
    vs_oom_explain_missing(oom);
    vs_oom_explain_share(oom, &vs_verdict_rounding);
    vs_oom_remedy(oom, "suballocate", b->rounding, b->rounding >= oom->missing,
                  "allocate one large buffer and divide it, or run with --allocator=caching: up to %s",
                  vs_size_text(b->rounding));
    vs_oom_common_remedies(oom);
}

const struct vs_verdict vs_verdict_rounding = {
    .name = "rounding",
    .words = "rounding: the driver gives each small allocation whole pages of 2 MiB",
    .noun = "the driver's rounding", .recovers = recovers, .explain = explain,
    .site = offsetof(struct vs_oom, rounded_site)};
