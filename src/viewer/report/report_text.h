/* SPDX-License-Identifier: Apache-2.0
 *
 * A report for users (`vramscope report`, the summary of `vramscope run`) and as JSON for
 * programs (schema "vramscope.report/1"). */
#ifndef VS_REPORT_TEXT_H
#define VS_REPORT_TEXT_H

#include <stdio.h>

#include "analysis/report/report.h"
#include "viewer/common/json_writer.h"
#include "viewer/common/text_style.h"

/* vs_report_text: prints *report*. *explained*: the failure with that event's number was described
 * before; 0: none was. Write errors show in ferror(style->out). */
void vs_report_text(const struct vs_report *report, uint64_t explained, const struct vs_style *style);

/* vs_report_ending: writes "exit 0", "exit 3", "killed by SIGSEGV", "still running", "no end
 * recorded (killed)" to *out* (96 bytes). Returns out. */
char *vs_report_ending(char *out, const struct vs_report *report);

/* vs_report_json: writes *report* to *out*; *brief*: without white space and without the frames of
 * call sites. Write errors show in ferror(out). */
void vs_report_json(const struct vs_report *report, bool brief, FILE *out);

/* Parts shared with the post-mortem's JSON. */
void vs_report_json_sites(struct vs_json *json, const char *key,
                          const struct vs_report_sites *sites);
/* vs_report_json_site: the members of one call site, in an object of the caller. */
void vs_report_json_site(struct vs_json *json, const struct vs_report_site *site);
/* vs_report_json_parts: the member "parts", likewise; none of an empty list. */
void vs_report_json_parts(struct vs_json *json, const struct vs_site_parts *parts);
/* vs_report_json_frames: its text and its frames, likewise. */
void vs_report_json_frames(struct vs_json *json, const struct vs_report_site *site);
void vs_report_json_failure(struct vs_json *json, const char *key,
                            const struct vs_report_failure *failure);

#endif
