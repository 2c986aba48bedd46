/* SPDX-License-Identifier: Apache-2.0
 *
 * Chrome trace events on a stream; see the header. */
#define _GNU_SOURCE /* fwrite_unlocked */
#include "viewer/chrome/chrome_emit.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/merge/rank_clock.h"
#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"
#include "trace/read/reader.h"

/* --- a line of JSON, in memory until it is complete: this is the most of the work --- */

static inline void put_bytes(struct vs_emit *emit, const char *text, size_t length)
{
    if (emit->length + length > emit->capacity)
        vs_vec_room(&emit->line, &emit->capacity, emit->length + length, 1);
    memcpy(emit->line + emit->length, text, length);
    emit->length += length;
}
#define PUT(emit, literal) put_bytes(emit, literal, sizeof literal - 1)

static void put_uint(struct vs_emit *emit, uint64_t value)
{
    char text[24], *first = text + sizeof text;
    do {
        *--first = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    put_bytes(emit, first, (size_t)(text + sizeof text - first));
}

/* A duration in µs with three decimals. */
static void put_us(struct vs_emit *emit, uint64_t ns)
{
    unsigned rest = (unsigned)(ns % 1000);
    const char decimals[] = {'.', (char)('0' + rest / 100), (char)('0' + rest / 10 % 10), (char)('0' + rest % 10)};
    put_uint(emit, ns / 1000);
    put_bytes(emit, decimals, sizeof decimals);
}

static void put_text(struct vs_emit *emit, const char *text)
{
    size_t length = 0;
    for (unsigned char c; (c = (unsigned char)text[length]) >= 0x20 && c < 0x7f && c != '"' && c != '\\';)
        length++;
    if (!text[length]) {
        PUT(emit, "\"");
        put_bytes(emit, text, length);
        PUT(emit, "\"");
        return;
    }
    char *escaped;
    size_t size;
    FILE *stream = vs_xstream(&escaped, &size);
    vs_json_text(stream, text);
    vs_xstream_end(stream);
    put_bytes(emit, escaped, size);
    free(escaped);
}

static void put_value(struct vs_emit *emit, const struct vs_json_item *item)
{
    char text[32];
    switch (item->type) {
    case VS_JSON_UINT: put_uint(emit, item->uint); break;
    case VS_JSON_INT:
        if (item->sint < 0)
            PUT(emit, "-");
        put_uint(emit, item->sint < 0 ? -(uint64_t)item->sint : (uint64_t)item->sint);
        break;
    case VS_JSON_BOOL: put_bytes(emit, item->uint ? "true" : "false", item->uint ? 4 : 5); break;
    case VS_JSON_TEXT: put_text(emit, item->text ? item->text : ""); break;
    case VS_JSON_RATIO:
        put_bytes(emit, text, (size_t)snprintf(text, sizeof text, "%.9g", isfinite(item->ratio) ? item->ratio : 0));
        break;
    case VS_JSON_TRIPLE:
        for (int i = 0; i < 3; i++) {
            put_bytes(emit, i ? "," : "[", 1);
            put_uint(emit, item->triple[i]);
        }
        PUT(emit, "]");
        break;
    default: PUT(emit, "null");
    }
}

/* The members of "args"; *stack* may be NULL. */
static void put_arguments(struct vs_emit *emit, const struct vs_json_item *args, const struct vs_chrome_stack *stack)
{
    PUT(emit, ",\"args\":{");
    size_t before = emit->length;
    for (; args->key; args++) {
        if (args->type == VS_JSON_ABSENT)
            continue;
        if (emit->length > before)
            PUT(emit, ",");
        put_text(emit, args->key);
        PUT(emit, ":");
        put_value(emit, args);
    }
    if (stack) {
        if (emit->length > before)
            PUT(emit, ",");
        if (*stack->site) {
            PUT(emit, "\"call site\":");
            put_text(emit, stack->site);
            PUT(emit, ",");
        }
        PUT(emit, "\"stack\":");
        put_text(emit, stack->text);
    }
    PUT(emit, "}");
}

/* `{"ph":…,"name":…,"pid":…,"tid":…,"ts":…` on a line of its own; the caller adds members with a
 * leading comma, and ends it. */
static void begin(struct vs_emit *emit, char phase, const char *name, uint64_t pid, uint64_t tid,
                  uint64_t time_ns)
{
    char head[] = ",\n{\"ph\":\"X\",\"name\":";
    head[9] = phase;
    put_bytes(emit, head + !emit->written, sizeof head - 1 - !emit->written);
    emit->written++;
    put_text(emit, name);
    PUT(emit, ",\"pid\":");
    put_uint(emit, pid);
    PUT(emit, ",\"tid\":");
    put_uint(emit, tid);
    PUT(emit, ",\"ts\":");
    put_us(emit, time_ns > emit->start_ns ? time_ns - emit->start_ns : 0);
}

static void end(struct vs_emit *emit)
{
    PUT(emit, "}");
    fwrite_unlocked(emit->line, 1, emit->length, emit->out);
    emit->bytes += emit->length;
    emit->length = 0;
}

unsigned vs_length_of(uint64_t ns)
{
    unsigned power = ns < 8 ? 0 : 61 - (unsigned)__builtin_clzll(ns);
    return 8 * power + (unsigned)(ns >> (power ? power - 1 : 0) & 7);
}

uint64_t vs_length_begins(unsigned index)
{
    return index < 8 ? index : (UINT64_C(8) | index % 8) << (index / 8 - 1);
}

static void put_event(struct vs_emit *emit, const struct vs_emitted *event, const struct vs_json_item *args)
{
    if (emit->perfetto) {
        emit->written++;
        vs_perfetto_event(emit->perfetto, emit, event, args);
        return;
    }
    begin(emit, event->phase, event->name, event->pid, event->tid, event->time_ns);
    if (event->phase == 'X') {
        uint64_t end_ns = event->time_ns + event->duration_ns;
        uint64_t from = event->time_ns > emit->start_ns ? event->time_ns : emit->start_ns;
        PUT(emit, ",\"dur\":");
        put_us(emit, end_ns > from ? end_ns - from : 0);
    }
    if (event->category) {
        PUT(emit, ",\"cat\":");
        put_text(emit, event->category);
    }
    if (strchr("ben", event->phase)) {
        PUT(emit, ",\"id2\":{\"local\":\"");
        put_uint(emit, event->id);
        PUT(emit, "\"}");
    }
    if (event->phase == 'i')
        put_bytes(emit, event->instant_of_all ? ",\"s\":\"p\"" : ",\"s\":\"t\"", 8);
    const struct vs_chrome_stack *stack = event->stack && event->stack->frame ? event->stack : NULL;
    if (args->key || stack)
        put_arguments(emit, args, stack);
    if (stack && !emit->clock) { /* the numbers of frames are a trace's own */
        PUT(emit, ",\"sf\":\"");
        put_uint(emit, stack->frame);
        PUT(emit, "\"");
    }
    end(emit);
}

/* Perfetto names the track of async slices by the first event on it, and groups tracks by name. */
static void name_lane(struct vs_emit *emit, const struct vs_emitted *event)
{
    uint64_t key = (event->pid << 32 ^ event->id) + 1;
    if (vs_map_get(&emit->lanes, key))
        return;
    vs_xmap_put(&emit->lanes, key, 1);
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
    uint64_t before = emit->bytes;
    put_event(emit, event, args);
    if (lengths)
        lengths->bytes[vs_length_of(event->duration_ns)] += emit->bytes - before;
    return true;
}

static void put_metadata(struct vs_emit *emit, const char *what, uint64_t pid, uint64_t tid,
                         const struct vs_json_item *args)
{
    begin(emit, 'M', what, pid, tid, 0);
    put_arguments(emit, args, NULL);
    end(emit);
}

void vs_emit_name(struct vs_emit *emit, bool thread, uint64_t pid, uint64_t tid, const char *name)
{
    if (emit->perfetto)
        vs_perfetto_name(emit->perfetto, emit, thread, pid, tid, name);
    else
        put_metadata(emit, thread ? "thread_name" : "process_name", pid, tid,
                     (const struct vs_json_item[]){VS_J_TEXT("name", name), {.key = NULL}});
}

void vs_emit_order(struct vs_emit *emit, bool thread, uint64_t pid, uint64_t tid, uint64_t index)
{
    if (!emit->perfetto) /* has an order of its own */
        put_metadata(emit, thread ? "thread_sort_index" : "process_sort_index", pid, tid,
                     (const struct vs_json_item[]){VS_J_UINT("sort_index", index), {.key = NULL}});
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

#define OF_WORK(on, of)                                                                            \
    VS_J_UINT("device", (on)->device), VS_J_UINT("stream", (on)->stream),                          \
        VS_J_UINT("correlation", (of)->correlation),                                               \
        VS_J_UINT_IF((of)->graph != 0, "graph id", (of)->graph),                                   \
        VS_J_UINT_IF((of)->graph != 0, "graph node id", (of)->graph_node)

bool vs_emit_slice(struct vs_emit *emit, const struct vs_slice *slice, uint64_t pid, const char *kernel,
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
        return vs_emit_event(emit, &out, OF_WORK(on, k), VS_J_TRIPLE("grid", &k->grid_x),
                             VS_J_TRIPLE("block", &k->block_x), VS_J_UINT("shared memory", k->shared_bytes));
    }
    if (event->kind == VS_EVENT_memcpy) {
        const struct vs_event_memcpy *copy = &event->memcpy;
        copy_name(name, sizeof name, copy);
        out.name = name;
        out.category = "gpu_memcpy";
        out.id = copy->correlation;
        bool peer = copy->src_kind && copy->src_device != copy->dst_device;
        return vs_emit_event(emit, &out, OF_WORK(on, copy), VS_J_UINT("bytes", copy->bytes),
                             VS_J_RATIO("memory bandwidth (GB/s)", (double)copy->bytes / length),
                             VS_J_BOOL("async", copy->async != 0),
                             VS_J_TEXT_IF(copy->src_kind != 0, "from", vs_memory_kind_name(copy->src_kind)),
                             VS_J_TEXT_IF(copy->dst_kind != 0, "to", vs_memory_kind_name(copy->dst_kind)),
                             VS_J_UINT_IF(peer, "fromDevice", copy->src_device),
                             VS_J_UINT_IF(peer, "toDevice", copy->dst_device));
    }
    const struct vs_event_memset *set = &event->memset;
    out.name = "Memset";
    out.category = "gpu_memset";
    out.id = set->correlation;
    return vs_emit_event(emit, &out, OF_WORK(on, set), VS_J_UINT("bytes", set->bytes),
                         VS_J_RATIO("memory bandwidth (GB/s)", (double)set->bytes / length),
                         VS_J_UINT("value", set->value),
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
    uint64_t before = emit->bytes;
    begin(emit, 's', "ac2g", call->pid, call->tid, begun_ns);
    PUT(emit, ",\"cat\":\"ac2g\",\"id\":");
    put_uint(emit, id);
    end(emit);
    begin(emit, 'f', "ac2g", work->pid, work->tid, time_ns);
    PUT(emit, ",\"cat\":\"ac2g\",\"bp\":\"e\",\"id\":");
    put_uint(emit, id);
    end(emit);
    if (emit->lengths)
        emit->lengths->bytes[vs_length_of(call->duration_ns < work->duration_ns ? call->duration_ns : work->duration_ns)] +=
            emit->bytes - before;
}

void vs_flow_add(struct vs_flows *flows, struct vs_emit *emit, bool is_work, struct vs_flow_end end)
{
    if (emit->perfetto || !end.correlation)
        return; /* Perfetto's slices have the number */
    if (!flows->calls) {
        flows->calls = vs_xcalloc(VS_FLOWS_MAX, sizeof *flows->calls);
        flows->works = vs_xcalloc(VS_FLOWS_MAX, sizeof *flows->works);
    }
    struct vs_flow_end *call = &flows->calls[end.correlation % VS_FLOWS_MAX],
                       *work = &flows->works[end.correlation % VS_FLOWS_MAX];
    *(is_work ? work : call) = end;
    if (call->correlation != work->correlation)
        return;
    arrow(flows, emit, call, work);
    work->correlation = 0;
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
