/* SPDX-License-Identifier: Apache-2.0
 *
 * A trace with an end is copied as it is up to what was added to it: its index frames stay
 * true, as nothing before them moves. One without an end is read to where it ends, frame
 * by frame; windows recovered from FILE.live become frames like the others. */
#define ADDED_SINCE_MINOR 3u /* of version 1: what this adds to a trace */
#define _GNU_SOURCE
#include "trace/rewrite.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>
#include <zstd.h>

#include "base/vs_link.h"
#include "trace/reader_internal.h"
#include "trace/replacement.h"

#define LEVEL 3
#define COPY_BYTES ((size_t)1 << 20)
#define ENTRIES_MAX (VS_FRAME_RAW_MAX / sizeof(struct vs_directory_entry))

struct vs_rewrite {
    struct vs_reader *reader;
    char *target, *temporary; /* owned */
    struct stat before; /* what is at *target*, when it is not the trace; no inode: nothing */
    bool in_place, keep_live; /* keep_live: FILE.live is not all in the new file */
    int fd;
    uint64_t offset;
    enum vs_err err; /* the first failure; errno of it in error */
    int error;
    unsigned char *buffer; /* a frame's payload as stored */
    size_t buffer_bytes;

    struct vs_index_header index; /* of the final index frame */
    struct vs_index_entry entries[VS_INDEX_ENTRIES_MAX];
    uint64_t last_ns, recovered, left_out;

    struct vs_directory_entry *added;
    size_t added_count, added_capacity;
};

static enum vs_err fail(struct vs_rewrite *w, enum vs_err err)
{
    if (!w->err) {
        w->err = err;
        w->error = errno;
    }
    return w->err;
}

/* --- bytes --- */

static enum vs_err put(struct vs_rewrite *w, const void *from, size_t bytes)
{
    const unsigned char *p = from;
    while (!w->err && bytes) {
        ssize_t n = write(w->fd, p, bytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            errno = n ? errno : ENOSPC;
            return fail(w, VS_ERR_IO);
        }
        p += n;
        bytes -= (size_t)n;
        w->offset += (uint64_t)n;
    }
    return w->err;
}

/* Bytes *from* … *to* of the old trace. */
static enum vs_err copy(struct vs_rewrite *w, uint64_t from, uint64_t to)
{
    unsigned char *part = malloc(COPY_BYTES);
    if (!part)
        return fail(w, VS_ERR_NOMEM);
    while (from < to && !w->err) {
        size_t want = to - from < COPY_BYTES ? (size_t)(to - from) : COPY_BYTES;
        size_t got = vs_source_read(&w->reader->file, from, part, want);
        if (!got) {
            errno = EIO;
            fail(w, VS_ERR_IO);
        }
        put(w, part, got);
        from += got;
    }
    free(part);
    return w->err;
}

/* A frame with *extension* (may be NULL) behind its header; the payload is stored already
 * when *h says so, else compressed here if that makes it smaller. */
static enum vs_err put_frame(struct vs_rewrite *w, struct vs_frame_header *h,
                             const struct vs_index_extension *extension, const void *payload)
{
    size_t extra = extension ? sizeof *extension : 0, n = 0;
    if (h->codec == VS_ZSTD) {
        n = ZSTD_compress(w->buffer, w->buffer_bytes, payload, h->raw_bytes, LEVEL);
        if (ZSTD_isError(n) || n >= h->raw_bytes)
            h->codec = VS_STORED;
        else
            payload = w->buffer;
    }
    h->sync = VS_FRAME_SYNC;
    h->header_bytes = (uint16_t)(sizeof *h + extra);
    h->stored_bytes = h->codec == VS_ZSTD ? (uint32_t)n : h->raw_bytes;
    XXH64_state_t state;
    XXH64_reset(&state, 0);
    XXH64_update(&state, h, offsetof(struct vs_frame_header, checksum));
    if (extra)
        XXH64_update(&state, extension, extra);
    XXH64_update(&state, payload, h->stored_bytes);
    h->checksum = XXH64_digest(&state);
    put(w, h, sizeof *h);
    put(w, extension, extra);
    return put(w, payload, h->stored_bytes);
}

static enum vs_err put_header(struct vs_rewrite *w)
{
    struct vs_file_header header = w->reader->header;
    if (header.major == 1 && header.minor < ADDED_SINCE_MINOR)
        header.minor = ADDED_SINCE_MINOR;
    header.checksum = XXH64(&header, offsetof(struct vs_file_header, checksum), 0);
    put(w, &header, sizeof header);
    return copy(w, sizeof header, header.header_bytes);
}

/* --- index --- */

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
    put_frame(w, &h, extension, payload);
    w->index.previous_offset = offset;
    w->index.entries = 0;
    w->index.first_sequence = 0;
    return w->err;
}

/* The event frame that begins at *offset* of the new file is in it. */
static enum vs_err enter(struct vs_rewrite *w, const struct vs_frame_header *h, uint64_t offset)
{
    if (!w->index.entries)
        w->index.first_sequence = h->sequence;
    w->entries[w->index.entries++] = (struct vs_index_entry){
        offset, h->first_event, h->base_ns, h->last_ns, h->events, h->definitions};
    w->index.events = h->first_event + h->events;
    w->last_ns = h->last_ns;
    return w->err;
}

/* Before each event frame but the first of a full index. */
static void make_room(struct vs_rewrite *w)
{
    if (w->index.entries == VS_INDEX_ENTRIES_MAX)
        put_index(w, NULL);
}

/* --- a trace without an end --- */

/* The frame that is being read: what it holds up to the last good record. */
struct present {
    struct vs_frame_header header;
    bool any, recovered;
    uint64_t offset, end; /* in the old file */
    const unsigned char *data; /* of a frame of the file, until the next one is read */
    size_t bytes, used; /* used: by records that are good */
    uint32_t events, definitions;
    uint64_t last_ns;
};

static void begin_present(struct present *p, const struct vs_reader *r)
{
    *p = (struct present){.header = r->frame,
                          .any = true,
                          .recovered = r->frame_recovered,
                          .offset = r->frame_offset,
                          .end = r->offset,
                          .data = r->next,
                          .bytes = (size_t)(r->end - r->next),
                          .last_ns = r->time_ns};
    if (p->recovered)
        p->header = (struct vs_frame_header){.type = VS_FRAME_EVENTS,
                                             .codec = VS_ZSTD,
                                             .sequence = r->frame.sequence,
                                             .first_event = r->events,
                                             .base_ns = r->time_ns,
                                             .last_ns = r->time_ns};
}

static void note_record(struct present *p, const struct vs_reader *r, enum vs_record what,
                        const struct vs_event *event)
{
    p->used = (size_t)(r->next - p->data);
    p->events = r->frame_events;
    p->last_ns = r->time_ns;
    p->definitions += what == VS_RECORD_IS_DEFINITION || event->kind == VS_EVENT_module;
}

/* Is the frame of the file what its header says? A window never is one yet. */
static bool is_whole(const struct present *p)
{
    return !p->recovered && p->used == p->bytes && p->events == p->header.events;
}

/* The frame with the good records alone. */
static enum vs_err put_good_records(struct vs_rewrite *w, struct present *p)
{
    struct vs_frame_header h = {.type = VS_FRAME_EVENTS,
                                .codec = VS_ZSTD,
                                .raw_bytes = (uint32_t)p->used,
                                .sequence = p->header.sequence,
                                .first_event = p->header.first_event,
                                .base_ns = p->header.base_ns,
                                .last_ns = p->last_ns,
                                .events = p->events,
                                .definitions = p->definitions};
    p->header = h;
    return put_frame(w, &p->header, NULL, p->data);
}

static enum vs_err put_present(struct vs_rewrite *w, struct present *p)
{
    if (!p->any || (!p->used && !is_whole(p)))
        return w->err;
    make_room(w);
    uint64_t offset = w->offset;
    w->recovered += p->recovered ? p->events : 0;
    if (is_whole(p))
        copy(w, p->offset, p->end);
    else
        put_good_records(w, p);
    enter(w, &p->header, offset);
    if (w->last_ns < p->last_ns) /* the header was not right; what follows must not go back */
        w->last_ns = p->last_ns;
    w->index.strings = w->reader->strings_seen;
    w->index.stack_nodes = w->reader->nodes_seen;
    return w->err;
}

/* The kinds are described at the start of every trace; a foreign one may lack it. */
static enum vs_err put_end_event(struct vs_rewrite *w)
{
    const struct vs_reader *r = w->reader;
    const struct vs_reader_kind *kind = &r->kinds[VS_EVENT_end];
    unsigned char record[2 + VS_KIND_FIELDS_MAX] = {VS_EVENT_end | VS_RECORD_SAME_TIME, VS_END_KILLED};
    if (r->fate.fate == VS_FATE_KILLED && r->fate.status < 0x80 && kind->field_count > 1) {
        record[1] = VS_END_SIGNAL;
        record[2] = (unsigned char)r->fate.status;
    }
    if (!kind->defined || !kind->field_count)
        return w->err;
    struct vs_frame_header h = {.type = VS_FRAME_EVENTS,
                                .raw_bytes = 1 + kind->field_count,
                                .sequence = w->index.entries
                                                ? w->index.first_sequence + w->index.entries
                                                : 1,
                                .first_event = w->index.events,
                                .base_ns = w->last_ns,
                                .last_ns = w->last_ns,
                                .events = 1};
    make_room(w);
    uint64_t offset = w->offset;
    put_frame(w, &h, NULL, record);
    return enter(w, &h, offset);
}

/* Is there anything but zeros from the present frame on, and not just the start of a frame that
 * the file ends in? */
static bool leaves_frames(const struct vs_reader *r)
{
    struct vs_frame_header h;
    uint64_t left = r->file.size - r->offset;
    unsigned char part[4096];
    if (left < sizeof h || vs_source_read(&r->file, r->offset, &h, sizeof h) != sizeof h)
        return false;
    if (h.sync == VS_FRAME_SYNC)
        return left - sizeof h >= h.stored_bytes;
    for (uint64_t at = r->offset; at < r->file.size; at += sizeof part) {
        size_t got = vs_source_read(&r->file, at, part, sizeof part);
        for (size_t i = 0; i < got; i++) {
            if (part[i])
                return true;
        }
    }
    return false;
}

/* What the new file lacks is only left out of a file beside the old one. *ended*: an `end` event
 * was read. */
static enum vs_err refuse_loss(struct vs_rewrite *w, bool ended, char *why)
{
    const struct vs_reader *r = w->reader;
    bool gap = vs_recovery_newest(&r->recovery) >= r->next_sequence;
    bool cut = r->condition == VS_TRACE_TRUNCATED && r->offset < r->file.size;
    bool behind = r->condition != VS_TRACE_DAMAGED && !r->frame_recovered &&
                  r->offset < r->file.size && leaves_frames(r);
    if (r->condition == VS_TRACE_DAMAGED || cut || behind)
        w->left_out = r->file.size - r->offset;
    bool alone = r->condition == VS_TRACE_TRUNCATED && !r->recovery.found && !ended;
    w->keep_live = gap || !r->recovery.found;
    if (!w->in_place || (!w->left_out && !gap && !alone))
        return VS_OK;
    if (alone && !w->left_out)
        snprintf(why, VS_READER_WHY_MAX,
                 "%.300s: has no end, and FILE.live with the rest is not beside it; put it there, or "
                 "write what is in the file elsewhere with -o", r->path);
    else if (w->left_out)
        snprintf(why, VS_READER_WHY_MAX,
                 "%.300s: is %s at byte %llu, and writing it anew would drop the %llu bytes from "
                 "there on; to write elsewhere what can be read: vramscope recover -o FILE",
                 r->path, r->condition == VS_TRACE_DAMAGED ? "damaged" : "cut off",
                 (unsigned long long)r->offset, (unsigned long long)w->left_out);
    else
        snprintf(why, VS_READER_WHY_MAX,
                 "%.300s: lacks what lies before FILE.live, and writing it anew would drop what "
                 "FILE.live holds; to write elsewhere: vramscope recover -o FILE", r->path);
    return fail(w, VS_ERR_CORRUPT);
}

static enum vs_err copy_unfinished(struct vs_rewrite *w, char *why)
{
    struct vs_reader *r = w->reader;
    struct present present = {0};
    struct vs_event event;
    enum vs_record what;
    enum vs_err err;
    bool ended = false;
    w->last_ns = r->header.created_ns;
    put_header(w);
    while (!w->err && !(err = vs_reader_record(r, &event, &what))) {
        if (what != VS_RECORD_IS_FRAME) {
            note_record(&present, r, what, &event);
            ended = what == VS_RECORD_IS_EVENT && event.kind == VS_EVENT_end;
            continue;
        }
        put_present(w, &present);
        begin_present(&present, r);
    }
    if (w->err)
        return w->err;
    if (err != VS_ERR_END)
        return fail(w, err);
    if (refuse_loss(w, ended, why))
        return w->err;
    put_present(w, &present);
    return ended ? w->err : put_end_event(w);
}

/* --- a trace with an end --- */

static enum vs_err keep(struct vs_rewrite *w, const struct vs_directory_entry *entry)
{
    if (w->added_count == ENTRIES_MAX) {
        errno = EFBIG;
        return fail(w, VS_ERR_IO);
    }
    if (w->added_count == w->added_capacity) {
        size_t capacity = w->added_capacity ? 2 * w->added_capacity : 64;
        void *larger = realloc(w->added, capacity * sizeof *w->added);
        if (!larger)
            return fail(w, VS_ERR_NOMEM);
        w->added = larger;
        w->added_capacity = capacity;
    }
    w->added[w->added_count++] = *entry;
    return w->err;
}

/* The end of the last event or index frame before *limit*, by the frames' headers. Where they do
 * not lead there, 0 if the final index knows of a frame behind: what it says is then all there
 * is to go by. */
static uint64_t end_of_events(const struct vs_rewrite *w, uint64_t limit)
{
    const struct vs_reader *r = w->reader;
    uint64_t at = r->header.header_bytes, end = at, known = w->index.previous_offset;
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
    if (w->index.entries && w->entries[w->index.entries - 1].offset > known)
        known = w->entries[w->index.entries - 1].offset;
    return at < limit && known >= at ? 0 : end;
}

/* The entries that may be believed: in rising order, one after the other, of sound frames between
 * *from* and *to*. The others can be made again. Gives how many. */
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
        return w->err;
    moved.offset = w->offset;
    copy(w, entry->offset, entry->offset + bytes);
    return keep(w, &moved);
}

/* The final index into *w*. */
static bool take_index(struct vs_rewrite *w, struct vs_trailer *trailer)
{
    struct vs_frame_header header;
    unsigned char *rest;
    if (!vs_directory_final_index(&w->reader->file, trailer, &header, &rest))
        return false;
    const unsigned char *payload = rest + header.header_bytes - sizeof header;
    memcpy(&w->index, payload, sizeof w->index);
    bool sound = w->index.entries <= VS_INDEX_ENTRIES_MAX &&
                 header.raw_bytes >= sizeof w->index + w->index.entries * sizeof *w->entries;
    if (sound)
        memcpy(w->entries, payload + sizeof w->index, w->index.entries * sizeof *w->entries);
    w->last_ns = header.last_ns;
    free(rest);
    return sound;
}

static enum vs_err copy_finished(struct vs_rewrite *w, unsigned leave_out)
{
    struct vs_reader *r = w->reader;
    struct vs_trailer trailer;
    struct vs_directory_entry *old = NULL;
    size_t count = 0;
    if (!take_index(w, &trailer))
        return fail(w, VS_ERR_CORRUPT);
    enum vs_err err = vs_directory_load(&r->file, &old, &count);
    if (err && err != VS_ERR_CORRUPT) /* a damaged one is none */
        return fail(w, err);
    uint64_t newest = vs_recovery_newest(&r->recovery);
    w->keep_live = !r->recovery.found ||
                   (newest && newest >= w->index.first_sequence + w->index.entries);
    uint64_t end = end_of_events(w, trailer.index_offset), listed = count;
    count = sound_entries(w, old, count, end ? end : r->header.header_bytes, trailer.index_offset);
    if (count)
        end = old[0].offset;
    else if (!end || (!err && !listed))
        end = trailer.index_offset;
    put_header(w);
    copy(w, r->header.header_bytes, end);
    for (size_t i = 0; i < count && !w->err; i++) {
        if (old[i].type >= 32 || !(leave_out >> old[i].type & 1))
            copy_added(w, &old[i]);
    }
    free(old);
    return w->err;
}

/* --- open, add, commit --- */

static void say(const struct vs_rewrite *w, char *why)
{
    if (w->err == VS_ERR_IO)
        snprintf(why, VS_READER_WHY_MAX, "%.400s: cannot be written: %s%s", w->target,
                 strerror(w->error),
                 w->error == ENOSPC ? "; make room there, or write elsewhere: vramscope recover -o FILE" : "");
    else
        snprintf(why, VS_READER_WHY_MAX, "%.400s: cannot be written anew: %s", w->target,
                 vs_err_text(w->err));
}

static void refuse_owner(struct vs_rewrite *w, char *why)
{
    snprintf(why, VS_READER_WHY_MAX,
             "%.400s: belongs to another user, and written anew it would not; write elsewhere "
             "with -o", w->target);
    fail(w, VS_ERR_STATE);
}

static enum vs_err begin(struct vs_rewrite *w, unsigned leave_out, char *why)
{
    w->buffer_bytes = ZSTD_compressBound(VS_FRAME_RAW_MAX);
    w->buffer = malloc(w->buffer_bytes);
    if (!w->target || !w->buffer)
        fail(w, VS_ERR_NOMEM);
    else if ((w->fd = vs_replacement_make(w->target, &w->temporary)) < 0)
        fail(w, VS_ERR_IO);
    else if (!vs_replacement_like(w->fd, &w->reader->file, w->in_place))
        refuse_owner(w, why);
    else if (vs_frame_has_trailer(&w->reader->file) && !(leave_out & VS_REWRITE_READABLE))
        copy_finished(w, leave_out);
    else
        copy_unfinished(w, why);
    if (w->err && !*why)
        say(w, why);
    return w->err;
}

static bool is_same(const char *path, const char *to)
{
    struct stat a, b;
    return !stat(path, &a) && !stat(to, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* Where links lead. */
static char *choose_target(const char *path, const char *to, bool in_place)
{
    char *target = in_place ? realpath(path, NULL) : malloc(PATH_MAX);
    if (target && !in_place &&
        (snprintf(target, PATH_MAX, "%s", to) >= PATH_MAX || !vs_link_follow(target, PATH_MAX))) {
        free(target);
        target = strdup(to);
    }
    return target;
}

/* Says by whom *path* is being recorded; false when by nobody. */
static bool is_recorded(const char *path, char *why)
{
    char who[VS_RECORDER_TEXT_MAX];
    uint64_t recorder = vs_reader_recorded_by(path);
    if (recorder)
        snprintf(why, VS_READER_WHY_MAX, "%.400s: is being recorded by %s; wait for its end", path,
                 vs_reader_recorder_text(who, recorder));
    return recorder != 0;
}

enum vs_err vs_rewrite_open(const char *path, const char *to, unsigned leave_out,
                            struct vs_rewrite **out, char *why)
{
    char ignored[VS_READER_WHY_MAX];
    why = why ? why : ignored;
    *why = 0;
    if (is_recorded(path, why))
        return VS_ERR_STATE;
    struct vs_rewrite *w = calloc(1, sizeof *w);
    if (!w)
        return VS_ERR_NOMEM;
    w->fd = -1;
    w->in_place = !to || is_same(path, to);
    w->target = choose_target(path, to, w->in_place);
    if (!w->target || lstat(w->target, &w->before))
        w->before.st_ino = 0;
    enum vs_err err = vs_reader_open(path, &w->reader, why);
    if (!err)
        err = begin(w, leave_out, why);
    if (err) {
        vs_rewrite_cancel(w);
        return err;
    }
    *out = w;
    return VS_OK;
}

enum vs_err vs_rewrite_add(struct vs_rewrite *w, enum vs_frame_type type, uint64_t time_ns,
                           uint64_t sequence, const void *payload, size_t bytes)
{
    if (bytes > VS_FRAME_RAW_MAX)
        return fail(w, VS_ERR_LIMIT);
    struct vs_frame_header h = {.type = (uint8_t)type,
                                .codec = VS_ZSTD,
                                .raw_bytes = (uint32_t)bytes,
                                .first_event = w->index.events,
                                .base_ns = time_ns,
                                .last_ns = time_ns};
    struct vs_directory_entry entry = {
        .type = (uint32_t)type, .offset = w->offset, .time_ns = time_ns, .sequence = sequence};
    if (!put_frame(w, &h, NULL, payload))
        keep(w, &entry);
    return w->err;
}

static enum vs_err put_tail(struct vs_rewrite *w)
{
    struct vs_index_extension extension = {w->offset};
    struct vs_frame_header h = {.type = VS_FRAME_DIRECTORY,
                                .raw_bytes = (uint32_t)(w->added_count * sizeof *w->added),
                                .first_event = w->index.events,
                                .base_ns = w->last_ns,
                                .last_ns = w->last_ns};
    if (w->added_count)
        put_frame(w, &h, NULL, w->added);
    w->index.flags = VS_INDEX_FINAL;
    struct vs_trailer trailer = {.index_offset = w->offset, .magic = VS_END_MAGIC};
    put_index(w, w->added_count ? &extension : NULL);
    trailer.file_bytes = w->offset + sizeof trailer;
    trailer.checksum = XXH64(&trailer, offsetof(struct vs_trailer, checksum), 0);
    return put(w, &trailer, sizeof trailer);
}

static void remove_live(const struct vs_rewrite *w)
{
    if (w->in_place && !w->keep_live && w->reader->live_path)
        unlink(w->reader->live_path);
}

/* What is at *target*, which is not the trace, is what was there when this began. */
static bool is_as_before(const struct vs_rewrite *w)
{
    struct stat now;
    if (lstat(w->target, &now))
        return errno == ENOENT;
    return now.st_ino == w->before.st_ino && now.st_dev == w->before.st_dev &&
           now.st_size == w->before.st_size;
}

/* The rename must not cost what came to be there meanwhile. */
static void check_unchanged(struct vs_rewrite *w, char *why)
{
    bool same = w->in_place ? vs_replacement_same(w->target, &w->reader->file) : is_as_before(w);
    if (is_recorded(w->target, why)) {
        fail(w, VS_ERR_STATE);
    } else if (!same) {
        snprintf(why, VS_READER_WHY_MAX,
                 "%.400s: was changed or replaced meanwhile; it is left as it is now", w->target);
        fail(w, VS_ERR_STATE);
    }
}

enum vs_err vs_rewrite_commit(struct vs_rewrite *w, char *why)
{
    char said[VS_READER_WHY_MAX] = "";
    put_tail(w);
    if (!w->err && fsync(w->fd) && errno != EINVAL)
        fail(w, VS_ERR_IO);
    if (!w->err)
        check_unchanged(w, said);
    if (!w->err && rename(w->temporary, w->target))
        fail(w, VS_ERR_IO);
    enum vs_err err = w->err;
    if (err) {
        if (!*said)
            say(w, said);
        if (why)
            memcpy(why, said, sizeof said);
    } else {
        vs_replacement_forget();
        free(w->temporary);
        w->temporary = NULL;
        remove_live(w);
    }
    vs_rewrite_cancel(w);
    return err;
}

void vs_rewrite_cancel(struct vs_rewrite *w)
{
    if (!w)
        return;
    if (w->fd >= 0)
        close(w->fd);
    if (w->temporary) {
        unlink(w->temporary);
        vs_replacement_forget();
    }
    vs_reader_close(w->reader);
    free(w->target);
    free(w->temporary);
    free(w->buffer);
    free(w->added);
    free(w);
}

uint64_t vs_rewrite_bytes(const struct vs_rewrite *w)
{
    return w->offset;
}

uint64_t vs_rewrite_whole_bytes(const struct vs_rewrite *w)
{
    uint64_t bytes = w->offset + sizeof(struct vs_frame_header) + sizeof w->index +
                     w->index.entries * sizeof *w->entries + sizeof(struct vs_trailer);
    if (w->added_count)
        bytes += sizeof(struct vs_index_extension) + sizeof(struct vs_frame_header) +
                 w->added_count * sizeof *w->added;
    return bytes;
}

uint64_t vs_rewrite_recovered(const struct vs_rewrite *w)
{
    return w->recovered;
}

uint64_t vs_rewrite_left_out(const struct vs_rewrite *w)
{
    return w->left_out;
}
