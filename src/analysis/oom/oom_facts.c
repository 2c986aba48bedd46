/* SPDX-License-Identifier: Apache-2.0
 *
 * With a framework the call sites are those of its tensors and of the memory outside
 * of its allocator (user_level.h); those of its segments are not to blame. */
#include "analysis/oom/oom_facts.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/oom/verdict.h"
#include "analysis/naming/library.h"
#include "analysis/report/site_text.h"
#include "analysis/state/driver_pages.h"
#include "analysis/state/user_level.h"
#include "base/reading/vs_xalloc.h"

#define USUAL_CONTEXT (UINT64_C(640) << 20) /* of a current GPU, with the usual libraries */

enum scene_owner { OWNER_PROGRAM = 1, OWNER_FRAMEWORK, OWNER_LIBRARY };

static const char *exe_of(const struct vs_oom_scene *scene)
{
    const struct vs_replay *replay = scene->summary->replay;
    return replay->has_process ? vs_reader_string(replay->reader, replay->process.process.exe) : "";
}

static const char *library_of(const struct vs_oom_scene *scene, uint64_t stack,
                              char name[VS_LIBRARY_NAME_MAX], bool *framework)
{
    return vs_library_of_stack(scene->summary->replay->reader, stack, exe_of(scene), name,
                               framework);
}

/* Another executable than the recorded one (a script's interpreter) is the program as well; shared
 * objects have ".so" in their name, and those with a common name capitals. */
static bool is_library(const char *name)
{
    return strstr(name, ".so") || strpbrk(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
}

static enum scene_owner owner_of(struct vs_oom_scene *scene, uint64_t stack)
{
    char buffer[VS_LIBRARY_NAME_MAX];
    bool framework;
    const uint64_t *found = stack ? vs_map_get(&scene->libraries, stack) : NULL;
    if (found || !stack)
        return found ? (enum scene_owner)*found : OWNER_PROGRAM;
    const char *name = library_of(scene, stack, buffer, &framework);
    enum scene_owner owner = framework         ? OWNER_FRAMEWORK
                             : is_library(name) ? OWNER_LIBRARY
                                                : OWNER_PROGRAM;
    vs_xmap_put(&scene->libraries, stack, owner);
    return owner;
}

/* --- naming --- */

struct vs_report_site vs_oom_name_site(struct vs_oom *oom, const struct vs_oom_scene *scene,
                                       uint32_t index, uint64_t bytes, uint64_t count)
{
    const struct vs_replay *replay = scene->summary->replay;
    const struct vs_site *site = &replay->sites.items[index];
    struct vs_report_site out = {
        .family = site->family, .bytes = bytes, .count = count, .allocs = site->allocs,
        .frees = site->frees, .largest = site->largest,
        .api = vs_text_copy(&oom->memory, vs_reader_string(replay->reader, site->api))};
    vs_summary_frames(scene->summary, site->stack, site->mark, &out);
    return out;
}

bool vs_oom_same_site(const struct vs_report_site *a, const struct vs_report_site *b)
{
    char one[VS_CHAIN_TEXT_MAX], two[VS_CHAIN_TEXT_MAX];
    return strcmp(vs_text_site(one, a, 64), vs_text_site(two, b, 64)) == 0;
}

size_t vs_oom_step_at(const struct vs_growth_steps *steps, uint64_t time_ns)
{
    size_t low = 0, high = steps->count;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (steps->items[mid].time_ns <= time_ns)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* --- cache --- */

void vs_oom_cache_facts(struct vs_oom *oom, struct vs_oom_scene *scene)
{
    struct vs_census_request request = {
        oom->failure.requested,
        oom->failure.framework ? scene->framework_stream : scene->failure->stream,
        oom->failure.framework};
    const struct vs_cache_census *cache = &oom->cache;
    vs_cache_census(scene->summary->replay, scene->history, scene->failure->account, &request,
                    &oom->cache);
    oom->has_framework = cache->framework;
    if (cache->pin_site)
        oom->pin_site = vs_oom_name_site(oom, scene, cache->pin_site - 1, cache->scattered, 1);
    if (cache->withheld_site)
        oom->withheld_site = vs_oom_name_site(oom, scene, cache->withheld_site - 1, cache->withheld, 1);
    oom->withheld_live = cache->withheld_site && (!cache->framework ||
        scene->history->sites[cache->withheld_site - 1].framework);
}

/* --- libraries, rounding, pools --- */

struct heaviest {
    uint64_t bytes;
    uint32_t site;
};

static void weigh(struct heaviest *most, uint32_t site, uint64_t bytes)
{
    if (bytes > most->bytes)
        *most = (struct heaviest){bytes, site};
}

/* Whether memory of the device at site *index* belongs neither to the framework nor, where there is
 * none, to the program. */
static bool is_outside(const struct vs_oom *oom, struct vs_oom_scene *scene, size_t index)
{
    const struct vs_replay *replay = scene->summary->replay;
    const struct vs_history_site *site = &scene->history->sites[index];
    if (site->framework || site->account != scene->failure->account)
        return false;
    return oom->has_framework ? vs_user_has_site(replay, &replay->sites.items[index])
                              : owner_of(scene, site->stack) == OWNER_LIBRARY;
}

static void fill_libraries(struct vs_oom *oom, struct vs_oom_scene *scene)
{
    const struct vs_history *history = scene->history;
    struct heaviest most = {0};
    char name[VS_LIBRARY_NAME_MAX];
    bool framework;
    oom->library = "";
    for (size_t i = 0; i < history->site_count; i++) {
        const struct vs_history_site *site = &history->sites[i];
        if (!site->live_bytes || !is_outside(oom, scene, i))
            continue;
        oom->library_bytes += site->live_bytes;
        weigh(&most, (uint32_t)i, site->live_bytes);
    }
    if (!most.bytes)
        return;
    oom->library = vs_xarena_text(
        &oom->memory, library_of(scene, history->sites[most.site].stack, name, &framework));
    oom->library_site = vs_oom_name_site(oom, scene, most.site, most.bytes, 1);
}

void vs_oom_facts(struct vs_oom *oom, struct vs_oom_scene *scene)
{
    const struct vs_balance *b = &oom->balance;
    fill_libraries(oom, scene);
    vs_oom_growth_facts(oom, scene);
    vs_oom_spike_facts(oom, scene);
    /* The site with most of the driver's rounding. */
    const struct vs_history *history = scene->history;
    struct heaviest rounded = {0};
    uint64_t *lost = vs_xcalloc(history->site_count + 1, sizeof *lost);
    for (size_t i = 0; i < history->block_count; i++) {
        const struct vs_history_block *block = &history->blocks[i];
        if (block->used && history->sites[block->site].account == scene->failure->account)
            lost[block->site] += block->held - block->bytes;
    }
    for (size_t i = 0; i < history->site_count; i++)
        weigh(&rounded, (uint32_t)i, lost[i]);
    free(lost);
    if (rounded.bytes)
        oom->rounded_site = vs_oom_name_site(oom, scene, rounded.site, rounded.bytes, 1);
    /* What trimming the pools would return, and the site with most stream-ordered memory. */
    const struct vs_sites *sites = &scene->summary->replay->sites;
    struct heaviest pool = {0};
    uint64_t freed = 0, live = 0;
    for (size_t i = 0; i < sites->count; i++) {
        const struct vs_site *site = &sites->items[i];
        if (site->family != VS_FAMILY_ASYNC || site->device != scene->failure->account)
            continue;
        live += site->live_bytes;
        freed += site->bytes > site->live_bytes ? site->bytes - site->live_bytes : 0;
        weigh(&pool, (uint32_t)i, site->bytes);
    }
    oom->pools_releasable = vs_pool_releasable(oom->balance.pools, live, freed);
    if (pool.bytes)
        oom->pool_site = vs_oom_name_site(oom, scene, pool.site, pool.bytes, 1);
    vs_oom_rising_facts(oom, scene);
    vs_oom_overhead_facts(oom, scene);
    int64_t all = (int64_t)b->contexts + b->modules + b->limits;
    uint64_t one = b->context_count ? b->contexts / b->context_count : 0;
    if (one > USUAL_CONTEXT || (b->context_count == 1 && all > (int64_t)USUAL_CONTEXT))
        one = USUAL_CONTEXT;
    oom->context_excess = all > (int64_t)one ? (uint64_t)all - one : 0;
}
