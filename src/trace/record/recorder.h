/* SPDX-License-Identifier: Apache-2.0
 *
 * The write side of a trace, inside the traced process. Events are encoded straight into a live
 * window (a shared mapping of FILE.live, so that a killed process loses at most the record being
 * written); a background thread compresses full windows into the trace file. One recorder per
 * process.
 *
 * Threads: every function may be called from any thread unless stated otherwise; none from a signal
 * handler. Recording takes one short critical section (rank RECORDER), no malloc; a syscall only
 * when a window is full. On failure (full disk, no memory) the recorder stops, reports it once
 * through vs_log, keeps the data already written, and every later call is a cheap no-op: the
 * program keeps running unaffected. */
#ifndef VS_RECORDER_H
#define VS_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vs_err.h"
#include "trace/format/event.h"

struct vs_recorder;

struct vs_recorder_config {
    const char *path;          /* created with mode 0600; an existing file is replaced, its
                                * FILE.live too */
    /* do not replace a plain file: VS_ERR_IO with errno EEXIST; nor another trace's FILE.live,
     * which is renamed */
    bool keep_existing;
    unsigned compression;      /* zstd level; 0 = store */
    unsigned stack_depth_max;  /* frames kept, 1..128; 0 = no stacks */
    /* threads that run Python record Python frames only, other threads no stack */
    bool no_native;
    bool python;               /* add Python frames to the stacks of those threads */
    bool unloads_reported;         /* vs_recorder_unloading is called before every dlclose */
    unsigned flush_ms;         /* a window older than this is written even if not full */
    size_t window_bytes;       /* 0 = default (256 KiB) */
    uint64_t min_size;         /* smaller allocations get no events of their own; 0: record all */
    uint64_t sample;           /* record one of this many; 0 and 1: every one */
    uint64_t sample_seed;      /* selects which one of each group */
    uint64_t limit_bytes;      /* of the file and FILE.live together; 0: none */
};

/* vs_recorder_open: start a trace. Copies the members of *config* that it needs. Returns VS_OK;
 * VS_ERR_IO (reason in errno) when the file cannot be created; VS_ERR_NOMEM. Ownership: the caller
 * closes it. */
enum vs_err vs_recorder_open(const struct vs_recorder_config *config, struct vs_recorder **out)
    VS_MUST_CHECK;

/* vs_recorder_event: append one event. Fills in time and thread where they are 0 (also in *event*,
 * for the caller). Events are written in the order of the calls. */
void vs_recorder_event(struct vs_recorder *recorder, struct vs_event *event);

/* vs_recorder_acquire, vs_recorder_release: everything the caller does in between is one step in
 * the order of the trace: its events, by vs_recorder_event_locked, and its own state beside them.
 * Rank RECORDER; no other function of the recorder in between. Without a recorder (NULL), or after
 * it stopped, they still exclude each other. vs_recorder_event_locked may release the lock while it
 * waits for the background thread, before it appends. */
void vs_recorder_acquire(struct vs_recorder *recorder);
void vs_recorder_release(struct vs_recorder *recorder);
void vs_recorder_event_locked(struct vs_recorder *recorder, struct vs_event *event);

/* VS_RECORDER_SCOPE: acquired until the end of the block, however the block is left. */
static inline struct vs_recorder *vs_recorder_scope_begin(struct vs_recorder *recorder)
{
    vs_recorder_acquire(recorder);
    return recorder;
}
static inline void vs_recorder_scope_end(struct vs_recorder *const *recorder)
{
    vs_recorder_release(*recorder);
}
#define VS_RECORDER_SCOPE(recorder) \
    struct vs_recorder *const vs_recorder_held_ \
        __attribute__((cleanup(vs_recorder_scope_end), unused)) = vs_recorder_scope_begin(recorder)

/* vs_recorder_string: the id of a text, defined in the trace on first use.
 * *length* SIZE_MAX means strlen. At most 64 KiB are kept, or less in a small window. 0 for
 * NULL or "". */
uint64_t vs_recorder_string(struct vs_recorder *recorder, const char *text, size_t length);

/* vs_recorder_stack: capture the calling thread's native stack, leaving out the *skip* innermost
 * frames (0 = the caller of this function is the first frame kept) and every frame inside the
 * library that contains the recorder, and return its id. 0 when stacks are off or nothing could be
 * captured. Modules are re-read when objects were loaded or unloaded since. Cost: one cached unwind
 * and one lookup when the stack was seen before. */
uint64_t vs_recorder_stack(struct vs_recorder *recorder, unsigned skip);

/* vs_encode_thread: the calling thread's kernel id. Cost: one system call per thread. */
uint32_t vs_encode_thread(void);

/* vs_recorder_caller: the id of a stack of one frame: the call that returns to *pc*. 0 for NULL,
 * for code of the library that contains the recorder, and when the recorder stopped. Cost: one
 * lookup in a small table, without a lock, when it was seen recently. */
uint64_t vs_recorder_caller(struct vs_recorder *recorder, const void *pc);

/* vs_recorder_stack_of: the id of a native stack captured earlier: return addresses, innermost
 * first, without those of the library that contains the recorder. 0 without any, or when new stacks
 * are no longer recorded. Takes the loader's lock. */
uint64_t vs_recorder_stack_of(struct vs_recorder *recorder, void *const *frames, size_t count);

/* vs_recorder_frame: the id of the stack *outer* (0: none) with one more frame, of a function known by name
 * alone: in *file*, at *line*; "" and 0: of no code. 0 when it cannot be defined. */
uint64_t vs_recorder_frame(struct vs_recorder *recorder, uint64_t outer, const char *function, const char *file,
                           unsigned line);

/* vs_recorder_unloading: the calling thread is going to unload an object, until it calls
 * vs_recorder_unloading_done; with or without a recorder. Returns the path of a library that has to
 * stay loaded from here on, since the recorder calls it (NULL: none): the caller reports through
 * vs_recorder_kept whether it could ensure that. */
const char *vs_recorder_unloading(void);
void vs_recorder_kept(bool kept);
void vs_recorder_unloading_done(void);

/* vs_recorder_unloaded: objects may have been unloaded: later stacks may have other code at the
 * same addresses. Without this call the unload is noticed with the next new stack. Called with no
 * lock held; takes the loader's. */
void vs_recorder_unloaded(struct vs_recorder *recorder);

/* vs_recorder_flush: hand the active window to the background thread and wait until everything
 * recorded before the call is in the file. */
void vs_recorder_flush(struct vs_recorder *recorder);

/* vs_recorder_close: append `end`, write index and footer, remove FILE.live, stop
 * the background thread. Frees nothing that another thread may still be using:
 * late calls are no-ops. NULL does nothing. */
void vs_recorder_close(struct vs_recorder *recorder, enum vs_end_reason reason, uint64_t status);

/* vs_recorder_end: as vs_recorder_close, for a process whose last event cannot be predicted: an
 * event that this thread records later takes the end back and puts it behind that event, so that
 * the file is complete after each. Other threads record no more. When called again, the last status
 * counts. */
void vs_recorder_end(struct vs_recorder *recorder, enum vs_end_reason reason, uint64_t status);

/* vs_recorder_dismiss_thread: end the background thread; from here on the recording threads write.
 * For a process that ends with its last thread. */
void vs_recorder_dismiss_thread(struct vs_recorder *recorder);

/* vs_recorder_exec_begin: end the trace because the process is about to call exec. True: the trace
 * is complete, and the recorder is held (rank RECORDER) until vs_recorder_exec_failed, which takes
 * the end back and goes on. False: nothing is held; the trace is left for recovery. Signal-safe
 * while vs_lock_held() is false. */
bool vs_recorder_exec_begin(struct vs_recorder *recorder);
void vs_recorder_exec_failed(struct vs_recorder *recorder);

/* vs_recorder_copy: write a complete copy of the trace so far to *path*; a file of that name is
 * replaced. The recording goes on; other threads that record wait only until everything recorded so
 * far is in the trace. The trace itself never has the end of the copy. VS_ERR_STATE: the recording
 * has ended, or its file is a pipe; VS_ERR_ARG: *path* is the trace itself, a pipe or a device;
 * VS_ERR_IO: the trace could not be written, now or earlier, or *path* cannot be (errno); *path* is
 * unchanged then. */
enum vs_err vs_recorder_copy(struct vs_recorder *recorder, const char *path) VS_MUST_CHECK;

/* vs_recorder_abandon_in_child: in the child of a fork, drop the parent's trace without writing to
 * it (descriptors closed, mappings dropped). */
void vs_recorder_abandon_in_child(struct vs_recorder *recorder);

/* vs_recorder_path: the path as opened. Valid until close. */
const char *vs_recorder_path(const struct vs_recorder *recorder);

struct vs_recorder_stats {
    uint64_t events, bytes_encoded, bytes_written, strings, stack_nodes, memory_bytes;
    bool failed;
};
void vs_recorder_stats(struct vs_recorder *recorder, struct vs_recorder_stats *stats);

#endif
