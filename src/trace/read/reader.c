/* SPDX-License-Identifier: Apache-2.0
 *
 * Turns records into events. Records are decoded by the kind descriptions in the file: fields that
 * a later version appended are read and ignored, kinds unknown to this build are skipped. */
#include "trace/read/reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vs_size.h"
#include "trace/format/columns.h"
#include "trace/read/checkpoint.h"
#include "trace/read/reader_internal.h"

void vs_reader_finish(struct vs_reader *reader, enum vs_condition condition, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(reader->text, sizeof reader->text, fmt, ap);
    va_end(ap);
    reader->condition = condition;
    reader->ended = true;
    reader->next = reader->end = NULL;
}

/* --- records --- */

/* Stops at an invalid definition or event. In a recovered window it is the record that was being
 * written. */
static enum vs_err stop_at_record(struct vs_reader *r, const char *problem)
{
    char ending[VS_ENDING_TEXT_MAX];
    const char *events = vs_count_text(r->events);
    if (r->frame_recovered)
        vs_reader_finish(r, VS_TRACE_LIVE,
                         "%s: %s events, the last %s recovered from %s.live, up to a record that %s",
                         vs_reader_ending_text(r, ending), events,
                         vs_count_text(r->events_recovered), r->path, problem);
    else
        vs_reader_finish(r, VS_TRACE_DAMAGED,
                         "the trace is damaged: in frame %llu at byte %s a record %s; %s",
                         (unsigned long long)(r->next_sequence - 1),
                         vs_count_text(r->frame_offset), problem,
                         vs_reader_readable_text(r, ending));
    return VS_ERR_END;
}

static enum vs_err stop_at_table(struct vs_reader *r)
{
    return stop_at_record(r, "defines more than a file of this size can contain");
}

static enum vs_err define_string(struct vs_reader *r)
{
    uint64_t length;
    if (!vs_get_varint(&r->next, r->end, &length) || length > VS_STRING_MAX ||
        length > (uint64_t)(r->end - r->next))
        return stop_at_record(r, "defines a text that is cut off");
    if (r->strings_seen == r->table.string_count &&
        vs_reader_table_add_string(&r->table, r->next, (size_t)length))
        return stop_at_table(r);
    r->strings_seen++;
    r->next += length;
    return VS_OK;
}

static enum vs_err define_stack(struct vs_reader *r)
{
    uint64_t up, module_code, offset, id = r->nodes_seen + 1;
    if (!vs_get_varint(&r->next, r->end, &up) || !vs_get_varint(&r->next, r->end, &module_code) ||
        !vs_get_varint(&r->next, r->end, &offset))
        return stop_at_record(r, "defines a stack that is cut off");
    if (!up || up > id || id >= UINT32_MAX)
        return stop_at_record(r, "defines a stack on one that does not exist");
    if (r->nodes_seen == r->table.node_count) {
        bool known = module_code && module_code <= r->table.module_count;
        uint64_t pc = known ? r->table.modules[module_code - 1].base + offset : offset;
        if (vs_reader_table_add_node(&r->table, pc, (uint32_t)(id - up),
                                     known ? (uint32_t)module_code - 1 : VS_NO_MODULE))
            return stop_at_table(r);
    }
    r->nodes_seen++;
    return VS_OK;
}

static enum vs_err define_kind(struct vs_reader *r)
{
    static const char problem[] = "has an invalid description of an event kind";
    uint64_t code, fields;
    if (!vs_get_varint(&r->next, r->end, &code) || !vs_get_varint(&r->next, r->end, &fields) ||
        !code || code > VS_EVENT_CODE_MAX || fields > VS_KIND_FIELDS_MAX ||
        fields > (uint64_t)(r->end - r->next))
        return stop_at_record(r, problem);
    const struct vs_event_info *info = vs_event_describe((uint32_t)code);
    struct vs_reader_kind kind = {.defined = true, .known = info != NULL};
    kind.field_count = (unsigned)fields;
    kind.known_fields = !info ? 0 : info->field_count < fields ? info->field_count : (unsigned)fields;
    for (unsigned i = 0; i < fields; i++) {
        kind.codecs[i] = *r->next++;
        /* a field of this build must have the same codec in the file */
        if (kind.codecs[i] > VS_CODEC_STK ||
            (info && i < info->field_count && kind.codecs[i] != info->fields[i].codec))
            return stop_at_record(r, problem);
        if (kind.codecs[i] != VS_CODEC_U)
            kind.coded[kind.coded_count++] = (unsigned char)i;
    }
    for (uint64_t i = 0, length; i <= fields; i++) { /* names */
        if (!vs_get_varint(&r->next, r->end, &length) || length > (uint64_t)(r->end - r->next))
            return stop_at_record(r, problem);
        r->next += length;
    }
    r->kinds[code] = kind;
    return VS_OK;
}

/* The value of a field whose varint was *value*. False: it refers to something undefined. */
static inline bool decode_field(struct vs_reader *r, unsigned codec, uint64_t *value)
{
    switch (codec) {
    case VS_CODEC_S: *value = vs_unzigzag(*value); return true;
    case VS_CODEC_A: *value = r->last_address += vs_unzigzag(*value); return true;
    case VS_CODEC_T: *value = r->last_t += vs_unzigzag(*value); return true;
    case VS_CODEC_STR: return *value <= r->strings_seen;
    case VS_CODEC_STK: return *value <= r->nodes_seen;
    default: return true;
    }
}

static bool decode_event(struct vs_reader *r, unsigned char head, const struct vs_reader_kind *kind,
                         struct vs_event *event)
{
    const unsigned char *p = r->next, *end = r->end; /* copies: the loop keeps them in registers */
    uint64_t tid = r->tid, step = 0, fields[VS_KIND_FIELDS_MAX];
    if ((head & VS_RECORD_TID) && (!vs_get_varint(&p, end, &tid) || tid > UINT32_MAX))
        return false;
    if (!(head & VS_RECORD_SAME_TIME) &&
        (!vs_get_varint(&p, end, &step) || step > UINT64_MAX - r->time_ns))
        return false;
    event->kind = head & VS_RECORD_CODE;
    event->tid = r->tid = (uint32_t)tid;
    event->time_ns = r->time_ns += step;
    for (unsigned i = 0; i < kind->field_count; i++)
        if (!vs_get_varint(&p, end, &fields[i]))
            return false;
    for (unsigned i = 0; i < kind->coded_count; i++)
        if (!decode_field(r, kind->codecs[kind->coded[i]], &fields[kind->coded[i]]))
            return false;
    memset(event->fields, 0, sizeof event->fields); /* of a constant size: no call */
    for (unsigned i = 0; i < kind->known_fields; i++)
        event->fields[i] = fields[i];
    r->next = p;
    return true;
}

/* At the end of the present frame: checks that its contents match its header. */
static enum vs_err end_frame(struct vs_reader *r)
{
    if (r->next_sequence > 1 && !r->frame_recovered && r->frame_events != r->frame.events)
        return stop_at_record(r, "is missing");
    return vs_frame_load(r);
}

static inline enum vs_err next_record(struct vs_reader *r, struct vs_event *event,
                                      enum vs_record *what)
{
    if (r->ended)
        return VS_ERR_END;
    *what = VS_RECORD_IS_FRAME;
    if (r->next == r->end)
        return end_frame(r);
    unsigned char head = *r->next++;
    *what = VS_RECORD_IS_DEFINITION;
    if (head == VS_DEFINE_STRING)
        return define_string(r);
    if (head == VS_DEFINE_STACK)
        return define_stack(r);
    if (head == VS_DEFINE_KIND)
        return define_kind(r);
    const struct vs_reader_kind *kind = &r->kinds[head & VS_RECORD_CODE];
    if (!kind->defined)
        return stop_at_record(r, "is of a kind that was never described");
    if (!decode_event(r, head, kind, event))
        return stop_at_record(r, "is cut off or has an undefined reference");
    r->frame_events++;
    r->events++;
    r->events_recovered += r->frame_recovered;
    r->events_unknown += !kind->known;
    *what = kind->known ? VS_RECORD_IS_EVENT : VS_RECORD_IS_UNKNOWN;
    r->end_seen = event->kind == VS_EVENT_end;
    if (r->end_seen) {
        r->stopped = event->end.reason == VS_END_STOPPED;
        r->stopped_error = event->end.status; /* an errno */
    }
    if (event->kind == VS_EVENT_module && vs_reader_table_set_module(&r->table, event))
        return stop_at_table(r);
    return VS_OK;
}

enum vs_err vs_reader_record(struct vs_reader *r, struct vs_event *event, enum vs_record *what)
{
    return next_record(r, event, what);
}

enum vs_err vs_reader_define(struct vs_reader *r, const unsigned char *payload, size_t bytes)
{
    enum vs_err err = VS_OK;
    const struct vs_reader_kind *module = &r->kinds[VS_EVENT_module];
    r->next = payload;
    r->end = payload + bytes;
    r->last_address = r->last_t = 0;
    r->tid = 0;
    while (!err && r->next < r->end) {
        struct vs_event event;
        unsigned char head = *r->next++;
        if (head == VS_DEFINE_STRING)
            err = define_string(r);
        else if (head == VS_DEFINE_STACK)
            err = define_stack(r);
        else if (head == VS_DEFINE_KIND)
            err = define_kind(r);
        else if (head != (VS_EVENT_module | VS_RECORD_SAME_TIME) || !module->defined ||
                 !decode_event(r, head, module, &event))
            err = VS_ERR_CORRUPT;
        else
            err = vs_reader_table_set_module(&r->table, &event);
    }
    r->next = r->end = NULL;
    r->ended = false; /* invalid definitions do not end the trace */
    return err ? VS_ERR_CORRUPT : VS_OK;
}

enum vs_err vs_reader_next(struct vs_reader *r, struct vs_event *event)
{
    enum vs_err err;
    enum vs_record what;
    if (__builtin_expect(r->held, 0)) {
        r->held = false;
        *event = r->held_event;
        return VS_OK;
    }
    do
        err = next_record(r, event, &what);
    while (!err && what != VS_RECORD_IS_EVENT);
    return err;
}

/* --- the rest --- */

void vs_reader_rewind(struct vs_reader *r)
{
    r->offset = r->header.header_bytes;
    r->next_sequence = 1;
    r->time_ns = 0;
    r->frame_recovered = false;
    r->next = r->end = NULL;
    r->strings_seen = r->nodes_seen = 0;
    r->events = r->events_recovered = r->events_unknown = 0;
    r->ended = r->stopped = r->held = r->end_seen = r->counts_delivered = false;
    r->checkpoints_defined = 0;
    memset(r->kinds, 0, sizeof r->kinds);
}

enum vs_condition vs_reader_condition(const struct vs_reader *r, char *text)
{
    if (text)
        snprintf(text, VS_READER_WHY_MAX, "%s", r->ended ? r->text : "not at the end yet");
    return r->condition;
}

const char *vs_reader_string(const struct vs_reader *r, uint64_t id)
{
    return vs_reader_table_string(&r->table, id);
}

size_t vs_reader_stack(const struct vs_reader *r, uint64_t id, struct vs_frame *frames, size_t max)
{
    size_t n = 0;
    while (n < max && id && id <= r->table.node_count) {
        const struct vs_stack_node *node = &r->table.nodes[id - 1];
        frames[n++] = (struct vs_frame){node->pc, node->module};
        id = node->parent; /* always smaller, so that there are no cycles */
    }
    return n;
}

const struct vs_module *vs_reader_module(const struct vs_reader *r, uint32_t module)
{
    return module < r->table.module_count ? &r->table.modules[module] : NULL;
}

uint64_t vs_reader_bytes(const struct vs_reader *r)
{
    return r->file.size;
}

uint64_t vs_reader_position(const struct vs_reader *r)
{
    return r->offset < r->file.size ? r->offset : r->file.size;
}

void vs_reader_close(struct vs_reader *r)
{
    if (!r)
        return;
    if (r->file.fd >= 0)
        close(r->file.fd);
    vs_frame_scratch_free(&r->scratch);
    vs_joiner_close(r->joiner);
    free(r->columns);
    vs_frame_list_free(&r->frames);
    vs_checkpoints_close(r->checkpoints);
    vs_recovery_free(&r->recovery);
    vs_reader_table_free(&r->table);
    free(r->raw);
    free(r->live_path);
    free(r->path);
    free(r);
}
