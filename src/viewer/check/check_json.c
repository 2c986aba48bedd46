/* SPDX-License-Identifier: Apache-2.0
 *
 * The result as JSON, schema "vramscope.check/4" (docs/schema/check.schema.json). */

#include "viewer/check/check_words.h"
#include "viewer/common/json_writer.h"
#include "viewer/report/report_text.h"

static void put_row(struct vs_json *json, const struct vs_check_result *result,
                    const struct vs_budget_row *row)
{
    char text[VS_CHECK_LINE_MAX];
    const struct vs_quantity *quantity = &row->quantity;
    /* An exit status is no amount, and out of memory has no limit. */
    bool limited = row->kind == VS_ROW_QUANTITY, ended = row->kind == VS_ROW_EXIT;
    bool low = limited && quantity->metric == VS_METRIC_FREE;
    uint64_t excess = !row->exceeded ? 0
                      : low          ? row->limit - quantity->value : quantity->value - row->limit;
    const char *unit = quantity->metric == VS_METRIC_COPIES ? "copies" : "bytes";
    const char *metric = limited ? vs_metric_name(quantity->metric)
                         : ended ? "exit status" : "out of memory";
    vs_json_members(json, VS_J_UINT("device", quantity->device), VS_J_BOOL("host", quantity->host),
                    VS_J_TEXT("metric", metric),
                    VS_J_TEXT("level", quantity->tensors ? "tensors" : "device"),
                    VS_J_TEXT("phase", quantity->phase),
                    VS_J_TEXT("test", vs_test_name(quantity->phase)),
                    VS_J_BOOL("per_step", quantity->per_step),
                    VS_J_TEXT("direction", quantity->way ? vs_copy_way_name(quantity->way) : NULL),
                    VS_J_TEXT("unit", ended ? NULL : unit),
                    VS_J_KNOWN("bytes", !ended, quantity->value),
                    VS_J_KNOWN("limit_bytes", limited, row->limit),
                    VS_J_BOOL("held", !row->exceeded), VS_J_KNOWN("excess_bytes", limited, excess),
                    VS_J_KNOWN("exit_status", ended, row->status), VS_J_TEXT("from", row->from),
                    VS_J_BOOL("of_baseline", row->of_baseline), VS_J_BOOL("follows", row->follows),
                    VS_J_KNOWN("baseline_bytes", row->has_baseline, row->baseline),
                    VS_J_UINT("event", quantity->event), VS_J_UINT("time_ns", quantity->time_ns),
                    VS_J_TEXT("place", quantity->place), VS_J_TEXT("trace", vs_check_trace(row)),
                    VS_J_TEXT("sentence", vs_check_sentence(text, row)));
    vs_json_object(json, "spread", VS_J_UINT("runs", row->runs), VS_J_UINT("min", row->lowest),
                   VS_J_UINT("max", row->highest), VS_J_BOOL("above_tolerance", row->wide));
    if (row->exceeded) {
        char options[VS_CHECK_LINE_MAX];
        const char *verb;
        vs_check_more(options, row, &verb);
        vs_json_command(json, "more", verb, vs_check_trace(row), options);
        for (size_t i = 0; vs_json_next_object(json, "culprits", i, row->culprit_count); i++) {
            const struct vs_culprit *culprit = &row->culprits[i];
            vs_json_members(json, VS_J_TEXT("change", vs_change_name(culprit->change)),
                            VS_J_BOOL("cached", culprit->cached), VS_J_INT("delta", culprit->delta),
                            VS_J_UINT("bytes", culprit->bytes), VS_J_UINT("count", culprit->count),
                            VS_J_TEXT("function", culprit->function),
                            VS_J_TEXT("file", vs_check_path(result, culprit->file)),
                            VS_J_UINT("line", culprit->line),
                            VS_J_KNOWN("or_line", culprit->or_line, culprit->or_line),
                            VS_J_TEXT("site", vs_site_stable_name(text, culprit->site)));
            vs_json_string(json, "text", vs_check_culprit(text, result, row, culprit));
        }
    }
    if (row->exceeded && row->kind == VS_ROW_QUANTITY)
        vs_report_json_sites(json, "sites", &row->sites);
    if (row->two_lists)
        vs_report_json_sites(json, "cached_sites", &row->unused);
}

void vs_check_json(const struct vs_check_result *result, FILE *out)
{
    struct vs_json json = vs_json_document(out, "vramscope.check/4");
    for (size_t i = 0; vs_json_next_object(&json, "traces", i, result->count); i++) {
        const struct vs_budget_verdict *verdict = &result->items[i];
        uint64_t status;
        vs_json_members(&json, VS_J_TEXT("trace", verdict->runs[0]->report->path),
                        VS_J_TEXT("process", verdict->process),
                        VS_J_TEXT("arguments", verdict->runs[0]->arguments));
        for (size_t k = 0; vs_json_next(&json, "runs", k, verdict->run_count); k++)
            vs_json_string(&json, NULL, verdict->runs[k]->report->path);
        bool known = vs_exit_status(verdict->runs[0]->report, &status);
        vs_json_members(&json, VS_J_KNOWN("exit_status", known, known ? status : 0),
                        VS_J_UINT("steps", verdict->runs[0]->steps),
                        VS_J_BOOL("held", verdict->exceeded == 0));
        for (size_t k = 0; vs_json_next(&json, "notes", k, verdict->note_count); k++)
            vs_json_string(&json, NULL, verdict->notes[k]);
        for (size_t k = 0; vs_json_next_object(&json, "limits", k, verdict->count); k++)
            put_row(&json, result, &verdict->rows[k]);
    }
    for (size_t i = 0; vs_json_next(&json, "unusable", i, result->problem_count); i++)
        vs_json_object(&json, NULL, VS_J_TEXT("trace", result->problems[i].trace),
                       VS_J_TEXT("why", result->problems[i].text));
    vs_json_uint(&json, "exit_code", (uint64_t)result->exit_code);
    vs_json_end_object(&json);
}
