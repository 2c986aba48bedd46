/* SPDX-License-Identifier: Apache-2.0
 *
 * From replay state to the parts of a report; see the header. All data is copied into the summary's
 * arena. */
#include "analysis/report/report_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/naming/library.h"
#include "analysis/report/balance_build.h"
#include "analysis/report/summary.h"
#include "analysis/state/user_level.h"
#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"

#define KERNELS_DEFAULT 50
#define CHURN_MAX 50
#define REPEATS_MIN 16
#define SITES_NAMED 64 /* of a framework; the rest is of the same one */

struct vs_report_peak vs_report_peak_of(const struct vs_summary *summary,
                                        const struct vs_peak *peak)
{
    return (struct vs_report_peak){
        .bytes = peak->bytes, .time_ns = peak->event ? vs_replay_since(summary->replay,
                                                                       peak->time_ns) : 0,
        .event = peak->event, .allocated = peak->allocated, .requested = peak->requested,
        .reserved = peak->reserved, .place = vs_summary_place(summary, peak->place)};
}

static struct vs_report_peak use_of(const struct vs_summary *summary,
                                    const struct vs_sample_mark *mark)
{
    return vs_report_peak_of(summary, &(struct vs_peak){.bytes = mark->used, .event = mark->event,
                                                        .time_ns = mark->time_ns,
                                                        .place = mark->place});
}

static void fill_families(const struct vs_account *account, struct vs_report_family *out)
{
    const struct vs_ledger *sums = &account->sums;
    for (int f = 0; f < VS_FAMILY_COUNT; f++)
        out[f] = (struct vs_report_family){
            .allocs = sums->family[f].allocs, .frees = sums->family[f].frees,
            .failures = account->family[f].failures, .bytes = account->family[f].bytes,
            .peak_bytes = sums->peak.family[f], .live_bytes = sums->now.family[f],
            .live_count = vs_ledger_live(sums, (unsigned)f)};
}

static void fill_activity(const struct vs_summary *summary, const struct vs_activity *activity,
                          size_t kernels_max, struct vs_report_device *out)
{
    const struct vs_device_activity *totals = vs_activity_device(activity, out->device);
    if (!totals)
        return;
    out->kernel_total = totals->kernels;
    out->sets = totals->sets;
    out->syncs = totals->syncs;
    memcpy(out->copies, totals->copies, sizeof out->copies);
    struct vs_kernel_row *rows = NULL;
    size_t count = 0, capacity = 0;
    for (size_t i = 0; i < activity->kernel_count; i++)
        if (activity->kernels[i].device == out->device)
            VS_VEC_ADD(rows, count, capacity, activity->kernels[i]);
    VS_SORT(rows, count, VS_DOWN(time_ns), VS_UP(name));
    kernels_max = kernels_max ? kernels_max : KERNELS_DEFAULT;
    out->kernel_count = count < kernels_max ? count : kernels_max;
    struct vs_report_kernel *kernels =
        vs_xarena(summary->memory, (out->kernel_count + 1) * sizeof *kernels);
    for (size_t i = 0; i < out->kernel_count; i++)
        kernels[i] = (struct vs_report_kernel){vs_summary_name(summary, rows[i].name),
                                               rows[i].count, rows[i].time_ns, rows[i].shortest_ns,
                                                   rows[i].longest_ns};
    free(rows);
    out->kernels = kernels;
}

static void fill_churn(const struct vs_summary *summary, unsigned account, uint64_t steps,
                       struct vs_report_device *out)
{
    const struct vs_sites *sites = &summary->replay->sites;
    struct vs_summary_row *rows = vs_xcalloc(sites->count + 1, sizeof *rows);
    size_t count = 0;
    for (size_t i = 0; i < sites->count; i++) {
        const struct vs_site *site = &sites->items[i];
        /* Whether it allocates and frees blocks of one size again and again. That they have one
         * size follows from the sum and the largest: both are exact. */
        if (site->device == account && vs_user_has_site(summary->replay, site) &&
            site->frees >= REPEATS_MIN && site->frees * 10 >= site->allocs * 9 && site->largest &&
            site->bytes / site->largest == site->allocs && site->bytes % site->largest == 0)
            rows[count++] = (struct vs_summary_row){.bytes = sites->items[i].bytes,
                                                    .site = (uint32_t)i};
    }
    VS_SORT(rows, count, VS_DOWN(bytes), VS_UP(site));
    out->churn_count = count < CHURN_MAX ? count : CHURN_MAX;
    out->churn_omitted = count - out->churn_count;
    struct vs_report_churn *items = vs_xarena(summary->memory,
                                              (out->churn_count + 1) * sizeof *items);
    for (size_t i = 0; i < out->churn_count; i++) {
        const struct vs_site *site = &sites->items[rows[i].site];
        items[i] = (struct vs_report_churn){
            .block_bytes = site->largest, .allocs = site->allocs, .frees = site->frees,
            .one_at_a_time = site->temporaries == site->frees && site->live_count == 0,
            .per_step = steps ? (double)site->allocs / (double)steps : 0,
            .site = {.family = site->family, .bytes = site->bytes, .count = site->allocs,
                     .allocs = site->allocs, .frees = site->frees, .alloc_bytes = site->bytes,
                     .largest = site->largest, .temporaries = site->temporaries,
                     .api = vs_summary_text(summary, site->api)}};
        vs_summary_frames(summary, site->stack, site->mark, &items[i].site);
    }
    out->churn = items;
    free(rows);
}

/* Which framework reported blocks: it took the memory that holds them. Where that was not recorded, PyTorch. */
static void name_framework(const struct vs_summary *summary, unsigned index, struct vs_report_device *out)
{
    const struct vs_sites *sites = &summary->replay->sites;
    char buffer[VS_LIBRARY_NAME_MAX], names[2 * VS_LIBRARY_NAME_MAX] = "";
    const struct vs_framework *first = NULL;
    out->framework = "PyTorch";
    out->contents = "tensors";
    for (size_t i = 0, seen = 0; i < sites->count && seen < SITES_NAMED; i++) {
        if (sites->items[i].device != index || !sites->items[i].backing)
            continue;
        const struct vs_framework *row = vs_framework_named(
            vs_summary_library(summary, sites->items[i].stack, buffer, NULL));
        seen++;
        if (!row || row == first)
            continue;
        if (first) {
            snprintf(names, sizeof names, "%s and %s", first->name, row->name);
            out->framework = vs_text_copy(summary->memory, names);
            return;
        }
        first = row;
        out->framework = row->name;
        out->contents = row->contents;
    }
}

/* The memory that frameworks hold without reporting the blocks in it. */
static void fill_frameworks(const struct vs_summary *summary, unsigned index, struct vs_report_device *out)
{
    const struct vs_sites *sites = &summary->replay->sites;
    char buffer[VS_LIBRARY_NAME_MAX];
    for (size_t i = 0; i < sites->count; i++) {
        const struct vs_site *site = &sites->items[i];
        const struct vs_framework *row;
        if (site->device == index && site->level == VS_LEVEL_DEVICE && !site->backing && site->live_bytes &&
            strcmp(vs_reader_string(summary->replay->reader, site->api), VS_HEAP_PROFILE_API) != 0 &&
            (row = vs_framework_named(
                        vs_summary_library(summary, site->stack, buffer, NULL))) != NULL &&
            !(out->has_framework && strstr(out->framework, row->name))) { /* it reported later */
            out->frameworks[row - vs_frameworks].bytes += site->live_bytes;
            out->frameworks[row - vs_frameworks].count += site->live_count;
        }
    }
}

struct vs_report_device *vs_report_devices(const struct vs_summary *summary, uint64_t steps,
                                           const struct vs_activity *activity, size_t kernels_max)
{
    const struct vs_replay *replay = summary->replay;
    struct vs_report_device *devices =
        vs_xarena(summary->memory, (replay->account_count + 1) * sizeof *devices);
    for (unsigned i = 0; i < replay->account_count; i++) {
        const struct vs_account *account = replay->accounts[i];
        const struct vs_user_sums user = vs_user_sums(replay, i);
        const struct vs_growth_row *growth =
            summary->growth && i < summary->growth->account_count ? &summary->growth->accounts[i]
                : NULL;
        struct vs_report_device *out = &devices[i];
        *out = (struct vs_report_device){
            .device = account->device, .name = vs_summary_text(summary, account->name),
            .uuid = vs_summary_text(summary, account->uuid), .total_bytes = account->total_bytes,
            .sm_count = account->sm_count, .cc_major = account->cc_major,
            .cc_minor = account->cc_minor, .simulated = account->simulated != 0,
            .peak_allocated = vs_report_peak_of(summary, &account->peak_allocated),
            .peak_user = vs_report_peak_of(summary, user.peak),
            .peak_requested = vs_report_peak_of(summary, &account->peak_requested),
            .peak_reserved = vs_report_peak_of(summary, &account->peak_reserved),
            .peak_reserved_first_ns = vs_replay_since(replay, account->peak_reserved_first_ns),
            .peak_reserved_first_place = vs_summary_place(summary,
                                                          account->peak_reserved_first_place),
            .use_known = use_of(summary, &account->use_known),
            .use_possible = use_of(summary, &account->use_possible),
            .balance_peak.event = account->peak_used.event,
            .balance_last.event = account->last_used.event,
            .allocated = account->sums.now.allocated, .requested = account->sums.now.requested,
            .reserved = account->sums.now.reserved, .lost_bytes = account->lost_bytes,
            .lost_count = account->lost_count, .segment_allocs = account->segment_allocs,
            .segment_frees = account->segment_frees,
            .graph_reserved = account->sums.graph_driver,
            .graph_used_peak = account->graph_used_peak,
            .graph_reserved_peak = account->graph_reserved_peak,
            .level = user.level, .user_allocated = user.allocated,
            .growth_steady = growth ? vs_growth_is_named(growth)
                                    : vs_growth_steady(user.growth, replay->phases.steps.done),
            .growth_per_step = growth ? growth->per_step : vs_growth_per_step(user.growth),
            .has_framework = account->framework.family[VS_FAMILY_DEVICE].allocs ||
                account->framework_ooms,
            .framework_allocs = account->framework.family[VS_FAMILY_DEVICE].allocs,
            .framework_frees = account->framework.family[VS_FAMILY_DEVICE].frees,
            .framework_allocated = account->framework.now.allocated,
            .framework_peak_allocated = account->framework.peak.allocated,
            .framework_peak_reserved = account->framework.peak.reserved,
            .framework_ooms = account->framework_ooms,
            .framework_retries = account->framework_retries};
        name_framework(summary, i, out);
        memcpy(out->unrecorded, account->unrecorded, sizeof out->unrecorded);
        fill_families(account, out->family);
        vs_summary_sites(summary, i, VS_SITES_LEFT, &out->at_end);
        if (out->level == VS_LEVEL_FRAMEWORK)
            vs_summary_device_sites(summary, i, VS_SITES_LEFT, &out->device_at_end);
        vs_summary_sites(summary, i, VS_SITES_GROWING, &out->growing);
        vs_summary_sites(summary, i, VS_SITES_FILLED, &out->filled);
        fill_churn(summary, i, steps, out);
        fill_activity(summary, activity, kernels_max, out);
    }
    qsort(devices, replay->account_count, sizeof *devices, vs_order_u64);
    return devices;
}

void vs_report_host(const struct vs_summary *summary, struct vs_report_host *out)
{
    const struct vs_account *account = summary->replay->accounts[VS_HOST_INDEX];
    const struct vs_peak *peak = &account->peak_allocated;
    fill_families(account, out->family);
    out->peak_bytes = peak->bytes;
    out->peak_time_ns = vs_replay_since(summary->replay, peak->time_ns);
    out->peak_place = vs_summary_place(summary, peak->place);
    out->live_bytes = account->sums.now.allocated;
    vs_summary_sites(summary, VS_HOST_INDEX, VS_SITES_LEFT, &out->at_end);
    vs_summary_sites(summary, VS_HOST_INDEX, VS_SITES_GROWING, &out->growing);
    vs_summary_sites(summary, VS_HOST_INDEX, VS_SITES_FILLED, &out->filled);
}

/* --- at peaks --- */

static void fill_holes(const struct vs_replay *replay, unsigned account,
                       struct vs_report_peak *peak)
{
    struct vs_holes holes;
    vs_replay_holes(replay, account, &holes);
    peak->free_bytes = holes.free_bytes;
    peak->largest_hole = holes.largest;
    peak->holes = holes.count;
    if (vs_replay_blocks_missing(replay, account)) {
        uint64_t used = peak->allocated < peak->reserved ? peak->allocated : peak->reserved;
        peak->free_bytes = peak->reserved - used;
        peak->largest_hole = peak->holes = 0;
        peak->holes_unknown = true;
    }
}

void vs_report_device_at(struct vs_report_device *device, const struct vs_summary *summary,
                         uint64_t event)
{
    const struct vs_replay *replay = summary->replay;
    unsigned index = vs_replay_account(replay, device->device);
    const struct vs_account *account = index == VS_ACCOUNT_NONE ? NULL : replay->accounts[index];
    if (!account)
        return;
    if (event == device->peak_allocated.event) {
        fill_holes(replay, index, &device->peak_allocated);
        fill_frameworks(summary, index, device);
        if (device->level == VS_LEVEL_FRAMEWORK)
            vs_summary_device_sites(summary, index, VS_SITES_LIVE, &device->device_at_peak);
        /* A peak between two `unrecorded` events is not the state after the second: the difference
         * belongs to the family of these events, normally the device's own. */
        uint64_t *main = &device->family_at_peak[VS_FAMILY_DEVICE];
        memcpy(device->family_at_peak, account->sums.now.family, sizeof device->family_at_peak);
        for (int f = 0; f < VS_FAMILY_COUNT; f++)
            if (vs_family_on_device((uint64_t)f) && device->family_at_peak[f] > *main)
                main = &device->family_at_peak[f];
        *main += device->peak_allocated.bytes - account->sums.now.allocated;
    }
    if (event == device->peak_user.event) {
        vs_summary_sites(summary, index, VS_SITES_LIVE, &device->at_peak);
        if (replay->recording.selects)
            device->at_peak.whole_bytes = device->peak_user.bytes;
    }
    if (event == device->peak_requested.event)
        fill_holes(replay, index, &device->peak_requested);
    if (event == device->peak_reserved.event)
        fill_holes(replay, index, &device->peak_reserved);
    struct vs_balance *const balances[] = {&device->balance_peak, &device->balance_last};
    for (size_t i = 0; i < sizeof balances / sizeof *balances; i++) {
        const struct vs_sample_mark *mark = &account->last_used; /* a reading at the present time */
        struct vs_reading reading = {mark->free, mark->total, mark->event, mark->time_ns,
                                     mark->place};
        if (event == balances[i]->event)
            vs_balance_build(summary, index, &reading, balances[i]);
    }
}

uint64_t vs_report_next_peak(const struct vs_report_device *device, uint64_t after, uint64_t next)
{
    const uint64_t events[] = {device->peak_allocated.event, device->peak_user.event,
                               device->peak_requested.event, device->peak_reserved.event,
                               device->balance_peak.event, device->balance_last.event};
    for (size_t k = 0; k < sizeof events / sizeof *events; k++)
        if (events[k] > after && events[k] < next)
            next = events[k];
    return next;
}

/* --- phases --- */

/* Children follow their parent, in the order in which they were first opened: a phase's index is
 * greater than its parent's, so that lists by first child need no recursion deeper than the nesting
 * of ranges. */
const struct vs_report_phase *vs_report_phases(const struct vs_summary *summary,
                                               const struct vs_report_device *devices,
                                               size_t device_count, size_t *count)
{
    const struct vs_replay *replay = summary->replay;
    size_t phases = replay->phases.count;
    struct vs_report_phase *list = vs_xarena(summary->memory, phases * sizeof *list);
    uint32_t *child = vs_xcalloc(phases, sizeof *child),
        *sibling = vs_xcalloc(phases, sizeof *sibling);
    for (size_t i = phases; i-- > 1;) {
        uint32_t parent = replay->phases.items[i].parent;
        sibling[i] = child[parent];
        child[parent] = (uint32_t)i;
    }
    uint32_t at = child[0];
    unsigned depth = 0;
    for (*count = 0; at; ++*count) {
        const struct vs_phase *phase = &replay->phases.items[at];
        struct vs_report_phase *out = &list[*count];
        uint64_t *peaks = vs_xarena(summary->memory, (device_count + 1) * sizeof *peaks);
        char *path = vs_phases_path(&replay->phases, at);
        *out = (struct vs_report_phase){
            .name = vs_text_copy(summary->memory, phase->name),
            .path = vs_text_copy(summary->memory, path),
            .depth = depth, .times = phase->times, .time_ns = phase->time_ns, .peaks = peaks};
        free(path);
        out->allocs = vs_user_phase_allocs(replay, phase, &out->alloc_bytes);
        for (size_t i = 0; i < device_count; i++)
            peaks[i] = vs_user_phase_peak(replay, phase,
                                          vs_replay_account(replay, devices[i].device));
        if (child[at]) {
            at = child[at];
            depth++;
            continue;
        }
        while (at && !sibling[at]) {
            at = replay->phases.items[at].parent;
            depth--;
        }
        at = at ? sibling[at] : 0;
    }
    free(child);
    free(sibling);
    return list;
}
