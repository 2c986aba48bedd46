/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. Recording does not resume when there is space again: missed frees would show as
 * leaks. The end of the process tries once more, and makes the trace complete and small. */
#define _GNU_SOURCE
#include "trace/record/recorder_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/vs_log.h"
#include "base/vs_size.h"
#include "trace/record/live_guard.h"

/* records after which a frame is written where space is short */
#define SMALL_FRAME_BYTES ((size_t)4 << 10)
/* FILE.live may take one part in LIVE_SHARE of the free space */
#define LIVE_SHARE 4u

size_t vs_shortage_window_bytes(int fd, size_t wanted, size_t before)
{
    struct statvfs fs;
    /* some file systems do not report it; root has a reserve */
    if (fstatvfs(fd, &fs) || !fs.f_bavail)
        return wanted;
    uint64_t unit = fs.f_frsize ? fs.f_frsize : fs.f_bsize, share = fs.f_bavail / LIVE_SHARE;
    while (wanted >= VS_WINDOW_BYTES_LEAST && (before + VS_WINDOWS * wanted) / unit > share)
        wanted /= 2;
    return wanted >= VS_WINDOW_BYTES_LEAST ? wanted & ~(size_t)4095 : 0;
}

void vs_shortage_begin(struct vs_recorder *r)
{
    r->tight = true;
    r->frame_bytes = SMALL_FRAME_BYTES;
}

bool vs_shortage_has_room(const struct vs_recorder *r, size_t bytes)
{
    const struct vs_writer *w = &r->writer;
    struct rlimit limit;
    /* with the `end` event's frame, the index and the trailer */
    uint64_t need = bytes + sizeof(struct vs_frame_header) + VS_END_RECORD_BYTES_MAX +
                    sizeof(struct vs_frame_header) + sizeof(struct vs_index_header) +
                    ((size_t)w->index_entries + 2) * sizeof(struct vs_index_entry) +
                    sizeof(struct vs_trailer);
    if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur != RLIM_INFINITY &&
        w->offset + need > limit.rlim_cur) {
        errno = EFBIG;
        return false;
    }
    /* where this is not supported, the end may not fit */
    return !fallocate(w->fd, FALLOC_FL_KEEP_SIZE, (off_t)w->offset, (off_t)need) ||
           (errno != ENOSPC && errno != EDQUOT && errno != EFBIG);
}

/* Every frame and every window has room for it. */
static size_t encode_end(unsigned char *p, int error)
{
    return vs_encode_end(p, VS_END_STOPPED, (uint64_t)error);
}

/* FILE.live stays: everything recorded is in it or in FILE. */
static void end_in_window_locked(struct vs_recorder *r, int error)
{
    vs_window_seal_locked(r);
    struct vs_window *w = vs_window_newest_locked(r, VS_WINDOW_FULL);
    if (!w) { /* nothing waits: use the next window, which may be active already */
        if (!r->active && !vs_window_begin_free_locked(r))
            return;
        vs_window_publish_locked(r, r->cursor + encode_end(r->cursor, error));
        r->active->events++;
        vs_window_seal_locked(r);
        return;
    }
    w->used += encode_end(w->data + w->used, error);
    w->events++;
    r->events++;
    atomic_store_explicit(&w->live->used, w->used, memory_order_release);
}

/* The remaining windows are lost: the first of them becomes the last frame. Without an earlier
 * frame the kinds are not described, nor is the end's. */
static void end_in_file_locked(struct vs_recorder *r, int error)
{
    struct vs_window *w = vs_window_oldest_locked(r, VS_WINDOW_FULL);
    if (!w || !r->writer.last_ns)
        return;
    struct vs_packer *packer = r->writer.packer;
    r->tight = false; /* the reserved room is for this */
    r->writer.packer = NULL;
    w->used = encode_end(w->data, error);
    w->events = 1;
    w->definitions = 0;
    w->base_ns = w->last_ns = r->writer.last_ns;
    w->strings_after = r->writer.strings;
    w->nodes_after = r->writer.stack_nodes;
    r->finished = !vs_writer_append_window(r, w) && !vs_writer_finish(r);
    r->writer.packer = packer;
}

void vs_shortage_stop_locked(struct vs_recorder *r, int error)
{
    if (!r->failed && !r->short_of_room) {
        vs_writer_report_failed_locked(r, error);
        r->short_of_room = true;
        if (r->live_on_disk)
            end_in_window_locked(r, error);
        else if (r->writer.regular)
            end_in_file_locked(r, error);
    }
    vs_recorder_fail_locked(r, error);
}

/* The writer's part belongs to the background thread. */
void vs_shortage_stall_locked(struct vs_recorder *r, unsigned looks)
{
    char events[VS_SIZE_TEXT_MAX];
    if (r->failed || r->closed || r->leaving)
        return;
    vs_log(VS_LOG_ERROR,
           "cannot write %s: the disk has not responded for %u s; recording has stopped, the program "
           "continues; %s events are kept",
           r->path, looks / 10,
           vs_count_format(events, r->live_on_disk ? vs_window_events_locked(r) : r->file_events));
    r->stalled = true;
    if (r->live_on_disk)
        end_in_window_locked(r, ETIMEDOUT);
    vs_recorder_fail_locked(r, ETIMEDOUT);
}

bool vs_shortage_lost_locked(struct vs_recorder *r)
{
    if (!r->failed && vs_live_guard_lost(r->live_map)) {
        char events[VS_SIZE_TEXT_MAX];
        if (!r->short_of_room) /* already reported */
            vs_log(VS_LOG_ERROR,
                   "cannot write %s: the file was truncated, or its disk failed or is full; "
                   "recording has stopped, the program continues; %s events are kept",
                   r->live_path, vs_count_format(events, r->writer.events));
        vs_recorder_fail_locked(r, EIO);
    }
    return r->failed;
}

void vs_shortage_finish_locked(struct vs_recorder *r)
{
    if (!r->short_of_room || r->finished || !r->live_on_disk)
        return;
    struct vs_packer *packer = r->writer.packer;
    r->writer.packer = NULL; /* may need more stack than available, and its thread is gone */
    r->failed = false;
    vs_writer_drain_locked(r);
    r->finished = !r->failed && !vs_writer_finish(r);
    r->failed = true;
    r->writer.packer = packer;
}
