/* SPDX-License-Identifier: Apache-2.0
 *
 * GitLab's code quality report: an array with one issue per exceeded limit. GitLab compares issues of
 * two branches by their fingerprints, so that those depend on neither lines nor bytes. */

#include "viewer/check/check_words.h"
#include "viewer/common/json_writer.h"

static void put_location(struct vs_json *json, const char *path, unsigned line)
{
    vs_json_begin(json, "location", VS_J_TEXT("path", path));
    vs_json_object(json, "lines", VS_J_UINT("begin", line ? line : 1));
    vs_json_end_object(json);
}

void vs_check_code_quality(const struct vs_check_result *result, FILE *out)
{
    struct vs_json json = {.out = out, .pretty = true};
    vs_json_begin_array(&json, NULL);
    for (size_t i = 0; i < result->count; i++)
        for (size_t k = 0; k < result->items[i].count; k++) {
            const struct vs_budget_row *row = &result->items[i].rows[k];
            char text[VS_CHECK_LINE_MAX], line[VS_CHECK_LINE_MAX], print[17];
            char whole[2 * VS_CHECK_LINE_MAX + 8];
            if (!row->exceeded || row->follows)
                continue;
            const struct vs_culprit *place = vs_check_place(result, row);
            const char *severity = row->kind == VS_ROW_QUANTITY ? "major" : "critical";
            vs_check_fingerprint(print, &result->items[i], row);
            vs_check_sentence(text, row);
            vs_check_reason(line, result, row);
            snprintf(whole, sizeof whole, "%s%s%s", text, *line ? "; " : "", line);
            vs_json_begin(&json, NULL, VS_J_TEXT("description", whole),
                          VS_J_TEXT("check_name", vs_check_rule(text, row)),
                          VS_J_TEXT("fingerprint", print), VS_J_TEXT("severity", severity));
            put_location(&json, place ? vs_check_path(result, place->file) : vs_check_trace(row),
                         place ? place->line : 1);
            vs_json_end_object(&json);
        }
    for (size_t i = 0; i < result->problem_count; i++) {
        /* GitLab keeps one issue of each fingerprint, but a trace may have several problems. */
        const struct vs_check_problem *problem = &result->problems[i];
        char print[VS_CHECK_LINE_MAX], number[24] = "";
        size_t before = vs_check_problems_before(result, i);
        if (before)
            snprintf(number, sizeof number, " #%zu", before + 1);
        snprintf(print, sizeof print, "%.2000s%s", problem->trace, number);
        vs_json_begin(&json, NULL, VS_J_TEXT("description", problem->text),
                      VS_J_TEXT("check_name", "gpu-memory/unusable-trace"),
                      VS_J_TEXT("fingerprint", print), VS_J_TEXT("severity", "critical"));
        put_location(&json, problem->trace, 1);
        vs_json_end_object(&json);
    }
    vs_json_end_array(&json);
}
