/* SPDX-License-Identifier: Apache-2.0
 *
 * Vector clocks; see the header. A join without effect copies nothing; most joins are such. */
#include "simulator/driver/vs_sim_clock.h"

#include <stdlib.h>
#include <string.h>

#include "simulator/driver/vs_sim_host.h"

void vs_sim_clock_unref(struct vs_sim_clock *clock)
{
    if (clock && !--clock->refs)
        free(clock);
}

/* Makes *clock* unshared and at least *lanes* wide. */
static void own(struct vs_sim_clock **clock, unsigned lanes)
{
    struct vs_sim_clock *old = *clock;
    unsigned had = old ? old->lanes : 0;
    if (old && old->refs == 1 && had >= lanes)
        return;
    if (lanes < had)
        lanes = had;
    struct vs_sim_clock *new = vs_sim_need(calloc(1, sizeof *new + lanes * sizeof new->at[0]));
    new->refs = 1;
    new->lanes = lanes;
    if (old)
        memcpy(new->at, old->at, had * sizeof new->at[0]);
    vs_sim_clock_unref(old);
    *clock = new;
}

void vs_sim_clock_raise(struct vs_sim_clock **clock, uint32_t lane, uint64_t seq)
{
    if (vs_sim_clock_at(*clock, lane) >= seq)
        return;
    own(clock, lane + 1);
    (*clock)->at[lane] = seq;
}

void vs_sim_clock_join(struct vs_sim_clock **clock, const struct vs_sim_clock *other)
{
    if (!other || *clock == other)
        return;
    unsigned lane = 0;
    while (lane < other->lanes && vs_sim_clock_at(*clock, lane) >= other->at[lane])
        lane++;
    if (lane == other->lanes)
        return;
    own(clock, other->lanes);
    for (; lane < other->lanes; lane++)
        if ((*clock)->at[lane] < other->at[lane])
            (*clock)->at[lane] = other->at[lane];
}
