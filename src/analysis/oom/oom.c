/* SPDX-License-Identifier: Apache-2.0
 *
 * The facts for a post-mortem: replays the trace to the failure and collects them. The rules are in
 * the verdict files. */
#include "analysis/oom/oom.h"

#include <stdlib.h>

#include "allocator/core/placement_policy.h"
#include "analysis/oom/verdict.h"
#include "analysis/report/balance_build.h"
#include "analysis/report/summary.h"
#include "analysis/state/replay.h"
#include "analysis/state/user_level.h"
#include "trace/symbols/symbols.h"

#define SITES_MAX 20

/* The requested failure; *index* receives its index among the stored ones. */
static enum vs_err choose_failure(const struct vs_report *report, uint64_t nth, size_t *index)
{
    if (report->failure_count == 0)
        return VS_ERR_NOT_FOUND;
    uint64_t forgotten = report->failure_total - report->failure_count;
    if (nth > 0) {
        if (nth <= forgotten || nth > report->failure_total)
            return VS_ERR_NOT_FOUND;
        *index = (size_t)(nth - forgotten - 1);
        return VS_OK;
    }
    int best = -1;
    for (size_t i = report->failure_count; i-- > 0;) {
        const struct vs_report_failure *failure = &report->failures[i];
        int rank = 2 * vs_oom_is_out_of_memory(failure) + !failure->recovered;
        if (rank > best) {
            best = rank;
            *index = i;
        }
    }
    return VS_OK;
}

/* Bytes needed from the device for a request. */
static uint64_t rounded_need(const struct vs_replay *replay, const struct vs_failure *failure)
{
    if (failure->family != VS_FAMILY_DEVICE)
        return failure->requested;
    return vs_policy_device_bytes(vs_policy_of_trace(vs_replay_policy(replay)),
                                  failure->requested);
}

static void fill_device(struct vs_oom *oom, const struct vs_replay *replay,
                        const struct vs_failure *failure)
{
    const struct vs_account *account = replay->accounts[failure->account];
    oom->need = rounded_need(replay, failure);
    oom->reserved = account->sums.now.reserved;
    oom->allocated = account->sums.now.allocated;
    oom->steps_begun = replay->phases.steps.begun;
    oom->steps_done = replay->phases.steps.done;
    oom->steps_peak = account->steps_peak;
    oom->earlier_peak = account->peak_allocated.bytes;
    for (int f = 0; f < VS_FAMILY_COUNT; f++)
        oom->family[f] = account->sums.now.family[f];
    oom->total = account->total_bytes;
    if (failure->device_total) {
        oom->total = failure->device_total;
        oom->free_bytes = failure->device_free;
        oom->free_known = true;
    } else {
        oom->free_bytes = oom->total > oom->reserved ? oom->total - oom->reserved : 0;
    }
    uint64_t known = oom->free_bytes + oom->reserved;
    oom->outside = oom->total > known ? oom->total - known : 0;
}

static enum vs_err fill_cached(struct vs_oom *oom, const struct vs_replay *replay,
                               const struct vs_failure *failure)
{
    if (oom->failure.host)
        return VS_OK;
    struct vs_holes holes;
    enum vs_err err = vs_replay_holes(replay, failure->account, &holes);
    if (err)
        return err;
    oom->cached = holes.free_bytes;
    oom->largest_hole = holes.largest;
    oom->holes = holes.count;
    oom->empty_bytes = holes.empty_bytes;
    uint64_t available = oom->free_bytes + oom->empty_bytes;
    oom->missing = oom->need > available ? oom->need - available : 0;
    return VS_OK;
}

static enum vs_err fill_balance(struct vs_oom *oom, const struct vs_summary *summary,
                                const struct vs_failure *failure)
{
    if (oom->failure.host || !oom->free_known || oom->limit)
        return VS_OK;
    struct vs_reading reading = {oom->free_bytes, oom->total, failure->event, failure->time_ns,
                                 failure->place};
    return vs_balance_build(summary, failure->account, &reading, &oom->balance);
}

static void fill_growth(struct vs_oom *oom, const struct vs_replay *replay, unsigned account)
{
    bool any = false;
    for (size_t i = 0; i < replay->sites.count; i++) {
        const struct vs_site *site = &replay->sites.items[i];
        if (site->device != account || !vs_growth_steady(&site->growth, oom->steps_done) ||
            site->growth.last <= site->growth.base)
            continue;
        oom->growth_bytes += site->growth.last - site->growth.base;
        oom->growth_per_step += vs_growth_per_step(&site->growth);
        if (!any || site->growth.first_step_number < oom->growth_since)
            oom->growth_since = site->growth.first_step_number;
        any = true;
    }
}

/* Finds the largest live allocation of the current step (or since the last one ended), and the
 * bytes allocated in it. */
static const struct vs_live *fill_step(struct vs_oom *oom, const struct vs_replay *replay,
                                       unsigned account)
{
    const struct vs_live *largest = NULL;
    uint64_t epoch = vs_replay_epoch(replay);
    oom->in_step = replay->phases.steps.open;
    for (size_t i = 0; epoch && i < replay->device_live.slots; i++) {
        const struct vs_live *live = &replay->device_live.items[i];
        if (!live->used || live->device != account || !live->counted || live->epoch != epoch)
            continue;
        oom->step_bytes += live->size;
        if (!largest || live->size > largest->size)
            largest = live;
    }
    return largest;
}

static uint64_t largest_before(const struct vs_site *site)
{
    return site ? site->largest_before_step : 0;
}

static enum vs_err fill_step_largest(struct vs_oom *oom, const struct vs_summary *summary,
                                     const struct vs_live *live)
{
    const struct vs_site *site = &summary->replay->sites.items[live->site];
    const char *api = vs_reader_string(summary->replay->reader, site->api);
    oom->step_largest = live->size;
    oom->step_largest_before = largest_before(site);
    oom->step_largest_site = (struct vs_report_site){
        .family = live->family, .bytes = live->size, .count = 1,
        .api = vs_summary_copy(&oom->memory, api)};
    return oom->step_largest_site.api
               ? vs_summary_frames(summary, site->stack, live->mark,
                                   &oom->step_largest_site)
               : VS_ERR_NOMEM;
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

static enum vs_err examine(struct vs_oom *oom, const struct vs_summary *summary,
                           const struct vs_failure *failure, uint64_t limit)
{
    const struct vs_replay *replay = summary->replay;
    const struct vs_account *account = replay->accounts[failure->account];
    fill_device(oom, replay, failure);
    if (!oom->failure.host)
        apply_limit(oom, limit);
    enum vs_err err = fill_cached(oom, replay, failure);
    if (!err)
        err = fill_balance(oom, summary, failure);
    if (!err)
        err = vs_summary_sites(summary, failure->account, VS_SITES_LIVE, &oom->sites);
    if (!err)
        err = vs_summary_sites(summary, failure->account, VS_SITES_GROWING, &oom->growing);
    if (err)
        return err;
    fill_growth(oom, replay, failure->account);
    const struct vs_live *live = fill_step(oom, replay, failure->account);
    const struct vs_site *request_site = vs_user_failure_site(replay, failure);
    oom->request_before = replay->phases.steps.begun ? largest_before(request_site)
                          : request_site             ? request_site->largest_in_step
                                                     : 0;
    oom->steps_largest = account->steps_largest;
    oom->largest = account->largest;
    oom->freed_bytes = account->freed_bytes;
    if (live)
        err = fill_step_largest(oom, summary, live);
    return err ? err : vs_diagnose(oom);
}

static enum vs_err replay_to(struct vs_reader *reader, struct vs_replay *replay, uint64_t event)
{
    enum vs_err err = vs_reader_rewind(reader);
    struct vs_event next;
    while (!err && replay->events < event && (err = vs_reader_next(reader, &next)) == VS_OK)
        err = vs_replay_event(replay, &next);
    return err == VS_ERR_END ? VS_ERR_NOT_FOUND : err;
}

static enum vs_err build(struct vs_oom *oom, struct vs_reader *reader,
                         const struct vs_report *report, size_t index)
{
    const struct vs_report_failure *wanted = &report->failures[index];
    struct vs_replay *replay = NULL;
    struct vs_symbols *symbols = NULL;
    enum vs_err err = vs_replay_open(reader, &replay);
    if (!err)
        err = replay_to(reader, replay, wanted->event);
    if (!err)
        err = vs_symbols_open(reader, &symbols);
    if (!err && replay->failure_count == 0)
        err = VS_ERR_NOT_FOUND; /* the file changed between the passes */
    if (!err) {
        struct vs_wrappers wrappers;
        struct vs_summary summary = {.memory = &oom->memory, .replay = replay, .symbols = symbols,
                                     .sites_max = SITES_MAX, .wrappers = &wrappers};
        const struct vs_failure *failure = &replay->failures[replay->failure_count - 1];
        err = vs_summary_wrappers(&summary, &wrappers);
        if (!err)
            err = vs_summary_failure(&summary, failure, &oom->failure);
        oom->failure.recovered = wanted->recovered;
        if (!err)
            oom->device_name = vs_summary_copy(
                &oom->memory,
                vs_reader_string(reader, replay->accounts[failure->account]->name));
        if (!err && !oom->device_name)
            err = VS_ERR_NOMEM;
        if (!err)
            err = examine(oom, &summary, failure, limit_of(report, wanted->device));
    }
    if (symbols)
        vs_symbols_close(symbols);
    vs_replay_close(replay);
    return err;
}

enum vs_err vs_oom_build(struct vs_reader *reader, const struct vs_report *report, uint64_t nth,
                         struct vs_oom **out)
{
    size_t index;
    enum vs_err err = choose_failure(report, nth, &index);
    if (err)
        return err;
    struct vs_oom *oom = calloc(1, sizeof *oom);
    if (!oom)
        return VS_ERR_NOMEM;
    oom->number = report->failure_total - report->failure_count + index + 1;
    oom->total_failures = report->failure_total;
    oom->ended = !report->failures[index].recovered;
    err = build(oom, reader, report, index);
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
