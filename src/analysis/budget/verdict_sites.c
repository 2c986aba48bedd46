/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory that is reserved is live or cached. The cache is the reason that a limit is
 * exceeded if emptying it would meet the limit and no single line holds most of the memory; against a
 * baseline, if it has the line that has grown most. */
#include "analysis/budget/verdict_sites.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/budget/culprits.h"
#include "analysis/budget/quantity_sites.h"
#include "base/reading/vs_xalloc.h"

static uint64_t bytes_of(const struct vs_named_sites *sites)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < sites->count; i++)
        sum += sites->items[i].bytes;
    return sum;
}

/* Whether the value is worse than the baseline's. */
static bool is_worse(const struct vs_budget_row *row)
{
    return row->has_baseline && (row->quantity.metric == VS_METRIC_FREE ? row->quantity.value < row->baseline
                                                                        : row->quantity.value > row->baseline);
}

/* The sites at the peak of allocated of *device*; false where they are not known. */
static bool sites_at_peak(struct vs_measured *run, uint64_t device, struct vs_named_sites *peak)
{
    const struct vs_report_device *found = vs_report_device_of(run->report, device);
    if (found)
        vs_named_sites_of(&run->memory, &found->at_peak, VS_METRIC_ALLOCATED, peak);
    return found;
}

/* The same, marked where they hold more than in the baseline. */
static bool changes_at_peak(const struct vs_budget_verdict *out, const struct vs_budget_row *row,
                          const struct vs_baseline *baseline, struct vs_named_sites *peak)
{
    struct vs_quantity stored = row->quantity;
    struct vs_named_sites before;
    uint64_t least;
    stored.metric = VS_METRIC_ALLOCATED;
    stored.per_step = false;
    if (!vs_baseline_sites(baseline, out->process, &stored, VS_SITES_ALL, &row->run->memory, &before, &least) ||
        !sites_at_peak(row->run, stored.device, peak))
        return false;
    vs_mark_changed(peak, &before, VS_METRIC_ALLOCATED);
    return true;
}

/* Whether the names of *before* may be those of the run: without call stacks a site is named by the function
 * that allocates alone, and those of a stripped program are addresses. */
static bool are_comparable(struct vs_budget_row *row, const struct vs_named_sites *before)
{
    const char *stacks = vs_report_option(row->run->report, "stacks");
    bool without = stacks && strcmp(stacks, "none") == 0;
    for (size_t i = 0; !row->no_stacks && without && i < before->count; i++)
        row->no_stacks = strstr(before->items[i].name, " < ") != NULL;
    return !row->no_stacks && !row->names;
}

/* Where there is no baseline. The functions that copy are not those that allocate. */
static void accuse_largest(struct vs_budget_row *row, struct vs_named_sites *now)
{
    struct vs_named_sites peak;
    bool around = !vs_metric_of_copies(row->quantity.metric) && sites_at_peak(row->run, row->quantity.device, &peak);
    row->culprit_count = vs_culprits_largest(now, around ? &peak : NULL, row->quantity.metric, row->culprits,
                                             VS_CULPRITS_MAX);
}

/* The sites of a baseline that *row* is compared with. */
struct stored_sites {
    struct vs_named_sites before;
    uint64_t least;            /* sites of less may be missing in it */
    uint64_t steps;            /* of its run */
    struct vs_named_sites *around; /* NULL, or those of the run's peak */
};

/* --- copies ---
 *
 * The lists of a baseline have copies of all directions. So have the lists that are matched with
 * them, or a line that copies to the device would be paired with one that copies to the host; then only
 * culprits that copy in the row's direction count. Per step, the baseline's copies are those of as many steps as
 * the run has: rounding each site to a step would hide a small one. Sites that copy as much as in the baseline, of
 * more or fewer steps, copy outside of steps: they are the same. */

#define FOUND_MAX 150 /* call sites of all directions that copy more than before */

static uint64_t rounded_up(unsigned __int128 amount, uint64_t parts)
{
    return (uint64_t)((amount + parts - 1) / parts);
}

/* The copies of the baseline in as many steps as the run, *now*, has. */
static void scale(const struct vs_budget_row *row, const struct vs_named_sites *now,
                  const struct stored_sites *stored, struct vs_named_sites *out)
{
    const struct vs_named_sites *from = &stored->before;
    struct vs_culprit_match match;
    uint64_t steps = row->run->steps;
    *out = (struct vs_named_sites){vs_xarena(&row->run->memory, (from->count + 1) * sizeof *out->items), from->count};
    for (size_t i = 0; i < from->count; i++) {
        out->items[i] = from->items[i];
        out->items[i].bytes = rounded_up((unsigned __int128)from->items[i].bytes * steps, stored->steps);
        out->items[i].count = rounded_up((unsigned __int128)from->items[i].count * steps, stored->steps);
    }
    vs_culprit_match(now, from, row->quantity.metric, &match);
    for (size_t i = 0; i < now->count; i++) {
        size_t other = match.partner[i];
        if (other && vs_site_same_size(&now->items[i], &from->items[other - 1]))
            out->items[other - 1] = from->items[other - 1];
    }
    vs_culprit_match_free(&match);
}

static void accuse_copies(struct vs_budget_row *row, const struct stored_sites *stored, uint64_t least)
{
    struct vs_culprit found[FOUND_MAX];
    struct vs_named_sites now, before = stored->before;
    bool per_step = row->quantity.per_step && row->run->steps && stored->steps;
    uint64_t steps = per_step ? row->run->steps : 1;
    struct vs_quantity all = row->quantity; /* the copies of the whole run, in all directions */
    struct vs_report_sites sites;
    all.way = VS_COPIES_ALL;
    all.per_step = false;
    vs_quantity_sites(row->run, &all, &sites);
    vs_named_sites_of(&row->run->memory, &sites, all.metric, &now);
    if (per_step) {
        scale(row, &now, stored, &before);
        least = rounded_up((unsigned __int128)least * steps, stored->steps);
    }
    size_t count = vs_culprits(&now, NULL, &before, row->quantity.metric, least, found, FOUND_MAX);
    for (size_t i = 0; i < count && row->culprit_count < VS_CULPRITS_MAX; i++) {
        bool listed = false;
        for (size_t k = 0; k < row->sites.count && !listed; k++)
            listed = vs_site_is(&row->sites.items[k], found[i].site);
        if (!listed)
            continue;
        found[i].delta = (int64_t)rounded_up((uint64_t)found[i].delta, steps);
        found[i].bytes = rounded_up(found[i].bytes, steps);
        found[i].count = rounded_up(found[i].count, steps);
        row->culprits[row->culprit_count++] = found[i];
    }
}

/* --- quantities that have one list --- */

static void accuse_more(struct vs_budget_row *row, const struct vs_named_sites *now,
                        const struct stored_sites *stored, uint64_t least)
{
    if (vs_metric_of_copies(row->quantity.metric))
        accuse_copies(row, stored, least);
    else
        row->culprit_count = vs_culprits(now, stored->around, &stored->before, row->quantity.metric, least,
                                         row->culprits, VS_CULPRITS_MAX);
}

/* The sites that hold more than in the baseline. Where none is known to, those that are not in its list, which
 * leaves out small ones: each of them may have been there. */
static void accuse_stored(struct vs_budget_row *row, const struct vs_named_sites *now,
                          const struct stored_sites *stored)
{
    accuse_more(row, now, stored, stored->least);
    row->compared = row->culprit_count > 0;
    if (row->compared)
        return;
    accuse_more(row, now, stored, 0);
    row->unlisted = row->culprit_count > 0;
    for (size_t i = 0; i < row->culprit_count; i++) {
        row->culprits[i].change = VS_CHANGE_HOLDS;
        row->culprits[i].or_line = 0;
    }
}

static void accuse_one(struct vs_budget_verdict *out, struct vs_budget_row *row,
                       const struct vs_baseline *baseline)
{
    struct vs_named_sites now, peak;
    struct stored_sites stored = {0};
    struct vs_measured *run = row->run;
    enum vs_metric metric = row->quantity.metric;
    vs_named_sites_of(&run->memory, &row->sites, metric, &now);
    struct vs_quantity quantity = row->quantity;
    if (metric == VS_METRIC_REQUESTED) /* its own sites are not stored, but nearly these */
        quantity.metric = VS_METRIC_ALLOCATED;
    row->listed = baseline && is_worse(row) &&
                  vs_baseline_sites(baseline, out->process, &quantity, VS_SITES_ALL, &run->memory, &stored.before,
                                    &stored.least);
    bool known = row->listed && (!out->sampled || vs_metric_of_copies(metric)) && are_comparable(row, &stored.before);
    stored.steps = known ? vs_baseline_steps(baseline, out->process) : 0;
    /* few of the sites that are live at the peak grow, or are live at the end */
    bool few = metric == VS_METRIC_GROWTH || (metric == VS_METRIC_LIVE_AT_END && !row->quantity.phase);
    if (known && few && changes_at_peak(out, row, baseline, &peak))
        stored.around = &peak;
    if (known)
        accuse_stored(row, &now, &stored);
    if (!row->culprit_count)
        accuse_largest(row, &now);
}

/* --- memory held from the device, which has two lists --- */

struct held_lists {
    struct vs_named_sites live, unused;
    uint64_t least_live, least_unused;
};

static void at_most(uint64_t *value, uint64_t most)
{
    *value = *value < most ? *value : most;
}

/* No site that the file leaves out holds more than both lists lack of the baseline's value. */
static void limit_least(const struct vs_budget_row *row, const struct vs_quantity *stored, struct held_lists *before)
{
    uint64_t sum = bytes_of(&before->live) + bytes_of(&before->unused);
    if (stored->metric != VS_METRIC_RESERVED || row->baseline < sum)
        return;
    at_most(&before->least_live, row->baseline - sum + 1);
    at_most(&before->least_unused, row->baseline - sum + 1);
}

/* Those of the baseline; false when it has none. */
static bool stored_lists(const struct vs_budget_verdict *out, struct vs_budget_row *row,
                         const struct vs_baseline *baseline, struct held_lists *before)
{
    struct vs_quantity stored = row->quantity;
    stored.metric = vs_baseline_is_reading(&stored) ? VS_METRIC_DEVICE : VS_METRIC_RESERVED;
    row->listed = baseline && is_worse(row) &&
                  vs_baseline_sites(baseline, out->process, &stored, VS_SITES_IN_USE, &row->run->memory,
                                    &before->live, &before->least_live) &&
                  vs_baseline_sites(baseline, out->process, &stored, VS_SITES_UNUSED, &row->run->memory,
                                    &before->unused, &before->least_unused);
    if (row->listed)
        limit_least(row, &stored, before);
    return row->listed && !out->sampled && are_comparable(row, &before->live) && are_comparable(row, &before->unused);
}

/* The bytes by which the limit is exceeded. */
static uint64_t excess_of(const struct vs_budget_row *row)
{
    uint64_t value = row->quantity.value, limit = row->limit;
    return value > limit ? value - limit : limit - value;
}

/* Without a baseline: whether the cache is the reason that the limit is exceeded. */
static bool cache_explains_most(const struct vs_budget_row *row, const struct vs_culprit *heaviest)
{
    uint64_t held = row->sites.total_bytes + row->unused.total_bytes;
    return row->unused.total_bytes >= excess_of(row) && (!heaviest || heaviest->bytes <= held / 2);
}

/* Puts the live lines and the cached ones into the row, the responsible ones first. */
static void put_culprits(struct vs_budget_row *row, const struct vs_culprit *live, size_t live_count,
                         struct vs_culprit *cached, size_t cached_count, bool cached_first)
{
    size_t at = cached_first ? cached_count : 0, of_cached = cached_first ? 0 : live_count;
    for (size_t i = 0; i < cached_count; i++)
        cached[i].cached = true;
    memcpy(row->culprits + at, live, live_count * sizeof *live);
    memcpy(row->culprits + of_cached, cached, cached_count * sizeof *cached);
    row->culprit_count = live_count + cached_count;
}

#define GONE_PART 4    /* of what others hold more: from this part on the peak may be at another time */
#define EXPLAINED_PART 8 /* of the excess; less is chance */
#define CHANCE_PART 4  /* of the site that holds most more: less may be live by chance at that time */

/* A peak of reserved memory is reached when a segment is requested, which may be in another
 * phase than in the baseline. Other blocks are live then: most of them are in the baseline as well, at a peak
 * of that phase, and are no reason. The peak may be at another time if sites that held memory at the baseline's peak
 * hold less. Nothing says that it is: at the same time, too, one line may hold less and another one more. */
static bool may_have_moved(const struct vs_named_sites *now, const struct vs_named_sites *before,
                           enum vs_metric metric)
{
    struct vs_culprit_match match;
    uint64_t more = 0, gone = 0;
    vs_culprit_match(now, before, metric, &match);
    for (size_t i = 0; i < now->count; i++) {
        size_t other = match.partner[i];
        uint64_t is = now->items[i].bytes, was = other ? before->items[other - 1].bytes : 0;
        more += is > was ? is - was : 0;
        gone += is < was ? was - is : 0;
    }
    for (size_t k = 0; k < before->count; k++)
        gone += match.taken[k] ? 0 : before->items[k].bytes;
    vs_culprit_match_free(&match);
    return gone > more / GONE_PART;
}

/* At most VS_CULPRITS_MAX sites of *now* in *out* that hold more than at any peak of the baseline, if they
 * explain the excess. Returns how many. */
static size_t more_than_ever(const struct vs_budget_row *row, const struct vs_baseline *baseline,
                             const char *process, const struct vs_named_sites *now, uint64_t least,
                             struct vs_culprit *out)
{
    struct vs_named_sites most;
    const struct vs_quantity *quantity = &row->quantity;
    uint64_t excess = quantity->value > row->baseline ? quantity->value - row->baseline : 0, explained = 0;
    uint64_t stored = row->baseline / VS_BASELINE_SITE_PART;
    vs_baseline_most(baseline, process, quantity->device, &row->run->memory, &most);
    size_t found = vs_culprits(now, NULL, &most, quantity->metric, least > stored ? least : stored, out,
                               VS_CULPRITS_MAX);
    for (size_t i = 0; i < found; i++)
        explained += (uint64_t)out[i].delta;
    while (found && out[found - 1].delta < out[0].delta / CHANCE_PART)
        found--;
    return explained > excess / EXPLAINED_PART ? found : 0;
}

/* Against the lists of a baseline. Where the peak may be at another time and no line holds more than at all peaks
 * of the baseline, the cache alone is the reason. */
static void accuse_stored_held(const struct vs_budget_verdict *out, struct vs_budget_row *row,
                               const struct vs_baseline *baseline, const struct held_lists *now,
                               const struct held_lists *before)
{
    struct vs_culprit live[VS_CULPRITS_MAX], cached[VS_CULPRITS_CACHED_MAX];
    size_t n = 0, m = 0;
    row->unused_more = (int64_t)(bytes_of(&now->unused) - bytes_of(&before->unused));
    if (row->unused_more > 0)
        m = vs_culprits(&now->unused, NULL, &before->unused, VS_METRIC_RESERVED, before->least_unused, cached,
                        VS_CULPRITS_CACHED_MAX);
    bool moved = may_have_moved(&now->live, &before->live, row->quantity.metric);
    if (moved)
        n = more_than_ever(row, baseline, out->process, &now->live, before->least_live, live);
    row->moved = n > 0;
    if (!n && !(moved && m))
        n = vs_culprits(&now->live, NULL, &before->live, VS_METRIC_RESERVED, before->least_live, live,
                        VS_CULPRITS_MAX);
    put_culprits(row, live, n, cached, m, m && !row->moved && (!n || cached->delta > live->delta));
}

static void accuse_held(struct vs_budget_verdict *out, struct vs_budget_row *row,
                        const struct vs_baseline *baseline)
{
    struct held_lists now, before;
    struct vs_culprit live[VS_CULPRITS_MAX], cached[VS_CULPRITS_CACHED_MAX];
    vs_named_sites_of(&row->run->memory, &row->sites, VS_METRIC_RESERVED, &now.live);
    vs_named_sites_of(&row->run->memory, &row->unused, VS_METRIC_RESERVED, &now.unused);
    row->two_lists = true;
    if (stored_lists(out, row, baseline, &before))
        accuse_stored_held(out, row, baseline, &now, &before);
    row->compared = row->culprit_count > 0;
    if (!row->compared) {
        struct vs_named_sites peak, *around = sites_at_peak(row->run, row->quantity.device, &peak) ? &peak : NULL;
        size_t n = vs_culprits_largest(&now.live, around, VS_METRIC_RESERVED, live, VS_CULPRITS_MAX);
        size_t m = vs_culprits_largest(&now.unused, around, VS_METRIC_RESERVED, cached, VS_CULPRITS_CACHED_MAX);
        put_culprits(row, live, n, cached, m, m && cache_explains_most(row, n ? live : NULL));
    }
}

void vs_verdict_accuse_failure(struct vs_budget_row *row)
{
    struct vs_report_sites one = {.items = &row->failure->site, .count = 1};
    struct vs_named_sites named;
    vs_named_sites_of(&row->run->memory, &one, VS_METRIC_ALLOCATED, &named);
    accuse_largest(row, &named);
}

static bool is_accused(const struct vs_budget_row *row, const struct vs_measured *run)
{
    return row->kind == VS_ROW_QUANTITY && row->exceeded && row->run == run;
}

static void set_names(struct vs_budget_verdict *verdict, struct vs_measured *run, const struct vs_baseline *baseline)
{
    for (size_t d = 0; baseline && d < run->report->device_count; d++) {
        uint64_t device = run->report->devices[d].device;
        /* by the program's peak: some lists have a few sites only */
        struct vs_quantity stored = {.metric = VS_METRIC_ALLOCATED, .device = device};
        struct vs_named_sites now, before;
        uint64_t least;
        bool both = vs_baseline_sites(baseline, verdict->process, &stored, VS_SITES_ALL,
                                      &run->memory, &before, &least) &&
                    sites_at_peak(run, device, &now);
        enum vs_names_lack names = both ? vs_names_lack(&now, &before) : VS_NAMES_LACK_NONE;
        for (size_t i = 0; names && i < verdict->count; i++)
            if (is_accused(&verdict->rows[i], run) && verdict->rows[i].quantity.device == device)
                verdict->rows[i].names = names;
    }
}

void vs_verdict_accuse(struct vs_budget_verdict *verdict, struct vs_measured *run,
                       const struct vs_baseline *baseline)
{
    struct vs_site_request *requests = vs_xcalloc(verdict->count + 1, sizeof *requests);
    size_t count = 0;
    for (size_t i = 0; i < verdict->count; i++) {
        struct vs_budget_row *row = &verdict->rows[i];
        if (is_accused(row, run))
            requests[count++] = (struct vs_site_request){&row->quantity, &row->sites, &row->unused};
    }
    if (count)
        vs_quantity_sites_all(run, requests, count);
    free(requests);
    if (count)
        set_names(verdict, run, baseline);
    for (size_t i = 0; count && i < verdict->count; i++) {
        struct vs_budget_row *row = &verdict->rows[i];
        if (!is_accused(row, run))
            continue;
        const struct vs_report_device *device = vs_report_device_of(run->report, row->quantity.device);
        if (vs_quantity_is_held(&row->quantity, device && device->level == VS_LEVEL_FRAMEWORK))
            accuse_held(verdict, row, baseline);
        else
            accuse_one(verdict, row, baseline);
    }
}
