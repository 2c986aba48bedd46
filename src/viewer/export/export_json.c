/* SPDX-License-Identifier: Apache-2.0
 *
 * JSON lines, for programs: every event of the trace as an object on a line of its own, with the
 * fields of event_table.h (docs/internals/trace-format.md), texts in place of their numbers, and times counted
 * from the program's start. A stack is written once, with names, before the first event that refers
 * to it. The first line has the schema's version: fields and kinds may be added without a new one.
 * Memory: the stacks. */
#include "viewer/export/export.h"

#include "analysis/checkpoint/trace_state.h"
#include "analysis/naming/stack_names.h"
#include "base/reading/vs_xalloc.h"
#include "base/vs_map.h"
#include "viewer/common/json_writer.h"

#define SCHEMA "vramscope.events/1"

struct json_lines {
    FILE *out;
    struct vs_reader *reader;
    struct vs_stack_names *names;
    struct vs_map written; /* stack id -> 1 */
    uint64_t start_ns;
    uint64_t count;
};

static void put_stack(struct json_lines *lines, uint64_t stack)
{
    struct vs_json json = {.out = lines->out};
    if (!stack || (*vs_xmap_value(&lines->written, stack, 0))++)
        return;
    struct vs_named_stack named =
        vs_stack_names_of(lines->names, &(struct vs_stack_of){.stack = stack});
    vs_json_begin(&json, NULL, VS_J_UINT("stack", stack));
    for (size_t i = 0; vs_json_next(&json, "frames", i, named.count); i++) {
        uint32_t number = named.frames[named.count - 1 - i];
        const struct vs_named_frame *frame = vs_stack_names_frame(lines->names, number);
        vs_json_object(&json, NULL, VS_J_TEXT("function", frame->function),
                       VS_J_TEXT("file", frame->file), VS_J_UINT("line", frame->line),
                       VS_J_TEXT("library", *frame->library ? frame->library : NULL));
    }
    vs_json_end_object(&json);
}

static void put_field(struct json_lines *lines, struct vs_json *json,
                      const struct vs_event_field *field, uint64_t value)
{
    const char *name = field->name;
    switch (field->codec) {
    case VS_CODEC_S: vs_json_int(json, name, (int64_t)value); break;
    case VS_CODEC_T: vs_json_int(json, name, (int64_t)(value - lines->start_ns)); break;
    case VS_CODEC_STR: vs_json_string(json, name, vs_reader_string(lines->reader, value)); break;
    case VS_CODEC_STK: vs_json_known_uint(json, name, value != 0, value); break;
    default: vs_json_uint(json, name, value); break;
    }
}

static enum vs_err put_event(struct json_lines *lines, const struct vs_event *event, uint64_t number)
{
    struct vs_json json = {.out = lines->out};
    const struct vs_event_info *info = vs_event_describe(event->kind);
    for (unsigned i = 0; i < info->field_count; i++)
        if (info->fields[i].codec == VS_CODEC_STK)
            put_stack(lines, event->fields[i]);
    vs_json_begin(&json, NULL, VS_J_UINT("event", number),
                  VS_J_INT("time_ns", (int64_t)(event->time_ns - lines->start_ns)),
                  VS_J_UINT("tid", event->tid), VS_J_TEXT("kind", info->name));
    vs_json_begin_object(&json, "fields");
    for (unsigned i = 0; i < info->field_count; i++)
        put_field(lines, &json, &info->fields[i], event->fields[i]);
    vs_json_end_object(&json);
    vs_json_end_object(&json);
    lines->count++;
    return ferror(lines->out) ? VS_ERR_IO : VS_OK;
}

enum vs_err vs_export_json(struct vs_reader *reader, FILE *out,
                           const struct vs_export_options *options, struct vs_export_result *result)
{
    static const struct vs_time_window whole;
    const struct vs_time_window *window = options->window ? options->window : &whole;
    struct json_lines lines = {.out = out, .reader = reader};
    struct vs_trace_state *before;
    struct vs_span span;
    struct vs_event event;
    enum vs_err err = vs_span_of(reader, &span);
    if (err)
        return err;
    lines.names = vs_stack_names_open(reader);
    lines.start_ns = span.start_ns;
    struct vs_json json = {.out = out};
    /* start_ns: in the trace's clock: time_ns 0 */
    vs_json_object(&json, NULL, VS_J_TEXT("schema", SCHEMA), VS_J_UINT("start_ns", lines.start_ns));
    err = vs_span_open(reader, window, &before);
    if (!err) {
        uint64_t number = before->replay->events;
        struct vs_recording_state recording = before->replay->recording;
        vs_trace_state_close(before);
        while (!err && (err = vs_reader_next(reader, &event)) == VS_OK &&
               vs_span_holds(window, &event, number + 1)) {
            if (event.kind == VS_EVENT_recording_changed)
                vs_recording_event(&recording, &event);
            err = put_event(&lines, &event, ++number);
        }
        if (err == VS_ERR_END) {
            vs_export_ended(reader, result);
            err = VS_OK;
        }
        vs_export_recording(&recording, span.start_ns, result);
    }
    result->written = lines.count;
    vs_stack_names_close(lines.names);
    vs_map_free(&lines.written);
    return err;
}
