/* SPDX-License-Identifier: Apache-2.0
 *
 * The index is used only if all of it is consistent; a
 * list from headers ends where the reader would find a frame out of order, so that both give the
 * same frames. */
#include "trace/read/checkpoint.h"

#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/reading/vs_vec.h"
#include "trace/read/reader_internal.h"

static struct vs_frame_place *add_place(struct vs_frame_list *list)
{
    return vs_vec_push(&list->items, &list->count, &list->capacity, sizeof *list->items);
}

/* Whether *place* follows the end of the list. */
static bool follows(const struct vs_frame_list *list, const struct vs_frame_place *place)
{
    const struct vs_frame_place *before = list->count ? &list->items[list->count - 1] : NULL;
    if (place->last_ns < place->base_ns || place->events > UINT64_MAX - place->first_event)
        return false;
    if (!before)
        return place->sequence == 1 && place->first_event == 0;
    return place->sequence == before->sequence + 1 && place->offset > before->offset &&
           place->first_event == before->first_event + before->events &&
           place->base_ns >= before->last_ns;
}

static void scan(struct vs_frame_list *list, const struct vs_source *file, uint64_t offset)
{
    struct vs_frame_header h;
    for (bool cut; !vs_frame_header_read(file, offset, &h, &cut);) {
        if (h.type == VS_FRAME_EVENTS) {
            struct vs_frame_place place = {offset,    h.sequence, h.first_event, h.base_ns,
                                           h.last_ns, h.events,   h.definitions};
            if (!follows(list, &place))
                break;
            *add_place(list) = place;
        }
        offset += (uint64_t)h.header_bytes + h.stored_bytes;
    }
}

/* Adds the entries of one index frame, last one first; *previous* receives the offset of the index
 * frame before. */
static enum vs_err take_index(struct vs_frame_list *list, const unsigned char *payload,
                              size_t bytes, uint64_t offset, uint64_t *previous)
{
    struct vs_index_header index;
    if (bytes < sizeof index)
        return VS_ERR_CORRUPT;
    memcpy(&index, payload, sizeof index);
    if (index.entries > VS_INDEX_ENTRIES_MAX || index.previous_offset >= offset ||
        (bytes - sizeof index) / sizeof(struct vs_index_entry) < index.entries)
        return VS_ERR_CORRUPT;
    for (uint32_t i = index.entries; i-- > 0;) {
        struct vs_index_entry e;
        memcpy(&e, payload + sizeof index + i * sizeof e, sizeof e);
        *add_place(list) = (struct vs_frame_place){e.offset, index.first_sequence + i,
                                                   e.first_event, e.base_ns, e.last_ns, e.events,
                                                   e.definitions};
    }
    *previous = index.previous_offset;
    return VS_OK;
}

/* Reads back to front, as the index frames are linked, then reverses the list. */
static enum vs_err read_index(struct vs_frame_list *list, const struct vs_source *file,
                              uint64_t offset)
{
    size_t room = sizeof(struct vs_index_header) +
                  VS_INDEX_ENTRIES_MAX * sizeof(struct vs_index_entry) + 4096;
    unsigned char *payload = vs_xcalloc(1, room);
    struct vs_frame_scratch scratch = {0};
    enum vs_err err = VS_OK;
    while (!err && offset) {
        struct vs_frame_header h;
        err = vs_frame_payload(file, offset, &scratch, &h, payload, room);
        /* index frames are stored uncompressed: the file is at least as large as the memory for the
         * entries */
        if (!err && (h.type != VS_FRAME_INDEX || h.codec != VS_STORED))
            err = VS_ERR_CORRUPT;
        if (!err)
            err = take_index(list, payload, h.raw_bytes, offset, &offset);
        /* at most as many frames as the file has room for headers */
        if (!err && list->count > file->size / sizeof(struct vs_frame_header))
            err = VS_ERR_CORRUPT;
    }
    vs_frame_scratch_free(&scratch);
    free(payload);
    for (size_t i = 0; i < list->count / 2; i++) {
        struct vs_frame_place swap = list->items[i];
        list->items[i] = list->items[list->count - 1 - i];
        list->items[list->count - 1 - i] = swap;
    }
    return err;
}

static bool fits_together(struct vs_frame_list *list, uint64_t size)
{
    size_t count = list->count;
    bool good = true;
    for (list->count = 0; list->count < count && good; list->count++)
        good = follows(list, &list->items[list->count]) && list->items[list->count].offset < size;
    list->count = count;
    return good;
}

void vs_frame_list_load(struct vs_frame_list *list, const struct vs_source *file, uint64_t first)
{
    struct vs_trailer trailer;
    *list = (struct vs_frame_list){.loaded = true};
    if (vs_frame_has_trailer(file) &&
        vs_source_read(file, file->size - sizeof trailer, &trailer, sizeof trailer) ==
            sizeof trailer) {
        list->from_index = !read_index(list, file, trailer.index_offset) &&
                           fits_together(list, file->size);
        if (list->from_index)
            return;
        list->count = 0;
    }
    scan(list, file, first);
}

size_t vs_frame_list_event(const struct vs_frame_list *list, uint64_t event)
{
    size_t low = 0, high = list->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (list->items[middle].first_event + list->items[middle].events <= event)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint64_t vs_frame_list_fingerprint(const struct vs_frame_list *list, size_t count)
{
    XXH64_state_t state;
    XXH64_reset(&state, 0);
    for (size_t i = 0; i < count && i < list->count; i++) {
        const struct vs_frame_place *p = &list->items[i];
        const uint64_t numbers[] = {p->first_event, p->base_ns, p->last_ns, p->events};
        XXH64_update(&state, numbers, sizeof numbers);
    }
    return XXH64_digest(&state);
}

void vs_frame_list_free(struct vs_frame_list *list)
{
    free(list->items);
    *list = (struct vs_frame_list){0};
}
