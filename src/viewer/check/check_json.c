/* SPDX-License-Identifier: Apache-2.0
 *
 * The result as JSON, schema "vramscope.check/4" (docs/schema/check.schema.json). */
#include <string.h>

#include "viewer/check/check_words.h"
#include "viewer/common/json_writer.h"
#include "viewer/report/report_text.h"

static const char *metric_of(const struct vs_budget_row *row)
{
    return row->kind == VS_ROW_OOM    ? "out of memory"
           : row->kind == VS_ROW_EXIT ? "exit status" : vs_metric_name(row->quantity.metric);
}

/* An exit status is no amount, and out of memory has no limit. */
static void put_amounts(struct vs_json *json, const struct vs_budget_row *row)
{
    const struct vs_quantity *quantity = &row->quantity;
    bool limited = row->kind == VS_ROW_QUANTITY, ended = row->kind == VS_ROW_EXIT;
    bool low = limited && quantity->metric == VS_METRIC_FREE;
    uint64_t excess = !row->exceeded ? 0
                      : low          ? row->limit - quantity->value : quantity->value - row->limit;
    bool copies = quantity->metric == VS_METRIC_COPIES;
    vs_json_string(json, "unit", ended ? NULL : copies ? "copies" : "bytes");
    vs_json_known_uint(json, "bytes", !ended, quantity->value);
    vs_json_known_uint(json, "limit_bytes", limited, row->limit);
    vs_json_bool(json, "held", !row->exceeded);
    vs_json_known_uint(json, "excess_bytes", limited, excess);
    vs_json_known_uint(json, "exit_status", ended, row->status);
}

static void put_row(struct vs_json *json, const struct vs_check_result *result,
                    const struct vs_budget_row *row)
{
    char text[VS_CHECK_LINE_MAX];
    const struct vs_quantity *quantity = &row->quantity;
    vs_json_begin_object(json, NULL);
    vs_json_uint(json, "device", quantity->device);
    vs_json_bool(json, "host", quantity->host);
    vs_json_string(json, "metric", metric_of(row));
    const char *test = vs_test_name(quantity->phase);
    vs_json_string(json, "level", quantity->tensors ? "tensors" : "device");
    vs_json_string(json, "phase", quantity->phase);
    vs_json_string(json, "test", test);
    vs_json_bool(json, "per_step", quantity->per_step);
    vs_json_string(json, "direction", quantity->way ? vs_copy_way_name(quantity->way) : NULL);
    put_amounts(json, row);
    vs_json_string(json, "from", row->from);
    vs_json_bool(json, "of_baseline", row->of_baseline);
    vs_json_bool(json, "follows", row->follows);
    vs_json_known_uint(json, "baseline_bytes", row->has_baseline, row->baseline);
    vs_json_uint(json, "event", quantity->event);
    vs_json_uint(json, "time_ns", quantity->time_ns);
    vs_json_string(json, "place", quantity->place);
    vs_json_string(json, "trace", vs_check_trace(row));
    vs_json_string(json, "sentence", vs_check_sentence(text, row));
    vs_json_begin_object(json, "spread");
    vs_json_uint(json, "runs", row->runs);
    vs_json_uint(json, "min", row->lowest);
    vs_json_uint(json, "max", row->highest);
    vs_json_bool(json, "above_tolerance", row->wide);
    vs_json_end_object(json);
    if (row->exceeded) {
        char options[VS_CHECK_LINE_MAX];
        const char *verb;
        vs_check_more(options, row, &verb);
        vs_json_command(json, "more", verb, vs_check_trace(row), options);
        vs_json_begin_array(json, "culprits");
        for (size_t i = 0; i < row->culprit_count; i++) {
            const struct vs_culprit *culprit = &row->culprits[i];
            vs_json_begin_object(json, NULL);
            vs_json_string(json, "change", vs_change_name(culprit->change));
            vs_json_bool(json, "cached", culprit->cached);
            vs_json_int(json, "delta", culprit->delta);
            vs_json_uint(json, "bytes", culprit->bytes);
            vs_json_uint(json, "count", culprit->count);
            vs_json_string(json, "function", culprit->function);
            vs_json_string(json, "file", vs_check_path(result, culprit->file));
            vs_json_uint(json, "line", culprit->line);
            vs_json_known_uint(json, "or_line", culprit->or_line, culprit->or_line);
            vs_json_string(json, "site", vs_site_stable_name(text, culprit->site));
            vs_json_string(json, "text", vs_check_culprit(text, result, row, culprit));
            vs_json_end_object(json);
        }
        vs_json_end_array(json);
    }
    if (row->exceeded && row->kind == VS_ROW_QUANTITY)
        vs_report_json_sites(json, "sites", &row->sites);
    if (row->two_lists)
        vs_report_json_sites(json, "cached_sites", &row->unused);
    vs_json_end_object(json);
}

static void put_program(struct vs_json *json, const struct vs_check_result *result,
                        const struct vs_budget_verdict *verdict)
{
    uint64_t status;
    vs_json_begin_object(json, NULL);
    vs_json_string(json, "trace", verdict->runs[0]->report->path);
    vs_json_string(json, "process", verdict->process);
    vs_json_begin_array(json, "runs");
    for (size_t i = 0; i < verdict->run_count; i++)
        vs_json_string(json, NULL, verdict->runs[i]->report->path);
    vs_json_end_array(json);
    bool known = vs_exit_status(verdict->runs[0]->report, &status);
    vs_json_known_uint(json, "exit_status", known, known ? status : 0);
    vs_json_uint(json, "steps", verdict->runs[0]->steps);
    vs_json_bool(json, "held", verdict->exceeded == 0);
    vs_json_begin_array(json, "notes");
    for (size_t i = 0; i < verdict->note_count; i++)
        vs_json_string(json, NULL, verdict->notes[i]);
    vs_json_end_array(json);
    vs_json_begin_array(json, "limits");
    for (size_t i = 0; i < verdict->count; i++)
        put_row(json, result, &verdict->rows[i]);
    vs_json_end_array(json);
    vs_json_end_object(json);
}

void vs_check_json(const struct vs_check_result *result, FILE *out)
{
    struct vs_json json = {.out = out, .pretty = true};
    vs_json_begin_object(&json, NULL);
    vs_json_string(&json, "schema", "vramscope.check/4");
    vs_json_begin_array(&json, "traces");
    for (size_t i = 0; i < result->count; i++)
        put_program(&json, result, &result->items[i]);
    vs_json_end_array(&json);
    vs_json_begin_array(&json, "unusable");
    for (size_t i = 0; i < result->problem_count; i++) {
        vs_json_begin_object(&json, NULL);
        vs_json_string(&json, "trace", result->problems[i].trace);
        vs_json_string(&json, "why", result->problems[i].text);
        vs_json_end_object(&json);
    }
    vs_json_end_array(&json);
    vs_json_uint(&json, "exit_code", (uint64_t)result->exit_code);
    vs_json_end_object(&json);
}
