/* SPDX-License-Identifier: Apache-2.0 */
#include "viewer/report/report_parts.h"

#include <string.h>

#include "base/vs_size.h"
#include "viewer/report/report_text.h"

#define SHOWN 5

static const struct {
    const char *key, *text, *earlier; /* earlier: what the conflicting call did */
} kinds[VS_FINDING_COUNT] = {
    [VS_FINDING_FAILED_FREE] = {"failed_free", "", "freed"},
    [VS_FINDING_RACE] = {"race", "race", "other"},
    [VS_FINDING_USE_AFTER_FREE] = {"use_after_free", "use after free", "freed"},
    [VS_FINDING_FREED_IN_USE] = {"freed_in_use", "freed while work on it may still run", "work"},
    [VS_FINDING_EARLY] = {"use_before_allocation", "work is not ordered after the allocation", "other"},
    [VS_FINDING_FREED_POINTER] = {"freed_pointer", "freed memory passed to a call", "freed"},
    [VS_FINDING_UNWRITTEN] = {"uninitialised_read", "read, but never written", "other"},
    [VS_FINDING_LEAK] = {"leak", "not freed before its context was destroyed", "other"},
    [VS_FINDING_HIDDEN_FAILURE] = {"hidden_failure", "", "other"},
    [VS_FINDING_CACHE_GAVE_BACK] = {"cache_gave_back", "", "other"},
};

static const char *const freed_keys[] = {
    [VS_FREED_UNKNOWN] = "unknown_address", [VS_FREED_TWICE] = "double_free",
    [VS_FREED_INSIDE] = "inside_allocation", [VS_FREED_LIVE] = "live_allocation"};

/* The lists of the text. */
enum list { FREES, HIDDEN, GIVEN, CHECKER };

static enum list list_of(const struct vs_report_finding *finding)
{
    switch (finding->group.first.what) {
    case VS_FINDING_FAILED_FREE: return FREES;
    case VS_FINDING_HIDDEN_FAILURE: return HIDDEN;
    case VS_FINDING_CACHE_GAVE_BACK: return GIVEN;
    default: return CHECKER;
    }
}

static bool is_free(const struct vs_report_finding *finding)
{
    return finding->group.first.what == VS_FINDING_FAILED_FREE;
}

static void chain_line(const char *word, const struct vs_report_site *site,
                       const struct vs_style *style)
{
    if (!site->frame_count && !site->line)
        return;
    fprintf(style->out, "    %-10s", word);
    vs_text_chain(style, 14, site);
}

static void finding_lines(const struct vs_report_finding *finding, const struct vs_style *style)
{
    const struct vs_finding_group *group = &finding->group;
    char times[VS_SIZE_TEXT_MAX + 8] = "";
    char size[VS_SIZE_TEXT_MAX + 16] = "", addr[32];
    bool array = group->first.addr >= VS_ADDR_ARRAY;
    if (group->count > 1)
        snprintf(times, sizeof times, "%s× ", vs_count_text(group->count));
    snprintf(addr, sizeof addr, "0x%llx",
             (unsigned long long)(array ? group->first.addr & ~VS_ADDR_MEMORY : group->first.addr));
    const char *from = vs_time_text(group->first_ns), *to = vs_time_text(group->last_ns);
    bool span = strcmp(from, to) != 0;
    if (is_free(finding)) {
        vs_text_lines(style, "  ", "%s%s of %s%s%s %s%s%s%s", times, finding->api,
                      array ? "array " : "", addr, group->addrs > 1 ? " and others" : "",
                      span ? "from " : "at ", from, span ? " to " : "",
                      span ? to : "");
        fprintf(style->out, "    %s\n", vs_error_text(group->first.error));
        const char *bytes = vs_size_text(group->alloc.requested);
        const char *at = vs_time_text(group->alloc_ns);
        switch (group->freed) {
        case VS_FREED_TWICE:
            vs_text_lines(style, "    ",
                          "double free: %s allocated at %s by %s, first freed at %s by %s",
                          bytes, at, finding->alloc_api, vs_time_text(group->freed_ns),
                          *finding->freed_api ? finding->freed_api : "the end of its context");
            break;
        case VS_FREED_INSIDE:
            vs_text_lines(style, "    ", "foreign pointer: %llu bytes after the start of a live "
                          "allocation of %s, by %s at %s; only its start can be freed",
                          (unsigned long long)(group->first.addr - group->alloc.addr), bytes,
                          finding->alloc_api, at);
            break;
        case VS_FREED_LIVE:
            vs_text_lines(style, "    ", "still live: %s of %s memory, allocated at %s by %s",
                          bytes, vs_family_name(group->alloc.family), at, finding->alloc_api);
            break;
        default:
            if (group->first.addr < VS_ADDR_ARRAY)
                vs_text_lines(style, "    ", "foreign pointer: the trace has no allocation at "
                                             "this address");
        }
    } else if (list_of(finding) != CHECKER) {
        if (group->first.bytes)
            snprintf(size, sizeof size, ", %s given back", vs_size_text(group->first.bytes));
        vs_text_lines(style, "  ", "%s%s at %s: %s%s", times, finding->api, from, finding->text, size);
    } else {
        if (group->first.bytes)
            snprintf(size, sizeof size, ", %s", vs_size_text(group->first.bytes));
        vs_text_lines(style, "  ", "%s%s: %s%s%s%s at %s", times, kinds[group->first.what].text, addr,
                      size, *finding->text ? ", " : "", finding->text, from);
    }
    if (group->first.what != VS_FINDING_LEAK) /* its call is the allocation */
        chain_line("called", &finding->site, style);
    chain_line(kinds[group->first.what].earlier, &finding->earlier, style);
    chain_line("allocated", &finding->alloc, style);
}

static void findings(const struct vs_report *report, enum list list, const struct vs_style *style)
{
    static const struct {
        const char *one, *more, *rest;
    } titles[] = {
        [FREES] = {"free", "frees", " failed"},
        [HIDDEN] = {"request was", "requests were", " refused by the driver, and the cache asked "
                    "again: without the cache the program would have failed here"},
        [GIVEN] = {"request was", "requests were", " refused by the driver until the cache gave back "
                   "memory, which would have been free without the cache"},
        [CHECKER] = {"finding", "findings", " of the simulated GPU's checker"},
    };
    uint64_t count = 0, shown = 0, left = 0;
    char lead[VS_SIZE_TEXT_MAX + 2];
    for (size_t i = 0; i < report->finding_count; i++)
        if (list_of(&report->findings[i]) == list)
            count += report->findings[i].group.count;
    if (!count)
        return;
    snprintf(lead, sizeof lead, "%s ", vs_count_text(count));
    fprintf(style->out, "\n%s", vs_paint(style, list == GIVEN ? VS_WARN : VS_BAD));
    vs_text_lines(style, lead, "%s%s", count == 1 ? titles[list].one : titles[list].more,
                  titles[list].rest);
    fputs(vs_unpaint(style), style->out);
    for (size_t i = 0; i < report->finding_count; i++) {
        if (list_of(&report->findings[i]) != list)
            continue;
        if (shown++ < SHOWN || style->small_sites)
            finding_lines(&report->findings[i], style);
        else
            left += report->findings[i].group.count;
    }
    if (left)
        fprintf(style->out, "  %s%s more at other call sites; --json lists them%s\n",
                vs_paint(style, VS_DIM), vs_count_text(left), vs_unpaint(style));
}

void vs_findings_text(const struct vs_report *report, bool given_back, const struct vs_style *style)
{
    for (enum list list = FREES; list <= CHECKER; list++)
        if (list != GIVEN || given_back)
            findings(report, list, style);
}

static void stack_json(struct vs_json *json, const char *key, const struct vs_report_site *site)
{
    vs_json_begin_object(json, key);
    vs_report_json_frames(json, site);
    vs_json_end_object(json);
}

void vs_findings_json(struct vs_json *json, const struct vs_report *report)
{
    for (size_t i = 0; vs_json_next_object(json, "findings", i, report->finding_count); i++) {
        const struct vs_report_finding *finding = &report->findings[i];
        const struct vs_finding_group *group = &finding->group;
        bool freed = is_free(finding), failed = list_of(finding) != CHECKER;
        vs_json_members(json, VS_J_TEXT("what", kinds[group->first.what].key),
                        VS_J_UINT("count", group->count), VS_J_UINT("event", group->event),
                        VS_J_UINT("first_ns", group->first_ns),
                        VS_J_UINT("last_ns", group->last_ns), VS_J_UINT("tid", group->tid),
                        VS_J_UINT("address", group->first.addr & ~VS_ADDR_MEMORY),
                        VS_J_BOOL("several_addresses", group->addrs > 1),
                        VS_J_UINT("bytes", group->first.bytes), VS_J_TEXT("api", finding->api),
                        VS_J_KNOWN("error", failed, group->first.error),
                        VS_J_TEXT("error_name", failed ? vs_error_text(group->first.error) : NULL),
                        VS_J_TEXT("detail", finding->text),
                        VS_J_TEXT("address_is", freed ? freed_keys[group->freed] : NULL),
                        VS_J_KNOWN("allocated_ns", group->freed, group->alloc_ns),
                        VS_J_KNOWN("allocated_bytes", group->freed, group->alloc.requested),
                        VS_J_KNOWN("freed_ns", group->freed == VS_FREED_TWICE, group->freed_ns));
        stack_json(json, "site", &finding->site);
        stack_json(json, "allocated_at", &finding->alloc);
        stack_json(json, "earlier_at", &finding->earlier);
    }
    vs_json_uint(json, "findings_in_no_group", report->findings_ungrouped);
}
