/* SPDX-License-Identifier: Apache-2.0
 *
 * What of a program a trace was meant to hold, in words and in JSON: smallest size,
 * sampling, the limit of its size and what ended for it. */
#ifndef VS_RECORDING_TEXT_H
#define VS_RECORDING_TEXT_H

#include "analysis/report.h"
#include "viewer/json_writer.h"
#include "viewer/text_style.h"

/* vs_recording_text: lines for the head of a report; nothing when all was recorded. */
void vs_recording_text(const struct vs_report *report, const struct vs_style *style);

/* vs_recording_json: the object "recording", likewise. */
void vs_recording_json(struct vs_json *json, const struct vs_report *report);

/* vs_recording_partial_text: why allocations are missing: "only 1 in 16 allocations was
 * recorded". *out* has 160 bytes; returns out. */
char *vs_recording_partial_text(char *out, const struct vs_recording_state *state);

#endif
