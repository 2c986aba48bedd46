/* SPDX-License-Identifier: Apache-2.0
 *
 * The call sites that make up a quantity, or its difference to a baseline. A call site has a name that
 * survives edits of the source: functions and base names of files, without lines. Several sites of one
 * name are distinguished by their order in the source, and matched with the baseline's so that as few
 * bytes as possible differ. */
#ifndef VS_CULPRITS_H
#define VS_CULPRITS_H

#include "analysis/budget/budget_key.h"
#include "analysis/report/report.h"

#define VS_SITE_NAME_MAX 512
#define VS_SITE_NAME_FRAMES 4

enum vs_site_change { VS_CHANGE_HOLDS, VS_CHANGE_NEW, VS_CHANGE_GROWN };

struct vs_culprit {
    enum vs_site_change change;
    bool cached;            /* requested a segment of which *delta* bytes are cached and not in use */
    int64_t delta;          /* in the metric's unit; of HOLDS its whole share */
    uint64_t bytes, count;
    const char *function, *file; /* of the user's line; NULL: unknown */
    unsigned line;               /* 0: unknown */
    unsigned or_line;            /* of NEW: another line of the file may be the new one instead, and this
                                  * one the old: they allocate the same; 0: none */
    const struct vs_report_site *site; /* its heaviest */
};

/* A call site by its stable name. */
struct vs_named_site {
    const char *name;  /* "forward (net.py) < train (train.py)" */
    uint64_t bytes, count;
    const struct vs_report_site *site; /* NULL: of a baseline */
    size_t frame; /* of the site's, whose line names it: the innermost, or after vs_distinct_frames that one */
    bool changed;  /* it is new, or holds another amount than before */
    uint64_t more; /* set by vs_mark_changed: its excess over that amount, in the metric's unit */
    struct vs_site_label {
        size_t from;     /* its first frame */
        unsigned frames; /* at most as many */
        unsigned number; /* 0, or a number that tells it from others of the same text */
    } label; /* set by vs_change_labels */
};

struct vs_named_sites {
    struct vs_named_site *items; /* by name, equal names in the order of their lines */
    size_t count;
};

/* vs_function_length: the bytes of *function* without the suffix that the compiler gives to copies of a
 * function, such as ".constprop.0". */
size_t vs_function_length(const char *function);

/* vs_site_stable_name: in *out* (VS_SITE_NAME_MAX bytes). Returns out. */
char *vs_site_stable_name(char *out, const struct vs_report_site *site);

/* vs_named_sites_of: names *sites*; those with the same name and lines are one. Of growth *bytes* is
 * the growth per step. *memory* owns the result; */
void vs_named_sites_of(struct vs_arena *memory, const struct vs_report_sites *sites,
                       enum vs_metric metric, struct vs_named_sites *out);

/* vs_named_site_order: the order of the sites above, for qsort. */
int vs_named_site_order(const void *a, const void *b);

/* vs_culprits_largest: at most *max* sites of *now*, most first, where there is no baseline; none whose amount is 0.
 * *around*: NULL, or the sites of the run's peak, as below. */
size_t vs_culprits_largest(struct vs_named_sites *now, const struct vs_named_sites *around, enum vs_metric metric,
                           struct vs_culprit *out, size_t max);

/* vs_culprits: at most *max* sites of *now*, most first, that are new or have grown since *before*. A site with the
 * same bytes and blocks as one that is gone, and a function or file in common, was renamed and is not new.
 * *around*: NULL, or for a list of few sites, as of those that grow, the sites of the run's peak, marked by
 * vs_mark_changed, which share functions that allocate with them: a site then has the line that it has at the
 * peak. *new_min*: sites below it are not in a baseline, so they are not new. Returns how many. */
size_t vs_culprits(const struct vs_named_sites *now, const struct vs_named_sites *around,
                   const struct vs_named_sites *before, enum vs_metric metric, uint64_t new_min,
                   struct vs_culprit *out, size_t max);

/* vs_mark_changed: marks the sites of *now* that hold more than in *before*, and sets by how much. */
void vs_mark_changed(struct vs_named_sites *now, const struct vs_named_sites *before,
                     enum vs_metric metric);

/* vs_culprit_of: *named*, which has a site, with its line: that of the frame that tells it from the
 * others. The change is not set. */
struct vs_culprit vs_culprit_of(const struct vs_named_site *named);

/* vs_site_is: whether both are the same call site, by names and lines, perhaps of two times. */
bool vs_site_is(const struct vs_report_site *a, const struct vs_report_site *b);

/* vs_change_name: "holds", "new", "grown". */
const char *vs_change_name(enum vs_site_change change);

/* How much memory at the peaks of all devices has a call stack, and functions with names: of a stripped
 * program, whose call sites are addresses, those of two runs cannot be compared. */
struct vs_named_memory {
    uint64_t all, with_stack, with_names;
};

struct vs_named_memory vs_named_memory(const struct vs_report *report);

/* vs_without_names: whether most of the memory with a call stack has functions without names. */
bool vs_without_names(const struct vs_report *report);

/* Which of two lists of call sites has addresses, "train+0x11a7 (train)", in place of the other's functions. */
enum vs_names_lack { VS_NAMES_LACK_NONE, VS_NAMES_LACK_NOW, VS_NAMES_LACK_BEFORE };

/* vs_names_lack: the list that has addresses in place of the other's functions: most of its bytes are of addresses
 * that the other does not have, and most of the other's of functions that it does not have. Addresses in both, as of
 * a stripped library, do not count. Both lists are ordered by name. */
enum vs_names_lack vs_names_lack(const struct vs_named_sites *now, const struct vs_named_sites *before);

#endif
