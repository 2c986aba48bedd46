/* SPDX-License-Identifier: Apache-2.0
 *
 * Verdict: call sites keep memory in every step or, without marked steps, throughout the run, and
 * the request would have fitted without it. */
#include <string.h>

#include "analysis/oom/verdict.h"
#include "base/vs_size.h"

#define TIMES_FEW 5

static uint64_t recovers(const struct vs_oom *oom)
{
    return oom->growth_bytes;
}

static const struct vs_report_site *guilty(const struct vs_oom *oom)
{
    return oom->growing.count ? &oom->growing.items[0] : NULL;
}

static uint64_t requested_bytes(const struct vs_oom *oom)
{
    uint64_t requested = 0;
    for (size_t i = 0; i < oom->growing.count; i++)
        requested += oom->growing.items[i].growth_bytes;
    return requested;
}

/* The kept bytes as the program requested them, and with the driver's rounding where it adds any. */
static const char *kept(struct vs_oom *oom)
{
    uint64_t requested = requested_bytes(oom);
    if (requested >= oom->growth_bytes)
        return vs_oom_size(oom, oom->growth_bytes);
    struct vs_size_pair two = vs_sizes_apart(requested, oom->growth_bytes);
    return vs_oom_text_of(oom, "%s (%s with the driver's rounding)", two.a, two.b);
}

/* What the device loses each time: with the driver's rounding. */
static const char *kept_each_time(struct vs_oom *oom)
{
    uint64_t requested = requested_bytes(oom), each = oom->growth_per_step;
    if (requested && requested < oom->growth_bytes)
        each = (uint64_t)((double)each * (double)oom->growth_bytes / (double)requested);
    return vs_oom_size(oom, each);
}

static void explain_steps(struct vs_oom *oom)
{
    unsigned long long times = oom->growth_times, since = oom->growth_since;
    const char *each = vs_oom_size(oom, oom->growth_per_step);
    const char *all = kept(oom);
    if (times + 1 >= oom->steps_done)
        vs_oom_evidence(oom, "grows by %s every step since step %llu: %s so far", each, since, all);
    else
        vs_oom_evidence(oom, "grew by %s in each of %llu steps, first in step %llu: %s so far", each,
                        times, since, all);
    if (oom->growth_times < TIMES_FEW)
        vs_oom_but(oom, "only %llu steps were completed", (unsigned long long)oom->steps_done);
}

static void explain_times(struct vs_oom *oom)
{
    char time[VS_SIZE_TEXT_MAX];
    vs_oom_evidence(oom, "since %s, %llu allocations were never freed: %s; the program freed other "
                    "memory that it allocated between them", vs_time_format(time, oom->growth_since_ns),
                    (unsigned long long)oom->growth_count, kept(oom));
    if (oom->steps_found && oom->steps_found_net > 0)
        vs_oom_evidence(oom, "the requests repeat: %llu steps were completed, and each added %s",
                        (unsigned long long)oom->steps_found,
                        vs_oom_size(oom, (uint64_t)oom->steps_found_net));
    else if (!oom->steps_found && oom->growth_times < 2 * TIMES_FEW)
        vs_oom_but(oom, "the program marks no steps (NVTX) and kept few blocks so far: an unfinished "
                   "first step looks the same");
}

static void explain_sites(struct vs_oom *oom)
{
    unsigned long long sites = oom->growing.count + oom->growing.omitted_count;
    const struct vs_report_site *most = guilty(oom);
    if (!most)
        return;
    const char *failed = vs_oom_site(oom, &oom->failure.site, 3), *text = vs_oom_site(oom, most, 3);
    if (strcmp(text, failed) == 0)
        text = "the call site that failed";
    unsigned long long allocs = most->allocs, frees = most->frees;
    if (sites == 1)
        vs_oom_evidence(oom, "at %s: %llu allocations, %llu free%s", text, allocs, frees,
                        frees == 1 ? "" : "s");
    else
        vs_oom_evidence(oom, "at %llu call sites, most of it at %s: %llu allocations, %llu free%s",
                        sites, text, allocs, frees, frees == 1 ? "" : "s");
}

static void explain(struct vs_oom *oom)
{
    if (oom->steps_begun)
        explain_steps(oom);
    else
        explain_times(oom);
    explain_sites(oom);
    vs_oom_explain_missing(oom);
    vs_oom_explain_share(oom, &vs_verdict_growth);
    vs_oom_remedy(oom, "free_growth", oom->growth_bytes, oom->growth_bytes >= oom->missing,
                  "free what %s keeps, or keep it on the host: %s",
                  oom->growing.count == 1 ? vs_oom_site(oom, guilty(oom), 2)
                                          : "each of these call sites",
                  vs_oom_size(oom, oom->growth_bytes));
    if (oom->total)
        vs_oom_remedy(oom, "bigger_device", oom->total + oom->missing, true,
                      oom->steps_begun ? "a larger device only delays it: by a step for each %s"
                                       : "a larger device only delays it: it keeps %s more with "
                                         "each repetition",
                      kept_each_time(oom));
}

const struct vs_verdict vs_verdict_growth = {
    "growth", "growth: the program keeps allocating memory that it does not free",
    "the growth", NULL, recovers, recovers, false, explain, guilty};
