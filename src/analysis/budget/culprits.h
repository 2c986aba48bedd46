/* SPDX-License-Identifier: Apache-2.0
 *
 * The call sites that make up a quantity, or its difference to a baseline. A call site has a name that
 * survives edits of the source: functions and base names of files, without lines. Several sites of one
 * name are distinguished by their order in the source, and matched with the baseline's so that as few
 * bytes as possible differ. */
#ifndef VS_CULPRITS_H
#define VS_CULPRITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
    uint32_t families; /* bit set of enum vs_family: the types of memory that the line allocates */
};

/* A call site by its stable name. */
struct vs_named_site {
    const char *name;  /* "forward (net.py) < train (train.py)" */
    uint64_t bytes, count;
    const struct vs_report_site *site; /* NULL: of a baseline */
    uint32_t families; /* as above */
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

/* --- Which frame of each call site of a list names it: the innermost one of the user's, unless
 * several sites share it. --- */

#define VS_SITE_FRAMES_MAX 24

/* vs_site_frames: the numbers of the frames that identify the site, innermost first: the user's,
 * without compiler's and libraries'. *out* has VS_SITE_FRAMES_MAX elements. Returns how many. */
size_t vs_site_frames(const struct vs_report_site *site, size_t *out);

/* vs_innermost_frame: the innermost one that reports show; frame_count when there is none. */
size_t vs_innermost_frame(const struct vs_report_site *site);

/* vs_file_is_header: of C or C++, by its name; *file* may be NULL. */
bool vs_file_is_header(const char *file);

/* vs_distinct_frames: sets the frame of each of *sites*, which all have a call site and say whether they have
 * changed. An allocation function of the program, which several sites reach on one line, is passed over. Not
 * so a function that calls itself, nor one that few call, all of whose sites have changed: a line of it was
 * changed, whoever calls it. *around*: NULL, or for a list of few sites, as of those that grow, the sites of
 * the run's peak, which count as well; both are ordered as vs_named_sites_of does. *alone*: the run is not
 * compared, so that no site says whether it has changed: a function that few call names its sites, unless it
 * is in a header, as the constructor of a class that owns memory. Cost: proportional to the frames that sites
 * share. */
void vs_distinct_frames(struct vs_named_sites *sites, const struct vs_named_sites *around, bool alone);

/* --- Which call site of a baseline is which site of a run: first by name, then among the sites
 * left without a partner those that differ only in template arguments, then those of the same bytes
 * and blocks with a function or file in common, or of a similar name under the same callers, which
 * were renamed or moved. Every site has at most one partner. --- */

struct vs_culprit_match {
    const struct vs_named_sites *now, *before;
    size_t *partner; /* of each site of now: index in before + 1, or 0 */
    bool *taken;     /* of each site of before */
    size_t pairs;
};

/* vs_culprit_match: *before* is of a baseline. Cost: about proportional to the sites of both lists. */
void vs_culprit_match(const struct vs_named_sites *now, const struct vs_named_sites *before,
                      enum vs_metric metric, struct vs_culprit_match *out);

void vs_culprit_match_free(struct vs_culprit_match *match);

/* --- the steps of a match, for two runs as well (analysis/compare/site_changes.c) --- */

/* vs_culprit_match_begin: no site has a partner. */
void vs_culprit_match_begin(struct vs_culprit_match *out, const struct vs_named_sites *now,
                            const struct vs_named_sites *before);

/* vs_match_pair: makes the sites with these indices partners. */
void vs_match_pair(struct vs_culprit_match *match, size_t now, size_t before);

/* vs_match_by_name: matches the sites of one name, which only their lines tell apart. */
void vs_match_by_name(struct vs_culprit_match *match, enum vs_metric metric);

/* A way to find a site again. */
struct vs_likeness {
    /* Of a site of before or of now; 0: this way does not apply to it. */
    uint64_t (*key)(const struct vs_named_site *site, bool before, const struct vs_likeness *by);
    bool (*alike)(const struct vs_named_site *now, const struct vs_named_site *before); /* NULL: all of one key */
    const struct vs_map *renamed; /* for *key* */
};

/* vs_match_by: matches sites without a partner that are alike. */
void vs_match_by(struct vs_culprit_match *match, const struct vs_likeness *by);

/* vs_site_same_size: whether both have the same bytes and count. */
static inline bool vs_site_same_size(const struct vs_named_site *a, const struct vs_named_site *b)
{
    return a->bytes == b->bytes && a->count == b->count;
}

#define VS_SITE_ALIGN_MAX 64 /* sites of one name that are aligned; more are matched in order */

/* vs_site_amount: the site's value in the metric's unit. */
uint64_t vs_site_amount(const struct vs_named_site *site, enum vs_metric metric);

/* vs_site_align: matches now[0 … n) with before[0 … m), both of one name and at most
 * VS_SITE_ALIGN_MAX: partner[i] is the index in *before* + 1, or 0. */
void vs_site_align(const struct vs_named_site *now, size_t n, const struct vs_named_site *before,
                   size_t m, enum vs_metric metric, size_t *partner);

/* vs_site_run: how many sites from *from* on have its name. */
size_t vs_site_run(const struct vs_named_sites *sites, size_t from);

/* --- how similar two names are: by the pairs of neighbouring characters that both have, however often
 * and wherever. A name is taken apart once, so that a comparison costs the sum of two lengths. --- */

#define VS_NAME_BYTES 128 /* of a name, that are compared */

struct vs_name_pairs {
    uint32_t count; /* 0: a name of less than two characters */
    uint16_t pairs[VS_NAME_BYTES - 1]; /* sorted */
};

/* vs_name_pairs_of: of the first *length* bytes of *name*. */
void vs_name_pairs_of(struct vs_name_pairs *out, const char *name, size_t length);

/* vs_name_similarity: 0 to 1000: the pairs that both have, as a share of the mean of their numbers. */
unsigned vs_name_similarity(const struct vs_name_pairs *a, const struct vs_name_pairs *b);

/* vs_names_alike: whether function *a* may be function *b* after a renaming: "forward", "forward_pass".
 * *x* and *y* are their pairs. */
bool vs_names_alike(const char *a, const struct vs_name_pairs *x, const char *b, const struct vs_name_pairs *y);

#endif
