/* SPDX-License-Identifier: Apache-2.0
 *
 * Recordings made under the option `limit`: what the limit was of each device, and a
 * failed allocation as the program met it, on a device of that size. Internal to
 * analysis. */
#ifndef VS_IMPOSED_H
#define VS_IMPOSED_H

#include "analysis/oom.h"

/* vs_imposed_fill: limit_bytes of the report's devices, from the recorded options. */
void vs_imposed_fill(struct vs_report *report);

/* vs_imposed_apply: *oom* has its device's figures; when a *limit* (0: none) was nearer
 * than the device's own end, turn them into those of the limit: total, free, outside and
 * what is needed. oom->limit says whether that was so. */
void vs_imposed_apply(struct vs_oom *oom, uint64_t limit);

#endif
