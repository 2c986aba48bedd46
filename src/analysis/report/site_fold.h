/* SPDX-License-Identifier: Apache-2.0
 *
 * Call sites that the user sees as one: stacks with the same functions and lines of the user's, and
 * other functions of libraries below and between them. Private to this folder. */
#ifndef VS_SITE_FOLD_H
#define VS_SITE_FOLD_H

#include "analysis/report/summary.h"

/* A group of rows: its members are *head*, next[head], … up to VS_SITE_NONE. */
struct vs_site_group {
    uint64_t bytes;
    uint32_t head; /* index of its heaviest row */
};

struct vs_site_fold {
    struct vs_site_group *groups; /* heaviest first */
    size_t count;
    uint32_t *next; /* of each row */
};

/* vs_site_fold_rows: groups *rows*, which it sorts, heaviest first. Ownership:
 * vs_site_fold_free. Looks up no symbols. */
void vs_site_fold_rows(const struct vs_summary *summary, struct vs_summary_row *rows,
                       size_t count, struct vs_site_fold *out);
void vs_site_fold_free(struct vs_site_fold *fold);

#endif
