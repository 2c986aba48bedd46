/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies a trace that has an end, unchanged up to the frames that were added to it. Its index
 * frames stay valid, because nothing before them moves; added frames are copied after them, each
 * one checked. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/read/rewrite_internal.h"

/* The end of the last event or index frame before *limit*, found by the frames' headers. If they do
 * not lead there, 0 where the final index lists a later frame: then only the index can be used. */
static uint64_t end_of_events(const struct vs_rewrite *w, uint64_t limit)
{
    const struct vs_reader *r = w->reader;
    uint64_t at = r->header.header_bytes, end = at, known = w->out.index.previous_offset;
    struct vs_frame_header h;
    while (at < limit && vs_source_read(&r->file, at, &h, sizeof h) == sizeof h &&
           h.sync == VS_FRAME_SYNC && h.header_bytes >= sizeof h) {
        uint64_t next = at + h.header_bytes + h.stored_bytes;
        if (next > limit)
            break;
        at = next;
        if (h.type == VS_FRAME_EVENTS || h.type == VS_FRAME_INDEX)
            end = at;
    }
    if (w->out.index.entries && w->out.entries[w->out.index.entries - 1].offset > known)
        known = w->out.entries[w->out.index.entries - 1].offset;
    return at < limit && known >= at ? 0 : end;
}

/* Selects the usable entries: in increasing order, without overlap, of sound frames between *from*
 * and *to*. The others can be made again. Returns how many. */
static size_t sound_entries(const struct vs_rewrite *w, struct vs_directory_entry *entries,
                            size_t count, uint64_t from, uint64_t to)
{
    size_t kept = 0;
    uint64_t bytes;
    for (size_t i = 0; i < count; i++) {
        if (entries[i].offset < from || entries[i].offset >= to ||
            !vs_directory_check(&w->reader->file, &entries[i], &bytes) ||
            bytes > to - entries[i].offset)
            continue;
        from = entries[i].offset + bytes;
        entries[kept++] = entries[i];
    }
    return kept;
}

static enum vs_err copy_added(struct vs_rewrite *w, const struct vs_directory_entry *entry)
{
    uint64_t bytes;
    struct vs_directory_entry moved = *entry;
    if (!vs_directory_check(&w->reader->file, entry, &bytes))
        return w->out.err;
    moved.offset = w->out.offset;
    vs_rewrite_copy(w, entry->offset, entry->offset + bytes);
    return vs_frame_output_keep(&w->out, &moved);
}

/* Reads the final index into *w*. */
static bool take_index(struct vs_rewrite *w, struct vs_trailer *trailer)
{
    struct vs_frame_header header;
    unsigned char *rest;
    if (!vs_directory_final_index(&w->reader->file, trailer, &header, &rest))
        return false;
    const unsigned char *payload = rest + header.header_bytes - sizeof header;
    memcpy(&w->out.index, payload, sizeof w->out.index);
    bool sound = w->out.index.entries <= VS_INDEX_ENTRIES_MAX &&
                 header.raw_bytes >= sizeof w->out.index + w->out.index.entries * sizeof *w->out.entries;
    if (sound)
        memcpy(w->out.entries, payload + sizeof w->out.index, w->out.index.entries * sizeof *w->out.entries);
    w->out.last_ns = header.last_ns;
    free(rest);
    return sound;
}

enum vs_err vs_rewrite_copy_finished(struct vs_rewrite *w, unsigned leave_out)
{
    struct vs_reader *r = w->reader;
    struct vs_trailer trailer;
    struct vs_directory_entry *old = NULL;
    size_t count = 0;
    if (!take_index(w, &trailer))
        return vs_frame_output_fail(&w->out, VS_ERR_CORRUPT);
    enum vs_err err = vs_directory_load(&r->file, &old, &count);
    if (err && err != VS_ERR_CORRUPT) /* a damaged directory counts as none */
        return vs_frame_output_fail(&w->out, err);
    uint64_t newest = vs_recovery_newest(&r->recovery);
    w->keep_live = !r->recovery.found ||
                   (newest && newest >= w->out.index.first_sequence + w->out.index.entries);
    uint64_t end = end_of_events(w, trailer.index_offset), listed = count;
    count = sound_entries(w, old, count, end ? end : r->header.header_bytes, trailer.index_offset);
    if (count)
        end = old[0].offset;
    else if (!end || (!err && !listed))
        end = trailer.index_offset;
    vs_rewrite_put_header(w);
    vs_rewrite_copy(w, r->header.header_bytes, end);
    for (size_t i = 0; i < count && !w->out.err; i++) {
        if (old[i].type >= 32 || !(leave_out >> old[i].type & 1))
            copy_added(w, &old[i]);
    }
    free(old);
    return w->out.err;
}
