/* SPDX-License-Identifier: Apache-2.0
 *
 * Which call took the memory of contexts, modules and limits: the overheads at the failure, by the
 * stack that each was recorded with. The first context of a device is the usual one and nobody's
 * fault. Traces of earlier versions have no stacks: then no call site is known. */
#include "analysis/oom/oom_facts.h"

#include <stdlib.h>
#include <string.h>

#include "base/reading/vs_vec.h"

#define OVERHEADS_MAX 4096 /* more are not followed */

static void forget_context(struct vs_oom_overheads *list, uint64_t context)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].context != context)
            list->items[kept++] = list->items[i];
    list->count = kept;
}

void vs_oom_overhead_event(struct vs_oom_overheads *list, const struct vs_event *event)
{
    if (event->kind == VS_EVENT_context && !event->context.alive)
        forget_context(list, event->context.context);
    if (event->kind != VS_EVENT_overhead || list->count == OVERHEADS_MAX)
        return;
    const struct vs_event_overhead *e = &event->overhead;
    vs_vec_room(&list->items, &list->capacity, list->count + 1,
                sizeof *list->items);
    list->items[list->count++] =
        (struct vs_oom_overhead){e->device, e->context, e->what, e->stack, (int64_t)e->bytes};
}

/* Bytes that the calls at *stack* took on the device, and how many contexts, without its first. */
static int64_t taken_at(const struct vs_oom_overheads *list, uint64_t device, uint64_t stack,
                        uint64_t *contexts)
{
    int64_t bytes = 0;
    bool first = true;
    *contexts = 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct vs_oom_overhead *one = &list->items[i];
        bool context = one->what == VS_OVERHEAD_CONTEXT;
        if (one->device != device)
            continue;
        if (!(context && first) && one->stack == stack) {
            bytes += one->bytes;
            *contexts += context;
        }
        first &= !context;
    }
    return bytes;
}

void vs_oom_overhead_facts(struct vs_oom *oom, const struct vs_oom_scene *scene)
{
    const struct vs_oom_overheads *list = &scene->overheads;
    int64_t most = 0;
    uint64_t stack = 0;
    for (size_t i = 0; i < list->count; i++) {
        uint64_t contexts = 0;
        int64_t bytes = list->items[i].stack && list->items[i].stack != stack
                            ? taken_at(list, oom->failure.device, list->items[i].stack, &contexts) : 0;
        if (bytes <= most)
            continue;
        most = bytes;
        stack = list->items[i].stack;
        oom->contexts_made = contexts;
    }
    if (!stack)
        return;
    oom->context_site = (struct vs_report_site){
        .family = VS_FAMILY_DEVICE, .count = 1, .bytes = (uint64_t)most, .api = ""};
    vs_summary_frames(scene->summary, stack, 0, &oom->context_site);
}
