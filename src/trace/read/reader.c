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

#include "base/reading/vs_vec.h"
#include "base/vs_size.h"
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
    vs_reader_point(reader, NULL, 0, false);
}

/* --- records --- */

/* A function for records that are rare, kept apart so that vs_reader_next has the registers for events. */
#define RARE __attribute__((noinline, cold))

/* Stops at an invalid definition or event. In a recovered window it is the record that was being
 * written. */
static RARE enum vs_err stop_at_record(struct vs_reader *r, const char *problem)
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

/* Keeps the latest record as the bytes of its row. */
static void keep_row(struct vs_reader *r, unsigned char head, const uint64_t *numbers, size_t count,
                     const unsigned char *text, size_t length)
{
    vs_vec_room(&r->row, &r->row_capacity, 1 + count * VS_VARINT_MAX + length, 1);
    unsigned char *p = r->row;
    *p++ = head;
    for (size_t i = 0; i < count; i++)
        p = vs_put_varint(p, numbers[i]);
    if (length)
        memcpy(p, text, length);
    r->row_bytes = (size_t)(p - r->row) + length;
}

static RARE enum vs_err define_string(struct vs_reader *r)
{
    struct vs_lane *lengths = r->fixed[VS_COLUMN_TEXT_LENGTHS], *texts = r->fixed[VS_COLUMN_TEXTS];
    uint64_t length;
    if (!vs_get_varint(&lengths->next, lengths->end, &length) || length > VS_STRING_MAX ||
        length > (uint64_t)(texts->end - texts->next))
        return stop_at_record(r, "defines a text that is cut off");
    if (r->strings_seen == r->table.string_count &&
        vs_reader_table_add_string(&r->table, texts->next, (size_t)length))
        return stop_at_table(r);
    if (r->row_kinds)
        keep_row(r, VS_DEFINE_STRING, &length, 1, texts->next, (size_t)length);
    r->strings_seen++;
    texts->next += length;
    return VS_OK;
}

static RARE enum vs_err define_stack(struct vs_reader *r)
{
    uint64_t numbers[3], id = r->nodes_seen + 1; /* up, module + 1, offset */
    for (unsigned i = 0; i < 3; i++) {
        struct vs_lane *lane = r->fixed[VS_COLUMN_UPS + i];
        if (!vs_get_varint(&lane->next, lane->end, &numbers[i]))
            return stop_at_record(r, "defines a stack that is cut off");
    }
    if (!numbers[0] || numbers[0] > id || id >= UINT32_MAX)
        return stop_at_record(r, "defines a stack on one that does not exist");
    if (r->nodes_seen == r->table.node_count) {
        bool known = numbers[1] && numbers[1] <= r->table.module_count;
        uint64_t pc = known ? r->table.modules[numbers[1] - 1].base + numbers[2] : numbers[2];
        if (vs_reader_table_add_node(&r->table, pc, (uint32_t)(id - numbers[0]),
                                     known ? (uint32_t)numbers[1] - 1 : VS_NO_MODULE))
            return stop_at_table(r);
    }
    if (r->row_kinds)
        keep_row(r, VS_DEFINE_STACK, numbers, 3, NULL, 0);
    r->nodes_seen++;
    return VS_OK;
}

static RARE enum vs_err define_kind(struct vs_reader *r)
{
    static const char problem[] = "has an invalid description of an event kind";
    struct vs_lane *lane = r->fixed[VS_COLUMN_DESCRIPTIONS];
    const unsigned char *p = lane->next, *begin, *end = lane->end;
    uint64_t code, fields, length;
    if (lane != &r->rows) { /* its length is in front */
        if (!vs_get_varint(&p, end, &length) || length > (uint64_t)(end - p))
            return stop_at_record(r, problem);
        end = p + length;
    }
    begin = p;
    if (!vs_get_varint(&p, end, &code) || !vs_get_varint(&p, end, &fields) || !code ||
        code > VS_EVENT_CODE_MAX || fields > VS_KIND_FIELDS_MAX || fields > (uint64_t)(end - p))
        return stop_at_record(r, problem);
    const struct vs_event_info *info = vs_event_describe((uint32_t)code);
    struct vs_reader_kind *kind = &r->kinds[code];
    *kind = (struct vs_reader_kind){.defined = true, .known = info != NULL};
    kind->field_count = (unsigned)fields;
    kind->known_fields = info ? info->field_count : 0;
    if (kind->known_fields > fields)
        kind->known_fields = (unsigned)fields;
    for (unsigned i = 0; i < fields; i++) {
        unsigned codec = kind->codecs[i] = *p++;
        /* a field of this build must have the same codec in the file */
        if (codec > VS_CODEC_STK || (info && i < info->field_count && codec != info->fields[i].codec))
            return stop_at_record(r, problem);
        if (codec == VS_CODEC_A)
            kind->addresses[kind->address_count++] = (unsigned char)i;
        else if (codec == VS_CODEC_T || codec == VS_CODEC_S)
            kind->differences[kind->difference_count++] = (unsigned char)i;
    }
    kind->plain = info && fields <= info->field_count && code != VS_EVENT_end && code != VS_EVENT_module &&
                  !kind->difference_count;
    for (uint64_t i = 0; i <= fields; i++) { /* names */
        if (!vs_get_varint(&p, end, &length) || length > (uint64_t)(end - p))
            return stop_at_record(r, problem);
        p += length;
    }
    if (lane != &r->rows && p != end)
        return stop_at_record(r, problem);
    lane->next = p;
    if (r->row_kinds)
        keep_row(r, VS_DEFINE_KIND, NULL, 0, begin, (size_t)(p - begin));
    return VS_OK;
}

/* Decides how the events of kind *code* are put together in the present frame. False: its columns are
 * not those of the kind. */
static RARE bool plan_kind(struct vs_reader *r, unsigned code)
{
    struct vs_reader_kind *kind = &r->kinds[code];
    bool rows = r->fixed[VS_COLUMN_HEADS] == &r->rows;
    struct vs_kind_columns *columns = rows ? NULL : &r->columns->kinds[code];
    kind->constants = (struct vs_event){.kind = code};
    kind->step_count = kind->id_count = 0;
    if (columns && columns->count != kind->field_count)
        return false;
    for (unsigned i = 0; i < kind->field_count; i++) {
        unsigned codec = kind->codecs[i];
        const uint64_t *defined = codec == VS_CODEC_STR ? &r->strings_seen : &r->nodes_seen;
        bool id = codec == VS_CODEC_STR || codec == VS_CODEC_STK;
        if (columns) {
            struct vs_lane *lane = &columns->lanes[i];
            bool constant = columns->flags[i] & VS_COLUMN_CONSTANT;
            bool distance = columns->flags[i] & VS_COLUMN_ADDRESS;
            const unsigned char *p = lane->next;
            if (distance != (codec == VS_CODEC_A))
                return false;
            if (!constant || distance || kind->field_count > VS_EVENT_FIELDS_MAX) {
                kind->steps[kind->step_count++] =
                    (struct vs_reader_step){lane, (unsigned char)i, distance, constant};
            } else if (!vs_get_varint(&p, lane->end, &kind->constants.fields[i]) ||
                       (id && kind->constants.fields[i] > *defined)) {
                return false;
            } else {
                continue;
            }
        }
        if (id)
            kind->ids[kind->id_count++] = (struct vs_reader_id){i, defined};
    }
    kind->plan = r->plan;
    return true;
}

/* An address in columns: **value*, the distance to an earlier one, becomes the address. */
static inline bool get_address(struct vs_reader *r, uint64_t *value)
{
    struct vs_columns *c = r->columns;
    struct vs_lane *deltas = &c->fixed[VS_COLUMN_DELTAS];
    uint64_t distance = *value, delta;
    if (distance > c->addresses || distance >= VS_COLUMN_DISTANCE_END)
        return false;
    if (distance)
        *value = c->recent[(c->addresses - distance) % VS_COLUMN_DISTANCE_END];
    else if (vs_get_varint(&deltas->next, deltas->end, &delta))
        *value = r->last_address + vs_unzigzag(delta);
    else
        return false;
    c->recent[c->addresses++ % VS_COLUMN_DISTANCE_END] = r->last_address = *value;
    return true;
}

/* The time since the record before. Its first two bytes are in columns of their own. */
static inline bool get_step(struct vs_reader *r, uint64_t *step)
{
    struct vs_lane *lane = r->fixed[VS_COLUMN_TIMES];
    uint64_t rest;
    if (lane->next == lane->end)
        return false;
    *step = *lane->next++;
    if (*step < 0x80)
        return true;
    lane = r->fixed[VS_COLUMN_TIMES_SECOND];
    if (lane->next == lane->end)
        return false;
    unsigned char second = *lane->next++;
    *step = (*step & 0x7f) | (uint64_t)(second & 0x7f) << 7;
    if (second < 0x80)
        return true;
    lane = r->fixed[VS_COLUMN_TIMES_REST];
    const unsigned char *begin = lane->next;
    if (!vs_get_varint(&lane->next, lane->end, &rest) || rest >> 50 || lane->next - begin > 8)
        return false;
    *step |= rest << 14;
    return true;
}

/* Keeps an event as its row. *address*: the last one before it; *fields*: with addresses. */
static RARE void keep_event(struct vs_reader *r, unsigned char head, uint64_t tid, uint64_t step,
                            uint64_t address, const uint64_t *fields)
{
    const struct vs_reader_kind *kind = &r->kinds[head & VS_RECORD_CODE];
    uint64_t numbers[2 + VS_KIND_FIELDS_MAX], *number = numbers;
    if (head & VS_RECORD_TID)
        *number++ = tid;
    if (!(head & VS_RECORD_SAME_TIME))
        *number++ = step;
    memcpy(number, fields, kind->field_count * sizeof *fields);
    for (unsigned i = 0; i < kind->address_count; address = fields[kind->addresses[i++]])
        number[kind->addresses[i]] = vs_zigzag(fields[kind->addresses[i]] - address);
    keep_row(r, head, numbers, (size_t)(number - numbers) + kind->field_count, NULL, 0);
}

/* At the end of the present frame: checks that its contents match its header. */
static RARE enum vs_err end_frame(struct vs_reader *r)
{
    if (r->ended)
        return VS_ERR_END;
    if (r->next_sequence > 1 && !r->frame_recovered &&
        (r->frame_events != r->frame.events || vs_reader_left_over(r)))
        return stop_at_record(r, "is missing");
    return vs_frame_load(r);
}

enum vs_err vs_reader_next(struct vs_reader *r, struct vs_event *event)
{
    static const char cut[] = "is cut off or has an undefined reference";
    if (__builtin_expect(r->held, 0)) {
        r->held = false;
        *event = r->held_event;
        return VS_OK;
    }
    for (;;) {
        struct vs_lane *heads = r->fixed[VS_COLUMN_HEADS], *threads = r->fixed[VS_COLUMN_THREADS];
        bool more = heads->next != heads->end;
        unsigned char head = more ? *heads->next++ : 0;
        if (!more || (head >= VS_DEFINE_STRING && head <= VS_DEFINE_KIND)) {
            enum vs_err err = !more                     ? end_frame(r)
                              : head == VS_DEFINE_STRING ? define_string(r)
                              : head == VS_DEFINE_STACK  ? define_stack(r)
                                                         : define_kind(r);
            r->record = more ? VS_RECORD_IS_DEFINITION : VS_RECORD_IS_FRAME;
            if (err || r->single)
                return err;
            continue;
        }
        unsigned code = head & VS_RECORD_CODE;
        struct vs_reader_kind *kind = &r->kinds[code];
        uint64_t numbers[VS_KIND_FIELDS_MAX], tid = r->tid, step = 0, address = r->last_address;
        uint64_t *fields = event->fields;
        if (__builtin_expect(kind->plan != r->plan, 0)) {
            if (!kind->defined)
                return stop_at_record(r, "is of a kind that was never described");
            if (!plan_kind(r, code))
                return stop_at_record(r, cut);
        }
        if (__builtin_expect(kind->field_count > VS_EVENT_FIELDS_MAX, 0))
            fields = numbers; /* more than this build knows of any kind */
        if ((head & VS_RECORD_TID) &&
            (!vs_get_varint(&threads->next, threads->end, &tid) || tid > UINT32_MAX))
            return stop_at_record(r, cut);
        if (!(head & VS_RECORD_SAME_TIME) &&
            (!get_step(r, &step) || step > UINT64_MAX - r->time_ns))
            return stop_at_record(r, cut);
        *event = kind->constants;
        if (heads == &r->rows) {
            const unsigned char *p = heads->next, *end = heads->end; /* copies, for registers */
            for (uint64_t *field = fields, *last = fields + kind->field_count; field < last; field++)
                if (!vs_get_varint(&p, end, field))
                    return stop_at_record(r, cut);
            heads->next = p;
            for (unsigned i = 0; i < kind->address_count; i++) {
                uint64_t *field = &fields[kind->addresses[i]];
                *field = r->last_address += vs_unzigzag(*field);
            }
        } else {
            const struct vs_reader_step *s = kind->steps, *last = s + kind->step_count;
            for (; s < last; s++) {
                const unsigned char *p = s->lane->next;
                if (!vs_get_varint(&p, s->lane->end, &fields[s->field]))
                    return stop_at_record(r, cut);
                s->lane->next = s->constant ? s->lane->next : p;
                if (s->distance && !get_address(r, &fields[s->field]))
                    return stop_at_record(r, cut);
            }
        }
        event->tid = r->tid = (uint32_t)tid;
        event->time_ns = r->time_ns += step;
        if (__builtin_expect(r->row_kinds >> code & 1, 0))
            keep_event(r, head, tid, step, address, fields);
        for (const struct vs_reader_id *id = kind->ids, *last = id + kind->id_count; id < last; id++)
            if (fields[id->field] > *id->defined)
                return stop_at_record(r, cut);
        r->frame_events++;
        r->events++;
        r->events_recovered += r->frame_recovered;
        r->record = VS_RECORD_IS_EVENT;
        r->end_seen = false;
        if (__builtin_expect(kind->plain, 1))
            return VS_OK;
        for (unsigned i = 0; i < kind->difference_count; i++) {
            uint64_t *field = &fields[kind->differences[i]], value = vs_unzigzag(*field);
            *field = kind->codecs[kind->differences[i]] == VS_CODEC_T ? r->last_t += value : value;
        }
        if (kind->field_count > kind->known_fields) {
            memmove(event->fields, fields, kind->known_fields * sizeof *fields);
            memset(event->fields + kind->known_fields, 0,
                   (VS_EVENT_FIELDS_MAX - kind->known_fields) * sizeof *fields);
        }
        if (!kind->known) {
            r->record = VS_RECORD_IS_UNKNOWN;
            r->events_unknown++;
            if (!r->single)
                continue;
        } else if (code == VS_EVENT_end) {
            r->end_seen = true;
            r->stopped = event->end.reason == VS_END_STOPPED;
            r->stopped_error = event->end.status; /* an errno */
        } else if (code == VS_EVENT_module && vs_reader_table_set_module(&r->table, event)) {
            return stop_at_table(r);
        }
        return VS_OK;
    }
}

enum vs_err vs_reader_record(struct vs_reader *r, struct vs_event *event, enum vs_record *what)
{
    r->single = true;
    enum vs_err err = vs_reader_next(r, event);
    r->single = false;
    *what = r->record;
    return err;
}

enum vs_err vs_reader_define(struct vs_reader *r, const unsigned char *payload, size_t bytes)
{
    enum vs_err err = VS_OK;
    struct vs_event event;
    enum vs_record what;
    vs_reader_point(r, payload, bytes, false);
    r->last_address = r->last_t = 0;
    r->tid = 0;
    r->ended = r->frame_recovered = r->held = false;
    while (!err && !vs_reader_at_end(r)) {
        unsigned char head = *r->rows.next;
        if ((head >= VS_DEFINE_STRING && head <= VS_DEFINE_KIND) ||
            head == (VS_EVENT_module | VS_RECORD_SAME_TIME))
            err = vs_reader_record(r, &event, &what);
        else
            err = VS_ERR_CORRUPT;
    }
    vs_reader_point(r, NULL, 0, false);
    r->ended = false; /* invalid definitions do not end the trace */
    return err ? VS_ERR_CORRUPT : VS_OK;
}

/* --- the rest --- */

void vs_reader_rewind(struct vs_reader *r)
{
    r->offset = r->header.header_bytes;
    r->next_sequence = 1;
    r->time_ns = 0;
    r->frame_recovered = false;
    vs_reader_point(r, NULL, 0, false);
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
    vs_reader_read_ahead(r, false);
    if (r->file.fd >= 0)
        close(r->file.fd);
    for (unsigned i = 0; i < VS_FRAMES_AHEAD; i++)
        free(r->loaded[i].data);
    vs_frame_scratch_free(&r->scratch);
    free(r->columns);
    free(r->row);
    vs_frame_list_free(&r->frames);
    vs_checkpoints_close(r->checkpoints);
    vs_recovery_free(&r->recovery);
    vs_reader_table_free(&r->table);
    free(r->live_path);
    free(r->path);
    free(r);
}
