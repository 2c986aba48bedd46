/* SPDX-License-Identifier: Apache-2.0
 *
 * Programs of known behaviour as sequences of trace events: a training loop or a server, with
 * noise, and one call site under test that leaks, caches, or frees from time to time. A seed sets
 * sizes, rates and order. Used to count how often growth is judged right. */
#ifndef GROWTH_CASES_H
#define GROWTH_CASES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/format/event.h"

/* What the call site under test does. */
enum growth_habit {
    /* growing: to be found */
    HABIT_LEAK,          /* a block every step */
    HABIT_LEAK_THIRD,    /* every few steps */
    HABIT_LEAK_LATE,     /* from some step on */
    HABIT_LEAK_TINY,     /* a thousandth of the working set every step */
    HABIT_LEAK_RANDOM,   /* with some probability every step */
    HABIT_LEAK_SIZES,    /* blocks of random sizes */
    HABIT_LEAK_BURSTS,   /* several blocks every ten steps */
    HABIT_LEAK_FAMILY,   /* pinned, managed, stream-ordered, physical memory */
    HABIT_LEAK_SITES,    /* three call sites */
    HABIT_LEAK_AND_USE,  /* the site also allocates blocks that it frees */
    HABIT_FREED_AT_END,  /* kept every step, all freed at the end */
    /* benign */
    HABIT_NOTHING,
    HABIT_CACHE,         /* a block every step until it is full */
    HABIT_CACHE_VISITED, /* one of N entries at random is filled in every step */
    HABIT_LRU,           /* keeps the latest N blocks */
    HABIT_LAZY,          /* allocated in the first step (optimizer state) */
    HABIT_GRAPHS,        /* a few blocks in each of the first steps */
    HABIT_SAWTOOTH,      /* kept for k steps, then all freed */
    HABIT_LAST,          /* a block of random size, replaced in every step */
    HABIT_RESIZED,       /* a buffer that is replaced when a larger one is needed */
    HABIT_LEAK_DOUBLES,  /* growing: a vector that is replaced by one of twice its size when it is full */
    HABIT_COUNT
};

enum growth_program {
    PROGRAM_TRAIN,    /* layers forward and backward, optimizer */
    PROGRAM_SIMPLE,   /* a few temporaries in each step */
    PROGRAM_SERVER,   /* requests of several kinds in random order: no period */
    PROGRAM_COUNT
};

enum growth_ending { ENDING_EXIT, ENDING_FREES, ENDING_FAILURE, ENDING_COUNT };

struct growth_case {
    enum growth_program program;
    enum growth_habit habit;
    enum growth_ending ending;
    uint64_t seed;
    unsigned steps;
    bool marks;      /* ranges around the steps */
    bool noise;      /* allocations at random times from another thread */
    bool prefetch;   /* another thread allocates the next batch */
    bool varying;    /* batch sizes differ */
    unsigned evaluate_every; /* steps; 0: never */
    unsigned warm_up;        /* steps with other requests at first */
};

/* What is true of it. */
struct growth_truth {
    bool grows;           /* the site under test has to be found */
    uint64_t per_step;    /* bytes, on average */
    unsigned every;       /* steps; 0: not regular */
    unsigned since;       /* step, from 1 */
    uint64_t first_ns;    /* of its first block that stays */
};

#define GROWTH_CASE_SITE 1000 /* stack id of the site under test, and the two after it */

/* growth_case_make: the case of *seed*: every field but marks by chance. */
void growth_case_make(uint64_t seed, enum growth_habit habit, struct growth_case *out);

/* growth_case_grows: whether the habit is growth. */
static inline bool growth_case_grows(enum growth_habit habit)
{
    return habit <= HABIT_FREED_AT_END || habit == HABIT_LEAK_DOUBLES;
}

const char *growth_habit_name(enum growth_habit habit);

/* growth_case_run: calls *sink* with each event. *step_name*: string id of the ranges' name.
 * Returns false when the sink did. */
bool growth_case_run(const struct growth_case *one, uint64_t step_name,
                     bool (*sink)(void *arg, const struct vs_event *event), void *arg,
                     struct growth_truth *truth);

#endif
