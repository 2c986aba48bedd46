/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/output/frame_output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "base/reading/vs_vec.h"
#include "trace/format/format.h"

#define LEVEL 3
#define DIRECTORY_MAX (VS_FRAME_RAW_MAX / sizeof(struct vs_directory_entry))

enum vs_err vs_frame_output_fail(struct vs_frame_output *out, enum vs_err err)
{
    if (!out->err) {
        out->err = err;
        out->error = errno;
    }
    return out->err;
}

enum vs_err vs_frame_output_bytes(struct vs_frame_output *out, const void *from, size_t bytes)
{
    const unsigned char *p = from;
    while (!out->err && bytes) {
        ssize_t n = write(out->fd, p, bytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            errno = n ? errno : ENOSPC;
            return vs_frame_output_fail(out, VS_ERR_IO);
        }
        p += n;
        bytes -= (size_t)n;
        out->offset += (uint64_t)n;
    }
    return out->err;
}

/* The payload of *h* compressed, in h->stored_bytes; NULL if that makes it no smaller. */
static const void *pack(struct vs_frame_output *out, struct vs_frame_header *h, const void *payload)
{
    if (!out->packed) {
        out->packed_bytes = ZSTD_compressBound(VS_FRAME_RAW_MAX);
        out->packed = vs_xcalloc(1, out->packed_bytes);
    }
    size_t n = ZSTD_compress(out->packed, out->packed_bytes, payload, h->raw_bytes, LEVEL);
    if (ZSTD_isError(n) || n >= h->raw_bytes)
        return NULL;
    h->stored_bytes = (uint32_t)n;
    return out->packed;
}

enum vs_err vs_frame_output_put(struct vs_frame_output *out, struct vs_frame_header *h,
                                const struct vs_index_extension *extension, const void *payload)
{
    const void *packed = h->codec == VS_ZSTD ? pack(out, h, payload) : NULL;
    if (packed) {
        payload = packed;
    } else {
        h->codec = VS_STORED;
        h->stored_bytes = h->raw_bytes;
    }
    vs_frame_seal(h, extension, payload);
    vs_frame_output_bytes(out, h, sizeof *h);
    vs_frame_output_bytes(out, extension, extension ? sizeof *extension : 0);
    return vs_frame_output_bytes(out, payload, h->stored_bytes);
}

/* Writes the index of the event frames since the last one. */
static void put_index(struct vs_frame_output *out, const struct vs_index_extension *extension)
{
    size_t entries = out->index.entries * sizeof *out->entries;
    unsigned char payload[sizeof out->index + sizeof out->entries];
    struct vs_frame_header h = {.type = VS_FRAME_INDEX,
                                .raw_bytes = (uint32_t)(sizeof out->index + entries),
                                .first_event = out->index.events,
                                .base_ns = out->last_ns,
                                .last_ns = out->last_ns};
    memcpy(payload, &out->index, sizeof out->index);
    memcpy(payload + sizeof out->index, out->entries, entries);
    uint64_t offset = out->offset;
    vs_frame_output_put(out, &h, extension, payload);
    out->index.previous_offset = offset;
    out->index.entries = 0;
    out->index.first_sequence = 0;
}

enum vs_err vs_frame_output_room(struct vs_frame_output *out)
{
    if (out->index.entries == VS_INDEX_ENTRIES_MAX)
        put_index(out, NULL);
    return out->err;
}

enum vs_err vs_frame_output_enter(struct vs_frame_output *out, const struct vs_frame_header *h,
                                  uint64_t offset, uint64_t strings, uint64_t nodes)
{
    if (!out->index.entries)
        out->index.first_sequence = h->sequence;
    out->entries[out->index.entries++] = (struct vs_index_entry){
        offset, h->first_event, h->base_ns, h->last_ns, h->events, h->definitions};
    out->index.events = h->first_event + h->events;
    out->index.strings = strings;
    out->index.stack_nodes = nodes;
    out->last_ns = h->last_ns;
    return out->err;
}

enum vs_err vs_frame_output_keep(struct vs_frame_output *out, const struct vs_directory_entry *entry)
{
    if (out->added_count == DIRECTORY_MAX) {
        errno = EFBIG;
        return vs_frame_output_fail(out, VS_ERR_IO);
    }
    vs_vec_room(&out->added, &out->added_capacity, out->added_count + 1, sizeof *out->added);
    out->added[out->added_count++] = *entry;
    return out->err;
}

enum vs_err vs_frame_output_end(struct vs_frame_output *out)
{
    struct vs_index_extension extension = {out->offset};
    struct vs_frame_header h = {.type = VS_FRAME_DIRECTORY,
                                .raw_bytes = (uint32_t)(out->added_count * sizeof *out->added),
                                .first_event = out->index.events,
                                .base_ns = out->last_ns,
                                .last_ns = out->last_ns};
    if (out->added_count)
        vs_frame_output_put(out, &h, NULL, out->added);
    out->index.flags = VS_INDEX_FINAL;
    struct vs_trailer trailer = {.index_offset = out->offset, .magic = VS_END_MAGIC};
    put_index(out, out->added_count ? &extension : NULL);
    trailer.file_bytes = out->offset + sizeof trailer;
    vs_trailer_seal(&trailer);
    return vs_frame_output_bytes(out, &trailer, sizeof trailer);
}

uint64_t vs_frame_output_whole_bytes(const struct vs_frame_output *out)
{
    uint64_t bytes = out->offset + sizeof(struct vs_frame_header) + sizeof out->index +
                     out->index.entries * sizeof *out->entries + sizeof(struct vs_trailer);
    if (out->added_count)
        bytes += sizeof(struct vs_index_extension) + sizeof(struct vs_frame_header) +
                 out->added_count * sizeof *out->added;
    return bytes;
}

void vs_frame_output_free(struct vs_frame_output *out)
{
    free(out->packed);
    free(out->added);
}
