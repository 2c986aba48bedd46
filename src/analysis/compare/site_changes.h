/* SPDX-License-Identifier: Apache-2.0
 *
 * Two lists of call sites, matched: which are new, gone, grown, shrunk, moved or the same. Addresses
 * and the order of allocations play no part: sites are matched by the functions and files of their
 * stacks, then by similar stacks, so that a function that was renamed or moved is not new. */
#ifndef VS_SITE_CHANGES_H
#define VS_SITE_CHANGES_H

#include "analysis/budget/culprits.h"

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

#endif
