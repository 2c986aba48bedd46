/* SPDX-License-Identifier: Apache-2.0
 *
 * The timeline as Chrome trace JSON (chrome://tracing, ui.perfetto.dev) and as Perfetto's packets, written while
 * the trace is read: one pass, memory bounded by live allocations and by the records held back for ordering.
 *
 * Tracks: the process with one track per host thread (NVTX ranges as B/E, start/end ranges as async
 * b/e, calls that wait for the device as X, marks as instants), one per thread with its calls of CUDA, and
 * one with the steps, marked or found; one more "process" per device with a track per stream (kernels,
 * copies, memsets as X; arrows from the calls that began them, as s/f). Memory: timeline_memory.h. Time 0 is
 * the process's start. Where the trace is read from its start, a first reading learns how the report
 * names call sites, and steps that the program does not mark.
 *
 * Host-side events are written in file order, which is time order but for calls, which are written after
 * their end. Records of work arrive nearly sorted (a collector's buffers may overtake each other): each stream
 * holds some back, and slices that still come too late are cut, so that they never overlap. Counters come
 * from the same replay as the report. Ranges of different NVTX domains may overlap on one thread: then the
 * inner ones are closed and reopened, so that slices always nest. A window begins with the current counters
 * and the open ranges; it contains the kernels and copies that ran in it, as the report counts them, whenever
 * CUPTI delivered them. */
#define _GNU_SOURCE /* strcasestr, fopencookie */
#include "viewer/export/export.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/checkpoint/trace_state.h"
#include "analysis/growth/growth.h"
#include "analysis/report/summary.h"
#include "analysis/state/activity.h"
#include "analysis/state/replay.h"
#include "analysis/state/work_calls.h"
#include "base/reading/vs_sorted_rows.h"
#include "base/vs_arena.h"
#include "base/vs_map.h"
#include "base/vs_size.h"
#include "base/vs_text.h"
#include "trace/read/job_rank.h"
#include "trace/read/seek.h"
#include "viewer/chrome/chrome_emit.h"
#include "viewer/chrome/timeline_memory.h"
#include "viewer/common/json_writer.h"

#define DEVICE_PID_OFFSET 1000000 /* used if a device's number could be the process's pid */
#define MEMBER_PIDS 1000 /* for a trace among several */
#define MEMBER_IDS_SHIFT 40 /* numbers of arrows and ranges below are its own */
#define LEFT_OUT_BYTES 512 /* for the instant that says so */
#define HELD_MOST 8192 /* records of a stream; half of them are held back */

struct track {
    struct chrome *chrome;
    struct vs_sorted_rows held; /* of struct vs_slice */
    uint64_t end_ns; /* of the last slice that was written */
    uint64_t device, stream;
    const char *name; /* "" until the stream has one */
};

struct chrome {
    struct vs_reader *reader;
    struct vs_trace_state *point;
    struct vs_replay *replay; /* of point */
    struct vs_emit emit;
    struct vs_export_options options;
    uint64_t from_ns, to_ns; /* kernels and copies that overlap this time span are drawn, in full */
    bool ended;              /* the trace has ended, not only the window */
    struct vs_map thread_by_tid; /* -> its number */
    struct track *tracks;
    size_t track_count, track_capacity;
    struct vs_map track_by_key;
    uint64_t clipped; /* slices */
    struct vs_timeline_memory memory_tracks;
    struct vs_growth_steps steps; /* of the whole trace */
    struct vs_job_rank job;
    struct vs_map named; /* tracks of steps, of calls and of CUPTI's overhead */
    struct vs_map kernel_names; /* vs_summary_name_once */
    struct vs_chrome_stacks stacks;
    struct vs_flows flows;
    struct vs_work_calls calls;
    struct vs_arena memory;
};

static const char *text(const struct chrome *c, uint64_t id)
{
    return vs_reader_string(c->reader, id);
}

/* Among several traces a number of its own, as those of several machines may be equal. */
static uint64_t host_pid(const struct chrome *c)
{
    if (c->options.member)
        return (c->options.member->index + 1) * MEMBER_PIDS;
    return c->replay->has_process ? c->replay->process.process.pid : 0;
}

static uint64_t device_pid(const struct chrome *c, uint64_t device)
{
    if (c->options.member)
        return host_pid(c) + 1 + device % (MEMBER_PIDS - 1);
    return host_pid(c) > VS_DEVICES_MAX ? device : device + DEVICE_PID_OFFSET;
}

/* --- names of tracks --- */

static void name_device(struct chrome *c, unsigned account)
{
    const struct vs_account *a = c->replay->accounts[account];
    struct vs_timeline_device *device = &c->memory_tracks.devices[account];
    uint64_t pid = device->pid = device_pid(c, a->device);
    char label[512];
    device->named = true;
    snprintf(label, sizeof label, "%s%sGPU %" PRIu64 "%s%.400s%s",
             c->options.member ? c->options.member->name : "", c->options.member ? ", " : "",
             a->device, a->name ? ": " : "", text(c, a->name),
             a->simulated && !strcasestr(text(c, a->name), "simulated") ? " (simulated)" : "");
    vs_emit_track(&c->emit, false, pid, 0, label, (c->options.member ? host_pid(c) : 0) + account + 1);
}

/* --- slices on the device --- */

/* The next on its track; one that comes too late is cut. */
static void write_slice(void *context, void *row)
{
    struct track *track = context;
    struct vs_slice *slice = row;
    struct chrome *c = track->chrome;
    c->clipped += slice->start_ns < track->end_ns;
    slice->start_ns = slice->start_ns > track->end_ns ? slice->start_ns : track->end_ns;
    slice->end_ns = slice->end_ns > slice->start_ns ? slice->end_ns : slice->start_ns;
    track->end_ns = slice->end_ns;
    const struct vs_event *event = &slice->event;
    uint64_t number = vs_work_of(event).correlation;
    const struct vs_work_call *call = vs_work_calls_find(&c->calls, number);
    struct vs_chrome_stack stack = vs_chrome_stack(&c->stacks, call ? call->stack : 0);
    uint64_t pid = device_pid(c, event->activity.device);
    const struct vs_summary names = {.memory = &c->memory, .replay = c->replay};
    const char *kernel = event->kind == VS_EVENT_kernel
                             ? vs_summary_name_once(&names, &c->kernel_names, event->kernel.name) : NULL;
    if (vs_emit_slice(&c->emit, slice, pid, kernel, &stack))
        vs_flow_add(&c->flows, &c->emit, true,
                    (struct vs_flow_end){number, pid, event->activity.stream, slice->start_ns,
                                         slice->end_ns - slice->start_ns});
}

static void emit_stream(struct chrome *c, const struct track *track, uint64_t place)
{
    char label[300];
    const char *name = track->name;
    snprintf(label, sizeof label, "stream %" PRIu64 "%s%.250s%s", track->stream, *name ? " (" : "", name, *name ? ")" : "");
    vs_emit_track(&c->emit, true, device_pid(c, track->device), track->stream, label, place);
}

/* The track of a stream, and its *name* if it gets one. Perfetto needs it before the first event on the track, Chrome
 * has one name for a track: the last, which close_all writes. */
static struct track *name_stream(struct chrome *c, uint64_t device, uint64_t stream,
                                 const char *name)
{
    uint64_t key = ((device & 0xff) << 56 | (stream & ~(UINT64_C(0xff) << 56))) + 1;
    uint64_t number = vs_xmap_number(&c->track_by_key, key + (key == 0), c->track_count);
    bool first = number == c->track_count;
    if (first)
        VS_VEC_ADD(c->tracks, c->track_count, c->track_capacity,
                   ((struct track){.chrome = c, .device = device, .stream = stream, .name = "",
                                   .held = {.size = sizeof(struct vs_slice), .most = HELD_MOST, .leaves = write_slice}}));
    if (*name)
        c->tracks[number].name = name;
    if (c->emit.perfetto && (first || *name))
        emit_stream(c, &c->tracks[number], VS_NO_PLACE);
    return &c->tracks[number];
}

static void add_slice(struct chrome *c, const struct vs_event *event)
{
    const struct vs_slice slice = {event->activity.start_ns, event->activity.end_ns, *event};
    struct track *track = name_stream(c, event->activity.device, event->activity.stream, "");
    vs_sorted_rows_add(&track->held, track, &slice);
}

/* --- ranges of the host --- */

/* The place of a thread, which it gets at first. */
static uint64_t place_of(struct chrome *c, uint32_t tid)
{
    size_t known = c->thread_by_tid.count;
    uint64_t number = vs_xmap_number(&c->thread_by_tid, (uint64_t)tid + 1, known), place = 2 * number + 2;
    if (number == known)
        vs_emit_track(&c->emit, true, host_pid(c), tid, NULL, place);
    return place;
}

/* A mark, or the begin or end of a range: *of* is the event that began it. */
static struct vs_emitted edge(struct chrome *c, char phase, const struct vs_event *of, uint64_t time_ns)
{
    bool by_id = of->kind == VS_EVENT_range_start; /* it may end on another thread */
    return (struct vs_emitted){.phase = phase, .name = text(c, of->fields[by_id]), .pid = host_pid(c), .tid = of->tid,
                               .id = by_id ? of->range_start.range : 0, .time_ns = time_ns,
                               .category = phase == 'i' ? "cpu_instant_event" : by_id ? "range" : "user_annotation"};
}

static void write_edge(struct chrome *c, char phase, const struct vs_event *of, uint64_t time_ns)
{
    const struct vs_emitted out = edge(c, phase, of, time_ns);
    vs_emit_event(&c->emit, &out);
}

/* A mark or the begin of a range. */
static void annotate(struct chrome *c, char phase, const struct vs_event *event)
{
    const struct vs_emitted out = edge(c, phase, event, event->time_ns);
    const uint64_t *of = event->fields + (event->kind == VS_EVENT_range_start); /* from the name on */
    uint64_t domain = of[1], colour = of[2], kind = of[3], payload = of[4];
    char rgb[16];
    double real;
    memcpy(&real, &payload, sizeof real);
    snprintf(rgb, sizeof rgb, "#%06" PRIx64, colour & 0xffffff);
    struct vs_json_item number = VS_J_UINT_IF(kind == VS_PAYLOAD_UNSIGNED, "payload", payload);
    if (kind == VS_PAYLOAD_SIGNED)
        number = (struct vs_json_item)VS_J_INT("payload", (int64_t)payload);
    else if (kind == VS_PAYLOAD_DOUBLE)
        number = (struct vs_json_item)VS_J_REAL("payload", real);
    const struct vs_json_item args[] = {VS_J_TEXT_IF(domain != 0, "domain", text(c, domain)),
                                        VS_J_TEXT_IF(colour != 0, "colour", rgb), number, {.key = NULL}};
    vs_emit_put(&c->emit, &out, args);
}

/* Writes the edges of a range that begins or ends. Returns whether one begins. */
static bool range(struct chrome *c, const struct vs_event *event)
{
    struct vs_retained *open = &c->point->retained;
    size_t before = open->count - open->gone;
    const struct vs_event *ends = event->kind == VS_EVENT_range_pop   ? vs_retained_closed(open, event)
                                  : event->kind == VS_EVENT_range_end ? vs_retained_find(open, VS_EVENT_range_start,
                                                                                         event->range_end.range) : NULL;
    if (ends && ends->kind == VS_EVENT_range_start)
        write_edge(c, 'e', ends, event->time_ns);
    /* The inner ones of the thread end as well, and begin again. */
    size_t from = ends && ends->kind == VS_EVENT_range_push ? (size_t)(ends - open->items) : SIZE_MAX;
    for (size_t i = open->count; i-- > from;)
        if (open->items[i].kind == VS_EVENT_range_push && open->items[i].tid == event->tid)
            write_edge(c, 'E', &open->items[i], event->time_ns);
    vs_retained_event(open, event);
    for (size_t i = from; i < open->count; i++)
        if (open->items[i].kind == VS_EVENT_range_push && open->items[i].tid == event->tid)
            write_edge(c, 'B', &open->items[i], event->time_ns);
    return open->count - open->gone > before;
}

/* --- waits and calls --- */

/* A further track of a thread, which gets its name at first, below the thread's own. */
static uint64_t thread_track(struct chrome *c, uint64_t tracks, const char *what, uint64_t tid)
{
    char label[300];
    uint64_t track = tracks | tid;
    if ((*vs_xmap_value(&c->named, track, 0))++)
        return track;
    const struct vs_event *thread = vs_retained_find(&c->point->retained, VS_EVENT_thread, tid);
    const char *name = thread && thread->thread.name ? text(c, thread->thread.name)
                       : tid == c->replay->process.process.pid ? "main thread" : "thread";
    snprintf(label, sizeof label, "%s %.200s %" PRIu64, what, name, tid);
    vs_emit_track(&c->emit, true, host_pid(c), track, label, place_of(c, (uint32_t)tid) + 1);
    return track;
}

/* A call that waits; a call of CUDA, its name without CUPTI's version; CUPTI's own work. The last two have tracks of
 * their own for each thread, because their clock is CUPTI's: they would not nest with ranges and waits. */
static void host_slice(struct chrome *c, const struct vs_event *event)
{
    const struct vs_event_api_call *call = event->kind == VS_EVENT_api_call ? &event->api_call : NULL;
    const struct vs_event_sync *wait = event->kind == VS_EVENT_sync ? &event->sync : NULL;
    uint64_t from = event->activity.start_ns, to = event->activity.end_ns; /* of all three */
    char name[128];
    if (from > c->to_ns || to < c->from_ns || !from)
        return;
    struct vs_chrome_stack stack = vs_chrome_stack(&c->stacks, wait ? wait->stack : 0);
    struct vs_emitted out = {.phase = 'X', .pid = host_pid(c), .stack = &stack};
    if (wait) {
        from = from > c->from_ns ? from : c->from_ns;
        to = to < c->to_ns ? to : c->to_ns;
        out.name = text(c, wait->api);
        out.category = "cuda_sync";
        out.tid = event->tid;
    } else if (call) {
        const char *full = text(c, call->api);
        snprintf(name, sizeof name, "%s", full + strspn(full, "_")); /* __cudaLaunchKernel_v13000 */
        name[strcspn(name, "_")] = '\0';
        out.name = name;
        out.category = call->driver ? "cuda_driver" : "cuda_runtime";
        out.tid = thread_track(c, VS_CALLS_TRACK, "CUDA calls of", call->thread);
        out.id = call->correlation;
    } else {
        out.name = vs_cupti_overhead_name(event->cupti_overhead.overhead_kind);
        out.category = "overhead";
        out.tid = thread_track(c, VS_OVERHEAD_TRACK, "CUPTI's overhead on", event->cupti_overhead.thread);
    }
    out.time_ns = from;
    out.duration_ns = to > from ? to - from : 0;
    if (vs_emit_event(&c->emit, &out, VS_J_UINT_IF(wait, "device", event->sync.device),
                      VS_J_UINT_IF(wait && wait->sync_kind == VS_WAIT_STREAM, "waits for stream", event->sync.stream),
                      VS_J_UINT_IF(call, "correlation", out.id), VS_J_UINT_IF(call, "result", event->api_call.result)))
        vs_flow_add(&c->flows, &c->emit, false, (struct vs_flow_end){out.id, out.pid, out.tid, from, out.duration_ns});
}

static void switched(struct chrome *c, const struct vs_event *event)
{
    static const char *const by[] = {"a step", "a range", "the program", "a signal"};
    const struct vs_event_activity_switched *to = &event->activity_switched;
    const struct vs_emitted out = {.phase = 'i', .category = "cpu_instant_event", .pid = host_pid(c),
                                   .name = to->on ? "kernels and copies recorded from here"
                                                  : "kernels and copies not recorded from here",
                                   .tid = event->tid, .time_ns = event->time_ns, .instant_of_all = true};
    vs_emit_event(&c->emit, &out, VS_J_TEXT_IF(to->by <= VS_SWITCH_SIGNAL, "by", by[to->by & 3]),
                  VS_J_UINT_IF(to->by == VS_SWITCH_STEP, "step", to->step),
                  VS_J_TEXT_IF(to->by == VS_SWITCH_RANGE, "range", text(c, to->range)));
}

/* --- steps --- */

static void write_step(struct chrome *c, uint64_t number, uint64_t last, uint64_t from_ns, uint64_t to_ns)
{
    char name[64];
    if (to_ns <= c->from_ns || from_ns > c->to_ns)
        return;
    if (!(*vs_xmap_value(&c->named, VS_STEPS_TRACK, 0))++)
        vs_emit_track(&c->emit, true, host_pid(c), VS_STEPS_TRACK, "steps", 0);
    from_ns = from_ns > c->from_ns ? from_ns : c->from_ns;
    bool torch = false; /* then with the name by which tools for PyTorch's traces find them */
    for (unsigned i = 0; i < c->replay->account_count; i++)
        torch |= c->replay->accounts[i]->user.reports;
    int length = snprintf(name, sizeof name, "%s%" PRIu64, torch ? "ProfilerStep#" : last > number ? "steps " : "step ",
                          number);
    if (last > number)
        snprintf(name + length, sizeof name - (size_t)length, "-%" PRIu64, last);
    const struct vs_emitted out = {.phase = 'X', .name = name, .category = "user_annotation", .pid = host_pid(c),
                                   .tid = VS_STEPS_TRACK, .time_ns = from_ns, .duration_ns = to_ns - from_ns};
    vs_emit_event(&c->emit, &out);
}

/* The step in progress, and those that were found. */
static void write_last_steps(struct chrome *c)
{
    const struct vs_steps *marked = &c->replay->phases.steps;
    uint64_t now = c->replay->now_ns;
    if (marked->open && !vs_replay_step_prepared(c->replay))
        write_step(c, marked->number, marked->number, marked->time_ns, now);
    const struct vs_time_window *window = c->options.window;
    uint64_t before = window && window->from.by_event ? window->from.value : 0, events = c->replay->events;
    size_t count = c->steps.source == VS_STEPS_FOUND ? c->steps.count : 0;
    for (size_t i = 0; i < count && c->steps.items[i].event <= events; i++) {
        const struct vs_growth_step *step = &c->steps.items[i], *next = i + 1 < count ? step + 1 : NULL;
        uint64_t number = c->steps.first_number + i * c->steps.stride;
        if (!next || next->event > before) /* a step of the part, whose last one ends with it */
            write_step(c, number, number + c->steps.stride - 1, step->time_ns,
                       next && next->event <= events + 1 ? next->time_ns : now);
    }
}

/* --- the pass --- */

/* The time 0 of what is written, and the program's number, which without a process is 0 or that of the member. */
static void begin(struct chrome *c)
{
    c->emit.host_pid = c->memory_tracks.devices[VS_HOST_INDEX].pid = host_pid(c);
    c->emit.start_ns = c->emit.clock ? 0 : vs_replay_start_ns(c->replay);
}

static void draw(struct chrome *c, const struct vs_event *event)
{
    switch (event->kind) {
    case VS_EVENT_process:
        begin(c);
        const char *exe = vs_text_base_name(text(c, event->process.exe));
        uint64_t pid = host_pid(c);
        char label[512];
        snprintf(label, sizeof label, "%.100s: %.300s",
                 c->options.member ? c->options.member->name : "", exe);
        vs_emit_track(&c->emit, false, pid, 0, c->options.member ? label : exe, c->options.member ? pid : 0);
        vs_emit_track(&c->emit, true, pid, event->process.pid, "main thread", VS_NO_PLACE);
        break;
    case VS_EVENT_option:
        vs_job_rank_option(&c->job, text(c, event->option.name), text(c, event->option.value));
        break;
    case VS_EVENT_device: {
        unsigned account = vs_replay_account(c->replay, event->device.device);
        if (account != VS_ACCOUNT_NONE)
            name_device(c, account);
        break;
    }
    case VS_EVENT_stream:
        name_stream(c, event->stream.device, event->stream.stream, text(c, event->stream.name));
        break;
    case VS_EVENT_thread:
        if (event->thread.name) {
            place_of(c, (uint32_t)event->thread.tid);
            vs_emit_track(&c->emit, true, host_pid(c), event->thread.tid, text(c, event->thread.name), VS_NO_PLACE);
        }
        break;
    case VS_EVENT_kernel:
    case VS_EVENT_memcpy:
    case VS_EVENT_memset:
        if (vs_activity_within(event, c->from_ns, c->to_ns, NULL))
            add_slice(c, event);
        break;
    case VS_EVENT_sync:
        if (event->sync.api)
            host_slice(c, event);
        break;
    case VS_EVENT_api_call:
    case VS_EVENT_cupti_overhead: host_slice(c, event); break;
    case VS_EVENT_activity_switched: switched(c, event); break;
    case VS_EVENT_range_push:
        place_of(c, event->tid);
        annotate(c, 'B', event);
        break;
    case VS_EVENT_range_start: annotate(c, 'b', event); break;
    case VS_EVENT_mark: annotate(c, 'i', event); break;
    case VS_EVENT_work_call: vs_work_calls_add(&c->calls, event); break;
    default: break;
    }
}

static enum vs_err after_event(void *context, struct vs_replay *replay,
                               const struct vs_event *event)
{
    struct chrome *c = context;
    struct vs_event drawn = *event;
    drawn.time_ns = replay->now_ns; /* never decreases, even in a damaged trace */
    if (replay->events == 1)
        begin(c);
    bool of_range = vs_event_has(event, VS_PROPERTY_RANGE);
    if (!of_range || range(c, &drawn))
        draw(c, &drawn);
    if (!of_range)
        vs_retained_event(&c->point->retained, &drawn);
    for (unsigned i = 0; i < replay->account_count; i++)
        if (!c->memory_tracks.devices[i].named)
            name_device(c, i);
    vs_timeline_memory_event(&c->memory_tracks, &drawn);
    const struct vs_steps *steps = &replay->phases.steps;
    if (replay->step_ended)
        write_step(c, steps->number, steps->number, steps->time_ns, replay->now_ns);
    return ferror(c->emit.out) ? VS_ERR_IO : VS_OK;
}

/* How call sites are named, and steps that the program does not mark, from all of the trace. */
static enum vs_err learn(struct chrome *c)
{
    struct vs_replay *replay = vs_replay_open(c->reader);
    enum vs_err err = vs_found_steps_replay(c->reader, replay, &c->steps);
    if (!err)
        vs_site_labels_open(&c->memory_tracks.labels, vs_stack_names_symbols(c->stacks.names), replay);
    vs_replay_close(replay);
    return err;
}

static enum vs_err retain(void *point, struct vs_replay *replay, const struct vs_event *event)
{
    (void)replay;
    vs_retained_event(&((struct vs_trace_state *)point)->retained, event);
    return VS_OK;
}

/* As vs_span_open, which begins here as well if the trace has no checkpoints: tensors have their kinds then. */
static enum vs_err open_from_start(struct chrome *c, const struct vs_time_window *window)
{
    struct vs_time_window before = {.to = window->from};
    before.to.value -= before.to.value > 0;
    c->point = vs_trace_state_open(c->reader);
    c->memory_tracks.kinds = vs_kinds_open(c->point->replay, vs_stack_names_symbols(c->stacks.names));
    const struct vs_observer observers[] = {{VS_KINDS_EVERY, NULL, retain, c->point},
                                            vs_kinds_observer(c->memory_tracks.kinds)};
    vs_reader_rewind(c->reader);
    enum vs_err err = vs_reading_run(c->reader, c->point->replay, &before, observers, 2);
    if (!err)
        vs_trace_state_window(c->point, window->from.by_event ? 0 : window->from.value);
    return err;
}

static enum vs_err read_all(struct chrome *c)
{
    static const struct vs_time_window whole;
    const struct vs_time_window *window = c->options.window ? c->options.window : &whole;
    struct vs_event event;
    c->memory_tracks = (struct vs_timeline_memory){
        .emit = &c->emit, .stacks = &c->stacks, .min_bytes = c->options.min_bytes, .counter_ns = c->options.counter_ns};
    bool from_checkpoint = window->from.given && vs_reader_checkpoints(c->reader);
    enum vs_err err = from_checkpoint ? VS_OK : learn(c);
    if (!err)
        err = window->from.given && !from_checkpoint ? open_from_start(c, window)
                                                     : vs_span_open(c->reader, window, &c->point);
    if (err)
        return err;
    c->replay = c->point->replay;
    c->to_ns = UINT64_MAX;
    if (window->from.given)
        c->from_ns = window->from.by_event ? c->replay->now_ns : window->from.value;
    if (window->to.given && !window->to.by_event)
        c->to_ns = window->to.value;
    if (from_checkpoint)
        vs_site_labels_open(&c->memory_tracks.labels, vs_stack_names_symbols(c->stacks.names), c->replay);
    c->memory_tracks.from_ns = c->from_ns;
    vs_timeline_memory_follow(&c->memory_tracks, c->replay, !c->replay->events);
    if (c->replay->events) {
        /* Draws what began before a window and continues into it. */
        const struct vs_retained *retained = &c->point->retained;
        begin(c);
        for (size_t i = 0; i < retained->count; i++) {
            event = retained->items[i];
            event.time_ns = c->replay->now_ns;
            if (event.kind)
                draw(c, &event);
        }
        for (unsigned i = 0; i < c->replay->account_count; i++) {
            name_device(c, i);
            vs_timeline_memory_counters(&c->memory_tracks, i, c->replay->now_ns);
        }
        vs_timeline_memory_counters(&c->memory_tracks, VS_HOST_INDEX, c->replay->now_ns);
    }
    c->memory_tracks.peaks = true;
    const struct vs_observer observers[] = {
        {VS_KINDS_EVERY, NULL, after_event, c},
        c->memory_tracks.kinds ? vs_kinds_observer(c->memory_tracks.kinds) : (struct vs_observer){0}};
    err = vs_reading_run(c->reader, c->replay, window, observers, 2);
    c->ended = vs_reader_ended(c->reader);
    if (err || c->ended)
        return err;
    /* Activity and calls of the window that were recorded after it. */
    if (c->to_ns == UINT64_MAX)
        c->to_ns = c->replay->now_ns;
    while ((err = vs_reader_next(c->reader, &event)) == VS_OK &&
           event.time_ns <= vs_span_late_ns(c->to_ns)) {
        if (vs_event_has(&event, VS_PROPERTY_ACTIVITY) || vs_event_has(&event, VS_PROPERTY_CALL))
            draw(c, &event);
        if (ferror(c->emit.out))
            return VS_ERR_IO;
    }
    return err == VS_ERR_END ? VS_OK : err;
}

static void close_all(struct chrome *c)
{
    uint64_t now = c->replay->now_ns;
    for (size_t i = c->point->retained.count; i-- > 0;) {
        const struct vs_event *open = &c->point->retained.items[i];
        if (open->kind == VS_EVENT_range_push || open->kind == VS_EVENT_range_start)
            write_edge(c, open->kind == VS_EVENT_range_push ? 'E' : 'e', open, now);
    }
    for (size_t i = 0; i < c->track_count; i++) {
        vs_sorted_rows_leave(&c->tracks[i].held, &c->tracks[i], 0);
        if (!c->emit.perfetto)
            emit_stream(c, &c->tracks[i], c->tracks[i].stream);
    }
}

static void say_left_out(struct chrome *c)
{
    char name[128];
    const struct vs_lengths *lengths = c->emit.lengths;
    snprintf(name, sizeof name, "left out for --max-size: %" PRIu64 " of %" PRIu64 " slices, those shorter than %s",
             lengths->left_out, lengths->slices, vs_time_text(lengths->shortest_ns));
    const struct vs_emitted out = {.phase = 'i', .name = name, .category = "cpu_instant_event", .pid = host_pid(c),
                                   .tid = host_pid(c), .time_ns = c->replay->now_ns, .instant_of_all = true};
    vs_emit_event(&c->emit, &out, VS_J_UINT("left out", lengths->left_out), VS_J_UINT("slices", lengths->slices),
                  VS_J_UINT("shorter than ns", lengths->shortest_ns));
}

static void write_tail(struct chrome *c)
{
    struct vs_json json = {.out = c->emit.out};
    fprintf(c->emit.out, "\n],\n\"displayTimeUnit\":\"ms\",\n\"baseTimeNanoseconds\":%" PRIu64
            ",\n\"deviceProperties\":",
            c->replay->has_process ? c->replay->process.process.start_realtime_ns : 0);
    for (unsigned i = 0; vs_json_next(&json, NULL, i, c->replay->account_count); i++) {
        const struct vs_account *a = c->replay->accounts[i];
        vs_json_object(&json, NULL, VS_J_UINT("id", a->device), VS_J_TEXT("name", text(c, a->name)),
                       VS_J_UINT("totalGlobalMem", a->total_bytes),
                       VS_J_UINT("computeMajor", a->cc_major),
                       VS_J_UINT("computeMinor", a->cc_minor), VS_J_UINT("numSms", a->sm_count),
                       VS_J_BOOL("simulated", a->simulated != 0));
    }
    const struct vs_job_rank *job = &c->job;
    fputs(",\n\"distributedInfo\":", c->emit.out);
    vs_json_object(&json, NULL, VS_J_UINT("rank", job->rank),
                   VS_J_UINT_IF(job->has_world_size, "world_size", job->world_size));
    vs_chrome_stacks_write(&c->stacks, c->emit.out);
    fputs("}\n", c->emit.out);
}

static enum vs_err export_once(bool perfetto, struct vs_reader *reader, FILE *out,
                               const struct vs_export_options *options, struct vs_lengths *lengths,
                               struct vs_export_result *result)
{
    struct chrome *c = vs_xcalloc(1, sizeof *c);
    c->reader = reader;
    c->stacks.names = vs_stack_names_open(reader);
    c->options = *options;
    c->emit.out = out;
    c->emit.lengths = lengths;
    const struct vs_export_member *member = options->member;
    if (member) {
        c->emit.clock = member->clock;
        c->emit.ids = (uint64_t)(member->index + 1) << MEMBER_IDS_SHIFT;
        c->emit.written = member->written;
    }
    c->emit.json = (struct vs_json){.out = out, .lines = true, .depth = 1, .used = {c->emit.written > 0}};
    if (perfetto)
        c->emit.perfetto = vs_perfetto_open(out);
    else if (!member || member->index == 0)
        fputs("{\"schemaVersion\":1,\n\"traceEvents\":[", out);
    enum vs_err err = read_all(c);
    if (!err) {
        write_last_steps(c);
        close_all(c);
        result->clipped = c->clipped;
        vs_timeline_memory_end(&c->memory_tracks);
        if (lengths && lengths->left_out)
            say_left_out(c);
        vs_json_flush(&c->emit.json);
        if (!perfetto && !member)
            write_tail(c);
        else if (!perfetto && member->index + 1 == member->count)
            fputs("\n],\n\"displayTimeUnit\":\"ms\"}\n", out);
        result->written = c->emit.written;
        vs_export_recording(&c->replay->recording, vs_replay_start_ns(c->replay), result);
        if (c->ended)
            vs_export_ended(reader, result);
    }
    for (size_t i = 0; i < c->track_count; i++)
        free(c->tracks[i].held.rows);
    free(c->tracks);
    vs_map_free(&c->thread_by_tid);
    vs_map_free(&c->track_by_key);
    vs_map_free(&c->named);
    vs_map_free(&c->kernel_names);
    vs_timeline_memory_free(&c->memory_tracks);
    vs_found_steps_free(&c->steps);
    vs_chrome_stacks_free(&c->stacks);
    free(c->flows.waiting);
    free(c->calls.ring);
    vs_perfetto_close(c->emit.perfetto);
    vs_map_free(&c->emit.lanes);
    vs_arena_free_all(&c->memory);
    vs_trace_state_close(c->point);
    free(c);
    return err;
}

static ssize_t count_bytes(void *total, const char *bytes, size_t count)
{
    (void)bytes;
    *(uint64_t *)total += count;
    return (ssize_t)count;
}

/* Twice if the size is limited: the first time bytes are only counted. */
static enum vs_err export_as(bool perfetto, struct vs_reader *reader, FILE *out,
                             const struct vs_export_options *options, struct vs_export_result *result)
{
    if (!options->max_bytes)
        return export_once(perfetto, reader, out, options, NULL, result);
    struct vs_lengths *lengths = vs_xcalloc(1, sizeof *lengths);
    uint64_t total = LEFT_OUT_BYTES, kept = 0, most = options->max_bytes - options->max_bytes / 64;
    FILE *counted = fopencookie(&total, "w", (cookie_io_functions_t){.write = count_bytes});
    enum vs_err err = counted ? export_once(perfetto, reader, counted, options, lengths, result) : VS_ERR_NOMEM;
    if (counted)
        fclose(counted);
    for (unsigned i = 0; i < VS_LENGTHS; i++)
        total -= total > lengths->bytes[i] ? lengths->bytes[i] : 0;
    unsigned shortest = VS_LENGTHS;
    while (shortest && total + kept + lengths->bytes[shortest - 1] <= most)
        kept += lengths->bytes[--shortest];
    if (!err && total > most) {
        result->least_bytes = total;
        err = VS_ERR_LIMIT;
    }
    lengths->slices = 0;
    lengths->shortest_ns = shortest == VS_LENGTHS ? UINT64_MAX : vs_length_begins(shortest);
    if (!err)
        err = export_once(perfetto, reader, out, options, lengths, result);
    result->selectable = lengths->slices;
    result->left_out = lengths->left_out;
    result->shortest_ns = lengths->shortest_ns;
    free(lengths);
    return err;
}

enum vs_err vs_export_chrome(struct vs_reader *reader, FILE *out,
                             const struct vs_export_options *options,
                             struct vs_export_result *result)
{
    return export_as(false, reader, out, options, result);
}

enum vs_err vs_export_perfetto(struct vs_reader *reader, FILE *out,
                               const struct vs_export_options *options,
                               struct vs_export_result *result)
{
    return export_as(true, reader, out, options, result);
}
