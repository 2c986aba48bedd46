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

#include "analysis/state/findings.h"
#include "analysis/report/held.h"
#include "analysis/state/balance.h"
#include "analysis/state/replay_totals.h"
#include "analysis/state/sites.h"
#include "base/vs_arena.h"
#include "base/vs_err.h"
#include "trace/format/event.h"
#include "trace/read/job_rank.h"
#include "trace/read/reader.h"

struct vs_report_frame {
    const char *function; /* never NULL */
    const char *file;     /* NULL when unknown */
    const char *module;
    unsigned line;        /* 0 when unknown */
    bool inlined, known;
    const char *library;  /* whose code it is: "torch", "cuBLAS"; NULL: the user's */
};

/* Of a call site's memory, what one function of an installed package allocated for it. */
#define VS_SITE_PARTS_MAX 64
struct vs_site_part {
    const char *function, *file, *library; /* "LlamaMLP.forward", path or NULL, "transformers" */
    unsigned line; /* 0: on several */
    uint64_t bytes, count;
};
struct vs_site_parts {
    struct vs_site_part *items; /* room for VS_SITE_PARTS_MAX; NULL: none */
    size_t count;
};

/* A call site that allocated memory. Stacks with the same text are one site: the user's functions,
 * without the frames of libraries below and between them. */
struct vs_report_site {
    enum vs_level level; /* VS_LEVEL_FRAMEWORK: of tensors; VS_LEVEL_DEVICE */
    const char *line;    /* the user's line on whose behalf a thread without Python frames allocated:
                          * "loss.backward() (train.py:40)"; or its operation
                          * (vs_naming_torch); NULL: the frames name the site */
    const char *line_file; /* of *line*: the path of its file; NULL without it */
    unsigned line_number;
    const char *through; /* the library's function that the user's called: "torch: Linear.forward";
                          * NULL: none, or several */
    struct vs_site_parts parts; /* the user's line called several functions of packages, such as the
                          * forward of several modules: the largest first, not all of the bytes */
    bool folds;          /* frames of libraries are not shown */
    size_t stacks;       /* distinct ones that are this site, at least 1 */
    const struct vs_report_frame *frames; /* innermost first; without internal frames */
    size_t frame_count;                   /* 0 when no stack was recorded */
    size_t wrappers; /* leading frames that are not shown: libraries called by the user, and
                      * functions shared by nearly every site: the program's own allocation
                      * function; below frame_count */
    const char *api;                      /* "cudaMalloc", …; "" when unknown */
    unsigned family;
    uint64_t bytes, count; /* held at the time of the list */
    uint64_t allocs, frees, alloc_bytes, largest; /* up to that time */
    VS_SITE_COUNTERS(VS_SITE_COUNTER_FIELD)
    uint64_t lifetime_mean_ns; /* of the freed ones */
    bool growing;          /* its memory grows, and is not freed before the end */
    bool growth_freed;     /* it was freed at the end */
    bool growth_replaced;  /* a larger buffer replaces the one before: growth_per_step is the average */
    bool growth_filled;    /* not growing: it grew until growth_until, and is constant since */
    bool growth_in_steps;  /* the figures in steps are known */
    uint64_t growth_bytes, growth_per_step;
    uint64_t growth_every; /* steps from one growth to the next; 0 when not known */
    uint64_t growth_since, growth_until; /* numbers of steps: of the first growth, of the last */
    uint64_t growth_since_ns, growth_until_ns; /* since the program's start */
    double growth_confidence; /* 0 to 1 */
};

/* The heaviest first. */
struct vs_report_sites {
    const struct vs_report_site *items;
    size_t count;
    uint64_t total_bytes, total_count; /* over all sites, listed or not */
    uint64_t omitted_count; /* sites not in the list */
    uint64_t omitted_bytes;
    /* Where not every allocation was recorded (vs_report.recording): the figures of sites are
     * estimates if weight is above 1, each recorded allocation representing that many. */
    uint64_t weight;
    uint64_t exact_bytes; /* exact value that total_bytes estimates */
    uint64_t small_bytes, small_count; /* too small to be recorded: exact, not in any site */
    uint64_t whole_bytes; /* at a peak: the exact peak; sites need not add up to it. 0: they do */
    int64_t limit_bytes;  /* allocated after the trace was full, minus freed: not in any site */
};

/* vs_report_sites_unlisted: bytes of the whole that are neither in the sites nor in the small
 * allocations; below 0 where estimates are too high. */
static inline int64_t vs_report_sites_unlisted(const struct vs_report_sites *sites)
{
    return sites->whole_bytes
               ? (int64_t)(sites->whole_bytes - sites->total_bytes - sites->small_bytes) : 0;
}

/* vs_report_site_error: standard error of the estimate *bytes* of a site, for blocks of
 * about one size; 0 when it is exact. */
uint64_t vs_report_site_error(const struct vs_report_sites *sites,
                              const struct vs_report_site *site);

struct vs_report_family {
    uint64_t allocs, frees, failures;
    uint64_t bytes; /* requested, summed over time */
    uint64_t peak_bytes, live_bytes, live_count; /* live: at the end */
};

/* vs_report_family_seen: whether the family was used. */
static inline bool vs_report_family_seen(const struct vs_report_family *family)
{
    return family->allocs || family->frees || family->failures || family->live_count;
}

struct vs_report_peak {
    uint64_t bytes;
    uint64_t time_ns;
    uint64_t event; /* 1-based index in the trace; 0 when there was no allocation */
    const char *place; /* "step 3 / backward"; "" outside any range */
    uint64_t allocated, requested, reserved; /* at that time */
    uint64_t free_bytes, largest_hole, holes; /* inside segments at that time */
    bool holes_unknown; /* blocks were not recorded: only free_bytes is known */
};

/* 1 - largest hole / free bytes; 0 when nothing is free. */
double vs_report_external_fragmentation(const struct vs_report_peak *peak);

struct vs_report_kernel {
    const char *name;
    uint64_t count, time_ns, shortest_ns, longest_ns;
};

/* A call site that allocated and freed blocks of one size again and again. */
struct vs_report_churn {
    struct vs_report_site site;
    uint64_t block_bytes, allocs, frees;
    bool one_at_a_time; /* each was freed before the thread allocated anything else */
    double per_step;    /* allocations; 0 without steps */
};

struct vs_report_tally {
    uint64_t count, bytes, time_ns;
};

struct vs_report_device {
    uint64_t device; /* the driver's ordinal */
    const char *name, *uuid;
    uint64_t total_bytes, sm_count, cc_major, cc_minor;
    uint64_t limit_bytes; /* set by the option limit; 0: no limit */
    bool simulated;
    struct vs_report_family family[VS_FAMILY_COUNT]; /* host families stay zero */
    enum vs_level level; /* the user's: of the lists of sites below, of *peak_user* and of phases */
    struct vs_report_peak peak_user; /* of tensors and other memory that does not hold them; at the
                                      * device's level that of peak_allocated */
    uint64_t user_allocated; /* likewise, at the end */
    struct vs_report_peak peak_chosen; /* likewise, while wish.filter.phase was open, in its steps; of
                                        * the whole trace or a window */
    struct vs_report_peak peak_allocated, peak_requested;
    struct vs_report_peak peak_reserved; /* of the times with that peak, the one with most allocated */
    uint64_t peak_reserved_first_ns;     /* when that peak was first reached */
    const char *peak_reserved_first_place;
    uint64_t family_at_peak[VS_FAMILY_COUNT]; /* live bytes at the peak of allocated */
    uint64_t allocated, requested, reserved; /* at the end */
    uint64_t lost_bytes, lost_count; /* still live when their context was destroyed */
    uint64_t segment_allocs, segment_frees;
    /* the driver's memory for graphs: at the end, its peak; and the peak in use */
    uint64_t graph_reserved, graph_reserved_peak, graph_used_peak;
    struct vs_report_sites at_peak; /* at peak_user */
    struct vs_report_sites at_end;  /* live, or lost with their context */
    struct vs_report_sites growing; /* sites that grow; bytes = at the end */
    struct vs_report_sites filled;  /* large ones that grew and are constant since */
    /* The second line where *level* is the framework's: the device's own sites, at peak_allocated and
     * at the end; otherwise empty. */
    struct vs_report_sites device_at_peak, device_at_end;
    struct vs_report_sites cached;  /* at a point in time: memory in segments without live blocks, by the call
                                     * sites that requested the segments; count: of segments */
    struct vs_held held;            /* live at the peak of allocated, at that of the chosen phase, or
                                     * at the chosen time */
    const struct vs_report_churn *churn; /* most bytes first */
    size_t churn_count, churn_omitted;
    bool growth_steady;             /* the allocated bytes of *level* grow */
    uint64_t growth_per_step;
    bool has_framework;             /* a framework's own allocator was also recorded */
    uint64_t framework_allocs, framework_frees, framework_allocated;
    uint64_t framework_peak_allocated, framework_peak_reserved, framework_ooms;
    uint64_t framework_retries; /* refusals by the device after which PyTorch emptied its cache and
                                 * got the memory: not failures */
    struct vs_unrecorded unrecorded[VS_LEVEL_COUNT][VS_WHY_COUNT]; /* included in the other figures */
    struct vs_balance balance_peak; /* at the reading of highest use */
    struct vs_balance balance_last; /* at the last reading */
    /* the highest use of the device, also between readings (between_readings.h): .bytes, with the time */
    struct vs_report_peak use_known, use_possible;
    const struct vs_report_kernel *kernels; /* by time, longest first */
    size_t kernel_count;
    struct vs_report_tally kernel_total, copies[VS_COPY_KIND_COUNT], sets, syncs;
    struct vs_report_sites copy_sites[VS_COPY_KIND_COUNT]; /* if copy_sites_known */
};

struct vs_report_host {
    struct vs_report_family family[VS_FAMILY_COUNT]; /* pinned and registered */
    uint64_t peak_bytes, peak_time_ns;
    const char *peak_place;
    uint64_t live_bytes;
    struct vs_report_sites at_end, growing, filled; /* as of a device */
};

struct vs_report_phase {
    const char *name;  /* innermost name */
    const char *path;  /* "step / forward" */
    unsigned depth;    /* 0 for outermost */
    uint64_t times, time_ns;
    uint64_t allocs, alloc_bytes; /* allocated while it was the innermost, at the user's level */
    const uint64_t *peaks; /* peak at the user's level while it was open, per devices[] entry */
};

struct vs_report_failure {
    uint64_t event, time_ns;
    uint32_t tid;
    bool framework, recovered, host;
    bool workspace;  /* recovered: a library did without this memory */
    uint64_t device; /* the driver's ordinal */
    unsigned family;
    unsigned overhead; /* 0: an allocation; otherwise as in struct vs_failure */
    uint64_t requested, error, stack;
    uint64_t mark; /* string id of the user's line that was marked then; 0: none */
    uint64_t device_requested; /* of a framework's failure: the device's refused request; 0: none */
    uint64_t attempts;         /* refusals by the device */
    uint64_t device_free, device_total; /* 0/0 when unknown */
    uint64_t allocated, reserved;
    const char *api, *place;
    struct vs_report_site site; /* its frames; bytes = requested */
};

/* The first of failures that are identical and not among the latest, which are kept. */
struct vs_report_first {
    struct vs_report_failure failure;
    uint64_t number; /* among all, from 1 */
    uint64_t more;   /* such ones like it */
};

/* Failures of the same kind at the same call site. */
struct vs_report_failure_group {
    struct vs_report_failure first;
    uint64_t count, last_ns;
    uint64_t smallest, largest; /* requested */
    bool recovered; /* the program went on after the last of them */
};

/* What went wrong at a call, other than a failed allocation: findings of the same kind and stack. */
struct vs_report_finding {
    struct vs_finding_group group; /* its times since the start */
    const char *api, *freed_api, *alloc_api, *text;
    struct vs_report_site site, alloc, earlier; /* api "" and no frames: not known */
};

struct vs_report_pair {
    const char *name, *value;
};

struct vs_report_note {
    uint64_t severity; /* as in the trace: a vs_log_level */
    const char *text;
};

/* Some found steps in a row; struct vs_report_steps says how many. */
struct vs_report_step {
    uint64_t number, start_ns; /* of the first of them */
    uint64_t duration_ns;      /* to the next row's begin; of the last one, to the trace's end */
};

struct vs_report_steps {
    bool found; /* by the repeating requests; otherwise marked by the program. Found steps have the
                 * numbers 1, 2, … */
    const struct vs_report_step *rows; /* of found steps, by time; the last one may not be complete */
    size_t row_count;
    uint64_t row_steps; /* steps of a row */
    uint64_t begun, done;
    uint64_t device;                    /* of the following bytes */
    uint64_t lowest_peak, highest_peak; /* of the steps */
    uint64_t peak_bytes, churn_bytes;   /* median of the steps; churn: allocated and freed again */
    int64_t net_bytes;                  /* likewise: live at a step's end - at its begin */
    uint64_t lowest_churn, highest_churn;
    int64_t lowest_net, highest_net;
    uint64_t total_ns, shortest_ns, longest_ns; /* over completed steps */
    uint64_t longest_number, last_number;
};

/* What the caller asks for beyond the usual lists. */
struct vs_report_wish {
    unsigned by;    /* bits 1 << enum vs_by: only these lists; 0: the usual report */
    bool map;       /* the segments at the time */
    bool everything; /* all lists of live memory and the segments, beside the usual report */
    bool one_device;
    uint64_t device; /* with one_device: only this one */
    struct vs_held_filter filter;
};

/* Which part of the trace a report is about. */
struct vs_report_part {
    bool moment; /* the state after event last_event; sums and peaks are those so far */
    bool window; /* events first_event … last_event; memory that was live before is live at its
                  * start */
    uint64_t from_ns, to_ns; /* as requested, or times of those events */
    uint64_t first_event, last_event, events; /* numbers from 1; how many */
};

struct vs_report_window; /* window_peaks.h */

struct vs_report {
    struct vs_report_wish wish; /* as given; what its filter points at is the caller's */
    bool site_unknown; /* wish.filter.site matches no call site of this part of the trace */
    struct vs_report_part part; /* neither flag set: the whole trace */
    /* the process */
    const char *program; /* base name of the executable */
    const char *exe, *cmdline, *host, *version, *policy;
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
    const char *missing_module;  /* one of them, or NULL */
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
    const struct vs_report_window *windows; /* of vs_window_peaks; the caller's; NULL: none were asked for */
    size_t window_count;
    struct vs_arena memory; /* owns everything else */
};

struct vs_observer;    /* reading.h */
struct vs_peak;        /* replay.h */
struct vs_trace_state; /* trace_state.h */

#define VS_REPORT_OBSERVERS_MAX 4
struct vs_report_options {
    size_t sites_max;   /* call sites per list; 0 = 50 */
    size_t kernels_max; /* kernels per device; 0 = 50 */
    /* NULL: the whole trace. With from: that window; with only to: the state at that time */
    const struct vs_time_window *window;
    const struct vs_report_wish *wish; /* NULL: nothing */
    bool all_growth; /* growing sites below a thousandth of the peak are listed too */
    const struct vs_observer *observers; /* further ones of the reading, at most */
    size_t observer_count;               /* VS_REPORT_OBSERVERS_MAX */
    const struct vs_peak *chosen;  /* NULL; or the peaks of a further observer (peak_states.h) */
    struct vs_trace_state **state; /* NULL; or receives the state at the end of the reading, which
                                    * the caller closes */
};

struct vs_time_window; /* trace_state.h */

/* vs_report_of_phase: whether memory is listed at the peak of wish.filter.phase. */
static inline bool vs_report_of_phase(const struct vs_report *report)
{
    return report->wish.filter.phase && !report->part.moment;
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
