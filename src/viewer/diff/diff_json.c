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
    vs_json_object(json, key, VS_J_TEXT("trace", run->report->path),
                   VS_J_TEXT("process", run->process),
                   VS_J_TEXT("condition", conditions[run->report->condition]),
                   VS_J_KNOWN("exit_status", known, status), VS_J_UINT("steps", run->steps));
}

static void put_quantity(struct vs_json *json, const struct vs_compared_amount *amount)
{
    const struct vs_quantity *any = amount->b ? amount->b : amount->a;
    vs_json_members(json, VS_J_UINT("device", any->device),
                    VS_J_TEXT("metric", vs_metric_name(any->metric)),
                    VS_J_TEXT("level", any->tensors ? "tensors" : "device"),
                    VS_J_TEXT("phase", any->phase),
                    VS_J_TEXT("unit", any->metric == VS_METRIC_COPIES ? "copies" : "bytes"),
                    VS_J_TEXT("direction", any->way ? vs_copy_way_name(any->way) : NULL),
                    VS_J_KNOWN("a", amount->a != NULL, vs_compared_value(amount->a)),
                    VS_J_KNOWN("b", amount->b != NULL, vs_compared_value(amount->b)));
}

static void put_site(struct vs_json *json, const char *key, const struct vs_named_site *site)
{
    char text[VS_CHAIN_TEXT_MAX];
    if (!site) {
        vs_json_string(json, key, NULL);
        return;
    }
    struct vs_culprit culprit = vs_culprit_of(site);
    vs_json_object(json, key, VS_J_UINT("bytes", site->bytes), VS_J_UINT("count", site->count),
                   VS_J_TEXT("name", site->name), VS_J_TEXT("function", culprit.function),
                   VS_J_TEXT("file", culprit.file), VS_J_UINT("line", culprit.line),
                   VS_J_TEXT("text", vs_change_label_text(text, site)));
}

static void put_sites(struct vs_json *json, const struct vs_comparison *comparison)
{
    for (size_t i = 0; vs_json_next_object(json, "sites", i, comparison->site_count); i++) {
        const struct vs_compared_sites *sites = &comparison->sites[i];
        const struct vs_site_changes *changes = &sites->changes;
        vs_json_members(json, VS_J_UINT("device", sites->device),
                        VS_J_TEXT("metric", vs_metric_name(sites->metric)));
        for (int v = 0; v < VS_SITE_VERDICTS; v++)
            vs_json_uint(json, vs_site_verdict_name((enum vs_site_verdict)v), changes->of[v]);
        for (size_t c = 0; vs_json_next(json, "changes", c, changes->count); c++) {
            const struct vs_site_pair *pair = &changes->items[c];
            if (pair->verdict == VS_SITE_SAME)
                continue;
            vs_json_begin(json, NULL, VS_J_TEXT("change", vs_site_verdict_name(pair->verdict)),
                          VS_J_TEXT("moved", vs_site_move_name(pair->move)),
                          VS_J_INT("delta", pair->delta));
            put_site(json, "a", pair->a);
            put_site(json, "b", pair->b);
            vs_json_end_object(json);
        }
    }
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
    vs_json_begin(json, "out_of_memory", VS_J_UINT("device", failure->device),
                  VS_J_UINT("requested_bytes", failure->requested),
                  VS_J_UINT("event", failure->event), VS_J_UINT("time_ns", failure->time_ns),
                  VS_J_TEXT("place", failure->place), VS_J_TEXT("function", line.function),
                  VS_J_TEXT("file", line.file), VS_J_UINT("line", line.line),
                  VS_J_TEXT("text", at ? vs_change_label_text(text, at) : NULL));
    vs_json_command(json, "more", "vramscope oom", result->comparison->b->report->path, "");
    vs_json_end_object(json);
}

void vs_diff_json(const struct vs_diff_result *result, FILE *out)
{
    char text[VS_DIFF_LINE_MAX];
    const struct vs_comparison *comparison = result->comparison;
    struct vs_json json = vs_json_document(out, "vramscope.diff/1");
    put_run(&json, "a", comparison->a);
    put_run(&json, "b", comparison->b);
    vs_json_members(&json, VS_J_BOOL("different", comparison->different),
                    VS_J_TEXT("headline", vs_diff_headline(text, comparison)));
    for (size_t i = 0; vs_json_next(&json, "cautions", i, comparison->note_count); i++) {
        const struct vs_compare_note *note = &comparison->notes[i];
        vs_json_object(&json, NULL, VS_J_TEXT("kind", vs_compare_doubt_name(note->doubt)),
                       VS_J_TEXT("text", vs_diff_note(text, comparison, note)));
    }
    for (size_t i = 0; vs_json_next_object(&json, "quantities", i, comparison->amount_count); i++) {
        const struct vs_compared_amount *amount = &comparison->amounts[i];
        put_quantity(&json, amount);
        vs_json_members(&json, VS_J_BOOL("reading", amount->reading),
                        VS_J_TEXT("place_a", amount->a ? amount->a->place : NULL),
                        VS_J_TEXT("place_b", amount->b ? amount->b->place : NULL));
    }
    put_sites(&json, comparison);
    for (size_t i = 0; vs_json_next(&json, "counts", i, comparison->count_count); i++) {
        const struct vs_compared_count *count = &comparison->counts[i];
        vs_json_object(&json, NULL, VS_J_TEXT("kind", vs_count_kind_name(count->kind)),
                       VS_J_KNOWN("device", count->device != VS_NO_DEVICE, count->device),
                       VS_J_TEXT("name", count->name), VS_J_UINT("a", count->a),
                       VS_J_UINT("b", count->b));
    }
    vs_json_members(&json, VS_J_BOOL("judged", result->regressions != NULL),
                    VS_J_TEXT("tolerance", result->tolerance),
                    VS_J_TEXT("failed",
                              result->regressions && result->regressions->ended
                              ? vs_diff_ended(text, comparison, result->regressions) : NULL));
    put_failure(&json, result);
    size_t regressions = result->regressions ? result->regressions->count : 0;
    for (size_t i = 0; vs_json_next_object(&json, "regressions", i, regressions); i++) {
        const struct vs_regression *item = &result->regressions->items[i];
        put_quantity(&json, item->amount);
        vs_json_members(&json, VS_J_UINT("allowed", item->allowed),
                        VS_J_TEXT("sentence", vs_diff_regression(text, item)),
                        VS_J_UINT("event", item->amount->b->event));
        /* The command that shows more. */
        const struct vs_report *report = result->comparison->b->report;
        char options[VS_DIFF_LINE_MAX];
        vs_diff_more(options, report, item->amount->b);
        vs_json_command(&json, "more", "vramscope report", report->path, options);
        for (size_t k = 0; vs_json_next(&json, "culprits", k, item->culprit_count); k++) {
            const struct vs_culprit *culprit = &item->culprits[k];
            char label[VS_CHAIN_TEXT_MAX];
            vs_change_label_text(label, item->culprit_sites[k]);
            vs_json_object(&json, NULL, VS_J_TEXT("change", vs_change_name(culprit->change)),
                           VS_J_INT("delta", culprit->delta), VS_J_UINT("bytes", culprit->bytes),
                           VS_J_UINT("count", culprit->count),
                           VS_J_TEXT("function", culprit->function),
                           VS_J_TEXT("file", culprit->file), VS_J_UINT("line", culprit->line),
                           VS_J_TEXT("text", label));
        }
    }
    vs_json_uint(&json, "exit_code", (uint64_t)result->exit_code);
    vs_json_end_object(&json);
}
