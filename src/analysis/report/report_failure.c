/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/report/report_failure.h"

#include <string.h>

#include "analysis/report/summary.h"
#include "base/reading/vs_xalloc.h"

struct vs_report_failure vs_report_failure_of(const struct vs_summary *summary,
                                              const struct vs_failure *failure)
{
    const struct vs_replay *replay = summary->replay;
    struct vs_report_failure out = {
        .event = failure->event, .time_ns = failure->time_ns - vs_replay_start_ns(replay),
        .tid = failure->tid, .framework = failure->framework, .recovered = failure->recovered,
        .workspace = failure->workspace,
        .host = failure->account == VS_HOST_INDEX,
        .device = replay->accounts[failure->account]->device, .family = failure->family,
        .overhead = failure->overhead, .requested = failure->requested, .error = failure->error,
        .stack = failure->stack, .mark = failure->mark,
        .device_requested = failure->framework ? failure->device_requested : 0,
        .attempts = failure->attempts,
        .device_free = failure->device_free, .device_total = failure->device_total,
        .allocated = failure->allocated, .reserved = failure->reserved,
        .api = vs_summary_text(summary, failure->api),
        .place = vs_summary_place(summary, failure->place),
        .site = {.level = failure->framework ? VS_LEVEL_FRAMEWORK : VS_LEVEL_DEVICE, .stacks = 1,
                 .family = failure->family, .bytes = failure->requested, .count = 1}};
    out.site.api = out.api;
    vs_summary_frames(summary, failure->stack, failure->mark, &out.site);
    return out;
}

const struct vs_report_failure *vs_report_failures(const struct vs_summary *summary)
{
    const struct vs_replay *replay = summary->replay;
    struct vs_report_failure *out = vs_xarena(summary->memory,
                                              (replay->failure_count + 1) * sizeof *out);
    for (size_t i = 0; i < replay->failure_count; i++)
        out[i] = vs_report_failure_of(summary, &replay->failures[i]);
    return out;
}

const struct vs_report_first *vs_report_firsts(const struct vs_summary *summary)
{
    const struct vs_failure_firsts *firsts = &summary->replay->firsts;
    struct vs_report_first *out = vs_xarena(summary->memory, (firsts->count + 1) * sizeof *out);
    for (size_t i = 0; i < firsts->count; i++) {
        const struct vs_failure_first *from = &firsts->items[i];
        out[i] = (struct vs_report_first){vs_report_failure_of(summary, &from->failure),
                                          from->number, from->more};
    }
    return out;
}

const struct vs_report_failure_group *
vs_report_failure_groups(const struct vs_summary *summary, const struct vs_failure_groups *groups,
                         size_t *count)
{
    struct vs_report_failure_group *out = vs_xarena(summary->memory,
                                                    (groups->count + 1) * sizeof *out);
    *count = 0;
    for (size_t i = 0; i < groups->count; i++) {
        const struct vs_failure_group *from = &groups->items[i];
        struct vs_report_failure_group group = {
            .first = vs_report_failure_of(summary, &from->first), .count = from->count,
            .last_ns = vs_replay_since(summary->replay, from->last_ns),
            .smallest = from->smallest, .largest = from->largest,
            .recovered = vs_failure_group_recovered(from, summary->replay)};
        struct vs_report_failure_group *same = out;
        for (; same < out + *count; same++) {
            const struct vs_report_failure *a = &same->first, *b = &group.first;
            if (same->recovered == group.recovered && a->host == b->host &&
                a->device == b->device &&
                a->framework == b->framework && a->overhead == b->overhead &&
                    a->error == b->error &&
                strcmp(a->api, b->api) == 0 && vs_summary_same_text(&a->site, &b->site))
                break;
        }
        if (same == out + *count) {
            out[(*count)++] = group;
            continue;
        }
        same->count += group.count;
        same->last_ns = group.last_ns > same->last_ns ? group.last_ns : same->last_ns;
        same->smallest = group.smallest < same->smallest ? group.smallest : same->smallest;
        same->largest = group.largest > same->largest ? group.largest : same->largest;
    }
    return out;
}

const struct vs_report_finding *vs_report_findings(const struct vs_summary *summary,
                                                   const struct vs_finding_groups *groups)
{
    const struct vs_replay *replay = summary->replay;
    struct vs_report_finding *list = vs_xarena(summary->memory, (groups->count + 1) * sizeof *list);
    for (size_t i = 0; i < groups->count; i++) {
        const struct vs_finding_group *group = &groups->items[i];
        const struct vs_event_finding *first = &group->first;
        struct vs_report_finding *out = &list[i];
        uint64_t alloc_stack = group->freed ? group->alloc.stack : first->alloc_stack;
        *out = (struct vs_report_finding){.group = *group,
                                          .api = vs_summary_text(summary, first->api),
                                          .freed_api = vs_summary_text(summary, group->freed_api),
                                          .alloc_api = vs_summary_text(summary, group->alloc.api),
                                          .text = vs_summary_text(summary, first->text)};
        out->group.first_ns = vs_replay_since(replay, group->first_ns);
        out->group.last_ns = vs_replay_since(replay, group->last_ns);
        out->group.alloc_ns = vs_replay_since(replay, group->alloc_ns);
        out->group.freed_ns = vs_replay_since(replay, group->freed_ns);
        out->site.api = out->api;
        out->alloc.api = out->alloc_api;
        out->earlier.api = "";
        vs_summary_frames(summary, first->stack, 0, &out->site);
        if (alloc_stack)
            vs_summary_frames(summary, alloc_stack, 0, &out->alloc);
        if (first->earlier_stack)
            vs_summary_frames(summary, first->earlier_stack, 0, &out->earlier);
    }
    return list;
}
