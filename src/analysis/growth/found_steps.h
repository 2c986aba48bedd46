/* SPDX-License-Identifier: Apache-2.0
 *
 * Steps that were found from the repeating requests, for a later reading of the same trace: when each
 * began. Not thread-safe. */
#ifndef VS_FOUND_STEPS_H
#define VS_FOUND_STEPS_H

#include "analysis/growth/growth.h"

/* vs_found_step_at: the number of the found step in which *time_ns* is. False before the first one, and
 * where *steps* is NULL or has none that were found: marked steps are in the replay. */
bool vs_found_step_at(const struct vs_growth_steps *steps, uint64_t time_ns, uint64_t *number);

/* vs_found_step_place: gives *place*, of memory allocated at *time_ns*, its found step. */
void vs_found_step_place(const struct vs_growth_steps *steps, uint64_t time_ns, struct vs_place *place);

/* vs_found_steps_keep: a copy of *from* whose rows outlive the tracker; without rows if they were not
 * found. */
void vs_found_steps_keep(const struct vs_growth_steps *from, struct vs_growth_steps *out);

/* vs_found_steps_read: reads the whole trace for them; those of a damaged trace up to the damage. The
 * reader is rewound before, not after. vs_found_steps_replay: with a *replay* that is new. */
enum vs_err vs_found_steps_read(struct vs_reader *reader, struct vs_growth_steps *out) VS_MUST_CHECK;
enum vs_err vs_found_steps_replay(struct vs_reader *reader, struct vs_replay *replay, struct vs_growth_steps *out)
    VS_MUST_CHECK;

void vs_found_steps_free(struct vs_growth_steps *steps);

#endif
