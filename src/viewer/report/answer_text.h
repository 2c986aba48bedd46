/* SPDX-License-Identifier: Apache-2.0
 *
 * The answers of `fit`, `advise`, `replay`, and of families of processes, for users and, as JSON, for
 * programs. Write errors show in ferror. */
#ifndef VS_ANSWER_TEXT_H
#define VS_ANSWER_TEXT_H

#include <stdio.h>

#include "analysis/fit/advice.h"
#include "analysis/oom/oom.h"
#include "analysis/processes/process_tree.h"
#include "analysis/whatif/whatif.h"
#include "viewer/common/text_style.h"

/* --- answer_table.c: a table whose columns are as wide as their cells --- */

#define VS_ANSWER_COLUMNS 8
struct vs_answer_row {
    const char *cells[VS_ANSWER_COLUMNS]; /* NULL: empty; a column without any is left out */
    enum vs_paint paint;                  /* of the cell in column *painted* */
    const char *below[2];                 /* lines below it, indented; NULL: none */
};
struct vs_answer_table {
    struct vs_answer_row *rows; /* the first: the headings */
    size_t count, columns, painted;
    unsigned right;        /* bits: columns that are flush right */
    size_t first_most;     /* columns of a first cell; wider ones have a line of their own */
};
#define VS_ANSWER_WIDTH 79u /* of lines below a row */

/* vs_answer_table_width: of all columns; of each in *widths*. */
size_t vs_answer_table_width(const struct vs_answer_table *table, size_t widths[VS_ANSWER_COLUMNS]);
void vs_answer_table(const struct vs_answer_table *table, const struct vs_style *style);

/* --- fit_text.c, fit_json.c (schema "vramscope.fit/1") --- */

/* vs_fit_text: prints a table with a row for each run, then the peaks, the sizes that were assumed
 * and the values that were not computed. */
void vs_fit_text(const struct vs_fit_set *set, const struct vs_style *style);

/* vs_fit_errors_text: the lines of *errors*, indented. */
void vs_fit_errors_text(const char *errors, const struct vs_style *style);

/* vs_fit_json: the same as JSON. */
void vs_fit_json(const struct vs_fit_set *set, FILE *out);

/* --- advice_text.c, advice_json.c (schema "vramscope.advise/1") --- */

/* vs_advice_text: for each GPU the answer, a row for each set of changes, the lines to change and what
 * was left out. */
void vs_advice_text(const struct vs_advice_set *set, const struct vs_style *style);
void vs_advice_json(const struct vs_advice_set *set, FILE *out);

/* --- replay_text.c, replay_json.c (schema "vramscope.replay/1") --- */

struct vs_replay_row {
    const char *setting;  /* "compact", or the text of PYTORCH_ALLOC_CONF */
    const char *gpu;      /* "rtx4090-24g"; "": --capacity, or the recorded device */
    uint64_t capacity;    /* 0: the recorded device */
    struct vs_whatif_outcome outcome;
    const char *place, *where; /* of the failure: "step 3 / forward", "f (train.py:12) < main:20";
                                * "" */
    uint64_t least_capacity;  /* --find-capacity; 0: none found */
    const char *least_gpu;    /* the smallest GPU on which it survives; "": none */
};

struct vs_replay_view {
    const char *path, *program, *device_name;
    const struct vs_whatif_recorded *recorded;
    bool modified; /* the other rows differ from the first in more than setting and device */
    bool find;  /* --find-capacity: the outcome of a row is that of its least capacity */
    struct vs_whatif_outcome as_recorded; /* of the first setting on the recorded device */
    struct vs_replay_row *rows; /* the first: as recorded, on the recorded device; then by device */
    size_t count;
};

/* vs_replay_agreement: how far the replay of the recorded setting is from the recording: (replayed -
 * recorded) / recorded of the peak of reserved. */
double vs_replay_agreement(const struct vs_replay_view *view);

void vs_replay_text(const struct vs_replay_view *view, const struct vs_style *style);
void vs_replay_json(const struct vs_replay_view *view, FILE *out);

/* --- process_tree_text.c: a family as a tree with the peak of each process, and the peak of their sum
 * --- */

/* vs_tree_text: prints the tree and the sums. */
void vs_tree_text(const struct vs_tree *tree, const struct vs_style *style);

/* vs_tree_json: schema vramscope.family/1. */
void vs_tree_json(const struct vs_tree *tree, FILE *out);

/* --- oom_family_text.c: which process ran out of memory first, and what each held then (schema
 * "vramscope.oom.family/1") --- */

/* One process. */
struct vs_oom_process {
    const char *path;
    uint64_t failures, recovered;
    bool failed;           /* it has a failure that it did not recover from: the first one below */
    uint64_t time_ns;      /* since its start */
    uint64_t realtime_ns;
    struct vs_report_failure failure; /* strings are not used */
    const struct vs_verdict *verdict;
    uint64_t missing;
    const char *uuid;      /* of the failure's device; "" for host memory */
};

/* Several. */
struct vs_oom_family {
    struct vs_oom_process *items; /* [count], in any order */
    size_t count;
    size_t first;                 /* that failed first; count: none */
    const struct vs_tree *tree;   /* of all; at the time of the first failure */
};

/* vs_oom_family_text: the processes with their failures; what each held on the device of the first
 * one then; and whether the other processes are to blame. */
void vs_oom_family_text(const struct vs_oom_family *family, const struct vs_style *style);
void vs_oom_family_json(const struct vs_oom_family *family, FILE *out);

#endif
