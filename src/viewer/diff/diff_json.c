/* SPDX-License-Identifier: Apache-2.0
 *
 * The difference as JSON, schema "vramscope.diff/1" (docs/schema/diff.schema.json). */
#include "analysis/budget/budget_verdict.h"
#include "analysis/compare/comparison.h"
#include "viewer/common/json_writer.h"
#include "viewer/diff/diff_words.h"

static void put_run(struct vs_json *json, const char *key, const struct vs_measured *run)
{
    static const char *const conditions[] = {"complete", "live", "truncated", "damaged"};
    uint64_t status = 0;
    bool known = vs_exit_status(run->report, &status);
    vs_json_begin_object(json, key);
    vs_json_string(json, "trace", run->report->path);
    vs_json_string(json, "process", run->process);
    vs_json_string(json, "condition", conditions[run->report->condition]);
    vs_json_known_uint(json, "exit_status", known, status);
    vs_json_uint(json, "steps", run->steps);
    vs_json_end_object(json);
}

static void put_quantity(struct vs_json *json, const struct vs_compared_amount *amount)
{
    const struct vs_quantity *any = amount->b ? amount->b : amount->a;
    vs_json_uint(json, "device", any->device);
    vs_json_string(json, "metric", vs_metric_name(any->metric));
    vs_json_string(json, "level", any->tensors ? "tensors" : "device");
    vs_json_string(json, "phase", any->phase);
    vs_json_string(json, "unit", any->metric == VS_METRIC_COPIES ? "copies" : "bytes");
    vs_json_string(json, "direction", any->way ? vs_copy_way_name(any->way) : NULL);
    vs_json_known_uint(json, "a", amount->a != NULL, vs_compared_value(amount->a));
    vs_json_known_uint(json, "b", amount->b != NULL, vs_compared_value(amount->b));
}

static void put_site(struct vs_json *json, const char *key, const struct vs_named_site *site)
{
    char text[VS_CHAIN_TEXT_MAX];
    if (!site) {
        vs_json_string(json, key, NULL);
        return;
    }
    struct vs_culprit culprit = vs_culprit_of(site);
    vs_json_begin_object(json, key);
    vs_json_uint(json, "bytes", site->bytes);
    vs_json_uint(json, "count", site->count);
    vs_json_string(json, "name", site->name);
    vs_json_string(json, "function", culprit.function);
    vs_json_string(json, "file", culprit.file);
    vs_json_uint(json, "line", culprit.line);
    vs_json_string(json, "text", vs_change_label_text(text, site));
    vs_json_end_object(json);
}

static void put_sites(struct vs_json *json, const struct vs_comparison *comparison)
{
    vs_json_begin_array(json, "sites");
    for (size_t i = 0; i < comparison->site_count; i++) {
        const struct vs_compared_sites *sites = &comparison->sites[i];
        const struct vs_site_changes *changes = &sites->changes;
        vs_json_begin_object(json, NULL);
        vs_json_uint(json, "device", sites->device);
        vs_json_string(json, "metric", vs_metric_name(sites->metric));
        for (int v = 0; v < VS_SITE_VERDICTS; v++)
            vs_json_uint(json, vs_site_verdict_name((enum vs_site_verdict)v), changes->of[v]);
        vs_json_begin_array(json, "changes");
        for (size_t c = 0; c < changes->count; c++) {
            const struct vs_site_pair *pair = &changes->items[c];
            if (pair->verdict == VS_SITE_SAME)
                continue;
            vs_json_begin_object(json, NULL);
            vs_json_string(json, "change", vs_site_verdict_name(pair->verdict));
            vs_json_string(json, "moved", vs_site_move_name(pair->move));
            vs_json_int(json, "delta", pair->delta);
            put_site(json, "a", pair->a);
            put_site(json, "b", pair->b);
            vs_json_end_object(json);
        }
        vs_json_end_array(json);
        vs_json_end_object(json);
    }
    vs_json_end_array(json);
}

static void put_culprits(struct vs_json *json, const struct vs_regression *item)
{
    char text[VS_CHAIN_TEXT_MAX];
    vs_json_begin_array(json, "culprits");
    for (size_t i = 0; i < item->culprit_count; i++) {
        const struct vs_culprit *culprit = &item->culprits[i];
        vs_json_begin_object(json, NULL);
        vs_json_string(json, "change", vs_change_name(culprit->change));
        vs_json_int(json, "delta", culprit->delta);
        vs_json_uint(json, "bytes", culprit->bytes);
        vs_json_uint(json, "count", culprit->count);
        vs_json_string(json, "function", culprit->function);
        vs_json_string(json, "file", culprit->file);
        vs_json_uint(json, "line", culprit->line);
        vs_json_string(json, "text", vs_change_label_text(text, item->culprit_sites[i]));
        vs_json_end_object(json);
    }
    vs_json_end_array(json);
}

/* The request that failed, if B ran out of memory. */
static void put_failure(struct vs_json *json, const struct vs_diff_result *result)
{
    char text[VS_CHAIN_TEXT_MAX];
    const struct vs_report_failure *failure = result->regressions ? result->regressions->failure : NULL;
    const struct vs_named_site *at = failure ? result->regressions->failed_at : NULL;
    if (!failure) {
        vs_json_string(json, "out_of_memory", NULL);
        return;
    }
    struct vs_culprit line = at ? vs_culprit_of(at) : (struct vs_culprit){0};
    vs_json_begin_object(json, "out_of_memory");
    vs_json_uint(json, "device", failure->device);
    vs_json_uint(json, "requested_bytes", failure->requested);
    vs_json_uint(json, "event", failure->event);
    vs_json_uint(json, "time_ns", failure->time_ns);
    vs_json_string(json, "place", failure->place);
    vs_json_string(json, "function", line.function);
    vs_json_string(json, "file", line.file);
    vs_json_uint(json, "line", line.line);
    vs_json_string(json, "text", at ? vs_change_label_text(text, at) : NULL);
    vs_json_command(json, "more", "vramscope oom", result->comparison->b->report->path, "");
    vs_json_end_object(json);
}

void vs_diff_json(const struct vs_diff_result *result, FILE *out)
{
    char text[VS_DIFF_LINE_MAX];
    const struct vs_comparison *comparison = result->comparison;
    struct vs_json json = {.out = out, .pretty = true};
    vs_json_begin_object(&json, NULL);
    vs_json_string(&json, "schema", "vramscope.diff/1");
    put_run(&json, "a", comparison->a);
    put_run(&json, "b", comparison->b);
    vs_json_bool(&json, "different", comparison->different);
    vs_json_string(&json, "headline", vs_diff_headline(text, comparison));
    vs_json_begin_array(&json, "cautions");
    for (size_t i = 0; i < comparison->note_count; i++) {
        vs_json_begin_object(&json, NULL);
        vs_json_string(&json, "kind", vs_compare_doubt_name(comparison->notes[i].doubt));
        vs_json_string(&json, "text", vs_diff_note(text, comparison, &comparison->notes[i]));
        vs_json_end_object(&json);
    }
    vs_json_end_array(&json);
    vs_json_begin_array(&json, "quantities");
    for (size_t i = 0; i < comparison->amount_count; i++) {
        const struct vs_compared_amount *amount = &comparison->amounts[i];
        vs_json_begin_object(&json, NULL);
        put_quantity(&json, amount);
        vs_json_bool(&json, "reading", amount->reading);
        vs_json_string(&json, "place_a", amount->a ? amount->a->place : NULL);
        vs_json_string(&json, "place_b", amount->b ? amount->b->place : NULL);
        vs_json_end_object(&json);
    }
    vs_json_end_array(&json);
    put_sites(&json, comparison);
    vs_json_begin_array(&json, "counts");
    for (size_t i = 0; i < comparison->count_count; i++) {
        const struct vs_compared_count *count = &comparison->counts[i];
        vs_json_begin_object(&json, NULL);
        vs_json_string(&json, "kind", vs_count_kind_name(count->kind));
        vs_json_known_uint(&json, "device", count->device != VS_NO_DEVICE, count->device);
        vs_json_string(&json, "name", count->name);
        vs_json_uint(&json, "a", count->a);
        vs_json_uint(&json, "b", count->b);
        vs_json_end_object(&json);
    }
    vs_json_end_array(&json);
    vs_json_bool(&json, "judged", result->regressions != NULL);
    vs_json_string(&json, "tolerance", result->tolerance);
    vs_json_string(&json, "failed", result->regressions && result->regressions->ended
                                        ? vs_diff_ended(text, comparison, result->regressions) : NULL);
    put_failure(&json, result);
    vs_json_begin_array(&json, "regressions");
    for (size_t i = 0; result->regressions && i < result->regressions->count; i++) {
        const struct vs_regression *item = &result->regressions->items[i];
        vs_json_begin_object(&json, NULL);
        put_quantity(&json, item->amount);
        vs_json_uint(&json, "allowed", item->allowed);
        vs_json_string(&json, "sentence", vs_diff_regression(text, item));
        vs_json_uint(&json, "event", item->amount->b->event);
        /* The command that shows more. */
        const struct vs_report *report = result->comparison->b->report;
        char options[VS_DIFF_LINE_MAX];
        vs_diff_more(options, report, item->amount->b);
        vs_json_command(&json, "more", "vramscope report", report->path, options);
        put_culprits(&json, item);
        vs_json_end_object(&json);
    }
    vs_json_end_array(&json);
    vs_json_uint(&json, "exit_code", (uint64_t)result->exit_code);
    vs_json_end_object(&json);
}
