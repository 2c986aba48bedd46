/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. A line of the manifest is the path of a trace, "!" for a process that
 * could not record, "?" and a program that was started out of our reach, or "+" of a
 * `vramscope run` below this one. */
#include "run_summary.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "analysis/report.h"
#include "base/vs_size.h"
#include "command.h"
#include "run_manifest.h"
#include "trace/reader.h"
#include "viewer/report_text.h"
#include "viewer/text_style.h"

#define REPORTS_MAX 8
#define ROWS_MAX 200

struct row {
    uint64_t pid, ppid, peak_bytes;
    char program[24], end[96], path[PATH_MAX + 2];
};

static void fill_row(const struct vs_report *report, const char *path, struct row *row)
{
    row->pid = report->pid;
    row->ppid = report->ppid;
    row->peak_bytes = 0;
    for (size_t i = 0; i < report->device_count; i++)
        row->peak_bytes += report->devices[i].peak_allocated.bytes;
    snprintf(row->program, sizeof row->program, "%.23s", report->program ? report->program : "?");
    vs_report_ending(row->end, report);
    snprintf(row->path, sizeof row->path, "%.*s", PATH_MAX, path);
}

/* The report of one trace, printed where *print*; false when it has none. */
static bool show_trace(const char *path, bool print, struct row *row)
{
    struct vs_reader *reader;
    struct vs_report *report;
    if (!vs_tool_report("vramscope run", path, true, "", 0, &reader, &report))
        return false;
    if (print) {
        struct vs_style style;
        vs_style_init(&style, stderr);
        vs_report_text(report, &style);
    }
    fill_row(report, path, row);
    vs_report_free(report);
    vs_reader_close(reader);
    return true;
}

static void show_table(const struct row *rows, unsigned count, unsigned traces)
{
    int end = 0;
    for (unsigned i = 0; i < count; i++)
        end = (int)strlen(rows[i].end) > end ? (int)strlen(rows[i].end) : end;
    fprintf(stderr, "vramscope: %u processes used CUDA:\n%8s %8s  %-23s %10s  %-*s  %s\n", traces,
            "pid", "parent", "program", "peak", end, "end", "trace");
    for (unsigned i = 0; i < count; i++) {
        char peak[VS_SIZE_TEXT_MAX];
        fprintf(stderr, "%8" PRIu64 " %8" PRIu64 "  %-23s %10s  %-*s  %s\n", rows[i].pid,
                rows[i].ppid, rows[i].program, vs_size_format(peak, rows[i].peak_bytes),
                end, rows[i].end, rows[i].path);
    }
    if (traces > count)
        fprintf(stderr, "vramscope: and %u more traces\n", traces - count);
}

void vs_run_summarise(const char *path, bool quiet, struct vs_run_summary *out)
{
    static struct row rows[ROWS_MAX];
    char line[PATH_MAX + 2];
    unsigned count = 0;
    FILE *manifest = fopen(path, "r");
    *out = (struct vs_run_summary){0};
    while (manifest && vs_run_manifest_line(manifest, line, sizeof line)) {
        if (*line == '!') {
            out->failures++;
        } else if (*line == '+') {
            out->nested = true;
        } else if (*line == '?') {
            snprintf(out->unreached, sizeof out->unreached, "%.*s", PATH_MAX - 1, line + 1);
        } else {
            bool fits = count < ROWS_MAX && !quiet;
            if (fits && show_trace(line, out->traces < REPORTS_MAX, &rows[count]))
                count++;
            out->traces++;
        }
    }
    if (manifest)
        fclose(manifest);
    if (count && out->traces > 1)
        show_table(rows, count, out->traces);
}
