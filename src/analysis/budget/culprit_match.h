/* SPDX-License-Identifier: Apache-2.0
 *
 * Which call site of a baseline is which site of a run: first by name, then among the sites left without
 * a partner those that differ only in template arguments, then those of the same bytes and blocks with a
 * function or file in common, or of a similar name under the same callers, which were renamed or moved.
 * Every site has at most one partner. */
#ifndef VS_CULPRIT_MATCH_H
#define VS_CULPRIT_MATCH_H

#include "analysis/budget/culprits.h"

struct vs_culprit_match {
    const struct vs_named_sites *now, *before;
    size_t *partner; /* of each site of now: index in before + 1, or 0 */
    bool *taken;     /* of each site of before */
};

/* vs_culprit_match: *out* is to be freed also after an error. Cost: about proportional to
 * the sites of both lists. */
void vs_culprit_match(const struct vs_named_sites *now, const struct vs_named_sites *before,
                      enum vs_metric metric, struct vs_culprit_match *out);

void vs_culprit_match_free(struct vs_culprit_match *match);

#endif
