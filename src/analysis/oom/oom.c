/* SPDX-License-Identifier: Apache-2.0
 *
 * The facts for a post-mortem, from the state at the failure. Which failure is diagnosed is known at the
 * trace's end only: the reading of the report keeps the state at the one that is most likely it, as at a
 * peak (peak_states.h). The trace is read again only where it is another one. The rules are in the verdict
 * files. */
#include "analysis/oom/oom.h"

#include <stdlib.h>
#include <string.h>

#include "allocator/core/placement_policy.h"
#include "analysis/growth/growth.h"
#include "analysis/naming/naming.h"
#include "analysis/oom/oom_facts.h"
#include "analysis/oom/verdict.h"
#include "analysis/report/balance_build.h"
#include "analysis/report/summary.h"
#include "analysis/state/driver_pages.h"
#include "analysis/state/findings.h"
#include "analysis/state/peak_states.h"
#include "analysis/state/reading.h"
#include "analysis/state/replay.h"
#include "analysis/state/user_level.h"
#include "base/reading/vs_xalloc.h"
#include "trace/symbols/symbols.h"

#define SITES_MAX 20
#define LAZY_SINCE 12020 /* CUDA 12.2: modules are loaded when they are first used */

/* A failure to explain. */
struct chosen {
    const struct vs_report_failure *failure;
    uint64_t number;   /* among all, from 1 */
    uint64_t repeated; /* identical ones after it */
};

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

/* Failure *nth*, or with 0 the first of those identical to the latest failure with the highest
 * rank; no failure if there is none. */
static struct chosen choose(const struct vs_report *report, uint64_t nth)
{
    uint64_t forgotten = report->failure_total - report->failure_count, same = 0;
    const struct vs_report_failure *best = NULL;
    struct chosen out = {0};
    for (size_t i = report->failure_count; i-- > 0;)
        if (!best || rank_of(&report->failures[i]) > rank_of(best))
            best = &report->failures[i];
    for (size_t i = report->first_count; best && i-- > 0;)
        if (rank_of(&report->firsts[i].failure) > rank_of(best))
            best = &report->firsts[i].failure;
    for (size_t i = 0; best && i < report->first_count; i++) {
        const struct vs_report_first *first = &report->firsts[i];
        if (nth ? first->number != nth : !identical(&first->failure, best))
            continue;
        out = (struct chosen){&first->failure, first->number, 0};
        same += 1 + first->more;
    }
    if (nth && !out.failure && nth > forgotten && nth <= report->failure_total)
        out = (struct chosen){&report->failures[nth - forgotten - 1], nth, 0};
    for (size_t i = 0; !nth && i < report->failure_count; i++)
        if (identical(&report->failures[i], best) && !same++)
            out = (struct chosen){&report->failures[i], forgotten + i + 1, 0};
    out.repeated = nth || !same ? 0 : same - 1;
    return out;
}

static void fill_device(struct vs_oom *oom, const struct vs_replay *replay,
                        const struct vs_failure *failure, const struct vs_oom_reading *reading)
{
    const struct vs_account *account = replay->accounts[failure->account];
    /* Bytes needed from the device for a request: of a framework the segment that it could not get,
     * or the handles of physical memory that it maps for it. */
    uint64_t request = failure->requested, refused = failure->device_requested;
    uint64_t handle = failure->framework && failure->family == VS_FAMILY_VMM ? refused : 0;
    if (handle)
        oom->need = request > UINT64_MAX - handle ? request
            : (request + handle - 1) / handle * handle;
    else if (failure->family != VS_FAMILY_DEVICE)
        oom->need = vs_family_on_device(failure->family) ? vs_driver_pages(request) : request;
    else
        oom->need = vs_policy_device_bytes(vs_policy_of_trace(vs_replay_policy(replay)),
                                           refused > request ? refused : request);
    oom->loads_lazily = account->driver_version >= LAZY_SINCE;
    oom->reserved = account->sums.now.reserved;
    oom->allocated = account->sums.now.allocated;
    oom->steps_begun = replay->phases.steps.begun;
    oom->steps_done = replay->phases.steps.done;
    memcpy(oom->family, account->sums.now.family, sizeof oom->family);
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
    if (failure->overhead) {
        /* A context needs as much as the largest that exists. Otherwise the driver does not say how
         * much it needed: more than was free. */
        const struct vs_device_usage *usage = &account->usage;
        int64_t largest = 0;
        for (size_t i = 0; failure->overhead == 1 + VS_OVERHEAD_CONTEXT && i < usage->context_count;
             i++)
            if (usage->contexts[i].measured && usage->contexts[i].how != VS_OVERHEAD_AT_MOST &&
                usage->contexts[i].bytes[VS_OVERHEAD_CONTEXT] > largest)
                largest = usage->contexts[i].bytes[VS_OVERHEAD_CONTEXT];
        oom->need_at_least = (uint64_t)largest <= oom->free_bytes;
        oom->need = oom->need_at_least ? oom->free_bytes + VS_DRIVER_PAGE : (uint64_t)largest;
    }
    uint64_t known = oom->free_bytes + oom->reserved;
    oom->outside = oom->total > known ? oom->total - known : 0;
}

static void examine(struct vs_oom *oom, struct vs_oom_scene *scene, uint64_t limit)
{
    const struct vs_summary *summary = scene->summary;
    const struct vs_replay *replay = summary->replay;
    const struct vs_failure *failure = scene->failure;
    fill_device(oom, replay, failure, &scene->reading);
    if (vs_oom_pool_is_fixed(scene)) {
        oom->beside_pool = oom->free_bytes;
        oom->free_bytes = 0;
        oom->need = oom->failure.requested; /* no pages of the device */
    }
    /* With the option `limit`: if the limit was reached before the device's end, the figures are
     * those of a device of that size. The limit counts the same bytes as the recording's reserved,
     * without managed memory, which may leave the device. */
    uint64_t managed = oom->family[VS_FAMILY_MANAGED];
    uint64_t held = oom->reserved > managed ? oom->reserved - managed : 0;
    uint64_t left = limit > held ? limit - held : 0;
    if (!oom->failure.host && !failure->overhead && limit && (!oom->total || limit < oom->total) &&
        (!oom->free_known || oom->free_bytes > left)) {
        oom->limit = limit;
        oom->device_total = oom->total;
        oom->device_free = oom->free_known ? oom->free_bytes : 0;
        oom->total = limit;
        oom->free_bytes = left;
        oom->free_known = true;
        oom->outside = 0;
        oom->need = oom->failure.requested; /* the limit counts bytes, not the device's pages */
    }
    oom->has_framework = !oom->failure.host &&
                         vs_user_level(replay, failure->account) == VS_LEVEL_FRAMEWORK;
    if (!oom->failure.host) {
        const struct vs_cache_census *cache = &oom->cache;
        struct vs_holes holes;
        vs_oom_cache_facts(oom, scene);
        vs_replay_holes(replay, failure->account, &holes);
        oom->cached = holes.free_bytes;
        oom->largest_hole = holes.largest;
        oom->holes = holes.count;
        oom->empty_bytes = holes.empty_bytes;
        if (cache->framework) {
            oom->cached = cache->segment_bytes > cache->used_bytes
                              ? cache->segment_bytes - cache->used_bytes : 0; /* damaged trace */
            oom->largest_hole = cache->largest > cache->withheld_largest ? cache->largest
                                                                         : cache->withheld_largest;
            oom->holes = cache->pieces;
        }
        uint64_t available = oom->free_bytes + oom->empty_bytes;
        oom->missing = oom->need > available ? oom->need - available : 0;
        oom->missing_unknown = !oom->missing && !oom->free_known;
    }
    if (!oom->failure.host && oom->free_known && !oom->limit) {
        struct vs_reading reading = {oom->free_bytes + oom->beside_pool, oom->total, failure->event, failure->time_ns,
                                     failure->place};
        vs_balance_build(summary, failure->account, &reading, &oom->balance);
    }
    vs_summary_sites(summary, failure->account, VS_SITES_LIVE, &oom->sites);
    struct vs_user_sums sums = vs_user_sums(replay, failure->account);
    const struct vs_site *site = vs_user_failure_site(replay, failure);
    uint64_t epoch = vs_replay_epoch(replay);
    oom->request_before = !site                         ? 0
                          : replay->phases.steps.begun ? site->largest_before_step
                                                       : site->largest_in_step;
    oom->live = sums.allocated;
    oom->live_peak = sums.peak->bytes;
    oom->steps_peak = sums.steps_peak;
    oom->steps_largest = sums.steps_largest;
    oom->freed_bytes = sums.freed_bytes;
    oom->in_step = replay->phases.steps.open;
    const struct vs_live *live;
    for (size_t cursor = 0; epoch && (live = vs_user_live_next(replay, failure->account, &cursor));)
        oom->step_bytes += live->epoch == epoch ? live->size : 0;
    vs_oom_facts(oom, scene);
    vs_diagnose(oom);
}

/* --- the events before the failure --- */

/* What the replay does not keep of them. */
struct before {
    struct vs_history history;
    struct vs_growth_result growth;
    struct vs_oom_overheads overheads;
    struct vs_oom_reading readings[VS_DEVICES_MAX]; /* by account */
    uint64_t framework_stream;
};

struct vs_oom_watch {
    uint64_t nth;             /* the failure to diagnose; 0: not known; UINT64_MAX: read again */
    struct vs_replay *replay; /* of the reading, once it has begun */
    const struct vs_growth_tracker *growth; /* of the reading */
    struct vs_growth_tracker *kept_growth;
    struct before now, kept;  /* *kept*: at the failure */
    struct vs_failure failure; /* event 0: none yet */
    unsigned times;           /* that another failure was kept */
    bool went_on;             /* memory of its device was allocated after it */
    uint64_t modules, kept_modules; /* numbers of modules so far, and at the failure */
    bool renamed;             /* a later module has the number of one before it */
    struct vs_peak peaks[VS_DEVICES_MAX];
};

/* So often the state at another failure is kept: a program that fails for ever is read again. */
#define KEPT_TIMES_MAX 64

static void *copied(void *old, const void *items, size_t count, size_t size)
{
    free(old);
    return memcpy(vs_xcalloc(count + 1, size), items ? items : "", items ? count * size : 0);
}

static int failure_rank(const struct vs_failure *failure)
{
    return 2 * (failure->framework || failure->error == VS_CUDA_OUT_OF_MEMORY) + !failure->recovered;
}

static void watch_failure(struct vs_oom_watch *watch, struct vs_replay *replay)
{
    const struct vs_failure *failure = &replay->failures[replay->failure_count - 1];
    if (!replay->failure_count || failure->event != replay->events || failure->account == VS_HOST_INDEX ||
        watch->times == KEPT_TIMES_MAX)
        return;
    /* Whether the failure that was kept is still the one to diagnose, although this one came
     * after it. */
    bool stays = watch->nth && replay->failure_total != watch->nth;
    for (size_t i = 0; !watch->nth && watch->failure.event && i + 1 < replay->failure_count; i++) {
        const struct vs_failure *kept = &replay->failures[i];
        int above = failure_rank(kept) - failure_rank(failure);
        stays |= kept->event == watch->failure.event &&
                 (above > 0 || (above == 0 && vs_failure_identical(kept, failure)));
    }
    for (size_t i = 0; !watch->nth && watch->failure.event && i < replay->firsts.count; i++)
        stays |= replay->firsts.items[i].failure.event == watch->failure.event &&
                 vs_failure_identical(&replay->firsts.items[i].failure, failure);
    if (stays)
        return;
    watch->times++;
    watch->failure = *failure;
    watch->went_on = watch->renamed = false;
    watch->kept_modules = watch->modules;
    struct before *to = &watch->kept, *from = &watch->now, old = *to;
    *to = *from;
    to->history = old.history;
    vs_history_copy(&to->history, &from->history);
    to->overheads.items = copied(old.overheads.items, from->overheads.items, from->overheads.count,
                                 sizeof *from->overheads.items);
    vs_growth_close(watch->kept_growth);
    watch->kept_growth = vs_growth_copy(watch->growth);
    vs_growth_finish(watch->kept_growth, &to->growth);
    for (unsigned i = 0; i < replay->account_count; i++)
        watch->peaks[i].event = replay->events;
    vs_peak_states_raised(replay);
}

static void on_birth(void *context, const struct vs_replay *replay, const struct vs_published *change)
{
    struct vs_oom_watch *watch = context;
    const struct vs_event *event = change->event;
    uint64_t device = event->kind == VS_EVENT_alloc ? event->alloc.device : event->framework_alloc.device;
    if (watch->failure.event && device == replay->accounts[watch->failure.account]->device)
        watch->went_on = true;
}

void vs_oom_watch_begin(void *context, struct vs_replay *replay,
                        const struct vs_growth_tracker *growth)
{
    struct vs_oom_watch *watch = context;
    watch->replay = replay;
    watch->growth = growth;
    vs_replay_subscribe(replay, VS_CHANGE_BORN, on_birth, watch);
    vs_history_open(&watch->now.history, replay);
}

static enum vs_err after_event(void *context, struct vs_replay *replay, const struct vs_event *event)
{
    struct vs_oom_watch *watch = context;
    struct before *now = &watch->now;
    unsigned account = VS_ACCOUNT_NONE;
    switch (event->kind) {
    case VS_EVENT_module:
        if (!event->module.alive)
            break;
        watch->renamed |= watch->failure.event && event->module.module < watch->kept_modules;
        if (event->module.module >= watch->modules)
            watch->modules = event->module.module + 1;
        break;
    case VS_EVENT_device_sample:
        account = vs_replay_account(replay, event->device_sample.device);
        if (account != VS_ACCOUNT_NONE)
            now->readings[account] = (struct vs_oom_reading){
                event->device_sample.free_bytes, event->device_sample.total_bytes,
                replay->accounts[account]->sums.now.reserved};
        break;
    case VS_EVENT_context:
        if (!event->context.alive)
            vs_history_lost(&now->history, replay, vs_replay_account(replay, event->context.device));
        vs_oom_overhead_event(&now->overheads, event);
        break;
    case VS_EVENT_overhead: vs_oom_overhead_event(&now->overheads, event); break;
    case VS_EVENT_framework_oom:
        now->framework_stream = event->framework_oom.framework_stream;
        watch_failure(watch, replay);
        break;
    case VS_EVENT_alloc_failed:
    case VS_EVENT_overhead_failed: watch_failure(watch, replay); break;
    default: break;
    }
    return VS_OK;
}

struct vs_oom_watch *vs_oom_watch_open(uint64_t nth)
{
    struct vs_oom_watch *watch = vs_xcalloc(1, sizeof *watch);
    watch->nth = nth;
    return watch;
}

struct vs_observer vs_oom_watch_observer(struct vs_oom_watch *watch)
{
    uint64_t kinds = VS_KIND_BIT(VS_EVENT_module) | VS_KIND_BIT(VS_EVENT_device_sample) |
                     VS_KIND_BIT(VS_EVENT_context) | VS_KIND_BIT(VS_EVENT_overhead) |
                     VS_KIND_BIT(VS_EVENT_framework_oom) | VS_KIND_BIT(VS_EVENT_alloc_failed) |
                     VS_KIND_BIT(VS_EVENT_overhead_failed);
    return (struct vs_observer){kinds, NULL, after_event, watch};
}

const struct vs_peak *vs_oom_watch_peaks(const struct vs_oom_watch *watch)
{
    return watch->peaks;
}

void vs_oom_watch_close(struct vs_oom_watch *watch)
{
    if (!watch)
        return;
    for (int i = 0; i < 2; i++) {
        vs_history_free(i ? &watch->kept.history : &watch->now.history);
        free((i ? &watch->kept : &watch->now)->overheads.items);
    }
    vs_growth_close(watch->kept_growth);
    free(watch);
}

/* --- the diagnosis --- */

/* *failure* as it was then, in *replay*, the state after it. */
static void describe(struct vs_oom *oom, struct vs_reader *reader, struct vs_replay *replay,
                            const struct vs_failure *failure, struct before *before,
                            const struct vs_report *report, const struct vs_report_failure *wanted)
{
    struct vs_wrappers wrappers;
    struct vs_symbols *symbols = vs_symbols_open(reader);
    struct vs_summary summary = {.memory = &oom->memory, .replay = replay, .symbols = symbols,
                                 .sites_max = SITES_MAX, .wrappers = &wrappers};
    unsigned account = vs_replay_account(replay, wanted->device);
    struct vs_oom_scene scene = {.summary = &summary, .failure = failure, .history = &before->history,
                                 .growth = &before->growth, .overheads = before->overheads,
                                 .framework_stream = before->framework_stream};
    if (account != VS_ACCOUNT_NONE)
        scene.reading = before->readings[account];
    vs_summary_wrappers(&summary, &wrappers);
    oom->failure = vs_report_failure_of(&summary, failure);
    oom->failure.recovered = wanted->recovered || oom->went_on;
    oom->failure.workspace = wanted->workspace;
    oom->device_name = vs_summary_text(&summary, replay->accounts[failure->account]->name);
    const struct vs_report_device *device = vs_report_device_of(report, oom->failure.device);
    examine(oom, &scene, device ? device->limit_bytes : 0);
    oom->line = vs_user_line(reader, symbols, &oom->memory, failure->stack, failure->mark);
    vs_symbols_close(symbols);
}

/* Whether the program ended without an error. */
static bool ended_well(const struct vs_report *report)
{
    return report->has_end && report->end_reason == VS_END_EXIT && !report->end_status;
}

/* Reads the trace again, up to the failure. */
static enum vs_err read_again(struct vs_oom *oom, struct vs_reader *reader,
                              const struct vs_report *report, const struct vs_report_failure *wanted)
{
    const struct vs_time_window window = {.to = {.given = true, .by_event = true, .value = wanted->event}};
    struct vs_oom_watch *watch = vs_oom_watch_open(UINT64_MAX);
    struct vs_growth_tracker *growth;
    struct vs_replay *replay;
    struct vs_event next;
    vs_reader_rewind(reader);
    replay = vs_replay_open(reader);
    vs_growth_open(replay, &growth);
    vs_oom_watch_begin(watch, replay, growth);
    const struct vs_observer observers[] = {{VS_KINDS_EVERY, NULL, vs_growth_observe, growth},
                                            vs_oom_watch_observer(watch)};
    enum vs_err err = vs_reading_run(reader, replay, &window, observers, 2);
    if (!err && (replay->events < wanted->event || replay->failure_count == 0))
        err = VS_ERR_NOT_FOUND; /* the file changed between the readings */
    if (!err) {
        vs_growth_finish(growth, &watch->now.growth);
        while (!oom->went_on && ended_well(report) && vs_reader_next(reader, &next) == VS_OK)
            oom->went_on = (next.kind == VS_EVENT_alloc && next.alloc.device == wanted->device) ||
                           (next.kind == VS_EVENT_framework_alloc &&
                            next.framework_alloc.device == wanted->device);
        describe(oom, reader, replay, &replay->failures[replay->failure_count - 1], &watch->now,
                       report, wanted);
    }
    vs_growth_close(growth);
    vs_oom_watch_close(watch);
    vs_replay_close(replay);
    return err;
}

static enum vs_err build(struct vs_oom *oom, struct vs_reader *reader, const struct vs_report *report,
                         struct vs_oom_watch *watch, const struct vs_report_failure *wanted)
{
    struct vs_replay *state = watch && watch->failure.event == wanted->event && !watch->renamed
                                  ? vs_peak_states_at(watch->replay, wanted->event) : NULL;
    if (!state)
        return read_again(oom, reader, report, wanted);
    state->phases.after_last = (struct vs_place){0}; /* known at the end only */
    oom->went_on = watch->went_on && ended_well(report);
    bool framework = vs_user_level(state, watch->failure.account) == VS_LEVEL_FRAMEWORK;
    for (size_t i = 0; i < state->framework_live.slots; i++) {
        const struct vs_live *live = &state->framework_live.items[i];
        if (!live->used || live->device != watch->failure.account || !framework)
            continue;
        oom->kinds[live->kind].bytes += live->size;
        oom->kinds[live->kind].count++;
        oom->kinds_total += live->size;
    }
    const struct vs_account *account = state->accounts[watch->failure.account];
    for (int why = 0; framework && why < VS_WHY_COUNT; why++) { /* while not recording */
        int64_t hidden = vs_unrecorded_live(&account->unrecorded[VS_LEVEL_FRAMEWORK][why]);
        oom->kinds[VS_KIND_UNKNOWN].bytes += hidden > 0 ? (uint64_t)hidden : 0;
        oom->kinds_total += hidden > 0 ? (uint64_t)hidden : 0;
    }
    describe(oom, reader, state, &watch->failure, &watch->kept, report, wanted);
    vs_peak_state_close(state);
    return VS_OK;
}

uint64_t vs_oom_event(const struct vs_report *report)
{
    const struct vs_report_failure *failure = choose(report, 0).failure;
    return failure ? failure->event : 0;
}

enum vs_err vs_oom_build(struct vs_reader *reader, const struct vs_report *report,
                         struct vs_oom_watch *watch, uint64_t nth, struct vs_oom **out)
{
    const struct chosen chosen = choose(report, nth);
    if (!chosen.failure)
        return VS_ERR_NOT_FOUND;
    struct vs_oom *oom = vs_xcalloc(1, sizeof *oom);
    oom->number = chosen.number;
    oom->repeated = chosen.repeated;
    oom->total_failures = report->failure_total;
    oom->failures_recovered = report->failures_recovered;
    enum vs_err err = build(oom, reader, report, watch, chosen.failure);
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
