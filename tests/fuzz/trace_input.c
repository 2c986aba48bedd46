/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. */
#include "fuzz/trace_input.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "trace/format/format.h"

#define DIRECTORY_TYPE 5u
#define END_BYTES_MAX (sizeof(struct vs_frame_header) + 8 + sizeof(struct vs_index_header) + \
                       VS_INDEX_ENTRIES_MAX * sizeof(struct vs_index_entry) +                 \
                       sizeof(struct vs_trailer))

static void sign(uint8_t *at, struct vs_frame_header *frame)
{
    XXH64_state_t state;
    XXH64_reset(&state, 0);
    XXH64_update(&state, frame, offsetof(struct vs_frame_header, checksum));
    XXH64_update(&state, at + sizeof *frame,
                 frame->header_bytes - sizeof *frame + frame->stored_bytes);
    frame->checksum = XXH64_digest(&state);
    memcpy(at, frame, sizeof *frame);
}

static void put_header_right(struct trace_input *in, struct vs_file_header *h)
{
    if (in->flags & TRACE_INPUT_ORDER) {
        memcpy(h->magic, VS_FILE_MAGIC, VS_MAGIC_BYTES);
        h->major = VS_FORMAT_MAJOR;
        h->byte_order = VS_BYTE_ORDER;
        h->header_bytes = sizeof *h;
    }
    h->checksum = XXH64(h, offsetof(struct vs_file_header, checksum), 0);
    memcpy(in->file, h, sizeof *h);
    if (in->live_bytes >= sizeof(struct vs_live_header))
        memcpy(in->live + offsetof(struct vs_live_header, uuid), h->uuid, sizeof h->uuid);
}

/* Restores the fields that a mutation of the payload alone would have broken. */
static void put_frame_in_order(struct vs_frame_header *frame, size_t left, uint64_t *sequence)
{
    if (frame->type == VS_FRAME_EVENTS)
        frame->sequence = ++*sequence;
    if (frame->header_bytes < sizeof *frame || frame->header_bytes > left)
        frame->header_bytes = sizeof *frame;
    if (frame->stored_bytes > left - frame->header_bytes)
        frame->stored_bytes = (uint32_t)(left - frame->header_bytes);
    if (frame->codec == VS_STORED)
        frame->raw_bytes = frame->stored_bytes;
}

/* Writes final index and trailer at *at*, where there is room for END_BYTES_MAX bytes. */
static size_t put_end(uint8_t *file, size_t at, const struct vs_index_entry *entries,
                      uint32_t count, uint64_t directory)
{
    struct vs_index_header index = {
        .first_sequence = count ? 1 : 0, .entries = count, .flags = VS_INDEX_FINAL};
    size_t extra = directory ? 8 : 0, payload = sizeof index + count * sizeof *entries;
    struct vs_frame_header frame = {.sync = VS_FRAME_SYNC,
                                    .type = VS_FRAME_INDEX,
                                    .header_bytes = (uint16_t)(sizeof frame + extra),
                                    .raw_bytes = (uint32_t)payload,
                                    .stored_bytes = (uint32_t)payload};
    uint8_t *p = file + at + sizeof frame;
    memcpy(p, &directory, extra);
    memcpy(p + extra, &index, sizeof index);
    if (count)
        memcpy(p + extra + sizeof index, entries, count * sizeof *entries);
    sign(file + at, &frame);
    struct vs_trailer trailer = {.index_offset = at};
    memcpy(trailer.magic, VS_END_MAGIC, VS_MAGIC_BYTES);
    at += frame.header_bytes + payload;
    trailer.file_bytes = at + sizeof trailer;
    trailer.checksum = XXH64(&trailer, offsetof(struct vs_trailer, checksum), 0);
    memcpy(file + at, &trailer, sizeof trailer);
    return at + sizeof trailer;
}

static void put_right(struct trace_input *in)
{
    static struct vs_index_entry entries[VS_INDEX_ENTRIES_MAX];
    struct vs_file_header h;
    struct vs_frame_header frame;
    uint64_t sequence = 0, directory = 0;
    uint32_t count = 0;
    if (in->file_bytes < sizeof h)
        return;
    memcpy(&h, in->file, sizeof h);
    put_header_right(in, &h);
    size_t at = h.header_bytes;
    while (at < in->file_bytes && in->file_bytes - at >= sizeof frame) {
        size_t left = in->file_bytes - at;
        memcpy(&frame, in->file + at, sizeof frame);
        if (frame.sync != VS_FRAME_SYNC)
            break;
        if (in->flags & TRACE_INPUT_ORDER)
            put_frame_in_order(&frame, left, &sequence);
        if (frame.header_bytes < sizeof frame || left < frame.header_bytes ||
            left - frame.header_bytes < frame.stored_bytes)
            break;
        sign(in->file + at, &frame);
        if (frame.type == VS_FRAME_EVENTS && count < VS_INDEX_ENTRIES_MAX)
            entries[count++] = (struct vs_index_entry){at, frame.first_event, frame.base_ns,
                                                       frame.last_ns, frame.events,
                                                       frame.definitions};
        if (frame.type == DIRECTORY_TYPE)
            directory = at;
        at += frame.header_bytes + (size_t)frame.stored_bytes;
    }
    if ((in->flags & TRACE_INPUT_END) && at <= in->file_bytes)
        in->file_bytes = put_end(in->file, at, entries, count,
                                 in->flags & TRACE_INPUT_DIRECTORY ? directory : 0);
}

int trace_input_make(const uint8_t *data, size_t size, struct trace_input *out)
{
    uint32_t live_bytes;
    if (size < TRACE_INPUT_HEAD)
        return 0;
    memcpy(&live_bytes, data + 1, sizeof live_bytes);
    data += TRACE_INPUT_HEAD;
    size -= TRACE_INPUT_HEAD;
    if (live_bytes > size)
        live_bytes = (uint32_t)size;
    unsigned flags = data[-(int)TRACE_INPUT_HEAD];
    size_t file_bytes = size - live_bytes;
    size_t room = file_bytes + 1 + (flags & TRACE_INPUT_END ? END_BYTES_MAX : 0);
    *out = (struct trace_input){malloc(room), live_bytes ? malloc(live_bytes) : NULL, file_bytes,
                                live_bytes, flags};
    if (!out->file || (live_bytes && !out->live))
        abort();
    if (live_bytes)
        memcpy(out->live, data, live_bytes);
    if (file_bytes)
        memcpy(out->file, data + live_bytes, file_bytes);
    if (flags & TRACE_INPUT_RIGHT)
        put_right(out);
    /* exact size: a read beyond it is detected */
    uint8_t *exact = realloc(out->file, out->file_bytes ? out->file_bytes : 1);
    out->file = exact ? exact : out->file;
    return 1;
}

void trace_input_free(struct trace_input *input)
{
    free(input->file);
    free(input->live);
}

size_t trace_input_budget(const struct trace_input *input)
{
    return ((size_t)64 << 20) + 32 * (input->file_bytes + input->live_bytes);
}
