/* SPDX-License-Identifier: Apache-2.0
 *
 * Chrome trace events on a stream; see the header. */
#include "viewer/chrome_emit.h"

#include <inttypes.h>

#include "viewer/json_writer.h"

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

static void point(struct vs_counter *counter, struct vs_emit *emit, uint64_t value,
                  uint64_t time_ns)
{
    vs_emit_begin(emit, 'C', counter->name, counter->pid, 0, time_ns);
    fprintf(emit->out, ",\"args\":{\"bytes\":%" PRIu64 "}}", value);
    counter->written = value;
}

void vs_counter_flush(struct vs_counter *counter, struct vs_emit *emit)
{
    if (!counter->open)
        return;
    counter->open = false;
    if (counter->high > counter->last)
        point(counter, emit, counter->high, counter->high_ns);
    if (counter->last != counter->written)
        point(counter, emit, counter->last, counter->last_ns);
}

void vs_counter_set(struct vs_counter *counter, struct vs_emit *emit, uint64_t value,
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
