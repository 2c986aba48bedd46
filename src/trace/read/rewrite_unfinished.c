/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies a trace without an end. It is read to its end, record by record: a frame that matches its
 * header is copied unchanged, another keeps only its good records, and windows recovered from
 * FILE.live become frames like the others. Where that would drop bytes of the replaced file, it
 * fails. */
#include <stdio.h>
#include <string.h>

#include "base/reading/vs_vec.h"
#include "trace/read/rewrite_internal.h"

/* The frame that is being read: its records up to the last good one. */
struct present {
    struct vs_frame_header header;
    bool any, recovered;
    uint64_t offset, end; /* in the old file */
    unsigned char *rows; /* its good records; owned, and used again for the next frame */
    size_t used, capacity;
    bool all, large; /* all of its records are good; they are larger than a frame */
    uint32_t events, definitions;
    uint64_t last_ns;
};

static void begin_present(struct present *p, const struct vs_reader *r)
{
    *p = (struct present){.header = r->frame,
                          .any = true,
                          .recovered = r->frame_recovered,
                          .offset = r->frame_offset,
                          .end = r->offset,
                          .rows = p->rows,
                          .capacity = p->capacity,
                          .all = vs_reader_at_end(r) && !vs_reader_left_over(r),
                          .last_ns = r->time_ns};
    if (p->recovered)
        p->header = (struct vs_frame_header){.type = VS_FRAME_EVENTS,
                                             .codec = VS_ZSTD,
                                             .sequence = r->frame.sequence,
                                             .first_event = r->events,
                                             .base_ns = r->time_ns,
                                             .last_ns = r->time_ns};
}

static void note_record(struct present *p, const struct vs_reader *r, enum vs_record what,
                        const struct vs_event *event)
{
    p->large |= p->used + r->row_bytes > VS_FRAME_RAW_MAX;
    if (!p->large) {
        vs_vec_room(&p->rows, &p->capacity, p->used + r->row_bytes, 1);
        memcpy(p->rows + p->used, r->row, r->row_bytes);
        p->used += r->row_bytes;
    }
    p->all = vs_reader_at_end(r) && !vs_reader_left_over(r);
    p->events = r->frame_events;
    p->last_ns = r->time_ns;
    p->definitions += what == VS_RECORD_IS_DEFINITION || event->kind == VS_EVENT_module;
}

/* Whether the frame of the file matches its header. A window never does. */
static bool is_whole(const struct present *p)
{
    return !p->recovered && p->all && p->events == p->header.events;
}

/* Writes the frame with only its good records. */
static enum vs_err put_good_records(struct vs_rewrite *w, struct present *p)
{
    struct vs_frame_header h = {.type = VS_FRAME_EVENTS,
                                .codec = VS_ZSTD,
                                .raw_bytes = (uint32_t)p->used,
                                .sequence = p->header.sequence,
                                .first_event = p->header.first_event,
                                .base_ns = p->header.base_ns,
                                .last_ns = p->last_ns,
                                .events = p->events,
                                .definitions = p->definitions};
    p->header = h;
    return p->large ? vs_frame_output_fail(&w->out, VS_ERR_LIMIT)
                    : vs_frame_output_put(&w->out, &p->header, NULL, p->rows);
}

static enum vs_err put_present(struct vs_rewrite *w, struct present *p)
{
    if (!p->any || (!p->used && !is_whole(p)))
        return w->out.err;
    vs_frame_output_room(&w->out);
    uint64_t offset = w->out.offset;
    w->recovered += p->recovered ? p->events : 0;
    if (is_whole(p))
        vs_rewrite_copy(w, p->offset, p->end);
    else
        put_good_records(w, p);
    vs_frame_output_enter(&w->out, &p->header, offset, w->reader->strings_seen, w->reader->nodes_seen);
    if (w->out.last_ns < p->last_ns) /* the header was wrong; later times must not decrease */
        w->out.last_ns = p->last_ns;
    return w->out.err;
}

/* The kinds are described at the start of every trace of ours; another program's may lack the
 * description. */
static enum vs_err put_end_event(struct vs_rewrite *w)
{
    const struct vs_reader *r = w->reader;
    const struct vs_reader_kind *kind = &r->kinds[VS_EVENT_end];
    unsigned char record[2 + VS_KIND_FIELDS_MAX] = {VS_EVENT_end | VS_RECORD_SAME_TIME,
                                                    VS_END_KILLED};
    if (r->outcome.kind == VS_OUTCOME_KILLED && r->outcome.status < 0x80 && kind->field_count > 1) {
        record[1] = VS_END_SIGNAL;
        record[2] = (unsigned char)r->outcome.status;
    }
    if (!kind->defined || !kind->field_count)
        return w->out.err;
    struct vs_frame_header h = {.type = VS_FRAME_EVENTS,
                                .raw_bytes = 1 + kind->field_count,
                                .sequence = w->out.index.entries
                                                ? w->out.index.first_sequence + w->out.index.entries
                                                : 1,
                                .first_event = w->out.index.events,
                                .base_ns = w->out.last_ns,
                                .last_ns = w->out.last_ns,
                                .events = 1};
    vs_frame_output_room(&w->out);
    uint64_t offset = w->out.offset;
    vs_frame_output_put(&w->out, &h, NULL, record);
    return vs_frame_output_enter(&w->out, &h, offset, w->out.index.strings, w->out.index.stack_nodes);
}

/* Whether there are bytes other than zero from the present frame on, beyond an incomplete frame at
 * the end of the file. */
static bool leaves_frames(const struct vs_reader *r)
{
    struct vs_frame_header h;
    uint64_t left = r->file.size - r->offset;
    unsigned char part[4096];
    if (left < sizeof h || vs_source_read(&r->file, r->offset, &h, sizeof h) != sizeof h)
        return false;
    if (h.sync == VS_FRAME_SYNC)
        return left - sizeof h >= h.stored_bytes;
    for (uint64_t at = r->offset; at < r->file.size; at += sizeof part) {
        size_t got = vs_source_read(&r->file, at, part, sizeof part);
        for (size_t i = 0; i < got; i++) {
            if (part[i])
                return true;
        }
    }
    return false;
}

/* Events may be missing only from a new file beside the old one, not from its replacement. *ended*:
 * an `end` event was read. */
static enum vs_err refuse_loss(struct vs_rewrite *w, const struct present *p, bool ended, char *why)
{
    const struct vs_reader *r = w->reader;
    bool inside = r->condition == VS_TRACE_DAMAGED && p->any && !p->recovered && !p->all;
    uint64_t from = inside ? p->offset : r->offset; /* with the frame whose rest is not readable */
    bool gap = vs_recovery_newest(&r->recovery) >= r->next_sequence;
    bool cut = r->condition == VS_TRACE_TRUNCATED && r->offset < r->file.size;
    bool behind = r->condition != VS_TRACE_DAMAGED && !r->frame_recovered &&
                  r->offset < r->file.size && leaves_frames(r);
    if (r->condition == VS_TRACE_DAMAGED || cut || behind)
        w->left_out = r->file.size - from;
    bool alone = r->condition == VS_TRACE_TRUNCATED && !r->recovery.found && !ended;
    w->keep_live = gap || !r->recovery.found;
    if (!w->in_place || (!w->left_out && !gap && !alone))
        return VS_OK;
    if (alone && !w->left_out)
        snprintf(why, VS_READER_WHY_MAX,
                 "%.150s has no end, and its FILE.live with the rest is missing; put FILE.live "
                 "beside it, or write the events of the trace alone to another file: vramscope "
                 "recover -o recovered.vst %.150s", r->path, r->path);
    else if (w->left_out)
        snprintf(why, VS_READER_WHY_MAX,
                 "%.150s is %s at byte %llu, and rewriting it would drop the %llu bytes from there "
                 "on; to write the readable events to another file: vramscope recover -o recovered.vst %.150s",
                 r->path, r->condition == VS_TRACE_DAMAGED ? "damaged" : "cut off",
                 (unsigned long long)from, (unsigned long long)w->left_out, r->path);
    else
        snprintf(why, VS_READER_WHY_MAX,
                 "%.150s lacks the events before those in FILE.live, and rewriting it would drop "
                 "FILE.live; to write to another file: vramscope recover -o recovered.vst %.150s",
                 r->path, r->path);
    return vs_frame_output_fail(&w->out, VS_ERR_CORRUPT);
}

enum vs_err vs_rewrite_copy_unfinished(struct vs_rewrite *w, char *why)
{
    struct vs_reader *r = w->reader;
    struct present present = {0};
    struct vs_event event;
    enum vs_record what;
    enum vs_err err;
    bool ended = false;
    w->out.last_ns = r->header.created_ns;
    vs_rewrite_put_header(w);
    r->row_kinds = UINT64_MAX;
    while (!w->out.err && !(err = vs_reader_record(r, &event, &what))) {
        if (what != VS_RECORD_IS_FRAME) {
            note_record(&present, r, what, &event);
            ended = what == VS_RECORD_IS_EVENT && event.kind == VS_EVENT_end;
            continue;
        }
        put_present(w, &present);
        begin_present(&present, r);
    }
    r->row_kinds = 0;
    if (!w->out.err && err != VS_ERR_END)
        vs_frame_output_fail(&w->out, err);
    if (!w->out.err && !refuse_loss(w, &present, ended, why)) {
        put_present(w, &present);
        if (!ended)
            put_end_event(w);
    }
    free(present.rows);
    return w->out.err;
}
