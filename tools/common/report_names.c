/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/common/report_names.h"

#include <stdio.h>
#include <stdlib.h>

#include "analysis/report/site_text.h"
#include "base/reading/vs_xalloc.h"
#include "tools/common/command.h"

#define PHASES_LISTED 10
#define SITES_LISTED 3
#define ULL(x) ((unsigned long long)(x))

int vs_report_no_device(const char *who, const char *path, const struct vs_report *report,
                        uint64_t device)
{
    char list[256] = "";
    size_t n = 0;
    for (size_t i = 0; i < report->device_count && n < sizeof list; i++)
        n += (size_t)snprintf(list + n, sizeof list - n, "%s%llu", i ? ", " : "",
                              ULL(report->devices[i].device));
    if (!*list)
        return vs_tool_fail(who, "%s: --device %llu: the program used no device", path, ULL(device));
    return vs_tool_fail(who, "%s: --device %llu: the program did not use that device; it used %s",
                        path, ULL(device), list);
}

static bool phase_known(const char *who, const char *path, const struct vs_report *report)
{
    const char *wanted = report->wish.filter.phase;
    char list[VS_NAME_HINT_MAX];
    bool found = !wanted;
    for (size_t i = 0; !found && i < report->phase_count; i++)
        found = vs_held_phase_matches(report->phases[i].path, wanted);
    if (found)
        return true;
    if (!report->phase_count) {
        vs_tool_fail(who, "%s: --phase '%s': the trace has no phases; they come from NVTX ranges",
                     path, wanted);
        return false;
    }
    const char **names = vs_xcalloc(report->phase_count, sizeof *names);
    for (size_t i = 0; i < report->phase_count; i++)
        names[i] = report->phases[i].name;
    vs_tool_fail(who, "%s: no phase '%s'; %s", path, wanted,
                 vs_name_hint(list, wanted, names, report->phase_count, PHASES_LISTED, "the trace has"));
    free(names);
    return false;
}

static bool steps_known(const char *who, const char *path, const struct vs_report *report)
{
    const struct vs_held_filter *filter = &report->wish.filter;
    const struct vs_report_steps *steps = &report->steps;
    if (!filter->steps)
        return true;
    if (!steps->begun)
        vs_tool_fail(who, "%s: --step %llu: the program marks no steps, and its requests do not repeat; an NVTX "
                     "range named \"step N\" around each marks them", path, ULL(filter->step_from));
    else if (filter->step_from > steps->last_number)
        vs_tool_fail(who, "%s: no step %llu; the last one is step %llu", path, ULL(filter->step_from),
                     ULL(steps->last_number));
    else
        return true;
    return false;
}

/* The largest call sites instead, at the peak or at the chosen time. */
static bool site_known(const char *who, const char *path, const struct vs_report *report)
{
    const char *names[SITES_LISTED];
    char texts[SITES_LISTED][VS_CHAIN_TEXT_MAX], list[VS_NAME_LIST_MAX];
    size_t count = 0;
    if (!report->site_unknown)
        return true;
    for (size_t d = 0; d < report->device_count; d++) {
        const struct vs_report_device *device = &report->devices[d];
        const struct vs_report_sites *sites = device->at_peak.count ? &device->at_peak
                                                                    : &device->at_end;
        for (size_t i = 0; i < sites->count && count < SITES_LISTED; i++, count++)
            names[count] = vs_text_site(texts[count], &sites->items[i], 1);
    }
    vs_name_list(list, names, count, SITES_LISTED);
    vs_tool_fail(who, "%s: no call site matches --site '%s'%s%s", path, report->wish.filter.site_text,
                 *list ? "; the largest are " : "", list);
    return false;
}

bool vs_report_wish_known(const char *who, const char *path, const struct vs_report *report)
{
    const struct vs_report_wish *wish = &report->wish;
    bool found = !wish->one_device || vs_report_device_of(report, wish->device);
    if (!found)
        vs_report_no_device(who, path, report, wish->device);
    return found && phase_known(who, path, report) && steps_known(who, path, report) &&
           site_known(who, path, report);
}
