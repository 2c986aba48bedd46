/* SPDX-License-Identifier: Apache-2.0
 *
 * The recorder's interface and lifetime. The struct comes from mmap and is never unmapped: a thread
 * that still holds the pointer after close, or in the child of a fork, finds `stopped` set and
 * returns. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/vs_cancel.h"
#include "base/vs_clock.h"
#include "base/vs_log.h"
#include "base/vs_quick_lock.h"
#include "trace/record/compress.h"
#include "trace/record/own_file.h"
#include "trace/record/recorder_internal.h"
#include "trace/stacks/python.h"

/* Longest wait for the lock at close: exit() may be called by a handler that interrupted us. */
#define CLOSE_LOCK_NS UINT64_C(2000000000)

static bool is_stopped(const struct vs_recorder *r)
{
    /* relaxed: only avoids the lock; checked again under it */
    return !r || atomic_load_explicit(&r->stopped, memory_order_relaxed);
}

void vs_recorder_fail_locked(struct vs_recorder *r, int error)
{
    if (!r->failed)
        r->error = error;
    r->failed = true;
    atomic_store_explicit(&r->stopped, true, memory_order_relaxed);
    vs_cond_broadcast(&r->progress);
    vs_cond_signal(&r->work);
}

void vs_recorder_out_of_memory_locked(struct vs_recorder *r)
{
    if (!r->out_of_memory)
        vs_log(VS_LOG_WARN, "out of host memory for new names and stacks in %s: they are not recorded",
               r->path);
    r->out_of_memory = true;
}

/* --- opening --- */

static char *copy_text(struct vs_recorder *r, const char *text, const char *suffix)
{
    size_t a = strlen(text), b = strlen(suffix);
    char *copy = vs_arena_alloc(&r->arena, a + b + 1);
    if (copy) {
        memcpy(copy, text, a);
        memcpy(copy + a, suffix, b + 1);
    }
    return copy;
}

static void make_uuid(uint8_t *uuid)
{
    if (getrandom(uuid, 16, GRND_NONBLOCK) != 16) {
        uint64_t parts[2] = {vs_clock_realtime_ns() * UINT64_C(0x9e3779b97f4a7c15),
                             vs_clock_ns() ^ ((uint64_t)getpid() << 40)};
        memcpy(uuid, parts, 16);
    }
    uuid[6] = (uint8_t)((uuid[6] & 0x0f) | 0x40); /* version 4 */
    uuid[8] = (uint8_t)((uuid[8] & 0x3f) | 0x80);
}

static size_t choose_window_bytes(size_t wanted)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t bytes = wanted ? wanted : VS_WINDOW_BYTES_DEFAULT;
    if (bytes < VS_WINDOW_BYTES_MIN)
        bytes = VS_WINDOW_BYTES_MIN;
    if (bytes > VS_FRAME_RAW_MAX)
        bytes = VS_FRAME_RAW_MAX;
    return (bytes + page - 1) & ~(page - 1);
}

enum vs_err vs_recorder_open(const struct vs_recorder_config *config, struct vs_recorder **out)
{
    if (!config || !config->path || !*config->path)
        return VS_ERR_ARG;
    struct vs_recorder *r = vs_pages_map(sizeof *r);
    if (!r)
        return VS_ERR_NOMEM;
    vs_encode_reset_thread(); /* this may be the child of a fork */
    vs_lock_init(&r->lock, VS_RANK_RECORDER, "recorder");
    static _Atomic uint32_t opened;
    r->number = atomic_fetch_add_explicit(&opened, 1, memory_order_relaxed) + 1;
    vs_ticks_init(&r->ticks);
    r->writer.fd = -1;
    r->pid = getpid();
    r->wait_polls = VS_WAIT_POLLS;
    r->depth_max = config->stack_depth_max < VS_STACK_FRAMES_MAX ? config->stack_depth_max
                                                                 : VS_STACK_FRAMES_MAX;
    r->flush_ms = config->flush_ms ? config->flush_ms : 1;
    r->window_bytes =
        vs_trace_limit_window(config->limit_bytes, choose_window_bytes(config->window_bytes));
    vs_selection_open(r, config);
    make_uuid(r->uuid);
    vs_module_list_own_range(&r->own_start, &r->own_end);

    enum vs_err err = VS_ERR_NOMEM;
    r->path = copy_text(r, config->path, "");
    r->live_path = copy_text(r, config->path, ".live");
    if (!r->path || !r->live_path)
        goto fail;
    r->replaces = !config->keep_existing;
    err = vs_writer_open(r, config->compression, config->keep_existing);
    if (err)
        goto fail;
    r->python = config->python && r->depth_max;
    r->python_places_max = VS_PYTHON_PLACES_MAX;
    r->python_functions_max = VS_PYTHON_FUNCTIONS_MAX;
    r->unloads_reported = config->unloads_reported;
    r->native = !config->no_native && r->depth_max && vs_unwind_load();
    if (!r->python && !r->native)
        r->depth_max = 0;
    if (config->compression)
        vs_compress_load();
    err = vs_window_open(r);
    if (err)
        goto fail;
    vs_lock_acquire(&r->lock);
    vs_intern_kinds_locked(r);
    vs_selection_begin_locked(r);
    vs_lock_release(&r->lock);
    vs_writer_start(r);
    vs_module_list_find_python(r);
    *out = r;
    return VS_OK;

fail:;
    VS_KEEP_ERRNO();
    vs_window_close(r, false);
    if (r->writer.regular && r->writer.offset)
        vs_own_file_remove(r->path, r->writer.device, r->writer.inode); /* empty */
    vs_writer_close(r);
    vs_arena_free_all(&r->arena);
    vs_pages_unmap(r, sizeof *r);
    return err;
}

/* --- events --- */

void vs_recorder_event(struct vs_recorder *r, struct vs_event *event)
{
    if (is_stopped(r))
        return;
    VS_RECORDER_SCOPE(r);
    vs_recorder_event_locked(r, event);
}

/* Changes have an order even without a recorder. */
static struct vs_quick_lock unrecorded = {.rank = VS_RANK_RECORDER, .name = "unrecorded"};

/* `inline`, here and elsewhere next to a declaration without it, only makes link-time optimisation
 * inline larger functions than usual. */
inline void vs_recorder_acquire(struct vs_recorder *r)
{
    if (r)
        vs_lock_acquire(&r->lock);
    else
        vs_quick_acquire(&unrecorded);
}

inline void vs_recorder_release(struct vs_recorder *r)
{
    if (!r) {
        vs_quick_release(&unrecorded);
        return;
    }
    if (__builtin_expect(r->end_again, 0))
        vs_ending_again_locked(r);
    vs_lock_release(&r->lock);
}

uint64_t vs_recorder_string(struct vs_recorder *r, const char *text, size_t length)
{
    if (is_stopped(r) || !text)
        return 0;
    if (length == SIZE_MAX)
        length = strnlen(text, VS_STRING_MAX);
    if (length > VS_STRING_MAX)
        length = VS_STRING_MAX;
    if (!length)
        return 0;
    VS_KEEP_ERRNO();
    VS_RECORDER_SCOPE(r);
    return vs_intern_string_locked(r, text, length);
}

void vs_recorder_flush(struct vs_recorder *r)
{
    if (is_stopped(r))
        return;
    VS_KEEP_ERRNO();
    VS_CANCEL_SCOPE();
    vs_lock_acquire(&r->lock);
    vs_window_seal_locked(r);
    uint64_t target = r->active ? r->active->sequence - 1 : r->sequence;
    while (r->written_sequence < target && !r->failed) {
        if (r->thread_done)
            vs_writer_drain_locked(r);
        else
            vs_window_wait_locked(r);
    }
    vs_lock_release(&r->lock);
}

/* --- closing --- */

/* Wait until the background thread has written everything and ended. false when it is stuck (a hung
 * file system): the trace is left for recovery. */
static bool wait_for_thread_locked(struct vs_recorder *r)
{
    while (!r->thread_done) {
        if (!vs_window_wait_locked(r))
            return false;
    }
    return true;
}

/* No other writer is left: finish from the calling thread. */
static void finish_here_locked(struct vs_recorder *r)
{
    vs_writer_drain_locked(r);
    if (r->failed)
        return;
    if (vs_writer_finish(r)) {
        vs_log(VS_LOG_ERROR, "cannot finish %s: %s; its events are kept", r->path, strerror(errno));
        r->failed = true;
        return;
    }
    r->finished = true;
}

void vs_recorder_close(struct vs_recorder *r, enum vs_end_reason reason, uint64_t status)
{
    if (!r)
        return;
    if (r->pid != getpid()) {
        vs_recorder_abandon_in_child(r);
        return;
    }
    VS_KEEP_ERRNO();
    if (!vs_lock_acquire_within(&r->lock, CLOSE_LOCK_NS)) {
        /* everything so far is in FILE.live; a handler that records while the process exits must
         * not wait for that lock either */
        atomic_store_explicit(&r->stopped, true, memory_order_relaxed);
        return;
    }
    bool first = !r->closed, join = false;
    if (first && r->ending.on && !vs_ending_reopen_locked(r))
        vs_recorder_fail_locked(r, ESRCH);
    r->end_again = false;
    r->closed = true;
    if (first && !r->failed) {
        struct vs_event event = {.kind = VS_EVENT_end};
        event.end.reason = reason;
        event.end.status = status;
        vs_recorder_event_locked(r, &event);
    }
    if (first) {
        atomic_store_explicit(&r->stopped, true, memory_order_relaxed);
        vs_window_seal_locked(r);
        r->quit = true;
        vs_cond_signal(&r->work);
        vs_cond_broadcast(&r->progress);
        if (wait_for_thread_locked(r)) {
            join = r->has_thread;
            if (r->failed)
                vs_shortage_finish_locked(r);
            else if (!r->finished)
                finish_here_locked(r);
            r->file_bytes = r->writer.offset;
            vs_window_close(r, !r->finished);
            vs_writer_close(r);
            vs_map_free(&r->string_ids);
            vs_map_free(&r->stack_ids);
            vs_map_free(&r->node_ids);
            vs_map_free(&r->python_places);
            vs_map_free(&r->python_functions);
            vs_selection_close(r);
            vs_pages_unmap(r->modules, r->module_capacity * sizeof *r->modules);
            r->modules = NULL;
            r->module_count = r->module_capacity = 0;
        }
    }
    vs_lock_release(&r->lock);
    if (join)
        pthread_join(r->thread, NULL); /* it only has to return */
}

void vs_recorder_abandon_in_child(struct vs_recorder *r)
{
    if (!r)
        return;
    vs_encode_reset_thread();
    vs_lock_reset_after_fork(&r->lock);
    r->work = r->progress = (struct vs_cond){0};
    atomic_store_explicit(&r->stopped, true, memory_order_relaxed);
    r->closed = true;
    r->failed = true;
    r->thread_done = true;
    r->has_thread = false;
    vs_window_close(r, true); /* FILE.live belongs to the parent */
    vs_writer_close(r);
}

const char *vs_recorder_path(const struct vs_recorder *r)
{
    return r ? r->path : "";
}

void vs_recorder_stats(struct vs_recorder *r, struct vs_recorder_stats *stats)
{
    *stats = (struct vs_recorder_stats){0};
    if (!r)
        return;
    VS_LOCK_SCOPE(&r->lock);
    size_t slots = r->string_ids.capacity + r->stack_ids.capacity + r->node_ids.capacity +
                   r->python_places.capacity + r->python_functions.capacity;
    stats->events = vs_window_events_locked(r);
    stats->bytes_encoded = r->encoded_bytes;
    if (r->active)
        stats->bytes_encoded += vs_window_event_bytes_locked(r);
    stats->bytes_written = r->file_bytes;
    stats->strings = r->strings;
    stats->stack_nodes = r->stack_nodes;
    stats->memory_bytes = sizeof *r + (r->live_map ? r->live_bytes : 0) +
                          slots * sizeof(struct vs_map_slot) + r->arena.bytes_mapped +
                          r->module_capacity * sizeof *r->modules + r->writer.buffer_bytes;
    stats->failed = r->failed;
}
