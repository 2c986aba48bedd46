/* SPDX-License-Identifier: Apache-2.0
 *
 * Which call site of a baseline is which site of a run: first by name, then among the sites left without
 * a partner those that differ only in template arguments, then those of the same bytes and blocks with a
 * function or file in common, or of a similar name under the same callers, which were renamed or moved.
 * Every site has at most one partner. */
#ifndef VS_CULPRIT_MATCH_H
#define VS_CULPRIT_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/budget/culprits.h"

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
