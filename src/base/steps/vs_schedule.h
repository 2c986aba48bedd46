/* SPDX-License-Identifier: Apache-2.0
 *
 * The value of the option `kernels_steps`: the steps whose kernels are recorded. "10-12" and "10" are
 * numbers of steps; "skip_first=10,wait=5,warmup=1,active=2,repeat=3" is a cycle of steps as in
 * torch.profiler.schedule, with its defaults but for active, 1; repeat=0: until the end. Pure functions. */
#ifndef VS_SCHEDULE_H
#define VS_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vs_err.h"

struct vs_schedule {
    bool given, numbered;
    uint64_t first, last;                           /* if numbered */
    uint64_t skip_first, wait, warmup, active, repeat; /* otherwise */
};

/* What is recorded: nothing; nothing yet, but CUPTI is warmed up; everything. */
enum vs_schedule_part { VS_SCHEDULE_OFF, VS_SCHEDULE_WARM, VS_SCHEDULE_ON };

/* vs_schedule_parse: the empty text: none given. VS_ERR_ARG, *schedule* unwritten, for anything else. */
enum vs_err vs_schedule_parse(const char *text, struct vs_schedule *schedule) VS_MUST_CHECK;

/* vs_schedule_at: of the step with this *number* (the program's) that is the *index*-th one, from 0. */
enum vs_schedule_part vs_schedule_at(const struct vs_schedule *schedule, uint64_t number, uint64_t index);

#endif
