/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of ranges that are steps of a program: "step 12", "iteration 3", "ProfilerStep#7", "train_step".
 * Pure functions. */
#ifndef VS_STEP_NAME_H
#define VS_STEP_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A parsed step-like name. */
struct vs_step_name {
    size_t prefix_length; /* bytes before the number, separators included */
    size_t stem_length;   /* without the separators: the name of the phase */
    bool numbered;
    uint64_t number;
};
/* vs_step_name_parse: false when *name* does not look like a step. */
bool vs_step_name_parse(const char *name, struct vs_step_name *out);

#endif
