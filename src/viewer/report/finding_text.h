/* SPDX-License-Identifier: Apache-2.0
 *
 * The findings of a report: refused frees, and those of the simulated GPU's checker. */
#ifndef VS_FINDING_TEXT_H
#define VS_FINDING_TEXT_H

#include "analysis/report/report.h"
#include "viewer/common/json_writer.h"
#include "viewer/common/text_style.h"

/* vs_findings_text: prints nothing if there are none. *given_back*: requests that the cache served by giving
 * memory back, too; no failure would have followed from them without the cache. */
void vs_findings_text(const struct vs_report *report, bool given_back, const struct vs_style *style);

/* vs_findings_json: the members "findings" and "findings_in_no_group". */
void vs_findings_json(struct vs_json *json, const struct vs_report *report);

#endif
