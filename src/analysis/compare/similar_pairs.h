/* SPDX-License-Identifier: Apache-2.0
 *
 * The pairs of call sites of two runs whose stacks are similar, the most similar first. The match of two
 * runs asks in rounds, for the sites that are left: a pair is compared once, and its score is kept. */
#ifndef VS_SIMILAR_PAIRS_H
#define VS_SIMILAR_PAIRS_H

#include "analysis/budget/culprits.h"
#include "base/vs_map.h"

struct vs_similar_pair {
    unsigned score; /* vs_stack_similarity */
    size_t a, b;    /* indices of sites */
};

/* Zero-initialise; release with vs_similar_pairs_free. */
struct vs_similar_pairs {
    struct vs_map scores[2]; /* of any two sites, of two of the same size: pair -> score + 1 */
    struct vs_similar_pair *items;
    size_t count;
};

/* Sites of a run: those of *named* with the indices in *list*. */
struct vs_similar_side {
    const struct vs_named_sites *named;
    const size_t *list;
    size_t count;
};

/* vs_similar_pairs_find: fills items with the pairs of *a* and *b* that are at least *least* similar, of
 * *sizes* only sites with the same bytes and count. */
void vs_similar_pairs_find(struct vs_similar_pairs *pairs, const struct vs_similar_side *a,
                           const struct vs_similar_side *b, bool sizes, unsigned least);
void vs_similar_pairs_free(struct vs_similar_pairs *pairs);

/* vs_site_same_size: whether both have the same bytes and count. */
static inline bool vs_site_same_size(const struct vs_named_site *a, const struct vs_named_site *b)
{
    return a->bytes == b->bytes && a->count == b->count;
}

#endif
