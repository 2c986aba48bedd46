/* SPDX-License-Identifier: Apache-2.0
 *
 * The frames of a composed trace: its header, finished rows, added frames. */
#include <string.h>

#include "trace/compose/composer_internal.h"
#include "trace/format/frame_seal.h"

void vs_composer_begin_rows(struct vs_composer *c)
{
    c->first_event += c->events;
    c->sequence++;
    c->events = c->definitions = 0;
    c->base_ns = c->last_t = c->last_ns;
    c->last_address = 0;
    c->last_tid = 0;
    c->cursor = c->rows;
}

void vs_composer_put_header(struct vs_composer *c, const struct vs_composer_start *start)
{
    struct vs_file_header header = {
        .magic = VS_FILE_MAGIC, .major = VS_FORMAT_MAJOR, .minor = VS_FORMAT_MINOR,
        .byte_order = VS_BYTE_ORDER, .created_realtime_ns = start->realtime_ns,
        .created_ns = start->time_ns, .header_bytes = sizeof header,
        .flags = VS_FILE_COUNTS_MODULES};
    memcpy(header.uuid, start->uuid, sizeof header.uuid);
    vs_header_seal(&header);
    vs_frame_output_bytes(&c->out, &header, sizeof header);
}

void vs_composer_put_rows(struct vs_composer *c)
{
    if (c->cursor == c->rows)
        return;
    vs_frame_output_room(&c->out);
    struct vs_frame_header h = {
        .type = VS_FRAME_EVENTS, .codec = VS_ZSTD, .raw_bytes = (uint32_t)(c->cursor - c->rows),
        .sequence = c->sequence, .first_event = c->first_event, .base_ns = c->base_ns,
        .last_ns = c->last_ns, .events = c->events, .definitions = c->definitions};
    uint64_t offset = c->out.offset;
    vs_frame_output_put(&c->out, &h, NULL, c->rows);
    vs_frame_output_enter(&c->out, &h, offset, c->strings, c->stack_nodes);
    vs_composer_begin_rows(c);
}

void vs_composer_add(struct vs_composer *c, enum vs_frame_type type, const void *payload,
                     size_t bytes)
{
    vs_composer_put_rows(c);
    if (bytes > VS_FRAME_RAW_MAX) {
        vs_frame_output_fail(&c->out, VS_ERR_LIMIT);
        return;
    }
    struct vs_frame_header h = {.type = (uint8_t)type, .codec = VS_ZSTD,
                                .raw_bytes = (uint32_t)bytes,
                                .first_event = vs_composer_events(c)};
    struct vs_directory_entry entry = {.type = (uint32_t)type, .offset = c->out.offset};
    if (!vs_frame_output_put(&c->out, &h, NULL, payload))
        vs_frame_output_keep(&c->out, &entry);
}
