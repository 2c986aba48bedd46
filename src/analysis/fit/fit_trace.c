/* SPDX-License-Identifier: Apache-2.0
 *
 * The first pass replays the trace and notes, for each device, the event of the
 * highest use; later passes find who held the memory there.
 *
 * A failure is one request: PyTorch asks the driver up to three times for it, then raises. Whether
 * the program recovered is decided as for the post-mortem. */
#include "analysis/fit/fit_answer.h"

#include "analysis/fit/step_cost.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "allocator/core/placement_policy.h"
#include "analysis/naming/name_text.h"
#include "analysis/report/report.h"
#include "analysis/report/site_text.h"
#include "analysis/report/summary.h"
#include "analysis/state/reading.h"
#include "analysis/state/replay.h"
#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"
#include "base/vs_err.h"
#include "base/vs_text.h"
#include "trace/symbols/demangle.h"

/* The failed allocations of a trace, one for each request of the program: PyTorch asks the
 * driver again after it has emptied its cache, before it raises its error. Those that the
 * program recovered from are the replay's, as for the post-mortem. While a failure is open, the
 * same thread's next attempts for the same memory belong to it; another request, an allocation
 * or the framework's error closes it. */

struct vs_fit_refused {
    uint64_t event; /* 1-based: the last one that belongs to it */
    uint64_t time_ns; /* of the first attempt, in the trace's clock */
    uint64_t requested, missing, free_bytes, error, stack, mark; /* as vs_fit_failure */
    bool framework, other_error;
    unsigned account;
    uint32_t tid;
    struct vs_place place;
    uint64_t asked;      /* of the driver */
    bool open;           /* further attempts may follow */
};

/* Zero-initialise. */
struct vs_fit_failures {
    struct vs_fit_refused *items;
    size_t count, capacity;
    bool may_be_open; /* some item is */
    bool framework[VS_DEVICES_MAX]; /* by account: it reported tensors */
    /* settled, by account: [0] failures that the program recovered from, [1] those that the
     * framework handled by emptying its cache */
    uint64_t recovered[VS_DEVICES_MAX][2];
};

/* Failures: then those that the replay does not keep are dropped, so that most remain few. */
#define KEPT_MAX (2 * (VS_FAILURES_KEPT + VS_FAILURE_FIRSTS_MAX))

static struct vs_fit_refused *open_one(struct vs_fit_failures *failures, unsigned account,
                                       uint32_t tid)
{
    for (size_t i = failures->count; i-- > 0;) {
        struct vs_fit_refused *one = &failures->items[i];
        if (one->open && one->account == account && one->tid == tid)
            return one;
    }
    return NULL;
}

static struct vs_fit_refused *new_one(struct vs_fit_failures *failures, const struct vs_replay *replay,
                                      const struct vs_event *event, unsigned account)
{
    vs_vec_room(&failures->items, &failures->capacity, failures->count + 1,
                sizeof *failures->items);
    struct vs_fit_refused *one = &failures->items[failures->count++];
    *one = (struct vs_fit_refused){.account = account, .tid = event->tid, .time_ns = event->time_ns,
                                   .mark = replay->mark.name,
                                   .place = vs_phases_place(&replay->phases, event->tid)};
    return one;
}

static void driver_failed(struct vs_fit_failures *failures, const struct vs_replay *replay,
                          const struct vs_event *event, unsigned account)
{
    struct vs_fit_refused *one = open_one(failures, account, event->tid);
    uint64_t need = event->alloc_failed.requested;
    if (one && one->asked != need) {
        one->open = false;
        one = NULL;
    }
    if (!one) {
        one = new_one(failures, replay, event, account);
        one->open = true;
        one->requested = one->asked = need;
    }
    failures->may_be_open = true;
    one->event = replay->events;
    one->stack = event->alloc_failed.stack;
    one->error = event->alloc_failed.error;
    one->other_error = one->error != VS_CUDA_OUT_OF_MEMORY;
    /* what the device lacked: the cache of vramscope's own allocator would be released first */
    struct vs_holes holes;
    vs_replay_holes(replay, one->account, &holes);
    if (event->alloc_failed.family == VS_FAMILY_DEVICE)
        need = vs_policy_device_bytes(vs_policy_of_trace(vs_replay_policy(replay)), need);
    one->free_bytes = event->alloc_failed.device_free_bytes;
    uint64_t available = one->free_bytes + holes.empty_bytes;
    one->missing = event->alloc_failed.device_total_bytes && need > available ? need - available : 0;
}

static void framework_failed(struct vs_fit_failures *failures, const struct vs_replay *replay,
                             const struct vs_event *event, unsigned account)
{
    struct vs_fit_refused *one = open_one(failures, account, event->tid);
    if (!one) /* the framework has a limit of its own */
        one = new_one(failures, replay, event, account);
    one->event = replay->events;
    one->requested = event->framework_oom.requested;
    one->stack = event->framework_oom.stack;
    one->framework = true;
    one->open = false;
    one->other_error = false;
    one->error = 0;
}

/* The failure of the replay, or the first of those that it dropped, that *one* is; *dropped*: is
 * set to the index of the latter. NULL: it was no failure, or one of a storm after its first. */
static const struct vs_failure *known_as(const struct vs_fit_refused *one,
                                         const struct vs_replay *replay, size_t *dropped)
{
    const struct vs_failure_firsts *firsts = &replay->firsts;
    *dropped = firsts->count;
    for (size_t i = replay->failure_count; i-- > 0;)
        if (replay->failures[i].event == one->event)
            return &replay->failures[i];
    for (size_t i = 0; i < firsts->count; i++) {
        const struct vs_failure *first = &firsts->items[i].failure;
        if (first->event != one->event &&
            (first->stack != one->stack || first->requested != one->requested ||
             first->account != one->account || first->framework != one->framework))
            continue;
        *dropped = i;
        return first;
    }
    return NULL;
}

/* Counts and drops the failures that the program recovered from so far, and
 * of each storm all but the first. *at_end*: no event follows. */
static void fit_failures_settle(struct vs_fit_failures *failures, const struct vs_replay *replay,
                                bool at_end)
{
    bool seen[VS_FAILURE_FIRSTS_MAX + 1] = {false};
    size_t kept = 0, dropped;
    for (size_t i = 0; i < failures->count; i++) {
        struct vs_fit_refused *one = &failures->items[i];
        const struct vs_failure *known = known_as(one, replay, &dropped);
        bool open = !at_end && one->open && i + 1 == failures->count;
        if (open || (known && !known->recovered && !seen[dropped])) {
            seen[dropped] = !open && dropped < replay->firsts.count;
            failures->items[kept++] = *one;
            continue;
        }
        bool later = known && !known->recovered; /* of a storm */
        bool retry = failures->framework[one->account] && !one->framework;
        if (!later && !one->other_error)
            failures->recovered[one->account][retry]++;
    }
    failures->count = kept;
}

/* *event* was just applied to *replay*. Failures of host memory are left
 * out. */
static void fit_failures_event(struct vs_fit_failures *failures, const struct vs_replay *replay,
                               const struct vs_event *event)
{
    bool driver = event->kind == VS_EVENT_alloc_failed &&
                  !vs_family_on_host(event->alloc_failed.family);
    unsigned account = VS_ACCOUNT_NONE;
    if (driver)
        account = vs_replay_account(replay, event->alloc_failed.device);
    else if (event->kind == VS_EVENT_framework_oom)
        account = vs_replay_account(replay, event->framework_oom.device);
    if (account != VS_ACCOUNT_NONE) {
        if (failures->count >= KEPT_MAX)
            fit_failures_settle(failures, replay, false);
        (driver ? driver_failed : framework_failed)(failures, replay, event, account);
        return;
    }
    if (event->kind == VS_EVENT_framework_alloc)
        account = vs_replay_account(replay, event->framework_alloc.device);
    if (account != VS_ACCOUNT_NONE)
        failures->framework[account] = true;
    if (!failures->may_be_open || (!replay->step_ended && event->kind != VS_EVENT_alloc &&
                                   event->kind != VS_EVENT_framework_alloc))
        return;
    /* after an allocation of its thread, or at the end of a step, a failure has no further
     * attempts */
    failures->may_be_open = false;
    for (size_t i = 0; i < failures->count; i++) {
        struct vs_fit_refused *one = &failures->items[i];
        if (replay->step_ended || one->tid == event->tid)
            one->open = false;
        failures->may_be_open |= one->open;
    }
}

/* The first settled failure on *account*, out of memory before other errors;
 * NULL without one. */
static const struct vs_fit_refused *fit_failures_first(const struct vs_fit_failures *failures,
                                                       unsigned account)
{
    const struct vs_fit_refused *other = NULL;
    for (size_t i = 0; i < failures->count; i++) {
        const struct vs_fit_refused *one = &failures->items[i];
        if (one->account != account)
            continue;
        if (!one->other_error)
            return one;
        other = other ? other : one;
    }
    return other;
}

/* Beside the replay's account of the same index. */
struct fit_watch {
    uint64_t tensors_peak, tensors_event; /* event: 1-based; 0: never */
    struct vs_place tensors_place;
    uint64_t outside; /* used and in no allocation, at the last reading */
    uint64_t used_peak, used_outside;
    bool read; /* the device's free memory was read */
};

#define KERNEL_NAME_MAX 64

struct fit_pass {
    struct vs_reader *reader;
    struct vs_replay *replay;
    struct vs_symbols *symbols;
    struct vs_fit_trace *trace;
    struct fit_watch watches[VS_DEVICES_MAX];
    struct vs_fit_failures failures;
    struct vs_step_costs costs;
    struct fit_read {
        uint64_t stack, mark, text, bytes, count;
    } reads[VS_FIT_READS_MAX];
    unsigned read_count;
    struct vs_summary summary; /* for names */
    struct vs_wrappers wrappers;
};

/* The reading includes what the driver holds for the process beyond its allocations; that part is
 * taken as unchanged until the next reading. */
static void read_device(struct fit_watch *watch, const struct vs_account *account)
{
    uint64_t used = account->sample_total - account->sample_free;
    uint64_t held = account->sums.now.reserved;
    if (account->sample_total < account->sample_free)
        return;
    watch->outside = used > held ? used - held : 0;
    if (!watch->read) { /* what was allocated before had these contexts as well */
        watch->used_peak = account->sums.peak.reserved + watch->outside;
        watch->used_outside = watch->outside;
    }
    watch->read = true;
}

/* Values that decided something are in the notes of the run, with their expressions. */
static void watch_read(struct fit_pass *pass, const struct vs_event_uncomputed_read *read)
{
    struct fit_read like = {read->stack, pass->replay->mark.name, read->text, read->bytes, 1};
    if (read->what == VS_UNCOMPUTED_DECIDED)
        return;
    for (unsigned i = 0; i < pass->read_count; i++) {
        struct fit_read *same = &pass->reads[i];
        if (same->stack == like.stack && same->mark == like.mark && same->text == like.text) {
            same->count++;
            return;
        }
    }
    if (pass->read_count < VS_FIT_READS_MAX)
        pass->reads[pass->read_count++] = like;
}

static enum vs_err after_event(void *context, struct vs_replay *replay, const struct vs_event *event)
{
    struct fit_pass *pass = context;
    if (event->kind == VS_EVENT_uncomputed_read)
        watch_read(pass, &event->uncomputed_read);
    for (unsigned i = 0; i < replay->account_count; i++) {
        const struct vs_account *account = pass->replay->accounts[i];
        struct fit_watch *watch = &pass->watches[i];
        uint64_t tensors = account->framework.now.allocated;
        if (tensors > watch->tensors_peak) {
            watch->tensors_peak = tensors;
            watch->tensors_event = pass->replay->events;
            watch->tensors_place = vs_phases_place(&pass->replay->phases, event->tid);
        }
        if (event->kind == VS_EVENT_device_sample && event->device_sample.device == account->device)
            read_device(watch, account);
        uint64_t used = account->sums.now.reserved + watch->outside;
        if (used > watch->used_peak) {
            watch->used_peak = used;
            watch->used_outside = watch->outside;
        }
    }
    fit_failures_event(&pass->failures, replay, event);
    vs_step_costs_event(&pass->costs, replay, event);
    return VS_OK;
}

static enum vs_err fill_device(struct fit_pass *pass, unsigned index, struct vs_fit_device *out)
{
    const struct vs_account *account = pass->replay->accounts[index];
    const struct fit_watch *watch = &pass->watches[index];
    struct vs_arena *memory = &pass->trace->memory;
    bool tensors = watch->tensors_event != 0;
    *out = (struct vs_fit_device){
        .device = account->device,
        .name = vs_text_copy(memory, vs_reader_string(pass->reader, account->name)),
        .uuid = vs_text_copy(memory, vs_reader_string(pass->reader, account->uuid)),
        .total_bytes = account->total_bytes ? account->total_bytes : account->sample_total,
        .tensors = tensors,
        .peak_allocated = tensors ? watch->tensors_peak : account->sums.peak.allocated,
        .peak_reserved = tensors ? account->framework.peak.reserved : account->sums.peak.reserved,
        .peak_place = vs_text_copy(memory, vs_place_text(&pass->replay->phases, tensors
                                               ? watch->tensors_place : account->peak_allocated.place)),
        .used_peak = watch->used_peak, .outside = watch->used_outside,
        .recovered = pass->failures.recovered[index][0],
        .retries = pass->failures.recovered[index][1]};
    uint64_t event = tensors ? watch->tensors_event : account->peak_allocated.event;
    const struct vs_fit_refused *refused = fit_failures_first(&pass->failures, index);
    enum vs_err err = VS_OK;
    if (event)
        err = vs_fit_holders(pass->reader, &pass->summary, event, account->device, tensors,
                             &out->holders);
    if (!err && refused) {
        out->failure = (struct vs_fit_failure){
            .requested = refused->requested, .missing = refused->missing,
            .free_bytes = refused->free_bytes, .time_ns = refused->time_ns,
            .framework = refused->framework, .other_error = refused->other_error,
            .error = refused->error,
            .place = vs_text_copy(memory, vs_place_text(&pass->replay->phases, refused->place)),
            .where = vs_fit_where(&pass->summary, refused->stack, refused->mark, !tensors)};
        err = vs_fit_holders(pass->reader, &pass->summary, refused->event, account->device, tensors,
                             &out->failure.holders);
    }
    if (err || !tensors)
        return err;
    struct vs_kinds_query queries[2] = {
        {.device = out->device, .event = event},
        {.device = out->device, .event = refused ? refused->event : VS_KINDS_END}};
    struct vs_kinds_table tables[2];
    err = vs_kinds_read(pass->reader, pass->symbols, queries, 2, tables);
    if (err)
        return err;
    out->kinds = tables[0];
    if (refused)
        out->failure.kinds = tables[1];
    return VS_OK;
}

static enum vs_err fill(struct fit_pass *pass, const char *path, const char *rank)
{
    struct vs_fit_trace *trace = pass->trace;
    const struct vs_replay *replay = pass->replay;
    const char *exe = vs_reader_string(pass->reader, replay->process.process.exe);
    struct vs_fit_device *devices =
        vs_xarena(&trace->memory, (replay->account_count + 1) * sizeof *devices);
    trace->path = vs_text_copy(&trace->memory, path);
    trace->rank = vs_text_copy(&trace->memory, rank);
    trace->program = vs_text_copy(&trace->memory, vs_text_base_name(exe));
    trace->pid = replay->has_process ? replay->process.process.pid : 0;
    trace->start_ns = vs_replay_start_ns(replay);
    trace->end_ns = replay->now_ns;
    trace->steps = replay->phases.steps.done;
    trace->cost = vs_step_costs_second(&pass->costs, replay->has_end && replay->end.end.reason == VS_END_EXIT);
    trace->partial = replay->recording.min_size || replay->recording.sample > 1 ||
                     replay->recording.stage >= VS_RECORDING_TOTALS;
    trace->devices = devices;
    for (unsigned i = 0; i < replay->account_count; i++) {
        const struct vs_account *account = replay->accounts[i];
        if (!account->sums.peak.reserved && !fit_failures_first(&pass->failures, i))
            continue;
        enum vs_err err = fill_device(pass, i, &devices[trace->device_count]);
        if (err)
            return err;
        trace->device_count++;
    }
    for (unsigned i = 0; i < pass->read_count; i++) {
        const struct fit_read *read = &pass->reads[i];
        const char *kernel = vs_reader_string(pass->reader, read->text);
        char *readable = kernel ? vs_demangle(kernel) : NULL, name[KERNEL_NAME_MAX] = "";
        vs_function_text(readable ? readable : kernel ? kernel : "", name, sizeof name);
        struct vs_fit_read *out = &trace->reads[trace->read_count++];
        *out = (struct vs_fit_read){
            .where = vs_fit_where(&pass->summary, read->stack, read->mark, true),
            .kernel = vs_text_copy(&trace->memory, name),
            .bytes = read->bytes, .count = read->count};
        free(readable);
    }
    return VS_OK;
}

enum vs_err vs_fit_trace_build(struct vs_reader *reader, const char *path, const char *rank,
                               struct vs_fit_trace **out)
{
    struct fit_pass *pass = vs_xcalloc(1, sizeof *pass);
    struct vs_fit_trace *trace = vs_xcalloc(1, sizeof *trace);
    const struct vs_observer observer = {VS_KINDS_EVERY, NULL, after_event, pass};
    struct vs_replay *replay = pass->replay = vs_replay_open(reader);
    pass->reader = reader;
    pass->trace = trace;
    vs_reader_rewind(reader);
    enum vs_err err = vs_reading_run(reader, replay, NULL, &observer, 1);
    if (!err) {
        vs_replay_finish(replay);
        pass->symbols = vs_symbols_open(reader);
        const struct vs_event_end *end = &replay->end.end;
        if (replay->failure_count)
            vs_did_without(replay, pass->symbols,
                           replay->has_end && end->reason == VS_END_EXIT && !end->status);
        fit_failures_settle(&pass->failures, replay, true);
        pass->summary = (struct vs_summary){.memory = &trace->memory, .replay = replay,
                                            .symbols = pass->symbols, .wrappers = &pass->wrappers};
        /* With PyTorch its native functions are not looked up: their names are not needed, and take
         * seconds. */
        for (unsigned i = 0; i < replay->account_count; i++)
            pass->summary.own_only |= pass->watches[i].tensors_event != 0;
        vs_summary_wrappers(&pass->summary, &pass->wrappers);
        err = fill(pass, path, rank);
    }
    vs_symbols_close(pass->symbols);
    vs_replay_close(replay);
    free(pass->failures.items);
    vs_step_costs_free(&pass->costs);
    free(pass);
    if (err) {
        vs_fit_trace_free(trace);
        return err;
    }
    *out = trace;
    return VS_OK;
}

enum vs_err vs_fit_steps(struct vs_reader *reader, uint64_t *steps)
{
    struct vs_replay *replay = vs_replay_open(reader);
    enum vs_err err = vs_reading_run(reader, replay, NULL, NULL, 0);
    *steps = replay->phases.steps.done;
    vs_replay_close(replay);
    return err;
}

void vs_fit_trace_free(struct vs_fit_trace *trace)
{
    if (!trace)
        return;
    struct vs_arena memory = trace->memory;
    vs_arena_free_all(&memory);
    free(trace);
}

/* The allocations of one device that are live at the event, summed by stack and mark, and those
 * sums by the text of their line. */

#define NAMED_MAX 400 /* sums whose line is looked up: the largest */

struct fit_sum {
    uint64_t stack, mark, bytes, count;
};

/* Of native code the innermost function alone is not enough: in many programs it is a helper that
 * checks the error of each allocation. */
const char *vs_fit_where(const struct vs_summary *summary, uint64_t stack, uint64_t mark, bool native)
{
    char text[VS_CHAIN_TEXT_MAX];
    struct vs_report_site site = {.api = ""};
    struct vs_summary names = *summary;
    names.own_only = !native;
    vs_summary_frames(&names, stack, mark, &site);
    bool known = site.line || site.folds || (native && site.frame_count);
    return vs_text_copy(summary->memory, known ? vs_text_label(text, &site) : "");
}

static int by_stack(const void *a, const void *b)
{
    const struct fit_sum *x = a, *y = b;
    return vs_then(VS_ORDER(x->stack, y->stack), VS_ORDER(x->mark, y->mark));
}

static int by_bytes(const void *a, const void *b)
{
    const struct fit_sum *x = a, *y = b;
    return vs_then(VS_ORDER(y->bytes, x->bytes), by_stack(a, b));
}

static int larger_holder(const void *a, const void *b)
{
    const struct vs_fit_holder *x = a, *y = b;
    return vs_then(VS_ORDER(y->bytes, x->bytes), strcmp(x->where, y->where));
}

enum vs_err vs_fit_holders(struct vs_reader *reader, const struct vs_summary *summary, uint64_t event,
                           uint64_t device, bool tensors, struct vs_fit_holders *out)
{
    const struct vs_time_window window = {.to = {.given = true, .by_event = true, .value = event}};
    struct vs_replay *replay = vs_replay_open(reader);
    struct fit_sum *sums = NULL;
    size_t count = 0, capacity = 0, kept = 0;
    *out = (struct vs_fit_holders){0};
    vs_reader_rewind(reader);
    enum vs_err err = vs_reading_run(reader, replay, &window, NULL, 0);
    const struct vs_live_table *table = tensors ? &replay->framework_live : &replay->device_live;
    for (size_t i = 0; i < table->slots; i++) {
        const struct vs_live *live = &table->items[i];
        if (!live->used || replay->accounts[live->device]->device != device ||
            !(tensors || vs_family_on_device(live->family)))
            continue;
        VS_VEC_ADD(sums, count, capacity,
                   (struct fit_sum){replay->sites.items[live->site].stack, live->mark, live->size,
                                    1});
    }
    vs_replay_close(replay);
    vs_vec_sort(sums, count, sizeof *sums, by_stack);
    for (size_t i = 0; i < count; i++) {
        struct fit_sum *sum = kept ? &sums[kept - 1] : NULL;
        if (sum && sum->stack == sums[i].stack && sum->mark == sums[i].mark) {
            sum->bytes += sums[i].bytes;
            sum->count++;
        } else {
            sums[kept++] = sums[i];
        }
    }
    vs_vec_sort(sums, kept, sizeof *sums, by_bytes);
    size_t named = 0, limit = kept < NAMED_MAX ? kept : NAMED_MAX;
    struct vs_fit_holder *lines = vs_xcalloc(limit + 1, sizeof *lines);
    for (size_t i = 0; !err && i < kept; i++) {
        const struct fit_sum *sum = &sums[i];
        out->total_bytes += sum->bytes;
        if (i >= limit || !sum->bytes)
            continue;
        const char *where = vs_fit_where(summary, sum->stack, sum->mark, !tensors);
        size_t k = 0;
        while (k < named && strcmp(lines[k].where, where) != 0)
            k++;
        vs_summary_part(summary, sum->stack, sum->bytes, sum->count, &lines[k].parts);
        named += k == named;
        lines[k].where = where;
        lines[k].bytes += sum->bytes;
        lines[k].count += sum->count;
    }
    qsort(lines, named, sizeof *lines, larger_holder);
    for (size_t i = 0; i < named && out->count < VS_FIT_HOLDERS_MAX; i++)
        if (lines[i].bytes) {
            vs_summary_sort_parts(&lines[i].parts);
            out->items[out->count++] = lines[i];
        }
    free(lines);
    free(sums);
    return err;
}
