/* SPDX-License-Identifier: Apache-2.0
 *
 * Requests that become larger, up to the failure: at the failing call, or else the call whose requests
 * grew most. PyTorch's allocator reports a refused request from another place than one that it
 * serves, so that its stack has other inner frames; and of a request for up to 10 MiB it reports the
 * segment that it asked for. */
#include "analysis/naming/library.h"
#include "analysis/oom/oom_facts.h"
#include "analysis/state/user_level.h"

#define MIB (UINT64_C(1) << 20)

static const struct vs_site *row_of(const struct vs_oom_scene *scene, size_t index)
{
    return &scene->summary->replay->sites.items[index];
}

static bool is_failures_site(const struct vs_oom_scene *scene, size_t index)
{
    const struct vs_history_site *site = &scene->history->sites[index];
    const struct vs_site *row = row_of(scene, index);
    const struct vs_failure *failure = scene->failure;
    if (site->framework != failure->framework)
        return false;
    if (!failure->framework && !site->stack && site->api != failure->api)
        return false;
    return (!row->by_mark || row->mark == failure->mark) &&
           vs_library_same_caller(scene->summary->replay->reader, site->stack, failure->stack);
}

/* Whether PyTorch's segments for smaller requests have the size of the request. */
static bool is_segment(const struct vs_oom *oom)
{
    uint64_t request = oom->failure.requested;
    return oom->failure.framework && (request == 2 * MIB || request == 20 * MIB);
}

static uint64_t failing_first(const struct vs_oom *oom, const struct vs_oom_scene *scene)
{
    uint64_t least = 0;
    for (size_t i = 0; i < scene->history->site_count && !is_segment(oom); i++) {
        const struct vs_history_site *site = &scene->history->sites[i];
        uint64_t first = site->allocs && site->account == scene->failure->account
                             ? vs_history_rising(site, oom->failure.requested) : 0;
        if (first && (!least || first < least) && is_failures_site(scene, i))
            least = first;
    }
    return least;
}

/* The site of live blocks whose requests grew most, by at least the missing bytes; SIZE_MAX: none. */
static size_t most_risen(const struct vs_oom *oom, const struct vs_oom_scene *scene)
{
    uint64_t most = 0;
    size_t found = SIZE_MAX;
    for (size_t i = 0; i < scene->history->site_count; i++) {
        const struct vs_history_site *site = &scene->history->sites[i];
        uint64_t first = site->allocs && site->account == scene->failure->account
                             ? vs_history_rising(site, site->last) : 0;
        if (!first || site->live_bytes < site->last || site->last - first < oom->missing ||
            site->last - first <= most || !vs_user_has_site(scene->summary->replay, row_of(scene, i)))
            continue;
        most = site->last - first;
        found = i;
    }
    return found;
}

void vs_oom_rising_facts(struct vs_oom *oom, const struct vs_oom_scene *scene)
{
    oom->request_first = failing_first(oom, scene);
    if (oom->request_first) {
        oom->rising_last = oom->failure.requested;
        oom->rising_site = oom->failure.site;
        return;
    }
    size_t found = most_risen(oom, scene);
    if (found == SIZE_MAX)
        return;
    const struct vs_history_site *site = &scene->history->sites[found];
    oom->request_first = site->first;
    oom->rising_last = site->last;
    oom->rising_site = vs_oom_name_site(oom, scene, (uint32_t)found, site->live_bytes, 1);
}
