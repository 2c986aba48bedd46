/* SPDX-License-Identifier: Apache-2.0
 *
 * The first element of a page: one JSON object with the report, the post-mortem, the names and the
 * layout of the other elements. */
#define _GNU_SOURCE /* open_memstream */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

char *vs_page_escape(const char *text, size_t bytes, size_t *out_bytes)
{
    char *out = NULL;
    FILE *stream = vs_xstream(&out, out_bytes);
    for (size_t i = 0, used; i < bytes; i += used) {
        used = strcspn(text + i, "<>&\xe2\n");
        const unsigned char *p = (const unsigned char *)text + i;
        const char *escape = used ? NULL : escape_of(p, bytes - i, &used);
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

static void message(struct vs_json *json, const char *format, ...) VS_PRINTF(2, 3);
static void message(struct vs_json *json, const char *format, ...)
{
    char line[VS_UNCOMPUTED_TEXT_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    vs_json_string(json, NULL, line);
}

/* What the reader should know about the blocks. */
static void write_messages(struct vs_json *json, const struct vs_page_data *data,
                           const struct vs_page_source *source)
{
    const struct vs_report *report = source->report;
    char text[VS_RECORDING_TEXT_MAX], line[VS_UNCOMPUTED_TEXT_MAX];
    vs_json_begin_array(json, "messages");
    if (report->condition != VS_TRACE_COMPLETE && !source->live)
        vs_json_string(json, NULL, report->condition_text);
    if (vs_recording_cut_text(text, report))
        vs_json_string(json, NULL, text);
    if (vs_recording_partial(&report->recording))
        message(json, "%s: only these have blocks; curves and peaks are exact",
                vs_recording_partial_text(text, &report->recording));
    if (*vs_recording_limit_text(text, &report->recording))
        message(json, "limited by the trace's size: %s", text);
    if (vs_uncomputed_text(line, report))
        vs_json_string(json, NULL, line);
    if (data->rows.imported)
        message(json, "%llu allocations of other processes, which this one opened, are "
                "not among the blocks", (unsigned long long)data->rows.imported);
    const struct vs_page_text *lines = &data->text;
    if (lines->changed)
        message(json, "source lines may not be those that ran: %zu file%s %s: %s", lines->changed,
                lines->changed == 1 ? "" : "s", report->start_realtime_ns ? "changed after the program started"
                : "may have changed since the program ran", lines->changed_names);
    char host[256] = "";
    if (lines->files && *report->host && !gethostname(host, sizeof host - 1) && strcmp(host, report->host) != 0)
        message(json, "source lines are those of files on %s; the program ran on %.200s", host, report->host);
    if (lines->left_out)
        message(json, "%zu source lines of smaller call sites are left out: the limit is 2 MiB", lines->left_out);
    if (source->message)
        vs_json_string(json, NULL, source->message);
    if (report->symbols_note && *report->symbols_note)
        vs_json_string(json, NULL, report->symbols_note);
    vs_json_end_array(json);
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

/* *text*, or in *cut* at most NAME_BYTES_MAX bytes of it, cut between characters. */
static const char *cut_name(const char *text, char cut[NAME_BYTES_MAX + sizeof "…"])
{
    size_t length = strlen(text);
    if (length <= NAME_BYTES_MAX)
        return text;
    for (length = NAME_BYTES_MAX; length && ((unsigned char)text[length] & 0xc0) == 0x80;)
        length--;
    snprintf(cut, NAME_BYTES_MAX + sizeof "…", "%.*s…", (int)length, text);
    return cut;
}

static void write_texts(struct vs_json *json, const char *key, const struct vs_intern *texts)
{
    char cut[NAME_BYTES_MAX + sizeof "…"];
    for (size_t i = 0; vs_json_next(json, key, i, texts->count); i++)
        vs_json_string(json, NULL, cut_name(texts->items[i], cut));
}

static void write_names(struct vs_json *json, const struct vs_page_names *names)
{
    char label[NAME_BYTES_MAX + sizeof "…"], through[NAME_BYTES_MAX + sizeof "…"];
    write_texts(json, "frames", &names->frames);
    write_texts(json, "files", &names->files);
    vs_json_begin_array(json, "stacks");
    for (size_t i = 0; i < names->nodes.count && i < VS_PAGE_NODES_MAX; i++) {
        const struct vs_page_node *node = names->nodes.items[i];
        const uint32_t row[] = {node->parent, node->frame, node->file, node->line, node->user,
                                node->library};
        for (size_t k = 0; vs_json_next(json, NULL, k, sizeof row / sizeof *row); k++)
            vs_json_uint(json, NULL, row[k]);
    }
    vs_json_end_array(json);
    for (size_t i = 0; vs_json_next(json, "sites", i, names->site_count); i++) {
        const struct vs_page_site *site = &names->sites[i];
        vs_json_object(json, NULL, VS_J_UINT("stack", site->stack),
                       VS_J_TEXT("label", cut_name(site->label, label)),
                       VS_J_TEXT("through", cut_name(site->through, through)),
                       VS_J_UINT("library", site->library),
                       VS_J_UINT_IF(site->file, "at_file", site->file),
                       VS_J_UINT_IF(site->file, "at_line", site->line));
    }
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
    for (int f = 0; vs_json_next(json, "families", f, VS_FAMILY_COUNT); f++)
        vs_json_string(json, NULL, vs_family_name((uint64_t)f));
    for (size_t i = 0; vs_json_next(json, "streams", i, data->streams.count); i++) {
        const struct vs_page_stream *stream = &data->streams.items[i];
        char name[48];
        if (stream->framework && !stream->stream)
            snprintf(name, sizeof name, "PyTorch's default stream");
        else
            snprintf(name, sizeof name, "%sstream %llu", stream->framework ? "PyTorch " : "",
                     (unsigned long long)stream->stream);
        vs_json_object(json, NULL, VS_J_TEXT("name", name),
                       VS_J_UINT("device", data->numbers[stream->device]),
                       VS_J_BOOL("default", !stream->stream));
    }
    vs_json_begin_array(json, "pools");
    vs_json_string(json, NULL, "small");
    vs_json_string(json, NULL, "large");
    vs_json_end_array(json);
    for (size_t i = 0; vs_json_next(json, "phases", i, replay->phases.count - 1); i++) { /* without the outermost */
        const struct vs_phase *phase = &replay->phases.items[i + 1];
        vs_json_object(json, NULL, VS_J_TEXT("name", phase->name),
                       VS_J_UINT("parent", phase->parent), VS_J_BOOL("step", phase->is_step));
    }
    size_t modules = data->rows.modules.count ? data->rows.modules.count - 1 : 0; /* 0: none */
    for (size_t i = 0; vs_json_next(json, "modules", i, modules); i++) {
        const struct vs_module_scope *scope = &data->rows.modules.items[i + 1];
        char name[NAME_BYTES_MAX];
        snprintf(name, sizeof name, "%.*s", (int)scope->length, scope->text);
        vs_json_object(json, NULL, VS_J_TEXT("name", name), VS_J_TEXT("pass", vs_torch_pass_name(scope->pass)));
    }
    for (size_t i = 0; vs_json_next(json, "tensors", i, data->rows.tensor_count); i++)
        vs_json_object(json, NULL, VS_J_TEXT("name", vs_reader_string(replay->reader, data->rows.tensors[i].name)),
                       VS_J_UINT("what", data->rows.tensors[i].what));
    for (size_t i = 0; vs_json_next(json, "frees", i, data->rows.free_count); i++)
        vs_json_string(json, NULL, vs_reader_string(replay->reader, data->rows.frees[i]));
    for (size_t i = 0; vs_json_next(json, "names", i, data->activity.name_count); i++)
        vs_json_string(json, NULL, data->activity.names[i]);
}

void vs_page_head_write(struct vs_page_data *data, const struct vs_page_source *source,
                        const struct vs_replay *replay)
{
    char *text = NULL;
    size_t bytes = 0;
    struct vs_json json = {.out = vs_xstream(&text, &bytes)};
    vs_json_begin_object(&json, NULL);
    const struct vs_report *report = source->report;
    uint64_t start_ns = source->span->start_ns, last_ns = source->span->extent.last_ns;
    char title[256];
    snprintf(title, sizeof title, "%.200s%s", report->program, vs_rank_text(&report->job));
    vs_json_members(&json, VS_J_UINT("format", FORMAT), VS_J_TEXT("title", title),
                    VS_J_TEXT("program", report->program), VS_J_TEXT("command", report->cmdline),
                    VS_J_UINT("started_ms", report->start_realtime_ns / 1000000),
                    VS_J_UINT("duration", last_ns > start_ns ? last_ns - start_ns : 0),
                    VS_J_BOOL("serve", source->served), VS_J_BOOL("live", source->live),
                    VS_J_TEXT("editor", source->editor ? source->editor : ""));
    write_messages(&json, data, source);
    const char *framework = NULL;
    uint64_t segments = 0;
    for (size_t i = 0; i < report->device_count; i++) {
        if (!framework && report->devices[i].has_framework)
            framework = report->devices[i].framework;
        segments += report->devices[i].segment_allocs;
    }
    vs_json_object(&json, "levels", VS_J_TEXT("framework", framework),
                   VS_J_TEXT("segments", segments ? "caching" : framework ? "framework" : "none"));
    for (size_t i = 0; vs_json_next(&json, "devices", i, report->device_count); i++) {
        const struct vs_report_device *device = &report->devices[i];
        uint64_t axis_end = 0;
        for (unsigned a = source->scan->device_count; a-- > 0;)
            if (data->numbers[a] == i)
                axis_end = data->rows.axes[a].end;
        vs_json_object(&json, NULL, VS_J_UINT("device", device->device),
                       VS_J_TEXT("name", device->name), VS_J_UINT("total", device->total_bytes),
                       VS_J_UINT_IF(device->limit_bytes, "limit", device->limit_bytes),
                       VS_J_BOOL("framework", device->has_framework), VS_J_UINT("axis", axis_end));
    }
    const struct vs_page_window *window = &data->window;
    uint64_t all = allocations(report), rows = data->rows.count;
    if (window->whole)
        vs_json_string(&json, "window", NULL);
    else
        vs_json_object(&json, "window", VS_J_UINT("from", window->from_ns),
                       VS_J_UINT("to", window->to_ns), VS_J_TEXT("why", window->why),
                       VS_J_UINT("first_event", window->first_event),
                       VS_J_UINT("last_event", window->last_event),
                       VS_J_UINT("events", source->span->extent.events),
                       VS_J_UINT("blocks_left_out", all > rows ? all - rows : 0));
    vs_json_uint(&json, "steps_found", report->steps.row_steps);
    vs_json_string(&json, "sources_missing", data->text.missing ? data->text.missing_names : NULL);
    const struct vs_page_ranges *ranges = &data->ranges;
    if (ranges->step_count) {
        const struct vs_page_step *last = &ranges->steps[ranges->step_count - 1];
        vs_json_object(&json, "steps_span", VS_J_UINT("from", ranges->steps[0].start_ns),
                       VS_J_UINT("to", last->start_ns + last->duration_ns));
    } else {
        vs_json_string(&json, "steps_span", NULL);
    }
    vs_json_member(&json, "report");
    vs_report_json(report, true, json.out);
    if (!source->oom) {
        vs_json_string(&json, "oom", NULL);
    } else {
        vs_json_member(&json, "oom");
        vs_oom_json(source->oom, report, true, json.out);
    }
    vs_page_whatif_write(&json, source);
    vs_json_begin_object(&json, "sections");
    for (int i = 0; i < VS_SECTIONS; i++) {
        const struct vs_section *section = &data->sections[i];
        vs_json_begin(&json, section->name, VS_J_UINT("chunks", section->text_count),
                      VS_J_BOOL("ordered", !section->unordered));
        for (size_t c = 0; vs_json_next_object(&json, "columns", c, section->column_count); c++) {
            const struct vs_column *column = &section->columns[c];
            vs_json_members(&json, VS_J_TEXT("name", column->name),
                            VS_J_TEXT("type", vs_column_type_name(column->type)),
                            VS_J_UINT("count", column->count), VS_J_UINT("bytes", column->bytes));
            if (column->planes) {
                for (int k = 0; vs_json_next(&json, "planes", k, VS_PLANES_MAX); k++)
                    vs_json_uint(&json, NULL, column->planes[k].bytes);
            }
        }
        vs_json_end_object(&json);
    }
    vs_json_end_object(&json);
    write_tables(&json, data, replay);
    write_names(&json, &data->names);
    vs_json_end_object(&json);
    vs_xstream_end(json.out);
    data->head = vs_page_escape(text, bytes, &data->head_bytes);
    free(text);
}
