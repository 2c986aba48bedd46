/* SPDX-License-Identifier: Apache-2.0
 *
 * The present frame comes from FILE, or from the window of
 * FILE.live that will become that frame; a window is read in parts, as records are added. When
 * nothing is left and the recorder is gone, the rest is read as any unfinished trace (frame.c). */
#include "trace/read/follower.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/reading/vs_vec.h"
#include "base/vs_text.h"
#include "trace/read/reader_internal.h"

/* more memory for definitions as the trace grows: as in reader_open.c */
#define BUDGET_FACTOR 32u

enum follow_source { FOLLOW_NONE, FOLLOW_FILE, FOLLOW_WINDOW };

/* The decoder before a record. */
struct follow_place {
    struct vs_lane rows;
    uint64_t time_ns, last_address, last_t, strings_seen, nodes_seen;
    uint64_t events, events_recovered, events_unknown;
    uint32_t tid, frame_events;
};

/* Bytes of a frame that came from its window. */
struct follow_bytes {
    unsigned char *data;
    size_t used, capacity;
};

struct vs_follower {
    struct vs_reader *reader;
    struct vs_source live; /* fd -1: none */
    ino_t live_inode;
    struct vs_live_header header; /* as last read */
    bool header_good;
    uint64_t recorder;
    bool gone;  /* the recorder is gone */
    bool plain; /* the rest is read by the reader alone */
    bool again; /* the latest record has to be read again later */

    enum follow_source source; /* of the present frame, number reader->next_sequence - 1 */
    const unsigned char *start;  /* its first byte, in the window */
    uint64_t records, digest;    /* decoded of it in the window, and of their rows */
    struct follow_place before;  /* the decoder before it */
    uint64_t before_offset;
    struct follow_bytes window;  /* of the present frame: at least what was decoded of it */
    struct follow_bytes coming;  /* of the frame after it, until that begins */
};

static uint64_t value(const _Atomic uint64_t *p)
{
    return atomic_load_explicit(p, memory_order_relaxed);
}

static struct follow_place save(const struct vs_reader *r)
{
    return (struct follow_place){r->rows, r->time_ns, r->last_address, r->last_t,
                                 r->strings_seen, r->nodes_seen, r->events, r->events_recovered,
                                 r->events_unknown, r->tid, r->frame_events};
}

static void restore(struct vs_reader *r, const struct follow_place *p)
{
    vs_reader_point(r, p->rows.next, (size_t)(p->rows.end - p->rows.next), false);
    r->time_ns = p->time_ns;
    r->last_address = p->last_address;
    r->last_t = p->last_t;
    r->strings_seen = p->strings_seen;
    r->nodes_seen = p->nodes_seen;
    r->events = p->events;
    r->events_recovered = p->events_recovered;
    r->events_unknown = p->events_unknown;
    r->tid = p->tid;
    r->frame_events = p->frame_events;
    r->ended = r->end_seen = r->stopped = false;
}

/* --- FILE.live --- */

static bool read_live(const struct vs_follower *f, uint64_t at, void *to, size_t bytes)
{
    /* what is read after this is not older than what was read before */
    atomic_thread_fence(memory_order_acquire);
    return vs_source_read(&f->live, at, to, bytes) == bytes;
}

static void close_live(struct vs_follower *f)
{
    if (f->live.fd >= 0)
        close(f->live.fd);
    f->live.fd = -1;
    f->header_good = false;
}

/* Opens FILE.live, or the one that the recorder created in its place. A removed one stays open: it
 * may have the last events. */
static void open_live(struct vs_follower *f)
{
    struct stat st;
    struct vs_live_header header;
    const char *path = f->reader->live_path;
    if (!path || stat(path, &st) || !S_ISREG(st.st_mode) ||
        (f->live.fd >= 0 && st.st_ino == f->live_inode))
        return;
    struct vs_source found = {.fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK),
                              .size = (uint64_t)st.st_size};
    if (found.fd < 0)
        return;
    if (vs_source_read(&found, 0, &header, sizeof header) != sizeof header ||
        !vs_recovery_fits(&header, f->reader->header.uuid)) {
        close(found.fd);
        return;
    }
    close_live(f);
    f->live = found;
    f->live_inode = st.st_ino;
}

static void look_at_live(struct vs_follower *f)
{
    open_live(f);
    f->header_good = f->live.fd >= 0 && read_live(f, 0, &f->header, sizeof f->header) &&
                     vs_recovery_fits(&f->header, f->reader->header.uuid);
}

/* The window that becomes frame *sequence*, by the header as last read; windows when there is
 * none. An empty one is passed over: its number may be used again. */
static unsigned find_window(const struct vs_follower *f, uint64_t sequence)
{
    unsigned i = 0, count = f->header_good ? f->header.windows : 0;
    while (i < count && (value(&f->header.window[i].sequence) != sequence ||
                         !value(&f->header.window[i].used)))
        i++;
    return i < count ? i : VS_LIVE_WINDOWS_MAX;
}

static bool has_later_window(const struct vs_follower *f, uint64_t sequence)
{
    bool later = false;
    for (unsigned i = 0; f->header_good && i < f->header.windows; i++)
        later |= value(&f->header.window[i].sequence) > sequence;
    return later;
}

/* Appends to *to* what was added to window *i* of frame *sequence* since. The sequence is read
 * before `used`, and again after the bytes: the writer stores them in the opposite order. *added*
 * is false when there is nothing new, or the window is in use for another frame by now. */
static void copy_window(struct vs_follower *f, unsigned i, uint64_t sequence,
                        struct follow_bytes *to, bool *added, uint64_t *base_ns)
{
    struct vs_live_window now, again;
    uint64_t at = offsetof(struct vs_live_header, window) + i * sizeof now;
    *added = false;
    if (!read_live(f, at, &now, sizeof now) || value(&now.sequence) != sequence)
        return;
    uint64_t used = value(&now.used);
    if (used <= to->used || used > f->header.window_bytes)
        return;
    vs_vec_room(&to->data, &to->capacity, used, 1);
    uint64_t data = f->header.header_bytes + i * f->header.window_bytes + to->used;
    size_t bytes = used - to->used;
    if (!read_live(f, data, to->data + to->used, bytes) ||
        !read_live(f, at, &again, sizeof again) || value(&again.sequence) != sequence ||
        value(&again.used) < used)
        return;
    *base_ns = value(&again.base_ns);
    to->used = used;
    f->reader->table.budget += bytes * BUDGET_FACTOR;
    *added = true;
}

/* --- the present frame --- */

/* Bytes decoded of the window. */
static size_t consumed(const struct vs_follower *f)
{
    return (size_t)(f->reader->rows.next - f->start);
}

static void begin_frame(struct vs_follower *f, enum follow_source source, uint64_t base_ns)
{
    struct vs_reader *r = f->reader;
    const struct vs_frame_bytes *loaded = &r->loaded[r->slot];
    f->before = save(r);
    f->source = source;
    f->records = 0;
    f->digest = VS_TEXT_HASH_START;
    f->start = f->window.data;
    r->frame_recovered = source == FOLLOW_WINDOW;
    r->row_kinds = r->frame_recovered ? UINT64_MAX : 0;
    if (source == FOLLOW_WINDOW)
        vs_frame_begin(r, f->window.data, f->window.used, base_ns, false);
    else
        vs_frame_begin(r, loaded->data, loaded->bytes, base_ns, loaded->header.codec == VS_COLUMNS);
}

/* Back to before the present frame, which is read again. */
static void leave_frame(struct vs_follower *f)
{
    struct vs_reader *r = f->reader;
    restore(r, &f->before);
    r->offset = f->before_offset;
    r->next_sequence--;
    r->frame_recovered = false;
    vs_reader_point(r, NULL, 0, false);
    f->source = FOLLOW_NONE;
    f->window.used = 0;
}

static void look_at_file(struct vs_follower *f)
{
    struct vs_reader *r = f->reader;
    struct stat st;
    if (fstat(r->file.fd, &st))
        return;
    if ((uint64_t)st.st_size > r->file.size)
        r->table.budget += ((uint64_t)st.st_size - r->file.size) * BUDGET_FACTOR;
    r->file.size = (uint64_t)st.st_size;
}

/* Moves to frame *sequence* of FILE, past frames that were read from their windows. False when it
 * is not there yet. */
static bool find_in_file(struct vs_follower *f, uint64_t sequence)
{
    struct vs_reader *r = f->reader;
    struct vs_frame_header h;
    uint64_t passed = r->offset; /* frames of other types are passed with the event frame after */
    for (bool cut; r->offset < r->file.size && !vs_frame_header_read(&r->file, r->offset, &h, &cut);) {
        bool events = h.type == VS_FRAME_EVENTS;
        if (events && h.sequence == sequence)
            return true;
        if (events && h.sequence > sequence)
            break;
        r->offset += (uint64_t)h.header_bytes + h.stored_bytes;
        passed = events ? r->offset : passed;
    }
    r->offset = passed;
    return false;
}

/* Loads frame *sequence* from FILE. False when it is not there yet. */
static bool read_from_file(struct vs_follower *f, uint64_t sequence)
{
    struct vs_reader *r = f->reader;
    bool cut;
    if (!find_in_file(f, sequence) || vs_frame_read(r, &cut))
        return false;
    f->before_offset = r->frame_offset = r->offset;
    r->offset += (uint64_t)r->frame.header_bytes + r->frame.stored_bytes;
    return true;
}

/* Decodes the next record, and remembers it. */
static enum vs_err read_record(struct vs_follower *f, struct vs_event *event, enum vs_record *what)
{
    struct vs_reader *r = f->reader;
    enum vs_err err = vs_reader_record(r, event, what);
    if (err || !r->row_kinds)
        return err;
    f->records++;
    f->digest = vs_text_hash_bytes(f->digest, (const char *)r->row, r->row_bytes);
    return VS_OK;
}

/* The window of the present frame is in use for another one: FILE has the frame, and its records are
 * passed over up to the one that was decoded last. They must be the same. */
static enum vs_err move_to_file(struct vs_follower *f, bool *more)
{
    struct vs_reader *r = f->reader;
    struct vs_event event;
    enum vs_record what;
    uint64_t records = f->records, digest = f->digest;
    look_at_file(f);
    if (!read_from_file(f, r->next_sequence - 1))
        return VS_OK;
    restore(r, &f->before);
    r->next_sequence--;
    begin_frame(f, FOLLOW_FILE, r->frame.base_ns);
    r->row_kinds = UINT64_MAX;
    while (f->records < records)
        if (vs_reader_at_end(r) || read_record(f, &event, &what))
            return VS_ERR_STATE;
    r->row_kinds = 0;
    if (f->digest != digest)
        return VS_ERR_STATE;
    f->window.used = 0;
    *more = true;
    return VS_OK;
}

/* More of the present frame, from its window. *whole*: the frame has ended there. */
static enum vs_err extend(struct vs_follower *f, bool *more, bool *whole)
{
    uint64_t sequence = f->reader->next_sequence - 1, base_ns;
    size_t done = consumed(f);
    bool later = has_later_window(f, sequence); /* then its `used` no longer changes */
    unsigned i = find_window(f, sequence);
    *whole = false;
    if (i == VS_LIVE_WINDOWS_MAX)
        return move_to_file(f, more);
    copy_window(f, i, sequence, &f->window, more, &base_ns);
    f->start = f->window.data;
    vs_reader_point(f->reader, f->start + done, f->window.used - done, false);
    if (*more)
        return VS_OK;
    struct vs_live_window now;
    uint64_t at = offsetof(struct vs_live_header, window) + i * sizeof now;
    bool same = read_live(f, at, &now, sizeof now) && value(&now.sequence) == sequence &&
                value(&now.used) == f->window.used;
    *whole = same && later;
    return same ? VS_OK : move_to_file(f, more);
}

/* The next frame, from FILE or from its window. False: it is not there yet. */
static bool begin_next(struct vs_follower *f)
{
    struct vs_reader *r = f->reader;
    const struct vs_frame_header present = r->frame;
    uint64_t base_ns, frame_offset = r->frame_offset;
    bool added;
    look_at_file(f);
    f->before_offset = r->offset;
    if (read_from_file(f, r->next_sequence)) {
        if (r->frame.base_ns >= r->time_ns) {
            begin_frame(f, FOLLOW_FILE, r->frame.base_ns);
            return true;
        }
        r->offset = f->before_offset; /* times that go back are reported once the process is gone */
    }
    r->frame = present; /* also what a frame with inconsistent columns left */
    r->frame_offset = frame_offset;
    unsigned i = find_window(f, r->next_sequence);
    if (i == VS_LIVE_WINDOWS_MAX)
        return false;
    f->coming.used = 0; /* the present frame keeps its bytes: it may have to go on in FILE */
    copy_window(f, i, r->next_sequence, &f->coming, &added, &base_ns);
    if (!added || base_ns < r->time_ns)
        return false;
    struct follow_bytes before = f->window;
    f->window = f->coming;
    f->coming = before;
    begin_frame(f, FOLLOW_WINDOW, base_ns);
    return true;
}

/* Called at the end of the known bytes. *more*: there are new ones. */
static enum vs_err advance(struct vs_follower *f, bool *more)
{
    struct vs_reader *r = f->reader;
    bool whole = true;
    enum vs_err err = VS_OK;
    *more = false;
    if (f->source == FOLLOW_FILE && (r->frame_events != r->frame.events || vs_reader_left_over(r)))
        return VS_OK; /* reported by the reader */
    look_at_live(f);
    if (f->source == FOLLOW_WINDOW)
        err = extend(f, more, &whole);
    if (!err && !*more && whole)
        *more = begin_next(f);
    return err;
}

/* --- the end --- */

/* Whether the recorder was found to be gone just now: what it wrote last may not have been read. */
static bool is_gone_now(struct vs_follower *f)
{
    if (f->gone)
        return false;
    f->recorder = vs_reader_holder(f->reader->file.fd, f->live.fd);
    f->gone = !f->recorder;
    return f->gone;
}

/* The process is gone, and there are no more records where they were expected: the reader decides
 * how the trace ends. */
static void settle(struct vs_follower *f)
{
    struct vs_reader *r = f->reader;
    f->plain = true;
    look_at_file(f);
    find_in_file(f, r->next_sequence);
    if (f->live.fd >= 0) {
        struct stat st;
        if (!fstat(f->live.fd, &st))
            f->live.size = (uint64_t)st.st_size;
        vs_recovery_load(&r->recovery, &f->live, r->header.uuid);
    }
    vs_reader_find_outcome(r);
    if (r->outcome.kind == VS_OUTCOME_RECORDING) /* another trace of this name */
        r->outcome = r->recovery.outcome;
    if (f->source == FOLLOW_FILE && (r->frame_events != r->frame.events || vs_reader_left_over(r)))
        return; /* the reader finds the difference */
    r->frame_recovered = false;
    r->events_recovered = 0;
    r->row_kinds = 0;
    (void)!vs_frame_load(r); /* r->ended */
}

/* --- events --- */

/* A record could not be decoded: the window's last bytes are read again later. In FILE it is
 * damage, after which nothing follows, whether the process is gone or not. */
static enum vs_err retry_later(struct vs_follower *f, const struct follow_place *place)
{
    if (f->source != FOLLOW_WINDOW || f->gone) {
        f->gone = f->plain = true;
        return VS_ERR_END;
    }
    restore(f->reader, place);
    f->window.used = consumed(f);
    vs_reader_point(f->reader, place->rows.next, 0, false);
    f->again = true;
    return VS_OK;
}

/* An `end` that the process can take back stands alone in its frame. */
static bool may_be_taken_back(const struct vs_follower *f, const struct vs_event *event)
{
    return event->kind == VS_EVENT_end && event->end.reason != VS_END_STOPPED && !f->gone &&
           f->reader->frame_events == 1;
}

static enum vs_err next_record(struct vs_follower *f, struct vs_event *event, bool *found)
{
    struct follow_place place = save(f->reader);
    enum vs_record what;
    enum vs_err err = read_record(f, event, &what);
    *found = !err && what == VS_RECORD_IS_EVENT;
    if (err == VS_ERR_END)
        return retry_later(f, &place);
    return err;
}

/* The next event among the known bytes; *found* is false when they are used up. */
static enum vs_err next_known(struct vs_follower *f, struct vs_event *event, bool *found)
{
    struct vs_reader *r = f->reader;
    enum vs_err err = VS_OK;
    *found = f->again = false;
    while (!err && !*found && !f->again && !vs_reader_at_end(r))
        err = next_record(f, event, found);
    if (err || !*found || !may_be_taken_back(f, event))
        return err;
    leave_frame(f);
    *found = false;
    f->again = true;
    return VS_OK;
}

enum vs_err vs_follower_next(struct vs_follower *f, struct vs_event *event)
{
    while (!f->plain) {
        bool found, more = false;
        enum vs_err err = next_known(f, event, &found);
        if (err || found)
            return err;
        if (!f->again)
            err = advance(f, &more);
        if (err)
            return err;
        if (more || is_gone_now(f))
            continue;
        if (!f->gone)
            return VS_ERR_END;
        settle(f);
    }
    return vs_reader_next(f->reader, event);
}

enum vs_err vs_follower_open(const char *path, struct vs_follower **out, char *why)
{
    struct vs_follower *f = vs_xcalloc(1, sizeof *f);
    f->live.fd = -1;
    enum vs_err err = vs_reader_open(path, &f->reader, why);
    if (err) {
        free(f);
        return err;
    }
    struct vs_reader *r = f->reader;
    if (!r->live_path)
        r->live_path = vs_reader_live_path(path);
    open_live(f);
    f->recorder = vs_reader_holder(r->file.fd, f->live.fd);
    f->gone = f->plain = !f->recorder;
    if (!f->gone)
        vs_recovery_free(&r->recovery); /* windows are read as they are needed */
    *out = f;
    return VS_OK;
}

bool vs_follower_ended(const struct vs_follower *f)
{
    return f->plain && f->reader->ended;
}

struct vs_reader *vs_follower_reader(struct vs_follower *f)
{
    return f->reader;
}

uint64_t vs_follower_recorder(const struct vs_follower *f)
{
    return f->gone ? 0 : f->recorder;
}

void vs_follower_close(struct vs_follower *f)
{
    if (!f)
        return;
    close_live(f);
    vs_reader_close(f->reader);
    free(f->window.data);
    free(f->coming.data);
    free(f);
}
