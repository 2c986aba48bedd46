/* SPDX-License-Identifier: Apache-2.0
 *
 * Definitions and events become rows (docs/internals/trace-format.md §3), by the table of events.
 * Texts and stack nodes are written once; they are found again by 64-bit hashes alone, as in the
 * recorder. */
#include "trace/compose/composer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/reading/vs_xalloc.h"
#include "base/vs_map.h"
#include "trace/format/format.h"
#include "trace/output/frame_output.h"

#define ROW_BYTES ((size_t)1 << 20) /* bytes of a frame before compression */

struct vs_composer {
    struct vs_frame_output out;

    /* the rows of the next event frame */
    unsigned char *rows, *cursor;
    uint32_t events, definitions;
    uint64_t sequence, first_event, base_ns;
    uint64_t last_ns, last_t, last_address;
    uint32_t last_tid;

    struct vs_map string_ids, node_ids; /* by the hash of the text, of the node */
    uint64_t strings, stack_nodes;
    uint32_t modules;
};

/* Starts the next event frame. */
static void begin_rows(struct vs_composer *c)
{
    c->first_event += c->events;
    c->sequence++;
    c->events = c->definitions = 0;
    c->base_ns = c->last_t = c->last_ns;
    c->last_address = 0;
    c->last_tid = 0;
    c->cursor = c->rows;
}

/* Writes the event frame, if it has rows, and starts the next. */
static void put_rows(struct vs_composer *c)
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
    begin_rows(c);
}

static void put_varint(struct vs_composer *c, uint64_t value)
{
    c->cursor = vs_put_varint(c->cursor, value);
}

/* Makes room for a record of *bytes*; false after a failure. */
static bool reserve(struct vs_composer *c, size_t bytes)
{
    if (!c->out.err && (size_t)(c->cursor - c->rows) + bytes > ROW_BYTES)
        put_rows(c);
    return !c->out.err;
}

static void put_text(struct vs_composer *c, const char *text, size_t length)
{
    put_varint(c, length);
    memcpy(c->cursor, text, length);
    c->cursor += length;
}

enum vs_err vs_composer_open(FILE *out, const struct vs_composer_start *start,
                             struct vs_composer **composer)
{
    struct vs_composer *c = vs_xcalloc(1, sizeof *c);
    c->out.fd = fileno(out);
    if (fflush(out)) /* what the caller wrote comes first */
        vs_frame_output_fail(&c->out, VS_ERR_IO);
    c->out.last_ns = c->last_ns = start->time_ns;
    /* an event or a definition may end a few bytes beyond its reserved room */
    c->rows = vs_xcalloc(1, ROW_BYTES + VS_EVENT_BYTES_MAX);
    begin_rows(c);
    struct vs_file_header header = {
        .magic = VS_FILE_MAGIC, .major = VS_FORMAT_MAJOR, .minor = VS_FORMAT_MINOR,
        .byte_order = VS_BYTE_ORDER, .created_realtime_ns = start->realtime_ns,
        .created_ns = start->time_ns, .header_bytes = sizeof header,
        .flags = VS_FILE_COUNTS_MODULES};
    memcpy(header.uuid, start->uuid, sizeof header.uuid);
    vs_header_seal(&header);
    vs_frame_output_bytes(&c->out, &header, sizeof header);
    if (c->out.err)
        return vs_composer_close(c);
    /* Describes every kind of event, so that other versions can read the trace. */
    for (uint32_t kind = 1; kind <= VS_EVENT_CODE_MAX; kind++) {
        const struct vs_event_info *info = vs_event_describe(kind);
        if (!info)
            continue;
        *c->cursor++ = VS_DEFINE_KIND;
        put_varint(c, kind);
        put_varint(c, info->field_count);
        for (unsigned i = 0; i < info->field_count; i++)
            *c->cursor++ = (unsigned char)info->fields[i].codec;
        put_text(c, info->name, strlen(info->name));
        for (unsigned i = 0; i < info->field_count; i++)
            put_text(c, info->fields[i].name, strlen(info->fields[i].name));
        c->definitions++;
    }
    *composer = c;
    return VS_OK;
}

static uint64_t key_of(uint64_t hash)
{
    return hash ? hash : 1; /* 0 is not a valid key of vs_map */
}

uint64_t vs_composer_string(struct vs_composer *c, const char *text, size_t length)
{
    if (!length)
        return 0;
    length = length < VS_STRING_MAX ? length : VS_STRING_MAX;
    uint64_t key = key_of(XXH3_64bits(text, length));
    const uint64_t *known = vs_map_get(&c->string_ids, key);
    if (known)
        return *known;
    if (!reserve(c, 1 + VS_VARINT_MAX + length))
        return 0;
    vs_xmap_put(&c->string_ids, key, c->strings + 1);
    *c->cursor++ = VS_DEFINE_STRING;
    put_text(c, text, length);
    c->definitions++;
    return ++c->strings;
}

/* *code*: the module + 1, 0 for none. */
static uint64_t define_node(struct vs_composer *c, uint64_t parent, uint64_t code, uint64_t offset)
{
    uint64_t identity[3] = {parent, offset, code};
    uint64_t key = key_of(XXH3_64bits(identity, sizeof identity));
    const uint64_t *known = vs_map_get(&c->node_ids, key);
    if (known)
        return *known;
    if (!reserve(c, VS_STACK_NODE_BYTES_MAX))
        return 0;
    uint64_t id = c->stack_nodes + 1;
    vs_xmap_put(&c->node_ids, key, id);
    *c->cursor++ = VS_DEFINE_STACK;
    put_varint(c, id - parent);
    put_varint(c, code);
    put_varint(c, offset);
    c->definitions++;
    return c->stack_nodes = id;
}

uint64_t vs_composer_node(struct vs_composer *c, uint64_t parent, uint32_t module, uint64_t offset)
{
    return define_node(c, parent, (uint64_t)module + 1, offset);
}

uint64_t vs_composer_more(struct vs_composer *c)
{
    return define_node(c, 0, 0, VS_STACK_MORE);
}

void vs_composer_event(struct vs_composer *c, const struct vs_event *event)
{
    const struct vs_event_info *info = vs_event_describe(event->kind);
    if (!info || !reserve(c, VS_EVENT_BYTES_MAX))
        return;
    uint64_t time_ns = event->time_ns > c->last_ns ? event->time_ns : c->last_ns;
    unsigned char *head = c->cursor++;
    *head = (unsigned char)event->kind;
    if (event->tid != c->last_tid) {
        *head |= VS_RECORD_TID;
        put_varint(c, event->tid);
        c->last_tid = event->tid;
    }
    if (time_ns == c->last_ns)
        *head |= VS_RECORD_SAME_TIME;
    else
        put_varint(c, time_ns - c->last_ns);
    c->last_ns = time_ns;
    for (unsigned i = 0; i < info->field_count; i++) {
        uint64_t value = event->fields[i];
        switch (info->fields[i].codec) {
        case VS_CODEC_S: put_varint(c, vs_zigzag(value)); break;
        case VS_CODEC_A:
            put_varint(c, vs_zigzag(value - c->last_address));
            c->last_address = value;
            break;
        case VS_CODEC_T:
            put_varint(c, vs_zigzag(value - c->last_t));
            c->last_t = value;
            break;
        default: put_varint(c, value);
        }
    }
    c->events++;
}

uint32_t vs_composer_module(struct vs_composer *c, uint64_t path, uint64_t function)
{
    struct vs_event event = {.kind = VS_EVENT_module,
                             .tid = c->last_tid,
                             .time_ns = c->last_ns,
                             .module = {.module = c->modules, .path = path, .function = function,
                                        .alive = 1}};
    vs_composer_event(c, &event);
    c->definitions++;
    return c->modules++;
}

uint64_t vs_composer_events(const struct vs_composer *c)
{
    return c->first_event + c->events;
}

void vs_composer_add(struct vs_composer *c, enum vs_frame_type type, const void *payload,
                     size_t bytes)
{
    put_rows(c);
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

enum vs_err vs_composer_close(struct vs_composer *c)
{
    if (!c)
        return VS_OK;
    if (!c->out.err)
        put_rows(c);
    if (!c->out.err)
        vs_frame_output_end(&c->out);
    enum vs_err err = c->out.err;
    int error = c->out.error;
    vs_map_free(&c->string_ids);
    vs_map_free(&c->node_ids);
    free(c->rows);
    vs_frame_output_free(&c->out);
    free(c);
    errno = error;
    return err;
}
