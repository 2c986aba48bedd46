/* SPDX-License-Identifier: Apache-2.0 */
#include "viewer/report/report_parts.h"

#include <stdio.h>
#include <string.h>

#include "base/vs_size.h"

#define WEAK_BELOW 0.75 /* confidence */
#define CONSTANT_SHOWN 3
#define GROWTH_TEXT_MAX 256

/* "grows by 16.0 MiB every step since step 1 (steps found from the repeating requests), 4.7 GiB so
 * far", and what grew and is constant since. */
void vs_growth_lines(const struct vs_report *report, const struct vs_report_sites *growing,
                     const struct vs_report_sites *filled, const struct vs_style *style)
{
    for (size_t i = 0; i < growing->count && i < style->sites; i++) {
        const struct vs_report_site *site = &growing->items[i];
        bool freed = site->growth_freed, found = report->steps.found && i == 0;
        const char *weak = site->growth_replaced ? ": a larger buffer replaces it each time"
                           : site->growth_confidence < WEAK_BELOW ? " (weak evidence)" : "";
        unsigned long long every = site->growth_every > 1 ? site->growth_every : 1;
        char often[40], since[GROWTH_TEXT_MAX];
        snprintf(often, sizeof often, every > 1 ? "every %llu steps"
                 : site->growth_replaced ? "a step on average" : "every step", every);
        if (site->growth_in_steps)
            snprintf(since, sizeof since, "by %s %s since step %llu%s",
                     vs_size_text(site->growth_per_step * every), often,
                     (unsigned long long)site->growth_since,
                     found ? " (steps found from the repeating requests)" : "");
        else
            snprintf(since, sizeof since, "since %s", vs_time_text(site->growth_since_ns));
        vs_text_lines(style, vs_text_mark(style, freed ? "growth" : "leak?"), "%s %s, %s%s%s%s",
                      freed ? "grew" : "grows", since, freed ? "to " : "",
                      vs_size_text(site->growth_bytes), freed ? "; freed at the end" : " so far",
                      weak);
        fprintf(style->out, "         ");
        vs_text_chain(style, 9, site);
    }
    for (size_t i = 0; i < filled->count && i < CONSTANT_SHOWN; i++) {
        const struct vs_report_site *site = &filled->items[i];
        if (site->growth_in_steps && site->growth_until >= report->steps.done)
            continue; /* what grew until the last step has had no time to be constant */
        fprintf(style->out, "  grew   to %s by ", vs_size_text(site->growth_bytes));
        if (site->growth_in_steps)
            fprintf(style->out, "step %llu", (unsigned long long)site->growth_until);
        else
            fprintf(style->out, "%s", vs_time_text(site->growth_until_ns));
        fprintf(style->out, ", constant %s\n         ",
                site->growth_freed ? "until it was freed at the end" : "since");
        vs_text_chain(style, 9, site);
    }
}

static bool reads_the_same(uint64_t low, uint64_t high)
{
    return strcmp(vs_size_text(low), vs_size_text(high)) == 0;
}

void vs_growth_steps_lines(const struct vs_report *report, const struct vs_style *style)
{
    const struct vs_report_steps *steps = &report->steps;
    if (!steps->done)
        return;
    if (!report->phase_count)
        fprintf(style->out, "\n");
    char text[GROWTH_TEXT_MAX];
    const char *mean = vs_time_text(steps->total_ns / steps->done);
    if (steps->done == 1)
        snprintf(text, sizeof text, "1 done in %s", mean);
    else
        snprintf(text, sizeof text, "%s done%s, mean %s, shortest %s, longest %s (step %llu)",
                 vs_count_text(steps->done), steps->found ? " (from repeating requests)" : "", mean,
                 vs_time_text(steps->shortest_ns), vs_time_text(steps->longest_ns),
                 (unsigned long long)steps->longest_number);
    vs_text_wrapped(style, "  steps    ", text);
    if (steps->kept.peak_bytes) {
        /* What a step needs, keeps and allocates again. The peaks are a range: those of a leak have no
         * typical one. */
        char a[VS_SIZE_TEXT_MAX], b[VS_SIZE_TEXT_MAX];
        uint64_t net = (uint64_t)(steps->kept.net_bytes < 0 ? -steps->kept.net_bytes : steps->kept.net_bytes);
        vs_size_format(a, steps->kept.lowest_peak);
        vs_size_format(b, steps->kept.highest_peak);
        bool same = strcmp(a, b) == 0;
        int used = snprintf(text, sizeof text, "%s%s%s%s", !same               ? "peaks from "
                            : steps->done == 1 ? "peaks at " : "each peaks at ",
                            same ? "" : a, same ? "" : " to ", b);
        /* Whether every step keeps as much as the others, and allocates as much. */
        int64_t low = steps->kept.lowest_net, high = steps->kept.highest_net;
        bool nets = low >= 0   ? reads_the_same((uint64_t)low, (uint64_t)high)
                    : high < 0 ? reads_the_same(-(uint64_t)low, -(uint64_t)high)
                               : low == high;
        bool alike = nets && reads_the_same(steps->kept.lowest_churn, steps->kept.highest_churn);
        const char *subject = !alike ? "; a typical one " : same ? ", " : "; each ";
        if (net)
            used += snprintf(text + used, sizeof text - (size_t)used, "%s%s %s", subject,
                             steps->kept.net_bytes < 0 ? "frees" : "keeps", vs_size_format(a, net));
        if (steps->kept.churn_bytes)
            snprintf(text + used, sizeof text - (size_t)used, "%sallocates and frees %s",
                     net ? ", " : subject, vs_size_format(b, steps->kept.churn_bytes));
        vs_text_wrapped(style, "           ", text);
    }
}
