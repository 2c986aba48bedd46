/* SPDX-License-Identifier: Apache-2.0
 *
 * What the timeline of a trace adds up to: kernels, copies and waits by call site; when each device had
 * nothing to do, and what the program did then; the work around the peak. An observer of one reading.
 *
 * A gap of a device is a time in which none of its streams has work. Records of work arrive nearly in
 * order: VS_TIMELINE_HELD_MAX are held back and sorted. The host waited for the device when the gap began:
 * then a launch that did not wait could have come earlier by as long as the wait took. If that is most of
 * the gap, the wait is its cause; otherwise the host was busy. Copies whose calls are not recorded have the line of
 * the wait that they lie in.
 *
 * Memory: the rows (at most VS_TIMELINE_ROWS_MAX, further ones are one), the records and waits held back,
 * and the calls whose work has not been recorded yet. Not thread-safe. */
#ifndef VS_TIMELINE_H
#define VS_TIMELINE_H

#include "analysis/state/replay.h"
#include "base/reading/vs_intern.h"

#define VS_TIMELINE_HELD_MAX 65536
#define VS_TIMELINE_ROWS_MAX 65536
#define VS_GAP_LEAST_NS UINT64_C(5000) /* shorter ones are between queued work: no cause is sought */
#define VS_LINK_LEAST_BYTES (UINT64_C(1) << 20) /* a copy that shows the bandwidth of the link */
#define VS_SMALL_COPY_BYTES UINT64_C(65536) /* takes about as long as one of a byte */
#define VS_NEAR_MAX 4
#define VS_PHASE_AFTER_LAST UINT32_MAX /* vs_phases.after_last */

enum vs_size_class { VS_COPY_SMALL, VS_COPY_TO_1MIB, VS_COPY_TO_16MIB, VS_COPY_LARGE, VS_SIZE_CLASSES };

enum vs_gap_cause {
    VS_GAP_WAIT,    /* the host waited for the device */
    VS_GAP_HOST,    /* the host did something else */
    VS_GAP_UNKNOWN, /* what the host did then is no longer known: too many waits since */
    VS_GAP_CAUSES
};

enum vs_timeline_what {
    VS_ROWS_KERNELS,
    VS_ROWS_COPIES,
    VS_ROWS_WAITS,
    VS_ROWS_GAPS,
    VS_ROWS_READS, /* of values that no kernel computed (docs/simulator.md), of device 0; their api is the event's text */
};

/* What the records of a row have in common. No padding; fields that do not apply are 0. */
struct vs_timeline_key {
    uint32_t what, device;
    uint32_t kind;         /* of copies enum vs_copy_kind; of waits, and of gaps with one, enum vs_wait; of reads
                            * enum vs_uncomputed */
    uint32_t memory, size; /* of copies: of the host, pageable, pinned or unknown (enum vs_memory_kind) */
    uint32_t cause;        /* of gaps */
    uint32_t phase;        /* of gaps; VS_PHASE_AFTER_LAST of those held back until the end */
    uint16_t ended_by;     /* of gaps: the event's kind of the work */
    uint16_t later;        /* of gaps and copies: they began after the begin of the second step */
    uint64_t name;         /* of kernels; of a gap's end where its call is unknown: string id */
    uint64_t stack, api;   /* of the call; of gaps that of the wait */
    uint64_t until_stack, until_api; /* of gaps: the call that began the work at its end */
};

struct vs_timeline_sums {
    uint64_t count, bytes, time_ns;
    uint64_t step_count, step_ns; /* of waits: those in steps */
};

struct vs_timeline_row {
    struct vs_timeline_key key;
    struct vs_timeline_sums sums;
};

/* Rows by key. Zero-initialise. */
struct vs_timeline_rows {
    struct vs_intern keys;
    struct vs_timeline_row *items; /* by number of their key */
    size_t count, capacity;
};

/* vs_timeline_rows_at: the number of the row of *key*, which is added if it is new. */
uint32_t vs_timeline_rows_at(struct vs_timeline_rows *rows, const struct vs_timeline_key *key);
void vs_timeline_rows_free(struct vs_timeline_rows *rows);

/* Work near the peak of a device. */
struct vs_near_work {
    uint64_t start_ns, end_ns, stream, name; /* name: of a kernel, otherwise 0 */
    uint32_t kind; /* of the event */
    const char *text; /* the name, in a report; NULL: none */
};

struct vs_timeline_device {
    uint64_t works, first_ns, end_ns, busy_ns; /* busy: at least one stream has work */
    uint64_t gap_count, gap_ns, short_count, short_ns; /* short: below VS_GAP_LEAST_NS; in both */
    uint64_t unknown_ns;   /* between works with a time in which work was not recorded: neither busy nor a gap */
    uint64_t out_of_order; /* records that came too late to close a gap before them: of work that began before */
    uint64_t latest_ns;    /* the begin of other work of the device */
    /* the fastest copies of VS_LINK_LEAST_BYTES or more: to the device, to the host; of any memory of the host,
     * of page-locked memory */
    struct vs_link {
        uint64_t bytes, time_ns;
    } links[2], pinned_links[2];
    /* What was before the first work that ended in the second step or later, and that step's number. first_ns: the
     * begin of that work, or of the step; 0: none, as in parts of a trace. */
    struct vs_first_step {
        uint64_t works, gap_ns, unknown_ns, first_ns, second_step;
    } first_step;
    uint64_t peak_event, peak_ns;              /* at the user's level */
    struct vs_near_work running[VS_NEAR_MAX];  /* at that time */
    size_t running_count;
    struct vs_near_work before, latest; /* the last that began before the peak; of all. start_ns 0: none */
};

struct vs_timeline;

/* vs_timeline_open: for the work between *from_ns* and *to_ns*, both included, of the trace's clock. */
struct vs_timeline *vs_timeline_open(uint64_t from_ns, uint64_t to_ns);

/* vs_timeline_until: the end, where it became known only now. */
void vs_timeline_until(struct vs_timeline *timeline, uint64_t to_ns);

/* The kinds of events that vs_timeline_event needs. */
uint64_t vs_timeline_kinds(void);

/* vs_timeline_event: an observer's function (reading.h), after the replay. Also for records that come
 * after a window, about work in it. */
enum vs_err vs_timeline_event(void *timeline, struct vs_replay *replay, const struct vs_event *event)
    VS_MUST_CHECK;

/* vs_timeline_finish: after the last event. */
void vs_timeline_finish(struct vs_timeline *timeline, const struct vs_replay *replay);

/* vs_timeline_device: what is known of the device with that number; NULL: it had no work. */
const struct vs_timeline_device *vs_timeline_device(const struct vs_timeline *timeline, uint64_t device);

/* vs_timeline_steps: those that ended and in which work was recorded, at least for some time; 0: in all, or in none. */
struct vs_timeline_steps {
    uint64_t count, time_ns;
};
struct vs_timeline_steps vs_timeline_steps(const struct vs_timeline *timeline);

/* vs_timeline_has_calls: the calls that begin work were recorded, at least those of copies. */
bool vs_timeline_has_calls(const struct vs_timeline *timeline);

const struct vs_timeline_rows *vs_timeline_rows(const struct vs_timeline *timeline);

void vs_timeline_close(struct vs_timeline *timeline); /* NULL does nothing */

#endif
