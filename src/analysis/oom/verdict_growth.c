/* SPDX-License-Identifier: Apache-2.0
 *
 * Verdict: call sites that hold more memory at the end of every step hold the missing bytes. */
#include "analysis/oom/verdict.h"

#include <string.h>

#include "base/vs_size.h"

#define STEPS_FEW 5 /* fewer are weak evidence */

/* Growth that is small compared with reserved memory counts only when the same request succeeded in
 * an earlier step: then growth is the change. */
static bool applies(const struct vs_oom *oom)
{
    if (oom->missing == 0 || oom->growth_bytes < oom->missing)
        return false;
    return oom->growth_bytes >= oom->reserved / 20 ||
           oom->request_before >= oom->failure.requested;
}

void vs_oom_free_growth(struct vs_oom *oom)
{
    struct vs_size_pair two =
        vs_sizes_apart(oom->growth_bytes, oom->growth_bytes - oom->missing);
    vs_oom_remedy(oom, "free_growth", oom->growth_bytes, true,
                  "free what %s keeps: without these %s the request fits, with %s to spare",
                  oom->growing.count == 1 ? vs_oom_site(oom, &oom->growing.items[0], 2)
                                          : "every step",
                  two.a, two.b);
}

static void explain(struct vs_oom *oom)
{
    unsigned long long sites = oom->growing.count + oom->growing.omitted_count;
    const char *per_step = vs_oom_size(oom, oom->growth_per_step);
    vs_oom_evidence(oom, "grows by %s every step since step %llu: %s so far", per_step,
                    (unsigned long long)oom->growth_since, vs_oom_size(oom, oom->growth_bytes));
    const char *failed = vs_oom_site(oom, &oom->failure.site, 3), *most = "";
    if (oom->growing.count)
        most = vs_oom_site(oom, &oom->growing.items[0], 3);
    if (strcmp(most, failed) == 0)
        most = "the call site that failed";
    if (oom->growing.count == 1)
        vs_oom_evidence(oom, "at %s", most);
    else if (oom->growing.count)
        vs_oom_evidence(oom, "at %llu call sites, most of it at %s", sites, most);
    vs_oom_explain_missing(oom);
    if (oom->steps_done < STEPS_FEW)
        vs_oom_but(oom, "only %llu steps were completed", (unsigned long long)oom->steps_done);
    vs_oom_free_growth(oom);
    if (oom->total)
        vs_oom_remedy(oom, "bigger_device", oom->total + oom->missing, true,
                      "a larger device only delays it: one more step per %s", per_step);
}

const struct vs_verdict vs_verdict_growth = {
    "growth_per_step", "growth per step: memory is kept at the end of every step", applies,
    explain};
