/* SPDX-License-Identifier: Apache-2.0
 *
 * An entry is a byte with its kind and the distance to the previous event, then its
 * numbers as varints; it never crosses the end of a chunk, which is marked by a kind of its own. */
#define _GNU_SOURCE /* mkostemp */
#include "analysis/whatif/requests_reading.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/reading/vs_xalloc.h"
#include "base/vs_arena.h"
#include "base/vs_option.h"
#include "trace/format/format.h"

#define ENTRY_MAX 56      /* bytes of the longest entry: a byte, and five varints */
#define NEXT_CHUNK 15     /* a kind: the entries go on in the next chunk */
#define DISTANCE_FOLLOWS 15

void vs_request_store_init(struct vs_request_store *store)
{
    memset(store, 0, sizeof *store);
    store->file = -1;
}

void vs_request_store_free(struct vs_request_store *store)
{
    for (size_t i = 0; i < VS_REQUEST_CHUNKS_HELD; i++)
        vs_pages_unmap(store->held[i], VS_REQUEST_CHUNK);
    vs_pages_unmap(store->open, VS_REQUEST_CHUNK);
    if (store->file >= 0)
        close(store->file);
    vs_request_store_init(store);
}

/* --- writing --- */

/* Writes *chunk* to the file at *at*, or reads it from there. */
static enum vs_err move_chunk(int file, uint8_t *chunk, off_t at, bool writes)
{
    for (size_t done = 0; done < VS_REQUEST_CHUNK;) {
        off_t from = at + (off_t)done;
        ssize_t n = writes ? pwrite(file, chunk + done, VS_REQUEST_CHUNK - done, from)
                           : pread(file, chunk + done, VS_REQUEST_CHUNK - done, from);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return VS_ERR_IO;
        done += (size_t)n;
    }
    return VS_OK;
}

static enum vs_err put_away(struct vs_request_store *store)
{
    if (store->chunks < VS_REQUEST_CHUNKS_HELD) {
        store->held[store->chunks++] = store->open;
        store->open = NULL;
        return VS_OK;
    }
    if (store->file < 0) {
        const char *folder = vs_environment("TMPDIR");
        char path[4096];
        int length = snprintf(path, sizeof path, "%s/vramscope-replay-XXXXXX",
                              folder && *folder ? folder : "/var/tmp");
        bool fits = length > 0 && (size_t)length < sizeof path;
        if (!fits || (store->file = mkostemp(path, O_CLOEXEC)) < 0)
            return VS_ERR_IO;
        unlink(path);
    }
    off_t at = (off_t)((store->chunks - VS_REQUEST_CHUNKS_HELD) * VS_REQUEST_CHUNK);
    enum vs_err err = move_chunk(store->file, store->open, at, true);
    store->chunks += !err;
    return err;
}

/* False after a failure. */
static bool room(struct vs_request_store *store)
{
    if (store->err || (store->open && store->used + ENTRY_MAX + 1 <= VS_REQUEST_CHUNK))
        return !store->err;
    if (store->open) {
        store->open[store->used] = NEXT_CHUNK;
        store->err = put_away(store);
    }
    if (!store->open)
        store->open = vs_pages_map(VS_REQUEST_CHUNK);
    store->used = 0;
    if (!store->open)
        vs_out_of_memory();
    return !store->err;
}

static void put(struct vs_request_store *store, uint64_t value)
{
    store->used = (size_t)(vs_put_varint(store->open + store->used, value) - store->open);
}

void vs_request_add(struct vs_request_store *store, const struct vs_request_entry *entry)
{
    if (!room(store))
        return;
    uint64_t distance = entry->event - store->last_event;
    bool far = distance >= DISTANCE_FOLLOWS;
    store->open[store->used++] =
        (uint8_t)(entry->kind | (far ? DISTANCE_FOLLOWS : distance) << 4);
    if (far)
        put(store, distance);
    store->last_event = entry->event;
    switch (entry->kind) {
    case VS_REQUEST_ALLOC: put(store, entry->slot); __attribute__((fallthrough));
    case VS_REQUEST_FAILED:
        put(store, entry->bytes);
        put(store, entry->lane);
        put(store, entry->site);
        break;
    case VS_REQUEST_FREE: put(store, entry->slot); break;
    case VS_REQUEST_END:
    case VS_REQUEST_EMPTY:
    case VS_REQUEST_CONTEXT: break;
    default: put(store, entry->bytes);
    }
    store->entries++;
}

enum vs_err vs_request_store_seal(struct vs_request_store *store)
{
    struct vs_request_entry end = {.kind = VS_REQUEST_END, .event = store->last_event};
    vs_request_add(store, &end);
    store->entries--;
    return store->err ? store->err : put_away(store);
}

/* --- reading --- */

void vs_request_rewind(struct vs_request_cursor *cursor, const struct vs_request_store *store)
{
    cursor->store = store;
    cursor->chunk = 0;
    cursor->event = 0;
    cursor->at = NULL;
}

void vs_request_cursor_free(struct vs_request_cursor *cursor)
{
    vs_pages_unmap(cursor->buffer, VS_REQUEST_CHUNK);
    cursor->buffer = NULL;
}

static inline uint64_t get(const uint8_t **at)
{
    uint64_t value = 0;
    (void)vs_get_varint(at, *at + VS_VARINT_MAX, &value);
    return value;
}

enum vs_err vs_request_next(struct vs_request_cursor *cursor, struct vs_request_entry *out)
{
    while (!cursor->at || (*cursor->at & 15) == NEXT_CHUNK) {
        const struct vs_request_store *store = cursor->store;
        size_t chunk = cursor->chunk++;
        if (chunk < VS_REQUEST_CHUNKS_HELD) {
            cursor->at = store->held[chunk];
            continue;
        }
        if (!cursor->buffer && !(cursor->buffer = vs_pages_map(VS_REQUEST_CHUNK)))
            vs_out_of_memory();
        if (move_chunk(store->file, cursor->buffer,
                       (off_t)((chunk - VS_REQUEST_CHUNKS_HELD) * VS_REQUEST_CHUNK), false))
            return VS_ERR_IO;
        cursor->at = cursor->buffer;
    }
    const uint8_t *at = cursor->at;
    uint64_t distance = *at >> 4;
    out->kind = *at++ & 15;
    cursor->event += distance == DISTANCE_FOLLOWS ? get(&at) : distance;
    out->event = cursor->event;
    switch (out->kind) {
    case VS_REQUEST_ALLOC: out->slot = (uint32_t)get(&at); __attribute__((fallthrough));
    case VS_REQUEST_FAILED:
        out->bytes = get(&at);
        out->lane = (uint32_t)get(&at);
        out->site = (uint32_t)get(&at);
        break;
    case VS_REQUEST_FREE: out->slot = (uint32_t)get(&at); break;
    case VS_REQUEST_END: return VS_OK; /* read again by the next call */
    case VS_REQUEST_EMPTY:
    case VS_REQUEST_CONTEXT: break;
    default: out->bytes = get(&at);
    }
    cursor->at = at;
    return VS_OK;
}
