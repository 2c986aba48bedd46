/* SPDX-License-Identifier: Apache-2.0
 *
 * A line of the manifest is the path of a trace, "!" for a process that could not
 * record, "-" for one that loaded the CUDA driver but allocated nothing, "?PID PROGRAM" for a
 * process that started a program without our LD_PRELOAD, or "+" from a nested `vramscope run`. */
#include "tools/run/run_internal.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/naming/naming.h"
#include "analysis/oom/oom.h"
#include "analysis/report/report.h"
#include "analysis/report/site_text.h"
#include "base/reading/vs_vec.h"
#include "base/vs_size.h"
#include "tools/common/command.h"
#include "tools/common/process_tree_tool.h"
#include "tools/common/symbol_tool.h"
#include "tools/common/trace_part.h"
#include "trace/read/reader.h"
#include "trace/read/seek.h"
#include "trace/symbols/symbols.h"
#include "viewer/common/text_style.h"
#include "viewer/report/oom_text.h"
#include "viewer/report/report_text.h"

#define REPORTS_MAX 8
#define REPLAYED_EVENTS 2000000 /* in a longer trace remedies are estimates: the summary is due */
#define TRACES_MAX 200
#define FAILED_SHOWN 4
#define FAILED_TEXT_MAX 160
#define RANK_DIFFERENCE_MAX 256

/* The processes that ran out of memory, for the end of the summary. */
struct failed_processes {
    bool said_cached; /* the summary's first line */
    unsigned count;
    char text[FAILED_SHOWN][FAILED_TEXT_MAX]; /* "worker (4711): fragmentation" */
    char path[FAILED_SHOWN][PATH_MAX];
};

/* The failure that ended the program, described first; 0 if there is none, if the program ended well
 * in spite of it, or if not every allocation before it was recorded. Otherwise the number of its event. */
static uint64_t show_oom(struct vs_reader *reader, const struct vs_report *report,
                         const struct vs_style *style, struct failed_processes *failed)
{
    struct vs_oom *oom = NULL;
    uint64_t event = 0;
    bool lasting = false;
    for (size_t i = 0; i < report->group_count; i++)
        lasting |= !report->groups[i].recovered &&
                   vs_oom_is_out_of_memory(&report->groups[i].first);
    bool well = report->has_end && report->end_reason == VS_END_EXIT && !report->end_status;
    if (!lasting || well || vs_recording_partial(&report->recording))
        return 0;
    enum vs_err err = vs_oom_build(reader, report, NULL, 0, &oom);
    if (!err && oom->ended && report->events < REPLAYED_EVENTS)
        vs_oom_replay(oom, reader);
    if (!err && oom->ended) {
        event = oom->failure.event;
        vs_oom_brief(oom, style);
        if (failed->count < FAILED_SHOWN) {
            snprintf(failed->text[failed->count], FAILED_TEXT_MAX, "%.60s (%llu): %.*s",
                     report->program, (unsigned long long)report->pid,
                     (int)strcspn(oom->verdict->words, ":"), oom->verdict->words);
            snprintf(failed->path[failed->count], PATH_MAX, "%s", report->path);
        }
        failed->count++;
    }
    vs_symbol_tool_done();
    vs_oom_free(oom);
    return event;
}

/* The rank of a job whose report was printed, with which the others are compared. */
struct shown_ranks {
    struct vs_report *shown;
    unsigned same; /* others, in which nothing differs */
};

static uint64_t apart(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

/* Whether the report of *b* would repeat that of *a*: the same program on a device of the same kind, with
 * the same call sites at the peak and as many steps. What differs by 1 % or more is named in *differs*. */
static bool alike(const struct vs_report *a, const struct vs_report *b, char differs[RANK_DIFFERENCE_MAX])
{
    char one[VS_CHAIN_TEXT_MAX], other[VS_CHAIN_TEXT_MAX];
    size_t used = 0;
    *differs = 0;
    if (strcmp(a->program, b->program) != 0 || a->device_count != 1 || b->device_count != 1 ||
        a->condition != b->condition || a->end_status != b->end_status || a->failure_total != b->failure_total ||
        a->steps.done != b->steps.done)
        return false;
    const struct vs_report_device *x = &a->devices[0], *y = &b->devices[0];
    if (x->growing.count != y->growing.count || x->at_peak.count < 1 || y->at_peak.count < 1)
        return false;
    vs_text_site(one, &x->at_peak.items[0], 2);
    if (strcmp(one, vs_text_site(other, &y->at_peak.items[0], 2)) != 0)
        return false;
    const struct {
        const char *what;
        uint64_t a, b;
    } rows[] = {{"peak", x->peak_user.bytes, y->peak_user.bytes},
                {"reserved on the device", x->peak_reserved.bytes, y->peak_reserved.bytes},
                {"live at the end", x->user_allocated, y->user_allocated}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (apart(rows[i].a, rows[i].b) > rows[i].a / 100)
            used += (size_t)snprintf(differs + used, RANK_DIFFERENCE_MAX - used,
                                     "%s%s %s instead of %s", used ? ", " : "", rows[i].what,
                                     vs_size_text(rows[i].b), vs_size_format(other, rows[i].a));
    return true;
}

/* Builds the report of one trace, printed if *print*; false, with a message, when it cannot be
 * read. */
static bool show_trace(const char *path, bool print, struct failed_processes *failed,
                       struct shown_ranks *ranks)
{
    struct vs_reader *reader;
    struct vs_report *report;
    struct vs_style style;
    if (!print) {
        bool opened = vs_tool_open("vramscope run", path, &reader);
        if (opened)
            vs_reader_close(reader);
        return opened;
    }
    if (!vs_tool_report("vramscope run", path, true, "", 0, &reader, &report))
        return false;
    vs_style_init(&style, stderr);
    bool segments = false;
    for (size_t i = 0; i < report->device_count; i++)
        segments |= report->devices[i].segment_allocs > 0;
    if (segments && strncmp(report->policy, "caching", 7) == 0 && !failed->said_cached) {
        vs_text_wrapped(&style, "", "cudaMalloc was served from a cache; --allocator=observe only watches");
        failed->said_cached = true;
    }
    char differs[RANK_DIFFERENCE_MAX], rank[VS_JOB_RANK_TEXT_MAX];
    vs_job_rank_text(rank, &report->job);
    if (!ranks->shown || !*rank || !alike(ranks->shown, report, differs)) {
        vs_report_text(report, show_oom(reader, report, &style, failed), &style);
    } else {
        show_oom(reader, report, &style, failed);
        if (*differs)
            vs_text_lines(&style, "", "%s is like rank %" PRIu64 ", except: %s", rank + 1, ranks->shown->job.rank, differs);
        else
            ranks->same++;
    }
    if (*rank && !ranks->shown) {
        ranks->shown = report;
        report = NULL;
    }
    vs_report_free(report);
    vs_reader_close(reader);
    return true;
}

static void show_tree(struct vs_trace_list *list, unsigned traces,
                      const struct failed_processes *failed, const struct shown_ranks *ranks)
{
    struct vs_style style;
    vs_style_init(&style, stderr);
    if (ranks->same)
        fprintf(stderr, "%u other rank%s like rank %" PRIu64 "\n", ranks->same, ranks->same == 1 ? " is" : "s are",
                ranks->shown->job.rank);
    fprintf(stderr, "vramscope: %u processes used CUDA:\n", traces);
    vs_tool_tree("vramscope run", list, &style, false, true);
    if (traces > list->count)
        fprintf(stderr, "vramscope: %zu more traces are not listed\n", traces - list->count);
    if (failed->count) {
        size_t folder = strrchr(failed->path[0], '/') ? (size_t)(strrchr(failed->path[0], '/') -
                                                                 failed->path[0]) : 0;
        bool together = folder > 0;
        fprintf(stderr, "%sout of memory%s\n", vs_paint(&style, VS_BAD), vs_unpaint(&style));
        for (unsigned i = 0; i < failed->count && i < FAILED_SHOWN; i++)
            vs_text_wrapped(&style, "  ", failed->text[i]);
        if (failed->count > FAILED_SHOWN)
            fprintf(stderr, "  and %u more\n", failed->count - FAILED_SHOWN);
        for (size_t i = 0; i < list->count; i++)
            together &= strncmp(list->paths[i], failed->path[0], folder) == 0 &&
                        strrchr(list->paths[i], '/') == list->paths[i] + folder;
        if (together)
            fprintf(stderr, "next: vramscope oom %.*s  (all processes together)\n", (int)folder,
                    failed->path[0]);
        else
            fprintf(stderr, "next: vramscope oom %s, or of all traces together\n", failed->path[0]);
    }
}

/* Adds checkpoints to a long trace, so that any time in it opens quickly. They are optional: a
 * failure or an interrupt loses only the checkpoints. */
static void write_checkpoints(const char *path)
{
    char why[VS_READER_WHY_MAX];
    struct vs_checkpoint_options options = {0};
    vs_part_progress_begin("vramscope run", path, &options);
    enum vs_err err = vs_checkpoint_recorded(path, VS_CHECKPOINT_TRACE_EVENTS, &options, why);
    vs_part_progress_end(true);
    if (err)
        vs_tool_fail("vramscope run", "no checkpoints were written into the trace: %s",
                     err == VS_ERR_STATE && !*why ? "interrupted" : why);
}

void vs_run_summary_free(struct vs_run_summary *summary)
{
    for (size_t i = 0; i < summary->path_count; i++)
        free(summary->paths[i]);
    free(summary->paths);
}

void vs_run_summarise(struct vs_run_names *names, bool quiet, bool symbolize,
                      struct vs_run_summary *out)
{
    struct vs_trace_list list = {0};
    struct failed_processes failed = {0};
    struct shown_ranks ranks = {0};
    char line[PATH_MAX + 16], *program;
    unsigned others = 0; /* traces that another one of this run kept from their name */
    size_t other = 0;
    FILE *manifest = fopen(names->manifest, "r");
    *out = (struct vs_run_summary){0};
    while (manifest && vs_run_manifest_line(manifest, line, sizeof line)) {
        if (*line == '!') {
            out->failures++;
        } else if (*line == '+') {
            out->nested = true;
        } else if (*line == '-') {
            out->idle++;
        } else if (*line == '?') {
            out->unreached_pid = (pid_t)strtol(line + 1, &program, 10);
            snprintf(out->unreached, sizeof out->unreached, "%.*s", PATH_MAX - 1,
                     program + (*program == ' '));
        } else {
            vs_run_names_take(names, line);
            vs_run_await_dying(line);
            write_checkpoints(line);
            if (symbolize) {
                /* Adds function names to the trace; also optional. */
                char why[VS_READER_WHY_MAX] = "";
                struct vs_symbolize_result result;
                enum vs_err err = vs_symbolize(line, NULL, &result, why);
                vs_symbol_tool_done();
                if (err)
                    vs_tool_fail("vramscope run",
                                 "no function names were written into the trace: %s",
                                 *why ? why : vs_err_text(err));
                vs_symbolize_free(&result);
            }
            if (symbolize && !quiet)
                vs_tool_over_limit("vramscope run", line);
            if (!quiet && list.count < TRACES_MAX && show_trace(line, out->traces < REPORTS_MAX, &failed, &ranks) &&
                !vs_trace_list_add("vramscope run", &list, line))
                break;
            *(char **)vs_vec_push(&out->paths, &out->path_count, &out->path_capacity,
                                  sizeof *out->paths) = vs_xstrdup(line);
            /* also when quiet: it reports the trace's path */
            if (vs_run_names_warn(names, line) && quiet && !others++)
                other = out->path_count - 1;
            out->traces++;
        }
    }
    if (manifest)
        fclose(manifest);
    if (others)
        vs_tool_fail("vramscope", "%u more trace%s of this run: %s%s", others, others == 1 ? "" : "s",
                     out->paths[other], others == 1 ? "" : ", …");
    if (out->traces)
        vs_run_names_warn_ranks(names);
    if (list.count && out->traces > 1)
        show_tree(&list, out->traces, &failed, &ranks);
    vs_report_free(ranks.shown);
    vs_trace_list_free(&list);
}
