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

/* Reserves *bytes* in *buffer*, and at least one, so that its pointer is valid. */
static bool reserve(unsigned char **buffer, size_t *capacity, size_t bytes)
{
    bytes = bytes ? bytes : 1;
    if (bytes <= *capacity)
        return true;
    unsigned char *larger = vs_xcalloc(1, bytes);
    free(*buffer);
    *buffer = larger;
    *capacity = bytes;
    return true;
}

/* Checks the frame header at the present offset. Returns NULL, or the problem: truncated (*cut is
 * set) or damaged. */
static const char *check_header(const struct vs_reader *r, const struct vs_frame_header *h,
                                size_t got, bool *cut)
{
    uint64_t left = r->file.size - r->offset;
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

/* Columns: decompresses, then restores the rows. */
static enum vs_err unpack_columns(struct vs_reader *r, const unsigned char *stored,
                                  const char **problem)
{
    uint32_t bytes = 0;
    size_t left = r->frame.stored_bytes - sizeof bytes;
    *problem = "has an impossible size";
    if (r->frame.stored_bytes < sizeof bytes)
        return VS_OK;
    memcpy(&bytes, stored, sizeof bytes);
    if (bytes > VS_FRAME_RAW_MAX + VS_COLUMNS_SLACK)
        return VS_OK;
    if (!r->joiner && !(r->joiner = vs_joiner_open()))
        return VS_ERR_NOMEM;
    if (!reserve(&r->columns, &r->columns_capacity, bytes))
        return VS_ERR_NOMEM;
    *problem = "cannot be decompressed";
    if (ZSTD_decompressDCtx(r->zstd, r->columns, bytes, stored + sizeof bytes, left) != bytes)
        return VS_OK;
    *problem = NULL;
    if (!vs_joiner_join(r->joiner, r->columns, bytes, r->raw, r->frame.raw_bytes))
        *problem = "has inconsistent columns";
    return VS_OK;
}

/* Unpacks the payload of r->frame into r->raw. Returns as vs_frame_read. */
static enum vs_err unpack(struct vs_reader *r, const unsigned char *stored, const char **problem)
{
    const struct vs_frame_header *h = &r->frame;
    if (h->codec == VS_STORED) {
        memcpy(r->raw, stored, h->raw_bytes);
        return VS_OK;
    }
    if (!r->zstd && !(r->zstd = ZSTD_createDCtx()))
        return VS_ERR_NOMEM;
    if (h->codec == VS_COLUMNS)
        return unpack_columns(r, stored, problem);
    if (ZSTD_decompressDCtx(r->zstd, r->raw, h->raw_bytes, stored, h->stored_bytes) !=
        h->raw_bytes)
        *problem = "cannot be decompressed";
    return VS_OK;
}

bool vs_frame_peek(const struct vs_reader *r, struct vs_frame_header *h)
{
    bool cut;
    if (r->offset >= r->file.size)
        return false;
    size_t got = vs_source_read(&r->file, r->offset, h, sizeof *h);
    return !check_header(r, h, got, &cut);
}

enum vs_err vs_frame_read(struct vs_reader *r, const char **problem, bool *cut)
{
    struct vs_frame_header h;
    size_t got = vs_source_read(&r->file, r->offset, &h, sizeof h);
    *problem = check_header(r, &h, got, cut);
    if (*problem)
        return VS_OK;
    size_t extra = h.header_bytes - sizeof h, rest = extra + h.stored_bytes;
    if (!reserve(&r->stored, &r->stored_capacity, rest) ||
        !reserve(&r->raw, &r->raw_capacity, h.raw_bytes + VS_JOIN_ROOM))
        return VS_ERR_NOMEM;
    if (vs_source_read(&r->file, r->offset + sizeof h, r->stored, rest) != rest) {
        *problem = "cannot be read";
        return VS_OK;
    }
    XXH64_state_t state;
    XXH64_reset(&state, 0);
    XXH64_update(&state, &h, offsetof(struct vs_frame_header, checksum));
    XXH64_update(&state, r->stored, rest);
    if (XXH64_digest(&state) != h.checksum) {
        *problem = "has a wrong checksum";
        return VS_OK;
    }
    r->frame = h;
    return unpack(r, r->stored + extra, problem);
}

static void begin_frame(struct vs_reader *r, const unsigned char *data, size_t bytes,
                        uint64_t base_ns)
{
    r->next = data;
    r->end = data + bytes;
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
    char events[VS_SIZE_TEXT_MAX], recovered[VS_SIZE_TEXT_MAX], at[VS_SIZE_TEXT_MAX];
    char ending[VS_ENDING_TEXT_MAX], readable[VS_ENDING_TEXT_MAX];
    vs_count_format(events, r->events);
    vs_count_format(recovered, r->events_recovered);
    vs_count_format(at, r->offset);
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
    begin_frame(r, data, bytes, base_ns);
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
    memcpy(&index, r->raw, sizeof index);
    return (index.flags & VS_INDEX_FINAL) &&
           vs_source_read(&r->file, r->offset, &trailer, sizeof trailer) == sizeof trailer &&
           !memcmp(trailer.magic, VS_END_MAGIC, VS_MAGIC_BYTES) &&
           trailer.checksum == XXH64(&trailer, offsetof(struct vs_trailer, checksum), 0) &&
           trailer.index_offset == r->frame_offset &&
           trailer.file_bytes == r->offset + sizeof trailer;
}

static void finish_complete(struct vs_reader *r)
{
    char events[VS_SIZE_TEXT_MAX], extra[VS_SIZE_TEXT_MAX], ending[VS_ENDING_TEXT_MAX];
    r->offset += sizeof(struct vs_trailer);
    vs_count_format(events, r->events);
    if (r->stopped)
        vs_reader_finish(r, VS_TRACE_COMPLETE, "%s: %s events", vs_reader_ending_text(r, ending),
                         events);
    else if (r->offset == r->file.size)
        vs_reader_finish(r, VS_TRACE_COMPLETE, "the trace is complete: %s events", events);
    else
        vs_reader_finish(r, VS_TRACE_COMPLETE,
                         "the trace is complete: %s events; the %s bytes after its end are ignored",
                         events, vs_count_format(extra, r->file.size - r->offset));
}

enum vs_err vs_frame_load(struct vs_reader *r)
{
    while (!r->frame_recovered) {
        const char *problem = NULL;
        bool cut = false;
        if (r->offset >= r->file.size)
            return load_recovered(r, NULL, false);
        enum vs_err err = vs_frame_read(r, &problem, &cut);
        if (err)
            return err;
        if (!problem && r->frame.type == VS_FRAME_EVENTS && r->frame.sequence != r->next_sequence)
            problem = "is out of order";
        if (!problem && r->frame.type == VS_FRAME_EVENTS && r->frame.base_ns < r->time_ns)
            problem = "goes back in time";
        if (problem)
            return load_recovered(r, problem, cut);
        r->frame_offset = r->offset;
        r->offset += (uint64_t)r->frame.header_bytes + r->frame.stored_bytes;
        if (r->frame.type == VS_FRAME_EVENTS) {
            begin_frame(r, r->raw, r->frame.raw_bytes, r->frame.base_ns);
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
