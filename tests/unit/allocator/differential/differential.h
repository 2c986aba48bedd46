/* SPDX-License-Identifier: Apache-2.0
 *
 * The differential test: drives steps through the allocator and the reference model side by side. A
 * step is data and refers to earlier requests by number, so that a sequence stays valid when steps
 * are removed: a step about a missing request does nothing. This makes it possible to shrink a
 * failing sequence. */
#ifndef DIFFERENTIAL_H
#define DIFFERENTIAL_H

#include <stdbool.h>
#include <stdint.h>

#include "allocator/core/allocator.h"
#include "reference_model.h"
#include "support/fake_device.h"
#include "unsafe_ranges.h"

#define DIFF_MIB (UINT64_C(1) << 20)
#define DIFF_STREAMS 4 /* of requests and uses; the device has more */
#define DIFF_STEPS_MAX 20000
#define DIFF_LIVE_MAX 256
#define DIFF_TICKETS_MAX 4
#define DIFF_POOLS 4
#define DIFF_EVENTS_MAX 1024 /* of one step; more are counted only */

enum diff_kind {
    STEP_MALLOC,       /* a bytes on stream b; its number is target */
    STEP_FREE,         /* target */
    STEP_RECORD,       /* target on stream a */
    STEP_COMPLETE,     /* of the pending events on stream a, b modulo their number + 1 */
    STEP_SYNC_BEGIN,
    STEP_SYNC_END,     /* the open ticket a modulo their number */
    STEP_PROBE,        /* find and free a bytes from target, or at address a */
    STEP_EMPTY,
    STEP_RESET_PEAKS,
    STEP_RESET_SUMS,
    STEP_FRACTION,     /* a / 1000 */
    STEP_ABANDON,
    STEP_POOL_BEGIN,   /* pool a for the streams in the bits of b; 0: all */
    STEP_POOL_END,
    STEP_POOL_RELEASE,
};

enum diff_failure {
    FAIL_NONE, FAIL_ALLOC, FAIL_FREE, FAIL_SYNC, FAIL_RECORD, FAIL_QUERY, FAIL_CREATE, FAIL_MAP,
    FAIL_UNMAP, FAIL_COUNT
};

struct diff_step {
    enum diff_kind kind;
    int target; /* -1: none */
    uint64_t a, b;
    enum diff_failure fail; /* the device fails so during this step */
    enum vs_err code;
    uint64_t after; /* after this many calls, where the device can count them */
};

struct diff_config {
    const char *name;
    struct vs_allocator_config allocator;
    uint64_t capacity;
    int largest;    /* requests below 2^largest bytes */
    bool failures;  /* the device fails at random */
    bool fractions; /* the memory fraction changes during the run */
    bool abandons;
    bool pools;
    bool alone;    /* no stream uses another's memory, so no events are needed */
    bool restless; /* the cache is emptied repeatedly, on one stream */
    bool falling;   /* a later address range may lie below an earlier one */
    bool drawn;     /* the options are drawn for each seed */
    const char *reach; /* mechanisms that must have run at least once over all seeds */
};

struct diff_run {
    const struct diff_config *config;
    struct fake_device device, model_device;
    struct vs_allocator *real;
    struct model *model;
    uint64_t addr[DIFF_STEPS_MAX]; /* of each request by number; 0: not live */
    int live[DIFF_LIVE_MAX], live_count;
    int requests; /* numbers used so far */
    uint64_t tickets[DIFF_TICKETS_MAX], begun[DIFF_TICKETS_MAX];
    int ticket_count;
    struct diff_events {
        struct vs_allocator_event event[DIFF_EVENTS_MAX];
        int count;
    } events, model_events; /* events of the sinks in this step */
    struct unsafe_ranges ranges;
    unsigned begun_pools; /* a bit for each */
    uint64_t seed, random;
    int steps;             /* done */
    char difference[512];  /* empty: none yet */
    bool thorough;         /* snapshot and invariants after every step */
};

/* Whether the model is compared with our allocator; false: with one that has only a part of its
 * functions, PyTorch's own, which is tested only where it defines the result. */
extern const bool diff_subject_is_ours;

/* --- differential_suite.c --- */
/* As main's arguments; configures diff_suite. */
void diff_suite_arguments(int argc, char **argv);
/* A cmocka test's body. */
void diff_suite(const struct diff_config *config);

/* --- differential_run.c --- */
void diff_start(struct diff_run *run, const struct diff_config *config);
/* false: a difference, described in run->difference. */
bool diff_step(struct diff_run *run, const struct diff_step *step);
void diff_stop(struct diff_run *run);

struct vs_pool_id diff_pool_id(uint64_t pool);

/* --- differential_compare.c --- */
bool diff_compare(struct diff_run *run);
bool diff_compare_deep(struct diff_run *run);
bool diff_compare_events(struct diff_run *run);
/* Describes a difference and returns false. */
bool diff_differ(struct diff_run *run, const char *what, uint64_t have, uint64_t want);
bool diff_same(struct diff_run *run, const char *what, uint64_t have, uint64_t want);

/* --- differential_generate.c --- */
uint64_t diff_draw(uint64_t *random, uint64_t below);
void diff_draw_config(struct diff_config *config, uint64_t seed);
struct diff_step diff_next(struct diff_run *run);

/* --- differential_shrink.c --- */
/* Removes steps from a failing sequence as long as it still fails; returns the new length. */
int diff_shrink(const struct diff_config *config, struct diff_step *steps, int count);
void diff_print(const struct diff_config *config, const struct diff_step *steps, int count);

#endif
