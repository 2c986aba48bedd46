/* SPDX-License-Identifier: Apache-2.0
 *
 * With a framework the call sites are those of its tensors and of the memory outside
 * of its allocator (user_level.h); those of its segments are not to blame. */
#include "analysis/oom/oom_facts.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/naming/library.h"
#include "analysis/oom/verdict.h"
#include "analysis/report/balance_build.h"
#include "analysis/report/site_text.h"
#include "analysis/state/driver_pages.h"
#include "analysis/state/user_level.h"
#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"

#define USUAL_CONTEXT (UINT64_C(640) << 20) /* of a current GPU, with the usual libraries */

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

struct vs_report_site *vs_oom_merge_site(struct vs_report_sites *list, struct vs_report_site *items,
                                         const struct vs_report_site *site)
{
    for (size_t i = 0; i < list->count; i++) {
        if (!vs_oom_same_site(&items[i], site))
            continue;
        items[i].bytes += site->bytes;
        items[i].count += site->count;
        return &items[i];
    }
    items[list->count++] = *site;
    return NULL;
}

/* --- cached memory ---
 *
 * The segments of a framework are the device memory that holds its blocks, also
 * where it is mapped (expandable segments); their stream is that of their blocks. It does not report
 * its private pools (torch.cuda.MemPool, CUDA graphs), but it never asks the device while a usable
 * piece is large enough, and it frees unused segments before it reports a failure, though not for a
 * request to the device by others. Blocks of up to 1 MiB have segments of their own, of 2 MiB. */

#define SMALL_BLOCK (UINT64_C(1) << 20)
#define SMALL_SEGMENT (UINT64_C(2) << 20)
#define LARGE_SEGMENT (UINT64_C(10) << 20) /* of other blocks, at least */
#define MAPPED_UNIT (UINT64_C(20) << 20)   /* expandable segments are unmapped in such units */

struct census_extent {
    uint64_t addr, size, stream;
    uint32_t site;
    bool mapped;
};

struct census_list {
    struct census_extent *items;
    size_t count, capacity;
};

/* A count in progress. */
struct census {
    uint64_t request, request_stream; /* the stream: 0: none, or unknown; of a framework's request its number */
    bool comparable; /* the request was one to the allocator that has the segments */
    struct census_list segments, blocks;
    uint64_t *beside, *withheld; /* by site: free bytes beside its live blocks */
    struct vs_cache_census *out;
};

/* Whether *segment*, which holds a block of *largest* bytes, is certainly of the other class: PyTorch
 * serves requests of up to 1 MiB from segments of their own. */
static bool other_class(const struct census *c, const struct census_extent *segment,
                        uint64_t largest)
{
    if (c->request > SMALL_BLOCK)
        return segment->size == SMALL_SEGMENT;
    return largest > SMALL_BLOCK || segment->size >= LARGE_SEGMENT;
}

/* Unused memory of *segment* that PyTorch could return to the device. */
static void count_unreleased(struct census *c, const struct census_extent *segment, uint64_t bytes)
{
    c->out->unreleased += bytes;
    c->withheld[segment->site] += bytes;
}

static void count_piece(struct census *c, const struct census_extent *segment, uint64_t at,
                        uint64_t end, uint64_t largest, const struct census_extent *before,
                        const struct census_extent *after)
{
    struct vs_cache_census *out = c->out;
    uint64_t bytes = end - at;
    if (!c->comparable && segment->mapped) {
        uint64_t first = (at - segment->addr + MAPPED_UNIT - 1) / MAPPED_UNIT;
        uint64_t last = (end - segment->addr) / MAPPED_UNIT;
        uint64_t whole = last > first ? (last - first) * MAPPED_UNIT : 0;
        count_unreleased(c, segment, whole);
        bytes -= whole;
    }
    bool other = c->comparable && segment->stream != c->request_stream;
    bool enough = bytes >= c->request;
    bool fits = out->framework &&
         (segment->size == SMALL_SEGMENT) == (c->request <= SMALL_BLOCK); /* it serves the
                                                                           * request from such */
    bool withheld = c->comparable && (other || enough);
    uint64_t *sums = withheld ? c->withheld : c->beside;
    if (!bytes)
        return;
    if (enough && !other && out->framework && c->comparable && other_class(c, segment, largest)) {
        out->other_class += bytes;
        return;
    }
    if (before)
        sums[before->site] += bytes;
    if (after)
        sums[after->site] += bytes;
    if (withheld) {
        out->withheld += bytes;
        out->other_streams += other ? bytes : 0;
        out->private_pools += !other && fits ? bytes : 0;
        out->withheld_largest = bytes > out->withheld_largest ? bytes : out->withheld_largest;
    } else {
        out->scattered += bytes;
        out->pieces++;
        out->largest = bytes > out->largest ? bytes : out->largest;
    }
}

static void count_segment(struct census *c, struct census_extent *segment, size_t *at)
{
    uint64_t cursor = segment->addr, end = segment->addr + segment->size;
    uint64_t largest = 0; /* live block */
    for (size_t i = *at; i < c->blocks.count && c->blocks.items[i].addr < end; i++)
        largest = c->blocks.items[i].size > largest ? c->blocks.items[i].size : largest;
    if (c->out->framework && *at < c->blocks.count && c->blocks.items[*at].addr < end)
        segment->stream = c->blocks.items[*at].stream; /* all blocks of a segment have the same */
    const struct census_extent *before = NULL;
    c->out->segments++;
    c->out->segment_bytes += segment->size;
    for (; *at < c->blocks.count && c->blocks.items[*at].addr < end; ++*at) {
        const struct census_extent *block = &c->blocks.items[*at];
        if (block->addr > cursor)
            count_piece(c, segment, cursor, block->addr, largest, before, block);
        c->out->used_bytes += block->size;
        if (block->addr + block->size > cursor)
            cursor = block->addr + block->size;
        before = block;
    }
    if (!before && !c->out->framework)
        return; /* the allocator can free it */
    if (!before && !c->comparable) {
        count_unreleased(c, segment, segment->size);
    } else if (!before) {
        c->out->withheld += segment->size;
        c->out->private_pools += segment->size;
        if (segment->size > c->out->withheld_largest)
            c->out->withheld_largest = segment->size;
        c->withheld[segment->site] += segment->size;
    } else if (cursor < end) {
        count_piece(c, segment, cursor, end, largest, before, NULL);
    }
}

/* The site with the highest of *sums*, + 1; 0: all are 0. */
static uint32_t highest(const uint64_t *sums, size_t count)
{
    uint64_t most = 0;
    uint32_t site = 0;
    for (size_t i = 0; i < count; i++)
        if (sums[i] > most) {
            most = sums[i];
            site = (uint32_t)i + 1;
        }
    return site;
}

bool vs_oom_pool_is_fixed(const struct vs_oom_scene *scene)
{
    return strcmp(vs_reader_string(scene->summary->replay->reader, scene->failure->api), "TensorFlow") == 0;
}

void vs_oom_cache_facts(struct vs_oom *oom, struct vs_oom_scene *scene)
{
    const struct vs_replay *replay = scene->summary->replay;
    struct vs_cache_census *out = &oom->cache;
    size_t sites = scene->history->site_count, at = 0;
    bool framework = oom->has_framework;
    *out = (struct vs_cache_census){.framework = framework};
    struct census c = {
        .out = out, .request = oom->failure.requested,
        .request_stream = oom->failure.framework ? scene->framework_stream : scene->failure->stream,
        .comparable = framework == (oom->failure.framework || vs_oom_pool_is_fixed(scene)),
        .beside = vs_xcalloc(sites + 1, sizeof *c.beside),
        .withheld = vs_xcalloc(sites + 1, sizeof *c.withheld)};
    const struct vs_history *history = scene->history;
    unsigned account = scene->failure->account;
    for (size_t i = 0; i < history->block_count; i++) { /* the live blocks of the allocator's
                                                         * level */
        const struct vs_history_block *block = &history->blocks[i];
        const struct vs_history_site *site = block->used ? &history->sites[block->site] : NULL;
        if (site && site->account == account && block->family == VS_FAMILY_DEVICE &&
            site->framework == framework)
            VS_VEC_ADD(c.blocks.items, c.blocks.count, c.blocks.capacity,
                       (struct census_extent){block->addr, block->bytes, block->stream,
                                              block->site, false});
    }
    struct vs_user_segment *list = NULL;
    size_t count = 0;
    if (framework)
        vs_user_segments(replay, account, &list, &count);
    for (size_t i = 0; i < count; i++)
        VS_VEC_ADD(c.segments.items, c.segments.count, c.segments.capacity,
                   (struct census_extent){list[i].addr, list[i].size, 0, list[i].site, list[i].mapped});
    free(list);
    for (size_t i = 0; !framework && i < replay->segments.count; i++) {
        const struct vs_replay_segment *s = &replay->segments.items[i];
        if (s->device == account && !s->view)
            VS_VEC_ADD(c.segments.items, c.segments.count, c.segments.capacity,
                       (struct census_extent){s->addr, s->size, s->stream, 0, false});
    }
    vs_vec_sort(c.segments.items, c.segments.count, sizeof *c.segments.items, vs_order_u64); /* by address */
    vs_vec_sort(c.blocks.items, c.blocks.count, sizeof *c.blocks.items, vs_order_u64);
    for (size_t i = 0; i < c.segments.count; i++) {
        while (at < c.blocks.count && c.blocks.items[at].addr < c.segments.items[i].addr)
            at++; /* not in a segment */
        count_segment(&c, &c.segments.items[i], &at);
    }
    out->pin_site = highest(c.beside, sites);
    out->withheld_site = highest(c.withheld, sites);
    free(c.beside);
    free(c.withheld);
    free(c.segments.items);
    free(c.blocks.items);
    char name[VS_LIBRARY_NAME_MAX];
    const char *requester = oom->failure.overhead ? "the driver" /* for a module, a launch */
        : vs_summary_library(scene->summary, scene->failure->stack, name, NULL);
    oom->requester = vs_text_copy(&oom->memory, requester);
    if (out->pin_site)
        oom->pin_site = vs_oom_name_site(oom, scene, out->pin_site - 1, out->scattered, 1);
    if (out->withheld_site)
        oom->withheld_site = vs_oom_name_site(oom, scene, out->withheld_site - 1,
                                              out->withheld + out->unreleased, 1);
    oom->withheld_live = out->withheld_site &&
                         (!framework || scene->history->sites[out->withheld_site - 1].framework);
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

/* Memory of the device that belongs neither to the framework nor, where there is none, to the
 * program. Another executable than the recorded one (a script's interpreter) is the program as
 * well; shared objects have ".so" in their name, and those with a common name capitals. */
static void fill_libraries(struct vs_oom *oom, struct vs_oom_scene *scene)
{
    const struct vs_sites *sites = &scene->summary->replay->sites;
    const struct vs_history *history = scene->history;
    struct vs_site_libraries set = {0};
    struct heaviest most = {0};
    oom->library = "";
    for (uint32_t i = 0; i < history->site_count; i++) {
        const struct vs_history_site *site = &history->sites[i];
        if (!site->live_bytes || site->framework || site->account != scene->failure->account)
            continue;
        size_t at = oom->has_framework ? 0 : vs_site_library(scene->summary, &set, i);
        bool outside = oom->has_framework ? vs_user_has_site(scene->summary->replay,
                                                             &sites->items[i])
                                          : !set.items[at].framework &&
                                                (strstr(set.items[at].name, ".so") ||
                                                 strpbrk(set.items[at].name,
                                                         "ABCDEFGHIJKLMNOPQRSTUVWXYZ"));
        if (!outside)
            continue;
        oom->library_bytes += site->live_bytes;
        weigh(&most, i, site->live_bytes);
    }
    if (most.bytes) {
        size_t at = vs_site_library(scene->summary, &set, most.site);
        oom->library = set.items[at].name;
        oom->library_site = vs_oom_name_site(oom, scene, most.site, most.bytes, 1);
    }
    free(set.items);
    free(set.of_site);
}

/* --- which call took the memory of contexts, modules and limits: the overheads at the failure, by the
 * stack that each was recorded with. The first context of a device is the usual one and nobody's
 * fault. Traces of earlier versions have no stacks: then no call site is known. --- */

#define OVERHEADS_MAX 4096 /* more are not followed */

void vs_oom_overhead_event(struct vs_oom_overheads *list, const struct vs_event *event)
{
    if (event->kind == VS_EVENT_context && !event->context.alive) {
        size_t kept = 0;
        for (size_t i = 0; i < list->count; i++)
            if (list->items[i].context != event->context.context)
                list->items[kept++] = list->items[i];
        list->count = kept;
    }
    if (event->kind != VS_EVENT_overhead || list->count == OVERHEADS_MAX)
        return;
    const struct vs_event_overhead *e = &event->overhead;
    VS_VEC_ADD(list->items, list->count, list->capacity,
               (struct vs_oom_overhead){e->device, e->context, e->what, e->stack,
                                        (int64_t)e->bytes});
}

static void overhead_facts(struct vs_oom *oom, const struct vs_oom_scene *scene)
{
    const struct vs_oom_overheads *list = &scene->overheads;
    int64_t most = 0;
    uint64_t stack = 0;
    for (size_t i = 0; i < list->count; i++) {
        /* Bytes that the calls at this stack took on the device, and how many contexts, without
         * its first. */
        uint64_t contexts = 0, at = list->items[i].stack;
        int64_t bytes = 0;
        bool first = true;
        for (size_t k = 0; at && at != stack && k < list->count; k++) {
            const struct vs_oom_overhead *one = &list->items[k];
            bool context = one->what == VS_OVERHEAD_CONTEXT;
            if (one->device != oom->failure.device)
                continue;
            if (!(context && first) && one->stack == at) {
                bytes += one->bytes;
                contexts += context;
            }
            first &= !context;
        }
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

/* --- requests that become larger, up to the failure: at the failing call, or else the call whose requests
 * grew most. PyTorch's allocator reports a refused request from another place than one that it
 * serves, so that its stack has other inner frames; and of a request for up to 10 MiB it reports the
 * segment that it asked for. --- */

#define MIB (UINT64_C(1) << 20)

static void rising_facts(struct vs_oom *oom, const struct vs_oom_scene *scene)
{
    const struct vs_replay *replay = scene->summary->replay;
    const struct vs_failure *failure = scene->failure;
    uint64_t request = oom->failure.requested, most = 0;
    size_t failed = 0;       /* the failing site */
    size_t found = SIZE_MAX; /* the site of live blocks whose requests grew most, by at least the
                              * missing bytes */
    /* whether PyTorch's segments for smaller requests have the size of the request */
    bool segment = oom->failure.framework && (request == 2 * MIB || request == 20 * MIB);
    for (size_t i = 0; i < scene->history->site_count; i++) {
        const struct vs_history_site *site = &scene->history->sites[i];
        if (!site->allocs || site->account != scene->failure->account)
            continue;
        uint64_t first = segment ? 0 : vs_history_rising(site, request);
        const struct vs_site *row = &replay->sites.items[i];
        bool failing = site->framework == failure->framework &&
                       (failure->framework || site->stack || site->api == failure->api) &&
                       (!row->by_mark || row->mark == failure->mark);
        if (first && (!oom->request_first || first < oom->request_first) && failing &&
            vs_library_same_caller(replay->reader, site->stack, failure->stack)) {
            oom->request_first = first;
            failed = i;
        }
        first = vs_history_rising(site, site->last);
        if (!first || site->live_bytes < site->last || site->last - first < oom->missing ||
            site->last - first <= most || !vs_user_has_site(replay, row))
            continue;
        most = site->last - first;
        found = i;
    }
    if (oom->request_first) {
        oom->rising_last = request;
        oom->rising_site = oom->failure.site;
    } else if (found != SIZE_MAX) {
        const struct vs_history_site *site = &scene->history->sites[found];
        oom->request_first = site->first;
        oom->rising_last = site->last;
        oom->rising_site = vs_oom_name_site(oom, scene, (uint32_t)found, site->live_bytes, 1);
    }
    /* In a loop that no step contains the buffer collects the results of its repetitions. */
    const struct vs_history_site *site = &scene->history->sites[failed];
    if (!oom->request_first || oom->rising_site.frames != oom->failure.site.frames ||
        !oom->steps_done || site->live_bytes <= oom->growth_bytes ||
        replay->sites.items[failed].largest_before_step)
        return;
    struct vs_report_site *one = vs_xarena(&oom->memory, sizeof *one);
    *one = vs_oom_name_site(oom, scene, (uint32_t)failed, site->live_bytes, 1);
    one->growing = true;
    one->growth_bytes = oom->growth_bytes = site->live_bytes;
    oom->growing = (struct vs_report_sites){
        .items = one, .count = 1, .total_bytes = site->live_bytes, .weight = 1};
    oom->growth_stacks.count = 0; /* a replay without the buffer would say nothing */
    oom->growth_replaced = oom->growth_pins = true;
    oom->growth_count = 1;
    oom->growth_times = oom->growth_repeats = site->repeats; /* and the failed one, without the first */
    oom->growth_each = (request - site->first) / oom->growth_repeats;
    oom->growth_per_step = 0;
}

/* The next live block of the step in progress that is larger than any of its call site in the
 * completed steps: *usual*. */
static const struct vs_live *next_larger(const struct vs_oom_scene *scene, size_t *at,
                                         uint64_t *usual)
{
    const struct vs_replay *replay = scene->summary->replay;
    const struct vs_live *live;
    while ((live = vs_user_live_next(replay, scene->failure->account, at)) != NULL) {
        *usual = replay->sites.items[live->site].largest_before_step;
        if (live->epoch == vs_replay_epoch(replay) && *usual && live->size > *usual)
            return live;
    }
    return NULL;
}

static void larger_facts(struct vs_oom *oom, const struct vs_oom_scene *scene)
{
    const struct vs_live *live, *first = NULL;
    uint64_t usual;
    if (!oom->in_step || !oom->steps_done)
        return;
    for (size_t at = 0; (live = next_larger(scene, &at, &usual)) != NULL;) {
        oom->larger_count++;
        oom->larger_bytes += live->size;
        oom->larger_beyond += live->size - usual;
    }
    if (oom->request_before && oom->failure.requested > oom->request_before) {
        oom->larger_count++;
        oom->larger_bytes += oom->failure.requested;
        oom->larger_beyond += oom->failure.requested - oom->request_before;
    }
    double part = oom->larger_bytes ? (double)oom->larger_beyond / (double)oom->larger_bytes : 0;
    for (size_t at = 0; (live = next_larger(scene, &at, &usual)) != NULL;)
        if ((double)(live->size - usual) >= (double)live->size * part / 2 &&
            (!first || live->event < first->event)) {
            first = live;
            oom->larger_first = live->size;
            oom->larger_usual = usual;
        }
    if (first)
        oom->larger_site = vs_oom_name_site(oom, scene, first->site, first->size, 1);
}

#define OTHER_PART 10 /* of new lines: so much may be live of known ones, and of activations where no
                       * backward pass is to come */

static void after_facts(struct vs_oom *oom, const struct vs_oom_scene *scene)
{
    const struct vs_replay *replay = scene->summary->replay;
    const struct vs_history *history = scene->history;
    const struct vs_failure *failure = scene->failure;
    const struct vs_history_stretch *stretch = &history->stretch[failure->account][oom->has_framework];
    uint64_t epoch = vs_replay_epoch(replay);
    oom->new_line = oom->steps_done && !oom->request_before;
    for (size_t i = 0; i < history->site_count && oom->new_line; i++) {
        const struct vs_site *row = &replay->sites.items[i];
        if (history->sites[i].account == failure->account && row->largest_before_step &&
            vs_user_has_site(replay, row) && (!row->by_mark || row->mark == failure->mark) &&
            vs_library_same_caller(replay->reader, row->stack, failure->stack))
            oom->new_line = false;
    }
    /* with a backward pass it is a step of another loop; a single spike says more, and so do unused
     * segments that PyTorch could have returned to a library's request */
    bool unused = oom->missing && oom->cache.unreleased >= oom->missing;
    if (!oom->new_line || (stretch->epoch == epoch && stretch->passes) || oom->spike_count == 1 || unused)
        return;
    struct vs_oom_part *parts = vs_xcalloc(history->site_count + 1, sizeof *parts);
    uint64_t known = 0, all = 0, graph = 0, copies = 0;
    const struct vs_live *live;
    for (size_t at = 0; (live = vs_user_live_next(replay, failure->account, &at)) != NULL;) {
        if (live->epoch != epoch || live->site >= history->site_count)
            continue;
        if (replay->sites.items[live->site].largest_before_step) {
            known += live->size;
            continue;
        }
        struct vs_oom_part *part = &parts[live->site];
        *part = (struct vs_oom_part){part->bytes + live->size, part->count + 1, live->site};
        all += live->size;
        graph += live->kind == VS_KIND_ACTIVATIONS ? live->size : 0;
        copies += live->kind == VS_KIND_PARAMETERS ? live->size : 0;
    }
    all += oom->failure.requested;
    bool grows = oom->growth_repeats && oom->growth_bytes > all / 2; /* which says more */
    bool forward = false; /* copies may be taken for activations, but no module makes them */
    for (size_t i = 0; i < history->site_count; i++) {
        struct vs_report_site site = {0};
        if (parts[i].count)
            site = vs_oom_name_site(oom, scene, (uint32_t)i, parts[i].bytes, parts[i].count);
        for (size_t k = 0; k < site.frame_count; k++)
            forward |= vs_oom_is_forward(&site.frames[k]);
    }
    if (known <= all / OTHER_PART && !grows) { /* an average of weights is updated after the
                                                * optimizer's step */
        vs_oom_list_sites(oom, scene, parts, all > oom->failure.requested ? NULL : &oom->failure.site,
                          &oom->after_sites);
        oom->after_caller = vs_oom_common_caller(&oom->after_sites, false);
        oom->after_bytes = all;
        oom->after_copies = copies;
        oom->after_graph = forward && graph > all / OTHER_PART ? graph : 0;
        if (!oom->after_graph) { /* otherwise it may be the forward pass of another step */
            oom->in_step = false;
            oom->failure.place = "";
        }
    }
    free(parts);
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
    rising_facts(oom, scene);
    larger_facts(oom, scene);
    after_facts(oom, scene);
    overhead_facts(oom, scene);
    int64_t all = (int64_t)b->contexts + b->modules + b->limits;
    uint64_t one = b->context_count ? b->contexts / b->context_count : 0;
    if (b->context_count == 1 && b->modules > 0) /* the program's code, up to what is usual, is no excess */
        one += (uint64_t)b->modules;
    if (one > USUAL_CONTEXT)
        one = USUAL_CONTEXT;
    oom->context_excess = all > (int64_t)one ? (uint64_t)all - one : 0;
}
