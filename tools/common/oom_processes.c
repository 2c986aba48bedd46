/* SPDX-License-Identifier: Apache-2.0
 *
 * Each trace is diagnosed alone, without trying remedies; then all are replayed side
 * by side up to the first failure. */
#include "tools/common/process_tree_tool.h"

#include <stdlib.h>

#include "analysis/oom/oom.h"
#include "base/reading/vs_xalloc.h"
#include "base/vs_arena.h"
#include "tools/common/command.h"
#include "tools/common/symbol_tool.h"
#include "viewer/report/answer_text.h"

static const char *uuid_of(const struct vs_report *report, const struct vs_report_failure *failure,
                           struct vs_arena *memory)
{
    const struct vs_report_device *device = failure->host ? NULL : vs_report_device_of(report, failure->device);
    return device ? vs_xarena_text(memory, device->uuid) : "";
}

static enum vs_err diagnose(struct vs_reader *reader, const struct vs_report *report,
                            struct vs_oom_process *p, struct vs_arena *memory)
{
    struct vs_oom *oom = NULL;
    p->failures = report->failure_total;
    p->recovered = report->failures_recovered;
    if (!p->failures || p->recovered == p->failures)
        return VS_OK;
    enum vs_err err = vs_oom_build(reader, report, NULL, 0, &oom);
    if (!err && oom->ended) {
        p->failed = true;
        p->failure = oom->failure;
        p->failure.api = p->failure.place = "";
        p->time_ns = oom->failure.time_ns;
        p->realtime_ns = report->start_realtime_ns + p->time_ns;
        p->verdict = oom->verdict;
        p->missing = oom->missing;
        p->uuid = uuid_of(report, &oom->failure, memory);
    }
    vs_oom_free(oom);
    return err;
}

static int diagnose_all(const char *who, const struct vs_trace_list *list, bool partial,
                        struct vs_oom_family *family, struct vs_arena *memory)
{
    family->first = list->count;
    for (size_t i = 0; i < list->count; i++) {
        struct vs_reader *reader;
        struct vs_report *report;
        struct vs_oom_process *p = &family->items[i];
        if (!vs_tool_report(who, list->paths[i], partial, "--partial", 0, &reader, &report))
            return VS_EXIT_UNUSABLE;
        *p = (struct vs_oom_process){.path = list->paths[i], .uuid = ""};
        enum vs_err err = diagnose(reader, report, p, memory);
        vs_report_free(report);
        vs_reader_close(reader);
        if (err)
            return vs_tool_fail(who, "%s: cannot read the trace: %s", list->paths[i],
                                vs_err_text(err));
        family->count++;
        if (p->failed && (family->first == list->count ||
                          p->realtime_ns < family->items[family->first].realtime_ns))
            family->first = i;
    }
    vs_symbol_tool_done();
    return VS_EXIT_OK;
}

static int build_tree(const char *who, const struct vs_trace_list *list,
                      const struct vs_oom_family *family, struct vs_tree **tree)
{
    char why[VS_READER_WHY_MAX] = "";
    const struct vs_oom_process *first =
        family->first < family->count ? &family->items[family->first] : NULL;
    struct vs_tree_time at = {first ? first->path : "", first ? first->time_ns : 0};
    enum vs_err err = vs_tree_build((const char *const *)list->paths, list->count,
                                    first ? &at : NULL, tree, why);
    return err ? vs_tool_fail(who, "%s", *why ? why : vs_err_text(err)) : VS_EXIT_OK;
}

int vs_oom_processes(const char *who, struct vs_trace_list *list, bool json, bool partial,
                     const struct vs_style *style, const char **first)
{
    struct vs_arena memory = {0};
    struct vs_tree *tree = NULL;
    struct vs_oom_family family = {0};
    *first = NULL;
    if (!vs_trace_list_readable(who, list, partial))
        return VS_EXIT_UNUSABLE;
    family.items = vs_xcalloc(list->count + 1, sizeof *family.items);
    int code = diagnose_all(who, list, partial, &family, &memory);
    if (code == VS_EXIT_OK)
        code = build_tree(who, list, &family, &tree);
    if (code == VS_EXIT_OK) {
        family.tree = tree;
        if (json)
            vs_oom_family_json(&family, style->out);
        else
            vs_oom_family_text(&family, style);
        if (family.first < family.count)
            *first = family.items[family.first].path;
    }
    vs_tree_free(tree);
    free(family.items);
    vs_arena_free_all(&memory);
    return code;
}
