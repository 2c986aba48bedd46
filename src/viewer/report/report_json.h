/* SPDX-License-Identifier: Apache-2.0
 *
 * The report as JSON, schema "vramscope.report/1": bytes as integers, times in ns since the process
 * started, members never renamed within a schema number (new ones may be added). Described in
 * docs/man/vramscope-report.1. */
#ifndef VS_REPORT_JSON_H
#define VS_REPORT_JSON_H

#include <stdio.h>

#include "analysis/report/report.h"
#include "viewer/common/json_writer.h"

/* vs_report_json: writes *report* to *out*. Write errors show in ferror(out). */
void vs_report_json(const struct vs_report *report, FILE *out);
/* vs_report_json_brief: the same without white space and without the frames of call sites. */
void vs_report_json_brief(const struct vs_report *report, FILE *out);

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
