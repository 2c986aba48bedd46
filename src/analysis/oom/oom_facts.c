/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. With a framework the call sites are those of its tensors and of the memory outside
 * of its allocator (user_level.h); those of its segments are not to blame. */
#include "analysis/oom/oom_facts.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/oom/verdict.h"
#include "analysis/naming/library.h"
#include "analysis/report/site_text.h"
#include "analysis/state/driver_pages.h"
#include "analysis/state/user_level.h"

#define SITES_MAX VS_OOM_STACKS_MAX
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
    if (vs_map_put(&scene->libraries, stack, owner))
        return owner; /* looked up again next time */
    return owner;
}

/* --- naming --- */

/* Names the call site with *index* in the replay. */
static enum vs_err name_site(struct vs_oom *oom, const struct vs_oom_scene *scene, uint32_t index,
                             uint64_t bytes, uint64_t count, struct vs_report_site *out)
{
    const struct vs_replay *replay = scene->summary->replay;
    const struct vs_site *site = &replay->sites.items[index];
    const char *api = vs_reader_string(replay->reader, site->api);
    *out = (struct vs_report_site){.family = site->family, .bytes = bytes, .count = count,
                                   .allocs = site->allocs, .frees = site->frees,
                                   .largest = site->largest,
                                   .api = vs_summary_copy(&oom->memory, api)};
    return out->api ? vs_summary_frames(scene->summary, site->stack, site->mark, out)
                    : VS_ERR_NOMEM;
}

/* --- growth --- */

static bool same_site(const struct vs_report_site *a, const struct vs_report_site *b)
{
    char one[VS_CHAIN_TEXT_MAX], two[VS_CHAIN_TEXT_MAX];
    return strcmp(vs_text_site(one, a, 64), vs_text_site(two, b, 64)) == 0;
}

static void merge_site(struct vs_report_sites *list, struct vs_report_site *items,
                       const struct vs_report_site *one)
{
    for (size_t i = 0; i < list->count; i++) {
        if (!same_site(&items[i], one))
            continue;
        items[i].bytes += one->bytes;
        items[i].count += one->count;
        items[i].allocs += one->allocs;
        items[i].frees += one->frees;
        items[i].growth_bytes += one->growth_bytes;
        items[i].growth_per_step += one->growth_per_step;
        return;
    }
    items[list->count++] = *one;
}

/* Adds a growing site. */
static enum vs_err add_growing(struct vs_oom *oom, const struct vs_oom_scene *scene,
                               struct vs_report_site *items, const struct vs_history_growth *found)
{
    struct vs_report_site one;
    enum vs_err err = name_site(oom, scene, found->site, found->bytes, found->count, &one);
    one.growing = true;
    one.growth_bytes = found->bytes;
    one.growth_per_step = found->per_time;
    one.growth_since = found->since_step;
    if (err)
        return err;
    if (!oom->growing_stack_count || found->since_ns < oom->growth_since_ns) {
        oom->growth_since_ns = found->since_ns;
        oom->growth_since = found->since_step;
    }
    oom->growing_stacks[oom->growing_stack_count++] = scene->history->sites[found->site].stack;
    merge_site(&oom->growing, items, &one);
    oom->growth_bytes += found->held;
    oom->growth_count += found->count;
    oom->growth_per_step += found->per_time;
    if (found->times > oom->growth_times)
        oom->growth_times = found->times;
    return VS_OK;
}

/* Whether *row* may be added to the *count* sites that were found: one that the tracker alone found,
 * and that frees memory, too. */
static bool is_tracked(const struct vs_oom_scene *scene, const struct vs_growth_row *row,
                       const struct vs_history_growth *found, size_t count)
{
    size_t k = 0;
    while (k < count && found[k].site != row->site)
        k++;
    return k == count && row->account == scene->failure->account && row->user_level &&
           vs_growth_accused(row) && row->site < scene->history->site_count &&
           scene->history->sites[row->site].freed;
}

/* Growth of another kind than kept blocks: memory of a site that grows although each of its blocks is
 * freed one day, such as a queue that becomes longer. Found by the tracker alone, which also
 * follows sites that only build up their data: those without a free are left to the history. */
static enum vs_err add_tracked(const struct vs_oom_scene *scene, struct vs_history_growth *found,
                               size_t *count)
{
    const struct vs_growth_result *growth = scene->growth;
    struct vs_history_times *sites = calloc(growth->site_count + 1, sizeof *sites);
    size_t candidates = 0, known = *count;
    if (!sites)
        return VS_ERR_NOMEM;
    for (size_t i = 0; i < growth->site_count; i++)
        if (is_tracked(scene, &growth->sites[i], found, known))
            sites[candidates++].site = growth->sites[i].site;
    if (candidates)
        vs_history_times(scene->history, scene->summary->replay, scene->failure->account, sites,
                         candidates);
    for (size_t i = 0, next = 0; i < growth->site_count && *count < SITES_MAX; i++) {
        const struct vs_growth_row *row = &growth->sites[i];
        if (!is_tracked(scene, row, found, known) || sites[next++].times < VS_HISTORY_TIMES_MIN)
            continue;
        uint64_t times = row->births ? row->births : row->count;
        found[(*count)++] = (struct vs_history_growth){
            .site = row->site, .bytes = row->bytes, .held = row->bytes, .count = row->count,
            .times = times, .per_time = row->per_step ? row->per_step : row->bytes / (times + !times),
            .since_step = row->since_step, .since_ns = row->since_ns};
    }
    free(sites);
    return VS_OK;
}

static enum vs_err fill_growth(struct vs_oom *oom, struct vs_oom_scene *scene)
{
    struct vs_history_growth found[SITES_MAX];
    enum vs_err err;
    size_t count = vs_history_growing(scene->history, scene->summary->replay,
                                      scene->failure->account, found, SITES_MAX, &err);
    if (!err)
        err = add_tracked(scene, found, &count);
    count = err ? 0 : count;
    struct vs_report_site *items = vs_arena_alloc(&oom->memory, (count + 1) * sizeof *items);
    if (!err && !items)
        err = VS_ERR_NOMEM;
    oom->growing = (struct vs_report_sites){.items = items, .weight = 1};
    for (size_t i = 0; !err && i < count; i++)
        err = add_growing(oom, scene, items, &found[i]);
    uint64_t start = vs_replay_start_ns(scene->summary->replay);
    oom->growth_since_ns -= oom->growth_since_ns > start ? start : oom->growth_since_ns;
    oom->growing.total_bytes = oom->growth_bytes;
    for (size_t i = 0; i < count; i++)
        oom->growth_pins |= oom->cache.pin_site == found[i].site + 1;
    const struct vs_growth_steps *steps = &scene->growth->steps;
    if (steps->source == VS_STEPS_FOUND && steps->account == scene->failure->account) {
        oom->steps_found = steps->done;
        oom->steps_found_net = steps->net_bytes;
    }
    return err;
}

/* --- the exceptional allocation --- */

/* Whether *bytes* is larger than all that the program allocated in its steps, at its own call site
 * (*before*) and at any other (*others*). */
static bool stands_out(const struct vs_oom *oom, uint64_t bytes, uint64_t before, uint64_t others)
{
    if (bytes == 0 || before >= bytes / 2 || others >= bytes / 2)
        return false;
    return bytes / 4 > others || bytes > oom->total / 4;
}

/* Without marked steps, earlier allocations can be compared where memory is freed and allocated
 * again. */
static bool has_past(const struct vs_oom *oom)
{
    return oom->steps_done > 0 ||
           (oom->steps_begun == 0 && oom->live_peak > 0 && oom->freed_bytes / 2 >= oom->live_peak);
}

static enum vs_err fill_spike(struct vs_oom *oom, struct vs_oom_scene *scene)
{
    const struct vs_history *history = scene->history;
    const struct vs_replay *replay = scene->summary->replay;
    uint64_t others, peak = oom->steps_done ? oom->steps_peak : oom->live_peak;
    const struct vs_history_block *block = vs_history_unlike(
        history, replay, scene->failure->account, &others);
    oom->largest = others;
    if (oom->steps_done)
        others = oom->steps_largest;
    if (oom->total && has_past(oom) && peak + oom->outside <= oom->total / 100 * 98 &&
        stands_out(oom, oom->failure.requested, oom->request_before, others)) {
        oom->spike_is_request = true;
        oom->spike_bytes = oom->failure.requested;
        oom->spike_peak = peak;
        oom->spike_site = oom->failure.site;
        return VS_OK;
    }
    /* the program has run with as much as it would hold without the block */
    if (!block || oom->live - block->bytes + oom->failure.requested >
                      block->peak_before + block->peak_before / 50)
        return VS_OK;
    oom->spike_bytes = block->bytes;
    oom->spike_peak = block->peak_before;
    oom->spike_stack = history->sites[block->site].stack;
    return name_site(oom, scene, block->site, block->bytes, 1, &oom->spike_site);
}

/* --- cache --- */

enum vs_err vs_oom_cache_facts(struct vs_oom *oom, struct vs_oom_scene *scene)
{
    struct vs_census_request request = {
        oom->failure.requested,
        oom->failure.framework ? scene->framework_stream : scene->failure->stream,
        oom->failure.framework};
    enum vs_err err = vs_cache_census(scene->summary->replay, scene->history,
                                      scene->failure->account, &request, &oom->cache);
    const struct vs_cache_census *cache = &oom->cache;
    oom->has_framework = cache->framework;
    if (!err && cache->pin_site)
        err = name_site(oom, scene, cache->pin_site - 1, cache->scattered, 1, &oom->pin_site);
    if (!err && cache->withheld_site)
        err = name_site(oom, scene, cache->withheld_site - 1, cache->withheld, 1,
                        &oom->withheld_site);
    return err;
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

static enum vs_err fill_libraries(struct vs_oom *oom, struct vs_oom_scene *scene)
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
        return VS_OK;
    oom->library = vs_summary_copy(
        &oom->memory, library_of(scene, history->sites[most.site].stack, name, &framework));
    if (!oom->library)
        return VS_ERR_NOMEM;
    return name_site(oom, scene, most.site, most.bytes, 1, &oom->library_site);
}

/* What trimming the pools would return, and the site with most stream-ordered memory. */
static enum vs_err fill_pools(struct vs_oom *oom, struct vs_oom_scene *scene)
{
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
    return pool.bytes ? name_site(oom, scene, pool.site, pool.bytes, 1, &oom->pool_site) : VS_OK;
}

/* The site with most of the driver's rounding. */
static enum vs_err fill_rounding(struct vs_oom *oom, struct vs_oom_scene *scene)
{
    const struct vs_history *history = scene->history;
    struct heaviest rounded = {0};
    uint64_t *lost = calloc(history->site_count + 1, sizeof *lost);
    enum vs_err err = lost ? VS_OK : VS_ERR_NOMEM;
    for (size_t i = 0; !err && i < history->block_count; i++) {
        const struct vs_history_block *block = &history->blocks[i];
        if (block->used && history->sites[block->site].account == scene->failure->account)
            lost[block->site] += block->held - block->bytes;
    }
    for (size_t i = 0; !err && i < history->site_count; i++)
        weigh(&rounded, (uint32_t)i, lost[i]);
    free(lost);
    if (!err && rounded.bytes)
        err = name_site(oom, scene, rounded.site, rounded.bytes, 1, &oom->rounded_site);
    return err;
}

static void fill_contexts(struct vs_oom *oom)
{
    const struct vs_balance *b = &oom->balance;
    int64_t all = (int64_t)b->contexts + b->modules + b->limits;
    uint64_t one = b->context_count ? b->contexts / b->context_count : 0;
    if (one > USUAL_CONTEXT || (b->context_count == 1 && all > (int64_t)USUAL_CONTEXT))
        one = USUAL_CONTEXT;
    oom->context_excess = all > (int64_t)one ? (uint64_t)all - one : 0;
}

enum vs_err vs_oom_facts(struct vs_oom *oom, struct vs_oom_scene *scene)
{
    enum vs_err err = fill_libraries(oom, scene);
    if (!err)
        err = fill_growth(oom, scene);
    if (!err)
        err = fill_spike(oom, scene);
    if (!err)
        err = fill_rounding(oom, scene);
    if (!err)
        err = fill_pools(oom, scene);
    if (!err)
        err = vs_oom_rising_facts(oom, scene);
    fill_contexts(oom);
    return err;
}
