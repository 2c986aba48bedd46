/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/view/view_trace.h"

#include <stdio.h>
#include <sys/stat.h>

#include "base/vs_size.h"
#include "tools/common/command.h"
#include "tools/common/whole_file.h"
#include "viewer/common/text_style.h"

bool vs_view_may_write(const char *who, const char *output, const char *first, const char *second)
{
    if (!vs_tool_is_same_file(output, first) && (!second || !vs_tool_is_same_file(output, second)))
        return vs_tool_may_overwrite(who, output);
    vs_tool_fail(who, "%s is the trace itself; give another file with -o", output);
    return false;
}

int vs_view_write(const char *who, const struct vs_view_page_file *page, FILE *told)
{
    struct vs_whole_file out;
    uint64_t blocks = 0, files = 0;
    if (!vs_whole_file_open(who, page->path, false, &out))
        return VS_EXIT_UNUSABLE;
    for (int i = 0; i < 2 && page->data[i]; i++) {
        vs_whole_file_like(&out, page->traces[i]);
        blocks += vs_page_data_blocks(page->data[i]);
        files += vs_page_data_source_files(page->data[i]);
    }
    vs_page_write(out.stream, page->data[0], page->data[1], false);
    int code = vs_whole_file_end(who, &out, VS_EXIT_OK);
    struct stat st;
    if (code || !page->path || !told || stat(page->path, &st))
        return code;
    if (told == stderr)
        fputs("vramscope: page ", told);
    vs_text_put(told, page->path);
    fprintf(told, ": %s with %s", vs_size_text((uint64_t)st.st_size), vs_number_text(blocks, "block"));
    if (files)
        fprintf(told, ", source lines of %s", vs_number_text(files, "file"));
    fputc('\n', told);
    return code;
}

/* What makes one of several processes the interesting one. */
struct view_rank {
    bool failed;
    uint64_t peak;
};

static struct view_rank rank_of(const struct vs_report *report)
{
    struct view_rank rank = {0};
    for (size_t i = 0; i < report->failure_count; i++)
        rank.failed |= !report->failures[i].recovered;
    for (size_t i = 0; i < report->device_count; i++)
        if (report->devices[i].peak_user.bytes > rank.peak)
            rank.peak = report->devices[i].peak_user.bytes;
    return rank;
}

/* Opens the trace at *path* and, unless *page* is NULL, writes its page there. */
static bool record_page(const char *who, const char *path, const char *page, bool no_source, struct view_rank *rank)
{
    struct vs_view_options options = {.partial = true, .events_max = VS_PAGE_EVENTS_MAX, .no_source = no_source};
    struct vs_view_trace trace;
    if (page && !vs_view_may_write(who, page, path, NULL))
        return false;
    if (!vs_view_open(who, path, &options, &trace))
        return false;
    *rank = rank_of(trace.report);
    struct vs_page_data *data = page ? vs_view_page(&trace, &options) : NULL;
    vs_view_close(&trace);
    if (!page)
        return true;
    const struct vs_view_page_file file = {page, {path}, {data}};
    int code = data ? vs_view_write(who, &file, stderr) : VS_EXIT_UNUSABLE;
    vs_page_data_free(data);
    return !code;
}

/* With *output* and several traces, the page is written once the best one is known. */
void vs_view_recorded(const char *who, char *const *traces, size_t count, const char *output, bool no_source)
{
    char name[PATH_MAX];
    struct view_rank best = {0}, rank;
    const char *chosen = NULL;
    bool later = output && count > 1;
    for (size_t i = 0; i < count; i++) {
        if (!output && !vs_view_name(who, traces[i], NULL, name))
            continue;
        if (!record_page(who, traces[i], later ? NULL : output ? output : name, no_source, &rank))
            continue;
        if (!chosen || (rank.failed != best.failed ? rank.failed : rank.peak > best.peak)) {
            best = rank;
            chosen = traces[i];
        }
    }
    if (!chosen)
        return;
    if (!output && vs_view_name(who, chosen, NULL, name))
        vs_view_show(who, name, name);
    if (later && record_page(who, chosen, output, no_source, &rank))
        vs_tool_fail(who, "the page is of %s; for the other processes: vramscope view TRACE", chosen);
}
