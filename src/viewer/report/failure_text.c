/* SPDX-License-Identifier: Apache-2.0 */
#include "viewer/report/report_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/reading/vs_xalloc.h"
#include "base/vs_size.h"

#define GROUPS_SHOWN 5

static const struct {
    const char *key, *text;
} kinds[] = { /* by vs_report_failure's *overhead* */
    [0] = {"allocation", ""},
    [1 + VS_OVERHEAD_CONTEXT] = {"context", "a CUDA context"},
    [1 + VS_OVERHEAD_MODULE] = {"module", "memory for a module"},
    [1 + VS_OVERHEAD_LIMIT] = {"limit", "memory for a limit of the context"},
    [1 + VS_OVERHEAD_LAUNCH] = {"launch", "memory for a kernel launch"},
};

const char *vs_failure_what(char out[VS_FAILURE_WHAT_MAX], const struct vs_report_failure *failure)
{
    snprintf(out, VS_FAILURE_WHAT_MAX, "%s",
             failure->overhead ? kinds[failure->overhead].text : vs_size_text(failure->requested));
    return out;
}

const char *vs_failure_key(const struct vs_report_failure *failure)
{
    return kinds[failure->overhead].key;
}

static void group_lines(const struct vs_report_failure_group *group, const struct vs_style *style)
{
    const struct vs_report_failure *failure = &group->first;
    char *text = NULL;
    size_t bytes;
    FILE *line = vs_xstream(&text, &bytes);
    /* "16.0 MiB by cudaMalloc on device 0 at 1.2 s, step 3"; of a group both ends of sizes and
     * times. */
    struct vs_size_pair sizes = vs_sizes_apart(group->smallest, group->largest);
    char one[VS_FAILURE_WHAT_MAX];
    if (group->count > 1)
        fprintf(line, "%s× ", vs_count_text(group->count));
    if (group->smallest == group->largest)
        fprintf(line, "%s", vs_failure_what(one, failure));
    else
        fprintf(line, "%s to %s", sizes.a, sizes.b);
    if (*failure->api && !failure->framework)
        fprintf(line, " by %s", failure->api);
    if (failure->host)
        fprintf(line, " of host memory");
    else
        fprintf(line, " on device %llu", (unsigned long long)failure->device);
    const char *from = vs_time_text(failure->time_ns), *to = vs_time_text(group->last_ns);
    if (strcmp(from, to) == 0)
        fprintf(line, " at %s", from);
    else
        fprintf(line, " from %s to %s", from, to);
    if (*failure->place)
        fprintf(line, "%s%s", group->count > 1 ? ", first in " : ", ", failure->place);
    vs_xstream_end(line);
    vs_text_wrapped(style, "  ", text);
    free(text);
    if (failure->workspace)
        fprintf(style->out, "    a library's workspace: PyTorch took less, or a slower algorithm\n");
    else if (failure->framework)
        fprintf(style->out, "    PyTorch raised OutOfMemoryError\n");
    else if (failure->error != VS_CUDA_OUT_OF_MEMORY)
        fprintf(style->out, "    %s\n", vs_error_text(failure->error));
    fprintf(style->out, "    ");
    vs_text_chain(style, 4, &failure->site);
}

/* Prints the groups whose failures are *recovered* or not. */
static void groups(const struct vs_report *report, bool recovered, uint64_t explained,
                   const struct vs_style *style)
{
    uint64_t count = 0, shown = 0, left = 0;
    const char *noun = "allocation";
    for (size_t i = 0; i < report->group_count; i++) {
        if (report->groups[i].recovered != recovered)
            continue;
        count += report->groups[i].count;
        if (report->groups[i].first.overhead)
            noun = "request";
    }
    bool alone = explained && count == 1 && !recovered;
    if (!count || alone)
        return;
    fprintf(style->out, "\n%s%s failed%s%s\n", vs_paint(style, recovered ? VS_WARN : VS_BAD),
            vs_number_text(count, noun), recovered ? ", and the program went on" : "", vs_unpaint(style));
    for (size_t i = 0; i < report->group_count; i++) {
        const struct vs_report_failure_group *group = &report->groups[i];
        if (group->recovered != recovered)
            continue;
        if (shown++ < GROUPS_SHOWN)
            group_lines(group, style);
        else
            left += group->count;
    }
    if (!recovered)
        left += report->ungrouped;
    if (left)
        fprintf(style->out, "  %s%s more at other call sites%s\n", vs_paint(style, VS_DIM),
                vs_count_text(left), vs_unpaint(style));
}

void vs_failure_text(const struct vs_report *report, uint64_t explained,
                     const struct vs_style *style)
{
    groups(report, false, explained, style);
    groups(report, true, explained, style);
}
