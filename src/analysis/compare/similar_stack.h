/* SPDX-License-Identifier: Apache-2.0
 *
 * What the stacks of call sites of two runs have in common, and the pairs of sites whose stacks are
 * similar. */
#ifndef VS_SIMILAR_STACK_H
#define VS_SIMILAR_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/budget/culprits.h"
#include "base/vs_map.h"

/* vs_same_function: whether both frames are of one function, whatever its file; the compiler's
 * suffixes of copies do not count. */
bool vs_same_function(const struct vs_report_frame *a, const struct vs_report_frame *b);

/* vs_same_file: whether the base names of both files, or modules, are the same. */
bool vs_same_file(const struct vs_report_frame *a, const struct vs_report_frame *b);

/* vs_function_hash: of the function's name, without the compiler's suffixes; never 0. */
uint64_t vs_function_hash(const struct vs_report_frame *frame);

/* vs_functions_hash: the same for sites that have the same functions in the same order, and are of one
 * family and level; 0 for those that the user's line names. *renamed*: hashes of names, and of the names to
 * take instead; NULL: none. */
uint64_t vs_functions_hash(const struct vs_report_site *site, const struct vs_map *renamed);

struct vs_similar_pair {
    unsigned score; /* 0 to 1000 */
    size_t a, b;    /* indices of sites */
};

/* The pairs of two runs whose stacks are similar, the most similar first. The match of two runs asks in
 * rounds, for the sites that are left: a pair is compared once, and its score is kept. Zero-initialise. */
struct vs_similar_pairs {
    struct vs_map scores[2]; /* of any two sites, of two of the same size: pair -> score + 1 */
    struct vs_similar_pair *items;
    size_t count;
};

/* Sites of a run: those of *named*, which all have a site, with the indices in *list*. */
struct vs_similar_side {
    const struct vs_named_sites *named;
    const size_t *list;
    size_t count;
};

/* vs_similar_pairs_find: fills items with the pairs of *a* and *b* that are at least *least* similar, of
 * *sizes* only sites with the same bytes and count. The score is of the frames that both have in the same
 * order, as a share of the longer stack. A function of the same name in another file counts 900, another
 * name in the same file up to 800, by how similar the names are: without *sizes* nothing if they are not. It
 * is 0 for sites of different APIs or levels, and where the function that names one site is not in the stack
 * of the other: under its name, under a similar one in the same file, or, for sites of the same size, in any
 * file, as of a function that was renamed and moved and from which a part was extracted; for these it is
 * enough that both functions are in one file. Sites of two functions may have nearly all frames in common. */
void vs_similar_pairs_find(struct vs_similar_pairs *pairs, const struct vs_similar_side *a,
                           const struct vs_similar_side *b, bool sizes, unsigned least);
void vs_similar_pairs_free(struct vs_similar_pairs *pairs);

#endif
