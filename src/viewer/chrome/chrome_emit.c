/* SPDX-License-Identifier: Apache-2.0
 *
 * Chrome trace events on a stream; see the header. */
#include "viewer/chrome/chrome_emit.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/reading/vs_xalloc.h"
#include "trace/read/reader.h"
#include "viewer/common/json_writer.h"

void vs_emit_us(struct vs_emit *emit, uint64_t ns)
{
    fprintf(emit->out, "%" PRIu64 ".%03u", ns / 1000, (unsigned)(ns % 1000));
}

void vs_emit_begin(struct vs_emit *emit, char phase, const char *name, uint64_t pid, uint64_t tid,
                   uint64_t time_ns)
{
    fprintf(emit->out, "%s{\"ph\":\"%c\",\"name\":", emit->written ? ",\n" : "\n", phase);
    emit->written++;
    vs_json_text(emit->out, name);
    fprintf(emit->out, ",\"pid\":%" PRIu64 ",\"tid\":%" PRIu64 ",\"ts\":", pid, tid);
    vs_emit_us(emit, time_ns > emit->start_ns ? time_ns - emit->start_ns : 0);
}

void vs_emit_name(struct vs_emit *emit, const char *what, uint64_t pid, uint64_t tid,
                  const char *value)
{
    vs_emit_begin(emit, 'M', what, pid, tid, 0);
    fputs(",\"args\":{\"name\":", emit->out);
    vs_json_text(emit->out, value);
    fputs("}}", emit->out);
}

void vs_emit_order(struct vs_emit *emit, const char *what, uint64_t pid, uint64_t tid,
                   uint64_t index)
{
    vs_emit_begin(emit, 'M', what, pid, tid, 0);
    fprintf(emit->out, ",\"args\":{\"sort_index\":%" PRIu64 "}}", index);
}

static void point(struct vs_chrome_counter *counter, struct vs_emit *emit, uint64_t value,
                  uint64_t time_ns)
{
    vs_emit_begin(emit, 'C', counter->name, counter->pid, 0, time_ns);
    fprintf(emit->out, ",\"args\":{\"bytes\":%" PRIu64 "}}", value);
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

void vs_emit_slice(struct vs_emit *emit, const struct vs_slice *slice, uint64_t pid,
                   const char *kernel)
{
    const struct vs_event *event = &slice->event;
    FILE *out = emit->out;
    char name[64];
    const char *shown = name;
    uint64_t device = event->activity.device, stream = event->activity.stream;
    const char *category = "kernel";
    if (event->kind == VS_EVENT_kernel) {
        shown = kernel;
    } else if (event->kind == VS_EVENT_memcpy) {
        snprintf(name, sizeof name, "Memcpy %s", vs_copy_kind_name(event->memcpy.copy_kind));
        category = "gpu_memcpy";
    } else {
        snprintf(name, sizeof name, "Memset");
        category = "gpu_memset";
    }
    vs_emit_begin(emit, 'X', shown, pid, stream, slice->start_ns);
    fputs(",\"dur\":", out);
    uint64_t from = slice->start_ns > emit->start_ns ? slice->start_ns : emit->start_ns;
    vs_emit_us(emit, slice->end_ns > from ? slice->end_ns - from : 0);
    fprintf(out, ",\"cat\":\"%s\",\"args\":{\"device\":%" PRIu64 ",\"stream\":%" PRIu64, category,
            device, stream);
    if (event->kind == VS_EVENT_kernel)
        fprintf(out,
                ",\"correlation\":%" PRIu64 ",\"grid\":[%" PRIu64 ",%" PRIu64 ",%" PRIu64
                "],\"block\":[%" PRIu64 ",%" PRIu64 ",%" PRIu64 "],\"shared memory\":%" PRIu64,
                event->kernel.correlation, event->kernel.grid_x, event->kernel.grid_y,
                event->kernel.grid_z, event->kernel.block_x, event->kernel.block_y,
                event->kernel.block_z, event->kernel.shared_bytes);
    else if (event->kind == VS_EVENT_memcpy)
        fprintf(out, ",\"correlation\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"async\":%s",
                event->memcpy.correlation, event->memcpy.bytes,
                event->memcpy.async ? "true" : "false");
    else
        fprintf(out, ",\"correlation\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"value\":%" PRIu64,
                event->memset.correlation, event->memset.bytes, event->memset.value);
    fputs("}}", out);
}

/* Of the work that one call began each has an arrow of its own. */
static void arrow(struct vs_flows *flows, struct vs_emit *emit, const struct vs_flow_end *call,
                  const struct vs_flow_end *work)
{
    uint64_t id = ++flows->written;
    vs_emit_begin(emit, 's', "ac2g", call->pid, call->tid, call->time_ns);
    fprintf(emit->out, ",\"cat\":\"ac2g\",\"id\":%" PRIu64 "}", id);
    vs_emit_begin(emit, 'f', "ac2g", work->pid, work->tid, work->time_ns);
    fprintf(emit->out, ",\"cat\":\"ac2g\",\"id\":%" PRIu64 ",\"bp\":\"e\"}", id);
}

static bool waits(struct vs_flows *flows, const struct vs_flow_end *end)
{
    if (!flows->calls) {
        flows->calls = vs_xcalloc(VS_FLOWS_MAX, sizeof *flows->calls);
        flows->works = vs_xcalloc(VS_FLOWS_MAX, sizeof *flows->works);
    }
    return end->correlation != 0;
}

void vs_flow_call(struct vs_flows *flows, struct vs_emit *emit, struct vs_flow_end call)
{
    if (!waits(flows, &call))
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
    if (!waits(flows, &work))
        return;
    const struct vs_flow_end *call = &flows->calls[work.correlation % VS_FLOWS_MAX];
    if (call->correlation == work.correlation)
        arrow(flows, emit, call, &work);
    else
        flows->works[work.correlation % VS_FLOWS_MAX] = work;
}

void vs_flows_free(struct vs_flows *flows)
{
    free(flows->calls);
    free(flows->works);
}
