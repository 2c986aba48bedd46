/* SPDX-License-Identifier: Apache-2.0
 *
 * The trace file. A frame is built in one buffer and written at a known offset; when that fails the
 * file is cut back to the end of the last good frame, so that the file is always a valid trace up
 * to there. The descriptor is checked before each frame: programs that close every descriptor and
 * open others must not find our bytes in their files.
 *
 * struct vs_writer belongs to one thread at a time (recorder_internal.h): the background thread
 * (writer_thread.c) where there is one. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "base/vs_cancel.h"
#include "base/vs_clock.h"
#include "base/vs_log.h"
#include "base/vs_signal_guard.h"
#include "base/vs_size.h"
#include "trace/format/format.h"
#include "trace/record/live_guard.h"
#include "trace/record/own_file.h"
#include "trace/record/recorder_internal.h"

#define FD_MIN 100 /* out of the way of programs that expect low numbers */

static size_t index_bytes_max(void)
{
    return sizeof(struct vs_index_header) + VS_INDEX_ENTRIES_MAX * sizeof(struct vs_index_entry);
}

/* Duplicate to a high number; never one of the standard three, which a program may have closed: -1
 * (errno) instead. */
static int move_high(int fd)
{
    static const int floors[] = {FD_MIN, 24, 3}; /* the limit may be low */
    int high = -1;
    for (size_t i = 0; high < 0 && i < sizeof floors / sizeof *floors; i++)
        high = fcntl(fd, F_DUPFD_CLOEXEC, floors[i]);
    if (high < 0 && fd > STDERR_FILENO)
        return fd;
    VS_KEEP_ERRNO();
    close(fd);
    return high;
}

/* The kernel releases the lock with this process, and children do not inherit it: a tool that would
 * change the file sees that it is being written, also from another PID namespace. Not over a
 * network, where locking could take long. One byte beyond the end of any trace: some file systems
 * block reads of locked bytes. */
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

/* The program may have closed our descriptor and reused its number. */
static enum vs_err check_descriptor(struct vs_recorder *r)
{
    struct vs_writer *w = &r->writer;
    if (same_file(w, w->fd))
        return VS_OK;
    w->fd = -1; /* the number is not ours to close any more */
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

/* Deleted, or replaced by another file. */
static void warn_if_deleted(const struct vs_recorder *r)
{
    struct stat st;
    if (r->writer.regular && !fstat(r->writer.fd, &st) && !st.st_nlink)
        vs_log_once(VS_LOG_WARN, "%s was deleted while it was being recorded: nothing is kept", r->path);
}

/* All of *bytes* at the end of the file, or nothing. */
static enum vs_err append(struct vs_recorder *r, const void *from, size_t bytes)
{
    struct vs_writer *w = &r->writer;
    if (w->tail) {
        /* Behind what the tail has so far. */
        struct vs_writer_tail *tail = w->tail;
        if (bytes > tail->room - tail->bytes) {
            errno = EOVERFLOW;
            return VS_ERR_IO;
        }
        memcpy(tail->data + tail->bytes, from, bytes);
        tail->bytes += bytes;
        w->offset += bytes;
        return VS_OK;
    }
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
            vs_log(VS_LOG_WARN, "cannot cut %s after its last complete frame: %s", r->path,
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
    VS_KEEP_ERRNO();
    if (w->regular)
        vs_own_file_remove(path, w->device, w->inode);
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
    vs_header_seal(&header);
    r->last_ns = header.created_ns;
    enum vs_err err = append(r, &header, sizeof header);
    if (err)
        remove_own(w, r->path);
    return err;
}

/* Finish the frame whose payload (header->stored_bytes) lies behind the header's place in the
 * buffer, and append it. */
static enum vs_err append_frame(struct vs_recorder *r, struct vs_frame_header *header)
{
    struct vs_writer *w = &r->writer;
    vs_frame_seal(header, NULL, w->buffer + sizeof *header);
    memcpy(w->buffer, header, sizeof *header);
    return append(r, w->buffer, sizeof *header + header->stored_bytes);
}

/* Write the index so far as a frame; the next index refers back to it. */
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
    header.stored_bytes =
        (uint32_t)vs_packer_pack(w->packer, window->data, window->used, w->hurried,
                                 w->buffer + sizeof header, &codec);
    header.codec = (uint8_t)codec;
    uint64_t offset = w->offset;
    if (vs_live_guard_lost(r->live_map)) { /* the packed bytes may be zeros */
        errno = EIO;
        return VS_ERR_IO;
    }
    if (r->tight && !w->tail && !vs_shortage_has_room(r, sizeof header + header.stored_bytes))
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
    vs_trailer_seal(&trailer);
    warn_if_deleted(r);
    return append(r, &trailer, sizeof trailer);
}

void vs_writer_mark(const struct vs_recorder *r, struct vs_writer_mark *mark)
{
    const struct vs_writer *w = &r->writer;
    *mark = (struct vs_writer_mark){w->offset, w->events, w->strings, w->stack_nodes, w->last_ns,
                                    w->index_previous, w->index_first_sequence, w->index_entries,
                                    w->index[0]};
}

static void return_to(struct vs_writer *w, const struct vs_writer_mark *mark)
{
    w->offset = mark->offset;
    w->events = mark->events;
    w->strings = mark->strings;
    w->stack_nodes = mark->stack_nodes;
    w->last_ns = mark->last_ns;
    w->index_previous = mark->index_previous;
    w->index_first_sequence = mark->index_first_sequence;
    w->index_entries = mark->index_entries;
    w->index[0] = mark->index_first;
}

enum vs_err vs_writer_take_back(struct vs_recorder *r, const struct vs_writer_mark *mark)
{
    struct vs_writer *w = &r->writer;
    enum vs_err err = check_descriptor(r);
    if (err)
        return err;
    if (ftruncate(w->fd, (off_t)mark->offset))
        return VS_ERR_IO;
    return_to(w, mark);
    return VS_OK;
}

/* The frame, the index of a full table, the last index and the trailer. */
static size_t tail_bytes_max(const struct vs_window *end)
{
    return 3 * sizeof(struct vs_frame_header) + vs_packer_bound(end->used) +
           2 * sizeof(struct vs_index_header) +
           (VS_INDEX_ENTRIES_MAX + 1) * sizeof(struct vs_index_entry) + sizeof(struct vs_trailer);
}

enum vs_err vs_writer_make_tail(struct vs_recorder *r, const struct vs_window *end,
                                struct vs_writer_tail *tail)
{
    struct vs_writer *w = &r->writer;
    struct vs_packer *packer = w->packer; /* the background thread's */
    struct vs_writer_mark mark;
    enum vs_err err = check_descriptor(r); /* the caller reads the file */
    if (err)
        return err;
    *tail = (struct vs_writer_tail){.room = tail_bytes_max(end)};
    tail->data = vs_pages_map(tail->room);
    if (!tail->data) {
        errno = ENOMEM;
        return VS_ERR_IO;
    }
    vs_writer_mark(r, &mark);
    w->packer = NULL;
    w->tail = tail;
    err = vs_writer_append_window(r, end);
    if (!err)
        err = vs_writer_finish(r);
    VS_KEEP_ERRNO();
    w->tail = NULL;
    w->packer = packer;
    return_to(w, &mark);
    if (err)
        vs_writer_drop_tail(tail);
    return err;
}

void vs_writer_drop_tail(struct vs_writer_tail *tail)
{
    vs_pages_unmap(tail->data, tail->room);
    *tail = (struct vs_writer_tail){0};
}

void vs_writer_report_failed_locked(struct vs_recorder *r, int error)
{
    char events[VS_SIZE_TEXT_MAX], size[VS_SIZE_TEXT_MAX];
    uint64_t kept = r->live_on_disk ? vs_window_events_locked(r) : r->writer.events;
    vs_log(VS_LOG_ERROR,
           "cannot write %s: %s; recording has stopped, the program continues; %s events (%s) are "
           "kept",
           r->path, strerror(error), vs_count_format(events, kept),
           vs_size_format(size, r->writer.offset));
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
