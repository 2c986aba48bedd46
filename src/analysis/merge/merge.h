/* SPDX-License-Identifier: Apache-2.0
 *
 * The traces of the processes of one job, side by side: their times on one clock, what each needed,
 * and which of them differs. Each trace is read once, one after the other; what is kept of it is bounded.
 * Not thread-safe.
 *
 * Processes of one machine share its monotonic clock. Those of others are aligned by what ranks do
 * together: a collective ends on all of them when the last one has come, so that the n-th collectives
 * of two ranks end at the same time but for some scatter. Without collectives the begins of equal steps
 * are compared. The drift of two clocks is the slope of those differences. */
#ifndef VS_MERGE_H
#define VS_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vs_arena.h"
#include "base/vs_err.h"
#include "trace/read/job_rank.h"
#include "trace/read/reader.h"

#define VS_MEETINGS_MAX 2048 /* kept of a trace; of more every second, fourth, … */
#define VS_RANK_NONE UINT32_MAX

/* Converts the times of one of several traces to the timeline that they share. */
struct vs_rank_clock {
    uint64_t from_ns; /* of the trace's clock */
    int64_t at_ns;    /* the same time in the common timeline */
    double drift;     /* seconds that the common timeline gains in a second of this clock */
};

/* vs_rank_time_signed: *time_ns* of the trace's clock in the common timeline. */
static inline int64_t vs_rank_time_signed(const struct vs_rank_clock *clock, uint64_t time_ns)
{
    uint64_t since = time_ns - clock->from_ns; /* both may be any in a damaged trace */
    return (int64_t)((uint64_t)clock->at_ns + since + (uint64_t)(int64_t)(clock->drift * (double)(int64_t)since));
}

/* vs_rank_time: the same; 0 before the common timeline begins. */
static inline uint64_t vs_rank_time(const struct vs_rank_clock *clock, uint64_t time_ns)
{
    int64_t at = vs_rank_time_signed(clock, time_ns);
    return at > 0 ? (uint64_t)at : 0;
}

enum vs_clock_source {
    VS_CLOCK_SHARED,      /* the machine of the first rank */
    VS_CLOCK_COLLECTIVES,
    VS_CLOCK_STEPS,
    VS_CLOCK_WALL,        /* the machines' clocks of the time of day: their error is not known */
};

/* What several ranks do at one time: a collective; the begin of a step. */
struct vs_meeting {
    uint64_t number, name;       /* of two ranks the same one if both are equal */
    uint64_t start_ns, end_ns;   /* of the trace's clock */
    uint64_t peak_bytes;         /* allocated in the step */
};

struct vs_meetings {
    struct vs_meeting *items; /* by number */
    size_t count;
    uint64_t seen, stride;    /* kept are those whose number is a multiple */
};

struct vs_rank {
    const char *path, *name; /* "rank 3" */
    const char *program, *host, *boot;
    struct vs_job_rank job;
    uint64_t pid, start_realtime_ns;
    uint64_t begin_ns, end_ns; /* of the trace's clock */
    enum vs_condition condition;
    const char *condition_text;

    struct vs_rank_clock clock;
    enum vs_clock_source source;
    uint64_t error_ns;     /* nine of ten differences are within it; VS_CLOCK_WALL: unknown, 0 */
    uint64_t meetings;     /* that were compared */

    /* the device with the highest peak: of tensors where a framework reports them */
    uint64_t device, total_bytes, peak_bytes, reserved_bytes;
    struct vs_meetings steps;
    uint64_t steps_done, step_ns; /* step_ns: mean; 0: no steps */

    bool failed;           /* an allocation, from which it did not recover */
    uint64_t failed_ns;    /* of the trace's clock */
    uint64_t failed_bytes;
    bool ended;            /* its end is in the trace or in FILE.live: */
    uint64_t end_reason, end_status;

    struct vs_meetings collectives;
    /* With collectives of all ranks: how much later than the median rank it comes, at the median; and
     * in how many of a thousand it is the last. */
    bool arrival_known;
    int64_t arrival_ns;
    unsigned last_of_1000;
};

/* A figure over all ranks that have it, and the one rank that is far from the others. */
struct vs_spread {
    uint32_t count;
    uint64_t lowest, median, highest;
    uint32_t outlier; /* VS_RANK_NONE */
    uint64_t others_lowest, others_highest; /* without the outlier */
};

struct vs_merge {
    struct vs_rank *ranks; /* by rank, otherwise by start */
    size_t count;
    unsigned machines;
    uint64_t length_ns;    /* of the timeline, which begins with the first process */
    struct vs_spread peak, reserved, step;
    uint32_t straggler;    /* comes last by more than the clocks' error; VS_RANK_NONE */
    uint32_t first_failed; /* VS_RANK_NONE: none */
    bool failed_first_sure; /* the clocks' error does not allow another to be the first */
    uint32_t failed_count;
    struct vs_arena arena; /* owns all of it */
};

/* vs_merge_build: reads the traces at *paths*, at least one. A trace that cannot be opened or read is an
 * error: *why* (VS_READER_WHY_MAX bytes) names it; truncated and damaged ones are used as far as they are
 * readable (vs_rank.condition). Ownership: vs_merge_free. */
enum vs_err vs_merge_build(const char *const *paths, size_t count, struct vs_merge **out, char *why)
    VS_MUST_CHECK;
void vs_merge_free(struct vs_merge *merge); /* NULL does nothing */

/* vs_rank_clocks: sets the clocks of *ranks*, of which the first one is the reference. */
void vs_rank_clocks(struct vs_rank *ranks, size_t count);

/* vs_rank_same_machine: both have one clock. */
bool vs_rank_same_machine(const struct vs_rank *a, const struct vs_rank *b);

#endif
