/* SPDX-License-Identifier: Apache-2.0
 *
 * Compares one run, or several runs of one program, with a budget and a baseline: which limits hold,
 * by how much others are exceeded, at which time, and which call sites make up the difference. A
 * limit holds when the value is at most the limit. */
#ifndef VS_BUDGET_VERDICT_H
#define VS_BUDGET_VERDICT_H

#include "analysis/budget/baseline.h"
#include "analysis/budget/culprits.h"

#define VS_CULPRITS_MAX 5
#define VS_CULPRITS_CACHED_MAX 3 /* besides, of cached memory */

enum vs_row_kind { VS_ROW_QUANTITY, VS_ROW_EXIT, VS_ROW_OOM };

struct vs_budget_row {
    enum vs_row_kind kind;
    struct vs_quantity quantity; /* of the run whose value is taken; of EXIT and OOM only device, time */
    const char *from;     /* "--max-peak", "vramscope.toml:7", the baseline's name */
    uint64_t limit;       /* of EXIT: 0 */
    bool of_baseline;     /* the limit is the baseline's value with the tolerance */
    bool exceeded;
    bool has_baseline;    /* there is a value in the baseline */
    uint64_t baseline;
    bool new_device;      /* the baseline does not have the device: it is compared with 0 */
    uint64_t runs, lowest, highest; /* over all runs */
    bool wide;            /* they differ by more than the tolerance */
    struct vs_measured *run; /* whose value is taken */
    struct vs_report_sites sites; /* only where exceeded */
    struct vs_report_sites unused; /* where *two_lists*: requests for segments, with their unused bytes */
    bool two_lists;       /* of memory held from the device: *sites* are the live blocks, *unused* the rest */
    struct vs_culprit culprits[VS_CULPRITS_MAX + VS_CULPRITS_CACHED_MAX]; /* the responsible one first */
    size_t culprit_count;
    int64_t unused_more;  /* where *two_lists* and *compared*: unused bytes beyond those of the baseline */
    bool listed;          /* the baseline has call sites of the quantity */
    bool compared;        /* the culprits are the difference to the baseline */
    bool moved;           /* to more than at any peak of it, since other lines of its peak hold less */
    bool unlisted;        /* they are not in the baseline, which may have left them out as too small */
    bool no_stacks;       /* they are not, because the run was recorded without call stacks */
    enum vs_names_lack names; /* which of the run and the baseline has no function names; then they are not */
    size_t alike;         /* earlier rows of the same quantity, or of runs that failed alike */
    size_t again;         /* those of them that are from the same place: two options, or one list */
    bool follows;         /* exceeded, as another row shows: a phase with the program's larger peak */
    const struct vs_report_failure *failure; /* of OOM */
    uint64_t status;      /* of EXIT; of OOM likewise, 0 if it is allowed */
};

struct vs_budget_verdict {
    const char *process;   /* with its number where several have the same name: "train.py #2" */
    struct vs_measured **runs;
    size_t run_count;
    struct vs_taken taken; /* of all runs */
    struct vs_budget_row *rows;
    size_t count, capacity, exceeded;
    size_t following;      /* exceeded rows that follow from others */
    const char *notes[16]; /* sentences that do not change the result */
    size_t note_count;
    bool unsure;           /* whether a peak of the baseline holds, as allocations were not recorded */
    bool uncompared;       /* the baseline does not have the process */
    bool other_allocator;  /* than that of the baseline */
    bool sampled;          /* this run or that of the baseline, so that call sites are estimates */
    struct vs_arena memory;
};

/* vs_budget_verdict_build: *runs* of one program (one, without --take) against *budget* and *baseline*
 * (NULL: none). *process* is the name in the baseline. *out* is zero-initialised; *runs* and
 * *process* must outlive it. Marks the limits that were compared. */
void vs_budget_verdict_build(struct vs_budget_verdict *out, struct vs_measured **runs, size_t count,
                      const char *process, struct vs_budget *budget,
                      const struct vs_baseline *baseline);

/* vs_budget_note_absent: after all runs: adds a note with the programs of *baseline* that are not among *verdicts*. */
void vs_budget_note_absent(struct vs_budget_verdict *verdicts, size_t count, const struct vs_baseline *baseline);

/* vs_budget_unmatched: after all runs: a limit that nothing was compared with, because it names a
 * phase, test, process or device that does not occur, or a quantity that was not measured; why in *why*
 * (VS_BUDGET_WHY_MAX bytes). NULL: there is none. A budget must not hold because a name in it is
 * misspelt. */
const struct vs_budget_limit *vs_budget_unmatched(const struct vs_budget *budget, char *why);

/* vs_exit_status: the status with which the program ended, as a shell has it (128 + signal);
 * false when the trace does not have it. */
bool vs_exit_status(const struct vs_report *report, uint64_t *status);

/* vs_fatal_oom: the last out of memory that the program did not recover from; NULL: there is none, or the
 * program ended well, and so has dealt with it. Part of *report*. */
const struct vs_report_failure *vs_fatal_oom(const struct vs_report *report);

/* vs_budget_allows_exit: whether a run may end with *status*. */
bool vs_budget_allows_exit(const struct vs_budget *budget, uint64_t status);

void vs_budget_verdict_free(struct vs_budget_verdict *verdict);

#endif
