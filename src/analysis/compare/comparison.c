/* SPDX-License-Identifier: Apache-2.0
 *
 * Devices are matched by their number, or where each run has one, with each other; phases by their path,
 * kernels by their name. */
#include "analysis/compare/comparison.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/budget/budget_verdict.h"
#include "analysis/budget/culprits.h"
#include "base/reading/vs_vec.h"

/* --- what keeps two runs from being compared as they are: a doubt never stops the comparison --- */

const char *vs_compare_doubt_name(enum vs_compare_doubt doubt)
{
    static const char *const names[VS_DOUBT_KINDS] = {
        "program", "devices", "capacity", "level", "allocator", "selected", "partial", "out of memory",
        "exit status", "stacks", "names", "imported"};
    return names[doubt];
}

/* *of_b*: whose; of those of both: false. */
static struct vs_compare_note *note(struct vs_comparison *out, enum vs_compare_doubt doubt, bool of_b)
{
    struct vs_compare_note *note = &out->notes[out->note_count];
    out->note_count += out->note_count < VS_COMPARE_NOTES_MAX;
    *note = (struct vs_compare_note){.doubt = doubt, .of_b = of_b};
    return note;
}

static void note_devices(struct vs_comparison *out, const struct vs_report *a, const struct vs_report *b)
{
    for (size_t i = 0; i < a->device_count; i++) {
        const struct vs_report_device *x = &a->devices[i], *y = vs_report_device_of(b, x->device);
        if (!y) {
            note(out, VS_DOUBT_DEVICES, false)->device = x->device;
            continue;
        }
        bool known = x->total_bytes && y->total_bytes; /* an imported trace does not have them */
        if (known && (x->total_bytes != y->total_bytes || strcmp(x->name ? x->name : "", y->name ? y->name : "") != 0))
            note(out, VS_DOUBT_CAPACITY, false)->device = x->device;
        if (x->level != y->level)
            note(out, VS_DOUBT_LEVEL, y->level == VS_LEVEL_FRAMEWORK)->device = x->device;
    }
    for (size_t i = 0; i < b->device_count; i++)
        if (!vs_report_device_of(a, b->devices[i].device))
            note(out, VS_DOUBT_DEVICES, true)->device = b->devices[i].device;
}

/* Whether call sites can be matched: with stacks in both runs, and names in both or in neither. */
static void note_stacks(struct vs_comparison *out, const struct vs_report *const runs[2])
{
    const char *options[2];
    bool none[2], unnamed[2];
    for (size_t i = 0; i < 2; i++) {
        struct vs_named_memory memory = vs_named_memory(runs[i]);
        options[i] = vs_report_option(runs[i], "stacks");
        none[i] = (options[i] && strcmp(options[i], "none") == 0) || (memory.all && !memory.with_stack);
        unnamed[i] = vs_without_names(runs[i]);
        if (none[i])
            note(out, VS_DOUBT_STACKS, i == 1)->none = true;
    }
    if (!none[0] && !none[1] && options[0] && options[1] && strcmp(options[0], options[1]) != 0)
        note(out, VS_DOUBT_STACKS, false);
    bool names = unnamed[0] == unnamed[1] || none[0] || none[1];
    if (!names)
        note(out, VS_DOUBT_NAMES, unnamed[1]);
    out->names_comparable = names && none[0] == none[1];
}

static void note_run(struct vs_comparison *out, const struct vs_report *report, bool of_b)
{
    uint64_t status = 0;
    bool known = vs_exit_status(report, &status), ended = report->has_end;
    if (report->condition != VS_TRACE_COMPLETE ||
        (ended && (report->end_reason == VS_END_STOPPED || report->end_reason == VS_END_COPY)))
        note(out, VS_DOUBT_PARTIAL, of_b);
    if (vs_recording_partial(&report->recording) || report->recording.stage)
        note(out, VS_DOUBT_SELECTED, of_b);
    if (vs_fatal_oom(report))
        note(out, VS_DOUBT_OOM, of_b);
    else if (known && status)
        note(out, VS_DOUBT_EXIT, of_b)->status = status;
}

static bool imported(const struct vs_report *report)
{
    return report->has_end && report->end_reason == VS_END_IMPORTED;
}

/* Sets the notes, and whether names are comparable. */
static void note_doubts(struct vs_comparison *out)
{
    const struct vs_report *const runs[2] = {out->a->report, out->b->report}, *a = runs[0], *b = runs[1];
    bool recorded = !imported(a) && !imported(b); /* an imported trace has the name of a file */
    if (imported(a) != imported(b))
        note(out, VS_DOUBT_IMPORTED, imported(b));
    if (recorded && strcmp(out->a->process, out->b->process) != 0)
        note(out, VS_DOUBT_PROGRAM, false);
    note_devices(out, a, b);
    if (*a->policy && *b->policy && strcmp(a->policy, b->policy) != 0)
        note(out, VS_DOUBT_POLICY, false);
    note_run(out, a, false);
    note_run(out, b, true);
    note_stacks(out, runs);
}

/* --- amounts, counts and call sites --- */

const char *vs_count_kind_name(enum vs_count_kind kind)
{
    static const char *const names[VS_COUNT_KINDS] = {
        "steps", "failed allocations", "allocations", "tensors", "retries", "segments", "memsets",
        "kernels", "kernel"};
    return names[kind];
}

uint64_t vs_compared_value(const struct vs_quantity *quantity)
{
    return quantity ? quantity->value : 0;
}

/* The same quantity of *run*. Runs of one program have them in the same order: *hint* is where the
 * search begins, and is moved on. */
static const struct vs_quantity *find(const struct vs_measured *run, const struct vs_quantity *like,
                                      size_t *hint)
{
    for (size_t i = 0; i < run->count; i++) {
        size_t at = (*hint + i) % run->count;
        const struct vs_quantity *one = &run->items[at];
        if (one->metric != like->metric || one->device != like->device ||
            one->per_step != like->per_step || one->way != like->way ||
            !one->phase != !like->phase || (one->phase && strcmp(one->phase, like->phase) != 0))
            continue;
        *hint = at + 1;
        return one;
    }
    return NULL;
}

static void add_amount(struct vs_comparison *out, const struct vs_quantity *a,
                       const struct vs_quantity *b)
{
    const struct vs_quantity *any = a ? a : b;
    bool copies = vs_metric_of_copies(any->metric);
    if (any->host || any->metric == VS_METRIC_TENSORS || (a && a->unknown) || (b && b->unknown) ||
        (a && b && a->tensors != b->tensors) ||
        (copies && (any->per_step || any->way == VS_COPIES_ALL)))
        return;
    if (!out->sites_comparable && (any->phase || any->metric == VS_METRIC_GROWTH))
        return; /* exact only where every allocation has an event */
    vs_vec_room(&out->amounts, &out->amount_capacity, out->amount_count + 1, sizeof *out->amounts);
    struct vs_compared_amount *amount = &out->amounts[out->amount_count++];
    *amount = (struct vs_compared_amount){
        a, b, any->metric == VS_METRIC_DEVICE || any->metric == VS_METRIC_FREE};
    out->different |= !amount->reading && vs_compared_value(a) != vs_compared_value(b);
}

static void compare_amounts(struct vs_comparison *out)
{
    size_t hint = 0;
    for (size_t i = 0; i < out->a->count; i++) {
        const struct vs_quantity *a = &out->a->items[i];
        if (vs_report_device_of(out->b->report, a->device))
            add_amount(out, a, find(out->b, a, &hint));
    }
    hint = 0;
    for (size_t i = 0; i < out->b->count; i++) {
        const struct vs_quantity *b = &out->b->items[i];
        if (vs_report_device_of(out->a->report, b->device) && !find(out->a, b, &hint))
            add_amount(out, NULL, b);
    }
}

static void add_count(struct vs_comparison *out, enum vs_count_kind kind, uint64_t device, const char *name,
                      uint64_t a, uint64_t b)
{
    if (!a && !b)
        return;
    VS_VEC_ADD(out->counts, out->count_count, out->count_capacity,
               (struct vs_compared_count){kind, device, name, a, b});
    out->different |= a != b;
}

/* The device's kernels by name. */
static struct vs_report_kernel *sorted_kernels(const struct vs_report_device *device)
{
    struct vs_report_kernel *list = vs_xcalloc(device->kernel_count + 1, sizeof *list);
    for (size_t i = 0; i < device->kernel_count; i++)
        list[i] = device->kernels[i];
    VS_SORT(list, device->kernel_count, VS_UP(name));
    return list;
}

static void compare_kernels(struct vs_comparison *out, const struct vs_report_device *a,
                            const struct vs_report_device *b)
{
    struct vs_report_kernel *x = sorted_kernels(a), *y = sorted_kernels(b);
    for (size_t i = 0, j = 0; i < a->kernel_count || j < b->kernel_count;) {
        int order = i == a->kernel_count ? 1 : j == b->kernel_count ? -1 : strcmp(x[i].name, y[j].name);
        const struct vs_report_kernel *of_a = order <= 0 ? &x[i++] : NULL, *of_b = order >= 0 ? &y[j++] : NULL;
        add_count(out, VS_COUNT_KERNEL, a->device, of_a ? of_a->name : of_b->name, of_a ? of_a->count : 0,
                  of_b ? of_b->count : 0);
    }
    free(x);
    free(y);
}

const struct vs_compared_sites *vs_compared_at_peak(const struct vs_comparison *comparison, uint64_t device)
{
    for (size_t i = 0; i < comparison->site_count; i++)
        if (comparison->sites[i].device == device && comparison->sites[i].metric == VS_METRIC_ALLOCATED)
            return &comparison->sites[i];
    return NULL;
}

static void compare_sites(struct vs_comparison *out, uint64_t device, enum vs_metric metric,
                          const struct vs_report_sites *a, const struct vs_report_sites *b)
{
    vs_vec_room(&out->sites, &out->site_capacity, out->site_count + 1, sizeof *out->sites);
    struct vs_compared_sites *sites = &out->sites[out->site_count++];
    *sites = (struct vs_compared_sites){
        .device = device, .metric = metric,
        .most = a->total_bytes > b->total_bytes ? a->total_bytes : b->total_bytes};
    const struct vs_compared_sites *peak = vs_compared_at_peak(out, device);
    vs_site_changes_build(&out->memory, a, b, metric,
                          peak && peak != sites ? &peak->changes : NULL, &sites->changes);
    out->different |= sites->changes.of[VS_SITE_SAME] + sites->changes.of[VS_SITE_MOVED] !=
                      sites->changes.count;
}

static void compare_device(struct vs_comparison *out, const struct vs_report_device *a,
                           const struct vs_report_device *b)
{
    uint64_t device = a->device;
    out->common_devices++;
    for (unsigned f = 0; f < VS_FAMILY_COUNT; f++)
        add_count(out, VS_COUNT_ALLOCATIONS, device, vs_family_name(f), a->family[f].allocs, b->family[f].allocs);
    if (a->has_framework && b->has_framework) {
        add_count(out, VS_COUNT_TENSORS, device, NULL, a->framework_allocs, b->framework_allocs);
        add_count(out, VS_COUNT_RETRIES, device, NULL, a->framework_retries, b->framework_retries);
    }
    add_count(out, VS_COUNT_SEGMENTS, device, NULL, a->segment_allocs, b->segment_allocs);
    add_count(out, VS_COUNT_MEMSETS, device, NULL, a->sets.count, b->sets.count);
    add_count(out, VS_COUNT_KERNELS, device, NULL, a->kernel_total.count, b->kernel_total.count);
    if (a->level != b->level || !out->sites_comparable || !out->names_comparable)
        return;
    compare_sites(out, device, VS_METRIC_ALLOCATED, &a->at_peak, &b->at_peak);
    compare_sites(out, device, VS_METRIC_LIVE_AT_END, &a->at_end, &b->at_end);
    compare_sites(out, device, VS_METRIC_GROWTH, &a->growing, &b->growing);
}

/* Ranks of a job have a device each: if both runs have one, B's gets the number of A's. */
static void match_only_devices(struct vs_comparison *out)
{
    const struct vs_report *a = out->a->report, *b = out->b->report;
    out->other_device = VS_NO_DEVICE;
    if (a->device_count != 1 || b->device_count != 1 || a->devices[0].device == b->devices[0].device)
        return;
    out->other_device = b->devices[0].device;
    b->devices[0].device = a->devices[0].device;
    for (size_t i = 0; i < out->b->count; i++)
        if (out->b->items[i].device == out->other_device)
            out->b->items[i].device = a->devices[0].device;
}

static int larger_count(const void *a, const void *b)
{
    const struct vs_compared_count *x = a, *y = b;
    uint64_t one = x->a > x->b ? x->a - x->b : x->b - x->a;
    uint64_t two = y->a > y->b ? y->a - y->b : y->b - y->a;
    return one != two ? (one < two ? 1 : -1) : strcmp(x->name, y->name);
}

void vs_compare(struct vs_comparison *out, struct vs_measured *a, struct vs_measured *b)
{
    out->a = a;
    out->b = b;
    match_only_devices(out);
    /* estimates of call sites differ where other allocations were recorded */
    const struct vs_recording_state *x = &a->report->recording, *y = &b->report->recording;
    out->sites_comparable = x->min_size == y->min_size && x->sample == y->sample &&
                            x->pauses == y->pauses && (x->sample <= 1 || x->seed == y->seed) &&
                            (x->stage == VS_RECORDING_TOTALS) == (y->stage == VS_RECORDING_TOTALS);
    note_doubts(out);
    compare_amounts(out);
    if (a->report->steps.found == b->report->steps.found) /* else they are not the same thing */
        add_count(out, VS_COUNT_STEPS, VS_NO_DEVICE, NULL, a->steps, b->steps);
    add_count(out, VS_COUNT_FAILED, VS_NO_DEVICE, NULL, a->report->failure_total, b->report->failure_total);
    for (size_t i = 0; i < a->report->device_count; i++) {
        const struct vs_report_device *other = vs_report_device_of(b->report, a->report->devices[i].device);
        if (other)
            compare_device(out, &a->report->devices[i], other);
    }
    size_t kernels = out->count_count;
    for (size_t i = 0; i < a->report->device_count; i++) {
        const struct vs_report_device *other = vs_report_device_of(b->report, a->report->devices[i].device);
        if (other)
            compare_kernels(out, &a->report->devices[i], other);
    }
    if (out->count_count > kernels)
        qsort(out->counts + kernels, out->count_count - kernels, sizeof *out->counts, larger_count);
}

void vs_comparison_free(struct vs_comparison *comparison)
{
    free(comparison->amounts);
    free(comparison->sites);
    free(comparison->counts);
    vs_arena_free_all(&comparison->memory);
    *comparison = (struct vs_comparison){0};
}
