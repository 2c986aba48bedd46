/* SPDX-License-Identifier: Apache-2.0
 *
 * Several runs of one program as one: of each quantity the value that `--take` chooses. A quantity
 * counts over the runs that measured it, also where the first run is not one of them. */
#ifndef VS_TAKEN_H
#define VS_TAKEN_H

#include "analysis/budget/budget_key.h"
#include "analysis/budget/quantities.h"

struct vs_taken_quantity {
    struct vs_quantity quantity; /* of the run whose value is taken; unknown if no run measured it */
    struct vs_measured *run;     /* that run */
    uint64_t runs, lowest, highest; /* over the runs that measured it */
};

struct vs_taken {
    struct vs_taken_quantity *items; /* in the order of the first run; those of later runs follow */
    size_t count;
    uint64_t steps; /* chosen likewise */
};

/* vs_taken_build: *count* runs (at least one). Of two middle values the worse is taken. *memory* owns
 * the result. Cost: O(n log n) for n quantities of all runs. */
void vs_taken_build(struct vs_arena *memory, struct vs_measured **runs, size_t count,
                    enum vs_take how, struct vs_taken *out);

#endif
