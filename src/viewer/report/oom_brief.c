/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. */
#include "viewer/report/oom_brief.h"

#include <string.h>

#include "base/vs_size.h"

#define LEAD 9 /* columns before the text of a line */

/* The call site to look at: the largest that grows, the exceptional allocation, or the request. */
static const struct vs_report_site *guilty_site(const struct vs_oom *oom)
{
    if (oom->growing.count && strcmp(oom->verdict->name, "growth") == 0)
        return &oom->growing.items[0];
    if (oom->spike_bytes && !oom->spike_is_request)
        return &oom->step_largest_site;
    return &oom->failure.site;
}

static void first_line(const struct vs_oom *oom, const struct vs_style *style)
{
    const struct vs_report_failure *failure = &oom->failure;
    char size[VS_SIZE_TEXT_MAX], time[VS_SIZE_TEXT_MAX], error[VS_CUDA_ERROR_TEXT_MAX];
    bool of_memory = vs_oom_is_out_of_memory(failure);
    fprintf(style->out, "%s%s%s  %s%s", vs_paint(style, VS_BAD),
            of_memory ? "out of memory" : "allocation failed", vs_unpaint(style),
            vs_size_format(size, failure->requested), *failure->api ? " by " : "");
    vs_text_put(style->out, failure->api);
    if (failure->host)
        fprintf(style->out, ", host memory");
    else
        fprintf(style->out, " on device %llu", (unsigned long long)failure->device);
    if (!of_memory)
        fprintf(style->out, ": %s", vs_cuda_error_name(error, failure->error));
    fprintf(style->out, ", %s", *failure->place ? "" : vs_time_format(time, failure->time_ns));
    vs_text_put(style->out, failure->place);
    fputc('\n', style->out);
}

void vs_oom_brief(const struct vs_oom *oom, const struct vs_style *style)
{
    first_line(oom, style);
    vs_text_wrapped(style, "  why    ", oom->verdict->words);
    if (oom->evidence_count)
        vs_text_wrapped(style, "         ", oom->evidence[0].text);
    fprintf(style->out, "  where  ");
    vs_text_chain(style, LEAD, guilty_site(oom));
    if (oom->line && *oom->line)
        vs_text_wrapped(style, "  line   ", oom->line);
    if (oom->remedy_count)
        vs_text_wrapped(style, "  try    ", oom->remedies[0].text);
    fputc('\n', style->out);
}
