/* SPDX-License-Identifier: Apache-2.0 */
#include "viewer/report/report_parts.h"

#include <stdio.h>
#include <string.h>

#include "base/vs_size.h"

#define WEAK_BELOW 0.75 /* confidence */
#define CONSTANT_SHOWN 3
#define GROWTH_TEXT_MAX 256

/* "every step", "every 3 steps"; *bytes* receives the growth each time. */
static const char *how_often(char *out, size_t size, const struct vs_report_site *site,
                             uint64_t *bytes)
{
    uint64_t every = site->growth_every > 1 ? site->growth_every : 1;
    *bytes = site->growth_per_step * every;
    if (every == 1)
        return site->growth_replaced ? "a step on average" : "every step";
    snprintf(out, size, "every %llu steps", (unsigned long long)every);
    return out;
}

/* How *site* grows: "grows by 16.0 MiB every step since step 1 (steps found from the repeating
 * requests), 4.7 GiB so far". */
static char *growth_words(char *out, const struct vs_report_site *site, bool steps_found)
{
    char often[40];
    const char *verb = site->growth_freed ? "grew" : "grows";
    const char *to = site->growth_freed ? "to " : "";
    const char *until = site->growth_freed ? "; freed at the end" : " so far";
    const char *weak = site->growth_replaced ? ": a larger buffer replaces it each time"
                       : site->growth_confidence < WEAK_BELOW ? " (weak evidence)" : "";
    const char *all = vs_size_text(site->growth_bytes);
    if (!site->growth_in_steps) {
        snprintf(out, GROWTH_TEXT_MAX, "%s since %s, %s%s%s%s", verb,
                 vs_time_text(site->growth_since_ns), to, all, until, weak);
        return out;
    }
    uint64_t bytes;
    const char *words = how_often(often, sizeof often, site, &bytes);
    snprintf(out, GROWTH_TEXT_MAX, "%s by %s %s since step %llu%s, %s%s%s%s", verb,
             vs_size_text(bytes), words, (unsigned long long)site->growth_since,
             steps_found ? " (steps found from the repeating requests)" : "", to, all, until, weak);
    return out;
}

/* What grew until the last step has had no time to be constant. */
static bool was_constant(const struct vs_report *report, const struct vs_report_site *site)
{
    return !site->growth_in_steps || site->growth_until < report->steps.done;
}

void vs_growth_lines(const struct vs_report *report, const struct vs_report_sites *growing,
                     const struct vs_report_sites *filled, const struct vs_style *style)
{
    char words[GROWTH_TEXT_MAX], lead[64];
    for (size_t i = 0; i < growing->count && i < style->sites; i++) {
        const struct vs_report_site *site = &growing->items[i];
        snprintf(lead, sizeof lead, "  %s%s%s  ", vs_paint(style, VS_WARN),
                 site->growth_freed ? "growth" : "leak?", vs_unpaint(style));
        growth_words(words, site, report->steps.found && i == 0);
        vs_text_wrapped(style, lead, words);
        fprintf(style->out, "         ");
        vs_text_chain(style, 9, site);
    }
    for (size_t i = 0; i < filled->count && i < CONSTANT_SHOWN; i++)
        if (was_constant(report, &filled->items[i])) {
            const struct vs_report_site *site = &filled->items[i];
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

/* Whether every step keeps as much as the others, and allocates as much. */
static bool all_alike(const struct vs_report_steps *steps)
{
    int64_t low = steps->lowest_net, high = steps->highest_net;
    bool nets = low >= 0   ? reads_the_same((uint64_t)low, (uint64_t)high)
                : high < 0 ? reads_the_same(-(uint64_t)low, -(uint64_t)high)
                           : low == high;
    return nets && reads_the_same(steps->lowest_churn, steps->highest_churn);
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
    if (steps->peak_bytes) {
        /* What a step needs, keeps and allocates again. The peaks are a range: those of a leak have no
         * typical one. */
        char a[VS_SIZE_TEXT_MAX], b[VS_SIZE_TEXT_MAX];
        uint64_t net = (uint64_t)(steps->net_bytes < 0 ? -steps->net_bytes : steps->net_bytes);
        vs_size_format(a, steps->lowest_peak);
        vs_size_format(b, steps->highest_peak);
        bool same = strcmp(a, b) == 0;
        int used = snprintf(text, sizeof text, "%s%s%s%s", same ? "each peaks at " : "peaks from ",
                            same ? "" : a, same ? "" : " to ", b);
        const char *subject = !all_alike(steps) ? "; a typical one " : same ? ", " : "; each ";
        if (net)
            used += snprintf(text + used, sizeof text - (size_t)used, "%s%s %s", subject,
                             steps->net_bytes < 0 ? "frees" : "keeps", vs_size_format(a, net));
        if (steps->churn_bytes)
            snprintf(text + used, sizeof text - (size_t)used, "%sallocates and frees %s",
                     net ? ", " : subject, vs_size_format(b, steps->churn_bytes));
        vs_text_wrapped(style, "           ", text);
    }
}
