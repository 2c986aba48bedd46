/* SPDX-License-Identifier: Apache-2.0
 *
 * Steps and growth of a program, from its trace alone: whether its requests repeat, and the call
 * sites whose memory grows from step to step. A tracker follows a replay: pass it every event after
 * the replay applied it, and ask for the result at any event, such as a failure or the end of the
 * trace. Steps come from the program's marks where there are any, otherwise from the repeating
 * requests (growth_loop.c). Growth is judged from the lowest live bytes of a call site in up to 64
 * periods of the trace (growth_judge.c), so that memory freed and allocated again is not growth.
 * docs/oom.md describes the rules.
 *
 * Memory: a small constant for each call site, and at most 24 MiB for steps and requests, however
 * long the trace. Not thread-safe. */
#ifndef VS_GROWTH_H
#define VS_GROWTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/state/replay.h"
#include "base/vs_err.h"

enum vs_steps_source {
    VS_STEPS_NONE,   /* no marks, and the requests do not repeat */
    VS_STEPS_FOUND,  /* from the repeating requests */
    VS_STEPS_MARKED, /* ranges or marks of the program */
};

/* One step, or `stride` steps in a row (struct vs_growth_steps). Bytes are those of the account of
 * the steps. */
struct vs_growth_step {
    uint64_t event, time_ns;  /* its begin: the 1-based event, the trace's clock */
    uint64_t begin_bytes;     /* allocated when it began */
    uint64_t end_bytes;       /* allocated when it ended, or now */
    uint64_t peak_bytes;      /* highest allocated during it */
    uint64_t requested_bytes; /* sum of its allocations */
};

struct vs_growth_steps {
    enum vs_steps_source source;
    unsigned account;      /* index of the replay's accounts that the rows describe */
    uint64_t begun, done;  /* all of the trace; more than the rows where the first are not known */
    uint64_t first_number; /* of the first row: the program's own, or counted from 1 */
    uint64_t stride;       /* steps of a row: 1, more in very long traces */
    double confidence;     /* 0 to 1 that these are steps; 1 for marks */
    const struct vs_growth_step *items; /* by time; the last may be in progress */
    size_t count;
    uint64_t lowest_peak, highest_peak; /* of the completed steps */
    uint64_t peak_bytes;      /* median over completed steps, likewise the following */
    int64_t net_bytes;        /* end - begin */
    uint64_t churn_bytes;     /* allocated and freed again */
    int64_t lowest_net, highest_net;        /* over completed steps */
    uint64_t lowest_churn, highest_churn;
};

enum vs_growth_class {
    VS_GROWTH_NONE,     /* nothing stays */
    VS_GROWTH_INITIAL,  /* allocated at the start, constant since */
    VS_GROWTH_FILLED,   /* grew, then stayed constant: a cache that is full */
    VS_GROWTH_SAWTOOTH, /* grows and is freed again, repeatedly */
    VS_GROWTH_FREED,    /* grew until the program freed it at its end */
    VS_GROWTH_LEAK,     /* grows and is not freed */
};

/* One call site, or one account as a whole. */
struct vs_growth_row {
    uint32_t site;          /* index of replay->sites; VS_SITE_NONE for an account */
    unsigned account;
    bool user_level;        /* its memory is at the user's level (user_level.h); otherwise it is the
                             * device memory below a framework's tensors */
    enum vs_growth_class class;
    double confidence;      /* 0 to 1 that `class` is right; below VS_GROWTH_SURE do not accuse */
    uint64_t bytes, count;  /* grown and not freed: all of it, and its blocks */
    uint64_t per_step;      /* bytes; 0 without steps */
    uint64_t every;         /* it grows every so many steps; 0 without steps */
    bool replaced;          /* by a larger buffer each time: per_step is the average */
    bool since_step_known;
    uint64_t since_step;    /* number of the step of the first growth */
    uint64_t since_ns;      /* time of the first growth */
    uint64_t until_ns;      /* time of the last growth: for VS_GROWTH_FILLED constant since then */
    bool until_step_known;
    uint64_t until_step;
    uint64_t births;        /* blocks allocated and kept since since_ns; 0 where they were freed */
    uint64_t churn_bytes;   /* allocated and freed again, of the whole trace */
};
#define VS_GROWTH_SURE 0.55

struct vs_growth_result {
    struct vs_growth_steps steps;
    const struct vs_growth_row *sites; /* the class is not VS_GROWTH_NONE; most bytes first */
    size_t site_count;
    const uint32_t *row_of; /* by call site: index in `sites` + 1, or 0 (vs_growth_of) */
    size_t row_of_count;
    const struct vs_growth_row *accounts; /* by account of the replay, host included */
    size_t account_count;
};

struct vs_growth_tracker;

/* Requests that are kept for the search of a loop (10 MiB). */
#define VS_LOOP_REQUESTS_MAX ((size_t)1 << 18) /* a power of two */

/* vs_growth_open: *replay* must outlive it; events before are not judged. */
void vs_growth_open(const struct vs_replay *replay, struct vs_growth_tracker **out);

/* vs_growth_observe: a vs_observe that follows *tracker* (reading.h): the replay has just applied
 * *event*, of any kind. Cost: a few nanoseconds. */
enum vs_err vs_growth_observe(void *tracker, struct vs_replay *replay, const struct vs_event *event) VS_MUST_CHECK;

/* vs_growth_finish: judges the events so far; more events may follow, and a later call judges
 * again. *out* points into the tracker until the next call of any function with it.
 * Cost: one pass over the live memory and the call sites. */
void vs_growth_finish(struct vs_growth_tracker *tracker, struct vs_growth_result *out);

/* vs_growth_copy: a judgement of the copy does not change *tracker*. Ownership: vs_growth_close. */
struct vs_growth_tracker *vs_growth_copy(const struct vs_growth_tracker *tracker);

void vs_growth_close(struct vs_growth_tracker *tracker); /* NULL does nothing */

/* vs_growth_of: the row of a call site, or NULL where nothing stays. */
const struct vs_growth_row *vs_growth_of(const struct vs_growth_result *result, uint32_t site);

/* vs_growth_is_named: the row is growth that the text may name: a leak, or growth freed only at the
 * end, with enough evidence. */
static inline bool vs_growth_is_named(const struct vs_growth_row *row)
{
    return (row->class == VS_GROWTH_LEAK || row->class == VS_GROWTH_FREED) &&
           row->confidence >= VS_GROWTH_SURE;
}

/* vs_growth_sum: the suspected sites of *account* at the user's level together: bytes, per step,
 * the earliest since, the highest confidence. Returns their number; 0 leaves *out* zero. */
size_t vs_growth_sum(const struct vs_growth_result *result, unsigned account,
                     struct vs_growth_row *out);

/* vs_steps_begun_by: rows of *steps* that began at *time_ns* or before. */
size_t vs_steps_begun_by(const struct vs_growth_step *steps, size_t count, uint64_t time_ns);

/* Steps, marked or found from the repeating requests, for a later reading of the same trace.
 *
 * vs_found_step_place: gives *place*, of memory allocated at *time_ns*, its found step, if it has
 * none. Not where *steps* is NULL or has none that were found.
 *
 * vs_found_steps_read: reads the whole trace for them; those of a damaged trace up to the damage.
 * Rows of marked steps follow one another: the program's numbers may not. The reader is rewound before, not after.
 * vs_found_steps_replay: with a *replay* that is new. */
void vs_found_step_place(const struct vs_growth_steps *steps, uint64_t time_ns, struct vs_place *place);
enum vs_err vs_found_steps_read(struct vs_reader *reader, struct vs_growth_steps *out) VS_MUST_CHECK;
enum vs_err vs_found_steps_replay(struct vs_reader *reader, struct vs_replay *replay,
                                  struct vs_growth_steps *out) VS_MUST_CHECK;
void vs_found_steps_free(struct vs_growth_steps *steps);

#endif
