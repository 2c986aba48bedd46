/* SPDX-License-Identifier: Apache-2.0
 *
 * The facts for a post-mortem: replays the trace to the failure and collects them. The rules are in
 * the verdict files. */
#include "analysis/oom/oom.h"

#include <stdlib.h>
#include <string.h>

#include "allocator/core/placement_policy.h"
#include "analysis/growth/growth.h"
#include "analysis/oom/block_history.h"
#include "analysis/oom/oom_facts.h"
#include "analysis/oom/verdict.h"
#include "analysis/report/balance_build.h"
#include "analysis/report/summary.h"
#include "analysis/state/driver_pages.h"
#include "analysis/state/reading.h"
#include "analysis/state/replay.h"
#include "analysis/state/user_level.h"
#include "base/reading/vs_xalloc.h"
#include "trace/symbols/symbols.h"

#define SITES_MAX 20

/* A failure to explain. */
struct chosen {
    const struct vs_report_failure *failure;
    uint64_t number;   /* among all, from 1 */
    uint64_t repeated; /* identical ones after it */
};

static enum vs_err choose_number(const struct vs_report *report, uint64_t nth, struct chosen *out)
{
    uint64_t forgotten = report->failure_total - report->failure_count;
    for (size_t i = 0; i < report->first_count; i++)
        if (report->firsts[i].number == nth) {
            *out = (struct chosen){&report->firsts[i].failure, nth, 0};
            return VS_OK;
        }
    if (nth <= forgotten || nth > report->failure_total)
        return VS_ERR_NOT_FOUND;
    *out = (struct chosen){&report->failures[nth - forgotten - 1], nth, 0};
    return VS_OK;
}

static bool identical(const struct vs_report_failure *a, const struct vs_report_failure *b)
{
    return a->framework == b->framework && a->stack == b->stack && a->requested == b->requested &&
           a->host == b->host && a->device == b->device && a->family == b->family &&
           a->overhead == b->overhead && a->error == b->error && a->recovered == b->recovered &&
           (a->stack || strcmp(a->api, b->api) == 0);
}

static int rank_of(const struct vs_report_failure *failure)
{
    return 2 * vs_oom_is_out_of_memory(failure) + !failure->recovered;
}

/* The first of those identical to the latest failure with the highest rank. */
static void choose_first(const struct vs_report *report, struct chosen *out)
{
    const struct vs_report_failure *best = &report->failures[report->failure_count - 1];
    uint64_t forgotten = report->failure_total - report->failure_count, same = 0;
    for (size_t i = report->failure_count - 1; i-- > 0;)
        if (rank_of(&report->failures[i]) > rank_of(best))
            best = &report->failures[i];
    for (size_t i = report->first_count; i-- > 0;)
        if (rank_of(&report->firsts[i].failure) > rank_of(best))
            best = &report->firsts[i].failure;
    *out = (struct chosen){.failure = best};
    for (size_t i = 0; i < report->first_count; i++) {
        const struct vs_report_first *first = &report->firsts[i];
        if (!identical(&first->failure, best))
            continue;
        *out = (struct chosen){&first->failure, first->number, 0};
        same += 1 + first->more;
    }
    for (size_t i = 0; i < report->failure_count; i++) {
        if (!identical(&report->failures[i], best))
            continue;
        if (!same++)
            *out = (struct chosen){&report->failures[i], forgotten + i + 1, 0};
    }
    out->repeated = same - 1;
}

/* A context needs as much as the largest that exists. Otherwise the driver does not say how much it
 * needed: more than was free. */
static void fill_overhead_need(struct vs_oom *oom, const struct vs_account *account,
                               const struct vs_failure *failure)
{
    const struct vs_device_usage *usage = &account->usage;
    int64_t largest = 0;
    for (size_t i = 0; failure->overhead == 1 + VS_OVERHEAD_CONTEXT && i < usage->context_count; i++)
        if (usage->contexts[i].measured && usage->contexts[i].how != VS_OVERHEAD_AT_MOST &&
            usage->contexts[i].bytes[VS_OVERHEAD_CONTEXT] > largest)
            largest = usage->contexts[i].bytes[VS_OVERHEAD_CONTEXT];
    oom->need_at_least = (uint64_t)largest <= oom->free_bytes;
    oom->need = oom->need_at_least ? oom->free_bytes + VS_DRIVER_PAGE : (uint64_t)largest;
}

/* Bytes needed from the device for a request: of a framework the segment that it could not get, or
 * the handles of physical memory that it maps for it. */
static uint64_t rounded_need(const struct vs_replay *replay, const struct vs_failure *failure)
{
    uint64_t handle = failure->framework && failure->family == VS_FAMILY_VMM
                          ? failure->device_requested : 0;
    if (handle)
        return failure->requested > UINT64_MAX - handle
                   ? failure->requested : (failure->requested + handle - 1) / handle * handle;
    if (failure->family != VS_FAMILY_DEVICE)
        return vs_family_on_device(failure->family) ? vs_driver_pages(failure->requested)
                                                    : failure->requested;
    return vs_policy_device_bytes(vs_policy_of_trace(vs_replay_policy(replay)),
                                  failure->device_requested > failure->requested
                                      ? failure->device_requested : failure->requested);
}

static void fill_device(struct vs_oom *oom, const struct vs_replay *replay,
                        const struct vs_failure *failure, const struct vs_oom_reading *reading)
{
    const struct vs_account *account = replay->accounts[failure->account];
    oom->need = rounded_need(replay, failure);
    oom->reserved = account->sums.now.reserved;
    oom->allocated = account->sums.now.allocated;
    oom->steps_begun = replay->phases.steps.begun;
    oom->steps_done = replay->phases.steps.done;
    oom->earlier_peak = account->peak_allocated.bytes;
    for (int f = 0; f < VS_FAMILY_COUNT; f++)
        oom->family[f] = account->sums.now.family[f];
    oom->total = account->total_bytes;
    if (failure->device_total) {
        oom->total = failure->device_total;
        oom->free_bytes = failure->device_free;
        oom->free_known = true;
    } else if (reading->total) { /* it was not asked: as it was, less what was reserved since */
        uint64_t now = reading->free + reading->reserved;
        oom->total = reading->total;
        oom->free_bytes = now > oom->reserved ? now - oom->reserved : 0;
        if (oom->free_bytes > oom->total)
            oom->free_bytes = oom->total;
        oom->free_known = true;
    } else {
        oom->free_bytes = oom->total > oom->reserved ? oom->total - oom->reserved : 0;
    }
    if (failure->overhead)
        fill_overhead_need(oom, account, failure);
    uint64_t known = oom->free_bytes + oom->reserved;
    oom->outside = oom->total > known ? oom->total - known : 0;
}

static void fill_cached(struct vs_oom *oom, const struct vs_replay *replay,
                        const struct vs_failure *failure)
{
    if (oom->failure.host)
        return;
    struct vs_holes holes;
    vs_replay_holes(replay, failure->account, &holes);
    oom->cached = holes.free_bytes;
    oom->largest_hole = holes.largest;
    oom->holes = holes.count;
    oom->empty_bytes = holes.empty_bytes;
    if (oom->cache.framework) {
        oom->cached = oom->cache.segment_bytes > oom->cache.used_bytes
                          ? oom->cache.segment_bytes - oom->cache.used_bytes : 0; /* damaged trace */
        oom->largest_hole = oom->cache.largest > oom->cache.withheld_largest
                                ? oom->cache.largest : oom->cache.withheld_largest;
        oom->holes = oom->cache.pieces;
    }
    uint64_t available = oom->free_bytes + oom->empty_bytes;
    oom->missing = oom->need > available ? oom->need - available : 0;
    oom->missing_unknown = !oom->missing && !oom->free_known;
}

static enum vs_err fill_balance(struct vs_oom *oom, const struct vs_summary *summary,
                                const struct vs_failure *failure)
{
    if (oom->failure.host || !oom->free_known || oom->limit)
        return VS_OK;
    struct vs_reading reading = {oom->free_bytes, oom->total, failure->event, failure->time_ns,
                                 failure->place};
    vs_balance_build(summary, failure->account, &reading, &oom->balance);
    return VS_OK;
}

/* Bytes allocated in the current step, or since the last one ended. */
static void fill_step(struct vs_oom *oom, const struct vs_replay *replay, unsigned account)
{
    uint64_t epoch = vs_replay_epoch(replay);
    oom->in_step = replay->phases.steps.open;
    size_t cursor = 0;
    const struct vs_live *live;
    while (epoch && (live = vs_user_live_next(replay, account, &cursor)))
        if (live->epoch == epoch)
            oom->step_bytes += live->size;
}

static uint64_t limit_of(const struct vs_report *report, uint64_t device)
{
    for (size_t i = 0; i < report->device_count; i++) {
        if (report->devices[i].device == device)
            return report->devices[i].limit_bytes;
    }
    return 0;
}

/* With the option `limit`: if the limit was reached before the device's end, converts the figures
 * to those of a device of that size. The limit counts the same bytes as the recording's reserved,
 * without managed memory, which may leave the device. */
static void apply_limit(struct vs_oom *oom, uint64_t limit)
{
    uint64_t managed = oom->family[VS_FAMILY_MANAGED];
    uint64_t held = oom->reserved > managed ? oom->reserved - managed : 0;
    uint64_t left = limit > held ? limit - held : 0;
    if (!limit || (oom->total && limit >= oom->total) || (oom->free_known && oom->free_bytes <= left))
        return;
    oom->limit = limit;
    oom->device_total = oom->total;
    oom->device_free = oom->free_known ? oom->free_bytes : 0;
    oom->total = limit;
    oom->free_bytes = left;
    oom->free_known = true;
    oom->outside = 0;
    oom->need = oom->failure.requested; /* the limit counts bytes, not the device's pages */
}

static void fill_past(struct vs_oom *oom, const struct vs_replay *replay,
                      const struct vs_failure *failure)
{
    struct vs_user_sums sums = vs_user_sums(replay, failure->account);
    const struct vs_site *site = vs_user_failure_site(replay, failure);
    oom->request_before = !site                         ? 0
                          : replay->phases.steps.begun ? site->largest_before_step
                                                       : site->largest_in_step;
    oom->live = sums.allocated;
    oom->live_peak = sums.peak->bytes;
    oom->steps_peak = sums.steps_peak;
    oom->steps_largest = sums.steps_largest;
    oom->freed_bytes = sums.freed_bytes;
    fill_step(oom, replay, failure->account);
}

static enum vs_err examine(struct vs_oom *oom, struct vs_oom_scene *scene, uint64_t limit)
{
    const struct vs_summary *summary = scene->summary;
    const struct vs_failure *failure = scene->failure;
    fill_device(oom, summary->replay, failure, &scene->reading);
    if (!oom->failure.host && !failure->overhead)
        apply_limit(oom, limit);
    enum vs_err err = VS_OK;
    if (!oom->failure.host)
        err = vs_oom_cache_facts(oom, scene);
    if (!err)
        fill_cached(oom, summary->replay, failure);
    if (!err)
        err = fill_balance(oom, summary, failure);
    if (!err)
        vs_summary_sites(summary, failure->account, VS_SITES_LIVE, &oom->sites);
    if (err)
        return err;
    fill_past(oom, summary->replay, failure);
    err = vs_oom_facts(oom, scene);
    return err ? err : vs_diagnose(oom);
}

/* What the replay does not keep of the events before the failure. */
struct oom_notes {
    struct vs_oom_scene *scene;
    uint64_t device; /* of the failure */
};

static enum vs_err note_after(void *context, struct vs_replay *replay, const struct vs_event *event)
{
    const struct oom_notes *notes = context;
    struct vs_oom_scene *scene = notes->scene;
    unsigned account = VS_ACCOUNT_NONE;
    if (event->kind == VS_EVENT_device_sample && event->device_sample.device == notes->device)
        account = vs_replay_account(replay, event->device_sample.device);
    if (account != VS_ACCOUNT_NONE)
        scene->reading = (struct vs_oom_reading){event->device_sample.free_bytes,
                                                 event->device_sample.total_bytes,
                                                 replay->accounts[account]->sums.now.reserved};
    if (event->kind == VS_EVENT_framework_oom)
        scene->framework_stream = event->framework_oom.framework_stream;
    vs_oom_overhead_event(&scene->overheads, event);
    return VS_OK;
}

static enum vs_err history_after(void *history, struct vs_replay *replay, const struct vs_event *event)
{
    vs_history_event(history, replay, event);
    return VS_OK;
}

/* Reads to the failure *wanted*. */
static enum vs_err replay_to(struct vs_reader *reader, struct vs_replay *replay,
                             struct vs_history *history, struct vs_growth_tracker *tracker,
                             const struct vs_report_failure *wanted, struct vs_oom_scene *scene)
{
    const struct vs_time_window window = {.to = {.given = true, .by_event = true, .value = wanted->event}};
    struct oom_notes notes = {scene, wanted->device};
    uint64_t memory = vs_event_kinds(VS_PROPERTY_ALLOCATES | VS_PROPERTY_FREES);
    uint64_t context = VS_KIND_BIT(VS_EVENT_context) | VS_KIND_BIT(VS_EVENT_overhead);
    const struct vs_observer observers[] = {
        {memory | context, NULL, history_after, history},
        {VS_KINDS_EVERY, NULL, vs_growth_observe, tracker},
        {context | VS_KIND_BIT(VS_EVENT_device_sample) | VS_KIND_BIT(VS_EVENT_framework_oom), NULL, note_after,
         &notes}};
    vs_reader_rewind(reader);
    enum vs_err err = vs_reading_run(reader, replay, &window, observers, sizeof observers / sizeof *observers);
    return !err && replay->events < wanted->event ? VS_ERR_NOT_FOUND : err;
}

/* Whether memory of *device* is allocated after the failure that was just read, in a program that
 * ended without an error. */
static bool goes_on(struct vs_reader *reader, const struct vs_report *report, uint64_t device)
{
    struct vs_event next;
    if (!report->has_end || report->end_reason != VS_END_EXIT || report->end_status)
        return false;
    while (vs_reader_next(reader, &next) == VS_OK)
        if ((next.kind == VS_EVENT_alloc && next.alloc.device == device) ||
            (next.kind == VS_EVENT_framework_alloc && next.framework_alloc.device == device))
            return true;
    return false;
}

static enum vs_err describe(struct vs_oom *oom, struct vs_reader *reader, struct vs_replay *replay,
                            struct vs_symbols *symbols, struct vs_oom_scene *scene,
                            const struct vs_report *report, const struct vs_report_failure *wanted)
{
    struct vs_wrappers wrappers;
    struct vs_summary summary = {.memory = &oom->memory, .replay = replay, .symbols = symbols,
                                 .sites_max = SITES_MAX, .wrappers = &wrappers};
    const struct vs_failure *failure = &replay->failures[replay->failure_count - 1];
    scene->summary = &summary;
    scene->failure = failure;
    enum vs_err err = VS_OK;
    vs_summary_wrappers(&summary, &wrappers);
    if (!err)
        vs_summary_failure(&summary, failure, &oom->failure);
    oom->went_on = goes_on(reader, report, oom->failure.device);
    oom->failure.recovered = wanted->recovered || oom->went_on;
    oom->failure.workspace = wanted->workspace;
    if (!err)
        oom->device_name = vs_text_copy(
            &oom->memory, vs_reader_string(reader, replay->accounts[failure->account]->name));
    if (!err && !oom->device_name)
        err = VS_ERR_NOMEM;
    if (!err)
        err = examine(oom, scene, limit_of(report, oom->failure.device));
    vs_map_free(&scene->libraries);
    return err;
}

static enum vs_err build(struct vs_oom *oom, struct vs_reader *reader,
                         const struct vs_report *report, const struct vs_report_failure *wanted)
{
    struct vs_replay *replay = NULL;
    struct vs_symbols *symbols = NULL;
    struct vs_history history = {0};
    struct vs_growth_tracker *tracker = NULL;
    struct vs_growth_result growth = {0};
    struct vs_oom_scene scene = {.history = &history, .growth = &growth};
    enum vs_err err = vs_replay_open(reader, &replay);
    if (!err)
        vs_growth_open(replay, &tracker);
    if (!err)
        err = replay_to(reader, replay, &history, tracker, wanted, &scene);
    if (!err)
        vs_growth_finish(tracker, &growth);
    if (!err)
        symbols = vs_symbols_open(reader);
    if (!err && replay->failure_count == 0)
        err = VS_ERR_NOT_FOUND; /* the file changed between the passes */
    if (!err)
        err = describe(oom, reader, replay, symbols, &scene, report, wanted);
    if (symbols)
        vs_symbols_close(symbols);
    free(scene.overheads.items);
    vs_growth_close(tracker);
    vs_history_free(&history);
    vs_replay_close(replay);
    return err;
}

uint64_t vs_oom_event(const struct vs_report *report)
{
    struct chosen chosen;
    if (report->failure_count == 0)
        return 0;
    choose_first(report, &chosen);
    return chosen.failure->event;
}

enum vs_err vs_oom_build(struct vs_reader *reader, const struct vs_report *report, uint64_t nth,
                         struct vs_oom **out)
{
    struct chosen chosen;
    if (report->failure_count == 0)
        return VS_ERR_NOT_FOUND;
    enum vs_err err = nth ? choose_number(report, nth, &chosen) : VS_OK;
    if (err)
        return err;
    if (!nth)
        choose_first(report, &chosen);
    struct vs_oom *oom = vs_xcalloc(1, sizeof *oom);
    oom->number = chosen.number;
    oom->repeated = chosen.repeated;
    oom->total_failures = report->failure_total;
    oom->failures_recovered = report->failures_recovered;
    err = build(oom, reader, report, chosen.failure);
    oom->ended = !oom->failure.recovered;
    if (err) {
        vs_oom_free(oom);
        return err;
    }
    *out = oom;
    return VS_OK;
}

void vs_oom_free(struct vs_oom *oom)
{
    if (!oom)
        return;
    struct vs_arena memory = oom->memory;
    vs_arena_free_all(&memory);
    free(oom);
}
