/* SPDX-License-Identifier: Apache-2.0
 *
 * Two runs compared: their quantities, call sites, counts and kernels, and what keeps them from being
 * compared. Sizes, counts and names only, never addresses or times, so that two runs of one program
 * are equal. Not thread-safe. */
#ifndef VS_COMPARISON_H
#define VS_COMPARISON_H

#include "analysis/budget/culprits.h"
#include "analysis/budget/quantities.h"
#include "analysis/report/site_text.h"

/* --- Two lists of call sites, matched: which are new, gone, grown, shrunk, moved or the same.
 * Addresses and the order of allocations play no part: sites are matched by the functions and files
 * of their stacks, then by similar stacks, so that a function that was renamed or moved is not new.
 * --- */

enum vs_site_verdict {
    VS_SITE_SAME, VS_SITE_NEW, VS_SITE_GONE, VS_SITE_GROWN, VS_SITE_SHRUNK,
    VS_SITE_MOVED, /* same bytes and count at another place */
    VS_SITE_VERDICTS
};

/* How the source of a matched site differs. */
enum vs_site_move {
    VS_MOVE_NONE,
    VS_MOVE_LINE,     /* other line numbers: code was inserted above it */
    VS_MOVE_FILE,     /* the functions are in another file */
    VS_MOVE_FUNCTION, /* a function was renamed, or called through another one */
};

struct vs_site_pair {
    enum vs_site_verdict verdict;
    enum vs_site_move move;             /* also of grown and shrunk ones */
    const struct vs_named_site *a, *b;  /* NULL: not in that run */
    int64_t delta;                      /* b - a, in the metric's unit */
};

struct vs_site_changes {
    struct vs_named_sites a, b;
    struct vs_site_pair *items; /* largest difference first, the same ones last; their sites have labels */
    size_t count;
    size_t of[VS_SITE_VERDICTS]; /* how many of each */
    size_t lines; /* of the moved ones: only their line numbers differ */
};

/* vs_site_changes_build: *memory* owns the result; *a* and *b* must outlive it. *peak*: NULL, or the changes at
 * the peak of both runs, for lists of fewer sites, as of those that grow: its sites show which functions were
 * renamed, and which allocate for others. Cost: proportional to the sites, plus the product of
 * those without a partner of the same name. */
void vs_site_changes_build(struct vs_arena *memory, const struct vs_report_sites *a,
                           const struct vs_report_sites *b, enum vs_metric metric,
                           const struct vs_site_changes *peak, struct vs_site_changes *out);

/* vs_site_verdict_name: "same", "new", "gone", …. */
const char *vs_site_verdict_name(enum vs_site_verdict verdict);

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

/* --- How the source of a call site that both runs have differs: another name, file or line. --- */

/* vs_site_move_name: "line", "file", "function", NULL for none. */
const char *vs_site_move_name(enum vs_site_move move);

/* vs_site_move_of: both have a site. */
enum vs_site_move vs_site_move_of(const struct vs_named_site *a, const struct vs_named_site *b);

struct vs_frame_range {
    size_t from, to; /* numbers of frames, both included */
};

/* vs_site_moved_frames: the part of both stacks of *pair*, which moved, that shows how: functions of
 * other names, with their common caller if one stack has none of its own there; if all functions have
 * the same names, the frame that tells the site from others, or the first in another file or on another
 * line. False if the stacks are the same, or empty. */
bool vs_site_moved_frames(const struct vs_site_pair *pair, struct vs_frame_range *a,
                          struct vs_frame_range *b);

/* The functions that have another name or file in the second run, by the call sites that moved. No
 * state. */

struct vs_renamed_frame {
    const char *was, *is; /* "forward (net.c)", "forward_pass (layers.c)" */
};

/* vs_renamed_frames: those of the call sites at the peaks, heaviest site first; one may occur again.
 * *comparison* owns the result. */
void vs_renamed_frames(struct vs_comparison *comparison, const struct vs_renamed_frame **out,
                       size_t *count);

/* --- Texts of call sites that no two of a list share: as few frames as tell a site from the
 * others. Two sites of an allocation function differ in its callers, two depths of a recursion in
 * how often it called itself. --- */

/* vs_change_labels: sets the label of each of *sites*. Cost: a text for each site, and
 * another one for each time that it was the same as another site's. */
void vs_change_labels(struct vs_named_sites *sites);

/* vs_change_label_text: of a site with a label: "make_buffer (pool.c:9) < forward (net.c:20) < …". *out* has
 * VS_CHAIN_TEXT_MAX bytes. Returns out. */
char *vs_change_label_text(char *out, const struct vs_named_site *named);

/* --- Which quantities of the second run are larger than accepted, and the call sites that make up
 * the difference. --- */

#define VS_REGRESSION_CULPRITS_MAX 5

struct vs_regression {
    const struct vs_compared_amount *amount;
    uint64_t allowed; /* the first run's value with the tolerance */
    struct vs_site_changes changes;
    struct vs_culprit culprits[VS_REGRESSION_CULPRITS_MAX]; /* new and grown ones, most first */
    const struct vs_named_site *culprit_sites[VS_REGRESSION_CULPRITS_MAX]; /* theirs, in changes.b */
    size_t culprit_count;
};

struct vs_regressions {
    struct vs_regression *items;
    size_t count, capacity;
    const struct vs_compare_note *ended; /* B failed, and A did not: its peaks prove nothing; or NULL */
    const struct vs_report_failure *failure; /* of *ended*: the request; NULL: B did not run out of memory */
    struct vs_named_site *failed_at; /* its call site; NULL: unknown */
};

/* vs_regressions_find: peaks (allocated and reserved, of the program, and of phases where that of the
 * program holds), growth per step and memory live at the end; reserved memory only of one allocator; of
 * devices that the first run did not use the peak.
 * Tolerance: *bytes*, plus *millionths* of the first run's value.
 * Cost: for times that the reports have no list of, reads the traces up to there. */
void vs_regressions_find(struct vs_comparison *comparison, uint64_t bytes, uint64_t millionths,
                         struct vs_regressions *out);

void vs_regressions_free(struct vs_regressions *regressions);

#endif
