/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. */
#include "analysis/failures/failure_groups.h"

static bool same_kind(const struct vs_failure *a, const struct vs_failure *b)
{
    return a->stack == b->stack && a->account == b->account && a->framework == b->framework &&
           a->family == b->family && a->overhead == b->overhead && a->error == b->error && (a->stack || a->api == b->api);
}

void vs_failure_groups_add(struct vs_failure_groups *groups, const struct vs_failure *failure)
{
    size_t i = groups->latest;
    if (i >= groups->count || !same_kind(&groups->items[i].first, failure))
        for (i = 0; i < groups->count && !same_kind(&groups->items[i].first, failure);)
            i++;
    if (i == VS_FAILURE_GROUPS_MAX) {
        groups->left_out++;
        return;
    }
    struct vs_failure_group *group = &groups->items[i];
    if (i == groups->count) {
        *group = (struct vs_failure_group){.first = *failure, .smallest = failure->requested};
        groups->count++;
    }
    group->count++;
    group->last_event = failure->event;
    group->last_ns = failure->time_ns;
    if (failure->requested < group->smallest)
        group->smallest = failure->requested;
    if (failure->requested > group->largest)
        group->largest = failure->requested;
    groups->latest = i;
}

bool vs_failure_group_recovered(const struct vs_failure_group *group,
                                const struct vs_replay *replay)
{
    for (size_t i = replay->failure_count; i-- > 0;)
        if (replay->failures[i].event == group->last_event)
            return replay->failures[i].recovered;
    return true; /* hundreds of failures came after it */
}
