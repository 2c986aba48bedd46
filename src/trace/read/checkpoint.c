/* SPDX-License-Identifier: Apache-2.0
 *
 * The table is checked against the event frames when it is
 * opened, so that no checkpoint is used with frames it was not made for; the checkpoints' own
 * frames are read on demand. */
#include "trace/read/checkpoint.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"
#include "trace/format/event.h"
#include "trace/read/reader_internal.h"

#define UNPACKED_MAX ((uint64_t)64 << 20) /* of one checkpoint, or 64 times its size if larger */
#define UNPACKED_FACTOR 64u

struct vs_checkpoints {
    struct vs_source source;
    bool close_fd;
    uint64_t *offsets;
    size_t offset_count;
    struct vs_checkpoint_table table;
    struct vs_checkpoint *items;
    size_t *first; /* index of each checkpoint's first frame */
    unsigned char *raw;
    struct vs_frame_scratch scratch;
};

uint64_t vs_checkpoint_known_kinds(void)
{
    uint64_t bits = 0;
    for (uint32_t code = 0; code <= VS_EVENT_CODE_MAX; code++)
        bits |= vs_event_describe(code) ? UINT64_C(1) << code : 0;
    return bits;
}

const struct vs_checkpoint_table *vs_checkpoints_table(const struct vs_checkpoints *checkpoints)
{
    return &checkpoints->table;
}

const struct vs_checkpoint *vs_checkpoints_item(const struct vs_checkpoints *checkpoints,
                                                size_t index)
{
    return index < checkpoints->table.count ? &checkpoints->items[index] : NULL;
}

/* Reads a frame of type 3 into c->raw; *bytes* does not count its head. */
static enum vs_err load(struct vs_checkpoints *c, size_t frame, enum vs_checkpoint_what what,
                        size_t *bytes, uint64_t *stored)
{
    struct vs_frame_header header;
    struct vs_checkpoint_head head;
    if (frame >= c->offset_count)
        return VS_ERR_CORRUPT;
    enum vs_err err = vs_frame_payload(&c->source, c->offsets[frame], &c->scratch, &header, c->raw,
                                       VS_FRAME_RAW_MAX);
    if (err)
        return err;
    if (header.type != VS_FRAME_CHECKPOINT || header.raw_bytes < sizeof head)
        return VS_ERR_CORRUPT;
    memcpy(&head, c->raw, sizeof head);
    if (head.version != VS_CHECKPOINT_VERSION)
        return VS_ERR_VERSION;
    if (head.what != (uint32_t)what)
        return VS_ERR_CORRUPT;
    *bytes = header.raw_bytes - sizeof head;
    *stored = header.stored_bytes;
    return VS_OK;
}

/* Whether the program that made them has the same event kinds as this build. */
static bool same_kinds(const struct vs_checkpoint_table *table)
{
    uint64_t ours = vs_checkpoint_known_kinds();
    return table->known_kinds == ours || (!table->unknown && !(table->known_kinds & ~ours));
}

static enum vs_err check_items(const struct vs_checkpoints *c, const struct vs_frame_list *frames)
{
    size_t frame = 0;
    const struct vs_checkpoint *before = NULL;
    for (uint32_t i = 0; i < c->table.count; i++) {
        const struct vs_checkpoint *item = &c->items[i];
        if (!item->sequence || item->sequence > c->table.frames ||
            (before && (item->sequence <= before->sequence || item->strings < before->strings ||
                        item->stack_nodes < before->stack_nodes || item->shown < before->shown)) ||
            item->event != frames->items[item->sequence - 1].first_event ||
            item->shown > item->event)
            return VS_ERR_CORRUPT;
        if (item->sequence > 1 && item->time_ns > frames->items[item->sequence - 1].base_ns)
            return VS_ERR_CORRUPT;
        c->first[i] = frame;
        if (item->definition_frames > c->offset_count - frame ||
            item->state_frames > c->offset_count - frame - item->definition_frames)
            return VS_ERR_CORRUPT;
        frame += item->definition_frames + (size_t)item->state_frames;
        before = item;
    }
    return frame + c->table.spare_frames + 1 == c->offset_count ? VS_OK : VS_ERR_CORRUPT;
}

static enum vs_err read_table(struct vs_checkpoints *c, const struct vs_frame_list *frames)
{
    size_t bytes;
    uint64_t stored;
    enum vs_err err = load(c, c->offset_count - 1, VS_CHECKPOINT_TABLE, &bytes, &stored);
    if (err)
        return err;
    bytes += sizeof(struct vs_checkpoint_head);
    if (bytes < sizeof c->table)
        return VS_ERR_CORRUPT;
    memcpy(&c->table, c->raw, sizeof c->table);
    if ((bytes - sizeof c->table) / sizeof *c->items < c->table.count ||
        c->table.frames > frames->count ||
        c->table.fingerprint != vs_frame_list_fingerprint(frames, c->table.frames))
        return VS_ERR_CORRUPT;
    if (!same_kinds(&c->table))
        return VS_ERR_VERSION;
    c->items = vs_xcalloc(c->table.count + 1u, sizeof *c->items);
    c->first = vs_xcalloc(c->table.count + 1u, sizeof *c->first);
    memcpy(c->items, c->raw + sizeof c->table, c->table.count * sizeof *c->items);
    return check_items(c, frames);
}

enum vs_err vs_checkpoints_open(const struct vs_source *source, bool close_fd,
                                const uint64_t *offsets, size_t offset_count,
                                const struct vs_frame_list *frames, struct vs_checkpoints **out)
{
    if (!offset_count)
        return VS_ERR_NOT_FOUND;
    struct vs_checkpoints *c = vs_xcalloc(1, sizeof *c);
    c->source = *source;
    c->offset_count = offset_count;
    c->offsets = vs_xcalloc(offset_count, sizeof *c->offsets);
    c->raw = vs_xcalloc(1, VS_FRAME_RAW_MAX);
    memcpy(c->offsets, offsets, offset_count * sizeof *offsets);
    enum vs_err err = read_table(c, frames);
    if (err) {
        vs_checkpoints_close(c);
        return err;
    }
    c->close_fd = close_fd;
    *out = c;
    return VS_OK;
}

size_t vs_checkpoints_before_event(const struct vs_checkpoints *c, uint64_t event)
{
    return VS_VEC_UP_TO(c->items, c->table.count, event, event) - 1; /* SIZE_MAX: none */
}

size_t vs_checkpoints_before_time(const struct vs_checkpoints *c, uint64_t time_ns)
{
    size_t found = SIZE_MAX;
    for (size_t i = 0; i < c->table.count && c->items[i].time_ns < time_ns; i++)
        found = i;
    return found;
}

enum vs_err vs_checkpoints_each(struct vs_checkpoints *c, size_t index,
                                enum vs_checkpoint_what what, vs_checkpoint_take *take,
                                void *context)
{
    if (index >= c->table.count)
        return VS_ERR_NOT_FOUND;
    const struct vs_checkpoint *item = &c->items[index];
    bool definitions = what == VS_CHECKPOINT_DEFINITIONS;
    size_t frame = c->first[index] + (definitions ? 0 : item->definition_frames);
    size_t count = definitions ? item->definition_frames : item->state_frames;
    uint64_t unpacked = 0, packed = 0;
    for (size_t i = 0; i < count; i++) {
        size_t bytes;
        uint64_t stored;
        enum vs_err err = load(c, frame + i, what, &bytes, &stored);
        if (err)
            return err;
        unpacked += bytes;
        packed += stored;
        if (unpacked > UNPACKED_MAX && unpacked / UNPACKED_FACTOR > packed)
            return VS_ERR_CORRUPT;
        err = take(context, c->raw + sizeof(struct vs_checkpoint_head), bytes);
        if (err)
            return err;
    }
    return VS_OK;
}

void vs_checkpoints_close(struct vs_checkpoints *c)
{
    if (!c)
        return;
    if (c->close_fd && c->source.fd >= 0)
        close(c->source.fd);
    vs_frame_scratch_free(&c->scratch);
    free(c->offsets);
    free(c->items);
    free(c->first);
    free(c->raw);
    free(c);
}
