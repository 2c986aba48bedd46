/* SPDX-License-Identifier: Apache-2.0
 *
 * The first pass replays the trace and notes, for each device, the event of the
 * highest use; later passes find who held the memory there.
 *
 * A failure is one request: PyTorch asks the driver up to three times for it, then raises. Whether
 * the program recovered is decided as for the post-mortem. */
#include "analysis/fit/fit_trace.h"

#include <stdlib.h>
#include <string.h>

#include "allocator/core/placement_policy.h"
#include "analysis/fit/fit_failures.h"
#include "analysis/naming/function_text.h"
#include "analysis/report/summary.h"
#include "analysis/state/reading.h"
#include "analysis/state/replay.h"
#include "base/reading/vs_xalloc.h"
#include "base/vs_text.h"
#include "trace/symbols/demangle.h"

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

static void watch_account(struct fit_pass *pass, unsigned index, const struct vs_event *event)
{
    const struct vs_account *account = pass->replay->accounts[index];
    struct fit_watch *watch = &pass->watches[index];
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
    for (unsigned i = 0; i < replay->account_count; i++)
        watch_account(pass, i, event);
    vs_fit_failures_event(&pass->failures, replay, event);
    return VS_OK;
}

static const char *place_text(struct fit_pass *pass, struct vs_place place)
{
    char text[VS_PLACE_TEXT_MAX];
    return vs_text_copy(&pass->trace->memory,
                           vs_phases_text(&pass->replay->phases, place, text));
}

static enum vs_err fill_failure(struct fit_pass *pass, unsigned index, struct vs_fit_device *device)
{
    const struct vs_fit_refused *found = vs_fit_failures_first(&pass->failures, index);
    struct vs_fit_failure *out = &device->failure;
    if (!found)
        return VS_OK;
    *out = (struct vs_fit_failure){
        .requested = found->requested, .missing = found->missing, .free_bytes = found->free_bytes,
        .time_ns = found->time_ns,
        .framework = found->framework, .other_error = found->other_error, .error = found->error,
        .place = place_text(pass, found->place),
        .where = vs_fit_where(&pass->summary, found->stack, found->mark, !device->tensors)};
    return vs_fit_holders(pass->reader, &pass->summary, found->event, device->device, device->tensors,
                          &out->holders);
}

static enum vs_err fill_kinds(struct fit_pass *pass, unsigned index, uint64_t peak,
                              struct vs_fit_device *out)
{
    const struct vs_fit_refused *refused = vs_fit_failures_first(&pass->failures, index);
    struct vs_kinds_query queries[2] = {
        {.device = out->device, .event = peak},
        {.device = out->device, .event = refused ? refused->event : VS_KINDS_END}};
    struct vs_kinds_table tables[2];
    enum vs_err err = vs_kinds_read(pass->reader, pass->symbols, queries, 2, tables);
    if (err)
        return err;
    out->kinds = tables[0];
    if (refused)
        out->failure.kinds = tables[1];
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
        .peak_place = place_text(pass, tensors ? watch->tensors_place : account->peak_allocated.place),
        .held_peak = account->sums.peak.reserved,
        .used_peak = watch->used_peak, .outside = watch->used_outside,
        .recovered = pass->failures.recovered[index][0],
        .retries = pass->failures.recovered[index][1]};
    uint64_t event = tensors ? watch->tensors_event : account->peak_allocated.event;
    enum vs_err err = VS_OK;
    if (event)
        err = vs_fit_holders(pass->reader, &pass->summary, event, account->device, tensors,
                             &out->holders);
    if (!err)
        err = fill_failure(pass, index, out);
    return err || !tensors ? err : fill_kinds(pass, index, event, out);
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
    trace->partial = replay->recording.min_size || replay->recording.sample > 1 ||
                     replay->recording.stage >= VS_RECORDING_TOTALS;
    trace->devices = devices;
    for (unsigned i = 0; i < replay->account_count; i++) {
        const struct vs_account *account = replay->accounts[i];
        if (!account->sums.peak.reserved && !vs_fit_failures_first(&pass->failures, i))
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

/* The first pass, failures settled at its end, then names. With PyTorch its native functions are
 * not looked up: their names are not needed, and take seconds. */
static enum vs_err read_trace(struct fit_pass *pass)
{
    const struct vs_observer observer = {VS_KINDS_EVERY, NULL, after_event, pass};
    struct vs_replay *replay = pass->replay = vs_replay_open(pass->reader);
    vs_reader_rewind(pass->reader);
    enum vs_err err = vs_reading_run(pass->reader, replay, NULL, &observer, 1);
    if (!err) {
        vs_replay_finish(replay);
        pass->symbols = vs_symbols_open(pass->reader);
    }
    const struct vs_event_end *end = &replay->end.end;
    bool well = replay->has_end && end->reason == VS_END_EXIT && !end->status, tensors = false;
    if (err)
        return err;
    if (replay->failure_count)
        vs_did_without(replay, pass->symbols, well);
    vs_fit_failures_settle(&pass->failures, replay, true);
    for (unsigned i = 0; i < replay->account_count; i++)
        tensors |= pass->watches[i].tensors_event != 0;
    pass->summary = (struct vs_summary){.memory = &pass->trace->memory, .replay = replay,
                                        .symbols = pass->symbols, .wrappers = &pass->wrappers,
                                        .own_only = tensors};
    vs_summary_wrappers(&pass->summary, &pass->wrappers);
    return VS_OK;
}

enum vs_err vs_fit_trace_build(struct vs_reader *reader, const char *path, const char *rank,
                               struct vs_fit_trace **out)
{
    struct fit_pass *pass = vs_xcalloc(1, sizeof *pass);
    struct vs_fit_trace *trace = vs_xcalloc(1, sizeof *trace);
    pass->reader = reader;
    pass->trace = trace;
    enum vs_err err = read_trace(pass);
    if (!err)
        err = fill(pass, path, rank);
    vs_symbols_close(pass->symbols);
    vs_replay_close(pass->replay);
    vs_fit_failures_free(&pass->failures);
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
