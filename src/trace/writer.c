/* SPDX-License-Identifier: Apache-2.0
 *
 * The trace file and the background thread that appends to it. A frame is built
 * in one buffer and written at a known offset; when that fails the file is cut
 * back to the end of the last good frame, so that every state of the file is a
 * valid trace up to there. The descriptor is checked before each frame: programs
 * that close every descriptor and open others must not find our bytes in theirs.
 *
 * struct vs_writer belongs to one thread at a time (recorder_internal.h). */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/vs_clock.h"
#include "base/vs_log.h"
#include "base/vs_signal_guard.h"
#include "base/vs_size.h"
#include "trace/live_guard.h"
#include "trace/own_file.h"
#include "trace/priority.h"
#include "trace/recorder_internal.h"
#include "trace/shortage.h"
#include "trace/thread_start.h"

#define FD_MIN 100 /* out of the way of programs that expect low numbers */
#define THREAD_STACK_BYTES ((size_t)512 << 10)
#define HURRY_WINDOWS 2u /* waiting to be written: the program is about to wait too */

static size_t index_bytes_max(void)
{
    return sizeof(struct vs_index_header) + VS_INDEX_ENTRIES_MAX * sizeof(struct vs_index_entry);
}

/* Out of the way of programs that expect low numbers; never one of the standard three,
 * which a program may have closed: -1 (errno) rather than that. */
static int move_high(int fd)
{
    static const int floors[] = {FD_MIN, 24, 3}; /* the limit may be low */
    int high = -1;
    for (size_t i = 0; high < 0 && i < sizeof floors / sizeof *floors; i++)
        high = fcntl(fd, F_DUPFD_CLOEXEC, floors[i]);
    if (high < 0 && fd > STDERR_FILENO)
        return fd;
    int saved_errno = errno;
    close(fd);
    errno = saved_errno;
    return high;
}

/* The kernel takes it away with this process, and children do not inherit it: whoever would
 * change the file sees that it is being written, whatever numbers processes have where he is.
 * Over a network it could take its time. One byte that no trace reaches: some file systems
 * keep readers off what is locked. */
static void claim_file(int fd)
{
    struct flock lock = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)1 << 62, .l_len = 1};
    struct statfs fs;
    if (!fstatfs(fd, &fs) && fs.f_type != NFS_SUPER_MAGIC)
        fcntl(fd, F_SETLK, &lock);
}

static bool same_file(const struct vs_writer *w, int fd)
{
    struct stat st;
    return fd >= 0 && !fstat(fd, &st) && (uint64_t)st.st_dev == w->device &&
           (uint64_t)st.st_ino == w->inode;
}

/* The program may have closed our descriptor and been given its number. */
static enum vs_err check_descriptor(struct vs_recorder *r)
{
    struct vs_writer *w = &r->writer;
    if (same_file(w, w->fd))
        return VS_OK;
    w->fd = -1; /* whatever it is now, it is not ours to close */
    int fd = w->regular ? open(r->path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
    if (!same_file(w, fd)) {
        if (fd >= 0)
            close(fd);
        errno = EBADF;
        return VS_ERR_IO;
    }
    w->fd = move_high(fd);
    claim_file(w->fd);
    return w->fd < 0 ? VS_ERR_IO : VS_OK;
}

/* Or another was put in its place. */
static void say_if_deleted(const struct vs_recorder *r)
{
    struct stat st;
    if (r->writer.regular && !fstat(r->writer.fd, &st) && !st.st_nlink)
        vs_log_once(VS_LOG_WARN, "%s was deleted while it was written: nothing is kept", r->path);
}

/* All of *bytes* at the end of the file, or nothing. */
static enum vs_err append(struct vs_recorder *r, const void *from, size_t bytes)
{
    struct vs_writer *w = &r->writer;
    const unsigned char *p = from;
    size_t done = 0;
    struct vs_signal_guard guard;
    enum vs_err err = check_descriptor(r);
    if (err)
        return err;
    vs_signal_guard_enter(&guard);
    while (done < bytes) {
        ssize_t n = w->regular
                        ? pwrite(w->fd, p + done, bytes - done, (off_t)(w->offset + done))
                        : write(w->fd, p + done, bytes - done);
        if (n > 0) {
            done += (size_t)n;
        } else if (n == 0) {
            errno = ENOSPC;
            break;
        } else if (errno != EINTR) {
            break;
        }
    }
    if (done < bytes) {
        int saved_errno = errno;
        if (w->regular && done && same_file(w, w->fd) && ftruncate(w->fd, (off_t)w->offset))
            vs_log(VS_LOG_WARN, "cannot cut %s back to its last whole frame: %s", r->path,
                   strerror(errno));
        errno = saved_errno;
        err = VS_ERR_IO;
    } else {
        w->offset += bytes;
    }
    vs_signal_guard_leave(&guard);
    return err;
}

/* Keeps errno. */
static void remove_own(const struct vs_writer *w, const char *path)
{
    int saved_errno = errno;
    if (w->regular)
        vs_own_file_remove(path, w->device, w->inode);
    errno = saved_errno;
}

enum vs_err vs_writer_open(struct vs_recorder *r, unsigned compression, bool keep_existing)
{
    struct vs_writer *w = &r->writer;
    w->fd = -1;
    w->compression = compression;
    w->buffer_bytes = sizeof(struct vs_frame_header) + vs_packer_bound(r->window_bytes);
    w->buffer = vs_pages_map(w->buffer_bytes);
    w->index = vs_pages_map(index_bytes_max());
    if (!w->buffer || !w->index)
        return VS_ERR_NOMEM;
    w->fd = vs_own_file_create(r->path, keep_existing);
    if (w->fd < 0)
        return VS_ERR_IO;
    struct stat st;
    if (fstat(w->fd, &st))
        return VS_ERR_IO;
    w->device = (uint64_t)st.st_dev;
    w->inode = (uint64_t)st.st_ino;
    w->regular = S_ISREG(st.st_mode);
    w->fd = move_high(w->fd);
    if (w->fd < 0) {
        remove_own(w, r->path);
        return VS_ERR_IO;
    }
    if (w->regular)
        claim_file(w->fd);
    if (w->regular && !(st.st_mode & S_IRUSR) && fchmod(w->fd, 0600)) /* a strict umask */
        vs_log(VS_LOG_DEBUG, "%s keeps the mode that the umask gave it", r->path);

    struct vs_file_header header = {
        .magic = VS_FILE_MAGIC,
        .major = VS_FORMAT_MAJOR,
        .minor = VS_FORMAT_MINOR,
        .byte_order = VS_BYTE_ORDER,
        .created_realtime_ns = vs_clock_realtime_ns(),
        .created_ns = vs_clock_ns(),
        .header_bytes = sizeof header,
        .flags = VS_FILE_COUNTS_MODULES,
    };
    memcpy(header.uuid, r->uuid, sizeof header.uuid);
    header.checksum = XXH64(&header, offsetof(struct vs_file_header, checksum), 0);
    r->last_ns = header.created_ns;
    enum vs_err err = append(r, &header, sizeof header);
    if (err)
        remove_own(w, r->path);
    return err;
}

/* Finish the frame whose payload (header->stored_bytes) lies behind the header's
 * place in the buffer, and append it. */
static enum vs_err append_frame(struct vs_recorder *r, struct vs_frame_header *header)
{
    struct vs_writer *w = &r->writer;
    size_t covered = offsetof(struct vs_frame_header, checksum);
    header->sync = VS_FRAME_SYNC;
    header->header_bytes = sizeof *header;
    XXH64_state_t state;
    XXH64_reset(&state, 0);
    XXH64_update(&state, header, covered);
    XXH64_update(&state, w->buffer + sizeof *header, header->stored_bytes);
    header->checksum = XXH64_digest(&state);
    memcpy(w->buffer, header, sizeof *header);
    return append(r, w->buffer, sizeof *header + header->stored_bytes);
}

/* The index so far, as a frame; the next index refers back to it. */
static enum vs_err append_index(struct vs_recorder *r, uint32_t flags)
{
    struct vs_writer *w = &r->writer;
    struct vs_index_header index = {
        .previous_offset = w->index_previous,
        .first_sequence = w->index_first_sequence,
        .entries = w->index_entries,
        .flags = flags,
        .events = w->events,
        .strings = w->strings,
        .stack_nodes = w->stack_nodes,
    };
    size_t entries_bytes = w->index_entries * sizeof *w->index;
    struct vs_frame_header header = {
        .type = VS_FRAME_INDEX,
        .codec = VS_STORED,
        .raw_bytes = (uint32_t)(sizeof index + entries_bytes),
        .stored_bytes = (uint32_t)(sizeof index + entries_bytes),
        .first_event = w->events,
        .base_ns = w->last_ns,
        .last_ns = w->last_ns,
    };
    memcpy(w->buffer + sizeof header, &index, sizeof index);
    memcpy(w->buffer + sizeof header + sizeof index, w->index, entries_bytes);
    uint64_t offset = w->offset;
    enum vs_err err = append_frame(r, &header);
    if (err)
        return err;
    w->index_previous = offset;
    w->index_entries = 0;
    return VS_OK;
}

enum vs_err vs_writer_append_window(struct vs_recorder *r, const struct vs_window *window)
{
    struct vs_writer *w = &r->writer;
    if (w->index_entries == VS_INDEX_ENTRIES_MAX) {
        enum vs_err err = append_index(r, 0);
        if (err)
            return err;
    }
    struct vs_frame_header header = {
        .type = VS_FRAME_EVENTS,
        .raw_bytes = (uint32_t)window->used,
        .sequence = window->sequence,
        .first_event = window->first_event,
        .base_ns = window->base_ns,
        .last_ns = window->last_ns,
        .events = window->events,
        .definitions = window->definitions,
    };
    unsigned codec;
    header.stored_bytes = (uint32_t)vs_packer_pack(w->packer, window->data, window->used, w->hurried,
                                                   w->buffer + sizeof header, &codec);
    header.codec = (uint8_t)codec;
    uint64_t offset = w->offset;
    if (vs_live_guard_lost(r->live_map)) { /* what was packed may be zeros */
        errno = EIO;
        return VS_ERR_IO;
    }
    if (r->tight && !vs_shortage_has_room(r, sizeof header + header.stored_bytes))
        return VS_ERR_IO;
    enum vs_err err = append_frame(r, &header);
    if (err)
        return err;
    if (!w->index_entries)
        w->index_first_sequence = window->sequence;
    w->index[w->index_entries++] = (struct vs_index_entry){
        offset, window->first_event, window->base_ns, window->last_ns, window->events,
        window->definitions};
    w->events = window->first_event + window->events;
    w->strings = window->strings_after;
    w->stack_nodes = window->nodes_after;
    w->last_ns = window->last_ns;
    return VS_OK;
}

enum vs_err vs_writer_finish(struct vs_recorder *r)
{
    struct vs_writer *w = &r->writer;
    enum vs_err err = append_index(r, VS_INDEX_FINAL);
    if (err)
        return err;
    struct vs_trailer trailer = {
        .index_offset = w->index_previous,
        .file_bytes = w->offset + sizeof trailer,
        .magic = VS_END_MAGIC,
    };
    trailer.checksum = XXH64(&trailer, offsetof(struct vs_trailer, checksum), 0);
    say_if_deleted(r);
    return append(r, &trailer, sizeof trailer);
}

void vs_writer_mark(const struct vs_recorder *r, struct vs_writer_mark *mark)
{
    const struct vs_writer *w = &r->writer;
    *mark = (struct vs_writer_mark){w->offset, w->events, w->strings, w->stack_nodes, w->last_ns,
                                    w->index_previous, w->index_first_sequence, w->index_entries,
                                    w->index[0]};
}

enum vs_err vs_writer_take_back(struct vs_recorder *r, const struct vs_writer_mark *mark)
{
    struct vs_writer *w = &r->writer;
    enum vs_err err = check_descriptor(r);
    if (err)
        return err;
    if (ftruncate(w->fd, (off_t)mark->offset))
        return VS_ERR_IO;
    w->offset = mark->offset;
    w->events = mark->events;
    w->strings = mark->strings;
    w->stack_nodes = mark->stack_nodes;
    w->last_ns = mark->last_ns;
    w->index_previous = mark->index_previous;
    w->index_first_sequence = mark->index_first_sequence;
    w->index_entries = mark->index_entries;
    w->index[0] = mark->index_first;
    return VS_OK;
}

void vs_writer_say_failed_locked(struct vs_recorder *r, int error)
{
    char events[VS_SIZE_TEXT_MAX], size[VS_SIZE_TEXT_MAX];
    uint64_t kept = r->live_on_disk ? vs_window_events_locked(r) : r->writer.events;
    vs_log(VS_LOG_ERROR,
           "cannot write %s: %s; recording has stopped, the program goes on; %s events (%s) are "
           "kept",
           r->path, strerror(error), vs_count_format(events, kept),
           vs_size_format(size, r->writer.offset));
}

/* Write *w*, which the caller has marked WRITING. With *unlock* the lock is let go
 * of meanwhile. */
static void write_window_locked(struct vs_recorder *r, struct vs_window *w, bool unlock)
{
    r->writer.hurried = vs_window_full_locked(r) >= HURRY_WINDOWS;
    if (unlock)
        vs_lock_release(&r->lock);
    enum vs_err err = vs_writer_append_window(r, w);
    int error = errno;
    if (unlock)
        vs_lock_acquire(&r->lock);
    if (!err) {
        vs_window_written_locked(r, w);
        return;
    }
    w->state = VS_WINDOW_FULL;
    if (!vs_shortage_lost_locked(r))
        vs_shortage_stop_locked(r, error);
}

void vs_writer_drain_locked(struct vs_recorder *r)
{
    struct vs_window *w;
    while (!r->failed && (w = vs_window_oldest_full_locked(r))) {
        w->state = VS_WINDOW_WRITING;
        write_window_locked(r, w, false);
    }
}

static bool main_thread_is_zombie(void)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/self/task/%ld/stat", (long)getpid());
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = 0;
    const char *name_end = strrchr(text, ')');
    return name_end && strncmp(name_end, ") Z", 3) == 0;
}

/* A program whose main thread has ended goes on until its other threads end; ours must
 * not be the one that it waits for. Where pthread_exit can be seen, it is told at once
 * (vs_recorder_dismiss_thread); where it cannot, the kernel knows: the process number is that
 * thread's, which has no memory any more. A descriptor, if only for a moment, could be the one
 * that the program closed to have its next file there: /proc is for where a sandbox says no. */
static bool main_thread_ended(void)
{
    static const char there = 1;
    char here;
    struct iovec to = {&here, 1}, from = {(void *)&there, 1};
    ssize_t n = process_vm_readv(getpid(), &to, 1, &from, 1, 0);
    return n < 0 && errno != ESRCH ? main_thread_is_zombie() : n < 0;
}

/* Wait for work, for at most half the flush interval. A window that held
 * something at the previous look and still is the active one is sealed, so that
 * nothing stays unwritten for longer than flush_ms. */
static void wait_for_work_locked(struct vs_recorder *r, uint64_t *seen)
{
    /* what was only counted is as durable as what was recorded */
    if (r->selection.pending && vs_trace_limit_totals_due_locked(r, vs_clock_ns()))
        vs_unrecorded_write_locked(r);
    uint64_t now_sequence = r->active && vs_window_used_locked(r) ? r->active->sequence : 0;
    if (now_sequence && now_sequence == *seen) {
        vs_window_seal_locked(r);
        return;
    }
    *seen = now_sequence;
    uint64_t until = vs_clock_ns() + (uint64_t)r->flush_ms * 500000u;
    bool in_time = true;
    vs_live_guard_awake(false);
    while (in_time && !r->quit && !vs_window_oldest_full_locked(r))
        in_time = vs_cond_wait(&r->work, &r->lock, until);
    vs_live_guard_awake(true);
    if (vs_shortage_lost_locked(r))
        return;
    if (in_time)
        *seen = 0; /* woken early: the age of the window is not known */
    else if (main_thread_ended())
        r->quit = true;
    if (vs_clock_ns() - r->looked_ns > (uint64_t)r->flush_ms * 1000000u)
        vs_window_look_locked(r);
}

static void *writer_main(void *arg)
{
    struct vs_recorder *r = arg;
    atomic_store_explicit(&r->thread_tid, (pid_t)syscall(SYS_gettid), memory_order_relaxed);
    prctl(PR_SET_NAME, "vramscope-trace");
    r->writer.packer = vs_packer_open(r->window_bytes, r->writer.compression);
    uint64_t seen = 0;
    bool lowered = vs_priority_lower();
    vs_live_guard_awake(true);
    vs_lock_acquire(&r->lock);
    r->lowered = lowered;
    while (!r->failed) {
        struct vs_window *w = vs_window_oldest_full_locked(r);
        if (w) {
            w->state = VS_WINDOW_WRITING;
            write_window_locked(r, w, true);
        } else if (r->quit) {
            break;
        } else {
            if (r->raised && vs_priority_lower())
                r->raised = false;
            wait_for_work_locked(r, &seen);
        }
    }
    bool finish = r->quit && r->closed && !r->failed;
    vs_lock_release(&r->lock);
    enum vs_err err = finish ? vs_writer_finish(r) : VS_OK;
    int error = errno;
    vs_packer_close(r->writer.packer);
    r->writer.packer = NULL;
    vs_lock_acquire(&r->lock);
    if (err) {
        vs_writer_say_failed_locked(r, error);
        vs_recorder_fail_locked(r);
    }
    r->finished = finish && !err;
    r->thread_done = true;
    vs_cond_broadcast(&r->progress);
    vs_lock_release(&r->lock);
    return NULL;
}

void vs_writer_start(struct vs_recorder *r)
{
    int rc = vs_thread_start(&r->thread, THREAD_STACK_BYTES, writer_main, r);
    r->has_thread = !rc;
    if (rc) {
        r->thread_done = true;
        vs_log(VS_LOG_WARN, "no thread to write the trace (%s): the program's own threads write it",
               strerror(rc));
    }
}

void vs_writer_hasten_locked(struct vs_recorder *r)
{
    if (!r->lowered || r->raised || r->thread_done)
        return;
    vs_priority_raise(atomic_load_explicit(&r->thread_tid, memory_order_relaxed));
    r->raised = true;
}

bool vs_writer_is_self(const struct vs_recorder *r)
{
    pid_t tid = atomic_load_explicit(&r->thread_tid, memory_order_relaxed);
    return r->has_thread && tid == (pid_t)syscall(SYS_gettid);
}

bool vs_writer_alive(struct vs_recorder *r)
{
    pid_t tid = atomic_load_explicit(&r->thread_tid, memory_order_relaxed);
    return r->has_thread && (!tid || !syscall(SYS_tgkill, r->pid, tid, 0) || errno != ESRCH);
}

void vs_writer_take_over_locked(struct vs_recorder *r)
{
    for (unsigned i = 0; i < VS_WINDOWS; i++) {
        if (r->windows[i].state == VS_WINDOW_WRITING)
            r->windows[i].state = VS_WINDOW_FULL;
    }
    r->writer.packer = NULL; /* may have been in use when its thread went */
    r->has_thread = false;
    r->thread_done = true;
}

void vs_writer_close(struct vs_recorder *r)
{
    struct vs_writer *w = &r->writer;
    if (w->fd >= 0 && same_file(w, w->fd))
        close(w->fd);
    w->fd = -1;
    vs_pages_unmap(w->buffer, w->buffer_bytes);
    vs_pages_unmap(w->index, index_bytes_max());
    w->buffer = NULL;
    w->index = NULL;
}
