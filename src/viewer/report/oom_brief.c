/* SPDX-License-Identifier: Apache-2.0 */
#include "viewer/report/oom_text.h"

#include <string.h>

#include "base/vs_size.h"
#include "viewer/report/report_parts.h"

#define LEAD 10 /* columns before the text of a line */
#define SAME_FRAMES 8 /* call sites that are equal so far are shown once */

/* A cause with its share, if there are several. */
static void cause_line(const struct vs_oom *oom, const char *lead, const struct vs_verdict *verdict,
                       const struct vs_oom_cause *cause, const struct vs_style *style)
{
    char text[256];
    bool several = oom->second || oom->also_count;
    uint64_t whole = oom->limit && oom->device_total ? oom->device_total : oom->total;
    snprintf(text, sizeof text, "%s", verdict->words);
    if (several && cause)
        snprintf(text, sizeof text, "%s (%s, %s of the %s)", verdict->words,
                 vs_size_text(cause->bytes), vs_percent_text(cause->bytes, whole),
                 whole == oom->limit ? "limit" : "device");
    vs_text_wrapped(style, lead, text);
}

/* The call site, unless it is the one that failed. */
static void look_at(const struct vs_oom *oom, const struct vs_report_site *site,
                    const struct vs_style *style)
{
    char culprit[VS_CHAIN_TEXT_MAX], failed[VS_CHAIN_TEXT_MAX];
    if (!site)
        return;
    vs_text_site(culprit, site, SAME_FRAMES);
    if (strcmp(culprit, vs_text_site(failed, &oom->failure.site, SAME_FRAMES)) == 0)
        return;
    fprintf(style->out, "  look at ");
    vs_text_chain(style, LEAD, site);
}

void vs_oom_brief(const struct vs_oom *oom, const struct vs_style *style)
{
    char failed[VS_CHAIN_TEXT_MAX];
    const struct vs_report_failure *failure = &oom->failure;
    char one[VS_FAILURE_WHAT_MAX];
    bool of_memory = vs_oom_is_out_of_memory(failure);
    fprintf(style->out, "%s%s%s  %s%s", vs_paint(style, VS_BAD),
            of_memory ? "out of memory" : "allocation failed", vs_unpaint(style),
            vs_failure_what(one, failure), failure->framework || *failure->api ? " by " : "");
    vs_text_put(style->out, failure->framework ? "PyTorch" : failure->api);
    if (failure->host)
        fprintf(style->out, ", host memory");
    else
        fprintf(style->out, " on device %llu", (unsigned long long)failure->device);
    if (!of_memory)
        fprintf(style->out, ": %s", vs_error_text(failure->error));
    fprintf(style->out, ", %s", *failure->place ? "" : vs_time_text(failure->time_ns));
    vs_text_put(style->out, failure->place);
    fputc('\n', style->out);
    /* The causes, each with its first evidence and its call site. */
    const struct vs_oom_cause *second = NULL, *first = NULL;
    for (size_t i = 0; i < oom->cause_count; i++) {
        if (oom->causes[i].verdict == oom->verdict)
            first = &oom->causes[i];
        if (oom->causes[i].verdict == oom->second)
            second = &oom->causes[i];
    }
    cause_line(oom, "  why     ", oom->verdict, first, style);
    if (oom->evidence_count)
        vs_text_wrapped(style, "          ", oom->evidence[0].text);
    look_at(oom, oom->culprit, style);
    if (second) {
        cause_line(oom, "  and     ", oom->second, second, style);
        if (oom->second_evidence < oom->evidence_count)
            vs_text_wrapped(style, "          ", oom->evidence[oom->second_evidence].text);
        look_at(oom, second->culprit, style);
    }
    for (size_t i = 0; i < oom->also_count; i++) {
        cause_line(oom, "  also    ", oom->also[i]->verdict, oom->also[i], style);
        look_at(oom, oom->also[i]->culprit, style);
    }
    vs_text_site(failed, &oom->failure.site, SAME_FRAMES);
    fprintf(style->out, "  where   ");
    vs_text_chain(style, LEAD, &oom->failure.site);
    if (oom->line && *oom->line && !strstr(failed, oom->line))
        vs_text_wrapped(style, "  line    ", oom->line);
    if (oom->remedy_count) {
        const struct vs_verdict *cause = oom->refusal ? oom->refusal : oom->verdict;
        const char *grounds = oom->remedies[0].replayed ? " (replayed)"
                              : cause->decides          ? "" : " (estimate)";
        char text[VS_CHAIN_TEXT_MAX];
        snprintf(text, sizeof text, "%s%s", oom->remedies[0].text, grounds);
        vs_text_wrapped(style, "  try     ", text);
    }
    fputc('\n', style->out);
}
