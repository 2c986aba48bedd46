/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes the new file: copied and new frames, and the index over the event frames. The first
 * failure is stored in `err`; nothing is written after it, so that a caller may continue and check
 * once. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "trace/format/frame_seal.h"
#include "trace/read/rewrite_internal.h"

#define ADDED_SINCE_MINOR 3u /* minor version of version 1 that introduced the added frames */
#define LEVEL 3
#define COPY_BYTES ((size_t)1 << 20)
#define ENTRIES_MAX (VS_FRAME_RAW_MAX / sizeof(struct vs_directory_entry))

enum vs_err vs_rewrite_fail(struct vs_rewrite *w, enum vs_err err)
{
    if (!w->err) {
        w->err = err;
        w->error = errno;
    }
    return w->err;
}

/* Appends *bytes* to the new file. */
static enum vs_err put(struct vs_rewrite *w, const void *from, size_t bytes)
{
    const unsigned char *p = from;
    while (!w->err && bytes) {
        ssize_t n = write(w->fd, p, bytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            errno = n ? errno : ENOSPC;
            return vs_rewrite_fail(w, VS_ERR_IO);
        }
        p += n;
        bytes -= (size_t)n;
        w->offset += (uint64_t)n;
    }
    return w->err;
}

enum vs_err vs_rewrite_copy(struct vs_rewrite *w, uint64_t from, uint64_t to)
{
    unsigned char *part = malloc(COPY_BYTES);
    if (!part)
        return vs_rewrite_fail(w, VS_ERR_NOMEM);
    while (from < to && !w->err) {
        size_t want = to - from < COPY_BYTES ? (size_t)(to - from) : COPY_BYTES;
        size_t got = vs_source_read(&w->reader->file, from, part, want);
        if (!got) {
            errno = EIO;
            vs_rewrite_fail(w, VS_ERR_IO);
        }
        put(w, part, got);
        from += got;
    }
    free(part);
    return w->err;
}

enum vs_err vs_rewrite_put_frame(struct vs_rewrite *w, struct vs_frame_header *h,
                                 const struct vs_index_extension *extension, const void *payload)
{
    size_t n = 0;
    if (h->codec == VS_ZSTD) {
        n = ZSTD_compress(w->buffer, w->buffer_bytes, payload, h->raw_bytes, LEVEL);
        if (ZSTD_isError(n) || n >= h->raw_bytes)
            h->codec = VS_STORED;
        else
            payload = w->buffer;
    }
    h->stored_bytes = h->codec == VS_ZSTD ? (uint32_t)n : h->raw_bytes;
    vs_frame_seal(h, extension, payload);
    put(w, h, sizeof *h);
    put(w, extension, extension ? sizeof *extension : 0);
    return put(w, payload, h->stored_bytes);
}

enum vs_err vs_rewrite_put_header(struct vs_rewrite *w)
{
    struct vs_file_header header = w->reader->header;
    if (header.major == 1 && header.minor < ADDED_SINCE_MINOR)
        header.minor = ADDED_SINCE_MINOR;
    vs_header_seal(&header);
    put(w, &header, sizeof header);
    return vs_rewrite_copy(w, sizeof header, header.header_bytes);
}

/* Writes the index frame for the frames entered since the last one. */
static enum vs_err put_index(struct vs_rewrite *w, const struct vs_index_extension *extension)
{
    size_t entries = w->index.entries * sizeof *w->entries;
    unsigned char payload[sizeof w->index + sizeof w->entries];
    struct vs_frame_header h = {.type = VS_FRAME_INDEX,
                                .raw_bytes = (uint32_t)(sizeof w->index + entries),
                                .first_event = w->index.events,
                                .base_ns = w->last_ns,
                                .last_ns = w->last_ns};
    memcpy(payload, &w->index, sizeof w->index);
    memcpy(payload + sizeof w->index, w->entries, entries);
    uint64_t offset = w->offset;
    vs_rewrite_put_frame(w, &h, extension, payload);
    w->index.previous_offset = offset;
    w->index.entries = 0;
    w->index.first_sequence = 0;
    return w->err;
}

enum vs_err vs_rewrite_enter(struct vs_rewrite *w, const struct vs_frame_header *h, uint64_t offset)
{
    if (!w->index.entries)
        w->index.first_sequence = h->sequence;
    w->entries[w->index.entries++] = (struct vs_index_entry){
        offset, h->first_event, h->base_ns, h->last_ns, h->events, h->definitions};
    w->index.events = h->first_event + h->events;
    w->last_ns = h->last_ns;
    return w->err;
}

void vs_rewrite_make_room(struct vs_rewrite *w)
{
    if (w->index.entries == VS_INDEX_ENTRIES_MAX)
        put_index(w, NULL);
}

enum vs_err vs_rewrite_keep(struct vs_rewrite *w, const struct vs_directory_entry *entry)
{
    if (w->added_count == ENTRIES_MAX) {
        errno = EFBIG;
        return vs_rewrite_fail(w, VS_ERR_IO);
    }
    if (w->added_count == w->added_capacity) {
        size_t capacity = w->added_capacity ? 2 * w->added_capacity : 64;
        void *larger = realloc(w->added, capacity * sizeof *w->added);
        if (!larger)
            return vs_rewrite_fail(w, VS_ERR_NOMEM);
        w->added = larger;
        w->added_capacity = capacity;
    }
    w->added[w->added_count++] = *entry;
    return w->err;
}

enum vs_err vs_rewrite_put_tail(struct vs_rewrite *w)
{
    struct vs_index_extension extension = {w->offset};
    struct vs_frame_header h = {.type = VS_FRAME_DIRECTORY,
                                .raw_bytes = (uint32_t)(w->added_count * sizeof *w->added),
                                .first_event = w->index.events,
                                .base_ns = w->last_ns,
                                .last_ns = w->last_ns};
    if (w->added_count)
        vs_rewrite_put_frame(w, &h, NULL, w->added);
    w->index.flags = VS_INDEX_FINAL;
    struct vs_trailer trailer = {.index_offset = w->offset, .magic = VS_END_MAGIC};
    put_index(w, w->added_count ? &extension : NULL);
    trailer.file_bytes = w->offset + sizeof trailer;
    vs_trailer_seal(&trailer);
    return put(w, &trailer, sizeof trailer);
}
