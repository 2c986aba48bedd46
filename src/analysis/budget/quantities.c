/* SPDX-License-Identifier: Apache-2.0
 *
 * The figures are those of the report; only the times of phases come from
 * phase_peaks.h. */
#include "analysis/budget/quantities.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analysis/budget/phase_peaks.h"
#include "analysis/naming/name_text.h"
#include "base/reading/vs_intern.h"
#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"
#include "base/vs_text.h"

#define ARGUMENTS_MAX 1000 /* bytes that are kept */

const char *vs_test_name(const char *phase)
{
    size_t prefix = strlen(VS_TEST_PREFIX);
    if (!phase || strncmp(phase, VS_TEST_PREFIX, prefix) != 0)
        return NULL;
    return phase + prefix;
}

static struct vs_quantity *add(struct vs_measured *out, const struct vs_quantity *quantity)
{
    vs_vec_room(&out->items, &out->capacity, out->count + 1, sizeof *out->items);
    struct vs_quantity *item = &out->items[out->count++];
    *item = *quantity;
    if (!item->place)
        item->place = "";
    return item;
}

/* Which memory of the device holds tensors is not known of allocations that were left out: at most all of
 * it may be in use at the user's level. */
static uint64_t possible(const struct vs_measured *out, const struct vs_report_device *device, uint64_t bytes,
                         bool tensors)
{
    bool estimate = tensors && out->growth_missing && device->peak_allocated.bytes > bytes;
    return estimate ? device->peak_allocated.bytes : bytes;
}

static void add_peak(struct vs_measured *out, const struct vs_report_device *device,
                     enum vs_metric metric, const struct vs_report_peak *peak, bool tensors)
{
    struct vs_quantity quantity = {.metric = metric, .device = device->device, .tensors = tensors,
                                   .with_others = tensors && peak->bytes > device->framework_peak_allocated,
                                   .value = peak->bytes, .possible = possible(out, device, peak->bytes, tensors),
                                   .event = peak->event, .time_ns = peak->time_ns, .place = peak->place};
    add(out, &quantity);
}

/* The readings of the device, and what was recorded after them: their times depend on the machine. */
static void add_readings(struct vs_measured *out, const struct vs_report_device *device)
{
    const struct vs_balance *most = &device->balance_peak;
    uint64_t known = device->use_known.bytes, possible = device->use_possible.bytes;
    struct vs_quantity quantity = {.device = device->device, .unknown = !most->known};
    if (most->known) {
        quantity.event = device->use_known.event;
        quantity.time_ns = device->use_known.time_ns;
        quantity.place = device->use_known.place;
    }
    quantity.metric = VS_METRIC_DEVICE;
    quantity.value = most->known ? known : 0;
    quantity.possible = most->known ? possible : 0;
    add(out, &quantity);
    quantity.metric = VS_METRIC_FREE;
    quantity.value = most->known && known < most->total ? most->total - known : 0;
    quantity.possible = most->known && possible < most->total ? most->total - possible : 0;
    add(out, &quantity);
}

static uint64_t growth_of(const struct vs_report_sites *growing)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < growing->count; i++)
        sum += growing->items[i].growth_per_step;
    return sum;
}

/* Page-locked memory that is live at the end. PyTorch never returns its own cache of it. */
static uint64_t host_live(const struct vs_report_host *host)
{
    uint64_t bytes = host->live_bytes;
    for (size_t i = 0; i < host->at_end.count; i++) {
        const struct vs_report_site *site = &host->at_end.items[i];
        const char *library = site->frame_count ? site->frames[0].library : NULL;
        if (library && strcmp(library, "torch") == 0)
            bytes -= site->bytes < bytes ? site->bytes : bytes;
    }
    return bytes;
}

static void add_host(struct vs_measured *out)
{
    const struct vs_report_host *host = &out->report->host_memory;
    if (!host->peak_bytes)
        return;
    struct vs_quantity quantity = {
        .metric = VS_METRIC_LIVE_AT_END, .host = true, .value = host_live(host),
        .device = out->report->device_count ? out->report->devices[0].device : 0,
        .time_ns = out->report->duration_ns};
    add(out, &quantity);
    quantity.metric = VS_METRIC_GROWTH;
    quantity.per_step = true;
    quantity.value = growth_of(&host->growing);
    if (!out->growth_missing && out->steps >= VS_GROWTH_STEPS_MIN)
        add(out, &quantity);
}

/* Whether the run was recorded with option *name* off, which the trace has as it was written. */
static bool option_off(const struct vs_report *report, const char *name)
{
    static const char *const no[] = {"off", "0", "no", "false"};
    const char *value = vs_report_option(report, name);
    bool off = false;
    for (size_t k = 0; value && k < sizeof no / sizeof *no; k++)
        off |= strcasecmp(value, no[k]) == 0;
    return off;
}

static bool noted(const struct vs_report *report, const char *begin)
{
    for (size_t i = 0; i < report->note_count; i++)
        if (vs_text_begins(report->notes[i].text, begin))
            return true;
    return false;
}

static bool dropped(const struct vs_report *report, const char *kind)
{
    for (size_t i = 0; i < report->dropped_count; i++)
        if (strcmp(report->dropped[i].name, kind) == 0)
            return true;
    return false;
}

/* Why copies are missing, and what to do; NULL: all were recorded. */
static const char *copies_missing(const struct vs_report *report)
{
    if (report->has_end && report->end_reason == VS_END_IMPORTED)
        return "an imported trace has no copies; record the program with vramscope run";
    if (option_off(report, "kernels"))
        return "the run was recorded with kernels=off, which leaves out copies; record it with --kernels=on";
    if (noted(report, VS_NOTE_NO_ACTIVITY) || noted(report, VS_NOTE_ACTIVITY_LEFT))
        return "CUPTI did not deliver the copies; `vramscope report TRACE` prints the reason";
    if (noted(report, VS_NOTE_UNFINISHED))
        return "the program ended while copies may still have run; wait for them at its end (cudaDeviceSynchronize)";
    if (report->recording.pauses)
        return "the program stopped the recording for a time, so copies are missing; record all of it";
    if (report->recording.stage >= VS_RECORDING_NO_ACTIVITY)
        return "the trace reached its size limit and dropped copies; raise --max-trace-size";
    if (dropped(report, "memcpy") || dropped(report, "activity records"))
        return "some copies could not be recorded; `vramscope report TRACE` says how many";
    if (report->kernels_until_ns)
        return "the program was killed before its last copies were delivered; check a run that ends by itself";
    return NULL;
}

/* Likewise of growth: the blocks that were left out may be those that grow. */
static const char *growth_missing(const struct vs_report *report)
{
    const struct vs_recording_state *recording = &report->recording;
    if (recording->sample > 1)
        return "the run was recorded with --sample, which leaves out allocations; record it without";
    if (recording->min_size)
        return "the run was recorded with --min-size, which leaves out allocations; record it without";
    if (recording->pauses)
        return "the program stopped the recording for a time, so allocations are missing; record all of it";
    if (recording->stage == VS_RECORDING_TOTALS)
        return "the trace reached its size limit and dropped allocations; raise --max-trace-size";
    return NULL;
}

bool vs_copy_goes(enum vs_copy_way way, uint64_t kind)
{
    switch (kind) {
    case VS_COPY_HTOD:
    case VS_COPY_HTOA: return way == VS_COPIES_ALL || way == VS_COPIES_TO_DEVICE;
    case VS_COPY_DTOH:
    case VS_COPY_ATOH: return way == VS_COPIES_ALL || way == VS_COPIES_TO_HOST;
    case VS_COPY_HTOH: return way == VS_COPIES_ALL;
    default: return way == VS_COPIES_ALL || way == VS_COPIES_ON_DEVICE;
    }
}

/* Of the whole run, and that by its steps, rounded up: when a copy runs depends on the device, how
 * many there are does not. */
static void add_copies(struct vs_measured *out, const struct vs_report_device *device)
{
    for (int way = VS_COPIES_ALL; way <= VS_COPIES_ON_DEVICE; way++) {
        uint64_t bytes = 0, count = 0;
        for (int kind = 0; kind < VS_COPY_KIND_COUNT; kind++) {
            if (vs_copy_goes((enum vs_copy_way)way, (uint64_t)kind)) {
                bytes += device->copies[kind].bytes;
                count += device->copies[kind].count;
            }
        }
        for (int step = 0; step < 2; step++) {
            struct vs_quantity quantity = {.device = device->device, .per_step = step,
                                           .way = (enum vs_copy_way)way,
                                           .unknown = out->copies_missing || (step && !out->steps)};
            uint64_t steps = step && out->steps ? out->steps : 1;
            quantity.metric = VS_METRIC_TRANSFERRED;
            quantity.value = quantity.unknown ? 0 : (bytes + steps - 1) / steps;
            add(out, &quantity);
            quantity.metric = VS_METRIC_COPIES;
            quantity.value = quantity.unknown ? 0 : (count + steps - 1) / steps;
            add(out, &quantity);
        }
    }
}

static void add_device(struct vs_measured *out, const struct vs_report_device *device)
{
    bool tensors = device->level == VS_LEVEL_FRAMEWORK;
    add_peak(out, device, VS_METRIC_ALLOCATED, &device->peak_user, tensors);
    add_peak(out, device, VS_METRIC_REQUESTED, &device->peak_requested, false);
    add_peak(out, device, VS_METRIC_RESERVED, &device->peak_reserved, false);
    struct vs_quantity quantity = {
        .metric = VS_METRIC_LIVE_AT_END, .device = device->device, .tensors = tensors,
        .with_others = tensors && device->user_allocated > device->framework_allocated,
        .value = tensors ? device->user_allocated : device->allocated + device->lost_bytes,
        .time_ns = out->report->duration_ns};
    add(out, &quantity);
    quantity = (struct vs_quantity){
        .metric = VS_METRIC_TENSORS, .device = device->device, .tensors = true,
        .value = device->framework_peak_allocated, .event = device->peak_user.event,
        .time_ns = device->peak_user.time_ns, .place = device->peak_user.place};
    if (device->framework_peak_allocated != device->peak_user.bytes) { /* reached at another time */
        quantity.event = quantity.time_ns = 0;
        quantity.place = NULL;
    }
    if (device->has_framework)
        add(out, &quantity);
    add_readings(out, device);
    quantity = (struct vs_quantity){
        .metric = VS_METRIC_GROWTH, .device = device->device, .tensors = tensors,
        .per_step = true, .unknown = out->growth_missing || out->steps < VS_GROWTH_STEPS_MIN,
        .time_ns = out->report->duration_ns};
    quantity.value = quantity.unknown ? 0 : growth_of(&device->growing);
    add(out, &quantity);
    add_copies(out, device);
}

static void add_phase(struct vs_measured *out, const struct vs_phase_peaks *peaks,
                      const struct vs_phase_row *row, size_t index)
{
    const struct vs_report_device *device = &out->report->devices[index];
    const struct vs_phase_device *from = &row->devices[index];
    bool tensors = device->level == VS_LEVEL_FRAMEWORK;
    /* Those of a phase are not kept apart. */
    bool others = tensors && device->peak_user.bytes > device->framework_peak_allocated;
    const char *path = vs_xarena_text(&out->memory, row->path), *name = vs_xarena_text(&out->memory, row->name);
    char place[VS_PLACE_TEXT_MAX];
    for (int m = VS_METRIC_ALLOCATED; m <= VS_METRIC_RESERVED; m++) {
        struct vs_quantity quantity = {
            .metric = (enum vs_metric)m, .device = device->device,
            .phase = path, .range = name, .nested = row->nested,
            .tensors = tensors && m == VS_METRIC_ALLOCATED, .value = from->peak[m].bytes,
            .with_others = others && m == VS_METRIC_ALLOCATED,
            .possible = possible(out, device, from->peak[m].bytes, tensors && m == VS_METRIC_ALLOCATED),
            .event = from->peak[m].event, .time_ns = from->peak[m].time_ns,
            .place = vs_xarena_text(&out->memory, vs_phase_peaks_place(peaks, &from->peak[m], place))};
        add(out, &quantity);
    }
    struct vs_quantity kept = {
        .metric = VS_METRIC_LIVE_AT_END, .device = device->device,
        .phase = path, .range = name, .nested = row->nested, .tensors = tensors, .with_others = others, .value = from->kept,
        .from_ns = from->kept_from_ns,
        .event = from->kept_event, .time_ns = from->kept_ns, .place = path};
    add(out, &kept);
}

/* The report has its devices in the order of the replay's accounts. */
void vs_measure(struct vs_measured *out, const struct vs_phase_peaks *peaks)
{
    char name[256], rank[VS_JOB_RANK_TEXT_MAX];
    size_t phases;
    const struct vs_phase_row *rows = vs_phase_peaks_rows(peaks, &phases);
    out->steps = out->report->steps.done;
    out->phases_full = vs_phase_peaks_full(peaks);
    out->copies_missing = copies_missing(out->report);
    out->growth_missing = growth_missing(out->report);
    const char *arguments = vs_process_words(out->report->exe, out->report->cmdline, name, sizeof name - sizeof rank);
    char text[ARGUMENTS_MAX];
    snprintf(text, sizeof text, "%s", arguments);
    out->arguments = vs_xarena_text(&out->memory, vs_text_clean(text));
    out->program = vs_xarena_text(&out->memory, name);
    strcat(name, vs_job_rank_text(rank, &out->report->job));
    out->process = vs_xarena_text(&out->memory, name);
    for (size_t i = 0; i < out->report->device_count; i++)
        add_device(out, &out->report->devices[i]);
    add_host(out);
    for (size_t p = 1; p < phases; p++)
        for (size_t i = 0; i < rows[p].count && i < out->report->device_count; i++)
            add_phase(out, peaks, &rows[p], i);
}

void vs_measured_free(struct vs_measured *run)
{
    free(run->items);
    vs_report_free(run->report);
    vs_reader_close(run->reader);
    vs_arena_free_all(&run->memory);
    *run = (struct vs_measured){0};
}

char *vs_quantity_options(char *out, size_t bytes, const struct vs_quantity *quantity, const char *more)
{
    bool whole = !quantity->phase;
    if (quantity->host)
        snprintf(out, bytes, "--full%s", more);
    else if (quantity->metric == VS_METRIC_LIVE_AT_END && whole)
        snprintf(out, bytes, "--by site --at end%s", more);
    else if (quantity->metric == VS_METRIC_ALLOCATED && whole)
        snprintf(out, bytes, "--by site%s", more);
    else if (quantity->event)
        snprintf(out, bytes, "--by site --at @%" PRIu64 "%s", quantity->event, more);
    else
        snprintf(out, bytes, "--full%s", more);
    return out;
}

/* All quantities of all runs get the number of their group, are sorted by group and value, and each
 * group gives one item. */

struct taken_sample {
    const struct vs_quantity *quantity;
    struct vs_measured *run;
    size_t group, index; /* index: of the run */
};

/* The number of the quantity, whichever run it is of. */
static size_t group_of(struct vs_intern *groups, const struct vs_quantity *quantity)
{
    char key[VS_QUANTITY_KEY_MAX];
    snprintf(key, sizeof key, "%d %" PRIu64 " %d %d %d%s%s", quantity->metric, quantity->device,
             quantity->way, quantity->per_step, quantity->host, quantity->phase ? " " : "",
             quantity->phase ? quantity->phase : "");
    return vs_intern_text(groups, key);
}

static int by_group_and_value(const void *a, const void *b)
{
    const struct taken_sample *x = a, *y = b;
    const struct vs_quantity *p = x->quantity, *q = y->quantity;
    int order = vs_then(VS_ORDER(x->group, y->group), VS_ORDER(p->unknown, q->unknown)); /* the values come first */
    return vs_then(order, vs_then(VS_ORDER(p->value, q->value), VS_ORDER(x->index, y->index)));
}

/* The index of the value that is taken of *count* ascending ones. *low*: the lowest is the worst. */
static size_t chosen(size_t count, enum vs_take how, bool low)
{
    if (how == VS_TAKE_MEDIAN)
        return low ? (count - 1) / 2 : count / 2;
    return low ? 0 : count - 1;
}

void vs_taken_build(struct vs_arena *memory, struct vs_measured **runs, size_t count,
                    enum vs_take how, struct vs_taken *out)
{
    struct vs_intern groups = {0};
    size_t most = 0, all = 0;
    for (size_t i = 0; i < count; i++)
        most += runs[i]->count;
    *out = (struct vs_taken){.first = runs[0]};
    uint64_t *steps = vs_xcalloc(count + 1, sizeof *steps);
    for (size_t i = 0; i < count; i++)
        steps[i] = runs[i]->steps;
    qsort(steps, count, sizeof *steps, vs_order_u64);
    out->steps = steps[chosen(count, how, false)];
    free(steps);
    struct taken_sample *items = vs_xcalloc(most + 1, sizeof *items);
    for (size_t r = 0; r < count; r++)
        for (size_t i = 0; i < runs[r]->count; i++) {
            const struct vs_quantity *quantity = &runs[r]->items[i];
            items[all++] = (struct taken_sample){quantity, runs[r], group_of(&groups, quantity), r};
        }
    qsort(items, all, sizeof *items, by_group_and_value);
    out->items = vs_xarena(memory, (groups.count + 1) * sizeof *out->items);
    for (size_t i = 0, n; i < all; i += n) {
        for (n = 1; i + n < all && items[i + n].group == items[i].group;)
            n++;
        const struct taken_sample *samples = &items[i];
        size_t known = 0;
        while (known < n && !samples[known].quantity->unknown)
            known++;
        size_t at = known ? chosen(known, how, samples->quantity->metric == VS_METRIC_FREE) : 0;
        out->items[out->count++] = (struct vs_taken_quantity){
            .quantity = *samples[at].quantity, .run = samples[at].run, .runs = known,
            .lowest = samples[0].quantity->value,
            .highest = samples[known ? known - 1 : 0].quantity->value};
    }
    vs_intern_free(&groups);
    free(items);
}
