/* SPDX-License-Identifier: Apache-2.0
 *
 * Moves to a position in a trace. The frame is found in the list of frames; reading begins at the
 * nearest earlier place with all definitions available (the present position, a checkpoint, the
 * start) and continues, skipping events, to the event wanted, which is then held for
 * vs_reader_next. */
#include "trace/read/seek.h"

#include <stdlib.h>

#include "base/reading/vs_xalloc.h"
#include "trace/read/reader_internal.h"
#include "trace/read/rewrite.h"

const struct vs_frame_list *vs_reader_frames(struct vs_reader *r)
{
    if (!r->frames.loaded)
        vs_frame_list_load(&r->frames, &r->file, r->header.header_bytes);
    return &r->frames;
}

/* Makes the first record of frame *index* of the list the next one. */
static void enter_frame(struct vs_reader *r, size_t index)
{
    const struct vs_frame_place *place = &r->frames.items[index];
    r->offset = place->offset;
    r->next_sequence = place->sequence;
    r->events = place->first_event;
    r->time_ns = index ? place[-1].last_ns : 0;
    r->frame_recovered = r->ended = r->stopped = r->held = false;
    r->end_seen = r->counts_delivered = false;
    vs_reader_point(r, NULL, 0, false);
    r->frame_events = r->frame.events; /* no events of the frame left behind are missing */
}

struct vs_checkpoints *vs_reader_checkpoints(const struct vs_reader *r)
{
    return r->checkpoints;
}

void vs_reader_set_checkpoints(struct vs_reader *r, struct vs_checkpoints *checkpoints)
{
    if (checkpoints != r->checkpoints)
        vs_checkpoints_close(r->checkpoints);
    r->checkpoints = checkpoints;
    r->checkpoints_defined = 0;
}

enum vs_err vs_reader_attach(struct vs_reader *r)
{
    if (r->checkpoints)
        return VS_OK;
    struct vs_directory_entry *entries;
    size_t count, kept = 0;
    if (vs_directory_load(&r->file, &entries, &count))
        return VS_ERR_NOT_FOUND;
    uint64_t *offsets = vs_xcalloc(count + 1, sizeof *offsets);
    for (size_t i = 0; i < count; i++) {
        if (entries[i].type == VS_FRAME_CHECKPOINT)
            offsets[kept++] = entries[i].offset;
    }
    enum vs_err err = vs_checkpoints_open(&r->file, false, offsets, kept, vs_reader_frames(r),
                                          &r->checkpoints);
    free(offsets);
    free(entries);
    return err ? VS_ERR_NOT_FOUND : VS_OK;
}

const uint8_t *vs_reader_uuid(const struct vs_reader *r)
{
    return r->header.uuid;
}

static enum vs_err define(void *context, const unsigned char *bytes, size_t count)
{
    return vs_reader_define(context, bytes, count);
}

/* Reads the definitions before checkpoint *index*: its own and those of the checkpoints before it,
 * as far as they have not been read. */
static enum vs_err define_up_to(struct vs_reader *r, size_t index)
{
    for (size_t i = r->checkpoints_defined; i <= index; i++) {
        const struct vs_checkpoint *before = i ? vs_checkpoints_item(r->checkpoints, i - 1) : NULL;
        const struct vs_checkpoint *item = vs_checkpoints_item(r->checkpoints, i);
        if (!item)
            return VS_ERR_CORRUPT;
        r->strings_seen = before ? before->strings : 0;
        r->nodes_seen = before ? before->stack_nodes : 0;
        enum vs_err err =
            vs_checkpoints_each(r->checkpoints, i, VS_CHECKPOINT_DEFINITIONS, define, r);
        if (!err && (r->strings_seen != item->strings || r->nodes_seen != item->stack_nodes))
            err = VS_ERR_CORRUPT;
        if (err)
            return err;
        r->checkpoints_defined = i + 1;
    }
    const struct vs_checkpoint *item = vs_checkpoints_item(r->checkpoints, index);
    if (!item || item->strings > r->table.string_count || item->stack_nodes > r->table.node_count)
        return VS_ERR_CORRUPT;
    r->strings_seen = item->strings;
    r->nodes_seen = item->stack_nodes;
    return VS_OK;
}

enum vs_err vs_reader_to_checkpoint(struct vs_reader *r, size_t index)
{
    const struct vs_checkpoint *item =
        r->checkpoints ? vs_checkpoints_item(r->checkpoints, index) : NULL;
    if (!item || !item->sequence || item->sequence > vs_reader_frames(r)->count)
        return VS_ERR_CORRUPT;
    const struct vs_reader_table known = r->table;
    if (!define_up_to(r, index)) {
        enter_frame(r, (size_t)item->sequence - 1);
        return VS_OK;
    }
    /* an inconsistent checkpoint is not used in part either; texts stay in place */
    r->table.string_count = known.string_count;
    r->table.node_count = known.node_count;
    r->table.module_count = known.module_count;
    vs_reader_set_checkpoints(r, NULL);
    vs_reader_rewind(r);
    return VS_ERR_CORRUPT;
}

/* Whether the next frame, which is before *index*, may be skipped. */
static bool may_pass(const struct vs_reader *r, size_t index)
{
    size_t next = (size_t)r->next_sequence - 1;
    return vs_reader_at_end(r) && !r->frame_recovered &&
           (r->header.flags & VS_FILE_COUNTS_MODULES) && next < index &&
           next + 1 < r->frames.count && !r->frames.items[next].definitions &&
           r->offset <= r->frames.items[next].offset;
}

enum vs_err vs_reader_seek_event(struct vs_reader *r, uint64_t wanted)
{
    const struct vs_frame_list *frames = vs_reader_frames(r);
    size_t index = vs_frame_list_event(frames, wanted);
    if (index == frames->count && frames->count)
        index = frames->count - 1; /* later events may be in FILE.live */
    bool forward = !r->ended && vs_reader_event_number(r) <= wanted;
    /* the checkpoint before that frame, when it is nearer than the present position */
    size_t nearest = SIZE_MAX;
    if (r->checkpoints && index < frames->count)
        nearest = vs_checkpoints_before_event(r->checkpoints, frames->items[index].first_event);
    if (nearest != SIZE_MAX &&
        (!forward ||
         vs_checkpoints_item(r->checkpoints, nearest)->sequence >= r->next_sequence))
        (void)!vs_reader_to_checkpoint(r, nearest); /* or starts from the beginning */
    else if (!forward)
        vs_reader_rewind(r);
    for (;;) {
        while (may_pass(r, index))
            enter_frame(r, (size_t)r->next_sequence);
        struct vs_event event;
        enum vs_err err = vs_reader_next(r, &event);
        if (err)
            return err == VS_ERR_END ? VS_OK : err;
        if (r->events > wanted) {
            vs_reader_unread(r, &event);
            return VS_OK;
        }
    }
}

void vs_reader_unread(struct vs_reader *r, const struct vs_event *event)
{
    r->held_event = *event;
    r->held = true;
}

bool vs_reader_finished(const struct vs_reader *r)
{
    return vs_frame_has_trailer(&r->file);
}

bool vs_reader_ended(const struct vs_reader *r)
{
    return r->ended && !r->held;
}

uint64_t vs_reader_event_number(const struct vs_reader *r)
{
    return r->events - r->held;
}

enum vs_err vs_reader_extent(struct vs_reader *r, struct vs_extent *out)
{
    struct vs_event event;
    const struct vs_frame_list *frames = vs_reader_frames(r);
    struct vs_extent extent = {0};
    vs_reader_rewind(r);
    enum vs_err err = vs_reader_next(r, &event);
    if (!err) {
        extent.first_ns = extent.last_ns = event.time_ns;
        if (frames->count) {
            const struct vs_frame_place *last = &frames->items[frames->count - 1];
            extent.last_ns = last->last_ns;
            extent.events = last->first_event + last->events;
        }
        if (r->recovery.found || !frames->count) { /* the rest is not in a frame of the file */
            err = vs_reader_seek_event(r, extent.events);
            while (!err && (err = vs_reader_next(r, &event)) == VS_OK)
                extent.last_ns = event.time_ns;
            extent.events = r->events;
        }
    }
    if (err && err != VS_ERR_END)
        return err;
    *out = extent;
    vs_reader_rewind(r);
    return VS_OK;
}

struct vs_reader_counts vs_reader_counts(const struct vs_reader *r)
{
    return (struct vs_reader_counts){r->strings_seen, r->nodes_seen, r->events, r->events_unknown,
                                     r->time_ns, r->next_sequence - 1, r->frame_recovered};
}
