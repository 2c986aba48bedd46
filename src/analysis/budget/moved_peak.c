/* SPDX-License-Identifier: Apache-2.0
 *
 * A peak of reserved memory is reached when a segment is requested, which may be in another
 * phase than in the baseline. Other blocks are live then: most of them are in the baseline as well, at a peak
 * of that phase, and are no reason. The peak may be at another time if sites that held memory at the baseline's peak
 * hold less. Nothing says that it is: at the same time, too, one line may hold less and another one more. */
#include "analysis/budget/verdict_sites.h"

#include "analysis/budget/culprit_match.h"
#include "analysis/budget/site_align.h"

#define GONE_PART 4    /* of what others hold more: from this part on the peak may be at another time */
#define EXPLAINED_PART 8 /* of the excess; less is chance */
#define CHANCE_PART 4  /* of the site that holds most more: less may be live by chance at that time */

static void is_moved(const struct vs_peak_lists *lists, enum vs_metric metric, bool *moved)
{
    struct vs_culprit_match match;
    uint64_t more = 0, gone = 0;
    vs_culprit_match(lists->now, lists->before, metric, &match);
    for (size_t i = 0; i < lists->now->count; i++) {
        size_t other = match.partner[i];
        uint64_t is = lists->now->items[i].bytes, was = other ? lists->before->items[other - 1].bytes : 0;
        more += is > was ? is - was : 0;
        gone += is < was ? was - is : 0;
    }
    for (size_t k = 0; k < lists->before->count; k++)
        gone += match.taken[k] ? 0 : lists->before->items[k].bytes;
    vs_culprit_match_free(&match);
    *moved = gone > more / GONE_PART;
}

void vs_moved_culprits(const struct vs_budget_row *row, const struct vs_baseline *baseline,
                       const char *process, const struct vs_peak_lists *lists,
                       struct vs_culprit *out, size_t max, size_t *count, bool *moved)
{
    struct vs_named_sites most;
    const struct vs_quantity *quantity = &row->quantity;
    uint64_t excess = quantity->value > row->baseline ? quantity->value - row->baseline : 0, explained = 0;
    *count = 0;
    is_moved(lists, quantity->metric, moved);
    if (!*moved)
        return;
    vs_baseline_most(baseline, process, quantity->device, &row->run->memory, &most);
    uint64_t least = row->baseline / VS_BASELINE_SITE_PART;
    least = lists->least > least ? lists->least : least;
    size_t found = vs_culprits(lists->now, &most, quantity->metric, least, out, max);
    for (size_t i = 0; i < found; i++)
        explained += (uint64_t)out[i].delta;
    while (found && out[found - 1].delta < out[0].delta / CHANCE_PART)
        found--;
    *count = explained > excess / EXPLAINED_PART ? found : 0;
}
