/* SPDX-License-Identifier: Apache-2.0
 *
 * What grows, for the post-mortem: the call sites that keep blocks older than any freed one of theirs
 * (block_history.c), and queues that become longer (the growth tracker). Their rates and first steps
 * are those that the report prints. */
#include "analysis/oom/oom_facts.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/report/growth_fill.h"
#include "analysis/state/user_level.h"
#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"

#define SITES_MAX VS_OOM_STACKS_MAX
#define SMALL_PART 8        /* of the growth */
#define GRAPH_PART 30       /* of all that was allocated: a graph is kept */
#define SMALL_BESIDE_SURE 3 /* beside a site that certainly grows */

/* How a site grows: as the report says it, where the tracker is sure as well; otherwise the mean over
 * the steps since its first block. */
static void fill_rate(const struct vs_oom_scene *scene, const struct vs_history_growth *found,
                      struct vs_report_site *out)
{
    const struct vs_growth_row *row = vs_growth_of(scene->growth, found->site);
    uint64_t since_ns = found->since_ns, steps = found->steps;
    out->growing = true;
    out->growth_bytes = found->bytes;
    out->growth_since = found->since_step;
    const struct vs_growth_steps *known = &scene->growth->steps;
    if (!steps && known->source == VS_STEPS_FOUND && known->account == scene->failure->account) {
        size_t rows = vs_steps_begun_by(known->items, known->count, since_ns);
        uint64_t before = rows ? (rows - 1) * known->stride : 0;
        out->growth_since = known->first_number + before;
        steps = known->done > before ? known->done - before : 0;
    }
    if (row && vs_growth_is_named(row) && row->since_step_known && row->per_step) {
        out->growth_in_steps = true;
        out->growth_per_step = row->per_step;
        out->growth_every = row->every;
        out->growth_since = row->since_step;
        out->growth_until = row->until_step;
        out->growth_confidence = row->confidence;
        out->growth_until_ns = vs_replay_since(scene->summary->replay, row->until_ns);
        since_ns = row->since_ns;
    } else if (steps) {
        out->growth_in_steps = true;
        out->growth_every = found->times + 1 >= steps && found->times <= steps + 1 ? 1 : 0;
        out->growth_per_step = out->growth_every ? found->per_time : found->bytes / steps;
    }
    out->growth_since_ns = vs_replay_since(scene->summary->replay, since_ns);
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
           vs_growth_is_named(row) && row->site < scene->history->site_count &&
           scene->history->sites[row->site].freed;
}

/* Growth of another kind than kept blocks: memory of a site that grows although each of its blocks is
 * freed one day, such as a queue that becomes longer. Found by the tracker alone, which also
 * follows sites that only build up their data: those without a free are left to the history. */
static void add_tracked(const struct vs_oom_scene *scene, struct vs_history_growth *found,
                        size_t *count)
{
    const struct vs_growth_result *growth = scene->growth;
    uint32_t *born = vs_history_times(scene->history, scene->summary->replay, scene->failure->account);
    size_t known = *count;
    for (size_t i = 0; i < growth->site_count && *count < SITES_MAX; i++) {
        const struct vs_growth_row *row = &growth->sites[i];
        if (!is_tracked(scene, row, found, known) || born[row->site] < VS_HISTORY_TIMES_MIN)
            continue;
        uint64_t times = row->births ? row->births : row->count;
        found[(*count)++] = (struct vs_history_growth){
            .site = row->site, .bytes = row->bytes, .held = row->bytes, .count = row->count,
            .times = times, .per_time = row->per_step ? row->per_step : row->bytes / (times + !times),
            .since_step = row->since_step, .since_ns = row->since_ns};
    }
    free(born);
}

static bool is_sure(const struct vs_oom_scene *scene, const struct vs_history_growth *found)
{
    const struct vs_growth_row *row = vs_growth_of(scene->growth, found->site);
    return row && vs_growth_is_named(row);
}

/* The innermost frame of *site* in the function of *frame*; frame_count: there is none. */
static size_t frame_in(const struct vs_report_site *site, const struct vs_report_frame *frame)
{
    size_t i = vs_user_frame(site, site->wrappers);
    while (i < site->frame_count && (strcmp(site->frames[i].function, frame->function) != 0 ||
                                     strcmp(site->frames[i].file ? site->frames[i].file : "",
                                            frame->file ? frame->file : "") != 0))
        i = vs_user_frame(site, i + 1);
    return i;
}

bool vs_oom_is_forward(const struct vs_report_frame *frame)
{
    size_t length = strlen(frame->function), tail = strlen("forward");
    return length >= tail && strcmp(frame->function + length - tail, "forward") == 0;
}

struct vs_report_site vs_oom_common_caller(const struct vs_report_sites *sites, bool last)
{
    const struct vs_report_site *first = sites->items;
    struct vs_report_site best = *first;
    for (size_t i = vs_user_frame(first, first->wrappers); i < first->frame_count && !first->line;
         i = vs_user_frame(first, i + 1)) {
        size_t k = 0, in = 0;
        if (vs_oom_is_forward(&first->frames[i]))
            continue; /* a module's: what calls the model is sought */
        best = (struct vs_report_site){0};
        for (; k < sites->count; k++) {
            const struct vs_report_site *site = &sites->items[k];
            size_t at = frame_in(site, &first->frames[i]);
            bool within = at < site->frame_count && !site->line;
            if (!within && site->bytes >= first->bytes / SMALL_PART)
                break;
            if (!within || (in++ && (!last || site->frames[at].line <= best.frames->line)))
                continue;
            best = *site;
            best.frames += at;
            best.frame_count -= at;
            best.wrappers = 0;
            best.through = NULL;
        }
        if (k == sites->count)
            return best;
    }
    return *first;
}

void vs_oom_growth_facts(struct vs_oom *oom, struct vs_oom_scene *scene)
{
    struct vs_history_growth found[SITES_MAX], since[SITES_MAX];
    const struct vs_replay *replay = scene->summary->replay;
    unsigned account = scene->failure->account;
    uint64_t each = 0, graph = 0, made = 0, repeats;
    bool passes;
    size_t count = vs_history_growing(scene->history, replay, account, found, SITES_MAX);
    if (oom->has_framework)
        vs_history_inputs(scene->history, replay, account);
    size_t others = vs_history_growing_since(scene->history, replay, account, since, SITES_MAX,
                                             &repeats, &passes);
    uint64_t all = 0, beside = 0;
    for (size_t i = 0; i < count; i++)
        all += found[i].held;
    for (size_t i = 0; i < others; i++)
        beside += since[i].held;
    bool inputs = oom->has_framework && scene->history->stretch[account][1].inputs;
    if (beside > all && (!inputs || beside > oom->step_bytes / 2)) { /* in a loop that marks no steps */
        memcpy(found, since, others * sizeof *found);
        count = others;
        oom->growth_repeats = repeats;
        oom->growth_passes = passes;
        oom->growth_inputs = inputs;
    }
    if (!oom->growth_repeats) {
        add_tracked(scene, found, &count);
        /* without small sites that the tracker does not hold for growing: a ring of buffers whose
         * pace changed may hold blocks that are older than any freed one */
        bool sure = count && is_sure(scene, &found[0]);
        uint64_t part = sure ? SMALL_BESIDE_SURE : SMALL_PART;
        size_t kept = 0;
        all = 0;
        for (size_t i = 0; i < count; i++)
            all += found[i].held;
        for (size_t i = 0; i < count; i++)
            if (found[i].held >= all / part || is_sure(scene, &found[i]))
                found[kept++] = found[i];
        count = kept;
    }
    struct vs_report_site *items = vs_xarena(&oom->memory, (count + 1) * sizeof *items);
    oom->growing = (struct vs_report_sites){.items = items, .weight = 1};
    for (size_t i = 0; i < count; i++) {
        struct vs_report_site one =
            vs_oom_name_site(oom, scene, found[i].site, found[i].bytes, found[i].count), *same;
        fill_rate(scene, &found[i], &one);
        same = vs_oom_merge_site(&oom->growing, items, &one);
        if (same) {
            same->allocs += one.allocs;
            same->frees += one.frees;
            vs_growth_merge(same, &one);
        }
        oom->growth_stacks.stack[oom->growth_stacks.count++] =
            scene->history->sites[found[i].site].stack;
        oom->growth_bytes += found[i].held;
        oom->growth_count += found[i].count;
        oom->growth_each += found[i].per_time;
        if (found[i].times > oom->growth_times)
            oom->growth_times = found[i].times;
    }
    /* the sums of the growing sites, most bytes first */
    bool in_steps = oom->growing.count > 0;
    uint64_t every = 0;
    VS_SORT(items, oom->growing.count, VS_DOWN(growth_bytes));
    for (size_t i = 0; i < oom->growing.count; i++) {
        const struct vs_report_site *site = &items[i];
        in_steps &= site->growth_in_steps;
        every = i && site->growth_every != every ? 0 : site->growth_every;
        oom->growth_per_step += site->growth_per_step;
        if (i == 0 || site->growth_since_ns < oom->growth_since_ns) {
            oom->growth_since_ns = site->growth_since_ns;
            oom->growth_since = site->growth_since;
        }
    }
    if (!in_steps)
        oom->growth_per_step = 0;
    oom->growth_every = oom->growing.count == 1 || every == 1 ? every : 0;
    oom->growing.total_bytes = oom->growth_bytes;
    for (size_t i = 0; oom->growth_repeats && i < oom->growing.count; i++)
        items[i].growth_in_steps = false;
    if (oom->growth_repeats) {
        /* the latest is not complete; with several blocks of a site in each, times are more */
        oom->growth_repeats = oom->growth_times <= oom->growth_repeats ? oom->growth_times
                                                                       : oom->growth_repeats - 1;
        for (size_t i = 0; i < oom->growing.count; i++)
            each += items[i].growth_bytes;
        oom->growth_each = each / oom->growth_repeats;
        oom->growth_per_step = 0;
    }
    for (size_t i = 0; i < count; i++)
        oom->growth_pins |= oom->cache.pin_site == found[i].site + 1;
    const struct vs_growth_steps *steps = &scene->growth->steps;
    if (steps->source == VS_STEPS_FOUND && steps->account == account)
        oom->steps_found = steps->done;
    const struct vs_live *live;
    for (size_t at = 0; (live = vs_user_live_next(replay, account, &at)) != NULL;)
        for (size_t i = 0; live->kind == VS_KIND_ACTIVATIONS && i < count; i++)
            graph += live->site == found[i].site ? live->size : 0;
    /* outputs that an evaluation keeps are made as activations are: of those that were made few stay */
    for (size_t i = 0; i < replay->sites.count; i++) {
        const struct vs_site *site = &replay->sites.items[i];
        bool counts = site->device == account && vs_user_has_site(replay, site);
        made += counts && !(oom->growth_repeats && site->largest_before_step) ? site->bytes : 0;
    }
    oom->growth_forward = !oom->kinds_total || graph > oom->growth_bytes / 2;
    oom->growth_graph = graph > oom->growth_bytes / 2 &&
                        (oom->growth_passes || graph > made / GRAPH_PART);
    if (oom->growth_graph && oom->growth_repeats && !passes)
        oom->growth_keeper = vs_oom_common_caller(&oom->growing, true);
}
