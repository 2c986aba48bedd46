/* SPDX-License-Identifier: Apache-2.0
 *
 * Chrome trace events on a stream; see the header. */
#include "viewer/chrome/chrome_emit.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>

#include "analysis/merge/rank_clock.h"
#include "base/reading/vs_xalloc.h"
#include "trace/read/reader.h"

/* A duration in µs with three decimals. */
static void emit_us(struct vs_emit *emit, uint64_t ns)
{
    fprintf(emit->out, "%" PRIu64 ".%03u", ns / 1000, (unsigned)(ns % 1000));
}

/* `{"ph":…,"name":…,"pid":…,"tid":…,"ts":…` on a line of its own; the caller adds members with a
 * leading comma and the closing brace. */
static void begin(struct vs_emit *emit, char phase, const char *name, uint64_t pid, uint64_t tid,
                  uint64_t time_ns)
{
    fprintf(emit->out, "%s{\"ph\":\"%c\",\"name\":", emit->written ? ",\n" : "\n", phase);
    emit->written++;
    vs_json_text(emit->out, name);
    fprintf(emit->out, ",\"pid\":%" PRIu64 ",\"tid\":%" PRIu64 ",\"ts\":", pid, tid);
    emit_us(emit, time_ns > emit->start_ns ? time_ns - emit->start_ns : 0);
}

void vs_emit_put(struct vs_emit *emit, const struct vs_emitted *event,
                 const struct vs_json_item *args)
{
    FILE *out = emit->out;
    struct vs_emitted placed;
    if (emit->clock) { /* one of several traces: the time of all, ids of its own */
        uint64_t end_ns = vs_rank_time(emit->clock, event->time_ns + event->duration_ns);
        placed = *event;
        placed.time_ns = vs_rank_time(emit->clock, event->time_ns);
        placed.duration_ns = end_ns - placed.time_ns;
        placed.id = event->id ? event->id ^ emit->ids : 0;
        event = &placed;
    }
    if (emit->perfetto) {
        emit->written++;
        vs_perfetto_event(emit->perfetto, emit, event, args);
        return;
    }
    begin(emit, event->phase, event->name, event->pid, event->tid, event->time_ns);
    if (event->phase == 'X') {
        uint64_t end_ns = event->time_ns + event->duration_ns;
        uint64_t from = event->time_ns > emit->start_ns ? event->time_ns : emit->start_ns;
        fputs(",\"dur\":", out);
        emit_us(emit, end_ns > from ? end_ns - from : 0);
    }
    if (event->category)
        fprintf(out, ",\"cat\":\"%s\"", event->category);
    if (event->phase == 'b' || event->phase == 'e')
        fprintf(out, ",\"id\":\"0x%" PRIx64 "\"", event->id);
    if (event->phase == 'i')
        fprintf(out, ",\"s\":\"%c\"", event->instant_of_all ? 'p' : 't');
    bool stack = event->stack && event->stack->frame;
    if (args->key || stack) {
        struct vs_json json = {.out = out};
        fputs(",\"args\":", out);
        vs_json_begin_object(&json, NULL);
        vs_json_put_members(&json, args);
        if (stack)
            vs_json_string(&json, "stack", event->stack->text);
        vs_json_end_object(&json);
    }
    if (stack && !emit->clock) /* the numbers of frames are a trace's own */
        fprintf(out, ",\"sf\":\"%" PRIu32 "\"", event->stack->frame);
    fputc('}', out);
}

void vs_emit_name(struct vs_emit *emit, bool thread, uint64_t pid, uint64_t tid, const char *name)
{
    if (emit->perfetto) {
        vs_perfetto_name(emit->perfetto, emit, thread, pid, tid, name);
        return;
    }
    begin(emit, 'M', thread ? "thread_name" : "process_name", pid, tid, 0);
    fputs(",\"args\":{\"name\":", emit->out);
    vs_json_text(emit->out, name);
    fputs("}}", emit->out);
}

void vs_emit_order(struct vs_emit *emit, bool thread, uint64_t pid, uint64_t tid, uint64_t index)
{
    if (emit->perfetto)
        return; /* has an order of its own */
    begin(emit, 'M', thread ? "thread_sort_index" : "process_sort_index", pid, tid, 0);
    fprintf(emit->out, ",\"args\":{\"sort_index\":%" PRIu64 "}}", index);
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

#define OF_GRAPH(of)                                                                               \
    VS_J_UINT_IF((of)->graph != 0, "graph id", (of)->graph),                                       \
        VS_J_UINT_IF((of)->graph != 0, "graph node id", (of)->graph_node)

uint64_t vs_emit_slice(struct vs_emit *emit, const struct vs_slice *slice, uint64_t pid, const char *kernel,
                       const struct vs_chrome_stack *stack)
{
    const struct vs_event *event = &slice->event;
    const struct vs_event_activity *on = &event->activity;
    struct vs_emitted out = {.phase = 'X', .name = kernel, .category = "kernel", .pid = pid,
                             .tid = on->stream, .time_ns = slice->start_ns,
                             .duration_ns = slice->end_ns - slice->start_ns, .stack = stack};
    double length = on->end_ns > on->start_ns ? (double)(on->end_ns - on->start_ns) : 1;
    char name[96];
    if (event->kind == VS_EVENT_kernel) {
        const struct vs_event_kernel *k = &event->kernel;
        out.id = k->correlation;
        vs_emit_event(emit, &out, VS_J_UINT("device", on->device), VS_J_UINT("stream", on->stream),
                      VS_J_UINT("correlation", k->correlation), VS_J_TRIPLE("grid", &k->grid_x),
                      VS_J_TRIPLE("block", &k->block_x),
                      VS_J_UINT("shared memory", k->shared_bytes), OF_GRAPH(k));
    } else if (event->kind == VS_EVENT_memcpy) {
        const struct vs_event_memcpy *copy = &event->memcpy;
        copy_name(name, sizeof name, copy);
        out.name = name;
        out.category = "gpu_memcpy";
        out.id = copy->correlation;
        bool peer = copy->src_kind && copy->src_device != copy->dst_device;
        vs_emit_event(emit, &out, VS_J_UINT("device", on->device), VS_J_UINT("stream", on->stream),
                      VS_J_UINT("correlation", copy->correlation), VS_J_UINT("bytes", copy->bytes),
                      VS_J_RATIO("memory bandwidth (GB/s)", (double)copy->bytes / length),
                      VS_J_BOOL("async", copy->async != 0),
                      VS_J_TEXT_IF(copy->src_kind != 0, "from", vs_memory_kind_name(copy->src_kind)),
                      VS_J_TEXT_IF(copy->dst_kind != 0, "to", vs_memory_kind_name(copy->dst_kind)),
                      VS_J_UINT_IF(peer, "fromDevice", copy->src_device),
                      VS_J_UINT_IF(peer, "toDevice", copy->dst_device), OF_GRAPH(copy));
    } else {
        const struct vs_event_memset *set = &event->memset;
        out.name = "Memset";
        out.category = "gpu_memset";
        out.id = set->correlation;
        vs_emit_event(emit, &out, VS_J_UINT("device", on->device), VS_J_UINT("stream", on->stream),
                      VS_J_UINT("correlation", set->correlation), VS_J_UINT("bytes", set->bytes),
                      VS_J_RATIO("memory bandwidth (GB/s)", (double)set->bytes / length),
                      VS_J_UINT("value", set->value),
                      VS_J_TEXT_IF(set->memory_kind != 0, "memory", vs_memory_kind_name(set->memory_kind)),
                      OF_GRAPH(set));
    }
    return out.id;
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
    begin(emit, 's', "ac2g", call->pid, call->tid, begun_ns);
    fprintf(emit->out, ",\"cat\":\"ac2g\",\"id\":%" PRIu64 "}", id);
    begin(emit, 'f', "ac2g", work->pid, work->tid, time_ns);
    fprintf(emit->out, ",\"cat\":\"ac2g\",\"id\":%" PRIu64 ",\"bp\":\"e\"}", id);
}

static bool waits(struct vs_flows *flows, const struct vs_emit *emit, const struct vs_flow_end *end)
{
    if (emit->perfetto)
        return false; /* its slices have the number */
    if (!flows->calls) {
        flows->calls = vs_xcalloc(VS_FLOWS_MAX, sizeof *flows->calls);
        flows->works = vs_xcalloc(VS_FLOWS_MAX, sizeof *flows->works);
    }
    return end->correlation != 0;
}

void vs_flow_call(struct vs_flows *flows, struct vs_emit *emit, struct vs_flow_end call)
{
    if (!waits(flows, emit, &call))
        return;
    struct vs_flow_end *work = &flows->works[call.correlation % VS_FLOWS_MAX];
    flows->calls[call.correlation % VS_FLOWS_MAX] = call;
    if (work->correlation != call.correlation)
        return;
    arrow(flows, emit, &call, work);
    work->correlation = 0;
}

void vs_flow_work(struct vs_flows *flows, struct vs_emit *emit, struct vs_flow_end work)
{
    if (!waits(flows, emit, &work))
        return;
    const struct vs_flow_end *call = &flows->calls[work.correlation % VS_FLOWS_MAX];
    if (call->correlation == work.correlation)
        arrow(flows, emit, call, &work);
    else
        flows->works[work.correlation % VS_FLOWS_MAX] = work;
}

void vs_flow_site(struct vs_flows *flows, uint64_t correlation, uint64_t stack)
{
    if (!flows->sites)
        flows->sites = vs_xcalloc(VS_FLOWS_MAX, sizeof *flows->sites);
    flows->sites[correlation % VS_FLOWS_MAX] = (struct vs_flow_site){correlation, stack};
}

uint64_t vs_flow_stack(const struct vs_flows *flows, uint64_t correlation)
{
    const struct vs_flow_site *site = flows->sites ? &flows->sites[correlation % VS_FLOWS_MAX] : NULL;
    return site && site->correlation == correlation ? site->stack : 0;
}

void vs_flows_free(struct vs_flows *flows)
{
    free(flows->sites);
    free(flows->calls);
    free(flows->works);
}
