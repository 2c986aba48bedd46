/* SPDX-License-Identifier: Apache-2.0
 *
 * Recordings made with the option `limit`: the limit of each device. Internal to analysis. */
#ifndef VS_IMPOSED_H
#define VS_IMPOSED_H

#include "analysis/report/report.h"

/* vs_imposed_fill: sets limit_bytes of the report's devices from the recorded options. */
void vs_imposed_fill(struct vs_report *report);

#endif
