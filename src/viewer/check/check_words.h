/* SPDX-License-Identifier: Apache-2.0
 *
 * The sentences that all formats of `vramscope check` share. Private to this folder. */
#ifndef VS_CHECK_WORDS_H
#define VS_CHECK_WORDS_H

#include "base/vs_size.h"
#include "viewer/check/check_output.h"

#define VS_CHECK_LINE_MAX 2048

/* vs_check_sentence: "device 0: peak allocated 412.3 MiB exceeds 400.0 MiB by 12.3 MiB (3.1 %)". */
char *vs_check_sentence(char *out, const struct vs_budget_row *row);

/* vs_check_subject: "device 0: phase 'forward': peak allocated". */
char *vs_check_subject(char *out, const struct vs_budget_row *row);

/* vs_check_program: "truth 30 0", cut off, where several traces are of one program and its arguments tell which; "". */
char *vs_check_program(char *out, const struct vs_budget_row *row);

/* vs_check_point: "at 33.41 ms, step 1 / backward"; "" where there is none. */
char *vs_check_point(char *out, const struct vs_budget_row *row);

/* vs_check_amount: bytes, or a number of copies, in *out* (VS_SIZE_TEXT_MAX bytes). */
char *vs_check_amount(char *out, const struct vs_budget_row *row, uint64_t value);

/* vs_check_amounts: two of them, with enough digits to differ if they do. */
struct vs_size_pair vs_check_amounts(const struct vs_budget_row *row, uint64_t a, uint64_t b);

/* vs_check_spread: "10.0 to 10.4 MiB in 3 runs"; "" for one run. */
char *vs_check_spread(char *out, const struct vs_budget_row *row);

/* A line of the list below an exceeded limit. */
struct vs_check_line {
    const struct vs_culprit *culprit; /* NULL: a sum */
    const char *words;                /* of a sum: "cached but unused"; NULL: that of further sites */
    int64_t bytes;                    /* of a sum */
    size_t sites;                     /* of further sites: how many */
    bool inner;                       /* a part of the sum above it */
};
#define VS_CHECK_LINES_MAX (VS_CULPRITS_MAX + VS_CULPRITS_CACHED_MAX + 6)

/* vs_check_lines: the lines of *row* in the order in which they are shown. Those of memory held from the
 * device, except the inner ones, add up to it. Returns how many. */
size_t vs_check_lines(const struct vs_budget_row *row, struct vs_check_line out[VS_CHECK_LINES_MAX]);

/* vs_check_heading: what the lines of *row* are: "more than in the baseline:". */
const char *vs_check_heading(const struct vs_budget_row *row);

#define VS_CHECK_WORDS_MAX 80
/* vs_check_sum_words: what a sum consists of. */
char *vs_check_sum_words(char out[VS_CHECK_WORDS_MAX], const struct vs_check_line *line);

/* vs_check_line: *line* as a sentence. */
char *vs_check_line(char *out, const struct vs_check_result *result, const struct vs_budget_row *row,
                    const struct vs_check_line *line);

/* vs_check_reason: the line of the list that is the reason, as a sentence: that of the first culprit, or the
 * memory of no call site where that is more. "" where the list is empty. Returns out. */
char *vs_check_reason(char *out, const struct vs_check_result *result, const struct vs_budget_row *row);

/* vs_check_siteless: whether the memory of no call site, which was not recorded individually, is more than
 * that of the first culprit. */
bool vs_check_siteless(const struct vs_budget_row *row);

/* vs_check_chain: the call site of *culprit*, beginning with the function of its line, in *out*
 * (VS_CHAIN_TEXT_MAX bytes): the program's functions below it, which other call sites share, are left
 * out. Returns out. */
char *vs_check_chain(char *out, const struct vs_culprit *culprit);

/* vs_check_culprit: "new at train.py:41: +128.0 MiB in 2 blocks, forward < main". *path* shows the
 * line's file as it is found from *root*. */
char *vs_check_culprit(char *out, const struct vs_check_result *result,
                       const struct vs_budget_row *row, const struct vs_culprit *culprit);

/* vs_check_path: *file* relative to the result's root where it lies below that, else unchanged.
 * NULL for NULL. */
const char *vs_check_path(const struct vs_check_result *result, const char *file);

/* vs_check_place: the first culprit with a file that lies below the root, or else any file and line;
 * NULL without. */
const struct vs_culprit *vs_check_place(const struct vs_check_result *result,
                                        const struct vs_budget_row *row);

/* vs_check_more: options of the command that shows more about the row: verb in *verb*. */
const char *vs_check_more(char *out, const struct vs_budget_row *row, const char **verb);

/* vs_check_rule: "gpu-memory/peak-allocated": what kind of limit it is. */
char *vs_check_rule(char *out, const struct vs_budget_row *row);

/* vs_check_fingerprint: 16 hexadecimal digits, the same for the same limit of the same program at
 * the same call site, whatever its line and its bytes. */
char *vs_check_fingerprint(char out[17], const struct vs_budget_verdict *verdict,
                           const struct vs_budget_row *row);

/* vs_check_problems_before: how many earlier problems are of the trace of problem *index*: documents tell
 * them apart by this number. */
size_t vs_check_problems_before(const struct vs_check_result *result, size_t index);

/* vs_check_trace: the path of the trace whose value the row has. */
const char *vs_check_trace(const struct vs_budget_row *row);

#endif
