/* SPDX-License-Identifier: Apache-2.0
 *
 * The peaks of windows of time (window_peaks.h) as JSON. */
#ifndef VS_WINDOW_JSON_H
#define VS_WINDOW_JSON_H

#include "analysis/report/report.h"
#include "viewer/common/json_writer.h"

/* vs_window_json: the member "windows" of *report*; nothing if none were asked for. */
void vs_window_json(struct vs_json *json, const struct vs_report *report);

#endif
