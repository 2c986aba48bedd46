/* SPDX-License-Identifier: Apache-2.0
 *
 * Ends that can be taken back. The `end` event has a frame of its own, followed by index and
 * trailer: from then on the file is complete. To take it back, the file is cut to the start of that
 * frame and the counters are restored; nothing else has to be undone, as the earlier frames do not
 * refer to it.
 *
 * Two uses: a process that calls exec, which may fail, holds the recorder's lock meanwhile; a process
 * that exits ends its trace at the point where most programs record nothing more, and again after
 * each later event. The end of a copy that a program asks for is never in its trace: a program
 * killed meanwhile did not end there. */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/vs_cancel.h"
#include "base/vs_clock.h"
#include "base/vs_lock.h"
#include "base/vs_log.h"
#include "trace/record/own_file.h"
#include "trace/record/recorder_internal.h"

#define LOCK_NS UINT64_C(2000000000)
/* how long an end waits for the background thread to take up the remaining windows */
#define COMPRESS_NS UINT64_C(200000000)

static pid_t own_tid(void)
{
    return (pid_t)syscall(SYS_gettid);
}

/* Write all full windows from the calling thread. Stored uncompressed: compression needs more stack
 * than a thread of the program may have, and its context belongs to the background thread. */
static bool drain_locked(struct vs_recorder *r)
{
    struct vs_packer *packer = r->writer.packer;
    r->writer.packer = NULL;
    vs_window_seal_locked(r);
    vs_writer_drain_locked(r);
    r->writer.packer = packer;
    return !r->failed;
}

/* Let the background thread compress the remaining windows if that is quick: otherwise most of a
 * short program's trace would be stored uncompressed. */
static void wait_for_compression_locked(struct vs_recorder *r)
{
    uint64_t until = vs_clock_ns() + COMPRESS_NS;
    bool in_time = true;
    if (!r->has_thread)
        return;
    vs_writer_hasten_locked(r);
    while (in_time && vs_window_count_locked(r, VS_WINDOW_FULL) && !r->thread_done && !r->failed)
        in_time = vs_cond_wait(&r->progress, &r->lock, until);
}

/* Whether the unwritten totals fit without a wait. */
static bool has_room_locked(const struct vs_recorder *r)
{
    size_t events = r->selection.cell_count + 1 + VS_EVENT_CODE_MAX;
    bool room = (size_t)(r->limit - r->cursor) >= events * VS_EVENT_BYTES_MAX;
    for (unsigned i = 0; i < VS_WINDOWS; i++)
        room = room || (r->windows[i].state == VS_WINDOW_FREE &&
                        !vs_trace_limit_drain_first_locked(r));
    return room;
}

/* Bring everything recorded so far into the file, with no other writer left. */
static bool settle_locked(struct vs_recorder *r)
{
    r->leaving = true;
    vs_window_seal_locked(r);
    wait_for_compression_locked(r);
    bool idle = vs_window_wait_idle_locked(r);
    if (idle || has_room_locked(r)) { /* the wait for the disk timed out */
        vs_unrecorded_write_locked(r); /* not into the frame of the end */
        vs_trace_limit_finish_locked(r);
    }
    r->leaving = false;
    return idle && !r->failed && drain_locked(r);
}

static bool take_back_locked(struct vs_recorder *r)
{
    if (vs_writer_take_back(r, &r->ending.mark)) {
        int error = errno;
        vs_writer_report_failed_locked(r, error);
        vs_recorder_fail_locked(r, error);
        return false;
    }
    struct vs_ending *e = &r->ending;
    e->window->state = VS_WINDOW_FREE;
    atomic_store_explicit(&e->window->live->used, 0, memory_order_release);
    r->written_sequence = --r->sequence;
    r->events--;
    r->encoded_bytes = e->encoded_bytes;
    e->on = false;
    r->finished = false;
    return true;
}

/* After settle_locked. */
static bool put_end_locked(struct vs_recorder *r)
{
    struct vs_ending *e = &r->ending;
    struct vs_event event = {.kind = VS_EVENT_end,
                             .end = {.reason = e->reason, .status = e->status}};
    vs_writer_mark(r, &e->mark);
    e->encoded_bytes = r->encoded_bytes;
    vs_recorder_event_locked(r, &event);
    if (!drain_locked(r))
        return false;
    struct vs_window *w = r->windows;
    while (w < r->windows + VS_WINDOWS - 1 && w->sequence != r->sequence)
        w++;
    e->window = w;
    if (vs_writer_finish(r)) {
        int error = errno;
        vs_writer_report_failed_locked(r, error);
        vs_recorder_fail_locked(r, error);
        return false;
    }
    e->on = true;
    r->end_again = false;
    r->finished = true;
    return true;
}

static void unlink_live_locked(struct vs_recorder *r)
{
    r->ending.live = r->live_on_disk;
    if (r->live_on_disk)
        vs_window_unlink(r);
    r->live_on_disk = false;
}

/* --- the process ends --- */

bool vs_ending_reopen_locked(struct vs_recorder *r)
{
    if (r->ending.final && r->ending.tid != own_tid())
        return false;
    bool reopened = take_back_locked(r);
    r->end_again = reopened && r->ending.final;
    return reopened;
}

void vs_ending_again_locked(struct vs_recorder *r)
{
    if (!settle_locked(r) || !put_end_locked(r))
        r->end_again = false;
}

/* Stop the background thread; it writes all windows that are full by then. */
static bool dismiss_thread_locked(struct vs_recorder *r)
{
    r->leaving = r->quit = true;
    vs_cond_signal(&r->work);
    while (!r->thread_done) {
        if (!vs_window_wait_locked(r))
            return false;
    }
    r->leaving = false;
    return true;
}

void vs_recorder_dismiss_thread(struct vs_recorder *r)
{
    if (!r || r->pid != getpid() || !vs_lock_acquire_within(&r->lock, LOCK_NS))
        return;
    bool gone = dismiss_thread_locked(r), join = gone && r->has_thread;
    if (gone) {
        r->has_thread = false;
    } else { /* it may still write if the disk answers: nobody may take over from it */
        r->leaving = false;
        vs_shortage_stall_locked(r, vs_window_end_polls(r));
    }
    vs_lock_release(&r->lock);
    if (join)
        pthread_join(r->thread, NULL);
}

static void end_locked(struct vs_recorder *r, enum vs_end_reason reason, uint64_t status)
{
    struct vs_ending *e = &r->ending;
    if (e->on && e->reason == reason && e->status == status)
        return;
    if (e->on && !take_back_locked(r))
        return;
    e->reason = reason;
    e->status = status;
    e->final = true;
    e->tid = own_tid();
    if (settle_locked(r) && put_end_locked(r))
        unlink_live_locked(r);
}

static void finish_short_locked(struct vs_recorder *r)
{
    vs_shortage_finish_locked(r);
    if (r->finished)
        unlink_live_locked(r);
}

void vs_recorder_end(struct vs_recorder *r, enum vs_end_reason reason, uint64_t status)
{
    if (!r || r->pid != getpid() || !r->writer.regular) {
        vs_recorder_close(r, reason, status);
        return;
    }
    VS_KEEP_ERRNO();
    if (!vs_lock_acquire_within(&r->lock, LOCK_NS)) {
        atomic_store_explicit(&r->stopped, true, memory_order_relaxed);
        return;
    }
    bool join = false;
    if (!r->closed && !r->failed && !r->ending.on)
        vs_window_seal_locked(r); /* for the background thread, while there is one */
    if (dismiss_thread_locked(r)) {
        join = r->has_thread;
        r->has_thread = false;
        if (!r->closed && !r->failed)
            end_locked(r, reason, status);
        else if (!r->closed)
            finish_short_locked(r);
    } else {
        atomic_store_explicit(&r->stopped, true, memory_order_relaxed);
    }
    vs_lock_release(&r->lock);
    if (join)
        pthread_join(r->thread, NULL); /* it only has to return */
}

/* --- the program asks for a copy --- */

static enum vs_err try_copy_locked(struct vs_recorder *r, struct vs_own_copy *copy)
{
    if (!r->writer.regular || r->closed || r->ending.on)
        return VS_ERR_STATE;
    if (!r->failed && settle_locked(r)) {
        unsigned char record[VS_END_RECORD_BYTES_MAX];
        uint64_t now = vs_ticks_now(&r->ticks);
        if (now < r->last_ns)
            now = r->last_ns;
        struct vs_window end = {.data = record,
                                .used = vs_encode_end(record, VS_END_COPY, 0),
                                .sequence = r->written_sequence + 1,
                                .first_event = r->events,
                                .events = 1,
                                .base_ns = now,
                                .last_ns = now,
                                .strings_after = r->strings,
                                .nodes_after = r->stack_nodes};
        struct vs_writer_tail tail;
        enum vs_err err = vs_writer_make_tail(r, &end, &tail);
        if (err)
            return err;
        err = vs_own_copy_begin(copy, r->writer.fd, r->writer.offset, tail.data, tail.bytes);
        VS_KEEP_ERRNO();
        vs_writer_drop_tail(&tail);
        return err;
    }
    errno = r->failed ? r->error : ETIMEDOUT; /* the disk of the trace does not respond */
    return VS_ERR_IO;
}

/* Written without the lock: the disk of *path* may be slow. */
enum vs_err vs_recorder_copy(struct vs_recorder *r, const char *path)
{
    if (!r || r->pid != getpid())
        return VS_ERR_STATE;
    struct vs_own_copy copy;
    VS_CANCEL_SCOPE();
    vs_recorder_acquire(r);
    enum vs_err err = try_copy_locked(r, &copy);
    int error = errno;
    vs_recorder_release(r);
    if (!err) {
        err = vs_own_copy_write(&copy, path);
        error = errno;
        vs_own_copy_close(&copy);
    }
    errno = error;
    return err;
}

/* --- the process becomes another program --- */

bool vs_recorder_exec_begin(struct vs_recorder *r)
{
    if (!r || atomic_load_explicit(&r->stopped, memory_order_relaxed) || r->pid != getpid())
        return false;
    VS_KEEP_ERRNO();
    if (!vs_lock_acquire_within(&r->lock, LOCK_NS))
        return false;
    bool ready = r->writer.regular && !r->closed && !r->failed && !r->ending.on &&
                 settle_locked(r);
    if (ready) {
        r->ending.reason = VS_END_EXEC;
        r->ending.status = 0;
        r->ending.final = false;
        ready = put_end_locked(r);
    }
    if (ready)
        unlink_live_locked(r);
    else
        vs_lock_release(&r->lock);
    return ready;
}

void vs_recorder_exec_failed(struct vs_recorder *r)
{
    VS_KEEP_ERRNO();
    if (take_back_locked(r) && r->ending.live) {
        vs_window_close(r, true);
        if (vs_window_open(r)) { /* no memory, although there was some just before */
            vs_log(VS_LOG_ERROR, "out of host memory for %s: recording has stopped, the program continues", r->path);
            vs_recorder_fail_locked(r, ENOMEM);
        }
    }
    vs_lock_release(&r->lock);
}
