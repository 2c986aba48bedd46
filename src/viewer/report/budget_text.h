/* SPDX-License-Identifier: Apache-2.0
 *
 * The result of `vramscope check` for users, for programs, and for the CI systems that read
 * workflow commands or JUnit files. */
#ifndef VS_BUDGET_TEXT_H
#define VS_BUDGET_TEXT_H

#include "analysis/report/budget.h"
#include "viewer/common/json_writer.h"
#include "viewer/common/text_style.h"

/* The results of one trace. */
struct vs_budget_result {
    const struct vs_report *report;
    const struct vs_budget_line *lines;
    size_t count;
    size_t exceeded;
};

/* vs_budget_text: one line per limit; for an exceeded one also by how much, and who holds the
 * memory. */
void vs_budget_text(const struct vs_budget_result *result, const struct vs_style *style);

/* vs_budget_github: one workflow command (::error or ::notice) per limit. */
void vs_budget_github(const struct vs_budget_result *result, FILE *out);

/* vs_budget_json: one element of the array "traces" (schema "vramscope.check/2"). */
void vs_budget_json(const struct vs_budget_result *result, struct vs_json *json);

/* vs_budget_junit: one <testsuite>. */
void vs_budget_junit(const struct vs_budget_result *result, FILE *out);

#endif
