/* SPDX-License-Identifier: Apache-2.0
 *
 * The first element of a page: one JSON object with the report, the post-mortem, the names and the
 * layout of the other elements. */
#define _GNU_SOURCE /* open_memstream */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/reading/vs_xalloc.h"
#include "viewer/common/json_writer.h"
#include "viewer/html/page_data.h"
#include "viewer/report/oom_text.h"
#include "viewer/report/report_parts.h"
#include "viewer/report/report_text.h"

#define FORMAT 1
#define NAME_BYTES_MAX 1000 /* of one name; templates have names of 64 KiB */

static const char *escape_of(const unsigned char *p, size_t left, size_t *used)
{
    *used = 1;
    switch (*p) {
    case '<': return "\\u003c";
    case '>': return "\\u003e";
    case '&': return "\\u0026";
    case 0xe2:
        if (left < 3 || p[1] != 0x80 || (p[2] != 0xa8 && p[2] != 0xa9))
            return NULL;
        *used = 3;
        return p[2] == 0xa8 ? "\\u2028" : "\\u2029";
    default: return NULL;
    }
}

/* JSON *text* as one line that is safe inside an HTML script element; malloc'ed. */
static char *escape(const char *text, size_t bytes, size_t *out_bytes)
{
    char *out = NULL;
    FILE *stream = vs_xstream(&out, out_bytes);
    for (size_t i = 0, used; i < bytes; i += used) {
        const char *escape = escape_of((const unsigned char *)text + i, bytes - i, &used);
        if (escape)
            fputs(escape, stream);
        else if (text[i] != '\n')
            fwrite(text + i, 1, used, stream);
        else /* a line's end and its indentation, between two values */
            used += strspn(text + i + 1, " ");
    }
    vs_xstream_end(stream);
    return out;
}

/* What the reader should know about the blocks. */
static void write_messages(struct vs_json *json, const struct vs_page_data *data,
                           const struct vs_page_source *source)
{
    const struct vs_report *report = source->report;
    char text[VS_RECORDING_TEXT_MAX], line[VS_UNCOMPUTED_TEXT_MAX];
    vs_json_begin_array(json, "messages");
    if (report->condition != VS_TRACE_COMPLETE)
        vs_json_string(json, NULL, report->condition_text);
    if (vs_recording_cut_text(text, report))
        vs_json_string(json, NULL, text);
    if (vs_recording_partial(&report->recording)) {
        snprintf(line, sizeof line, "%s: only these have blocks; curves and peaks are exact",
                 vs_recording_partial_text(text, &report->recording));
        vs_json_string(json, NULL, line);
    }
    if (*vs_recording_limit_text(text, &report->recording)) {
        snprintf(line, sizeof line, "limited by the trace's size: %s", text);
        vs_json_string(json, NULL, line);
    }
    if (vs_uncomputed_text(line, report))
        vs_json_string(json, NULL, line);
    if (data->rows.imported) {
        snprintf(line, sizeof line, "%llu allocations of other processes, which this one opened, are "
                 "not among the blocks", (unsigned long long)data->rows.imported);
        vs_json_string(json, NULL, line);
    }
    if (source->message)
        vs_json_string(json, NULL, source->message);
    if (report->symbols_note && *report->symbols_note)
        vs_json_string(json, NULL, report->symbols_note);
    vs_json_end_array(json);
}

/* The end of the axis of the report's device *number*. */
static uint64_t axis_end(const struct vs_page_data *data, const struct vs_page_scan *scan,
                         size_t number)
{
    for (unsigned a = 0; a < scan->device_count; a++)
        if (data->numbers[a] == number)
            return data->rows.axes[a].end;
    return 0;
}

static uint64_t allocations(const struct vs_report *report)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < report->device_count; i++) {
        const struct vs_report_device *device = &report->devices[i];
        if (device->has_framework)
            sum += device->framework_allocs;
        else
            for (int f = 0; f < VS_FAMILY_COUNT; f++)
                sum += device->family[f].allocs;
    }
    return sum;
}

static void write_window(struct vs_json *json, const struct vs_page_data *data,
                         const struct vs_page_source *source)
{
    const struct vs_page_window *window = &data->window;
    uint64_t all = allocations(source->report);
    if (window->whole) {
        vs_json_string(json, "window", NULL);
        return;
    }
    vs_json_begin_object(json, "window");
    vs_json_uint(json, "from", window->from_ns);
    vs_json_uint(json, "to", window->to_ns);
    vs_json_string(json, "why", window->why);
    vs_json_uint(json, "first_event", window->first_event);
    vs_json_uint(json, "last_event", window->last_event);
    vs_json_uint(json, "events", source->span->extent.events);
    vs_json_uint(json, "blocks_left_out", all > data->rows.count ? all - data->rows.count : 0);
    vs_json_end_object(json);
}

/* At most NAME_BYTES_MAX bytes of *text*, cut between characters. */
static void write_name(struct vs_json *json, const char *key, const char *text)
{
    char cut[NAME_BYTES_MAX + sizeof "…"];
    size_t length = strlen(text);
    if (length > NAME_BYTES_MAX) {
        for (length = NAME_BYTES_MAX; length && ((unsigned char)text[length] & 0xc0) == 0x80;)
            length--;
        snprintf(cut, sizeof cut, "%.*s…", (int)length, text);
        text = cut;
    }
    vs_json_string(json, key, text);
}

static void write_texts(struct vs_json *json, const char *key, const struct vs_intern *texts)
{
    vs_json_begin_array(json, key);
    for (size_t i = 0; i < texts->count; i++)
        write_name(json, NULL, texts->items[i]);
    vs_json_end_array(json);
}

static void write_names(struct vs_json *json, const struct vs_page_names *names)
{
    write_texts(json, "frames", &names->frames);
    write_texts(json, "files", &names->files);
    vs_json_begin_array(json, "stacks");
    for (size_t i = 0; i < names->nodes.count && i < VS_PAGE_NODES_MAX; i++) {
        const struct vs_page_node *node = names->nodes.items[i];
        vs_json_begin_array(json, NULL);
        vs_json_uint(json, NULL, node->parent);
        vs_json_uint(json, NULL, node->frame);
        vs_json_uint(json, NULL, node->file);
        vs_json_uint(json, NULL, node->line);
        vs_json_uint(json, NULL, node->user);
        vs_json_end_array(json);
    }
    vs_json_end_array(json);
    vs_json_begin_array(json, "sites");
    for (size_t i = 0; i < names->site_count; i++) {
        const struct vs_page_site *site = &names->sites[i];
        vs_json_begin_object(json, NULL);
        vs_json_uint(json, "stack", site->stack);
        write_name(json, "label", site->label);
        write_name(json, "through", site->through);
        vs_json_uint(json, "library", site->library);
        vs_json_bool(json, "user", site->user);
        vs_json_end_object(json);
    }
    vs_json_end_array(json);
    vs_json_uint(json, "sites_merged", names->unnamed);
    write_texts(json, "libraries", &names->libraries);
}

static void write_tables(struct vs_json *json, const struct vs_page_data *data,
                         const struct vs_replay *replay)
{
    vs_json_begin_array(json, "kinds");
    for (int k = 0; k < VS_KIND_COUNT; k++)
        vs_json_string(json, NULL, vs_kind_name((enum vs_kind)k));
    vs_json_string(json, NULL, "no tensors");
    vs_json_end_array(json);
    vs_json_begin_array(json, "families");
    for (int f = 0; f < VS_FAMILY_COUNT; f++)
        vs_json_string(json, NULL, vs_family_name((uint64_t)f));
    vs_json_end_array(json);
    vs_json_begin_array(json, "streams");
    for (size_t i = 0; i < data->streams.count; i++) {
        const struct vs_page_stream *stream = &data->streams.items[i];
        char name[48];
        if (stream->framework && !stream->stream)
            snprintf(name, sizeof name, "PyTorch's default stream");
        else
            snprintf(name, sizeof name, "%sstream %llu", stream->framework ? "PyTorch " : "",
                     (unsigned long long)stream->stream);
        vs_json_begin_object(json, NULL);
        vs_json_string(json, "name", name);
        vs_json_uint(json, "device", data->numbers[stream->device]);
        vs_json_end_object(json);
    }
    vs_json_end_array(json);
    vs_json_begin_array(json, "pools");
    vs_json_string(json, NULL, "small");
    vs_json_string(json, NULL, "large");
    vs_json_end_array(json);
    vs_json_begin_array(json, "phases");
    for (size_t i = 1; i < replay->phases.count; i++) {
        const struct vs_phase *phase = &replay->phases.items[i];
        vs_json_begin_object(json, NULL);
        vs_json_string(json, "name", phase->name);
        vs_json_uint(json, "parent", phase->parent);
        vs_json_bool(json, "step", phase->is_step);
        vs_json_end_object(json);
    }
    vs_json_end_array(json);
    vs_json_begin_array(json, "names");
    for (size_t i = 0; i < data->activity.name_count; i++)
        vs_json_string(json, NULL, data->activity.names[i]);
    vs_json_end_array(json);
}

static size_t device_index(const struct vs_report *report, uint64_t device)
{
    for (size_t i = 0; i < report->device_count; i++)
        if (report->devices[i].device == device)
            return i;
    return 0;
}

static void write_failures(struct vs_json *json, const struct vs_report *report)
{
    char label[VS_CHAIN_TEXT_MAX];
    vs_json_begin_array(json, "failures");
    for (size_t i = 0; i < report->failure_count; i++) {
        const struct vs_report_failure *failure = &report->failures[i];
        vs_json_begin_object(json, NULL);
        vs_json_uint(json, "time", failure->time_ns);
        vs_json_uint(json, "bytes", failure->requested);
        vs_json_uint(json, "device_bytes", failure->device_requested);
        vs_json_uint(json, "device", device_index(report, failure->device));
        vs_json_bool(json, "host", failure->host);
        vs_json_bool(json, "framework", failure->framework);
        vs_json_bool(json, "recovered", failure->recovered);
        vs_json_uint(json, "free", failure->device_free);
        vs_json_uint(json, "total", failure->device_total);
        vs_json_uint(json, "allocated", failure->allocated);
        vs_json_uint(json, "reserved", failure->reserved);
        vs_json_string(json, "phase", failure->place);
        vs_json_string(json, "label", vs_text_called(label, &failure->site));
        vs_json_end_object(json);
    }
    vs_json_end_array(json);
}

static void write_sections(struct vs_json *json, const struct vs_page_data *data)
{
    vs_json_begin_object(json, "sections");
    for (int i = 0; i < VS_SECTIONS; i++) {
        const struct vs_section *section = &data->sections[i];
        vs_json_begin_object(json, section->name);
        vs_json_uint(json, "chunks", section->text_count);
        vs_json_bool(json, "ordered", !section->unordered);
        vs_json_begin_array(json, "columns");
        for (size_t c = 0; c < section->column_count; c++) {
            const struct vs_column *column = &section->columns[c];
            vs_json_begin_object(json, NULL);
            vs_json_string(json, "name", column->name);
            vs_json_string(json, "type", vs_column_type_name(column->type));
            vs_json_uint(json, "count", column->count);
            vs_json_uint(json, "bytes", column->bytes);
            vs_json_end_object(json);
        }
        vs_json_end_array(json);
        vs_json_end_object(json);
    }
    vs_json_end_object(json);
}

void vs_page_head_write(struct vs_page_data *data, const struct vs_page_source *source,
                        const struct vs_replay *replay)
{
    char *text = NULL;
    size_t bytes = 0;
    struct vs_json json = {.out = vs_xstream(&text, &bytes)};
    vs_json_begin_object(&json, NULL);
    vs_json_uint(&json, "format", FORMAT);
    const struct vs_report *report = source->report;
    char title[256];
    snprintf(title, sizeof title, "%.200s%s", report->program, vs_rank_text(&report->job));
    vs_json_string(&json, "title", title);
    vs_json_string(&json, "program", report->program);
    vs_json_string(&json, "command", report->cmdline);
    vs_json_string(&json, "version", report->version);
    vs_json_uint(&json, "pid", report->pid);
    vs_json_uint(&json, "started_ms", report->start_realtime_ns / 1000000);
    vs_json_uint(&json, "duration", source->span->extent.last_ns > source->span->start_ns
                                       ? source->span->extent.last_ns - source->span->start_ns : 0);
    vs_json_bool(&json, "complete", report->condition == VS_TRACE_COMPLETE && report->has_end);
    vs_json_bool(&json, "serve", source->served);
    write_messages(&json, data, source);
    bool framework = false;
    uint64_t segments = 0;
    for (size_t i = 0; i < source->report->device_count; i++) {
        framework |= source->report->devices[i].has_framework;
        segments += source->report->devices[i].segment_allocs;
    }
    vs_json_begin_object(&json, "levels");
    vs_json_string(&json, "framework", framework ? "PyTorch" : NULL);
    vs_json_string(&json, "segments", segments ? "caching" : framework ? "framework" : "none");
    vs_json_uint(&json, "imported", data->rows.imported);
    vs_json_end_object(&json);
    vs_json_begin_array(&json, "devices");
    for (size_t i = 0; i < source->report->device_count; i++) {
        const struct vs_report_device *device = &source->report->devices[i];
        vs_json_begin_object(&json, NULL);
        vs_json_uint(&json, "device", device->device);
        vs_json_string(&json, "name", device->name);
        vs_json_uint(&json, "total", device->total_bytes);
        if (device->limit_bytes)
            vs_json_uint(&json, "limit", device->limit_bytes);
        vs_json_bool(&json, "simulated", device->simulated);
        vs_json_bool(&json, "framework", device->has_framework);
        vs_json_uint(&json, "axis", axis_end(data, source->scan, i));
        vs_json_end_object(&json);
    }
    vs_json_end_array(&json);
    write_window(&json, data, source);
    vs_json_uint(&json, "steps_found", source->report->steps.row_steps);
    vs_json_member(&json, "report");
    vs_report_json(source->report, true, json.out);
    if (!source->oom) {
        vs_json_string(&json, "oom", NULL);
    } else {
        vs_json_member(&json, "oom");
        vs_oom_json(source->oom, source->report, true, json.out);
    }
    write_failures(&json, source->report);
    write_sections(&json, data);
    write_tables(&json, data, replay);
    write_names(&json, &data->names);
    vs_json_end_object(&json);
    vs_xstream_end(json.out);
    data->head = escape(text, bytes, &data->head_bytes);
    free(text);
}
