/* SPDX-License-Identifier: Apache-2.0
 *
 * From replay state to struct vs_report; see the header. All data is copied into the report's
 * arena. */
#include "analysis/report/report_fill.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/report/balance_build.h"
#include "analysis/report/growth_fill.h"
#include "analysis/state/user_level.h"
#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"
#include "base/vs_text.h"
#include "trace/symbols/demangle.h"

#define KERNELS_DEFAULT 50
#define CHURN_MAX 50
#define REPEATS_MIN 16

static const char *text_of(struct vs_report *report, const struct vs_replay *replay, uint64_t id)
{
    return vs_text_copy(&report->memory, vs_reader_string(replay->reader, id));
}

static const char *kernel_name(struct vs_report *report, const struct vs_replay *replay,
                               uint64_t id)
{
    const char *name = vs_reader_string(replay->reader, id);
    char *readable = vs_demangle(name);
    const char *kept = vs_text_copy(&report->memory, readable ? readable : name);
    free(readable);
    return kept;
}

static const char *path_of(struct vs_report *report, const struct vs_replay *replay, uint32_t phase)
{
    char *path = vs_phases_path(&replay->phases, phase);
    const char *kept = vs_text_copy(&report->memory, path);
    free(path);
    return kept;
}

static void fill_process(struct vs_report *report, const struct vs_replay *replay,
                         const struct vs_activity *activity)
{
    report->start_ns = vs_replay_start_ns(replay);
    uint64_t last = activity->last_ns > replay->now_ns ? activity->last_ns : replay->now_ns;
    report->duration_ns = vs_replay_since(replay, last);
    report->events = replay->events;
    report->unmatched_frees = replay->unmatched_frees;
    report->unmatched_pops = replay->phases.unmatched_pops;
    report->ignored = replay->ignored;
    report->has_end = replay->has_end;
    if (replay->has_end) {
        report->end_reason = replay->end.end.reason;
        report->end_status = replay->end.end.status;
    }
    report->recording = replay->recording;
    report->totals_ns = replay->totals_ns ? vs_replay_since(replay, replay->totals_ns) : 0;
    for (int i = 0; i <= VS_RECORDING_TOTALS; i++)
        report->recording.since_ns[i] = vs_replay_since(replay, replay->recording.since_ns[i]);
    report->recording.paused_ns = vs_replay_since(replay, replay->recording.paused_ns);
    struct vs_event none = {0};
    const struct vs_event *process = replay->has_process ? &replay->process : &none;
    report->pid = process->process.pid;
    report->ppid = process->process.ppid;
    report->start_realtime_ns = process->process.start_realtime_ns;
    report->exe = text_of(report, replay, process->process.exe);
    report->cmdline = text_of(report, replay, process->process.cmdline);
    report->host = text_of(report, replay, process->process.host);
    report->version = text_of(report, replay, process->process.version);
    report->policy = text_of(report, replay, process->process.policy);
    report->program = vs_text_base_name(report->exe);
    const struct vs_steps *steps = &replay->phases.steps;
    report->steps = (struct vs_report_steps){
        .begun = steps->begun, .done = steps->done, .total_ns = steps->total_ns,
        .shortest_ns = steps->shortest_ns, .longest_ns = steps->longest_ns,
        .longest_number = steps->longest_number, .last_number = steps->number};
}

static void fill_families(struct vs_report_family *out, const struct vs_account *account)
{
    for (int f = 0; f < VS_FAMILY_COUNT; f++) {
        const struct vs_ledger *sums = &account->sums;
        out[f] = (struct vs_report_family){
            .allocs = sums->family[f].allocs, .frees = sums->family[f].frees,
            .failures = account->family[f].failures, .bytes = account->family[f].bytes,
            .peak_bytes = sums->peak.family[f], .live_bytes = sums->now.family[f],
            .live_count = vs_ledger_live(sums, (unsigned)f)};
    }
}

static void fill_peak(struct vs_report *report, const struct vs_replay *replay,
                      const struct vs_peak *from, struct vs_report_peak *out)
{
    *out = (struct vs_report_peak){
        .bytes = from->bytes, .time_ns = from->event ? vs_replay_since(replay, from->time_ns) : 0,
        .event = from->event, .allocated = from->allocated, .requested = from->requested,
        .reserved = from->reserved,
        .place = vs_text_copy(&report->memory, vs_place_text(&replay->phases, from->place))};
}

static void fill_use(struct vs_report *report, const struct vs_replay *replay,
                     const struct vs_sample_mark *from, struct vs_report_peak *out)
{
    struct vs_peak peak = {.bytes = from->used, .event = from->event, .time_ns = from->time_ns, .place = from->place};
    fill_peak(report, replay, &peak, out);
}

static int longer(const void *a, const void *b)
{
    const struct vs_kernel_row *x = a, *y = b;
    return vs_then(VS_ORDER(y->time_ns, x->time_ns), VS_ORDER(x->name, y->name));
}

static void fill_kernels(struct vs_report *report, const struct vs_replay *replay,
                         const struct vs_activity *activity, size_t kernels_max,
                         struct vs_report_device *out)
{
    const struct vs_device_activity *totals = vs_activity_device(activity, out->device);
    if (!totals)
        return;
    out->kernel_total = (struct vs_report_tally){totals->kernels.count, 0, totals->kernels.time_ns};
    out->sets = (struct vs_report_tally){totals->sets.count, totals->sets.bytes, totals->sets.time_ns};
    out->syncs = (struct vs_report_tally){totals->syncs.count, 0, totals->syncs.time_ns};
    for (int k = 0; k < VS_COPY_KIND_COUNT; k++)
        out->copies[k] = (struct vs_report_tally){totals->copies[k].count, totals->copies[k].bytes,
                                                  totals->copies[k].time_ns};
    struct vs_kernel_row *rows = NULL;
    size_t count = 0, capacity = 0;
    for (size_t i = 0; i < activity->kernel_count; i++) {
        if (activity->kernels[i].device != out->device)
            continue;
        VS_VEC_ADD(rows, count, capacity, activity->kernels[i]);
    }
    vs_vec_sort(rows, count, sizeof *rows, longer);
    size_t kept = count < kernels_max ? count : kernels_max;
    struct vs_report_kernel *kernels =
        vs_xarena(&report->memory, (kept ? kept : 1) * sizeof *kernels);
    for (size_t i = 0; i < kept; i++) {
        kernels[i] = (struct vs_report_kernel){kernel_name(report, replay, rows[i].name), rows[i].count,
                                               rows[i].time_ns, rows[i].shortest_ns,
                                               rows[i].longest_ns};
    }
    free(rows);
    out->kernels = kernels;
    out->kernel_count = kept;
}

/* Whether the site allocates and frees blocks of one size again and again. That they have one size
 * follows from the sum and the largest: both are exact. */
static bool repeats(const struct vs_replay *replay, const struct vs_site *site, unsigned account)
{
    return site->device == account && vs_user_has_site(replay, site) && site->frees >= REPEATS_MIN &&
           site->frees * 10 >= site->allocs * 9 && site->largest &&
           site->bytes / site->largest == site->allocs && site->bytes % site->largest == 0;
}

static void name_churn(const struct vs_summary *summary, const struct vs_site *site,
                     uint64_t steps, struct vs_report_churn *out)
{
    const struct vs_replay *replay = summary->replay;
    *out = (struct vs_report_churn){
        .block_bytes = site->largest, .allocs = site->allocs, .frees = site->frees,
        .one_at_a_time = site->temporaries == site->frees && site->live_count == 0,
        .per_step = steps ? (double)site->allocs / (double)steps : 0,
        .site = {.family = site->family, .bytes = site->bytes, .count = site->allocs,
                 .allocs = site->allocs, .frees = site->frees, .alloc_bytes = site->bytes,
                 .largest = site->largest, .temporaries = site->temporaries}};
    out->site.api = vs_text_copy(summary->memory, vs_reader_string(replay->reader, site->api));
    vs_summary_frames(summary, site->stack, site->mark, &out->site);
}

static void fill_churn(const struct vs_summary *summary, unsigned account, uint64_t steps,
                       struct vs_report_device *out)
{
    const struct vs_sites *sites = &summary->replay->sites;
    struct vs_summary_row *rows = vs_xcalloc(sites->count + 1, sizeof *rows);
    size_t count = 0;
    for (size_t i = 0; i < sites->count; i++)
        if (repeats(summary->replay, &sites->items[i], account))
            rows[count++] = (struct vs_summary_row){.bytes = sites->items[i].bytes,
                                                    .count = sites->items[i].allocs,
                                                    .site = (uint32_t)i};
    qsort(rows, count, sizeof *rows, vs_heavier_row);
    size_t kept = count < CHURN_MAX ? count : CHURN_MAX;
    struct vs_report_churn *items =
        vs_xarena(summary->memory, (kept + 1) * sizeof *items);
    for (size_t i = 0; i < kept; i++)
        name_churn(summary, &sites->items[rows[i].site], steps, &items[i]);
    out->churn = items;
    out->churn_count = kept;
    out->churn_omitted = count - kept;
    free(rows);
}

static void fill_device(struct vs_report *report, const struct vs_summary *summary,
                        unsigned index, struct vs_report_device *out)
{
    const struct vs_replay *replay = summary->replay;
    const struct vs_account *account = replay->accounts[index];
    const struct vs_user_sums user = vs_user_sums(replay, index);
    *out = (struct vs_report_device){
        .device = account->device, .name = text_of(report, replay, account->name),
        .uuid = text_of(report, replay, account->uuid), .total_bytes = account->total_bytes,
        .sm_count = account->sm_count, .cc_major = account->cc_major,
        .cc_minor = account->cc_minor, .simulated = account->simulated != 0,
        .peak_reserved_first_ns = vs_replay_since(replay, account->peak_reserved_first_ns),
        .peak_reserved_first_place =
            vs_text_copy(&report->memory,
                         vs_place_text(&replay->phases, account->peak_reserved_first_place)),
        .allocated = account->sums.now.allocated, .requested = account->sums.now.requested,
        .reserved = account->sums.now.reserved, .lost_bytes = account->lost_bytes,
        .lost_count = account->lost_count, .segment_allocs = account->segment_allocs,
        .segment_frees = account->segment_frees,
        .graph_reserved = account->sums.graph_driver, .graph_used_peak = account->graph_used_peak,
        .graph_reserved_peak = account->graph_reserved_peak,
        .level = user.level, .user_allocated = user.allocated,
        .growth_steady = vs_growth_steady(user.growth, replay->phases.steps.done),
        .growth_per_step = vs_growth_per_step(user.growth),
        .has_framework = account->framework.family[VS_FAMILY_DEVICE].allocs || account->framework_ooms,
        .framework_allocs = account->framework.family[VS_FAMILY_DEVICE].allocs,
        .framework_frees = account->framework.family[VS_FAMILY_DEVICE].frees,
        .framework_allocated = account->framework.now.allocated,
        .framework_peak_allocated = account->framework.peak.allocated,
        .framework_peak_reserved = account->framework.peak.reserved,
        .framework_ooms = account->framework_ooms,
        .framework_retries = account->framework_retries};
    memcpy(out->unrecorded, account->unrecorded, sizeof out->unrecorded);
    out->balance_peak.event = account->peak_used.event;
    out->balance_last.event = account->last_used.event;
    fill_families(out->family, account);
    fill_peak(report, replay, &account->peak_allocated, &out->peak_allocated);
    fill_peak(report, replay, user.peak, &out->peak_user);
    fill_peak(report, replay, &account->peak_requested, &out->peak_requested);
    fill_peak(report, replay, &account->peak_reserved, &out->peak_reserved);
    fill_use(report, replay, &account->use_known, &out->use_known);
    fill_use(report, replay, &account->use_possible, &out->use_possible);
    vs_summary_sites(summary, index, VS_SITES_LEFT, &out->at_end);
    if (out->level == VS_LEVEL_FRAMEWORK)
        vs_summary_device_sites(summary, index, VS_SITES_LEFT, &out->device_at_end);
    vs_summary_sites(summary, index, VS_SITES_GROWING, &out->growing);
    fill_churn(summary, index, report->steps.done, out);
    vs_summary_sites(summary, index, VS_SITES_FILLED, &out->filled);
    if (summary->growth && index < summary->growth->account_count) {
        const struct vs_growth_row *row = &summary->growth->accounts[index];
        out->growth_steady = vs_growth_is_named(row);
        out->growth_per_step = row->per_step;
    }
}

static void fill_devices(struct vs_report *report, const struct vs_summary *summary,
                         const struct vs_activity *activity, size_t kernels_max)
{
    const struct vs_replay *replay = summary->replay;
    struct vs_report_device *devices =
        vs_xarena(&report->memory, (replay->account_count + 1) * sizeof *devices);
    for (unsigned i = 0; i < replay->account_count; i++) {
        fill_device(report, summary, i, &devices[i]);
        fill_kernels(report, replay, activity, kernels_max, &devices[i]);
    }
    qsort(devices, replay->account_count, sizeof *devices, vs_order_u64);
    report->devices = devices;
    report->device_count = replay->account_count;
}

static void add_phase(struct vs_report *report, const struct vs_replay *replay,
                      uint32_t index, unsigned depth, struct vs_report_phase *out)
{
    const struct vs_phase *phase = &replay->phases.items[index];
    uint64_t *peaks = vs_xarena(&report->memory, (report->device_count + 1) * sizeof *peaks);
    *out = (struct vs_report_phase){
        .name = vs_text_copy(&report->memory, phase->name),
        .path = path_of(report, replay, index),
        .depth = depth, .times = phase->times, .time_ns = phase->time_ns,
        .peaks = peaks};
    out->allocs = vs_user_phase_allocs(replay, phase, &out->alloc_bytes);
    for (unsigned i = 0; i < replay->account_count; i++)
        peaks[(size_t)(vs_report_device_of(report, replay->accounts[i]->device) - report->devices)] =
            vs_user_phase_peak(replay, phase, i);
}

/* Children follow their parent, in the order in which they were first opened: a phase's index is
 * greater than its parent's, so that lists by first child need no recursion deeper than the nesting
 * of ranges. */
static void fill_phases(struct vs_report *report, const struct vs_replay *replay)
{
    size_t count = replay->phases.count;
    struct vs_report_phase *out = vs_xarena(&report->memory, count * sizeof *out);
    uint32_t *child = vs_xcalloc(count, sizeof *child), *sibling = vs_xcalloc(count, sizeof *sibling);
    for (size_t i = count; i-- > 1;) {
        uint32_t parent = replay->phases.items[i].parent;
        sibling[i] = child[parent];
        child[parent] = (uint32_t)i;
    }
    uint32_t at = child[0];
    unsigned depth = 0;
    while (at) {
        add_phase(report, replay, at, depth, &out[report->phase_count++]);
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
    report->phases = out;
}

static void fill_failures(struct vs_report *report, const struct vs_summary *summary)
{
    const struct vs_replay *replay = summary->replay;
    struct vs_report_failure *out =
        vs_xarena(&report->memory, (replay->failure_count + 1) * sizeof *out);
    for (size_t i = 0; i < replay->failure_count; i++) {
        vs_summary_failure(summary, &replay->failures[i], &out[i]);
    }
    report->failures = out;
    report->failure_count = replay->failure_count;
    report->failure_total = replay->failure_total;
}

void vs_report_fill_firsts(struct vs_report *report, const struct vs_summary *summary)
{
    const struct vs_replay *replay = summary->replay;
    const struct vs_failure_firsts *firsts = &replay->firsts;
    struct vs_report_first *out =
        vs_xarena(&report->memory, (firsts->count + 1) * sizeof *out);
    for (size_t i = 0; i < firsts->count; i++) {
        out[i].number = firsts->items[i].number;
        out[i].more = firsts->items[i].more;
        vs_summary_failure(summary, &firsts->items[i].failure, &out[i].failure);
    }
    report->firsts = out;
    report->first_count = firsts->count;
    for (size_t i = 0; i < replay->failure_count; i++)
        report->failures_recovered += replay->failures[i].recovered;
    for (size_t i = 0; i <= VS_HOST_INDEX; i++)
        report->failures_recovered += firsts->recovered[i];
}

static bool same_failure(const struct vs_report_failure *a, const struct vs_report_failure *b)
{
    return a->host == b->host && a->device == b->device && a->framework == b->framework &&
           a->overhead == b->overhead && a->error == b->error && strcmp(a->api, b->api) == 0 &&
           vs_summary_same_text(&a->site, &b->site);
}

static void join_groups(struct vs_report_failure_group *into,
                        const struct vs_report_failure_group *from)
{
    into->count += from->count;
    into->recovered &= from->recovered;
    if (from->last_ns > into->last_ns)
        into->last_ns = from->last_ns;
    if (from->smallest < into->smallest)
        into->smallest = from->smallest;
    if (from->largest > into->largest)
        into->largest = from->largest;
}

void vs_report_fill_groups(struct vs_report *report, const struct vs_summary *summary,
                           const struct vs_failure_groups *groups)
{
    struct vs_report_failure_group *out =
        vs_xarena(&report->memory, (groups->count + 1) * sizeof *out);
    for (size_t i = 0; i < groups->count; i++) {
        const struct vs_failure_group *from = &groups->items[i];
        struct vs_report_failure_group *group = &out[report->group_count];
        *group = (struct vs_report_failure_group){
            .count = from->count, .last_ns = vs_replay_since(summary->replay, from->last_ns),
            .smallest = from->smallest, .largest = from->largest,
            .recovered = vs_failure_group_recovered(from, summary->replay)};
        vs_summary_failure(summary, &from->first, &group->first);
        size_t same = 0;
        while (same < report->group_count && (out[same].recovered != group->recovered ||
                                              !same_failure(&out[same].first, &group->first)))
            same++;
        if (same < report->group_count)
            join_groups(&out[same], group);
        else
            report->group_count++;
    }
    report->groups = out;
    report->ungrouped = groups->left_out;
}

static void fill_finding(const struct vs_summary *summary,
                         const struct vs_finding_group *group, struct vs_report_finding *out)
{
    const struct vs_replay *replay = summary->replay;
    const struct vs_event_finding *first = &group->first;
    uint64_t alloc_stack = group->freed ? group->alloc.stack : first->alloc_stack;
    *out = (struct vs_report_finding){
        .group = *group,
        .api = vs_text_copy(summary->memory, vs_reader_string(replay->reader, first->api)),
        .freed_api = vs_text_copy(summary->memory,
                                     vs_reader_string(replay->reader, group->freed_api)),
        .alloc_api = vs_text_copy(summary->memory,
                                     vs_reader_string(replay->reader, group->alloc.api)),
        .text = vs_text_copy(summary->memory, vs_reader_string(replay->reader, first->text))};
    out->group.first_ns = vs_replay_since(replay, group->first_ns);
    out->group.last_ns = vs_replay_since(replay, group->last_ns);
    out->group.alloc_ns = vs_replay_since(replay, group->alloc_ns);
    out->group.freed_ns = vs_replay_since(replay, group->freed_ns);
    out->site.api = out->api;
    out->alloc.api = out->alloc_api;
    out->earlier.api = "";
    vs_summary_frames(summary, first->stack, 0, &out->site);
    if (alloc_stack)
        vs_summary_frames(summary, alloc_stack, 0, &out->alloc);
    if (first->earlier_stack)
        vs_summary_frames(summary, first->earlier_stack, 0, &out->earlier);
}

void vs_report_fill_findings(struct vs_report *report, const struct vs_summary *summary,
                             const struct vs_finding_groups *groups)
{
    struct vs_report_finding *out =
        vs_xarena(&report->memory, (groups->count + 1) * sizeof *out);
    for (size_t i = 0; i < groups->count; i++)
        fill_finding(summary, &groups->items[i], &out[i]);
    report->findings = out;
    report->finding_count = groups->count;
    report->findings_ungrouped = groups->left_out;
}

void vs_report_fill(struct vs_report *report, const struct vs_summary *summary,
                    const struct vs_activity *activity, size_t kernels_max)
{
    fill_process(report, summary->replay, activity);
    vs_growth_steps_fill(summary, &report->memory, &report->steps);
    fill_devices(report, summary, activity, kernels_max ? kernels_max : KERNELS_DEFAULT);
    const struct vs_replay *replay = summary->replay;
    const struct vs_account *account = replay->accounts[VS_HOST_INDEX];
    struct vs_report_host *out = &report->host_memory;
    fill_families(out->family, account);
    out->peak_bytes = account->peak_allocated.bytes;
    out->peak_time_ns = vs_replay_since(replay, account->peak_allocated.time_ns);
    out->peak_place = vs_text_copy(&report->memory,
                                   vs_place_text(&replay->phases, account->peak_allocated.place));
    out->live_bytes = account->sums.now.allocated;
    vs_summary_sites(summary, VS_HOST_INDEX, VS_SITES_LEFT, &out->at_end);
    vs_summary_sites(summary, VS_HOST_INDEX, VS_SITES_GROWING, &out->growing);
    vs_summary_sites(summary, VS_HOST_INDEX, VS_SITES_FILLED, &out->filled);
    fill_phases(report, summary->replay);
    fill_failures(report, summary);
}

void vs_report_fill_chosen(struct vs_report *report, const struct vs_summary *summary,
                           const struct vs_peak *peaks)
{
    for (size_t i = 0; i < report->device_count; i++) {
        unsigned account = vs_replay_account(summary->replay, report->devices[i].device);
        if (account != VS_ACCOUNT_NONE)
            fill_peak(report, summary->replay, &peaks[account], &report->devices[i].peak_chosen);
    }
}

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

/* Called when the latest reading of *account* is at the present time. */
static void fill_balance(const struct vs_summary *summary, unsigned account,
                         struct vs_balance *out)
{
    const struct vs_sample_mark *mark = &summary->replay->accounts[account]->last_used;
    struct vs_reading reading = {mark->free, mark->total, mark->event, mark->time_ns, mark->place};
    vs_balance_build(summary, account, &reading, out);
}

/* A peak between two `unrecorded` events is not the state after the second: the difference belongs
 * to the family of these events, normally the device's own. */
static void fill_family_at_peak(struct vs_report_device *device, const struct vs_account *account)
{
    for (int f = 0; f < VS_FAMILY_COUNT; f++)
        device->family_at_peak[f] = account->sums.now.family[f];
    uint64_t more = device->peak_allocated.bytes - account->sums.now.allocated;
    uint64_t *main = &device->family_at_peak[VS_FAMILY_DEVICE];
    for (int f = 0; f < VS_FAMILY_COUNT; f++)
        if (vs_family_on_device((uint64_t)f) && device->family_at_peak[f] > *main)
            main = &device->family_at_peak[f];
    *main += more;
}

uint64_t vs_report_held_event(const struct vs_report *report,
                              const struct vs_report_device *device)
{
    if (report->part.moment)
        return report->part.last_event;
    return vs_report_of_phase(report) ? device->peak_chosen.event : device->peak_user.event;
}

void vs_report_fill_peaks(struct vs_report *report, const struct vs_summary *summary,
                          const struct vs_held_request *request,
                          const struct vs_kinds_table *kinds, uint64_t event)
{
    struct vs_held_request own = *request;
    if (report->part.moment || report->part.window)
        own.uses = NULL; /* not all of the activity was read */
    for (size_t i = 0; i < report->device_count; i++) {
        struct vs_report_device *device = &report->devices[i];
        unsigned account = vs_replay_account(summary->replay, device->device);
        if (account == VS_ACCOUNT_NONE)
            continue;
        if (event == device->peak_allocated.event) {
            fill_holes(summary->replay, account, &device->peak_allocated);
            if (device->level == VS_LEVEL_FRAMEWORK)
                vs_summary_device_sites(summary, account, VS_SITES_LIVE,
                                              &device->device_at_peak);
            fill_family_at_peak(device, summary->replay->accounts[account]);
        }
        if (event == device->peak_user.event) {
            vs_summary_sites(summary, account, VS_SITES_LIVE, &device->at_peak);
            if (summary->replay->recording.selects)
                device->at_peak.whole_bytes = device->peak_user.bytes;
        }
        if (event == vs_report_held_event(report, device)) {
            own.kinds = kinds && kinds[i].event ? &kinds[i] : NULL;
            vs_held_build(summary, account, &own, &device->held);
            if (!report->part.moment) {
                const struct vs_report_peak *peak =
                    vs_report_of_phase(report) ? &device->peak_chosen : &device->peak_user;
                device->held.time_ns = peak->time_ns;
                device->held.place = peak->place;
            }
        }
        if (event == device->peak_requested.event)
            fill_holes(summary->replay, account, &device->peak_requested);
        if (event == device->peak_reserved.event)
            fill_holes(summary->replay, account, &device->peak_reserved);
        if (event == device->balance_peak.event)
            fill_balance(summary, account, &device->balance_peak);
        if (event == device->balance_last.event)
            fill_balance(summary, account, &device->balance_last);
    }
}

uint64_t vs_report_next_peak(const struct vs_report *report, uint64_t after)
{
    uint64_t next = 0;
    for (size_t i = 0; i < report->device_count; i++) {
        const struct vs_report_device *device = &report->devices[i];
        const uint64_t events[] = {vs_report_held_event(report, device), device->peak_allocated.event,
                                   device->peak_user.event, device->peak_requested.event,
                                   device->peak_reserved.event, device->balance_peak.event,
                                   device->balance_last.event};
        for (size_t k = 0; k < sizeof events / sizeof *events; k++)
            if (events[k] > after && (!next || events[k] < next))
                next = events[k];
    }
    return next;
}
