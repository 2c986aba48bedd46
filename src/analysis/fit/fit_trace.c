/* SPDX-License-Identifier: Apache-2.0
 *
 * The first pass replays the trace and notes, for each device, the event of the
 * highest use; later passes find who held the memory there.
 *
 * Failures are the replay's, as for the post-mortem: PyTorch asks the driver up to three times for one request,
 * then raises. */
#include "analysis/fit/fit_answer.h"

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
#include "analysis/state/work_calls.h"
#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"
#include "base/vs_err.h"
#include "base/vs_text.h"
#include "trace/symbols/demangle.h"

/* Beside the replay's account of the same index. */
struct fit_watch {
    uint64_t tensors_peak, tensors_event; /* event: 1-based; 0: never */
    struct vs_place tensors_place;
    uint64_t outside; /* used and in no allocation, at the last reading */
    uint64_t used_peak, used_outside;
    bool read; /* the device's free memory was read */
    uint64_t refused, retries; /* refused requests that a framework got after it had emptied its cache */
};

#define KERNEL_NAME_MAX 64

/* The work of the second step on the device, which runs behind the host: its records come later still. Work belongs to
 * the step in which the host began it, and correlations rise from call to call, also of the work that NVIDIA's libraries
 * begin without one: those of the step lie between the first of its calls and the first of a later step's. */
struct fit_work {
    struct fit_piece {
        uint64_t correlation, kernel_ns, copy_bytes;
    } *items;
    size_t count, capacity;
    uint64_t ends_ns[2], ended;  /* of the first two steps; how many have ended */
    uint64_t first[2];           /* the lowest correlations of calls after these; 0: none */
};

struct fit_pass {
    struct vs_reader *reader;
    struct vs_replay *replay;
    struct vs_symbols *symbols;
    struct vs_fit_trace *trace;
    struct fit_watch watches[VS_DEVICES_MAX];
    struct fit_work work;
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

static void watch_work(struct fit_work *work, const struct vs_replay *replay, const struct vs_event *event)
{
    const struct vs_event_api_call *call = &event->api_call;
    const struct vs_work of = vs_work_of(event);
    bool copies = event->kind == VS_EVENT_memcpy &&
                  (event->memcpy.copy_kind == VS_COPY_HTOD || event->memcpy.copy_kind == VS_COPY_DTOH);
    if (replay->step_ended && work->ended < 2)
        work->ends_ns[work->ended++] = event->time_ns;
    for (size_t i = 0; event->kind == VS_EVENT_api_call && i < work->ended; i++)
        if (call->start_ns >= work->ends_ns[i] && (!work->first[i] || call->correlation < work->first[i]))
            work->first[i] = call->correlation;
    uint64_t kernel_ns = event->kind == VS_EVENT_kernel ? event->kernel.end_ns - event->kernel.start_ns : 0;
    if (of.correlation)
        VS_VEC_ADD(work->items, work->count, work->capacity,
                   (struct fit_piece){of.correlation, kernel_ns, copies ? of.bytes : 0});
}

/* *complete*: the program ended by itself, so that no record is missing. Otherwise nothing is known unless there are
 * records of later work. */
static struct vs_fit_cost cost_of(const struct fit_work *work, bool complete)
{
    struct vs_fit_cost cost = {0};
    uint64_t from = work->first[0], to = work->first[1] ? work->first[1] : UINT64_MAX;
    for (size_t i = 0; from && i < work->count; i++) {
        const struct fit_piece *piece = &work->items[i];
        bool inside = piece->correlation >= from && piece->correlation < to;
        cost.kernel_ns += inside ? piece->kernel_ns : 0;
        cost.copy_bytes += inside ? piece->copy_bytes : 0;
        complete |= piece->correlation >= to;
    }
    cost.steps = work->ended == 2 && cost.kernel_ns && complete;
    return cost.steps ? cost : (struct vs_fit_cost){0};
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
        watch->retries += account->framework_retries > watch->refused;
        watch->refused = account->framework_retries;
        uint64_t used = account->sums.now.reserved + watch->outside;
        if (used > watch->used_peak) {
            watch->used_peak = used;
            watch->used_outside = watch->outside;
        }
    }
    watch_work(&pass->work, replay, event);
    return VS_OK;
}

static bool is_other_error(const struct vs_failure *failure)
{
    return !failure->framework && failure->error != VS_CUDA_OUT_OF_MEMORY;
}

/* The first failure on *account* that the program did not recover from, out of memory before other errors; NULL
 * without one. *number*: of it, among all. */
static const struct vs_failure *first_failure(const struct vs_replay *replay, unsigned account, uint64_t *number)
{
    const struct vs_failure *other = NULL;
    for (size_t i = 0; i < replay->firsts.count + replay->failure_count; i++) {
        const struct vs_failure *one = i < replay->firsts.count ? &replay->firsts.items[i].failure
                                                                : &replay->failures[i - replay->firsts.count];
        if (one->account != account || one->recovered || one->overhead)
            continue;
        if (other && is_other_error(one))
            continue;
        other = one;
        *number = i < replay->firsts.count ? replay->firsts.items[i].number
                                           : replay->failure_total - (replay->firsts.count + replay->failure_count - i) + 1;
        if (!is_other_error(one))
            break;
    }
    return other;
}

static enum vs_err fill_failure(struct fit_pass *pass, const struct vs_failure *failure, struct vs_fit_device *device)
{
    const struct vs_replay *replay = pass->replay;
    struct vs_fit_failure *out = &device->failure;
    *out = (struct vs_fit_failure){
        .number = out->number, .requested = failure->requested, .free_bytes = failure->device_free, .time_ns = failure->time_ns,
        .framework = failure->framework, .other_error = is_other_error(failure),
        .error = failure->framework ? 0 : failure->error,
        .place = vs_text_copy(&pass->trace->memory, vs_place_text(&replay->phases, failure->place)),
        .where = vs_fit_where(&pass->summary, failure->stack, failure->mark, !device->tensors)};
    enum vs_err err = vs_fit_holders(pass->reader, &pass->summary, failure->event, device->device, device->tensors,
                                     &out->holders);
    /* what the device lacked: the cache of vramscope's own allocator would be released first */
    uint64_t need = failure->device_requested, available = out->free_bytes + out->holders.cached_bytes;
    if (failure->family == VS_FAMILY_DEVICE)
        need = vs_policy_device_bytes(vs_policy_of_trace(vs_replay_policy(replay)), need);
    out->missing = failure->device_total && need > available ? need - available : 0;
    return err;
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
        .tensors = tensors, .policy = vs_text_copy(memory, vs_replay_policy(pass->replay)),
        .peak_allocated = tensors ? watch->tensors_peak : account->sums.peak.allocated,
        .peak_reserved = tensors ? account->framework.peak.reserved : account->sums.peak.reserved,
        .peak_place = vs_text_copy(memory, vs_place_text(&pass->replay->phases, tensors
                                               ? watch->tensors_place : account->peak_allocated.place)),
        .used_peak = watch->used_peak, .outside = watch->used_outside,
        .recovered = pass->replay->firsts.recovered[index], .retries = watch->retries};
    for (size_t i = 0; i < pass->replay->failure_count; i++) {
        const struct vs_failure *one = &pass->replay->failures[i];
        if (one->account == index && one->recovered && !one->overhead && !is_other_error(one))
            ++*(tensors && !one->framework ? &out->retries : &out->recovered);
    }
    uint64_t event = tensors ? watch->tensors_event : account->peak_allocated.event;
    const struct vs_failure *refused = first_failure(pass->replay, index, &out->failure.number);
    enum vs_err err = VS_OK;
    if (event)
        err = vs_fit_holders(pass->reader, &pass->summary, event, account->device, tensors,
                             &out->holders);
    if (!err && refused)
        err = fill_failure(pass, refused, out);
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
    trace->cost = cost_of(&pass->work, replay->has_end && replay->end.end.reason == VS_END_EXIT);
    trace->partial = replay->recording.min_size || replay->recording.sample > 1 ||
                     replay->recording.stage >= VS_RECORDING_TOTALS;
    trace->devices = devices;
    for (unsigned i = 0; i < replay->account_count; i++) {
        const struct vs_account *account = replay->accounts[i];
        if (!account->sums.peak.reserved && !first_failure(replay, i, &(uint64_t){0}))
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
    free(pass->work.items);
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

#define NAMED_MAX 400 /* call sites whose line is looked up: those that hold most */

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

static int by_bytes(const void *a, const void *b)
{
    const struct vs_site *const *x = a, *const *y = b;
    return vs_then(VS_ORDER((*y)->live_bytes, (*x)->live_bytes), vs_then(VS_ORDER((*x)->stack, (*y)->stack),
                                                                      VS_ORDER((*x)->mark, (*y)->mark)));
}

enum vs_err vs_fit_holders(struct vs_reader *reader, const struct vs_summary *summary, uint64_t event,
                           uint64_t device, bool tensors, struct vs_fit_holders *out)
{
    const struct vs_time_window window = {.to = {.given = true, .by_event = true, .value = event}};
    struct vs_replay *replay = vs_replay_open(reader);
    *out = (struct vs_fit_holders){0};
    vs_reader_rewind(reader);
    enum vs_err err = vs_reading_run(reader, replay, &window, NULL, 0);
    size_t count = 0, named = 0;
    const struct vs_site **sites = vs_xcalloc(replay->sites.count + 1, sizeof *sites);
    for (size_t i = 0; !err && i < replay->sites.count; i++) {
        const struct vs_site *site = &replay->sites.items[i];
        bool wanted = tensors ? site->level == VS_LEVEL_FRAMEWORK
                              : site->level == VS_LEVEL_DEVICE && vs_family_on_device(site->family);
        if (wanted && site->live_count && site->device < replay->account_count &&
            replay->accounts[site->device]->device == device)
            sites[count++] = site;
    }
    vs_vec_sort(sites, count, sizeof *sites, by_bytes);
    size_t limit = count < NAMED_MAX ? count : NAMED_MAX;
    struct vs_fit_holder *lines = vs_xcalloc(limit + 1, sizeof *lines);
    for (size_t i = 0; i < count; i++) {
        const struct vs_site *site = sites[i];
        out->total_bytes += site->live_bytes;
        if (i >= limit || !site->live_bytes)
            continue;
        const char *where = vs_fit_where(summary, site->stack, site->mark, !tensors);
        size_t k = 0;
        while (k < named && strcmp(lines[k].where, where) != 0)
            k++;
        vs_summary_part(summary, site->stack, site->live_bytes, site->live_count, &lines[k].parts);
        named += k == named;
        lines[k].where = where;
        lines[k].bytes += site->live_bytes;
        lines[k].count += site->live_count;
    }
    for (unsigned i = 0; i < replay->account_count; i++)
        if (replay->accounts[i]->device == device) {
            struct vs_holes holes;
            vs_replay_holes(replay, i, &holes);
            out->cached_bytes = holes.empty_bytes;
        }
    VS_SORT(lines, named, VS_DOWN(bytes), VS_UP(where));
    for (size_t i = 0; i < named && out->count < VS_FIT_HOLDERS_MAX; i++)
        if (lines[i].bytes) {
            vs_summary_sort_parts(&lines[i].parts);
            out->items[out->count++] = lines[i];
        }
    free(lines);
    free(sites);
    vs_replay_close(replay);
    return err;
}
