/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. */
#include "analysis/checkpoint/trace_span.h"

#include <stdio.h>

#include "base/vs_size.h"

#define PROCESS_WITHIN 64 /* events: the process is among the first of a trace */

enum vs_err vs_span_of(struct vs_reader *reader, struct vs_span *out)
{
    struct vs_span span = {0};
    struct vs_event event;
    enum vs_err err = vs_reader_extent(reader, &span.extent);
    span.start_ns = span.extent.first_ns;
    if (!err)
        vs_reader_rewind(reader);
    for (int i = 0; !err && i < PROCESS_WITHIN; i++) {
        err = vs_reader_next(reader, &event);
        if (err || event.kind != VS_EVENT_process)
            continue;
        if (event.process.start_ns && event.process.start_ns <= span.start_ns)
            span.start_ns = event.process.start_ns;
        break;
    }
    if (err && err != VS_ERR_END)
        return err;
    *out = span;
    vs_reader_rewind(reader);
    return VS_OK;
}

bool vs_span_end(const struct vs_span *span, const struct vs_time_spec *spec,
                   struct vs_time_window_end *out, char *why)
{
    char text[VS_SIZE_TEXT_MAX];
    uint64_t length = span->extent.last_ns - span->start_ns, ns;
    *out = (struct vs_time_window_end){0};
    if (spec->kind == VS_TIME_NONE)
        return true;
    if (!span->extent.events) {
        snprintf(why, VS_READER_WHY_MAX, "the trace has no events");
        return false;
    }
    if (spec->kind == VS_TIME_EVENT) {
        *out = (struct vs_time_window_end){true, true, spec->value};
        if (spec->value <= span->extent.events)
            return true;
        snprintf(why, VS_READER_WHY_MAX, "there is no such event: the trace has %s events",
                 vs_count_format(text, span->extent.events));
        return false;
    }
    if (vs_time_spec_ns(spec, length, &ns) != VS_OK) {
        snprintf(why, VS_READER_WHY_MAX, "before the start: the trace lasts %s",
                 vs_time_format(text, length));
        return false;
    }
    if (ns > length) {
        snprintf(why, VS_READER_WHY_MAX, "after the end of the trace, at %s",
                 vs_time_format(text, length));
        return false;
    }
    *out = (struct vs_time_window_end){true, false, span->start_ns + ns};
    return true;
}

enum vs_err vs_span_open(struct vs_reader *reader, const struct vs_time_window *window,
                           struct vs_trace_state **out)
{
    const struct vs_time_window_end *from = &window->from;
    struct vs_trace_state *moment;
    enum vs_err err = !from->given    ? vs_trace_state_at_event(reader, 0, &moment)
                      : from->by_event ? vs_trace_state_at_event(reader, from->value - 1, &moment)
                                       : vs_trace_state_at(reader, from->value, &moment);
    if (err)
        return err;
    if (from->given)
        vs_trace_state_window(moment, from->by_event ? 0 : from->value);
    *out = moment;
    return VS_OK;
}

enum vs_err vs_span_state(struct vs_reader *reader, const struct vs_time_window *window,
                             struct vs_trace_state **out)
{
    const struct vs_time_window_end *to = &window->to;
    if (!to->given)
        return vs_trace_state_at_event(reader, UINT64_MAX, out);
    return to->by_event ? vs_trace_state_at_event(reader, to->value, out)
                        : vs_trace_state_at(reader, to->value + 1, out);
}
