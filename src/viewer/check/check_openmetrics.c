/* SPDX-License-Identifier: Apache-2.0
 *
 * The text format of OpenMetrics 1.0: each quantity, its limit and whether it held, as
 * gauges with one set of labels, so that a monitoring system can draw one below the other. */
#include <inttypes.h>
#include <string.h>

#include "viewer/check/check_words.h"
#include "viewer/common/openmetrics.h"

static void number_label(FILE *out, const char *name, size_t number)
{
    char text[24];
    snprintf(text, sizeof text, "%zu", number);
    vs_metric_label(out, name, text, ",");
}

enum figure { MEASURED, ALLOWED, HELD };

static void family(const struct vs_check_result *result, FILE *out, const char *name,
                   const char *help, enum figure figure, bool bytes)
{
    fprintf(out, "# TYPE %s gauge\n", name);
    if (figure != HELD && bytes)
        fprintf(out, "# UNIT %s bytes\n", name);
    fprintf(out, "# HELP %s %s\n", name, help);
    for (size_t i = 0; i < result->count; i++) {
        const struct vs_budget_verdict *verdict = &result->items[i];
        for (size_t k = 0; k < verdict->count; k++) {
            const struct vs_budget_row *row = &verdict->rows[k];
            bool copies = row->quantity.metric == VS_METRIC_COPIES;
            /* Bytes and copies are different metrics: a metric has one unit. */
            if (figure != HELD && (row->kind != VS_ROW_QUANTITY || copies == bytes))
                continue;
            fputs(name, out);
            char device[24], rule[64];
            size_t before = row->kind == VS_ROW_QUANTITY && !row->of_baseline ? row->again : 0;
            const struct vs_quantity *quantity = &row->quantity;
            const char *test = vs_test_name(quantity->phase);
            snprintf(device, sizeof device, quantity->host ? "host" : "%" PRIu64, quantity->device);
            vs_check_rule(rule, row);
            vs_metric_label(out, "process", verdict->process, "{");
            vs_metric_label(out, "device", device, ",");
            vs_metric_label(out, "quantity", strchr(rule, '/') + 1, ",");
            if (quantity->way)
                vs_metric_label(out, "direction", vs_copy_way_name(quantity->way), ",");
            if (quantity->per_step)
                vs_metric_label(out, "per", "step", ",");
            if (quantity->phase)
                vs_metric_label(out, test ? "test" : "phase", test ? test : quantity->phase, ",");
            vs_metric_label(out, "from", row->from, ",");
            if (before)
                number_label(out, "limit", before + 1);
            for (size_t n = 0; row->kind != VS_ROW_QUANTITY && verdict->run_count > 1 &&
                 n < verdict->run_count; n++)
                if (verdict->runs[n] == row->run) /* each run ends in its own way */
                    number_label(out, "run", n + 1);
            fputc('}', out);
            fprintf(out, " %" PRIu64 "\n", figure == MEASURED  ? row->quantity.value
                                           : figure == ALLOWED ? row->limit : !row->exceeded);
        }
    }
}

void vs_check_openmetrics(const struct vs_check_result *result, FILE *out)
{
    family(result, out, "vramscope_check_measured_bytes", "GPU memory, or bytes copied.", MEASURED,
           true);
    family(result, out, "vramscope_check_allowed_bytes", "The limit of it.", ALLOWED, true);
    family(result, out, "vramscope_check_measured_copies", "Number of copies.", MEASURED, false);
    family(result, out, "vramscope_check_allowed_copies", "The limit of it.", ALLOWED, false);
    family(result, out, "vramscope_check_held", "1: the limit held; 0: it was exceeded.", HELD,
           false);
    if (result->problem_count)
        fputs("# TYPE vramscope_check_unusable gauge\n"
              "# HELP vramscope_check_unusable 1: this could not be checked, for this reason.\n",
                  out);
    for (size_t i = 0; i < result->problem_count; i++) {
        size_t before = vs_check_problems_before(result, i);
        fputs("vramscope_check_unusable", out);
        vs_metric_label(out, "trace", result->problems[i].trace, "{");
        vs_metric_label(out, "reason", result->problems[i].text, ",");
        if (before)
            number_label(out, "problem", before + 1);
        fputs("} 1\n", out);
    }
    fprintf(out, "# TYPE vramscope_check_exit_code gauge\n"
            "# HELP vramscope_check_exit_code 0: all limits held; 1: one was exceeded; 2: something could not be checked.\n"
            "vramscope_check_exit_code %d\n# EOF\n", result->exit_code);
}
