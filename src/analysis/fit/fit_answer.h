/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether a program fits on a GPU: the answer of one run, from its traces, its notes and its exit
 * status.
 *
 * yes: the program ended with 0, or made as many steps as were asked for, and it recovered from
 *     every failed allocation.
 * no: an allocation failed for want of memory and the program did not recover, whatever its exit
 *     status; or processes that share a device need more than it has, all together.
 * A yes holds only if the assumed sizes do where the headroom is smaller than what they may take in
 * addition; a no, only if more was missing than what was assumed.
 * no answer: anything else: it was not started, failed for another reason, or used no memory. */
#ifndef VS_FIT_ANSWER_H
#define VS_FIT_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/kinds/kinds.h"
#include "analysis/report/summary.h"
#include "base/reading/vs_intern.h"
#include "base/vs_arena.h"
#include "base/vs_err.h"
#include "trace/read/reader.h"

/* --- What one trace says about the question whether its program fits: for each device the highest
 * use and who held it, and the failed allocations. Read-only after vs_fit_trace_build. --- */

#define VS_FIT_HOLDERS_MAX 5

/* vs_fit_where: the label of the call site of *stack* with *mark*, as in the report
 * (vs_text_label). *native*: also of stacks without a line of the user's Python, whose names take
 * time to look up. "" when nothing is known. In the summary's arena. */
const char *vs_fit_where(const struct vs_summary *summary, uint64_t stack, uint64_t mark, bool native);

struct vs_fit_holder {
    const char *where; /* as vs_fit_where */
    uint64_t bytes, count;
    struct vs_site_parts parts; /* by function of an installed package that the line called */
};

struct vs_fit_holders {
    struct vs_fit_holder items[VS_FIT_HOLDERS_MAX]; /* largest first */
    size_t count;
    uint64_t total_bytes; /* of all of them, listed or not */
    uint64_t cached_bytes; /* that vramscope's own allocator would release */
};

/* vs_fit_holders: which lines of the user's hold a device's memory at one event: reads the trace from
 * its start to event number *event* (from 1), that one included. *device*: the trace's number;
 * *tensors*: a framework's memory instead of the device's. Strings are in the summary's arena. Cost:
 * the live set. */
enum vs_err vs_fit_holders(struct vs_reader *reader, const struct vs_summary *summary, uint64_t event,
                           uint64_t device, bool tensors, struct vs_fit_holders *out) VS_MUST_CHECK;

/* A failed allocation. */
struct vs_fit_failure {
    uint64_t requested; /* 0: there is none */
    uint64_t number;    /* among all failures of the trace, from 1 */
    uint64_t missing;   /* bytes that the device lacked; 0: unknown, or the free ones were scattered */
    uint64_t free_bytes; /* of the device, at that time */
    uint64_t time_ns;   /* CLOCK_MONOTONIC */
    bool framework;     /* a framework's own failure, such as torch.OutOfMemoryError */
    bool other_error;   /* not out of memory */
    uint64_t error;     /* CUresult; 0 for a framework's */
    const char *place;  /* "step 2 / backward"; "" outside any range */
    const char *where;  /* as vs_fit_where */
    struct vs_fit_holders holders; /* at that time */
    struct vs_kinds_table kinds;   /* of tensors, at that time; without a list of blocks */
};

struct vs_fit_device {
    uint64_t device; /* the driver's ordinal */
    const char *name, *uuid;
    uint64_t total_bytes;
    bool tensors;            /* a framework reported its tensors: peak_allocated and holders are theirs */
    uint64_t peak_allocated; /* of tensors, or of the device's blocks */
    uint64_t peak_reserved;  /* held by the framework's allocator, or from the device */
    const char *policy;      /* vs_replay_policy */
    const char *peak_place;  /* of peak_allocated */
    struct vs_fit_holders holders;
    struct vs_kinds_table kinds; /* of tensors, at the peak */
    uint64_t used_peak;      /* highest use of the device, contexts included */
    uint64_t outside;        /* of used_peak, what no allocation holds: contexts, modules */
    uint64_t recovered;      /* failures that the program recovered from */
    uint64_t retries;        /* a framework emptied its cache and tried again, with success */
    struct vs_fit_failure failure; /* the first one that the program did not recover from */
};

/* Reads of values that no kernel computed, by one call site. */
struct vs_fit_read {
    const char *where, *kernel; /* as vs_fit_where; the latest kernel that was not computed */
    uint64_t bytes, count;      /* bytes: of the first; 0: of managed memory, unknown */
};
#define VS_FIT_READS_MAX 64u /* call sites; of further ones nothing is kept */

/* The work of the second step on the device. */
struct vs_fit_cost {
    uint64_t steps; /* 1; 0: unknown */
    uint64_t kernel_ns, copy_bytes; /* copies between host and device */
};

struct vs_fit_trace {
    const char *path, *program, *rank;
    uint64_t pid, start_ns, end_ns; /* times: CLOCK_MONOTONIC */
    const struct vs_fit_device *devices; /* those where memory was allocated or refused */
    size_t device_count;
    uint64_t steps; /* completed */
    struct vs_fit_read reads[VS_FIT_READS_MAX];
    unsigned read_count;
    struct vs_fit_cost cost;
    bool partial;   /* not every allocation is in the trace (--sample, --min-size) */
    struct vs_arena memory; /* owns all of it */
};

/* vs_fit_trace_build: reads the trace three times, and once more for each unrecovered failure.
 * *path* and *rank* are copied. Ownership: vs_fit_trace_free. */
enum vs_err vs_fit_trace_build(struct vs_reader *reader, const char *path, const char *rank,
                               struct vs_fit_trace **out) VS_MUST_CHECK;

/* vs_fit_steps: the completed steps of a trace, which may still be recorded. */
enum vs_err vs_fit_steps(struct vs_reader *reader, uint64_t *steps) VS_MUST_CHECK;

void vs_fit_trace_free(struct vs_fit_trace *trace); /* NULL does nothing */

/* What a simulated run assumed or could not do: the lines that its processes appended to the file
 * VRAMSCOPE_SIMULATE_NOTES, equal ones counted together. A line is
 *     KIND TAB PID TAB LIBRARY TAB NAME TAB BYTES TAB TEXT
 * with KIND assumed, measured, unsupported, values, decided, read, replaced, changed, unchanged, unanswered
 * or ranks; other lines are ignored. Of decided, read, changed and unanswered, BYTES is how often it happened (0 counts as once). */

enum vs_fit_note_kind {
    VS_FIT_ASSUMED,     /* a size without a measured entry: NAME the operation, BYTES the size */
    VS_FIT_UNSUPPORTED, /* the function NAME answered "not supported" */
    VS_FIT_DECIDED,     /* a value that was not computed decided something: NAME where, TEXT the value */
    VS_FIT_READ,        /* one was read, and nothing was seen to depend on it; the same */
    VS_FIT_MEASURED,    /* a size with a measured entry, and by whom it was measured */
    VS_FIT_REPLACED,    /* the operation NAME ran another kernel than on a GPU: TEXT says which */
    VS_FIT_CHANGED,     /* a change took effect (docs/advise.md): LIBRARY which, NAME the line of the
                         * program, TEXT the code for it */
    VS_FIT_UNCHANGED,   /* it had none: LIBRARY which, TEXT why */
    VS_FIT_UNANSWERED,  /* of a rank alone: NAME where, TEXT what another rank would have given */
    VS_FIT_RANKS,       /* TEXT: the ranks that may differ */
    VS_FIT_NOTE_KINDS
};

struct vs_fit_note {
    const char *library, *name, *text;
    uint64_t bytes, count;
    bool varied; /* decided, read: *text* is the first of several values */
};

struct vs_fit_note_list {
    struct vs_fit_note *items; /* in the order of their first lines */
    size_t count, capacity;
    struct vs_intern facts;    /* of each */
};

/* Zero-initialise. */
struct vs_fit_notes {
    struct vs_fit_note_list lists[VS_FIT_NOTE_KINDS];
    uint64_t computed, skipped, failed; /* operations on values, over all processes */
    uint64_t read, decided;             /* uses of values that were not computed, likewise */
    uint64_t not_drawn; /* bytes of host tensors whose random numbers were left out, likewise */
    struct vs_arena memory;             /* owns the strings */
};

/* How much the assumed sizes may be wrong by. A size that is held to the end (of a context, a
 * handle, a communicator) counts once, with the largest bytes that were assumed for it; of
 * workspaces, which are held one after another, only the largest counts. */
struct vs_fit_assumed {
    size_t count;    /* of all assumed sizes */
    uint64_t bytes;  /* of those that count */
    uint64_t margin; /* that they may take in addition: sum of vs_fit_note_margin */
};
void vs_fit_assumed_sum(const struct vs_fit_notes *notes, struct vs_fit_assumed *out);

/* vs_fit_note_margin: an assumed size may in truth be twice as large, and at least 32 MiB larger.
 * vs_fit_note_lasts: it is held to the end. */
uint64_t vs_fit_note_margin(const struct vs_fit_note *note);
bool vs_fit_note_lasts(const struct vs_fit_note *note);

/* vs_fit_notes_read: adds the lines of the file at *path*. VS_ERR_IO with errno. */
enum vs_err vs_fit_notes_read(const char *path, struct vs_fit_notes *notes) VS_MUST_CHECK;

/* vs_fit_notes_add_read: a row of VS_FIT_READ. */
void vs_fit_notes_add_read(struct vs_fit_notes *notes, const char *where, const char *text,
                           uint64_t count);

void vs_fit_notes_free(struct vs_fit_notes *notes);

enum vs_fit_answer { VS_FIT_UNKNOWN, VS_FIT_NO, VS_FIT_YES };

/* What a failed run would have needed: a remedy of the post-mortem that was replayed and let the
 * request fit. */
struct vs_fit_remedy {
    char *text;       /* NULL: none */
    const char *kind; /* static, as in the JSON of `vramscope oom` */
    uint64_t bytes;   /* its figure */
};

/* One run of the program on one GPU. The texts live as long as the run. */
struct vs_fit_run {
    const char *gpu;   /* as the user named it */
    const char *value; /* of --vary; NULL without it */
    char *rank;        /* that was run alone; NULL: all of the program's processes; owned */
    const char *const *environment; /* "NAME=VALUE" for the program, NULL-terminated; NULL: none */
    uint64_t wall_ns;
    uint64_t host_bytes; /* the largest process's memory of the host */
    uint64_t host_needed, host_free; /* it was ended, because its processes had so much of the host's
                                      * memory and so much was free (0: more than they may have) */
    int status;        /* exit status as a shell reports it: 128+n killed by signal n */
    bool started;      /* false: the program could not be started */
    bool stopped;      /* it had made enough steps, and was ended */
    bool wants_devices; /* it asked for a GPU that is not there */
    char *errors;      /* the last lines of its standard error; may be NULL */
    struct vs_fit_trace **traces; /* one per process that used the GPU */
    size_t trace_count, trace_capacity;
    struct vs_fit_notes notes;
    struct vs_fit_remedy remedy; /* of a failed allocation; the text is owned */
    uint64_t needed;   /* of a failed allocation: the most that the program uses of a device with
                        * more memory; 0: unknown */
    uint64_t needed_steps; /* after so many steps that run was ended; 0: to the program's end */

    /* set by vs_fit_decide */
    enum vs_fit_answer answer;
    char why[256]; /* of no answer; of "no" without a failed allocation */
    const struct vs_fit_trace *worst;         /* the process to show; NULL: none used the GPU */
    const struct vs_fit_device *worst_device; /* and its device */
    unsigned sharing;       /* processes that used that device */
    uint64_t used_peak;     /* of the device, over all of them */
    struct vs_fit_assumed assumed;
    bool if_assumed; /* another answer is possible if the assumed sizes are wrong by their margin */
    const struct vs_fit_note *if_no_more; /* a mask that was not computed may select more than it did; NULL */
    uint64_t recovered, retries; /* over all processes and devices */
};

/* All runs of one `vramscope fit`, GPU by GPU in the order of the command line. */
struct vs_fit_set {
    struct vs_fit_run *runs;
    size_t count;
    const char *vary; /* the name that varies, "--batch"; "" for {} alone; NULL: nothing varies */
    char *const *program; /* the command, NULL-terminated, as given */
    const char *kept; /* folder of the traces; NULL: not kept */
    bool answered;    /* every run that the answer needs has ended, also if a signal came */
    unsigned long long ranks; /* of the whole job, of which each run is one; 0: runs are whole jobs */
};

/* vs_fit_set_answer: of *gpu* (NULL: of all GPUs). Yes where something fits on each, no where
 * nothing fits on one of them, unknown where a run of one has no answer. */
enum vs_fit_answer vs_fit_set_answer(const struct vs_fit_set *set, const char *gpu);

/* vs_fit_set_largest: the run with the last value that fits on *gpu*; NULL: none fits. */
const struct vs_fit_run *vs_fit_set_largest(const struct vs_fit_set *set, const char *gpu);

/* vs_fit_set_first: the first run on *gpu*, which has some. */
const struct vs_fit_run *vs_fit_set_first(const struct vs_fit_set *set, const char *gpu);

/* vs_fit_decide: fills in the last part. Cost: where processes share a device, one pass over all
 * traces. */
enum vs_err vs_fit_decide(struct vs_fit_run *run) VS_MUST_CHECK;

/* vs_fit_takes_share: *whole*, a run on a GPU with more memory than any, used much of it: the program takes a
 * part of whatever there is (vLLM's KV cache), and what it needs is not known. */
bool vs_fit_takes_share(const struct vs_fit_run *whole);

/* vs_fit_set_needed: *whole* is the same program's run on such a GPU with more memory. */
void vs_fit_set_needed(struct vs_fit_run *run, const struct vs_fit_run *whole);

/* vs_fit_headroom: the free memory of the device at its highest use. */
uint64_t vs_fit_headroom(const struct vs_fit_run *run);

/* vs_fit_lacks: of a "no", the bytes that were missing: of all that it needs, or of the failed
 * allocation; 0: unknown. */
uint64_t vs_fit_lacks(const struct vs_fit_run *run);

/* vs_fit_run_clear: frees what the run owns: errors, remedy, traces and notes. */
void vs_fit_run_clear(struct vs_fit_run *run);

#endif
