/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. */
#include "analysis/failures/findings.h"

static bool same_kind(const struct vs_event_finding *a, const struct vs_event_finding *b)
{
    return a->what == b->what && a->error == b->error && a->stack == b->stack && a->api == b->api &&
           (a->what == VS_FINDING_FAILED_FREE || a->what >= VS_FINDING_HIDDEN_FAILURE ||
            (a->earlier_stack == b->earlier_stack && a->text == b->text));
}

void vs_findings_add(struct vs_finding_groups *groups, const struct vs_event *event, uint64_t number)
{
    const struct vs_event_finding *finding = &event->finding;
    size_t i = 0;
    if (finding->what >= VS_FINDING_COUNT)
        return; /* of a later version */
    while (i < groups->count && !same_kind(&groups->items[i].first, finding))
        i++;
    if (i == VS_FINDINGS_MAX) {
        groups->left_out++;
        return;
    }
    struct vs_finding_group *group = &groups->items[i];
    if (i == groups->count) {
        groups->count++;
        *group = (struct vs_finding_group){.first = *finding, .event = number, .addrs = 1,
                                           .first_ns = event->time_ns, .tid = event->tid};
    }
    group->count++;
    group->last_ns = event->time_ns;
    if (group->first.addr != finding->addr)
        group->addrs = 2;
}

static bool is_open(const struct vs_finding_group *group, uint64_t number)
{
    return group->first.what == VS_FINDING_FAILED_FREE && number < group->event;
}

static void see(struct vs_finding_group *group, const struct vs_event *event)
{
    uint64_t addr = group->first.addr;
    if (event->kind == VS_EVENT_alloc) {
        uint64_t begin = event->alloc.addr;
        if (addr != begin && (addr < begin || addr - begin >= event->alloc.size))
            return;
        group->freed = addr == begin ? VS_FREED_LIVE : VS_FREED_INSIDE;
        group->alloc = event->alloc;
        group->alloc_ns = event->time_ns;
    } else if (group->freed != VS_FREED_UNKNOWN && event->free.addr == group->alloc.addr) {
        /* of memory around it nothing is left */
        group->freed = group->freed == VS_FREED_INSIDE ? VS_FREED_UNKNOWN : VS_FREED_TWICE;
        group->freed_ns = event->time_ns;
        group->freed_api = event->free.api;
    }
}

enum vs_err vs_findings_explain(struct vs_finding_groups *groups, struct vs_reader *reader)
{
    struct vs_event event;
    uint64_t last = 0;
    for (size_t i = 0; i < groups->count; i++)
        if (groups->items[i].first.what == VS_FINDING_FAILED_FREE)
            last = groups->items[i].event;
    enum vs_err err = VS_OK;
    if (last)
        vs_reader_rewind(reader);
    for (uint64_t number = 1; !err && number < last; number++) {
        err = vs_reader_next(reader, &event);
        if (err || (event.kind != VS_EVENT_alloc && event.kind != VS_EVENT_free))
            continue;
        for (size_t i = 0; i < groups->count; i++)
            if (is_open(&groups->items[i], number))
                see(&groups->items[i], &event);
    }
    return err == VS_ERR_NOMEM ? err : VS_OK;
}
