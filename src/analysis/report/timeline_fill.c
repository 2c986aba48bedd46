/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. Only the rows that took longest are named. */
#include "analysis/report/timeline_fill.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/naming/python_file.h"
#include "analysis/report/summary.h"
#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"

#define ROWS_BRIEF 4      /* of a list in the paragraph */
#define LOOKED_AT_FOR_PYTHON 16 /* stacks */
#define WRAPPERS_BRIEF 16 /* stacks that say which function launches everything */

static void add_sums(struct vs_timeline_sums *to, const struct vs_timeline_sums *sums)
{
    to->count += sums->count;
    to->bytes += sums->bytes;
    to->time_ns += sums->time_ns;
    to->step_count += sums->step_count;
    to->step_ns += sums->step_ns;
}

static void add_row(struct vs_timeline_rows *rows, const struct vs_timeline_key *key, const struct vs_timeline_sums *sums)
{
    uint32_t number = vs_timeline_rows_at(rows, key);
    add_sums(&rows->items[number].sums, sums);
}

static int longer(const void *left, const void *right)
{
    const struct vs_timeline_row *x = left, *y = right;
    return vs_then(VS_ORDER(y->sums.time_ns, x->sums.time_ns),
                   vs_then(VS_ORDER(y->sums.count, x->sums.count), memcmp(&x->key, &y->key, sizeof x->key)));
}

/* Rows of a list. */
static size_t listed(const struct vs_summary *summary)
{
    return summary->sites_max ? summary->sites_max : VS_SUMMARY_SITES_DEFAULT;
}

/* The call sites of a device's rows, a number each: index + 1. */
struct site_numbers {
    struct vs_summary summary;
    struct vs_site_list list;
    struct vs_map by_stack;
};

/* The number of the site of *stack*, which is not named twice; 0: unknown. */
static uint64_t site_number(struct site_numbers *sites, uint64_t stack, uint64_t api)
{
    struct vs_report_sites unused = {0};
    if (!stack && !api)
        return 0;
    uint64_t *number = vs_xmap_value(&sites->by_stack, (stack << 24 ^ api) + 1, 0);
    if (*number)
        return *number;
    struct vs_report_site *site = vs_site_list_add(&sites->summary, &sites->list, stack,
                                                   vs_summary_name(&sites->summary, api), 0, 0, &unused);
    site->stacks++;
    return *number = (uint64_t)(site - sites->list.items) + 1;
}

/* The rows of *what* on *device*, of copies only those of *kind*, *memory* and *size*, unless these are NULL, of copies and
 * gaps with *later* only those from the second step on; copies *by_site* regardless of their memory and size, others regardless of their site. */
struct row_choice {
    enum vs_timeline_what what;
    uint64_t device;
    const uint32_t *kind, *memory, *size;
    bool by_site, later;
    size_t most; /* rows by site */
};

static void choose_rows(const struct vs_timeline *timeline, const struct row_choice *choice, struct vs_timeline_rows *rows,
                        struct vs_timeline_sums *total)
{
    const struct vs_timeline_rows *all = vs_timeline_rows(timeline);
    for (size_t i = 0; i < all->count; i++) {
        struct vs_timeline_key key = all->items[i].key;
        if (key.what != choice->what || key.device != choice->device || (choice->kind && key.kind != *choice->kind) ||
            (choice->memory && key.memory != *choice->memory) || (choice->size && key.size != *choice->size) ||
            key.later < choice->later)
            continue;
        key.later = 0;
        if (!choice->by_site)
            key.stack = key.api = 0;
        else
            key.memory = key.size = 0;
        add_row(rows, &key, &all->items[i].sums);
        add_sums(total, &all->items[i].sums);
    }
}

static void list_rows(struct site_numbers *sites, const struct vs_timeline *timeline, const struct row_choice *choice,
                      struct vs_report_works *out)
{
    const struct vs_summary *summary = &sites->summary;
    struct vs_timeline_rows rows = {0}, named = {0};
    choose_rows(timeline, choice, &rows, &out->total);
    vs_vec_sort(rows.items, rows.count, sizeof *rows.items, longer);
    size_t most = choice->most < listed(summary) ? choice->most : listed(summary);
    most = choice->by_site ? most : rows.count; /* few kinds, sizes and types of memory */
    size_t looked_at = rows.count < 4 * most ? rows.count : 4 * most;
    for (size_t i = 0; i < looked_at; i++) {
        struct vs_timeline_key key = rows.items[i].key;
        key.stack = site_number(sites, key.stack, key.api);
        key.until_stack = site_number(sites, key.until_stack, key.until_api);
        key.until_api = 0;
        if (key.what == VS_ROWS_WAITS)
            key.kind = 0;
        else
            key.api = 0;
        add_row(&named, &key, &rows.items[i].sums);
    }
    vs_vec_sort(named.items, named.count, sizeof *named.items, longer);
    out->count = named.count < most ? named.count : most;
    out->omitted_count = named.count - out->count + rows.count - looked_at;
    out->omitted_ns = out->total.time_ns;
    struct vs_report_work *items = vs_xarena(summary->memory, (out->count + 1) * sizeof *items);
    for (size_t i = 0; i < out->count; i++) {
        const struct vs_timeline_key *key = &named.items[i].key;
        items[i] = (struct vs_report_work){
            .kind = key->kind, .memory = key->memory, .size = key->size, .cause = key->cause,
            .ended_by = key->ended_by, .name = key->name ? vs_summary_name(summary, key->name) : NULL,
            .site = key->stack ? &sites->list.items[key->stack - 1] : NULL,
            .api = vs_summary_name(summary, key->api),
            .until = key->until_stack ? &sites->list.items[key->until_stack - 1] : NULL,
            .phase = vs_summary_place(summary, key->phase == VS_PHASE_AFTER_LAST
                                                   ? summary->replay->phases.after_last
                                                   : (struct vs_place){.phase = key->phase}), .sums = named.items[i].sums};
        out->omitted_ns -= items[i].sums.time_ns;
    }
    out->items = items;
    vs_timeline_rows_free(&rows);
    vs_timeline_rows_free(&named);
}

void vs_timeline_sites(const struct vs_summary *summary, const struct vs_timeline *timeline,
                       enum vs_timeline_what what, uint64_t device, uint32_t kind, struct vs_report_sites *out)
{
    struct vs_timeline_rows rows = {0};
    struct vs_timeline_sums total = {0};
    if (!timeline || (what == VS_ROWS_COPIES && !vs_timeline_has_calls(timeline)))
        return;
    choose_rows(timeline, &(struct row_choice){what, device, .kind = &kind, .by_site = true}, &rows, &total);
    struct vs_summary plain = *summary; /* functions that allocate are not those that copy */
    plain.wrappers = NULL;
    struct vs_site_list list = {.items = vs_xarena(summary->memory, (rows.count + 1) * sizeof *list.items)};
    for (size_t i = 0; i < rows.count; i++) {
        const struct vs_timeline_row *row = &rows.items[i];
        if (what == VS_ROWS_READS || row->key.stack || row->key.api)
            vs_site_list_add(&plain, &list, row->key.stack, vs_summary_name(summary, row->key.api), row->sums.bytes,
                             row->sums.count, out)->stacks++;
    }
    if (what == VS_ROWS_COPIES)
        VS_SORT(list.items, list.count, VS_DOWN(bytes), VS_DOWN(count));
    vs_site_list_end(summary, &list, out);
    vs_timeline_rows_free(&rows);
}

static void name_near(const struct vs_summary *summary, struct vs_near_work *work)
{
    if (work->name)
        work->text = vs_summary_name(summary, work->name);
    if (work->start_ns) {
        work->start_ns = vs_replay_since(summary->replay, work->start_ns);
        work->end_ns = vs_replay_since(summary->replay, work->end_ns);
    }
}

void vs_timeline_fill(const struct vs_summary *summary, const struct vs_timeline *timeline, uint64_t number, bool all,
                      struct vs_report_timeline *out)
{
    static const uint32_t pageable = VS_MEMORY_PAGEABLE, small = VS_COPY_SMALL;
    const struct vs_timeline_device *device = vs_timeline_device(timeline, number);
    struct site_numbers sites = {.summary = *summary};
    const struct vs_timeline_row *rows = vs_timeline_rows(timeline)->items;
    size_t row_count = vs_timeline_rows(timeline)->count, looked_at = 4 * listed(summary);
    /* Of each of the lists at most *looked_at* rows are named, of gaps two sites in each. */
    size_t most = row_count < 3 * looked_at ? 2 * row_count : 6 * looked_at;
    sites.list.items = vs_xarena(summary->memory, (most + 1) * sizeof *sites.list.items);
    /* Functions that allocate are not those that launch. */
    struct vs_wrappers wrappers;
    uint64_t stacks[VS_WRAPPER_STACKS];
    size_t stack_count = 0, stacks_max = all ? VS_WRAPPER_STACKS : WRAPPERS_BRIEF;
    for (size_t i = 0; i < row_count && stack_count < stacks_max; i++)
        if (rows[i].key.what == VS_ROWS_KERNELS && rows[i].key.device == number && rows[i].key.stack)
            stacks[stack_count++] = rows[i].key.stack;
    /* Sentences of a Python program need no names of libraries, which take long; without Python they do. */
    bool python = false;
    for (size_t i = 0, looked = 0; i < row_count && looked < LOOKED_AT_FOR_PYTHON && !python; i++) {
        looked += rows[i].key.stack != 0;
        python = vs_python_user_stack(summary->replay->reader, rows[i].key.stack);
    }
    sites.summary.own_only = !all && python;
    vs_summary_wrappers_of(&sites.summary, stacks, stack_count, &wrappers);
    sites.summary.wrappers = &wrappers;
    out->later = !all && device && device->first_step.first_ns && summary->replay->phases.steps.done > 1;
    const struct {
        struct row_choice choice;
        struct vs_report_works *out;
    } lists[] = {{{VS_ROWS_KERNELS, number, .by_site = true}, &out->kernels},
                 {{VS_ROWS_WAITS, number, .by_site = true}, &out->waits},
                 {{VS_ROWS_COPIES, number, .by_site = false}, &out->copies},
                 {{VS_ROWS_COPIES, number, .memory = &pageable, .by_site = true}, &out->pageable},
                 {{VS_ROWS_COPIES, number, .size = &small, .by_site = true}, &out->small},
                 {{VS_ROWS_GAPS, number, .by_site = true}, &out->gaps}};
    for (size_t i = all ? 0 : 1; i < sizeof lists / sizeof *lists; i++) {
        struct row_choice choice = lists[i].choice;
        bool sentences = !all && choice.what != VS_ROWS_WAITS;
        sites.summary.own_only = sentences && python;
        choice.later = out->later && choice.what != VS_ROWS_WAITS;
        choice.most = sentences ? ROWS_BRIEF : listed(summary);
        list_rows(&sites, timeline, &choice, lists[i].out);
    }
    vs_map_free(&sites.list.by_text);
    vs_map_free(&sites.by_stack);
    out->steps = vs_timeline_steps(timeline);
    if (!device)
        return;
    struct vs_timeline_device *copy = vs_xarena(summary->memory, sizeof *copy);
    *copy = *device;
    out->device = copy;
    out->start_ns = vs_replay_since(summary->replay, device->first_ns);
    out->end_ns = vs_replay_since(summary->replay, device->end_ns);
    struct vs_first_step before = {.first_ns = device->first_ns};
    if (out->later)
        before = device->first_step;
    out->idle_ns = device->gap_ns - before.gap_ns;
    out->span_ns = device->end_ns - before.first_ns - (device->unknown_ns - before.unknown_ns);
    for (size_t i = 0; i < copy->running_count; i++)
        name_near(summary, &copy->running[i]);
    name_near(summary, &copy->before);
}
