/* SPDX-License-Identifier: Apache-2.0
 *
 * The post-mortem for users (`vramscope oom`), for programs (schema "vramscope.oom/2"), and in a
 * few lines for the summary of `vramscope run`. */
#ifndef VS_OOM_TEXT_H
#define VS_OOM_TEXT_H

#include "analysis/oom/oom.h"
#include "viewer/common/text_style.h"

/* vs_oom_text: prints *oom*; *report* is the report of the same trace. */
void vs_oom_text(const struct vs_oom *oom, const struct vs_report *report,
                 const struct vs_style *style);

/* vs_oom_text_none: for a trace without a failed allocation: prints the lowest free memory of each
 * device. */
void vs_oom_text_none(const struct vs_report *report, const struct vs_style *style);

/* vs_oom_json: the same as JSON; *brief*: without white space and without the frames of call sites.
 * *oom* NULL: no allocation failed. */
void vs_oom_json(const struct vs_oom *oom, const struct vs_report *report, bool brief, FILE *out);

/* vs_oom_brief: prints *oom*, the failure that ended the program. */
void vs_oom_brief(const struct vs_oom *oom, const struct vs_style *style);

#endif
