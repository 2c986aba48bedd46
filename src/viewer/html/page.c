/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads a trace for its page; see the header. The replay runs from the beginning, or from the
 * checkpoint before the window; kinds of tensors need the whole trace, because many follow from
 * later events. */
#include "viewer/html/page.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/kinds/kinds.h"
#include "base/reading/vs_xalloc.h"
#include "trace/read/seek.h"
#include "viewer/html/page_data.h"
#include "viewer/html/page_shell.h"

#define PROGRESS_EVENTS 65536
#define BEFORE_PERCENT 80 /* of a chosen window's events come before the failure or the peak */

struct page_reading {
    const struct vs_page_source *source;
    struct vs_page_data *data;
    struct vs_time_window window;
    struct vs_trace_state *moment;
    struct vs_replay *replay; /* of moment */
    struct vs_symbols *symbols;
    struct vs_kinds *kinds;   /* NULL: not wanted */
    struct vs_replay_watch watch;
    uint64_t end_ns;          /* of the trace's clock: until when rows are live */
    bool begun, ended;        /* the window */
};

/* --- the window --- */

static uint64_t center_of(const struct vs_report *report, const char **why)
{
    uint64_t event = vs_oom_event(report), bytes = 0;
    *why = "around the failed allocation";
    if (event)
        return event;
    *why = "around the peak";
    for (size_t i = 0; i < report->device_count; i++) {
        if (report->devices[i].peak_user.bytes <= bytes)
            continue;
        bytes = report->devices[i].peak_user.bytes;
        event = report->devices[i].peak_user.event;
    }
    return event ? event : 1;
}

static void choose_window(struct page_reading *build)
{
    const struct vs_page_source *source = build->source;
    uint64_t events = source->span->extent.events, most = source->events_max;
    struct vs_page_window *window = &build->data->window;
    if (source->window) {
        build->window = *source->window;
        window->why = "as asked";
    } else if (events <= most) {
        window->whole = true;
    } else {
        uint64_t center = center_of(source->report, &window->why);
        uint64_t before = most / 100 * BEFORE_PERCENT;
        uint64_t from = center > before ? center - before : 1;
        if (from + most > events)
            from = events - most + 1;
        build->window.from = (struct vs_time_window_end){true, true, from};
        build->window.to = (struct vs_time_window_end){true, true, from + most - 1};
    }
}

static bool is_before(const struct vs_time_window *window, const struct vs_event *event,
                      uint64_t number)
{
    const struct vs_time_window_end *from = &window->from;
    return from->given &&
           (from->by_event ? number < from->value : event->time_ns < from->value);
}

/* Also of a window that was asked for: its first events_max events have blocks. */
static bool is_after(const struct page_reading *build, const struct vs_event *event,
                     uint64_t number)
{
    return !vs_span_holds(&build->window, event, number) ||
           (build->source->window &&
            number - build->data->window.first_event >= build->source->events_max);
}

/* --- reading --- */

static enum vs_err open_replay(struct page_reading *build)
{
    const struct vs_time_window_end *from = &build->window.from;
    struct vs_reader *reader = build->source->reader;
    if (!from->given || build->kinds) {
        vs_reader_rewind(reader);
        return vs_trace_state_open(reader, &build->moment);
    }
    enum vs_err err = vs_reader_attach(reader);
    if (err == VS_ERR_NOMEM)
        return err;
    return from->by_event ? vs_trace_state_at_event(reader, from->value - 1, &build->moment)
                          : vs_trace_state_at(reader, from->value, &build->moment);
}

static enum vs_err begin_window(struct page_reading *build, const struct vs_event *event)
{
    struct vs_page_data *data = build->data;
    uint64_t start_ns = build->source->span->start_ns, to_ns = UINT64_MAX;
    build->begun = true;
    data->window.first_event = build->replay->events + 1;
    data->window.from_ns = event->time_ns > start_ns ? event->time_ns - start_ns : 0;
    if (build->window.to.given && !build->window.to.by_event)
        to_ns = build->window.to.value;
    data->activity.from_ns = build->window.from.given ? event->time_ns : 0;
    data->activity.to_ns = to_ns;
    data->ranges.begun = build->replay->phases.steps.begun;
    vs_page_ranges_begin(&data->ranges, build->replay);
    enum vs_err err = vs_page_rows_begin(&data->rows, build->replay);
    build->replay->watch = &build->watch;
    build->replay->ends = vs_page_rows_ended;
    build->replay->ends_context = &data->rows;
    return err;
}

static void end_window(struct page_reading *build)
{
    struct vs_page_data *data = build->data;
    uint64_t start_ns = build->source->span->start_ns;
    if (build->ended)
        return;
    build->ended = true;
    build->end_ns = build->replay->now_ns;
    data->window.last_event = build->replay->events;
    data->window.to_ns = build->end_ns > start_ns ? build->end_ns - start_ns : 0;
    data->rows.ended = true;
    if (data->activity.to_ns > build->end_ns && !data->window.whole)
        data->activity.to_ns = build->end_ns;
    vs_page_ranges_end(&data->ranges, build->replay, build->end_ns);
}

static enum vs_err before_event(struct page_reading *build, const struct vs_event *event)
{
    struct vs_page_data *data = build->data;
    enum vs_err err = build->kinds ? vs_kinds_event(build->kinds, event) : VS_OK;
    if (err || !build->begun || build->ended)
        return err;
    data->rows.stream_known =
        event->kind == VS_EVENT_alloc || event->kind == VS_EVENT_framework_alloc;
    if (data->rows.stream_known)
        data->rows.stream = event->kind == VS_EVENT_alloc ? event->alloc.stream
                                                          : event->framework_alloc.framework_stream;
    if (event->kind == VS_EVENT_range_pop)
        vs_page_ranges_before(&data->ranges, build->replay, event);
    return VS_OK;
}

static enum vs_err after_event(struct page_reading *build, const struct vs_event *event)
{
    struct vs_page_data *data = build->data;
    if (!build->begun)
        return VS_OK;
    if (vs_event_has(event, VS_PROPERTY_ACTIVITY)) {
        vs_page_activity_event(&data->activity, build->replay, event);
        return VS_OK;
    }
    if (build->ended)
        return VS_OK;
    if (vs_event_has(event, VS_PROPERTY_RANGE)) {
        vs_page_ranges_after(&data->ranges, build->replay);
        const struct vs_page_ranges *ranges = &data->ranges;
        bool open = ranges->step_count && ranges->steps[ranges->step_count - 1].open;
        data->rows.step = open ? (uint32_t)ranges->step_count : 0;
    } else if (event->kind == VS_EVENT_vmm_map || event->kind == VS_EVENT_vmm_unmap) {
        vs_page_rows_mapped(&data->rows, event);
    }
    return data->rows.err;
}

static void show_progress(const struct page_reading *build)
{
    const struct vs_page_source *source = build->source;
    if (source->progress && build->replay->events % PROGRESS_EVENTS == 0)
        source->progress(source->context, vs_reader_position(source->reader),
                         vs_reader_bytes(source->reader));
}

static enum vs_err read_events(struct page_reading *build)
{
    struct vs_reader *reader = build->source->reader;
    struct vs_event event;
    enum vs_err err = open_replay(build);
    if (err)
        return err;
    build->replay = build->moment->replay;
    while (!err && (err = vs_reader_next(reader, &event)) == VS_OK) {
        uint64_t number = build->replay->events + 1;
        if (!build->begun && !is_before(&build->window, &event, number))
            err = begin_window(build, &event);
        if (!err && build->begun && !build->ended && is_after(build, &event, number))
            end_window(build);
        if (!err && build->ended && !build->kinds &&
            event.time_ns > vs_span_late_ns(build->data->activity.to_ns))
            break;
        if (!err)
            err = before_event(build, &event);
        if (!err)
            err = vs_replay_event(build->replay, &event);
        if (!err)
            err = after_event(build, &event);
        show_progress(build);
    }
    if (err && err != VS_ERR_END)
        return err;
    if (!build->begun) { /* a trace without events, or a window after its end */
        err = begin_window(build, &(struct vs_event){.time_ns = build->replay->now_ns});
        if (err && err != VS_ERR_END)
            return err;
    }
    if (build->kinds)
        vs_kinds_finish(build->kinds);
    end_window(build);
    return VS_OK;
}

/* --- the sections --- */

static enum vs_err name_sites(struct page_reading *build)
{
    const struct vs_page_rows *rows = &build->data->rows;
    bool *used = vs_xcalloc(build->replay->sites.count + 1, sizeof *used);
    enum vs_err err = VS_OK;
    for (size_t i = 0; !err && i < rows->count; i++)
        used[rows->site[i]] = true;
    for (size_t i = 0; !err && i < rows->segment_count; i++)
        if (rows->segments[i].site)
            used[rows->segments[i].site - 1] = true;
    if (!err)
        err = vs_page_names_build(&build->data->names, build->replay, build->symbols, used);
    free(used);
    return err;
}

static void pack(struct page_reading *build)
{
    struct vs_page_data *data = build->data;
    const struct vs_section sections[VS_SECTIONS] = {
        [VS_SECTION_CURVES] = {.name = "curves", .columns = data->curves},
        [VS_SECTION_SEGMENTS] = {.name = "segments", .columns = data->rows.segment_columns,
                                 .column_count = VS_SEGMENT_COLUMNS},
        [VS_SECTION_BLOCKS] = {.name = "blocks", .columns = data->rows.columns,
                               .column_count = VS_BLOCK_COLUMNS,
                               .unordered = data->rows.unordered},
        [VS_SECTION_STEPS] = {.name = "steps", .columns = data->ranges.step_columns,
                              .column_count = VS_STEP_COLUMNS},
        [VS_SECTION_RANGES] = {.name = "ranges", .columns = data->ranges.range_columns,
                               .column_count = VS_RANGE_COLUMNS},
        [VS_SECTION_ACTIVITY] = {.name = "activity", .columns = data->activity.columns,
                                 .column_count = VS_ACTIVITY_COLUMNS,
                                 .unordered = data->activity.unordered}};
    memcpy(data->sections, sections, sizeof sections);
    data->sections[VS_SECTION_CURVES].column_count =
        vs_page_scan_columns(build->source->scan, data->numbers, data->curves,
                             data->curve_names);
    vs_sections_pack(data->sections, VS_SECTIONS);
}

static enum vs_err complete(struct page_reading *build)
{
    struct vs_page_data *data = build->data;
    data->blocks = data->rows.count;
    const struct vs_page_source *source = build->source;
    enum vs_err err = source->diagnose
                          ? source->diagnose(source->context, &data->oom, &data->message) : VS_OK;
    if (!err)
        err = name_sites(build);
    if (!err)
        vs_page_ranges_found(&data->ranges, &source->report->steps);
    if (!err)
        err = vs_page_rows_encode(&data->rows, data->names.site_numbers);
    vs_page_ranges_encode(&data->ranges);
    vs_page_activity_finish(&data->activity);
    if (!err)
        pack(build);
    if (!err)
        vs_page_head_write(data, source, build->replay);
    return err;
}

/* The replay numbers devices in the order of their first events, the report by the driver's
 * numbers. */
static void number_devices(struct page_reading *build)
{
    const struct vs_page_scan *scan = build->source->scan;
    const struct vs_report *report = build->source->report;
    struct vs_page_data *data = build->data;
    for (unsigned a = 0; a < scan->device_count; a++)
        for (size_t i = 0; i < report->device_count; i++)
            if (report->devices[i].device == scan->devices[a]->ordinal) {
                data->numbers[a] = (uint8_t)i;
                data->rows.framework[a] = report->devices[i].has_framework;
            }
    data->rows.numbers = data->activity.numbers = data->numbers;
}

static enum vs_err prepare(struct page_reading *build)
{
    const struct vs_page_source *source = build->source;
    struct vs_page_data *data = build->data;
    uint64_t start_ns = source->span->start_ns;
    bool framework = false;
    data->curves = vs_xcalloc(VS_SCAN_COLUMNS_MAX, sizeof *data->curves);
    data->curve_names = vs_xcalloc(VS_SCAN_COLUMNS_MAX, sizeof *data->curve_names);
    data->rows.found = source->report->steps.found ? &source->report->steps : NULL;
    data->rows.start_ns = data->ranges.start_ns = data->activity.start_ns = start_ns;
    data->rows.streams = data->activity.streams = &data->streams;
    data->rows.zones = source->scan->zones;
    data->rows.zone_count = source->scan->zone_count;
    number_devices(build);
    for (size_t i = 0; i < VS_DEVICES_MAX; i++)
        framework |= data->rows.framework[i];
    choose_window(build);
    build->watch = vs_page_rows_watch(&data->rows);
    enum vs_err err = vs_symbols_open(source->reader, &build->symbols);
    if (err || !framework || vs_recording_partial(&source->report->recording))
        return err;
    vs_kinds_open(source->reader, build->symbols, &build->kinds);
    if (!err)
        vs_kinds_watch(build->kinds, vs_page_rows_kind, &data->rows);
    return err;
}

enum vs_err vs_page_data_build(const struct vs_page_source *source, struct vs_page_data **out)
{
    struct page_reading build = {.source = source, .data = vs_xcalloc(1, sizeof *build.data)};
    enum vs_err err = source->scan->err ? source->scan->err : prepare(&build);
    if (!err)
        err = read_events(&build);
    if (!err)
        err = complete(&build);
    vs_kinds_close(build.kinds);
    vs_symbols_close(build.symbols);
    vs_trace_state_close(build.moment);
    if (err)
        vs_page_data_free(build.data);
    else
        *out = build.data;
    return err;
}

const struct vs_page_window *vs_page_data_window(const struct vs_page_data *data)
{
    return &data->window;
}

uint64_t vs_page_data_blocks(const struct vs_page_data *data)
{
    return data->blocks;
}

void vs_page_data_free(struct vs_page_data *data)
{
    if (!data)
        return;
    for (int i = 0; i < VS_SECTIONS; i++)
        vs_section_free(&data->sections[i]);
    for (size_t i = 0; data->curves && i < VS_SCAN_COLUMNS_MAX; i++)
        vs_column_free(&data->curves[i]);
    free(data->curves);
    free(data->curve_names);
    vs_page_rows_free(&data->rows);
    vs_page_ranges_free(&data->ranges);
    vs_page_activity_free(&data->activity);
    vs_page_names_free(&data->names);
    free(data->streams.items);
    vs_map_free(&data->streams.by_key);
    free(data->head);
    free(data);
}

/* --- writing --- */

static void write_elements(FILE *out, const struct vs_page_data *data, const char *prefix)
{
    fprintf(out, "<script type=\"application/json\" id=\"%shead\">", prefix);
    fwrite(data->head, 1, data->head_bytes, out);
    fputs("</script>\n", out);
    for (int i = 0; i < VS_SECTIONS; i++) {
        const struct vs_section *section = &data->sections[i];
        for (size_t k = 0; k < section->text_count; k++) {
            fprintf(out, "<script type=\"application/octet-stream\" id=\"%s%s", prefix,
                    section->name);
            if (section->text_count > 1)
                fprintf(out, ".%zu", k);
            fputs("\">", out);
            fwrite(section->texts[k], 1, section->lengths[k], out);
            fputs("</script>\n", out);
        }
    }
}

void vs_page_elements(FILE *out, const struct vs_page_data *data)
{
    write_elements(out, data, "");
}

void vs_page_write(FILE *out, const struct vs_page_data *first, const struct vs_page_data *second,
                   bool served)
{
    if (served)
        fwrite(vs_page_open_served, 1, vs_page_open_served_size, out);
    else
        fwrite(vs_page_open, 1, vs_page_open_size, out);
    fwrite(vs_page_before, 1, vs_page_before_size, out);
    write_elements(out, first, "");
    if (second)
        write_elements(out, second, "b.");
    fwrite(vs_page_after, 1, vs_page_after_size, out);
}
