/* SPDX-License-Identifier: Apache-2.0
 *
 * From bytes to checked frames, and the decision on how a trace ends. Where the file has no further
 * good frame, the next one may still be in FILE.live: a process killed while its background thread
 * was writing leaves part of a frame in the file and the whole frame there. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>
#include <zstd.h>

#include "base/reading/vs_xalloc.h"
#include "base/vs_size.h"
#include "trace/format/columns.h"
#include "trace/read/reader_internal.h"

#define FRAME_HEADER_BYTES_MAX 4096u

size_t vs_source_read(const struct vs_source *source, uint64_t offset, void *to, size_t bytes)
{
    if (!bytes || offset >= source->size)
        return 0;
    if (bytes > source->size - offset)
        bytes = (size_t)(source->size - offset);
    if (source->fd < 0) {
        memcpy(to, source->bytes + offset, bytes);
        return bytes;
    }
    size_t done = 0;
    while (done < bytes) {
        ssize_t n = pread(source->fd, (char *)to + done, bytes - done, (off_t)(offset + done));
        if (n > 0)
            done += (size_t)n;
        else if (n == 0 || errno != EINTR)
            break;
    }
    return done;
}

bool vs_frame_has_trailer(const struct vs_source *file)
{
    struct vs_trailer trailer;
    if (file->size < sizeof trailer)
        return false;
    return vs_source_read(file, file->size - sizeof trailer, &trailer, sizeof trailer) ==
               sizeof trailer &&
           !memcmp(trailer.magic, VS_END_MAGIC, VS_MAGIC_BYTES) &&
           trailer.file_bytes == file->size &&
           trailer.checksum == XXH64(&trailer, offsetof(struct vs_trailer, checksum), 0);
}

/* Reserves *bytes* in *buffer*, and at least one, so that its pointer is valid; its contents are
 * lost. */
static void reserve(unsigned char **buffer, size_t *capacity, size_t bytes)
{
    bytes = bytes ? bytes : 1;
    if (bytes <= *capacity)
        return;
    free(*buffer);
    *buffer = vs_xcalloc(1, bytes);
    *capacity = bytes;
}

const char *vs_frame_header_read(const struct vs_source *file, uint64_t offset,
                                 struct vs_frame_header *h, bool *cut)
{
    uint64_t got = vs_source_read(file, offset, h, sizeof *h), left = file->size - offset;
    *cut = false;
    if (got < sizeof *h) {
        *cut = true;
        return "has an incomplete header";
    }
    if (!h->sync && !h->raw_bytes && !h->checksum) { /* the machine stopped before it was written */
        *cut = true;
        return "was never written (zeros)";
    }
    if (h->sync != VS_FRAME_SYNC || h->header_bytes < sizeof *h ||
        h->header_bytes > FRAME_HEADER_BYTES_MAX)
        return "does not start with a frame header";
    if (h->raw_bytes > VS_FRAME_RAW_MAX || h->stored_bytes > ZSTD_compressBound(VS_FRAME_RAW_MAX) ||
        h->codec > VS_COLUMNS || (h->codec == VS_STORED && h->stored_bytes != h->raw_bytes) ||
        (h->codec == VS_COLUMNS && h->type != VS_FRAME_EVENTS))
        return "has an impossible size";
    if (left < h->header_bytes || left - h->header_bytes < h->stored_bytes) {
        *cut = true;
        return "is incomplete";
    }
    return NULL;
}

const char *vs_frame_fetch(const struct vs_source *file, uint64_t offset,
                           struct vs_frame_scratch *scratch, struct vs_frame_header *h, bool *cut)
{
    const char *problem = vs_frame_header_read(file, offset, h, cut);
    if (problem)
        return problem;
    size_t rest = h->header_bytes - sizeof *h + h->stored_bytes;
    reserve(&scratch->stored, &scratch->capacity, rest);
    if (vs_source_read(file, offset + sizeof *h, scratch->stored, rest) != rest)
        return "cannot be read";
    XXH64_state_t state;
    XXH64_reset(&state, 0);
    XXH64_update(&state, h, offsetof(struct vs_frame_header, checksum));
    XXH64_update(&state, scratch->stored, rest);
    if (XXH64_digest(&state) != h->checksum)
        return "has a wrong checksum";
    return NULL;
}

const unsigned char *vs_frame_stored(const struct vs_frame_scratch *scratch,
                                     const struct vs_frame_header *h)
{
    return scratch->stored + h->header_bytes - sizeof *h;
}

/* Decompresses the *from_bytes* at *from*, which must give *bytes*. */
static bool decompress(struct vs_frame_scratch *scratch, void *to, size_t bytes, const void *from,
                       size_t from_bytes)
{
    if (!scratch->zstd && !(scratch->zstd = ZSTD_createDCtx()))
        vs_out_of_memory();
    return ZSTD_decompressDCtx(scratch->zstd, to, bytes, from, from_bytes) == bytes;
}

void vs_frame_scratch_free(struct vs_frame_scratch *scratch)
{
    free(scratch->stored);
    ZSTD_freeDCtx(scratch->zstd);
    *scratch = (struct vs_frame_scratch){0};
}

enum vs_err vs_frame_payload(const struct vs_source *file, uint64_t offset,
                             struct vs_frame_scratch *scratch, struct vs_frame_header *h,
                             void *raw, size_t room)
{
    bool cut;
    if (vs_frame_fetch(file, offset, scratch, h, &cut) || h->raw_bytes > room ||
        h->codec == VS_COLUMNS) /* only event frames use columns */
        return VS_ERR_CORRUPT;
    const unsigned char *stored = vs_frame_stored(scratch, h);
    if (h->codec == VS_STORED)
        memcpy(raw, stored, h->raw_bytes);
    else if (!decompress(scratch, raw, h->raw_bytes, stored, h->stored_bytes))
        return VS_ERR_CORRUPT;
    return VS_OK;
}

void vs_frame_unpack(const struct vs_source *file, uint64_t offset,
                     struct vs_frame_scratch *scratch, struct vs_frame_bytes *out)
{
    struct vs_frame_header *h = &out->header;
    uint32_t bytes;
    out->offset = offset;
    out->problem = vs_frame_fetch(file, offset, scratch, h, &out->cut);
    if (out->problem)
        return;
    const unsigned char *stored = vs_frame_stored(scratch, h);
    size_t left = h->stored_bytes;
    out->bytes = h->raw_bytes;
    if (h->codec == VS_COLUMNS) {
        if (left < sizeof bytes ||
            (memcpy(&bytes, stored, sizeof bytes), bytes > VS_FRAME_RAW_MAX + VS_COLUMNS_SLACK)) {
            out->problem = "has an impossible size";
            return;
        }
        out->bytes = bytes;
        stored += sizeof bytes;
        left -= sizeof bytes;
    }
    reserve(&out->data, &out->capacity, out->bytes);
    if (h->codec == VS_STORED)
        memcpy(out->data, stored, out->bytes);
    else if (!decompress(scratch, out->data, out->bytes, stored, left))
        out->problem = "cannot be decompressed";
}

const char *vs_frame_read(struct vs_reader *r, bool *cut)
{
    if (r->fixed[VS_COLUMN_HEADS] != &r->rows) /* the present frame ended; its columns are replaced */
        vs_reader_point(r, NULL, 0, false);
    const struct vs_frame_bytes *frame = vs_read_ahead_next(r);
    if (!frame) {
        vs_frame_unpack(&r->file, r->offset, &r->scratch, &r->loaded[r->slot]);
        frame = &r->loaded[r->slot];
    }
    *cut = frame->cut;
    if (frame->problem)
        return frame->problem;
    r->frame = frame->header;
    if (r->frame.codec != VS_COLUMNS)
        return NULL;
    if (!r->columns)
        r->columns = vs_xcalloc(1, sizeof *r->columns);
    return vs_columns_place(r->columns, frame->data, frame->bytes) ? NULL
                                                                   : "has inconsistent columns";
}

void vs_reader_point(struct vs_reader *r, const unsigned char *rows, size_t bytes, bool columns)
{
    r->rows = (struct vs_lane){rows, rows ? rows + bytes : NULL};
    for (unsigned i = 0; i < VS_COLUMNS_FIXED; i++)
        r->fixed[i] = columns ? &r->columns->fixed[i] : &r->rows;
    r->plan++;
}

void vs_frame_begin(struct vs_reader *r, const unsigned char *data, size_t bytes, uint64_t base_ns,
                    bool columns)
{
    vs_reader_point(r, data, bytes, columns);
    r->time_ns = r->last_t = base_ns;
    r->last_address = 0;
    r->tid = 0;
    r->frame_events = 0;
    r->next_sequence++;
}

/* Decides how the trace ends when the file has no more frames and FILE.live does not have the next
 * one. *problem*: the problem at r->offset, NULL at a clean end. */
static void finish_tail(struct vs_reader *r, const char *problem, bool cut)
{
    char ending[VS_ENDING_TEXT_MAX], readable[VS_ENDING_TEXT_MAX];
    const char *events = vs_count_text(r->events), *recovered = vs_count_text(r->events_recovered);
    const char *at = vs_count_text(r->offset);
    bool none = !r->events_recovered, all = !none && r->events_recovered == r->events;
    bool gap = vs_recovery_newest(&r->recovery) >= r->next_sequence, whole = !problem || cut;
    if (r->recovery.found && !gap && (whole || r->frame_recovered))
        vs_reader_finish(r, VS_TRACE_LIVE, "%s: %s events%s%s%s%s%s",
                         vs_reader_ending_text(r, ending), events,
                         none ? "" : all ? ", all" : ", the last ", none || all ? "" : recovered,
                         none ? "" : " recovered from ", none ? "" : r->path, none ? "" : ".live");
    else if (r->outcome.kind == VS_OUTCOME_RECORDING && !gap && whole)
        vs_reader_finish(r, VS_TRACE_LIVE, "%s: %s events so far",
                         vs_reader_ending_text(r, ending), events);
    else if (gap && whole)
        vs_reader_finish(r, VS_TRACE_TRUNCATED,
                         "the trace is cut off at byte %s, after %s events: %s.live has frame %llu "
                         "and later ones, but the frames between are missing",
                         at, events, r->path,
                         (unsigned long long)vs_recovery_oldest(&r->recovery, r->next_sequence));
    else if (problem && !cut)
        vs_reader_finish(r, VS_TRACE_DAMAGED,
                         "the trace is damaged: frame %llu at byte %s %s; %s",
                         (unsigned long long)r->next_sequence, at, problem,
                         vs_reader_readable_text(r, readable));
    else if (problem)
        vs_reader_finish(r, VS_TRACE_TRUNCATED,
                         "the trace is cut off: frame %llu at byte %s %s; %s",
                         (unsigned long long)r->next_sequence, at, problem,
                         vs_reader_readable_text(r, readable));
    else
        vs_reader_finish(r, VS_TRACE_TRUNCATED,
                         "the trace is cut off at byte %s, after %s events; %s.live with the rest is "
                         "missing",
                         at, events, r->path);
}

/* Makes *bytes* at *data*, which are not in the file, the present frame. */
static void begin_recovered(struct vs_reader *r, const unsigned char *data, size_t bytes,
                            uint64_t first_event, uint64_t base_ns)
{
    r->frame = (struct vs_frame_header){.sequence = r->next_sequence, .first_event = first_event};
    r->frame_offset = r->offset;
    r->frame_recovered = true;
    vs_frame_begin(r, data, bytes, base_ns, false);
}

/* Loads the counts, after the last window, if no events before them are missing. *whole*: FILE
 * ended properly. */
static bool load_counts(struct vs_reader *r, bool whole)
{
    size_t bytes;
    const unsigned char *records = NULL;
    if ((whole || r->frame_recovered) &&
        vs_recovery_newest(&r->recovery) < r->next_sequence)
        records = vs_recovered_counts_records(r, &bytes);
    if (!records)
        return false;
    r->counts_delivered = true;
    begin_recovered(r, records, bytes, r->events, r->time_ns);
    return true;
}

/* Continues in FILE.live. */
static enum vs_err load_recovered(struct vs_reader *r, const char *problem, bool cut)
{
    const struct vs_recovered_window *before =
        r->frame_recovered ? vs_recovery_find(&r->recovery, r->next_sequence - 1) : NULL;
    const struct vs_recovered_window *w = vs_recovery_find(&r->recovery, r->next_sequence);
    bool missing = before && before->cut;
    if (!w && !missing && load_counts(r, !problem || cut))
        return VS_OK;
    if (!w || w->base_ns < r->time_ns || missing) {
        finish_tail(r, problem, cut);
        return VS_ERR_END;
    }
    begin_recovered(r, w->data, w->used, w->first_event, w->base_ns);
    return VS_OK;
}

/* Called after an index frame was read. Returns true when it is the last frame of the trace. */
static bool is_complete(const struct vs_reader *r)
{
    struct vs_index_header index;
    struct vs_trailer trailer;
    if (r->frame.raw_bytes < sizeof index)
        return false;
    memcpy(&index, r->loaded[r->slot].data, sizeof index);
    return (index.flags & VS_INDEX_FINAL) &&
           vs_source_read(&r->file, r->offset, &trailer, sizeof trailer) == sizeof trailer &&
           !memcmp(trailer.magic, VS_END_MAGIC, VS_MAGIC_BYTES) &&
           trailer.checksum == XXH64(&trailer, offsetof(struct vs_trailer, checksum), 0) &&
           trailer.index_offset == r->frame_offset &&
           trailer.file_bytes == r->offset + sizeof trailer;
}

static void finish_complete(struct vs_reader *r)
{
    char ending[VS_ENDING_TEXT_MAX];
    r->offset += sizeof(struct vs_trailer);
    const char *events = vs_count_text(r->events);
    if (r->stopped)
        vs_reader_finish(r, VS_TRACE_COMPLETE, "%s: %s events", vs_reader_ending_text(r, ending),
                         events);
    else if (r->offset == r->file.size)
        vs_reader_finish(r, VS_TRACE_COMPLETE, "the trace is complete: %s events", events);
    else
        vs_reader_finish(r, VS_TRACE_COMPLETE,
                         "the trace is complete: %s events; the %s bytes after its end are ignored",
                         events, vs_count_text(r->file.size - r->offset));
}

enum vs_err vs_frame_load(struct vs_reader *r)
{
    while (!r->frame_recovered) {
        bool cut = false;
        if (r->offset >= r->file.size)
            return load_recovered(r, NULL, false);
        const char *problem = vs_frame_read(r, &cut);
        if (!problem && r->frame.type == VS_FRAME_EVENTS && r->frame.sequence != r->next_sequence)
            problem = "is out of order";
        if (!problem && r->frame.type == VS_FRAME_EVENTS && r->frame.base_ns < r->time_ns)
            problem = "goes back in time";
        if (problem)
            return load_recovered(r, problem, cut);
        r->frame_offset = r->offset;
        r->offset += (uint64_t)r->frame.header_bytes + r->frame.stored_bytes;
        if (r->frame.type == VS_FRAME_EVENTS) {
            vs_frame_begin(r, r->loaded[r->slot].data, r->loaded[r->slot].bytes, r->frame.base_ns,
                           r->frame.codec == VS_COLUMNS);
            return VS_OK;
        }
        if (r->frame.type == VS_FRAME_INDEX && is_complete(r)) {
            finish_complete(r);
            return VS_ERR_END;
        }
        /* other types are later additions, not needed for reading */
    }
    return load_recovered(r, NULL, false);
}
