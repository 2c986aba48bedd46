/* SPDX-License-Identifier: Apache-2.0
 *
 * Vector clocks: for each lane (the host is lane 0, each stream has its own) the
 * newest numbered event that is known to have happened before. Shared by counting
 * references and copied before a change when somebody else holds it, so a clock
 * once handed out never changes. NULL is the clock that knows nothing.
 *
 * No locks of its own: the caller's lock guards every clock of one universe. */
#ifndef VS_SIM_CLOCK_H
#define VS_SIM_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vs_err.h"

struct vs_sim_clock {
    unsigned refs, lanes;
    uint64_t at[];
};

static inline uint64_t vs_sim_clock_at(const struct vs_sim_clock *clock, uint32_t lane)
{
    return clock && lane < clock->lanes ? clock->at[lane] : 0;
}

static inline struct vs_sim_clock *vs_sim_clock_ref(struct vs_sim_clock *clock)
{
    if (clock)
        clock->refs++;
    return clock;
}

void vs_sim_clock_unref(struct vs_sim_clock *clock);

/* vs_sim_clock_raise: *clock* knows at least number *seq* of *lane* from now on.
 * False: no host memory, nothing changed. */
bool vs_sim_clock_raise(struct vs_sim_clock **clock, uint32_t lane, uint64_t seq) VS_MUST_CHECK;

/* vs_sim_clock_join: *clock* knows all that *other* knows. False as above. */
bool vs_sim_clock_join(struct vs_sim_clock **clock, const struct vs_sim_clock *other) VS_MUST_CHECK;

#endif
