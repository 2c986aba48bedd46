/* SPDX-License-Identifier: Apache-2.0
 *
 * Vector clocks: for each lane (the host is lane 0, each stream has its own) the newest numbered
 * event known to have happened before. Clocks are reference-counted and copied before a change
 * while shared, so a clock once returned never changes. NULL is the empty clock.
 *
 * No locks of its own: the caller's lock guards every clock of one checker. */
#ifndef VS_SIM_CLOCK_H
#define VS_SIM_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* vs_sim_clock_raise: raises *lane* of *clock* to at least *seq*. */
void vs_sim_clock_raise(struct vs_sim_clock **clock, uint32_t lane, uint64_t seq);

/* vs_sim_clock_join: raises *clock* to at least *other* in every lane. */
void vs_sim_clock_join(struct vs_sim_clock **clock, const struct vs_sim_clock *other);

#endif
