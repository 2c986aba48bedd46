/* SPDX-License-Identifier: Apache-2.0
 *
 * The summary after a run: the report, and the next command worth typing. */
#include "summary.h"

#include <stdbool.h>

#include "analysis/report.h"
#include "trace/reader.h"
#include "viewer/report_text.h"

static void print_next(const struct vs_report *report, const char *path, FILE *out)
{
    bool failed = false;
    for (size_t i = 0; i < report->failure_count; i++)
        failed |= !report->failures[i].recovered;
    if (failed)
        fprintf(out, "\nan allocation failed; why, and what would have helped: vramscope oom %s\n",
                path);
    else
        fprintf(out, "\nthe whole report: vramscope report %s\n", path);
    fprintf(out, "a timeline for ui.perfetto.dev: vramscope export %s -f chrome -o timeline.json\n",
            path);
}

void vs_summary_print(const char *path, FILE *out)
{
    struct vs_reader *reader;
    struct vs_report *report = NULL;
    char why[VS_READER_WHY_MAX];
    if (vs_reader_open(path, &reader, why)) {
        fprintf(out, "vramscope: %s\n", why);
        return;
    }
    if (vs_report_build(reader, path, NULL, &report)) {
        fprintf(out, "vramscope: %s: out of memory while reading it\n", path);
    } else {
        struct vs_style style;
        vs_style_init(&style, out);
        vs_report_text(report, &style);
        print_next(report, path, out);
    }
    vs_report_free(report);
    vs_reader_close(reader);
}
