/* SPDX-License-Identifier: Apache-2.0
 *
 * The blocks of the whole trace are collected in the reading of the report, before it is known
 * which devices have a framework, how the report numbers them, and which addresses memory is mapped
 * into: that is learned on the way, and where it comes too late the trace is read again. So is a
 * part of a trace. */
#include "viewer/html/page.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/kinds/kinds.h"
#include "base/reading/vs_xalloc.h"
#include "trace/read/seek.h"
#include "viewer/html/page_data.h"

#define PROGRESS_EVENTS 65536
#define BEFORE_PERCENT 80 /* of a chosen window's events come before the failure or the peak */

/* Columns in the order of their enum; "~": stored as differences, ".": as bytes, ":", "+", "=", "^": as planes (the
 * types in their order), else as varints. */
static const struct {
    const char *name, *columns;
} section_kinds[VS_SECTIONS] = {
    [VS_SECTION_CURVES] = {"curves", ""}, /* they depend on the devices */
    [VS_SECTION_SEGMENTS] = {"segments",
                             "~born lived bytes ~place address device stream pool .family site"},
    [VS_SECTION_BLOCKS] = {"blocks", "=born :kept +after :bytes :waste site ^place ^segment stream "
                                     "device phase ~step .kind .family"},
    [VS_SECTION_STEPS] = {"steps", "~number ~start duration"},
    [VS_SECTION_RANGES] = {"ranges", "~start duration phase .depth thread step"},
    [VS_SECTION_WHATIF] = {"whatif", ""}, /* by change */
    [VS_SECTION_ACTIVITY] = {"activity", "=start :duration name stream device .type :bytes ~link thread place"},
    [VS_SECTION_LIVES] = {"lives", "=address freed_phase freed_by .assumed module tensor"},
    [VS_SECTION_SOURCES] = {"sources", ".json"},
};

struct vs_page_data *vs_page_data_open(const struct vs_span *span)
{
    struct vs_page_data *data = vs_xcalloc(1, sizeof *data);
    for (int s = 0; s < VS_SECTIONS; s++) {
        data->sections[s].name = section_kinds[s].name;
        for (const char *at = section_kinds[s].columns; *at; at += strspn(at, " ")) {
            static const char marks[] = ". ~:+=^"; /* by type */
            const char *mark = strchr(marks, *at);
            enum vs_column_type type = mark ? (enum vs_column_type)(mark - marks) : VS_COLUMN_VARINT;
            at += mark != NULL;
            int length = (int)strcspn(at, " ");
            vs_section_column(&data->sections[s], type, "%.*s", length, at);
            at += length;
        }
    }
    data->start_ns = data->rows.start_ns = span->start_ns;
    data->ranges.start_ns = data->activity.start_ns = span->start_ns;
    data->rows.streams = data->activity.streams = &data->streams;
    data->rows.columns = data->sections[VS_SECTION_BLOCKS].columns;
    data->rows.segment_columns = data->sections[VS_SECTION_SEGMENTS].columns;
    data->rows.life_columns = data->sections[VS_SECTION_LIVES].columns;
    data->ranges.step_columns = data->sections[VS_SECTION_STEPS].columns;
    data->ranges.range_columns = data->sections[VS_SECTION_RANGES].columns;
    data->activity.columns = data->sections[VS_SECTION_ACTIVITY].columns;
    data->activity.numbers = data->numbers;
    for (unsigned a = 0; a < VS_DEVICES_MAX; a++)
        data->numbers[a] = (uint8_t)a;
    data->window.whole = data->rows.learning = true;
    return data;
}

/* --- reading --- */

/* A span of time without an event, between two: it is shown as it was asked for. */
static bool between_events(const struct vs_page_data *data, uint64_t next_ns)
{
    const struct vs_time_window *part = &data->part;
    return part->from.given && !part->from.by_event && part->to.given && !part->to.by_event &&
           next_ns > part->to.value;
}

static void begin_window(struct vs_page_data *data, struct vs_replay *replay, uint64_t time_ns)
{
    data->begun = true;
    if (between_events(data, time_ns))
        time_ns = data->part.from.value;
    data->window.first_event = replay->events + 1;
    data->window.from_ns = time_ns > data->start_ns ? time_ns - data->start_ns : 0;
    data->activity.from_ns = data->part.from.given ? time_ns : 0;
    data->activity.to_ns =
        data->part.to.given && !data->part.to.by_event ? data->part.to.value : UINT64_MAX;
    vs_page_ranges_begin(&data->ranges, replay);
    vs_page_rows_begin(&data->rows, replay);
}

static void end_window(struct vs_page_data *data, const struct vs_replay *replay)
{
    uint64_t end_ns = replay->now_ns;
    if (data->rows.ended)
        return;
    data->rows.ended = true;
    data->window.last_event = replay->events;
    if (data->window.last_event < data->window.first_event && data->part.to.given &&
        !data->part.to.by_event)
        end_ns = data->part.to.value;
    data->window.to_ns = end_ns > data->start_ns ? end_ns - data->start_ns : 0;
    if (data->activity.to_ns > end_ns && !data->window.whole)
        data->activity.to_ns = end_ns;
    vs_page_ranges_end(&data->ranges, replay, end_ns);
}

static enum vs_err before_event(void *context, struct vs_replay *replay,
                                const struct vs_event *event)
{
    struct vs_page_data *data = context;
    const struct vs_time_window_end *from = &data->part.from;
    uint64_t number = replay->events + 1;
    if (!data->begun) {
        if (from->given && (from->by_event ? number < from->value : event->time_ns < from->value))
            return VS_OK;
        begin_window(data, replay, event->time_ns);
    }
    if (!data->rows.ended &&
        (!vs_span_holds(&data->part, event, number) ||
         (data->part_events_max && number - data->window.first_event >= data->part_events_max)))
        end_window(data, replay);
    if (data->rows.ended)
        return !data->to_the_end && event->time_ns > vs_span_late_ns(data->activity.to_ns)
                   ? VS_ERR_END : VS_OK;
    if (event->kind == VS_EVENT_torch_module)
        vs_page_rows_module(&data->rows, event);
    if (event->kind == VS_EVENT_range_pop)
        vs_page_ranges_before(&data->ranges, replay, event);
    return VS_OK;
}

static enum vs_err after_event(void *context, struct vs_replay *replay,
                               const struct vs_event *event)
{
    struct vs_page_data *data = context;
    if (!data->begun)
        return VS_OK;
    if (vs_event_has(event, VS_PROPERTY_ACTIVITY) || event->kind == VS_EVENT_api_call ||
        event->kind == VS_EVENT_work_call) {
        vs_page_activity_event(&data->activity, replay, event);
    } else if (data->rows.ended) {
        return VS_OK;
    } else if (vs_event_has(event, VS_PROPERTY_RANGE)) {
        vs_page_ranges_after(&data->ranges, replay);
        const struct vs_page_ranges *ranges = &data->ranges;
        bool open = ranges->step_count && ranges->steps[ranges->step_count - 1].open;
        data->rows.step = open ? (uint32_t)ranges->step_count : 0;
    } else if (event->kind == VS_EVENT_vmm_map || event->kind == VS_EVENT_vmm_unmap) {
        vs_page_rows_mapped(&data->rows, event);
    } else if (event->kind == VS_EVENT_torch_tensor) {
        vs_page_rows_tensor(&data->rows, event);
    } else if (event->kind == VS_EVENT_end) { /* as it is now: the report may forgive a failure later */
        data->ranges.prepared = vs_replay_step_prepared(replay);
    }
    return data->rows.learning ? VS_OK : data->rows.err; /* learning: it is read again then */
}

void vs_page_data_begin(struct vs_page_data *data, struct vs_replay *replay)
{
    if (data->window.whole)
        begin_window(data, replay, data->start_ns);
}

struct vs_observer vs_page_observer(struct vs_page_data *data)
{
    uint64_t kinds = vs_event_kinds(VS_PROPERTY_ACTIVITY | VS_PROPERTY_RANGE) |
                     VS_KIND_BIT(VS_EVENT_vmm_map) | VS_KIND_BIT(VS_EVENT_vmm_unmap) |
                     VS_KIND_BIT(VS_EVENT_end) | VS_KIND_BIT(VS_EVENT_api_call) |
                     VS_KIND_BIT(VS_EVENT_work_call) | VS_KIND_BIT(VS_EVENT_torch_module) |
                     VS_KIND_BIT(VS_EVENT_torch_tensor);
    return (struct vs_observer){data->window.whole ? kinds : VS_KINDS_EVERY, before_event,
                                after_event, data};
}

static enum vs_err show_progress(void *context, struct vs_replay *replay,
                                 const struct vs_event *event)
{
    const struct vs_page_source *source = context;
    (void)event;
    if (source->progress && replay->events % PROGRESS_EVENTS == 0)
        source->progress(source->context, vs_reader_position(source->reader),
                         vs_reader_bytes(source->reader));
    return VS_OK;
}

/* Reads the blocks, from the beginning, or from the checkpoint before the window; kinds of tensors
 * need the whole trace, because many follow from later events. */
static enum vs_err read_blocks(struct vs_page_data *data, const struct vs_page_source *source,
                               struct vs_symbols *symbols, struct vs_trace_state **state)
{
    const struct vs_time_window_end *from = &data->part.from;
    struct vs_reader *reader = source->reader;
    enum vs_err err = VS_OK;
    if (!from->given || data->to_the_end) {
        vs_reader_rewind(reader);
        *state = vs_trace_state_open(reader);
    } else if ((err = vs_reader_attach(reader)) != VS_ERR_NOMEM) {
        err = from->by_event ? vs_trace_state_at_event(reader, from->value - 1, state)
                             : vs_trace_state_at(reader, from->value, state);
    }
    if (err)
        return err;
    struct vs_kinds *kinds = data->to_the_end ? vs_kinds_open((*state)->replay, symbols) : NULL;
    vs_page_data_begin(data, (*state)->replay);
    const struct vs_observer observers[] = {
        kinds ? vs_kinds_observer(kinds) : (struct vs_observer){0},
        vs_page_observer(data),
        {VS_KINDS_EVERY, NULL, show_progress, (void *)source}};
    err = vs_reading_run(reader, (*state)->replay, NULL, observers,
                         sizeof observers / sizeof *observers);
    if (!err && kinds)
        vs_kinds_finish(kinds);
    vs_kinds_close(kinds);
    return err;
}

/* --- the part that is read again --- */

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

static void choose_window(struct vs_page_data *data, const struct vs_page_source *source)
{
    uint64_t events = source->span->extent.events, most = source->events_max;
    if (source->window) {
        data->part = *source->window;
        data->part_events_max = most;
        data->window = (struct vs_page_window){.why = "as asked"};
    } else if (events > most) {
        data->window = (struct vs_page_window){0};
        uint64_t center = center_of(source->report, &data->window.why);
        uint64_t before = most / 100 * BEFORE_PERCENT;
        uint64_t from = center > before ? center - before : 1;
        if (from + most > events)
            from = events - most + 1;
        data->part.from = (struct vs_time_window_end){true, true, from};
        data->part.to = (struct vs_time_window_end){true, true, from + most - 1};
    }
}

/* What the report and the overview know of a trace, and its blocks depend on. */
struct page_facts {
    uint8_t numbers[VS_DEVICES_MAX]; /* of the devices by account: the report's, which sorts them */
    bool framework[VS_DEVICES_MAX], any_framework; /* any: with kinds of tensors, which are PyTorch's */
};

/* Whether what *data* learned on the way is all that is known now. */
static bool was_known(const struct vs_page_data *data, const struct vs_page_source *source,
                      const struct page_facts *facts)
{
    size_t count = source->scan->device_count;
    return !data->rows.err && !source->scan->zone_count &&
           memcmp(data->numbers, facts->numbers, count) == 0 &&
           memcmp(data->rows.framework, facts->framework, count * sizeof *facts->framework) == 0;
}

/* --- the sections --- */

static void complete(struct vs_page_data *data, const struct vs_page_source *source,
                     const struct vs_replay *replay, struct vs_symbols *symbols, bool kinds)
{
    const struct vs_page_rows *rows = &data->rows;
    const struct vs_report_steps *steps = &source->report->steps;
    bool *used = vs_xcalloc(replay->sites.count + 1, sizeof *used);
    for (size_t i = 0; i < rows->count; i++)
        used[rows->blocks[i].site] = true;
    for (size_t i = 0; i < rows->segment_count; i++)
        used[rows->segments[i].site ? rows->segments[i].site - 1 : replay->sites.count] = true;
    vs_page_names_build(&data->names, replay, symbols, used);
    free(used);
    if (source->text)
        vs_page_text_build(&data->text, &data->names, source->report->start_realtime_ns,
                           data->sections[VS_SECTION_SOURCES].columns);
    vs_page_ranges_found(&data->ranges, steps);
    vs_page_rows_encode(&data->rows, data->names.site_numbers, data->numbers,
                        steps->found ? steps : NULL, kinds);
    vs_page_ranges_encode(&data->ranges);
    vs_page_activity_finish(&data->activity, replay, symbols);
    vs_page_scan_columns(source->scan, data->numbers, &data->sections[VS_SECTION_CURVES]);
    vs_page_whatif_columns(source, &data->sections[VS_SECTION_WHATIF]);
    data->sections[VS_SECTION_BLOCKS].unordered = rows->unordered;
    data->sections[VS_SECTION_ACTIVITY].unordered = data->activity.unordered;
    vs_sections_pack(data->sections, VS_SECTIONS);
    vs_page_head_write(data, source, replay);
}

enum vs_err vs_page_data_build(const struct vs_page_source *source, struct vs_page_data **out)
{
    struct vs_page_data *data = source->collected;
    struct vs_trace_state *state = NULL;
    struct vs_symbols *symbols = vs_symbols_open(source->reader);
    const struct vs_report *report = source->report;
    struct page_facts facts = {0};
    for (unsigned a = 0; a < source->scan->device_count; a++)
        for (size_t i = 0; i < report->device_count; i++)
            if (report->devices[i].device == source->scan->devices[a]->ordinal) {
                facts.numbers[a] = (uint8_t)i;
                facts.framework[a] = report->devices[i].has_framework;
                facts.any_framework |= facts.framework[a] && strstr(report->devices[i].framework, "PyTorch");
            }
    bool kinds = facts.any_framework && !vs_recording_partial(&source->report->recording);
    struct vs_replay *replay = source->end;
    enum vs_err err = VS_OK;
    if (!data || !was_known(data, source, &facts)) {
        vs_page_data_free(data);
        data = vs_page_data_open(source->span);
        data->rows.learning = false;
        data->rows.zones = source->scan->zones;
        data->rows.zone_count = source->scan->zone_count;
        memcpy(data->numbers, facts.numbers, sizeof data->numbers);
        memcpy(data->rows.framework, facts.framework, sizeof data->rows.framework);
        data->to_the_end = kinds;
        choose_window(data, source);
        err = read_blocks(data, source, symbols, &state);
        replay = state ? state->replay : NULL;
    }
    if (!err && !data->begun) /* a trace without events, or a window after its end */
        begin_window(data, replay, replay->now_ns);
    if (!err) {
        end_window(data, replay);
        err = data->rows.err;
    }
    if (!err)
        complete(data, source, replay, symbols, kinds);
    vs_symbols_close(symbols);
    vs_trace_state_close(state);
    if (err)
        vs_page_data_free(data);
    else
        *out = data;
    return err;
}

const struct vs_page_window *vs_page_data_window(const struct vs_page_data *data)
{
    return &data->window;
}

uint64_t vs_page_data_blocks(const struct vs_page_data *data)
{
    return data->rows.count;
}

size_t vs_page_data_source_files(const struct vs_page_data *data)
{
    return data->text.files;
}

void vs_page_data_free(struct vs_page_data *data)
{
    if (!data)
        return;
    for (int i = 0; i < VS_SECTIONS; i++)
        vs_section_free(&data->sections[i]);
    vs_page_rows_free(&data->rows);
    vs_page_ranges_free(&data->ranges);
    vs_page_activity_free(&data->activity);
    vs_page_names_free(&data->names);
    free(data->streams.items);
    vs_map_free(&data->streams.by_key);
    free(data->head);
    free(data->compared);
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
    fputs("\xef\xbb\xbf", out); /* UTF-8 whatever a server says: the texts of the sections are */
    if (served)
        fwrite(vs_page_open_served, 1, vs_page_open_served_size, out);
    else
        fwrite(vs_page_open, 1, vs_page_open_size, out);
    fwrite(vs_page_before, 1, vs_page_before_size, out);
    write_elements(out, first, "");
    if (second) {
        write_elements(out, second, "b.");
        fputs("<script type=\"application/json\" id=\"compared\">", out);
        fwrite(second->compared, 1, second->compared_bytes, out);
        fputs("</script>\n", out);
    }
    fwrite(vs_page_after, 1, vs_page_after_size, out);
}
