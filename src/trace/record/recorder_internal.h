/* SPDX-License-Identifier: Apache-2.0
 *
 * The recorder's internals, shared by recorder.c (API), encode.c (events), window.c (live window
 * and hand-over), writer.c (file), writer_thread.c (background thread), ending.c (ends), intern.c
 * (strings, stacks), module_list.c (loaded objects), new_stack.c (the id of a stack), walk.c and cfi.c (stacks by frame rules), unwind.c (the other
 * stacks), caller.c (stacks of one frame), native_stack.c and python_stack.c (stacks with Python
 * frames).
 *
 * One lock, rank RECORDER, guards everything but the writer's part. A function called with it held
 * is named _locked; those that reserve room may release it while they wait for the background
 * thread, so a caller repeats its lookups afterwards. The writer's part belongs to the current
 * writer: the background thread while there is one, else the holder of the lock. */
#ifndef VS_RECORDER_INTERNAL_H
#define VS_RECORDER_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "base/vs_arena.h"
#include "base/vs_lock.h"
#include "base/vs_map.h"
#include "base/vs_ticks.h"
#include "trace/format/format.h"
#include "trace/record/pack.h"
#include "trace/record/recorder.h"
#include "trace/record/selection.h"
#include "trace/stacks/walk.h"

#define VS_WINDOWS 4u
#define VS_WINDOW_BYTES_DEFAULT ((size_t)256 << 10)
#define VS_WINDOW_BYTES_MIN ((size_t)128 << 10) /* holds the longest string definition */
#define VS_WINDOW_BYTES_LEAST ((size_t)16 << 10) /* where that does not fit */
#define VS_WINDOW_TAIL 64u /* at the end of each, for the `end` event of a full disk */
#define VS_END_RECORD_BYTES_MAX VS_WINDOW_TAIL
#define VS_STACK_FRAMES_MAX 128u

enum vs_window_state { VS_WINDOW_FREE, VS_WINDOW_ACTIVE, VS_WINDOW_FULL, VS_WINDOW_WRITING };

struct vs_window {
    unsigned char *data;         /* window_bytes */
    struct vs_live_window *live; /* the part that recovery reads */
    enum vs_window_state state;
    uint64_t sequence, first_event, base_ns, last_ns; /* last_ns: once sealed */
    size_t used; /* once sealed */
    uint32_t events, definitions;
    size_t definition_bytes;
    uint64_t strings_after, nodes_after; /* totals when it was sealed */
};

struct vs_loaded_module {
    uint64_t base, start, end, identity; /* identity: hash of path and build id */
    uint32_t index;                      /* of its `module` event */
};

/* What would follow the file, in memory. */
struct vs_writer_tail {
    unsigned char *data;
    size_t bytes, room;
};

struct vs_writer {
    int fd;          /* the trace; -1 once closed */
    bool regular;    /* a plain file: can be cut back after a failed write */
    unsigned compression;
    uint64_t device, inode; /* identify the file that fd must refer to */
    uint64_t offset; /* end of the last good frame */
    uint64_t events, strings, stack_nodes, last_ns; /* in the file so far */
    unsigned char *buffer; /* one frame */
    size_t buffer_bytes;
    struct vs_packer *packer; /* made by the background thread; NULL = store */
    bool hurried;             /* other windows wait: finish this one quickly */
    uint64_t index_previous; /* offset of the last index frame written */
    uint64_t index_first_sequence;
    uint32_t index_entries;
    struct vs_index_entry *index; /* VS_INDEX_ENTRIES_MAX */
    struct vs_writer_tail *tail;  /* frames go there instead of the file; NULL: to the file */
};

/* The writer's state before it wrote an end that may be taken back. */
struct vs_writer_mark {
    uint64_t offset, events, strings, stack_nodes, last_ns, index_previous, index_first_sequence;
    uint32_t index_entries;
    struct vs_index_entry index_first;
};

/* An end that may be taken back; guarded by the recorder's lock. */
struct vs_ending {
    bool on;     /* the file ends with it */
    bool live;   /* FILE.live was removed for it */
    bool final;  /* the process ends: there is no background thread and no FILE.live */
    pid_t tid;   /* final: the thread whose events are still recorded */
    enum vs_end_reason reason;
    uint64_t status, encoded_bytes;
    struct vs_window *window;
    struct vs_writer_mark mark;
};

/* --- the state behind selection.h: which events to leave out (selection.c), the totals of
 * allocations left out (unrecorded.c) and how full the trace is (trace_limit.c). The recorder's lock
 * guards everything but the counters of samples. --- */

#define VS_UNRECORDED_CELLS 48u /* combinations between two groups of `unrecorded` */

/* An `unrecorded` event that is not written yet: allocs to reserved of *sums* count. */
struct vs_unrecorded_cell {
    struct vs_event_unrecorded sums;
    uint32_t tid;
    uint8_t account;                       /* its index in a struct vs_book */
    uint8_t account_bearer, family_bearer; /* indexes of the cells that report those peaks */
};

/* An account as written to the trace, and its highest values since. */
struct vs_unrecorded_account {
    struct vs_ledger written; /* as a reader of the trace so far has it */
    struct vs_levels high;    /* since the last write */
    struct vs_levels range_high; /* since the last range began or ended */
    uint64_t framework_reserved; /* the highest value reported since the last write */
    uint64_t peak_ns;            /* of *high*; 0: the sums did not rise since the last write */
    uint32_t peak_tid;
    bool pending, used;
};

struct vs_live_counts;
struct vs_live_cell;

struct vs_selection {
    /* bit per kind: events that need work before they are recorded; of those, the ones that are no
     * longer recorded. Guarded by the recorder's lock */
    uint64_t watched_kinds, dropped_kinds;
    bool on;            /* immutable after open, like the next four */
    uint64_t min_size, sample, seed, limit_bytes;
    _Atomic uint64_t seen[VS_LEVEL_COUNT]; /* allocations that could have been a sample */
    _Atomic uint32_t stage;                /* enum vs_recording; written under the lock */
    /* addresses of live allocations that have an event: of memory, of a framework's */
    struct vs_map recorded[2];
    /* the program stopped the recording; written under the lock */
    _Atomic bool paused;
    /* it did so in a recording without selection: *recorded* has the addresses of live allocations
     * without an event instead; guarded by the lock */
    bool late;
    bool pending;       /* cells hold unwritten counts */
    bool must;          /* and they have to be written before anything else is recorded */
    bool looking;       /* checking how full the trace is */
    uint64_t counted_ns;     /* time of the latest counted change */
    uint64_t counts_version; /* live_counts.h; the next two are in FILE.live */
    struct vs_live_counts *live_counts;
    struct vs_live_cell *live_cells;
    unsigned cell_count;
    struct vs_unrecorded_cell cells[VS_UNRECORDED_CELLS];
    struct vs_unrecorded_account accounts[VS_BOOK_ACCOUNTS];
    uint64_t dropped[VS_EVENT_CODE_MAX + 1]; /* events left out since the last report */
    uint64_t totals_since_ns, totals_due_ns; /* stage TOTALS: when it began, the next write */
    uint64_t spent_bytes;                    /* stage TOTALS: written since */
};

/* Tenths of a second that the program waits for a disk or a pipe before recording stops. */
#define VS_WAIT_POLLS 300u

struct vs_recorder {
    struct vs_lock lock;
    /* an end was taken back for an event and has to be written after it; guarded by lock */
    bool end_again;
    struct vs_cond work;     /* to the background thread: a full window, or quit */
    struct vs_cond progress; /* from it: a window was written, or it gave up */
    _Atomic bool stopped;    /* closed or failed: every call is a no-op. Set under lock */

    /* encoding; guarded by lock */
    struct vs_window *active; /* NULL between windows */
    unsigned char *cursor, *limit;
    uint64_t last_ns, last_address, last_t;
    struct vs_ticks ticks;
    uint32_t last_tid;
    uint64_t sequence, written_sequence; /* last handed out, last in the file */
    uint64_t events, encoded_bytes; /* in the windows sealed so far; bytes of events alone */
    uint64_t file_bytes, file_events, strings, stack_nodes; /* file_: written so far */
    bool failed;      /* the file could not be written; FILE.live is kept */
    int error;        /* failed: the errno of the cause */
    bool closed;      /* vs_recorder_close has begun */
    bool stalled;     /* writing does not progress: the recording has failed, no thread waits */
    bool leaving;     /* the process exits or calls exec: waits are limited */
    bool quit;        /* the background thread ends when nothing is left */
    bool thread_done; /* it has ended, or never began */
    bool finished;    /* index and trailer are in the file */
    bool short_of_room; /* the file could not be written; already reported (shortage.c) */
    bool out_of_memory;
    struct vs_ending ending;
    struct vs_selection selection;

    /* interning; guarded by lock */
    struct vs_map string_ids; /* hash of the text -> id */
    struct vs_map stack_ids;  /* hash of the pcs -> id */
    struct vs_map node_ids;   /* hash of parent, pc, module -> id */
    struct vs_map python_places;    /* vs_python_step_key -> module index << 32 | line */
    uint32_t python_places_dropped; /* how often */
    struct vs_map python_functions; /* hash of file and name -> module index */

    /* loaded objects, sorted by start; guarded by lock */
    struct vs_loaded_module *modules;
    size_t module_count, module_capacity;
    uint32_t module_next_index;
    uint64_t module_generation; /* dlpi_adds + dlpi_subs of the list */
    _Atomic uint64_t module_generation_seen; /* the same, readable without the lock */
    bool modules_busy;          /* a thread is writing `module` events */
    _Atomic uint64_t unloads_seen; /* dlpi_subs */
    _Atomic bool modules_unloaded; /* the list has to be read before stacks are looked up */

    /* immutable after open */
    uint32_t number; /* unique in the process */
    unsigned depth_max, flush_ms;
    unsigned wait_polls; /* VS_WAIT_POLLS; lower in tests */
    bool native, python; /* which frames stacks have */
    uint32_t python_places_max, python_functions_max; /* lower in tests */
    bool unloads_reported;
    size_t window_bytes;
    size_t frame_bytes; /* records after which a window is full; may hold a single longer record */
    bool tight;         /* space is short: each frame leaves room for the end */
    uint64_t own_start, own_end; /* pcs of the library that contains us; 0,0 = the program */
    pid_t pid;
    bool replaces;     /* existing files with our names are replaced */
    bool live_on_disk; /* FILE.live exists */
    uint64_t live_inode, checked_ns; /* checked: time of the last check that it exists */
    bool has_thread;
    pthread_t thread;
    _Atomic pid_t thread_tid; /* 0 before it runs */
    bool lowered, raised;     /* its priority; raised again for a waiting thread; guarded by lock */
    uint8_t uuid[16];
    char *path, *live_path;

    struct vs_window windows[VS_WINDOWS];
    void *live_map; /* header page and windows */
    size_t live_bytes;
    struct vs_arena arena; /* strings of this struct; never freed */

    struct vs_writer writer;
};

/* --- selection.c --- */

/* vs_selection_open: read the options from *config*; before anything is recorded. */
void vs_selection_open(struct vs_recorder *r, const struct vs_recorder_config *config);
/* vs_selection_begin_locked: record the options in force in the trace. */
void vs_selection_begin_locked(struct vs_recorder *r);
void vs_selection_close(struct vs_recorder *r);
/* vs_selection_before_locked: *event* is about to be recorded and its kind is watched:
 * false when it is left out. */
bool vs_selection_before_locked(struct vs_recorder *r, const struct vs_event *event);

/* --- unrecorded.c --- */

/* vs_unrecorded_add_locked: count *change* in *book*, and in its cell. *event*: the
 * event that is left out, with its time. */
void vs_unrecorded_add_locked(struct vs_recorder *r, struct vs_book *book,
                              const struct vs_change *change, enum vs_why why,
                              const struct vs_event *event);
/* vs_unrecorded_follow_locked: count *change* in *book*; its own event is about to be recorded.
 * Writes the earlier counts where the reader would otherwise see a peak that never was, or miss
 * one, and leaves room for the event. */
void vs_unrecorded_follow_locked(struct vs_recorder *r, struct vs_book *book,
                                 const struct vs_change *change);
/* vs_unrecorded_publish_locked: put the pending counts into a new FILE.live. */
void vs_unrecorded_publish_locked(struct vs_recorder *r);
/* vs_unrecorded_range_locked: a range begins or ends: peaks start again from the current sums. */
void vs_unrecorded_range_locked(struct vs_recorder *r);
/* vs_unrecorded_write_locked: write the counts into the trace. Leaves room for one more event. */
void vs_unrecorded_write_locked(struct vs_recorder *r);

/* --- trace_limit.c --- */

#define VS_TRACE_LIMIT_MIN ((uint64_t)1 << 20)
/* vs_trace_limit_window: *wanted*, or the largest size that fits a small limit; before windows are
 * made. */
size_t vs_trace_limit_window(uint64_t limit_bytes, size_t wanted);
/* vs_trace_limit_drain_first_locked: no window is active and the next would stop something, which
 * may be unnecessary once the waiting windows are written. */
bool vs_trace_limit_drain_first_locked(const struct vs_recorder *r);
/* vs_trace_limit_check_locked: a window was begun: stop the kinds that no longer fit. */
void vs_trace_limit_check_locked(struct vs_recorder *r);
/* vs_trace_limit_drop_locked: whether *event* is left out; if so, it is counted. */
bool vs_trace_limit_drop_locked(struct vs_recorder *r, const struct vs_event *event);
/* vs_trace_limit_finish_locked: before the end: record the numbers of events left out, by kind. */
void vs_trace_limit_finish_locked(struct vs_recorder *r);
/* vs_trace_limit_totals_due_locked: whether totals are due; the last stage writes them ever more
 * rarely. */
bool vs_trace_limit_totals_due_locked(struct vs_recorder *r, uint64_t now_ns);

static inline bool vs_selection_stacks_stopped(const struct vs_selection *s)
{
    return atomic_load_explicit(&s->stage, memory_order_relaxed) >= VS_RECORDING_NO_STACKS;
}

/* --- window.c --- */

/* vs_window_open: make FILE.live and map it, or use anonymous windows where that fails.
 * VS_ERR_NOMEM. */
enum vs_err vs_window_open(struct vs_recorder *r) VS_MUST_CHECK;
/* vs_window_unlink: remove FILE.live, unless another file has the name by now. */
void vs_window_unlink(const struct vs_recorder *r);
/* vs_window_check_file_locked: releases the lock and checks that FILE.live still exists; recreated
 * where somebody removed it. By the background thread. */
void vs_window_check_file_locked(struct vs_recorder *r);
/* vs_window_close: unmap; removes FILE.live unless *keep*. */
void vs_window_close(struct vs_recorder *r, bool keep);
/* vs_window_change_locked: the active window has no room for *bytes*: continue in the next. */
bool vs_window_change_locked(struct vs_recorder *r, size_t bytes);
/* vs_window_reserve_locked: room for *bytes* at r->cursor; changes window and waits for the
 * background thread as needed (releasing the lock). false when the recorder stopped. */
static inline bool vs_window_reserve_locked(struct vs_recorder *r, size_t bytes)
{
    /* a stopped recorder has no active window, or detects the stop at its end */
    if (__builtin_expect((size_t)(r->limit - r->cursor) >= bytes, 1) &&
        !atomic_load_explicit(&r->stopped, memory_order_relaxed))
        return true;
    return vs_window_change_locked(r, bytes);
}
/* vs_window_wait_locked: wait (releasing the lock) until the background thread has written
 * something or ended; takes its work over when it is gone. false when the thread makes no progress
 * for long; unless the recorder is closing, the recording has failed then. */
bool vs_window_wait_locked(struct vs_recorder *r);
/* vs_window_end_polls: the length of such a wait in tenths of a second when the recording ends. */
unsigned vs_window_end_polls(const struct vs_recorder *r);
/* vs_window_publish_locked: the record that ends at *end* is complete. */
static inline void vs_window_publish_locked(struct vs_recorder *r, unsigned char *end)
{
    struct vs_window *w = r->active;
    r->cursor = end;
    /* pairs with the reader's acquire: a record counts only when it is complete */
    atomic_store_explicit(&w->live->used, (uint64_t)(end - w->data), memory_order_release);
}
/* vs_window_used_locked: bytes used in the active window, which must exist. */
static inline size_t vs_window_used_locked(const struct vs_recorder *r)
{
    return (size_t)(r->cursor - r->active->data);
}
/* vs_window_event_bytes_locked: likewise, of events, without definitions. */
static inline size_t vs_window_event_bytes_locked(const struct vs_recorder *r)
{
    return vs_window_used_locked(r) - r->active->definition_bytes;
}
/* vs_window_events_locked: events recorded so far. */
static inline uint64_t vs_window_events_locked(const struct vs_recorder *r)
{
    return r->events + (r->active ? r->active->events : 0);
}
/* vs_window_begin_free_locked: with no window active, activate a free one, without a wait. false
 * when there is none. */
bool vs_window_begin_free_locked(struct vs_recorder *r);
/* vs_window_seal_locked: hand the active window over unless it is empty. */
void vs_window_seal_locked(struct vs_recorder *r);
/* vs_window_wait_idle_locked: wait (releasing the lock) until the background thread writes nothing.
 * false when it makes no progress. */
bool vs_window_wait_idle_locked(struct vs_recorder *r);
/* vs_window_oldest_locked, vs_window_newest_locked: of those in *state*; NULL when there is none. */
struct vs_window *vs_window_oldest_locked(struct vs_recorder *r, enum vs_window_state state);
struct vs_window *vs_window_newest_locked(struct vs_recorder *r, enum vs_window_state state);
/* vs_window_count_locked: how many are in *state*. */
unsigned vs_window_count_locked(const struct vs_recorder *r, enum vs_window_state state);
/* vs_window_written_locked: *w* is in the file; make it free. */
void vs_window_written_locked(struct vs_recorder *r, struct vs_window *w);

/* --- writer.c --- */

/* vs_writer_open: create the file, write its header. VS_ERR_IO (errno),
 * VS_ERR_NOMEM. */
enum vs_err vs_writer_open(struct vs_recorder *r, unsigned compression, bool keep_existing)
    VS_MUST_CHECK;
/* vs_writer_mark, vs_writer_take_back: cut off everything written since the mark. VS_ERR_IO. */
void vs_writer_mark(const struct vs_recorder *r, struct vs_writer_mark *mark);
enum vs_err vs_writer_take_back(struct vs_recorder *r, const struct vs_writer_mark *mark)
    VS_MUST_CHECK;
/* vs_writer_make_tail: the frame of *end*, the last index and the trailer, as they would follow the
 * file now; the file stays as it is. Nobody else writes. VS_ERR_IO with errno. The caller ends with
 * vs_writer_drop_tail. */
enum vs_err vs_writer_make_tail(struct vs_recorder *r, const struct vs_window *end,
                                struct vs_writer_tail *tail) VS_MUST_CHECK;
void vs_writer_drop_tail(struct vs_writer_tail *tail);
/* vs_writer_report_failed_locked: report that the file cannot be written. */
void vs_writer_report_failed_locked(struct vs_recorder *r, int error);
/* vs_writer_append_window: write *window* as the next frame. VS_ERR_IO: the file is as before. */
enum vs_err vs_writer_append_window(struct vs_recorder *r, const struct vs_window *window)
    VS_MUST_CHECK;
/* vs_writer_finish: last index frame and trailer. VS_ERR_IO. */
enum vs_err vs_writer_finish(struct vs_recorder *r) VS_MUST_CHECK;
/* vs_writer_close: release the writer's resources in *r*; the file stays. */
void vs_writer_close(struct vs_recorder *r);

/* --- writer_thread.c --- */

/* vs_writer_start: start the background thread; without one, windows are written
 * by the threads that fill them. */
void vs_writer_start(struct vs_recorder *r);
/* vs_writer_drain_locked: write every full window from the calling thread; used
 * where there is no background thread. */
void vs_writer_drain_locked(struct vs_recorder *r);
/* vs_writer_take_over_locked: the background thread is gone; from here on windows
 * are written by the threads that fill them. */
void vs_writer_take_over_locked(struct vs_recorder *r);
/* vs_writer_hasten_locked: a thread waits for the background thread. */
void vs_writer_hasten_locked(struct vs_recorder *r);
/* vs_writer_is_self: whether the caller is the background thread. */
bool vs_writer_is_self(const struct vs_recorder *r);
/* vs_writer_alive: whether the background thread still exists. */
bool vs_writer_alive(struct vs_recorder *r);

/* --- ending.c --- */

/* vs_ending_reopen_locked: before an event: take the end back. false when the event has to
 * be left out. */
bool vs_ending_reopen_locked(struct vs_recorder *r);
/* vs_ending_again_locked: after it: write the same end again. */
void vs_ending_again_locked(struct vs_recorder *r);

/* --- intern.c --- */

/* vs_intern_string_locked: as vs_recorder_string, *length* known and at most
 * VS_STRING_MAX. */
uint64_t vs_intern_string_locked(struct vs_recorder *r, const char *text, size_t length);
/* vs_intern_stack_hash: the key of a stack. *pcs*: return addresses, innermost first. No lock
 * needed. */
uint64_t vs_intern_stack_hash(void *const *pcs, size_t count);
/* vs_intern_stack_find_locked: the id for a hash; VS_STACK_MISS when it is new. */
#define VS_STACK_MISS UINT64_MAX
uint64_t vs_intern_stack_find_locked(struct vs_recorder *r, uint64_t hash);
/* vs_intern_stack_add_locked: define the nodes of *pcs* that are new; the id. 0
 * when the recorder stopped or has no memory. */
uint64_t vs_intern_stack_add_locked(struct vs_recorder *r, uint64_t hash, void *const *pcs,
                                    size_t count);
/* vs_intern_node_locked: the node of a frame under *parent* (0: outermost), defined now if it is
 * new; the caller has reserved VS_STACK_NODE_BYTES_MAX. 0 when there is no memory. */
uint64_t vs_intern_node_locked(struct vs_recorder *r, uint64_t parent, uint64_t module_code,
                               uint64_t offset);
/* vs_intern_kinds_locked: describe every event kind; the first records of a trace. */
void vs_intern_kinds_locked(struct vs_recorder *r);

/* --- module_list.c --- */

/* vs_module_list_refresh: write `module` events for objects loaded or unloaded since the last call.
 * Called without the lock (the loader's own lock is taken inside, and a thread that holds that one
 * may be waiting for ours). */
void vs_module_list_refresh(struct vs_recorder *r);
/* vs_module_list_find_python: whether an interpreter is loaded now; recorded in the trace when
 * its frames cannot be read. Called without the lock. */
void vs_module_list_find_python(struct vs_recorder *r);
/* vs_module_list_find_locked: the module that contains *pc*; NULL when none. */
const struct vs_loaded_module *vs_module_list_find_locked(const struct vs_recorder *r, uint64_t pc);
/* vs_module_list_own_range: pcs of the object that contains this code; 0,0 when
 * that is the program itself (linked in statically). */
void vs_module_list_own_range(uint64_t *start, uint64_t *end);

/* --- encode.c --- */

/* vs_encode_end: the record of an `end` event of this thread at the time of the record before, or
 * at the start of its frame; at most VS_END_RECORD_BYTES_MAX. Returns its size. */
size_t vs_encode_end(unsigned char *p, enum vs_end_reason reason, uint64_t status);
/* vs_encode_reset_thread: this thread's kernel id may have changed (fork). */
void vs_encode_reset_thread(void);

/* --- recorder.c --- */

/* vs_recorder_fail_locked: stop for good. The caller has reported the reason. *error*: its errno,
 * for those who ask for a copy later. */
void vs_recorder_fail_locked(struct vs_recorder *r, int error);
/* vs_recorder_out_of_memory_locked: report it once; the current item is left out. */
void vs_recorder_out_of_memory_locked(struct vs_recorder *r);

/* --- shortage.c: the disk is full. Recording stops for good, reports it once, and the recorded events
 * stay readable, followed by an `end` event (VS_END_STOPPED, errno): in FILE.live where there is one,
 * else in FILE, in reserved room --- */

/* vs_shortage_window_bytes: largest window size with which FILE.live leaves most of the free space
 * of its file system to FILE; *wanted* or less, 0 when there is no room for any. *before*: bytes of
 * FILE.live in front of the windows. */
size_t vs_shortage_window_bytes(int fd, size_t wanted, size_t before);

/* vs_shortage_begin: there is no space for FILE.live: write small frames, and reserve room for the
 * end before each. */
void vs_shortage_begin(struct vs_recorder *r);

/* vs_shortage_has_room: whether a frame of *bytes* leaves room for the end. false: errno. */
bool vs_shortage_has_room(const struct vs_recorder *r, size_t bytes);

/* vs_shortage_stop_locked: the file could not be written; nobody else writes. */
void vs_shortage_stop_locked(struct vs_recorder *r, int error);

/* vs_shortage_lost_locked: whether the recording has failed; fails it, with a message, when
 * FILE.live was lost (see live_guard.h). */
bool vs_shortage_lost_locked(struct vs_recorder *r);
/* vs_shortage_stall_locked: the background thread made no progress for *looks* tenths of a second
 * (a pipe without a reader, a server that does not answer). Unless the recording is ending it
 * fails, with a message: the program does not wait any longer. */
void vs_shortage_stall_locked(struct vs_recorder *r, unsigned looks);

/* vs_shortage_finish_locked: the process ends: if there is space by now, complete the trace and set
 * r->finished. The background thread has ended. */
void vs_shortage_finish_locked(struct vs_recorder *r);

#endif
