/* SPDX-License-Identifier: Apache-2.0
 *
 * The background thread that appends full windows to the trace, and its substitute: where it could
 * not start, or did not survive a fork, the threads that fill windows write them. It seals a window
 * that has waited, so that nothing stays unwritten for longer than flush_ms, and it never keeps the
 * program from exiting. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/vs_clock.h"
#include "base/vs_cancel.h"
#include "base/vs_log.h"
#include "trace/record/live_guard.h"
#include "trace/record/recorder_internal.h"
#include "trace/record/thread_start.h"

#define THREAD_STACK_BYTES ((size_t)512 << 10)
#define HURRY_WINDOWS 2u /* waiting to be written: the program is about to wait too */

/* --- the priority ---
 *
 * The background thread yields to the program's threads, except while one of them waits for it.
 * Lowered means SCHED_BATCH, so that waking up interrupts nobody, and niceness 10, so that a busy
 * machine gives the thread a tenth of the share of the program's threads. It stays a share: however
 * busy the machine is, the work that another thread waits for goes on (SCHED_IDLE gives no such
 * share, and an ordinary user may not leave it again). Going back to SCHED_OTHER is always allowed,
 * a lower niceness only with privilege. */
#define NICENESS 10

static bool set_priority(pid_t tid, int policy, int niceness)
{
    const struct sched_param param = {0};
    VS_KEEP_ERRNO();
    bool changed = !setpriority(PRIO_PROCESS, (id_t)tid, niceness);
    changed |= !sched_setscheduler(tid, policy, &param);
    return changed;
}

/* Lowers the calling thread. False when nothing was changed: it has a real-time or other policy of
 * the program's own choice, or permission is missing. */
static bool lower_priority(void)
{
    pid_t tid = (pid_t)syscall(SYS_gettid);
    if (sched_getscheduler(tid) != SCHED_OTHER)
        return false;
    VS_KEEP_ERRNO();
    errno = 0;
    int niceness = getpriority(PRIO_PROCESS, (id_t)tid);
    bool known = !errno;
    return known && set_priority(tid, SCHED_BATCH, niceness > NICENESS ? niceness : NICENESS);
}

/* --- the windows --- */

/* Write *w*, which the caller has marked WRITING. With *unlock* the lock is released meanwhile. */
static void write_window_locked(struct vs_recorder *r, struct vs_window *w, bool unlock)
{
    r->writer.hurried = vs_window_count_locked(r, VS_WINDOW_FULL) >= HURRY_WINDOWS;
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
    while (!r->failed && (w = vs_window_oldest_locked(r, VS_WINDOW_FULL))) {
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

/* A program whose main thread has ended goes on until its other threads end; ours must not be the
 * last one. Where pthread_exit can be hooked, the hook ends it at once
 * (vs_recorder_dismiss_thread); elsewhere the kernel reports it: the process number is the id of
 * the main thread, which no longer has memory (ESRCH). /proc is read only where a sandbox forbids
 * that call: even a short-lived descriptor could take the number that the program just closed and
 * expects for its next file. */
static bool main_thread_ended(void)
{
    static const char there = 1;
    char here;
    struct iovec to = {&here, 1}, from = {(void *)&there, 1};
    ssize_t n = process_vm_readv(getpid(), &to, 1, &from, 1, 0);
    return n < 0 && errno != ESRCH ? main_thread_is_zombie() : n < 0;
}

/* Wait for work, for at most half the flush interval. A window that held something at the previous
 * check and still is the active one is sealed, so that nothing stays unwritten for longer than
 * flush_ms. */
static void wait_for_work_locked(struct vs_recorder *r, uint64_t *seen)
{
    /* totals become as durable as recorded events */
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
    while (in_time && !r->quit && !vs_window_oldest_locked(r, VS_WINDOW_FULL))
        in_time = vs_cond_wait(&r->work, &r->lock, until);
    vs_live_guard_awake(true);
    if (vs_shortage_lost_locked(r))
        return;
    if (in_time)
        *seen = 0; /* woken early: the age of the window is unknown */
    else if (main_thread_ended())
        r->quit = true;
    if (vs_clock_ns() - r->checked_ns > (uint64_t)r->flush_ms * 1000000u)
        vs_window_check_file_locked(r);
}

static void *writer_main(void *arg)
{
    struct vs_recorder *r = arg;
    atomic_store_explicit(&r->thread_tid, (pid_t)syscall(SYS_gettid), memory_order_relaxed);
    prctl(PR_SET_NAME, "vramscope-trace");
    r->writer.packer = vs_packer_open(r->window_bytes, r->writer.compression);
    uint64_t seen = 0;
    bool lowered = lower_priority();
    vs_live_guard_awake(true);
    vs_lock_acquire(&r->lock);
    r->lowered = lowered;
    while (!r->failed) {
        struct vs_window *w = vs_window_oldest_locked(r, VS_WINDOW_FULL);
        if (w) {
            w->state = VS_WINDOW_WRITING;
            write_window_locked(r, w, true);
        } else if (r->quit) {
            break;
        } else {
            if (r->raised && lower_priority())
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
    VS_LOCK_SCOPE(&r->lock);
    if (err) {
        vs_writer_report_failed_locked(r, error);
        vs_recorder_fail_locked(r, error);
    }
    r->finished = finish && !err;
    r->thread_done = true;
    vs_cond_broadcast(&r->progress);
    return NULL;
}

void vs_writer_start(struct vs_recorder *r)
{
    int rc = vs_thread_start(&r->thread, THREAD_STACK_BYTES, writer_main, r);
    r->has_thread = !rc;
    if (rc) {
        r->thread_done = true;
        vs_log(VS_LOG_WARN, "cannot start the thread that writes the trace (%s): the program's own threads write it",
               strerror(rc));
    }
}

void vs_writer_hasten_locked(struct vs_recorder *r)
{
    if (!r->lowered || r->raised || r->thread_done)
        return;
    /* Gives thread tid, lowered before, the priority of the calling one, as far as an ordinary
     * user may. */
    pid_t tid = atomic_load_explicit(&r->thread_tid, memory_order_relaxed);
    int saved_errno = errno;
    errno = 0;
    int niceness = getpriority(PRIO_PROCESS, 0);
    bool known = !errno;
    errno = saved_errno;
    if (tid && known)
        set_priority(tid, SCHED_OTHER, niceness);
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
    r->writer.packer = NULL; /* may have been in use when its thread ended */
    r->has_thread = false;
    r->thread_done = true;
}
