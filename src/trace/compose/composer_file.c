/* SPDX-License-Identifier: Apache-2.0
 *
 * The file of a composed trace, written from front to back (docs/trace-format.md §2): header, event
 * frames with an index after every 1024, added frames with their directory, final index, trailer. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "trace/compose/composer_internal.h"
#include "trace/format/frame_seal.h"

#define LEVEL 3
#define DIRECTORY_MAX (VS_FRAME_RAW_MAX / sizeof(struct vs_directory_entry))

void vs_composer_fail(struct vs_composer *c, enum vs_err err)
{
    if (c->err)
        return;
    c->err = err;
    c->error = errno;
}

static void put(struct vs_composer *c, const void *from, size_t bytes)
{
    if (!c->err && fwrite(from, 1, bytes, c->out) != bytes)
        vs_composer_fail(c, VS_ERR_IO);
    c->offset += bytes;
}

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
    c->packed_bytes = ZSTD_compressBound(VS_FRAME_RAW_MAX);
    c->packed = malloc(c->packed_bytes);
    if (!c->packed || !c->rows) {
        vs_composer_fail(c, VS_ERR_NOMEM);
        return;
    }
    struct vs_file_header header = {
        .magic = VS_FILE_MAGIC, .major = VS_FORMAT_MAJOR, .minor = VS_FORMAT_MINOR,
        .byte_order = VS_BYTE_ORDER, .created_realtime_ns = start->realtime_ns,
        .created_ns = start->time_ns, .header_bytes = sizeof header,
        .flags = VS_FILE_COUNTS_MODULES};
    memcpy(header.uuid, start->uuid, sizeof header.uuid);
    vs_header_seal(&header);
    put(c, &header, sizeof header);
}

/* Writes one frame with *extension* (may be NULL) after its header. */
static void put_frame(struct vs_composer *c, struct vs_frame_header *h,
                      const struct vs_index_extension *extension, const void *payload)
{
    size_t n = 0;
    if (h->codec == VS_ZSTD) {
        n = ZSTD_compress(c->packed, c->packed_bytes, payload, h->raw_bytes, LEVEL);
        if (ZSTD_isError(n) || n >= h->raw_bytes)
            h->codec = VS_STORED;
        else
            payload = c->packed;
    }
    h->stored_bytes = h->codec == VS_ZSTD ? (uint32_t)n : h->raw_bytes;
    vs_frame_seal(h, extension, payload);
    put(c, h, sizeof *h);
    if (extension)
        put(c, extension, sizeof *extension);
    put(c, payload, h->stored_bytes);
}

/* Writes the index of the event frames since the last one. */
static void put_index(struct vs_composer *c, const struct vs_index_extension *extension)
{
    unsigned char payload[sizeof c->index + sizeof c->entries];
    size_t entries = c->index.entries * sizeof *c->entries;
    c->index.events = vs_composer_events(c);
    c->index.strings = c->strings;
    c->index.stack_nodes = c->stack_nodes;
    memcpy(payload, &c->index, sizeof c->index);
    memcpy(payload + sizeof c->index, c->entries, entries);
    struct vs_frame_header h = {.type = VS_FRAME_INDEX,
                                .raw_bytes = (uint32_t)(sizeof c->index + entries),
                                .first_event = c->index.events, .base_ns = c->last_ns,
                                .last_ns = c->last_ns};
    uint64_t offset = c->offset;
    put_frame(c, &h, extension, payload);
    c->index.previous_offset = offset;
    c->index.entries = 0;
    c->index.first_sequence = 0;
}

void vs_composer_put_rows(struct vs_composer *c)
{
    if (c->cursor == c->rows)
        return;
    if (c->index.entries == VS_INDEX_ENTRIES_MAX)
        put_index(c, NULL);
    struct vs_frame_header h = {
        .type = VS_FRAME_EVENTS, .codec = VS_ZSTD, .raw_bytes = (uint32_t)(c->cursor - c->rows),
        .sequence = c->sequence, .first_event = c->first_event, .base_ns = c->base_ns,
        .last_ns = c->last_ns, .events = c->events, .definitions = c->definitions};
    if (!c->index.entries)
        c->index.first_sequence = c->sequence;
    c->entries[c->index.entries++] = (struct vs_index_entry){
        c->offset, c->first_event, c->base_ns, c->last_ns, c->events, c->definitions};
    put_frame(c, &h, NULL, c->rows);
    vs_composer_begin_rows(c);
}

void vs_composer_add(struct vs_composer *c, enum vs_frame_type type, const void *payload,
                     size_t bytes)
{
    vs_composer_put_rows(c);
    if (bytes > VS_FRAME_RAW_MAX || c->added_count == DIRECTORY_MAX) {
        vs_composer_fail(c, VS_ERR_LIMIT);
        return;
    }
    if (c->added_count == c->added_capacity) {
        size_t capacity = c->added_capacity ? 2 * c->added_capacity : 16;
        struct vs_directory_entry *larger = realloc(c->added, capacity * sizeof *larger);
        if (!larger) {
            vs_composer_fail(c, VS_ERR_NOMEM);
            return;
        }
        c->added = larger;
        c->added_capacity = capacity;
    }
    struct vs_frame_header h = {.type = (uint8_t)type, .codec = VS_ZSTD,
                                .raw_bytes = (uint32_t)bytes,
                                .first_event = vs_composer_events(c)};
    c->added[c->added_count++] = (struct vs_directory_entry){.type = type, .offset = c->offset};
    put_frame(c, &h, NULL, payload);
}

void vs_composer_put_tail(struct vs_composer *c)
{
    vs_composer_put_rows(c);
    struct vs_index_extension extension = {c->offset};
    struct vs_frame_header h = {
        .type = VS_FRAME_DIRECTORY,
        .raw_bytes = (uint32_t)(c->added_count * sizeof *c->added),
        .first_event = vs_composer_events(c), .base_ns = c->last_ns, .last_ns = c->last_ns};
    if (c->added_count)
        put_frame(c, &h, NULL, c->added);
    c->index.flags = VS_INDEX_FINAL;
    struct vs_trailer trailer = {.index_offset = c->offset, .magic = VS_END_MAGIC};
    put_index(c, c->added_count ? &extension : NULL);
    trailer.file_bytes = c->offset + sizeof trailer;
    vs_trailer_seal(&trailer);
    put(c, &trailer, sizeof trailer);
}
