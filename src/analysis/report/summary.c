/* SPDX-License-Identifier: Apache-2.0
 *
 * Site lists; see the header. Symbols are looked up only for the heaviest stacks, which are merged
 * where their text is the same and then shown. */
#include "analysis/report/summary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/naming/name_text.h"
#include "analysis/naming/naming.h"
#include "analysis/report/growth_fill.h"
#include "analysis/state/user_level.h"
#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"
#include "base/vs_map.h"
#include "base/vs_text.h"
#include "trace/symbols/demangle.h"

/* --- call sites that the user sees as one ---
 *
 * Stacks with the same functions and lines of the user's, and other functions of libraries below and
 * between them (vs_naming_key). A framework allocates on thousands of stacks below a few lines of the
 * user's: all are grouped, so that the sums of the listed lines are whole, and only those listed are
 * named. */

/* A group of rows: its members are *head*, next[head], … up to VS_SITE_NONE. */
struct site_group {
    uint64_t bytes;
    uint32_t head; /* index of its heaviest row */
};

struct site_fold {
    struct site_group *groups; /* heaviest first */
    size_t count;
    uint32_t *next; /* of each row */
};

/* Groups *rows*, which it sorts. Looks up no symbols. */
static void fold_rows(const struct vs_summary *summary, struct vs_summary_row *rows,
                      size_t count, struct site_fold *out)
{
    struct vs_map owners = {0}, by_key = {0};
    uint32_t *last = vs_xcalloc(count + 1, sizeof *last); /* the newest member of each group */
    *out = (struct site_fold){.groups = vs_xcalloc(count + 1, sizeof *out->groups),
                              .next = vs_xcalloc(count + 1, sizeof *out->next)};
    VS_SORT(rows, count, VS_DOWN(bytes), VS_UP(site));
    for (uint32_t i = 0; i < count; i++) {
        const struct vs_site *site = &summary->replay->sites.items[rows[i].site];
        uint64_t key = (uint64_t)rows[i].site << 8 | UINT64_C(1) << 63; /* told apart by its API */
        if (site->stack || site->mark) {
            vs_naming_key(summary->replay->reader, &owners, site->stack, site->mark, &key);
            key = (key * 16 + site->family) * 2 + (site->level == VS_LEVEL_FRAMEWORK);
            key |= key == 0;
        }
        uint64_t group = vs_xmap_number(&by_key, key, out->count);
        out->next[i] = VS_SITE_NONE;
        if (group == out->count)
            out->groups[out->count++] = (struct site_group){rows[i].bytes, i};
        else {
            out->groups[group].bytes += rows[i].bytes;
            out->next[last[group]] = i;
        }
        last[group] = i;
    }
    VS_SORT(out->groups, out->count, VS_DOWN(bytes), VS_UP(head));
    vs_map_free(&owners);
    vs_map_free(&by_key);
    free(last);
}

#define API_TEXT_MAX 128

/* --- wrappers --- */

#define WRAPPER_SITES_MIN 4
#define WRAPPER_CALLERS_MIN 3

struct short_chain {
    const char *functions[VS_WRAPPERS_MAX + 1];
    unsigned lines[VS_WRAPPERS_MAX + 1]; /* of Python functions; 0: of others */
    size_t count;
};

/* Whether *name*, at *level*, is shared by four in five chains and called from several functions.
 * Those of *chains* where it is not are dropped from further levels. A Python function that
 * allocates on several lines tells call sites apart by them. */
static bool is_wrapper(struct short_chain *chains, size_t count, size_t level, const char *name)
{
    const char *callers[WRAPPER_CALLERS_MIN];
    size_t shared = 0, caller_count = 0;
    unsigned line = 0;
    bool one_line = true;
    for (size_t i = 0; i < count; i++) {
        const struct short_chain *c = &chains[i];
        if (c->count < level + 2 || strcmp(c->functions[level], name) != 0)
            continue;
        one_line &= shared == 0 || c->lines[level] == line;
        line = c->lines[level];
        shared++;
        size_t k = 0;
        while (k < caller_count && strcmp(callers[k], c->functions[level + 1]) != 0)
            k++;
        if (k == caller_count && caller_count < WRAPPER_CALLERS_MIN)
            callers[caller_count++] = c->functions[level + 1];
    }
    return one_line && count >= WRAPPER_SITES_MIN && shared * 5 >= count * 4 &&
           caller_count == WRAPPER_CALLERS_MIN;
}

/* The frames that name *stack*, in *chain*; returns how many. *lead*: as for vs_report_site.wrappers,
 * the program's own functions still included. */
static size_t named_chain(const struct vs_summary *summary, uint64_t stack,
                          struct vs_chain_frame *chain, bool *folds, size_t *lead)
{
    size_t count = vs_naming_chain(summary->replay->reader, summary->symbols, stack,
                                   summary->own_only, chain);
    *folds = vs_naming_fold(chain, count);
    *lead = *folds ? 0 : vs_naming_lead(chain, count);
    while (*folds && *lead < count && *chain[*lead].library)
        ++*lead;
    return count;
}

void vs_summary_wrappers(const struct vs_summary *summary, struct vs_wrappers *out)
{
    const struct vs_sites *sites = &summary->replay->sites;
    struct vs_summary_row *list = vs_xcalloc(sites->count + 1, sizeof *list);
    uint64_t stacks[VS_WRAPPER_STACKS];
    size_t sites_with = 0, count = 0;
    for (size_t i = 0; i < sites->count; i++)
        if (sites->items[i].stack && vs_user_has_site(summary->replay, &sites->items[i]))
            list[sites_with++] =
                (struct vs_summary_row){.bytes = sites->items[i].bytes, .site = (uint32_t)i};
    VS_SORT(list, sites_with, VS_DOWN(bytes), VS_UP(site));
    for (; count < sites_with && count < VS_WRAPPER_STACKS; count++)
        stacks[count] = sites->items[list[count].site].stack;
    free(list);
    vs_summary_wrappers_of(summary, stacks, count, out);
}

void vs_summary_wrappers_of(const struct vs_summary *summary, const uint64_t *stacks, size_t stack_count,
                            struct vs_wrappers *out)
{
    struct short_chain *chains = vs_xcalloc(stack_count + 1, sizeof *chains);
    size_t count = 0;
    *out = (struct vs_wrappers){.count = 0};
    for (size_t i = 0; i < stack_count; i++) {
        struct vs_chain_frame chain[VS_CHAIN_MAX];
        struct short_chain *chained = &chains[count];
        bool folds;
        size_t lead, n = named_chain(summary, stacks[i], chain, &folds, &lead);
        for (size_t k = lead; k < n && chained->count <= VS_WRAPPERS_MAX; k++) {
            if (folds && *chain[k].library)
                continue;
            chained->lines[chained->count] = chain[k].python ? chain[k].line : 0;
            chained->functions[chained->count++] = chain[k].function;
        }
        count += chained->count > 0;
    }
    for (size_t level = 0; level < VS_WRAPPERS_MAX; level++) {
        const char *name = NULL;
        for (size_t i = 0; i < count && !name; i++)
            if (chains[i].count > level &&
                strlen(chains[i].functions[level]) < VS_WRAPPER_NAME_MAX &&
                is_wrapper(chains, count, level, chains[i].functions[level]))
                name = chains[i].functions[level];
        if (!name)
            break;
        strcpy(out->names[out->count++], name);
        size_t kept = 0;
        for (size_t i = 0; i < count; i++)
            if (chains[i].count > level && strcmp(chains[i].functions[level], name) == 0)
                chains[kept++] = chains[i];
        count = kept;
    }
    free(chains);
}

void vs_summary_frames(const struct vs_summary *summary, uint64_t stack, uint64_t mark,
                       struct vs_report_site *site)
{
    struct vs_chain_frame chain[VS_CHAIN_MAX];
    char through[VS_THROUGH_MAX];
    size_t count = 0, lead = 0;
    site->folds = false;
    site->frames = NULL;
    site->line = site->line_file = site->through = NULL;
    site->line_number = 0;
    if (stack)
        count = named_chain(summary, stack, chain, &site->folds, &lead);
    if (mark && !vs_python_user_stack(summary->replay->reader, stack)) {
        const char *line = vs_user_line(summary->replay->reader, summary->symbols, summary->memory,
                                        stack, mark);
        const char *at = vs_reader_string(summary->replay->reader, mark), *colon = strrchr(at, ':');
        site->line = *line ? line : NULL;
        if (site->line && strncmp(at, "at ", 3) == 0 && colon) {
            site->line_file = vs_xarena_printf(summary->memory, "%.*s", (int)(colon - at) - 3,
                                               at + 3);
            site->line_number = (unsigned)strtoul(colon + 1, NULL, 10);
        }
    }
    size_t first = lead;
    while (first < count && site->folds && *chain[first].library)
        first++;
    if (!site->line && site->folds && first < count && chain[first].python && strcmp(chain[first].function, "<module>") == 0) {
        site->line = vs_line_text(summary->memory, chain[first].file, chain[first].line);
        site->line_file = vs_xarena_text(summary->memory, chain[first].file);
        site->line_number = chain[first].line;
    }
    if (!site->line && !site->folds && *vs_naming_torch(chain, count, through))
        site->line = vs_text_copy(summary->memory, vs_text_clean(through));
    site->frame_count = count;
    site->wrappers = lead;
    if (count == 0)
        return;
    struct vs_report_frame *frames = vs_xarena(summary->memory, count * sizeof *frames);
    for (size_t i = 0; i < count; i++)
        frames[i] = (struct vs_report_frame){
            .function = vs_xarena_text(summary->memory, chain[i].function),
            .file = vs_xarena_text(summary->memory, chain[i].file),
            .module = vs_xarena_text(summary->memory, chain[i].module),
            .line = chain[i].line, .inlined = chain[i].inlined, .known = chain[i].known,
            .library = *chain[i].library
                           ? vs_xarena_text(summary->memory, chain[i].library) : NULL};
    if (site->folds && *vs_naming_through(chain, count, through))
        site->through = vs_xarena_text(summary->memory, vs_text_clean(through));
    site->frames = frames;
    const struct vs_wrappers *wrappers = summary->wrappers;
    for (size_t k = 0; wrappers && k < wrappers->count; k++) { /* the program's, among the frames
                                                                * that are shown */
        size_t next = site->wrappers + 1;
        while (site->folds && next < count && *chain[next].library)
            next++;
        if (next >= count || strcmp(chain[site->wrappers].function, wrappers->names[k]) != 0)
            break;
        site->wrappers = next;
    }
}

bool vs_summary_same_text(const struct vs_report_site *a, const struct vs_report_site *b)
{
    if (a->family != b->family || a->level != b->level || !vs_text_same(a->line, b->line) ||
        !a->frame_count != !b->frame_count)
        return false;
    if (a->line)
        return true;
    if (a->frame_count == 0)
        return vs_text_same(a->api, b->api);
    size_t i = vs_user_frame(a, a->wrappers), k = vs_user_frame(b, b->wrappers);
    while (i < a->frame_count && k < b->frame_count) {
        const struct vs_report_frame *x = &a->frames[i], *y = &b->frames[k];
        if (x->line != y->line || !vs_text_same(x->function, y->function) ||
            !vs_text_same(x->file, y->file))
            return false;
        i = vs_user_frame(a, i + 1);
        k = vs_user_frame(b, k + 1);
    }
    return i >= a->frame_count && k >= b->frame_count;
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
    return vs_text_hash(vs_text_hash(hash, text ? text : ""), "\xff");
}

struct vs_report_site *vs_site_list_same(struct vs_site_list *list,
                                         const struct vs_report_site *site)
{
    uint64_t key = hash_text(VS_TEXT_HASH_START ^ site->family << 8 ^ (uint64_t)site->level,
                             site->line);
    if (!site->line && !site->frame_count)
        key = hash_text(key, site->api);
    for (size_t i = vs_user_frame(site, site->wrappers); !site->line && i < site->frame_count; i = vs_user_frame(site, i + 1)) {
        key = hash_text(key ^ site->frames[i].line, site->frames[i].function);
        key = hash_text(key, site->frames[i].file);
    }
    key = key ? key : 1;
    for (const uint64_t *found; (found = vs_map_get(&list->by_text, key)) != NULL;) {
        if (vs_summary_same_text(&list->items[*found - 1], site))
            return &list->items[*found - 1];
        key = key + 1 ? key + 1 : 1;
    }
    list->items[list->count++] = *site;
    vs_xmap_put(&list->by_text, key, list->count);
    return NULL;
}

struct vs_report_site *vs_site_list_add(const struct vs_summary *summary, struct vs_site_list *list,
                                        uint64_t stack, const char *api, uint64_t bytes,
                                        uint64_t count, struct vs_report_sites *out)
{
    struct vs_report_site one = {.level = VS_LEVEL_DEVICE, .api = api};
    vs_summary_frames(summary, stack, 0, &one);
    struct vs_report_site *same = vs_site_list_same(list, &one);
    same = same ? same : &list->items[list->count - 1];
    same->bytes += bytes;
    same->count += count;
    out->total_bytes += bytes;
    out->total_count += count;
    return same;
}

static void add_part(struct vs_site_parts *parts, const struct vs_site_part *part)
{
    size_t i = 0;
    while (i < parts->count && (strcmp(parts->items[i].function, part->function) != 0 ||
                                !vs_text_same(parts->items[i].file, part->file)))
        i++;
    if (i == VS_SITE_PARTS_MAX)
        return;
    if (i == parts->count) {
        parts->items[parts->count++] = *part;
        return;
    }
    parts->items[i].line = parts->items[i].line == part->line ? part->line : 0;
    parts->items[i].bytes += part->bytes;
    parts->items[i].count += part->count;
}

void vs_summary_part(const struct vs_summary *summary, uint64_t stack, uint64_t bytes,
                     uint64_t count, struct vs_site_parts *parts)
{
    struct vs_chain_frame chain[VS_CHAIN_MAX];
    size_t frames = stack ? vs_naming_chain(summary->replay->reader, summary->symbols, stack, true,
                                            chain) : 0;
    const struct vs_chain_frame *frame = vs_naming_fold(chain, frames) ? vs_naming_part(chain, frames) : NULL;
    if (!frame)
        return;
    if (!parts->items)
        parts->items = vs_xarena(summary->memory, VS_SITE_PARTS_MAX * sizeof *parts->items);
    struct vs_site_part part = {
        .function = vs_xarena_text(summary->memory, frame->function),
        .file = vs_xarena_text(summary->memory, frame->file),
        .library = vs_xarena_text(summary->memory, frame->library),
        .line = frame->line, .bytes = bytes, .count = count};
    add_part(parts, &part);
}

void vs_summary_sort_parts(struct vs_site_parts *parts)
{
    VS_SORT(parts->items, parts->count, VS_DOWN(bytes), VS_UP(function));
}

static void merge(struct vs_report_site *into, const struct vs_report_site *from)
{
    if (!into->parts.items)
        into->parts = from->parts;
    else
        for (size_t i = 0; i < from->parts.count; i++)
            add_part(&into->parts, &from->parts.items[i]);
    uint64_t frees = into->frees + from->frees;
    if (frees)
        into->lifetime_mean_ns = (uint64_t)(((double)into->lifetime_mean_ns * (double)into->frees +
                                             (double)from->lifetime_mean_ns * (double)from->frees) /
                                            (double)frees);
    if (!vs_text_same(into->through, from->through))
        into->through = NULL;
    into->stacks += from->stacks;
    into->bytes += from->bytes;
    into->count += from->count;
    into->allocs += from->allocs;
    into->frees = frees;
    into->alloc_bytes += from->alloc_bytes;
#define COUNTER(name, key) into->name += from->name;
    VS_SITE_COUNTERS(COUNTER)
#undef COUNTER
    if (from->largest > into->largest)
        into->largest = from->largest;
    vs_growth_merge(into, from);
}

static struct vs_report_site figures_of(const struct vs_summary *summary,
                                        const struct vs_summary_row *row)
{
    const struct vs_replay *replay = summary->replay;
    const struct vs_site *site = &replay->sites.items[row->site];
    uint64_t weight = vs_recording_weight(&replay->recording);
    struct vs_report_site out = {
        .level = (enum vs_level)site->level, .stacks = 1,
        .family = site->family, .bytes = row->bytes, .count = row->count,
        .allocs = site->allocs * weight, .frees = site->frees * weight,
        .alloc_bytes = site->bytes * weight, .largest = site->largest,
#define COUNTER(name, key) .name = site->name * weight,
        VS_SITE_COUNTERS(COUNTER)
#undef COUNTER
        .lifetime_mean_ns = site->frees ? site->lifetime_ns / site->frees : 0};
    vs_growth_fill(summary, row->site, weight, &out);
    return out;
}

/* The site of a group: the text of its heaviest row, the figures of all. */
static void name_group(const struct vs_summary *summary, const struct vs_summary_row *rows,
                       const struct site_fold *fold, uint32_t head,
                       struct vs_report_site *out)
{
    const struct vs_replay *replay = summary->replay;
    const struct vs_site *site = &replay->sites.items[rows[head].site];
    *out = figures_of(summary, &rows[head]);
    char api[API_TEXT_MAX];
    const char *name = vs_reader_string(replay->reader, site->api);
    if (!site->stack && replay->recording.stage >= VS_RECORDING_NO_STACKS) {
        snprintf(api, sizeof api, "%.64s (stacks stopped: trace size limit)",
                 site->level == VS_LEVEL_FRAMEWORK ? "tensors" : name);
        name = api;
    }
    out->api = vs_text_copy(summary->memory, name);
    vs_summary_frames(summary, site->stack, site->mark, out);
    for (uint32_t i = head; i != VS_SITE_NONE; i = fold->next[i]) {
        const struct vs_summary_row *row = &rows[i];
        vs_summary_part(summary, replay->sites.items[row->site].stack, row->bytes, row->count, &out->parts);
        if (i == head)
            continue;
        struct vs_report_site one = figures_of(summary, &rows[i]);
        one.through = NULL; /* another stack: its library's function is another one, or not known */
        merge(out, &one);
    }
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

void vs_site_list_end(const struct vs_summary *summary, struct vs_site_list *list,
                      struct vs_report_sites *out)
{
    size_t most = summary->sites_max ? summary->sites_max : VS_SUMMARY_SITES_DEFAULT;
    vs_map_free(&list->by_text);
    out->items = list->items;
    out->count = list->count < most ? list->count : most;
    out->omitted_count += list->count - out->count;
    for (size_t i = out->count; i < list->count; i++)
        out->omitted_bytes += list->items[i].bytes;
}

void vs_summary_rows(const struct vs_summary *summary, struct vs_summary_row *rows,
                     size_t count, struct vs_report_sites *out)
{
    struct site_fold fold;
    if (count == 0)
        return;
    fold_rows(summary, rows, count, &fold);
    for (size_t i = 0; i < count; i++) {
        out->total_bytes += rows[i].bytes;
        out->total_count += rows[i].count;
    }
    size_t looked_at = 4 * (summary->sites_max ? summary->sites_max : VS_SUMMARY_SITES_DEFAULT);
    looked_at = fold.count < looked_at ? fold.count : looked_at;
    struct vs_site_list list = {
        .items = vs_xarena(summary->memory, looked_at * sizeof *list.items)};
    for (size_t i = 0; i < looked_at; i++) {
        struct vs_report_site one, *same;
        name_group(summary, rows, &fold, fold.groups[i].head, &one);
        same = vs_site_list_same(&list, &one);
        if (same)
            merge(same, &one);
    }
    for (size_t i = looked_at; i < fold.count; i++)
        out->omitted_bytes += fold.groups[i].bytes;
    out->omitted_count = fold.count - looked_at;
    for (size_t i = 0; i < list.count; i++) {
        struct vs_report_site *site = &list.items[i];
        const struct vs_site_part *first = site->parts.items;
        char text[VS_THROUGH_MAX];
        vs_summary_sort_parts(&site->parts);
        if (site->parts.count == 1 && first->bytes == site->bytes && !site->through) {
            snprintf(text, sizeof text, "%s: %s", first->library, first->function);
            site->through = vs_text_copy(summary->memory, vs_text_clean(text));
        }
        if (site->through)
            site->parts.count = 0;
    }
    VS_SORT(list.items, list.count, VS_DOWN(bytes));
    vs_site_list_end(summary, &list, out);
    free(fold.groups);
    free(fold.next);
}

/* *user*: of the user's level, otherwise of the device's. */
static void list_sites(const struct vs_summary *summary, unsigned account,
                       enum vs_summary_kind kind, bool user, struct vs_report_sites *out)
{
    const struct vs_replay *replay = summary->replay;
    const struct vs_sites *sites = &replay->sites;
    const struct vs_account *a = replay->accounts[account];
    uint64_t weight = vs_recording_weight(&replay->recording);
    bool by_growth = kind == VS_SITES_GROWING || kind == VS_SITES_FILLED;
    bool tensors = user && vs_user_level(replay, account) == VS_LEVEL_FRAMEWORK;
    struct vs_summary_row *rows = NULL;
    size_t count = 0, capacity = 0;
    *out = (struct vs_report_sites){.weight = weight};
    for (uint32_t i = 0; i < sites->count; i++) {
        const struct vs_site *site = &sites->items[i];
        struct vs_summary_row one = {.bytes = site->live_bytes, .count = site->live_count,
                                     .site = i};
        if (kind == VS_SITES_LEFT) {
            one.bytes += site->lost_bytes;
            one.count += site->lost_count;
        }
        if (by_growth)
            one.bytes = vs_growth_listed(summary, i, kind == VS_SITES_FILLED);
        if (site->device != account || one.bytes == 0 ||
            (user ? !vs_user_has_site(replay, site) : site->level == VS_LEVEL_FRAMEWORK))
            continue;
        one.bytes *= weight;
        one.count *= weight;
        VS_VEC_ADD(rows, count, capacity, one);
    }
    if (!by_growth) { /* the sums that belong to no site */
        int64_t exact = kind == VS_SITES_LEFT && !tensors ? (int64_t)a->lost_bytes : 0;
        for (int f = 0; f < VS_FAMILY_COUNT && !tensors; f++)
            exact += (int64_t)a->sums.now.family[f];
        if (tensors)
            exact = (int64_t)vs_user_sums(replay, account).allocated;
        for (int level = VS_LEVEL_DEVICE; level <= VS_LEVEL_FRAMEWORK; level++) {
            const struct vs_unrecorded *small = &a->unrecorded[level][VS_WHY_SMALL];
            if (tensors != (level == VS_LEVEL_FRAMEWORK))
                continue;
            out->small_bytes += (uint64_t)vs_unrecorded_live(small);
            out->small_count += small->allocs - small->frees;
            out->limit_bytes += vs_unrecorded_live(&a->unrecorded[level][VS_WHY_LIMIT]);
        }
        exact -= (int64_t)out->small_bytes + out->limit_bytes;
        out->exact_bytes = exact > 0 ? (uint64_t)exact : 0;
    }
    vs_summary_rows(summary, rows, count, out);
    free(rows);
}

void vs_summary_sites(const struct vs_summary *summary, unsigned account,
                      enum vs_summary_kind kind, struct vs_report_sites *out)
{
    list_sites(summary, account, kind, true, out);
}

void vs_summary_device_sites(const struct vs_summary *summary, unsigned account,
                             enum vs_summary_kind kind, struct vs_report_sites *out)
{
    list_sites(summary, account, kind, false, out);
}

const char *vs_summary_library(const struct vs_summary *summary, uint64_t stack,
                               char name[VS_LIBRARY_NAME_MAX], bool *framework)
{
    const struct vs_replay *replay = summary->replay;
    const char *exe =
        replay->has_process ? vs_reader_string(replay->reader, replay->process.process.exe) : "";
    return vs_library_of_stack(replay->reader, stack, exe, name, framework ? framework : &(bool){0});
}

const char *vs_summary_text(const struct vs_summary *summary, uint64_t id)
{
    return vs_text_copy(summary->memory, vs_reader_string(summary->replay->reader, id));
}

const char *vs_summary_name(const struct vs_summary *summary, uint64_t id)
{
    const char *name = vs_reader_string(summary->replay->reader, id);
    char *readable = vs_demangle(name);
    const char *kept = vs_text_copy(summary->memory, readable ? readable : name);
    free(readable);
    return kept;
}

const char *vs_summary_name_once(const struct vs_summary *summary, struct vs_map *names, uint64_t id)
{
    const char *name = vs_map_pointer(names, id + 1);
    if (!name) {
        name = vs_summary_name(summary, id);
        vs_xmap_put(names, id + 1, (uint64_t)(uintptr_t)name);
    }
    return name;
}

const char *vs_summary_place(const struct vs_summary *summary, struct vs_place place)
{
    return vs_text_copy(summary->memory, vs_place_text(&summary->replay->phases, place));
}
