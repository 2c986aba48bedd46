/* SPDX-License-Identifier: Apache-2.0
 *
 * The lists of a baseline have copies of all directions. So have the lists that are matched with
 * them, or a line that copies to the device would be paired with one that copies to the host; then only
 * culprits that copy in the row's direction count. Per step, the baseline's copies are those of as many steps as
 * the run has: rounding each site to a step would hide a small one. Sites that copy as much as in the baseline, of
 * more or fewer steps, copy outside of steps: they are the same. */
#include "analysis/budget/verdict_sites.h"

#include <string.h>

#include "analysis/budget/culprit_match.h"
#include "analysis/budget/quantity_sites.h"
#include "base/reading/vs_xalloc.h"

#define FOUND_MAX 150 /* call sites of all directions that copy more than before */

static uint64_t rounded_up(unsigned __int128 amount, uint64_t parts)
{
    return (uint64_t)((amount + parts - 1) / parts);
}

/* Sites of *scaled* get the copies of *before* back where *now* has as many. */
static void restore_same(const struct vs_named_sites *now, const struct vs_named_sites *before,
                         enum vs_metric metric, struct vs_named_sites *scaled)
{
    struct vs_culprit_match match;
    vs_culprit_match(now, before, metric, &match);
    for (size_t i = 0; i < now->count; i++) {
        size_t other = match.partner[i];
        if (other && now->items[i].bytes == before->items[other - 1].bytes &&
            now->items[i].count == before->items[other - 1].count)
            scaled->items[other - 1] = before->items[other - 1];
    }
    vs_culprit_match_free(&match);
}

/* The copies of the baseline in as many steps as the run, *now*, has. */
static void scale(const struct vs_budget_row *row, const struct vs_named_sites *now,
                  const struct vs_stored_copies *stored, struct vs_named_sites *out)
{
    const struct vs_named_sites *from = stored->before;
    struct vs_arena *memory = &row->run->memory;
    uint64_t steps = row->run->steps;
    *out = (struct vs_named_sites){vs_xarena(memory, (from->count + 1) * sizeof *out->items), from->count};
    for (size_t i = 0; i < from->count; i++) {
        out->items[i] = from->items[i];
        out->items[i].bytes = rounded_up((unsigned __int128)from->items[i].bytes * steps, stored->steps);
        out->items[i].count = rounded_up((unsigned __int128)from->items[i].count * steps, stored->steps);
    }
    restore_same(now, from, row->quantity.metric, out);
}

static bool has_site(const struct vs_report_sites *sites, const struct vs_report_site *site)
{
    bool found = false;
    for (size_t i = 0; i < sites->count && !found; i++)
        found = vs_site_is(&sites->items[i], site);
    return found;
}

void vs_copy_culprits(struct vs_budget_row *row, const struct vs_stored_copies *stored)
{
    struct vs_culprit found[FOUND_MAX];
    struct vs_named_sites now, before = *stored->before;
    uint64_t least = stored->least;
    bool per_step = row->quantity.per_step && row->run->steps && stored->steps;
    uint64_t steps = per_step ? row->run->steps : 1;
    /* The copies of the whole run, in all directions. */
    struct vs_quantity all = row->quantity;
    struct vs_report_sites sites;
    all.way = VS_COPIES_ALL;
    all.per_step = false;
    vs_quantity_sites(row->run, &all, &sites);
    vs_named_sites_of(&row->run->memory, &sites, all.metric, &now);
    if (per_step) {
        scale(row, &now, stored, &before);
        least = rounded_up((unsigned __int128)least * steps, stored->steps);
    }
    size_t count = vs_culprits(&now, &before, row->quantity.metric, least, found, FOUND_MAX);
    for (size_t i = 0; i < count && row->culprit_count < VS_CULPRITS_MAX; i++) {
        if (!has_site(&row->sites, found[i].site))
            continue;
        found[i].delta = (int64_t)rounded_up((uint64_t)found[i].delta, steps);
        found[i].bytes = rounded_up(found[i].bytes, steps);
        found[i].count = rounded_up(found[i].count, steps);
        row->culprits[row->culprit_count++] = found[i];
    }
}
