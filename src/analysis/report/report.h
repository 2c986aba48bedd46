/* SPDX-License-Identifier: Apache-2.0
 *
 * The contents of `vramscope report`, computed from a trace in one reading in bounded memory, not
 * yet rendered. A report owns its strings: it outlives the reader. Sizes are in bytes, times in
 * nanoseconds since the process started unless a name says otherwise. Read-only after
 * vs_report_build; any thread. */
#ifndef VS_REPORT_H
#define VS_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/report/growth_fill.h"
#include "analysis/report/report_device.h"
#include "analysis/report/report_failure.h"
#include "analysis/report/window_peaks.h"
#include "base/vs_arena.h"
#include "base/vs_err.h"
#include "trace/read/job_rank.h"
#include "trace/read/reader.h"

struct vs_report_pair {
    const char *name, *value;
};

struct vs_report_note {
    uint64_t severity; /* as in the trace: a vs_log_level */
    const char *text;
};

/* What the caller asks for beyond the usual lists. */
struct vs_report_wish {
    unsigned by;    /* bits 1 << enum vs_by: only these lists; 0: the usual report */
    bool map;       /* the segments at the time */
    bool kernels, transfers, syncs; /* these sections of the timeline */
    bool everything; /* all lists of live memory and the segments, beside the usual report */
    bool one_device;
    uint64_t device; /* with one_device: only this one */
    struct vs_held_filter filter;
};

/* vs_report_wish_memory, _time: whether only lists of live memory are wanted, and sections of the timeline. */
static inline bool vs_report_wish_memory(const struct vs_report_wish *wish)
{
    return wish->by || wish->map || vs_held_filter_given(&wish->filter);
}
static inline bool vs_report_wish_time(const struct vs_report_wish *wish)
{
    return wish->kernels || wish->transfers || wish->syncs;
}

/* Which part of the trace a report is about. */
struct vs_report_part {
    bool point; /* the state after event last_event; sums and peaks are those so far */
    bool window; /* events first_event … last_event; memory that was live before is live at its
                  * start */
    uint64_t from_ns, to_ns; /* as requested, or times of those events */
    uint64_t first_event, last_event, events; /* numbers from 1; how many */
};

struct vs_report {
    struct vs_report_wish wish; /* as given; what its filter points at is the caller's */
    bool site_unknown; /* wish.filter.site matches no call site of this part of the trace */
    struct vs_report_part part; /* neither flag set: the whole trace */
    /* the process */
    const char *program; /* base name of the executable */
    const char *exe, *cmdline, *host, *version, *policy;
    const char *boot; /* which start of the machine born_ns counts from; "": unknown */
    uint64_t born_ns; /* when the process was started; 0: unknown */
    uint64_t pid, ppid;
    struct vs_job_rank job;     /* its place in a job of several processes */
    uint64_t start_realtime_ns; /* since the Unix epoch */
    uint64_t start_ns;          /* CLOCK_MONOTONIC; other times count from it */
    uint64_t duration_ns;
    bool has_end;               /* the trace has an `end` event */
    uint64_t end_reason, end_status; /* enum vs_end_reason */
    /* the trace */
    const char *path;
    uint64_t trace_bytes, events;
    enum vs_condition condition;
    struct vs_reader_outcome outcome; /* of a program whose trace has no end */
    const char *condition_text;
    uint64_t kernels_until_ns; /* the end of the last known kernel or copy, where the program was
                                * killed: later activity was not delivered; 0: nothing is missing */
    bool copy_sites_known; /* the whole trace was read, and it has the stacks of copies */
    uint64_t unmatched_frees, unmatched_pops, ignored;
    struct vs_recording_state recording; /* which changes have events; since_ns as all times here */
    uint64_t totals_ns; /* when the last sums of changes without events were written; 0: never */
    size_t missing_modules;      /* objects whose symbols could not be read */
    const char *symbols_note;    /* places without a name and why; "" when there are none */

    struct vs_report_pair *options;
    size_t option_count;
    struct vs_report_device *devices;
    size_t device_count;
    struct vs_report_host host_memory;
    const struct vs_report_phase *phases; /* in tree order */
    size_t phase_count;
    struct vs_report_steps steps;
    const struct vs_report_failure *failures; /* the latest ones, oldest first */
    size_t failure_count;
    uint64_t failure_total;
    const struct vs_report_first *firsts; /* of the older ones, by number */
    size_t first_count;
    uint64_t failures_recovered; /* of all: the program recovered from these */
    const struct vs_report_failure_group *groups; /* of all failures, by their first */
    size_t group_count;
    uint64_t ungrouped; /* failures of further groups */
    struct vs_refusals refusals; /* all CUDA failures, by device, family and error; for a point in time
                                  * those of *failures* */
    /* Reads of values that no kernel computed, by enum vs_uncomputed, in their order; a site's api is the
     * event's text. None for a point in time. */
    struct vs_report_sites uncomputed[VS_UNCOMPUTED_COUNT];
    const struct vs_report_finding *findings; /* by their first */
    size_t finding_count;
    uint64_t findings_ungrouped; /* of further kinds and stacks */
    struct vs_report_note *notes;
    size_t note_count;
    struct vs_report_pair *dropped; /* kind and count (as text) */
    size_t dropped_count;
    struct {
        bool known;
        uint64_t error_ns; /* the largest; of times of the device against the host's */
        int64_t drift_ppb; /* the latest; corrected in these times */
    } device_clock;
    const struct vs_report_window *windows; /* of vs_window_peaks; the caller's; NULL: none were asked for */
    size_t window_count;
    struct vs_arena memory; /* owns everything else */
};

struct vs_observer;    /* reading.h */
struct vs_growth_tracker;
struct vs_replay;
struct vs_trace_state; /* trace_state.h */

#define VS_REPORT_OBSERVERS_MAX 4
struct vs_report_options {
    size_t sites_max;   /* call sites per list; 0 = 50 */
    size_t kernels_max; /* kernels per device; 0 = 50 */
    /* NULL: the whole trace. With from: that window; with only to: the state at that time */
    const struct vs_time_window *window;
    const struct vs_report_wish *wish; /* NULL: nothing */
    bool timeline;   /* the call sites of waits, gaps and copies are named; with wish.everything or its sections all */
    bool all_growth; /* growing sites below a thousandth of the peak are listed too */
    const struct vs_observer *observers; /* further ones of the reading, at most */
    size_t observer_count;               /* VS_REPORT_OBSERVERS_MAX */
    const struct vs_peak *chosen;  /* NULL; or the peaks of a further observer (peak_states.h) */
    /* NULL; or called with *observed* before the first event, with what the report follows */
    void (*begin)(void *observed, struct vs_replay *replay, const struct vs_growth_tracker *growth);
    void *observed;
    struct vs_trace_state **state; /* NULL; or receives the state at the end of the reading, which
                                    * the caller closes */
};

struct vs_time_window; /* trace_state.h */

/* vs_report_of_phase: whether memory is listed at the peak of wish.filter.phase. */
static inline bool vs_report_of_phase(const struct vs_report *report)
{
    return report->wish.filter.phase && !report->part.point;
}

/* vs_report_build: reads the whole trace (from its start), or the part selected by the options, and
 * computes the report. For a part that ends before the trace does the condition is complete.
 * Kernels, copies and memsets of a part are those that ran during it, with their time in it; their
 * events are searched up to 10 s after it. *path* is only printed. Returns VS_OK whatever the
 * trace's condition (see report->condition), or Ownership: vs_report_free. Cost: one
 * reading; for a part, with checkpoints, only the events near it. */
enum vs_err vs_report_build(struct vs_reader *reader, const char *path,
                            const struct vs_report_options *options, struct vs_report **out)
    VS_MUST_CHECK;

/* vs_report_device_of: that with the driver's ordinal *device*; NULL: the program did not use it. */
struct vs_report_device *vs_report_device_of(const struct vs_report *report, uint64_t device);

/* vs_report_option: the value of option *name*, of several the last, which applies; NULL: the trace has
 * none. */
const char *vs_report_option(const struct vs_report *report, const char *name);

void vs_report_free(struct vs_report *report); /* NULL does nothing */

#endif
