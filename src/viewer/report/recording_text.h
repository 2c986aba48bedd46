/* SPDX-License-Identifier: Apache-2.0
 *
 * The settings and limits of the recording, as text and as JSON: smallest size, sampling, the limit
 * of the trace's size and what was dropped for it. */
#ifndef VS_RECORDING_TEXT_H
#define VS_RECORDING_TEXT_H

#include "analysis/report/report.h"
#include "viewer/common/json_writer.h"
#include "viewer/common/text_style.h"

/* vs_recording_text: lines for the head of a report; nothing if everything was recorded. */
void vs_recording_text(const struct vs_report *report, const struct vs_style *style);

/* vs_recording_what: the kind of event that a `dropped` event counts, for users: "readings of free
 * memory" for device_sample; *kind* itself if it is a plain word. */
const char *vs_recording_what(const char *kind);

/* vs_recording_cut_text: if the recording ended before the program did, or without an end event,
 * the reason from the trace: "recording stopped early: No space left on device; what came after is
 * not in it". Returns false, with "" in *out* (VS_RECORDING_TEXT_MAX bytes), if it ended normally
 * or has no end. vs_recording_cut_line: prints it as a warning. */
#define VS_RECORDING_TEXT_MAX 256
bool vs_recording_cut_text(char *out, const struct vs_report *report);
void vs_recording_cut_line(const struct vs_report *report, const struct vs_style *style);

/* vs_recording_kernels_line: for a program that was killed or still runs, the time up to which
 * kernels are recorded; prints nothing if none are missing, or none were recorded. */
void vs_recording_kernels_line(const struct vs_report *report, const struct vs_style *style);

/* vs_recording_json: the object "recording", likewise. */
void vs_recording_json(struct vs_json *json, const struct vs_report *report);

/* vs_recording_sums_old: true if the program was killed, or still runs, and its changes since the
 * last sums are not included. */
bool vs_recording_sums_old(const struct vs_report *report);

/* vs_recording_partial_text: why allocations are missing: "only 1 in 16 allocations was recorded".
 * *out* has VS_RECORDING_TEXT_MAX bytes; returns out. */
char *vs_recording_partial_text(char *out, const struct vs_recording_state *state);

/* vs_recording_limit_text: the events dropped for the trace's size, and since when: "no kernels and
 * copies from 4.5 s on, no new call stacks from 6.1 s on", or "". since_ns count from the process's
 * start. *out* likewise; returns out. */
char *vs_recording_limit_text(char *out, const struct vs_recording_state *state);

/* vs_recording_sites_note: for the heading of the sites at a peak, the recorded part: ": 19.5 MiB
 * of 27.9 MiB known by site", or "". *out* has VS_RECORDING_TEXT_MAX bytes; returns out. */
char *vs_recording_sites_note(char *out, const struct vs_report *report,
                              const struct vs_report_sites *sites);

#endif
