/* SPDX-License-Identifier: Apache-2.0
 *
 * Chrome trace events on a stream; see the header. */
#include "viewer/chrome/chrome_emit.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/merge/merge.h"
#include "analysis/state/work_calls.h"
#include "base/reading/vs_xalloc.h"
#include "trace/read/reader.h"

unsigned vs_length_of(uint64_t ns)
{
    unsigned power = ns < 8 ? 0 : 61 - (unsigned)__builtin_clzll(ns);
    return 8 * power + (unsigned)(ns >> (power ? power - 1 : 0) & 7);
}

uint64_t vs_length_begins(unsigned index)
{
    return index < 8 ? index : (UINT64_C(8) | index % 8) << (index / 8 - 1);
}

static uint64_t bytes_of(const struct vs_emit *emit)
{
    return emit->json.flushed + emit->json.length;
}

static uint64_t since_start(const struct vs_emit *emit, uint64_t time_ns)
{
    return time_ns > emit->start_ns ? time_ns - emit->start_ns : 0;
}

/* Of an event's line, in JSON. */
#define HEAD(emit, ph, name, pid, tid, ns)                                             \
    VS_J_TEXT("ph", ((const char[]){ph, 0})), VS_J_TEXT("name", name), VS_J_UINT("pid", pid), \
        VS_J_UINT("tid", tid), VS_J_US_IF(true, "ts", since_start(emit, ns))

static void put_event(struct vs_emit *emit, const struct vs_emitted *event, const struct vs_json_item *args)
{
    struct vs_json *json = &emit->json;
    emit->written++;
    while (args->type == VS_JSON_ABSENT && args->key)
        args++; /* without any there is no "args" */
    if (emit->perfetto) {
        vs_perfetto_event(emit->perfetto, emit, event, args);
        return;
    }
    bool slice = event->phase == 'X';
    uint64_t end_ns = event->time_ns + event->duration_ns;
    uint64_t from = event->time_ns > emit->start_ns ? event->time_ns : emit->start_ns;
    const struct vs_chrome_stack *stack = event->stack && event->stack->frame ? event->stack : NULL;
    vs_json_begin(json, NULL, HEAD(emit, event->phase, event->name, event->pid, event->tid, event->time_ns),
                  VS_J_US_IF(slice, "dur", end_ns > from ? end_ns - from : 0),
                  VS_J_TEXT_IF(event->category != NULL, "cat", event->category),
                  VS_J_TEXT_IF(event->phase == 'i', "s", event->instant_of_all ? "p" : "t"));
    if (strchr("ben", event->phase))
        vs_json_object(json, "id2", VS_J_DIGITS("local", event->id));
    if (args->key || stack) {
        vs_json_begin_object(json, "args");
        vs_json_put_members(json, args);
        if (stack)
            vs_json_members(json, VS_J_TEXT_IF(*stack->site, "call site", stack->site),
                            VS_J_TEXT("stack", stack->text));
        vs_json_end_object(json);
    }
    if (stack && !emit->clock) /* the numbers of frames are a trace's own */
        vs_json_members(json, VS_J_DIGITS("sf", stack->frame));
    vs_json_end_object(json);
}

/* Perfetto names the track of async slices by the first event on it, and groups tracks by name. */
static void name_lane(struct vs_emit *emit, const struct vs_emitted *event)
{
    uint64_t key = (event->pid << 32 ^ event->id) + 1;
    if ((*vs_xmap_value(&emit->lanes, key, 0))++)
        return;
    const struct vs_emitted name = {.phase = 'n', .name = event->track, .category = event->category,
                                    .pid = event->pid, .tid = event->tid, .time_ns = event->time_ns, .id = event->id};
    put_event(emit, &name, (const struct vs_json_item[]){{.key = NULL}});
}

bool vs_emit_put(struct vs_emit *emit, const struct vs_emitted *event,
                 const struct vs_json_item *args)
{
    struct vs_lengths *lengths =
        (event->phase == 'X' && event->tid != VS_STEPS_TRACK) || event->track ? emit->lengths : NULL;
    struct vs_emitted placed;
    if (lengths) {
        lengths->slices += event->phase != 'e';
        if (event->duration_ns < lengths->shortest_ns) {
            lengths->left_out += event->phase != 'e';
            return false;
        }
    }
    if (emit->clock) { /* one of several traces: the time of all, ids of its own */
        uint64_t end_ns = vs_rank_time(emit->clock, event->time_ns + event->duration_ns);
        placed = *event;
        placed.time_ns = vs_rank_time(emit->clock, event->time_ns);
        placed.duration_ns = end_ns - placed.time_ns;
        placed.id = event->id ? event->id ^ emit->ids : 0;
    }
    if (emit->clock)
        event = &placed;
    if (event->track && event->phase == 'b' && !emit->perfetto)
        name_lane(emit, event);
    uint64_t before = bytes_of(emit);
    put_event(emit, event, args);
    if (lengths)
        lengths->bytes[vs_length_of(event->duration_ns)] += bytes_of(emit) - before;
    return true;
}

static void put_metadata(struct vs_emit *emit, const char *what, uint64_t pid, uint64_t tid,
                         const struct vs_json_item *args)
{
    vs_json_begin(&emit->json, NULL, HEAD(emit, 'M', what, pid, tid, 0));
    vs_json_put_object(&emit->json, "args", args);
    vs_json_end_object(&emit->json);
    emit->written++;
}

void vs_emit_track(struct vs_emit *emit, bool thread, uint64_t pid, uint64_t tid, const char *name, uint64_t place)
{
    if (emit->perfetto && name) /* has an order of its own */
        vs_perfetto_name(emit->perfetto, emit, thread, pid, tid, name);
    if (!emit->perfetto && name)
        put_metadata(emit, thread ? "thread_name" : "process_name", pid, tid,
                     (const struct vs_json_item[]){VS_J_TEXT("name", name), {.key = NULL}});
    if (!emit->perfetto && place != VS_NO_PLACE)
        put_metadata(emit, thread ? "thread_sort_index" : "process_sort_index", pid, tid,
                     (const struct vs_json_item[]){VS_J_UINT("sort_index", place), {.key = NULL}});
}

static void point(struct vs_chrome_counter *counter, struct vs_emit *emit, uint64_t value,
                  uint64_t time_ns)
{
    const struct vs_emitted out = {.phase = 'C', .name = counter->name, .pid = counter->pid,
                                   .time_ns = time_ns};
    vs_emit_event(emit, &out, VS_J_UINT("bytes", value));
    counter->written = value;
}

void vs_counter_flush(struct vs_chrome_counter *counter, struct vs_emit *emit)
{
    if (!counter->open)
        return;
    counter->open = false;
    if (counter->high > counter->last)
        point(counter, emit, counter->high, counter->high_ns);
    if (counter->last != counter->written)
        point(counter, emit, counter->last, counter->last_ns);
}

void vs_counter_set(struct vs_chrome_counter *counter, struct vs_emit *emit, uint64_t value,
                    uint64_t time_ns, uint64_t window_ns)
{
    if (counter->open && time_ns - counter->window_start_ns >= window_ns)
        vs_counter_flush(counter, emit);
    if (!counter->open) {
        if (value == counter->written)
            return;
        counter->open = true;
        counter->window_start_ns = time_ns;
        counter->high = 0;
    }
    if (value >= counter->high) {
        counter->high = value;
        counter->high_ns = time_ns;
    }
    counter->last = value;
    counter->last_ns = time_ns;
}

/* Of a copy, with the kinds of memory as PyTorch's profiler has them: "Memcpy HtoD (Pinned -> Device)". */
static void copy_name(char *out, size_t max, const struct vs_event_memcpy *copy)
{
    char from[24], to[24];
    if (!copy->src_kind || !copy->dst_kind) {
        snprintf(out, max, "Memcpy %s", vs_copy_kind_name(copy->copy_kind));
        return;
    }
    snprintf(from, sizeof from, "%s", vs_memory_kind_name(copy->src_kind));
    snprintf(to, sizeof to, "%s", vs_memory_kind_name(copy->dst_kind));
    from[0] = (char)toupper(from[0]);
    to[0] = (char)toupper(to[0]);
    snprintf(out, max, "Memcpy %s (%s -> %s)", vs_copy_kind_name(copy->copy_kind), from, to);
}

#define OF_WORK(on, of)                                                               \
    VS_J_UINT("device", (on)->device), VS_J_UINT("stream", (on)->stream),             \
        VS_J_UINT("correlation", (of).correlation),                                   \
        VS_J_UINT_IF((of).graph != 0, "graph id", (of).graph),                        \
        VS_J_UINT_IF((of).graph != 0, "graph node id", (of).graph_node)
#define BANDWIDTH(on, of) /* of a copy or memset */                                   \
    VS_J_UINT("bytes", (of).bytes), VS_J_REAL("memory bandwidth (GB/s)",              \
        (double)(of).bytes / ((on)->end_ns > (on)->start_ns ? (double)((on)->end_ns - (on)->start_ns) : 1))

bool vs_emit_slice(struct vs_emit *emit, const struct vs_slice *slice, uint64_t pid, const char *kernel,
                   const struct vs_chrome_stack *stack)
{
    const struct vs_event *event = &slice->event;
    const struct vs_event_activity *on = &event->activity;
    const struct vs_work of = vs_work_of(event);
    struct vs_emitted out = {.phase = 'X', .name = kernel, .category = "kernel", .pid = pid,
                             .tid = on->stream, .time_ns = slice->start_ns, .id = of.correlation,
                             .duration_ns = slice->end_ns - slice->start_ns, .stack = stack};
    char name[96];
    if (event->kind == VS_EVENT_kernel) {
        const struct vs_event_kernel *k = &event->kernel;
        return vs_emit_event(emit, &out, OF_WORK(on, of), VS_J_TRIPLE("grid", &k->grid_x),
                             VS_J_TRIPLE("block", &k->block_x), VS_J_UINT("shared memory", k->shared_bytes));
    }
    if (event->kind == VS_EVENT_memcpy) {
        const struct vs_event_memcpy *copy = &event->memcpy;
        copy_name(name, sizeof name, copy);
        out.name = name;
        out.category = "gpu_memcpy";
        bool peer = copy->src_kind && copy->src_device != copy->dst_device;
        return vs_emit_event(emit, &out, OF_WORK(on, of), BANDWIDTH(on, of), VS_J_BOOL("async", copy->async != 0),
                             VS_J_TEXT_IF(copy->src_kind != 0, "from", vs_memory_kind_name(copy->src_kind)),
                             VS_J_TEXT_IF(copy->dst_kind != 0, "to", vs_memory_kind_name(copy->dst_kind)),
                             VS_J_UINT_IF(peer, "fromDevice", copy->src_device),
                             VS_J_UINT_IF(peer, "toDevice", copy->dst_device));
    }
    const struct vs_event_memset *set = &event->memset;
    out.name = "Memset";
    out.category = "gpu_memset";
    return vs_emit_event(emit, &out, OF_WORK(on, of), BANDWIDTH(on, of), VS_J_UINT("value", set->value),
                         VS_J_TEXT_IF(set->memory_kind != 0, "memory", vs_memory_kind_name(set->memory_kind)));
}

/* Of the work that one call began each has an arrow of its own. */
static void arrow(struct vs_flows *flows, struct vs_emit *emit, const struct vs_flow_end *call,
                  const struct vs_flow_end *work)
{
    uint64_t id = ++flows->written ^ emit->ids, begun_ns = call->time_ns, time_ns = work->time_ns;
    if (emit->clock) {
        begun_ns = vs_rank_time(emit->clock, begun_ns);
        time_ns = vs_rank_time(emit->clock, time_ns);
    }
    uint64_t before = bytes_of(emit);
    vs_json_object(&emit->json, NULL, HEAD(emit, 's', "ac2g", call->pid, call->tid, begun_ns), VS_J_TEXT("cat", "ac2g"),
                   VS_J_UINT("id", id));
    vs_json_object(&emit->json, NULL, HEAD(emit, 'f', "ac2g", work->pid, work->tid, time_ns), VS_J_TEXT("cat", "ac2g"),
                   VS_J_TEXT("bp", "e"), VS_J_UINT("id", id));
    emit->written += 2;
    if (emit->lengths)
        emit->lengths->bytes[vs_length_of(call->duration_ns < work->duration_ns ? call->duration_ns : work->duration_ns)] +=
            bytes_of(emit) - before;
}

void vs_flow_add(struct vs_flows *flows, struct vs_emit *emit, bool is_work, struct vs_flow_end end)
{
    if (emit->perfetto || !end.correlation)
        return; /* Perfetto's slices have the number */
    if (!flows->waiting)
        flows->waiting = vs_xcalloc(VS_FLOWS_MAX, sizeof *flows->waiting);
    struct vs_flow_end *both = flows->waiting[end.correlation % VS_FLOWS_MAX];
    both[is_work] = end;
    if (both[0].correlation != both[1].correlation)
        return;
    arrow(flows, emit, &both[0], &both[1]);
    both[1].correlation = 0;
}
