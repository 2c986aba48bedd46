/* SPDX-License-Identifier: Apache-2.0
 *
 * Live memory at one time, and repeated allocations, as JSON. */
#ifndef VS_HELD_JSON_H
#define VS_HELD_JSON_H

#include "analysis/report/report.h"
#include "viewer/common/json_writer.h"

/* vs_held_json: null if nothing was allocated. */
void vs_held_json(struct vs_json *json, const char *key, const struct vs_held *held);

/* vs_churn_json: the call sites of *device* that allocate blocks of one size again and again. */
void vs_churn_json(struct vs_json *json, const char *key, const struct vs_report_device *device);

#endif
