/* SPDX-License-Identifier: Apache-2.0
 *
 * The live window: a shared mapping of FILE.live into which events are encoded. The kernel keeps
 * its pages when the process is killed, so no published record is lost. Each window names the frame
 * it will become (`sequence`); a reader uses the window while that frame is not in the trace, and
 * ignores it afterwards, so that freeing a window needs no write at all.
 *
 * Invariants: windows become full, are written and become free in the order of their sequence;
 * `used` covers whole records only. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/vs_cancel.h"
#include "base/vs_clock.h"
#include "base/vs_log.h"
#include "base/vs_signal_guard.h"
#include "trace/format/format.h"
#include "trace/record/live_counts.h"
#include "trace/record/live_guard.h"
#include "trace/record/own_file.h"
#include "trace/record/recorder_internal.h"

/* Where the windows begin. */
static size_t windows_at(const struct vs_recorder *r)
{
    return VS_LIVE_HEADER_BYTES + vs_live_counts_bytes(r);
}

static size_t map_bytes(const struct vs_recorder *r)
{
    return windows_at(r) + VS_WINDOWS * r->window_bytes;
}

/* posix_fallocate, also where a sandbox forbids it or signals interrupt it repeatedly: written
 * ranges have their blocks as well. 0 or an errno. */
static int reserve_blocks(int fd, size_t bytes)
{
    static const char zeros[4096];
    int failure = posix_fallocate(fd, 0, (off_t)bytes);
    if (failure != EPERM && failure != EACCES && failure != ENOSYS && failure != EINTR)
        return failure;
    failure = 0;
    for (size_t done = 0; done < bytes && !failure;) {
        size_t part = bytes - done < sizeof zeros ? bytes - done : sizeof zeros;
        ssize_t n = pwrite(fd, zeros, part, (off_t)done);
        if (n > 0)
            done += (size_t)n;
        else if (n < 0 && errno != EINTR)
            failure = errno;
        else if (n == 0)
            failure = ENOSPC;
    }
    return failure;
}

static bool is_shortage(int failure)
{
    return failure == ENOSPC || failure == EDQUOT || failure == EFBIG;
}

/* Allocate the blocks of FILE.live, with smaller windows where the wanted size does not fit. 0 or
 * an errno. */
static int reserve_windows(struct vs_recorder *r, int fd)
{
    size_t wanted = vs_shortage_window_bytes(fd, r->window_bytes, windows_at(r));
    int failure = ENOSPC;
    struct vs_signal_guard guard;
    vs_signal_guard_enter(&guard); /* exceeding a file size limit sends a signal too */
    for (; wanted >= VS_WINDOW_BYTES_LEAST && is_shortage(failure); wanted /= 2) {
        r->window_bytes = wanted & ~(size_t)(VS_LIVE_HEADER_BYTES - 1);
        failure = reserve_blocks(fd, map_bytes(r));
        if (is_shortage(failure) && ftruncate(fd, 0))
            failure = errno;
    }
    vs_signal_guard_leave(&guard);
    return failure;
}

/* Another trace's FILE.live, left after a kill when its file was moved away without it, or being
 * recorded under another name now: it is kept, renamed with the first bytes of that trace's
 * UUID. */
static bool set_aside(const struct vs_recorder *r, const uint8_t *uuid)
{
    char kept[PATH_MAX];
    if (!vs_live_set_aside(r->live_path, uuid, kept))
        return false;
    vs_log(VS_LOG_WARN, "%s belongs to another trace and may hold its last events: kept as %s",
           r->live_path, kept);
    return true;
}

/* false with errno: the existing file is not ours to remove. */
static bool make_way(const struct vs_recorder *r)
{
    uint8_t uuid[sizeof r->uuid];
    enum vs_live_look look = vs_live_look(r->live_path, uuid);
    bool own = look == VS_LIVE_EMPTY ||
               (look == VS_LIVE_HOLDS && (r->replaces || !memcmp(uuid, r->uuid, sizeof uuid)));
    if (look == VS_LIVE_NONE)
        return true;
    if (own ? !unlink(r->live_path) : look == VS_LIVE_HOLDS && set_aside(r, uuid))
        return true;
    errno = EEXIST;
    return false;
}

/* A mapping of a new FILE.live whose blocks are all reserved: a store into a
 * mapped hole on a full disk would be a SIGBUS in somebody's program. */
static void *map_file(struct vs_recorder *r)
{
    size_t wanted = r->window_bytes;
    int fd = open(r->live_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0 && errno == EEXIST && make_way(r))
        fd = open(r->live_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return NULL;
    struct stat st = {0};
    vs_live_guard_prepare(fd);
    int failure = fstat(fd, &st) ? errno : reserve_windows(r, fd);
    void *map = MAP_FAILED;
    if (!failure) {
        map = mmap(NULL, map_bytes(r), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        failure = errno;
    }
    close(fd);
    if (map != MAP_FAILED) {
        r->live_inode = (uint64_t)st.st_ino;
        vs_live_guard_add(map, map_bytes(r));
        return map;
    }
    r->window_bytes = wanted;
    vs_own_file_remove(r->live_path, (uint64_t)st.st_dev, (uint64_t)st.st_ino);
    errno = failure;
    return NULL;
}

enum vs_err vs_window_open(struct vs_recorder *r)
{
    r->tight = false;
    if (r->writer.regular) {
        r->live_map = map_file(r);
        r->live_on_disk = r->live_map != NULL;
        bool tight = !r->live_map && is_shortage(errno);
        if (!r->live_map)
            vs_log(VS_LOG_WARN,
                   "cannot map %s (%s): if the program is killed, the last %u ms of the trace are "
                   "lost",
                   r->live_path, strerror(errno), r->flush_ms);
        r->tight = tight;
    }
    r->live_bytes = map_bytes(r);
    r->frame_bytes = r->window_bytes - VS_WINDOW_TAIL;
    if (r->tight)
        vs_shortage_begin(r);
    if (!r->live_map)
        r->live_map = vs_pages_map(r->live_bytes);
    if (!r->live_map)
        return VS_ERR_NOMEM;

    struct vs_live_header *header = r->live_map;
    header->major = VS_FORMAT_MAJOR;
    header->minor = VS_FORMAT_MINOR;
    header->byte_order = VS_BYTE_ORDER;
    memcpy(header->uuid, r->uuid, sizeof header->uuid);
    header->header_bytes = (uint32_t)windows_at(r);
    header->windows = VS_WINDOWS;
    header->window_bytes = r->window_bytes;
    header->pid = (uint64_t)r->pid;
    for (unsigned i = 0; i < VS_WINDOWS; i++) {
        r->windows[i].live = &header->window[i];
        r->windows[i].data = (unsigned char *)r->live_map + windows_at(r) + i * r->window_bytes;
    }
    vs_live_counts_open(r);
    memcpy(header->magic, VS_LIVE_MAGIC, VS_MAGIC_BYTES);
    return VS_OK;
}

static bool has_inode(const char *path, uint64_t inode)
{
    struct stat st;
    return !lstat(path, &st) && (uint64_t)st.st_ino == inode;
}

/* Its inode number may have been reused by the file system, so its content identifies it. */
void vs_window_unlink(const struct vs_recorder *r)
{
    uint8_t uuid[sizeof r->uuid];
    if (has_inode(r->live_path, r->live_inode) ||
        (vs_live_look(r->live_path, uuid) == VS_LIVE_HOLDS && !memcmp(uuid, r->uuid, sizeof uuid)))
        unlink(r->live_path);
}

void vs_window_close(struct vs_recorder *r, bool keep)
{
    if (r->live_map) {
        vs_live_guard_remove(r->live_map);
        munmap(r->live_map, r->live_bytes);
    }
    r->live_map = NULL;
    r->active = NULL;
    r->cursor = r->limit = NULL;
    if (r->live_on_disk && !keep)
        vs_window_unlink(r);
}

void vs_window_check_file_locked(struct vs_recorder *r)
{
    if (!r->live_on_disk || r->ending.on || r->closed || r->failed)
        return;
    vs_lock_release(&r->lock);
    /* if FILE is gone too, the trace was moved or deleted, or the root changed */
    bool gone = !has_inode(r->live_path, r->live_inode) && has_inode(r->path, r->writer.inode);
    vs_lock_acquire(&r->lock);
    r->checked_ns = vs_clock_ns();
    if (!gone || !r->live_on_disk || r->ending.on || r->closed || r->failed)
        return;
    vs_log(VS_LOG_WARN, "%s was removed while in use; it is created again", r->live_path);
    vs_window_seal_locked(r);
    vs_writer_drain_locked(r);
    if (r->failed)
        return;
    if (r->active) { /* empty, so its number is free again */
        r->active->state = VS_WINDOW_FREE;
        r->sequence--;
    }
    vs_window_close(r, true);
    if (vs_window_open(r)) {
        vs_log(VS_LOG_ERROR, "out of host memory for %s: recording has stopped, the program continues", r->path);
        vs_recorder_fail_locked(r, ENOMEM);
        return;
    }
    vs_unrecorded_publish_locked(r);
}

/* The active window is empty. A record of *bytes* fits every window. */
static void limit_locked(struct vs_recorder *r, size_t bytes)
{
    r->limit = r->active->data + (bytes > r->frame_bytes ? bytes : r->frame_bytes);
}

static void activate_locked(struct vs_recorder *r, struct vs_window *w)
{
    w->state = VS_WINDOW_ACTIVE;
    w->sequence = ++r->sequence;
    w->first_event = r->events;
    w->base_ns = w->last_ns = r->last_ns;
    w->used = 0;
    w->events = w->definitions = 0;
    w->definition_bytes = 0;
    /* `used` is 0 before the new sequence shows, and everything else is there
     * before `used` grows again (vs_window_publish_locked); a reader between
     * these stores sees an empty window */
    atomic_store_explicit(&w->live->used, 0, memory_order_release);
    atomic_store_explicit(&w->live->sequence, w->sequence, memory_order_release);
    atomic_store_explicit(&w->live->first_event, w->first_event, memory_order_relaxed);
    atomic_store_explicit(&w->live->base_ns, w->base_ns, memory_order_relaxed);
    r->active = w;
    r->cursor = w->data;
    /* every frame decodes on its own */
    r->last_address = 0;
    r->last_t = w->base_ns;
    r->last_tid = 0;
}

void vs_window_seal_locked(struct vs_recorder *r)
{
    struct vs_window *w = r->active;
    if (!w || !vs_window_used_locked(r))
        return;
    w->state = VS_WINDOW_FULL;
    w->used = vs_window_used_locked(r);
    w->last_ns = r->last_ns;
    r->events += w->events;
    r->encoded_bytes += vs_window_event_bytes_locked(r);
    w->strings_after = r->strings;
    w->nodes_after = r->stack_nodes;
    r->active = NULL;
    r->cursor = r->limit = NULL;
    vs_cond_signal(&r->work);
}

/* Activate *w* with room for *bytes*; a notice that the trace becomes too large may use some of
 * it. */
static void begin_locked(struct vs_recorder *r, struct vs_window *w, size_t bytes)
{
    bool new_one = !r->active;
    if (new_one)
        activate_locked(r, w);
    limit_locked(r, bytes);
    if (new_one)
        vs_trace_limit_check_locked(r);
}

bool vs_window_begin_free_locked(struct vs_recorder *r)
{
    struct vs_window *w = vs_window_oldest_locked(r, VS_WINDOW_FREE);
    if (!w)
        return false;
    activate_locked(r, w);
    limit_locked(r, 0);
    return true;
}

/* Bring the waiting windows into the file, or a part of them. false when there is no progress. */
static bool write_waiting_locked(struct vs_recorder *r)
{
    if (!r->thread_done && !vs_writer_is_self(r))
        return vs_window_wait_locked(r);
    vs_writer_drain_locked(r);
    return vs_window_count_locked(r, VS_WINDOW_FREE) == VS_WINDOWS;
}

bool vs_window_change_locked(struct vs_recorder *r, size_t bytes)
{
    int saved_errno = errno; /* belongs to the program's call */
    if (r->ending.on && !vs_ending_reopen_locked(r))
        return false; /* the process ends */
    int cancel = vs_cancel_hold(); /* cancelling the thread must not leave the lock held */
    bool ready = false, waited = true, in_time = true;
    while (!ready && waited && bytes <= r->window_bytes - VS_WINDOW_TAIL &&
           !atomic_load_explicit(&r->stopped, memory_order_relaxed)) {
        vs_window_seal_locked(r);
        /* the one written longest ago: its bytes are the likeliest to be on disk by now, should the
         * machine crash */
        struct vs_window *w = r->active ? r->active : vs_window_oldest_locked(r, VS_WINDOW_FREE);
        if (w && !r->active && in_time && vs_trace_limit_drain_first_locked(r)) {
            in_time = write_waiting_locked(r);
        } else if (w) {
            begin_locked(r, w, bytes);
        } else if (r->thread_done) {
            vs_writer_drain_locked(r);
        } else {
            waited = vs_window_wait_locked(r);
        }
        ready = r->active && (size_t)(r->limit - r->cursor) >= bytes;
    }
    vs_cancel_restore(cancel);
    errno = saved_errno;
    return ready && !atomic_load_explicit(&r->stopped, memory_order_relaxed);
}

unsigned vs_window_count_locked(const struct vs_recorder *r, enum vs_window_state state)
{
    unsigned count = 0;
    for (unsigned i = 0; i < VS_WINDOWS; i++)
        count += r->windows[i].state == state;
    return count;
}

struct vs_window *vs_window_oldest_locked(struct vs_recorder *r, enum vs_window_state state)
{
    struct vs_window *oldest = NULL;
    for (struct vs_window *w = r->windows; w < r->windows + VS_WINDOWS; w++) {
        if (w->state == state && (!oldest || w->sequence < oldest->sequence))
            oldest = w;
    }
    return oldest;
}

struct vs_window *vs_window_newest_locked(struct vs_recorder *r, enum vs_window_state state)
{
    struct vs_window *newest = NULL;
    for (struct vs_window *w = r->windows; w < r->windows + VS_WINDOWS; w++) {
        if (w->state == state && (!newest || w->sequence > newest->sequence))
            newest = w;
    }
    return newest;
}

void vs_window_written_locked(struct vs_recorder *r, struct vs_window *w)
{
    w->state = VS_WINDOW_FREE;
    r->written_sequence = w->sequence;
    r->file_bytes = r->writer.offset;
    r->file_events = w->first_event + w->events;
    vs_cond_broadcast(&r->progress);
}

/* --- waits ---
 *
 * For the background thread, that is for a disk or the reader of a pipe: as long as windows are
 * written, then for a limited time. The wait also checks whether the background thread still exists,
 * as programs may end it without our knowledge. */

/* interval at which a waiting thread checks whether the background thread still exists */
#define POLL_NS UINT64_C(100000000)
/* checks without progress after which an ending recording stops waiting; counted rather than timed,
 * because a program that was stopped meanwhile has not waited */
#define END_POLLS 100u

unsigned vs_window_end_polls(const struct vs_recorder *r)
{
    return r->wait_polls < END_POLLS ? r->wait_polls : END_POLLS;
}

static unsigned polls_allowed_locked(const struct vs_recorder *r)
{
    if (r->stalled)
        return 1;
    return r->closed || r->leaving ? vs_window_end_polls(r) : r->wait_polls;
}

bool vs_window_wait_locked(struct vs_recorder *r)
{
    uint64_t written = r->written_sequence;
    unsigned looks = 0;
    vs_writer_hasten_locked(r);
    for (;;) {
        bool woken = vs_cond_wait(&r->progress, &r->lock, vs_clock_ns() + POLL_NS);
        if (woken || r->thread_done || r->written_sequence != written)
            return true;
        if (!vs_writer_alive(r)) {
            vs_writer_take_over_locked(r);
            return true;
        }
        if (++looks >= polls_allowed_locked(r)) {
            vs_shortage_stall_locked(r, looks);
            return false;
        }
    }
}

bool vs_window_wait_idle_locked(struct vs_recorder *r)
{
    while (vs_window_count_locked(r, VS_WINDOW_WRITING)) {
        if (!vs_window_wait_locked(r))
            return false;
    }
    return true;
}
