/* SPDX-License-Identifier: Apache-2.0
 *
 * How similar the stacks of two call sites are. A stack is taken apart once and then compared with many:
 * its functions and files as hashes, its names as pairs of characters. */
#ifndef VS_SIMILAR_STACK_H
#define VS_SIMILAR_STACK_H

#include "analysis/budget/name_pairs.h"
#include "analysis/compare/site_similar.h"

struct vs_similar_frame {
    const struct vs_report_frame *frame;
    uint64_t function, file; /* hashes; of the base name of the file, or of the module */
    struct vs_name_pairs name;
};

struct vs_similar_stack {
    const struct vs_named_site *named;
    struct vs_similar_frame naming; /* the frame whose function names the site, if it has frames */
    struct vs_name_pairs line;      /* of the user's line, if it has one */
    size_t count;
    struct vs_similar_frame frames[VS_SIMILAR_FRAMES]; /* vs_site_frames */
};

/* vs_similar_stack_of: takes *named* apart, which has a site and outlives *out*. */
void vs_similar_stack_of(struct vs_similar_stack *out, const struct vs_named_site *named);

/* vs_stack_similarity: 0 to 1000: the frames that both have in the same order, as a share of the
 * longer stack. A function of the same name in another file counts 900, another name in the same
 * file up to 800, by how similar the names are: without *same_size* (bytes and blocks of both) nothing
 * if they are not. 0 for sites of different APIs or levels, and where the function that names one site
 * is not in the stack of the other: under its name, under a similar one in the same file, or, for sites of the
 * same size, in any file, as of a function that was renamed and moved and from which a part was extracted; for
 * these it is enough that both functions are in one file. Sites of two functions may have nearly all frames in
 * common. */
unsigned vs_stack_similarity(const struct vs_similar_stack *a, const struct vs_similar_stack *b,
                             bool same_size);

#endif
