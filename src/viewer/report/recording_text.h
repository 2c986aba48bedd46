/* SPDX-License-Identifier: Apache-2.0
 *
 * What of a program a trace was meant to hold, in words and in JSON: smallest size,
 * sampling, the limit of its size and what ended for it. */
#ifndef VS_RECORDING_TEXT_H
#define VS_RECORDING_TEXT_H

#include "analysis/report/report.h"
#include "viewer/common/json_writer.h"
#include "viewer/common/text_style.h"

/* vs_recording_text: lines for the head of a report; nothing when all was recorded. */
void vs_recording_text(const struct vs_report *report, const struct vs_style *style);

/* vs_recording_what: what *kind* of event a `dropped` counts, in words: "readings of free
 * memory" for device_sample; *kind* itself where it is a word already. */
const char *vs_recording_what(const char *kind);

/* vs_recording_cut_text: why the recording ended before the program did, or with it and
 * without warning, by how the trace ends: "recording stopped early: No space left on device;
 * what came after is not in it". *out* (VS_RECORDING_TEXT_MAX bytes) is "" and the answer
 * false where it ended well or has no end. vs_recording_cut_line: the first as a warning. */
#define VS_RECORDING_TEXT_MAX 256
bool vs_recording_cut_text(char *out, const struct vs_report *report);
void vs_recording_cut_line(const struct vs_report *report, const struct vs_style *style);

/* vs_recording_kernels_line: up to when kernels are known of a program that was killed, or still
 * runs; nothing where none lack, or none were recorded. */
void vs_recording_kernels_line(const struct vs_report *report, const struct vs_style *style);

/* vs_recording_json: the object "recording", likewise. */
void vs_recording_json(struct vs_json *json, const struct vs_report *report);

/* vs_recording_sums_old: the program was killed, or goes on, and what it did since the last sums
 * is not in them. */
bool vs_recording_sums_old(const struct vs_report *report);

/* vs_recording_partial_text: why allocations are missing: "only 1 in 16 allocations was
 * recorded". *out* has VS_RECORDING_TEXT_MAX bytes; returns out. */
char *vs_recording_partial_text(char *out, const struct vs_recording_state *state);

/* vs_recording_limit_text: from when on what is missing for the trace's size: "no kernels and
 * copies from 4.5 s on, no new call stacks from 6.1 s on", or "". since_ns count from the
 * process's start. *out* likewise; returns out. */
char *vs_recording_limit_text(char *out, const struct vs_recording_state *state);

/* vs_recording_sites_note: for the heading of the sites at a peak, what they lack: ", 19.5 MiB
 * of 27.9 MiB by site (only …)", or "". *out* has VS_RECORDING_TEXT_MAX bytes; returns out. */
char *vs_recording_sites_note(char *out, const struct vs_report *report,
                              const struct vs_report_sites *sites);

#endif
