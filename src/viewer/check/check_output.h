/* SPDX-License-Identifier: Apache-2.0
 *
 * The result of `vramscope check` for users, for programs, and for the CI systems that read workflow
 * commands, JUnit files, job summaries, code quality reports, SARIF or metrics. Each renderer writes a
 * whole document; write errors show in ferror(out). */
#ifndef VS_CHECK_OUTPUT_H
#define VS_CHECK_OUTPUT_H

#include "analysis/budget/budget_verdict.h"
#include "viewer/common/text_style.h"

/* A trace that could not be checked. */
struct vs_check_problem {
    const char *trace;
    const char *text;
};

struct vs_check_result {
    const struct vs_budget_verdict *items; /* by program, in the order of the command line */
    size_t count;
    const struct vs_check_problem *problems;
    size_t problem_count;
    const char *baseline; /* its file; NULL: none */
    const char *tolerance; /* as given: "2%"; NULL: none */
    const char *root;  /* folder to which CI systems' paths are relative; no slash at its end */
    const char *version; /* of this command */
    int exit_code;
};

/* vs_check_text: one line per limit, for an exceeded one also by how much, when, and which lines
 * made the difference; the limits of a baseline that hold are one line. *failures_only*: nothing of
 * programs whose limits all hold, unless the baseline does not have them, and only exceeded limits of the others. */
void vs_check_text(const struct vs_check_result *result, bool failures_only, const struct vs_style *style);

/* vs_check_json: schema "vramscope.check/4". */
void vs_check_json(const struct vs_check_result *result, FILE *out);

/* vs_check_github: a workflow command ::error per exceeded limit, with the file and line of the first
 * culprit, and one ::notice with the limits that hold and the notes. */
void vs_check_github(const struct vs_check_result *result, FILE *out);

/* vs_check_junit: one <testsuite> per program, one <testcase> per limit. */
void vs_check_junit(const struct vs_check_result *result, FILE *out);

/* vs_check_markdown: a table, for a job summary or a comment. */
void vs_check_markdown(const struct vs_check_result *result, FILE *out);

/* vs_check_code_quality: GitLab's code quality report, JSON. */
void vs_check_code_quality(const struct vs_check_result *result, FILE *out);

/* vs_check_sarif: SARIF 2.1.0. */
void vs_check_sarif(const struct vs_check_result *result, FILE *out);

/* vs_check_openmetrics: every quantity with its limits, in the text format of OpenMetrics 1.0. */
void vs_check_openmetrics(const struct vs_check_result *result, FILE *out);

#endif
