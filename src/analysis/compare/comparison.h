/* SPDX-License-Identifier: Apache-2.0
 *
 * Two runs compared: their quantities, call sites, counts and kernels, and what keeps them from being
 * compared. Sizes, counts and names only, never addresses or times, so that two runs of one program
 * are equal. Not thread-safe. */
#ifndef VS_COMPARISON_H
#define VS_COMPARISON_H

#include "analysis/budget/quantities.h"
#include "analysis/compare/site_changes.h"

/* A quantity in both runs. */
struct vs_compared_amount {
    const struct vs_quantity *a, *b; /* NULL: a phase that the other run does not have */
    bool reading; /* of the device: depends on when it was read, and on other processes */
};

enum vs_count_kind {
    VS_COUNT_STEPS, VS_COUNT_FAILED, /* of the whole program: device is VS_NO_DEVICE */
    VS_COUNT_ALLOCATIONS, /* name: the family */
    VS_COUNT_TENSORS, VS_COUNT_RETRIES, VS_COUNT_SEGMENTS, VS_COUNT_MEMSETS, VS_COUNT_KERNELS,
    VS_COUNT_KERNEL, /* name: the kernel */
    VS_COUNT_KINDS
};
#define VS_NO_DEVICE UINT64_MAX

struct vs_compared_count {
    enum vs_count_kind kind;
    uint64_t device;
    const char *name; /* NULL: the kind says it */
    uint64_t a, b;
};

/* The call sites of a quantity of both runs: live at the peak, live at the end, or growing. */
struct vs_compared_sites {
    uint64_t device;
    enum vs_metric metric; /* ALLOCATED, LIVE_AT_END or GROWTH */
    uint64_t most;         /* the larger sum of both: what shares are of */
    struct vs_site_changes changes;
};

/* What keeps two runs from being compared as they are. */
enum vs_compare_doubt {
    VS_DOUBT_PROGRAM,  /* different programs */
    VS_DOUBT_DEVICES,  /* *device* was used by one of them only; *of_b*: by b */
    VS_DOUBT_CAPACITY, /* different memory or name of *device* */
    VS_DOUBT_LEVEL,    /* one has a framework's tensors on *device* */
    VS_DOUBT_POLICY,   /* memory was served by different allocators */
    VS_DOUBT_SELECTED, /* not all allocations of a run were recorded */
    VS_DOUBT_PARTIAL,  /* the trace is cut off, or the recording ended early */
    VS_DOUBT_OOM,      /* it ended after an allocation failed */
    VS_DOUBT_EXIT,     /* it ended with another status than 0 */
    VS_DOUBT_STACKS,   /* its allocations have no call stacks, or their frames are of another kind (--stacks) */
    VS_DOUBT_NAMES,    /* the functions of its stacks have no names, those of the other run have */
    VS_DOUBT_IMPORTED, /* it was imported, the other run was recorded */
    VS_DOUBT_KINDS
};

struct vs_compare_note {
    enum vs_compare_doubt doubt;
    bool of_b;       /* whose; of those of both: false */
    uint64_t device; /* of DEVICES, CAPACITY, LEVEL */
    uint64_t status; /* of EXIT */
    bool none;       /* of STACKS: no stacks were recorded; otherwise of another kind than in the other */
};

#define VS_COMPARE_NOTES_MAX 64

struct vs_comparison {
    struct vs_measured *a, *b;
    struct vs_compared_amount *amounts; /* by device: the whole program first, then phases */
    size_t amount_count, amount_capacity;
    struct vs_compared_sites *sites; /* of the common devices */
    size_t site_count, site_capacity;
    struct vs_compared_count *counts; /* kernels last, largest difference first */
    size_t count_count, count_capacity;
    uint64_t other_device; /* of B, compared with the only device of A under A's number; VS_NO_DEVICE: none */
    struct vs_compare_note notes[VS_COMPARE_NOTES_MAX + 1]; /* the last is not counted */
    size_t note_count;
    size_t common_devices; /* 0: nothing can be compared */
    bool sites_comparable; /* the same part of the allocations was recorded */
    bool names_comparable; /* both have call stacks, with names */
    bool different;        /* any amount, count or call site */
    struct vs_arena memory;
};

/* vs_compare: *out* is zero-initialised; both runs must outlive it. */
void vs_compare(struct vs_comparison *out, struct vs_measured *a, struct vs_measured *b);

/* vs_compared_value: of a run; 0 where it does not have the phase. */
uint64_t vs_compared_value(const struct vs_quantity *quantity);

/* vs_compared_at_peak: the call sites at the peak of *device*; NULL where they are not compared. */
const struct vs_compared_sites *vs_compared_at_peak(const struct vs_comparison *comparison, uint64_t device);

/* vs_compare_doubt_name: "program", "devices", …, as in the JSON; vs_count_kind_name likewise. */
const char *vs_compare_doubt_name(enum vs_compare_doubt doubt);
const char *vs_count_kind_name(enum vs_count_kind kind);

void vs_comparison_free(struct vs_comparison *comparison);

#endif
