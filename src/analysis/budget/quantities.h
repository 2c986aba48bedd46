/* SPDX-License-Identifier: Apache-2.0
 *
 * The quantities of one run that a budget or a baseline may limit: bytes and counts, never times, so
 * that two runs of one program have the same. Each has the time that `vramscope report` names for
 * it. Not thread-safe. */
#ifndef VS_QUANTITIES_H
#define VS_QUANTITIES_H

#include "analysis/budget/budget_key.h"
#include "analysis/report/report.h"

#define VS_QUANTITY_KEY_MAX 8448 /* bytes of a text with the path of a phase */
#define VS_GROWTH_STEPS_MIN 6 /* completed steps; with fewer, growth may still be a warm-up */

struct vs_quantity {
    enum vs_metric metric;
    uint64_t device;     /* the driver's ordinal; of the host's memory that of the first device */
    bool host;           /* page-locked host memory: what is live at the end, and its growth; not in a baseline */
    const char *phase;   /* path of ranges; NULL: the whole program */
    const char *range;   /* the last of them; a name may have " / " in itself */
    bool nested;         /* it is not the only one */
    bool per_step;
    enum vs_copy_way way;
    bool tensors;        /* PyTorch's tensors instead of the memory that holds them */
    bool with_others;    /* and memory that does not hold tensors, such as NCCL's, adds to the value */
    bool unknown;        /* not measured in this run; *value* is 0 */
    uint64_t value;
    uint64_t possible;   /* of DEVICE and FREE: what it may have been between two readings; of tensors'
                          * ALLOCATED where allocations were left out: the most that it can have been */
    uint64_t event;      /* 1-based number in the trace at which it was reached; 0: none */
    uint64_t time_ns;    /* since the start */
    uint64_t from_ns;    /* memory kept by a phase: when that was opened, by the trace's clock */
    const char *place;   /* "step 3 / backward"; "" outside any range; never NULL */
};

/* One trace, read. */
struct vs_measured {
    struct vs_reader *reader;  /* owned */
    struct vs_report *report;  /* owned */
    const char *program;       /* its name, or of Python its script's */
    const char *process;       /* the same, in a job of several with the rank: "train.py rank 1" */
    const char *arguments;     /* of the program; NULL where they are not needed to tell it from others */
    struct vs_quantity *items; /* in a fixed order: by device, the whole program first */
    size_t count, capacity;
    uint64_t steps;
    bool phases_full;          /* there are VS_PHASES_MAX phases: further ones are not in *items* */
    const char *copies_missing; /* why not every copy is in the trace; NULL: all are */
    const char *growth_missing; /* why the growth of call sites is not known; NULL: it is, or the steps are too few */
    struct vs_arena memory;
};

/* vs_test_name: the test's name if *phase* is the range of a test or lies in it, or NULL. */
const char *vs_test_name(const char *phase);

/* vs_copy_goes: whether copies of *kind* (enum vs_copy_kind of the trace) go that way. */
bool vs_copy_goes(enum vs_copy_way way, uint64_t kind);

struct vs_phase_peaks;

/* vs_measure: fills *out*, of which reader and report are set, with the quantities; *peaks* were
 * observed while the report was built. */
void vs_measure(struct vs_measured *out, const struct vs_phase_peaks *peaks);

void vs_measured_free(struct vs_measured *run);

/* vs_quantity_options: the options of vramscope report that show the call sites of *quantity*, such as
 * "--by site --at @625", and *more*: "", " --device 1". *out* has *bytes* bytes. Returns out. */
char *vs_quantity_options(char *out, size_t bytes, const struct vs_quantity *quantity, const char *more);

/* Several runs of one program as one: of each quantity the value that `--take` chooses. A quantity
 * counts over the runs that measured it, also where the first run is not one of them. */

struct vs_taken_quantity {
    struct vs_quantity quantity; /* of the run whose value is taken; unknown if no run measured it */
    struct vs_measured *run;     /* that run */
    uint64_t runs, lowest, highest; /* over the runs that measured it */
};

struct vs_taken {
    struct vs_taken_quantity *items; /* in the order of the first run; those of later runs follow */
    size_t count;
    uint64_t steps; /* chosen likewise */
    const struct vs_measured *first; /* run */
};

/* vs_taken_build: *count* runs (at least one). Of two middle values the worse is taken. *memory* owns
 * the result. Cost: O(n log n) for n quantities of all runs. */
void vs_taken_build(struct vs_arena *memory, struct vs_measured **runs, size_t count,
                    enum vs_take how, struct vs_taken *out);

#endif
