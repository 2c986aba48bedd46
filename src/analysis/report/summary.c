/* SPDX-License-Identifier: Apache-2.0
 *
 * Site lists; see the header. Symbols are looked up only for the heaviest stacks, which are merged
 * where their text is the same and then shown. */
#include "analysis/report/summary.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/naming/name_text.h"
#include "analysis/naming/naming.h"
#include "analysis/report/growth_fill.h"
#include "analysis/state/vec.h"

#define SITES_DEFAULT 50
#define API_TEXT_MAX 128

const char *vs_summary_copy(struct vs_arena *memory, const char *text)
{
    return vs_text_copy(memory, text);
}

struct summary_candidate {
    uint64_t bytes, count;
    uint32_t site;
};

static int heavier(const void *a, const void *b)
{
    const struct summary_candidate *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return x->site < y->site ? -1 : x->site > y->site;
}

static int heavier_site(const void *a, const void *b)
{
    const struct vs_report_site *x = a, *y = b;
    return x->bytes < y->bytes ? 1 : x->bytes > y->bytes ? -1 : 0;
}

static enum vs_err gather(const struct vs_summary *summary, unsigned account,
                          enum vs_summary_kind kind, struct summary_candidate **out, size_t *out_count)
{
    const struct vs_sites *sites = &summary->replay->sites;
    uint64_t weight = vs_recording_weight(&summary->replay->recording);
    struct summary_candidate *list = NULL;
    size_t count = 0, capacity = 0;
    for (size_t i = 0; i < sites->count; i++) {
        const struct vs_site *site = &sites->items[i];
        struct summary_candidate one = {.bytes = site->live_bytes, .count = site->live_count,
                                .site = (uint32_t)i};
        if (kind == VS_SITES_LEFT) {
            one.bytes += site->lost_bytes;
            one.count += site->lost_count;
        }
        if (kind == VS_SITES_GROWING || kind == VS_SITES_FILLED)
            one.bytes = vs_growth_listed(summary, (uint32_t)i, kind == VS_SITES_FILLED);
        if (site->device != account || one.bytes == 0)
            continue;
        one.bytes *= weight;
        one.count *= weight;
        enum vs_err err = vs_vec_grow(&list, &capacity, count + 1, sizeof *list);
        if (err) {
            free(list);
            return err;
        }
        list[count++] = one;
    }
    if (count)
        qsort(list, count, sizeof *list, heavier);
    *out = list;
    *out_count = count;
    return VS_OK;
}

/* --- wrappers --- */

#define STACKS_LOOKED_AT 200
#define WRAPPER_SITES_MIN 4
#define WRAPPER_CALLERS_MIN 3

struct short_chain {
    const char *functions[VS_WRAPPERS_MAX + 1];
    size_t count;
};

static int more_allocated(const void *a, const void *b)
{
    const struct summary_candidate *x = a, *y = b;
    return x->bytes < y->bytes ? 1 : x->bytes > y->bytes ? -1 : 0;
}

/* Whether *name*, at *level*, is shared by four in five chains and called from several functions.
 * Those of *chains* where it is not are dropped from further levels. */
static bool is_wrapper(struct short_chain *chains, size_t count, size_t level, const char *name)
{
    const char *callers[WRAPPER_CALLERS_MIN];
    size_t shared = 0, caller_count = 0;
    for (size_t i = 0; i < count; i++) {
        const struct short_chain *c = &chains[i];
        if (c->count < level + 2 || strcmp(c->functions[level], name) != 0)
            continue;
        shared++;
        size_t k = 0;
        while (k < caller_count && strcmp(callers[k], c->functions[level + 1]) != 0)
            k++;
        if (k == caller_count && caller_count < WRAPPER_CALLERS_MIN)
            callers[caller_count++] = c->functions[level + 1];
    }
    return count >= WRAPPER_SITES_MIN && shared * 5 >= count * 4 &&
           caller_count == WRAPPER_CALLERS_MIN;
}

static void find_wrappers(struct short_chain *chains, size_t count, struct vs_wrappers *out)
{
    for (size_t level = 0; level < VS_WRAPPERS_MAX; level++) {
        const char *name = NULL;
        for (size_t i = 0; i < count && !name; i++)
            if (chains[i].count > level && strlen(chains[i].functions[level]) < VS_WRAPPER_NAME_MAX &&
                is_wrapper(chains, count, level, chains[i].functions[level]))
                name = chains[i].functions[level];
        if (!name)
            return;
        strcpy(out->names[out->count++], name);
        size_t kept = 0;
        for (size_t i = 0; i < count; i++)
            if (chains[i].count > level && strcmp(chains[i].functions[level], name) == 0)
                chains[kept++] = chains[i];
        count = kept;
    }
}

enum vs_err vs_summary_wrappers(const struct vs_summary *summary, struct vs_wrappers *out)
{
    const struct vs_sites *sites = &summary->replay->sites;
    *out = (struct vs_wrappers){.count = 0};
    struct summary_candidate *list = calloc(sites->count + 1, sizeof *list);
    struct short_chain *chains = calloc(STACKS_LOOKED_AT, sizeof *chains);
    size_t count = 0, named = 0;
    enum vs_err err = list && chains ? VS_OK : VS_ERR_NOMEM;
    for (size_t i = 0; !err && i < sites->count; i++)
        if (sites->items[i].stack)
            list[count++] = (struct summary_candidate){.bytes = sites->items[i].bytes, .site = (uint32_t)i};
    if (!err)
        qsort(list, count, sizeof *list, more_allocated);
    for (size_t i = 0; !err && i < count && i < STACKS_LOOKED_AT; i++) {
        struct vs_chain_frame all[VS_CHAIN_MAX], *frames;
        size_t n = vs_naming_chain(summary->replay->reader, summary->symbols,
                                   sites->items[list[i].site].stack, all, VS_CHAIN_MAX);
        size_t lead = vs_naming_lead(all, n);
        frames = all + lead;
        n = n - lead < VS_WRAPPERS_MAX + 1 ? n - lead : VS_WRAPPERS_MAX + 1;
        if (n == 0)
            continue;
        for (size_t k = 0; k < n; k++)
            chains[named].functions[k] = frames[k].function;
        chains[named++].count = n;
    }
    if (!err)
        find_wrappers(chains, named, out);
    free(list);
    free(chains);
    return err;
}

static const char *copy_or_null(struct vs_arena *memory, const char *text, bool *failed)
{
    if (!text)
        return NULL;
    const char *copy = vs_summary_copy(memory, text);
    *failed |= !copy;
    return copy;
}

enum vs_err vs_summary_frames(const struct vs_summary *summary, uint64_t stack,
                              struct vs_report_site *site)
{
    struct vs_chain_frame chain[VS_CHAIN_MAX];
    size_t count = 0;
    if (stack)
        count = vs_naming_chain(summary->replay->reader, summary->symbols, stack, chain,
                                VS_CHAIN_MAX);
    site->frames = NULL;
    site->frame_count = 0;
    site->wrappers = 0;
    if (count == 0)
        return VS_OK;
    struct vs_report_frame *frames = vs_arena_alloc(summary->memory, count * sizeof *frames);
    if (!frames)
        return VS_ERR_NOMEM;
    bool failed = false;
    for (size_t i = 0; i < count; i++)
        frames[i] = (struct vs_report_frame){
            .function = copy_or_null(summary->memory, chain[i].function, &failed),
            .file = copy_or_null(summary->memory, chain[i].file, &failed),
            .module = copy_or_null(summary->memory, chain[i].module, &failed),
            .line = chain[i].line, .inlined = chain[i].inlined, .known = chain[i].known};
    if (failed)
        return VS_ERR_NOMEM;
    site->frames = frames;
    site->frame_count = count;
    const struct vs_wrappers *wrappers = summary->wrappers;
    size_t lead = site->wrappers = vs_naming_lead(chain, count);
    while (wrappers && site->wrappers - lead < wrappers->count && site->wrappers + 1 < count &&
           strcmp(frames[site->wrappers].function, wrappers->names[site->wrappers - lead]) == 0)
        site->wrappers++;
    return VS_OK;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool reads_the_same(const struct vs_report_site *a, const struct vs_report_site *b)
{
    if (a->frame_count != b->frame_count || a->family != b->family)
        return false;
    if (a->frame_count == 0)
        return same_text(a->api, b->api);
    for (size_t i = 0; i < a->frame_count; i++) {
        const struct vs_report_frame *x = &a->frames[i], *y = &b->frames[i];
        if (x->line != y->line || !same_text(x->function, y->function) ||
            !same_text(x->file, y->file))
            return false;
    }
    return true;
}

static void merge(struct vs_report_site *into, const struct vs_report_site *from)
{
    uint64_t frees = into->frees + from->frees;
    if (frees)
        into->lifetime_mean_ns = (uint64_t)(((double)into->lifetime_mean_ns * (double)into->frees +
                                             (double)from->lifetime_mean_ns * (double)from->frees) /
                                            (double)frees);
    into->bytes += from->bytes;
    into->count += from->count;
    into->allocs += from->allocs;
    into->frees = frees;
    into->alloc_bytes += from->alloc_bytes;
    into->temporaries += from->temporaries;
    if (from->largest > into->largest)
        into->largest = from->largest;
    vs_growth_merge(into, from);
}

static enum vs_err name_site(const struct vs_summary *summary, const struct summary_candidate *one,
                             struct vs_report_site *out)
{
    const struct vs_replay *replay = summary->replay;
    const struct vs_site *site = &replay->sites.items[one->site];
    uint64_t weight = vs_recording_weight(&replay->recording);
    *out = (struct vs_report_site){
        .family = site->family, .bytes = one->bytes, .count = one->count,
        .allocs = site->allocs * weight, .frees = site->frees * weight,
        .alloc_bytes = site->bytes * weight, .largest = site->largest,
        .temporaries = site->temporaries * weight,
        .lifetime_mean_ns = site->frees ? site->lifetime_ns / site->frees : 0};
    vs_growth_fill(summary, one->site, weight, out);
    char api[API_TEXT_MAX];
    const char *name = vs_reader_string(replay->reader, site->api);
    if (!site->stack && replay->recording.stage >= VS_RECORDING_NO_STACKS) {
        snprintf(api, sizeof api, "%.64s (stacks stopped: trace size limit)", name);
        name = api;
    }
    out->api = vs_summary_copy(summary->memory, name);
    return out->api ? vs_summary_frames(summary, site->stack, out) : VS_ERR_NOMEM;
}

/* Fills in the sums that belong to no site. */
static void fill_unsited(const struct vs_replay *replay, unsigned account,
                         enum vs_summary_kind kind, struct vs_report_sites *out)
{
    const struct vs_account *a = replay->accounts[account];
    out->weight = vs_recording_weight(&replay->recording);
    if (kind == VS_SITES_GROWING || kind == VS_SITES_FILLED)
        return;
    int64_t exact = kind == VS_SITES_LEFT ? (int64_t)a->lost_bytes : 0;
    for (int f = 0; f < VS_FAMILY_COUNT; f++)
        exact += (int64_t)a->sums.now.family[f];
    for (int level = VS_LEVEL_DEVICE; level <= VS_LEVEL_BLOCK; level++) {
        const struct vs_unrecorded *small = &a->unrecorded[level][VS_WHY_SMALL];
        out->small_bytes += (uint64_t)vs_unrecorded_live(small);
        out->small_count += small->allocs - small->frees;
        out->limit_bytes += vs_unrecorded_live(&a->unrecorded[level][VS_WHY_LIMIT]);
    }
    exact -= (int64_t)out->small_bytes + out->limit_bytes;
    out->exact_bytes = exact > 0 ? (uint64_t)exact : 0;
}

uint64_t vs_report_site_error(const struct vs_report_sites *sites,
                              const struct vs_report_site *site)
{
    if (sites->weight <= 1 || site->count < sites->weight)
        return 0;
    /* of a sum of n equal terms, each sampled with probability 1/weight, scaled up */
    double taken = (double)site->count / (double)sites->weight;
    return (uint64_t)((double)site->bytes *
                      sqrt((1 - 1 / (double)sites->weight) / taken));
}

enum vs_err vs_summary_sites(const struct vs_summary *summary, unsigned account,
                             enum vs_summary_kind kind, struct vs_report_sites *out)
{
    size_t sites_max = summary->sites_max ? summary->sites_max : SITES_DEFAULT;
    struct summary_candidate *list = NULL;
    size_t count = 0, named = 0;
    *out = (struct vs_report_sites){0};
    fill_unsited(summary->replay, account, kind, out);
    enum vs_err err = gather(summary, account, kind, &list, &count);
    if (err || count == 0)
        return err;
    size_t looked_at = count < sites_max * 4 ? count : sites_max * 4;
    struct vs_report_site *items = vs_arena_alloc(summary->memory, looked_at * sizeof *items);
    if (!items)
        err = VS_ERR_NOMEM;
    for (size_t i = 0; !err && i < looked_at; i++) {
        struct vs_report_site one;
        err = name_site(summary, &list[i], &one);
        if (err)
            break;
        size_t k = 0;
        while (k < named && !reads_the_same(&items[k], &one))
            k++;
        if (k < named)
            merge(&items[k], &one);
        else
            items[named++] = one;
    }
    for (size_t i = 0; i < count; i++)
        out->total_bytes += list[i].bytes;
    for (size_t i = looked_at; i < count; i++)
        out->omitted_bytes += list[i].bytes;
    out->omitted_count = count - looked_at;
    free(list);
    if (err)
        return err;
    qsort(items, named, sizeof *items, heavier_site);
    out->items = items;
    out->count = named < sites_max ? named : sites_max;
    for (size_t i = out->count; i < named; i++)
        out->omitted_bytes += items[i].bytes;
    out->omitted_count += named - out->count;
    return VS_OK;
}

enum vs_err vs_summary_failure(const struct vs_summary *summary,
                               const struct vs_failure *failure, struct vs_report_failure *out)
{
    const struct vs_replay *replay = summary->replay;
    char place[VS_PLACE_TEXT_MAX];
    vs_phases_text(&replay->phases, failure->place, place);
    *out = (struct vs_report_failure){
        .event = failure->event, .time_ns = failure->time_ns - vs_replay_start_ns(replay),
        .tid = failure->tid, .framework = failure->framework, .recovered = failure->recovered,
        .host = failure->account == VS_HOST_INDEX,
        .device = replay->accounts[failure->account]->device, .family = failure->family,
        .requested = failure->requested, .error = failure->error, .stack = failure->stack,
        .device_free = failure->device_free, .device_total = failure->device_total,
        .allocated = failure->allocated, .reserved = failure->reserved,
        .api = vs_summary_copy(summary->memory, vs_reader_string(replay->reader, failure->api)),
        .place = vs_summary_copy(summary->memory, place),
        .site = {.family = failure->family, .bytes = failure->requested, .count = 1}};
    out->site.api = out->api;
    if (!out->api || !out->place)
        return VS_ERR_NOMEM;
    return vs_summary_frames(summary, failure->stack, &out->site);
}
