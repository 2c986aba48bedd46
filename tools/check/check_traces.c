/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads the traces of a check, groups the runs of one program, compares them and updates the
 * baseline. All traces stay open until the documents are written. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/budget/phase_peaks.h"
#include "analysis/budget/quantity_sites.h"
#include "base/reading/vs_intern.h"
#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"
#include "tools/check/check_command.h"
#include "tools/common/command.h"
#include "tools/common/report_names.h"
#include "tools/common/trace_part.h"
#include "tools/common/whole_file.h"
#include "viewer/report/report_parts.h"

struct check_work {
    struct vs_check_command *command;
    struct vs_measured *runs;
    struct vs_measured **sorted; /* runs of one program side by side */
    size_t count;
    struct vs_budget_verdict *verdicts;
    size_t verdict_count;
    struct vs_check_problem *problems;
    size_t problem_count;
    struct vs_baseline *baseline;
    struct vs_arena memory;
    int code;
};

static void raise_code(struct check_work *work, int code)
{
    if (code > work->code)
        work->code = code;
}

/* Keeps a message for the documents; it was printed. One per trace. */
static void keep_problem(struct check_work *work, const char *trace, const char *text)
{
    raise_code(work, VS_EXIT_UNUSABLE);
    work->problems[work->problem_count++] =
        (struct vs_check_problem){.trace = trace, .text = vs_xarena_text(&work->memory, text)};
}

static void problem(struct check_work *work, const char *trace, const char *format, ...) VS_PRINTF(3, 4);
static void problem(struct check_work *work, const char *trace, const char *format, ...)
{
    char text[VS_BUDGET_WHY_MAX + 4096];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    vs_tool_fail(work->command->who, "%s", text);
    keep_problem(work, trace, text);
}

/* What makes check read an incomplete trace, as options or as keys of the budget file: also the exit status,
 * if the run would fail for it. */
static const char *partial_settings(char text[80], const struct vs_check_command *command,
                                    const struct vs_report *report)
{
    uint64_t status;
    int n = snprintf(text, 80, "%s", command->in_run ? "partial = true" : "--partial");
    if (vs_exit_status(report, &status) && !vs_budget_allows_exit(&command->budget, status))
        n += snprintf(text + n, 80 - (size_t)n, command->in_run ? " and allow-exit = \"%llu\"" : " --allow-exit %llu",
                      (unsigned long long)status);
    if (command->in_run)
        snprintf(text + n, 80 - (size_t)n, " to the budget file");
    return text;
}

/* Whether the trace can be compared: it is complete, has a device, and its sizes do not depend on values that no
 * kernel computed. */
static bool comparable(struct check_work *work, const char *path, const struct vs_report *report)
{
    char cut[VS_RECORDING_TEXT_MAX], settings[80], text[VS_UNCOMPUTED_TEXT_MAX];
    const struct vs_budget_scope *only = &work->command->budget.only;
    bool found = !only->one_device || vs_report_device_of(report, only->device);
    if ((report->condition == VS_TRACE_LIVE || vs_recording_cut_text(cut, report)) &&
        !work->command->budget.partial)
        problem(work, path, "%s: %s; add %s to check the events it contains", path,
                report->condition == VS_TRACE_LIVE ? report->condition_text : cut,
                partial_settings(settings, work->command, report));
    else if (!found) {
        vs_report_no_device(work->command->who, path, report, only->device);
        keep_problem(work, path, vs_tool_failure());
    } else if (!report->device_count)
        problem(work, path, "%s: the trace has no device, so there is nothing to check", path);
    else if (!work->command->budget.allow_uncomputed &&
             (report->uncomputed[VS_UNCOMPUTED_COPIED].count || report->uncomputed[VS_UNCOMPUTED_DECIDED].count) &&
             vs_uncomputed_text(text, report))
        problem(work, path, "%s: cannot be checked: %s; %s, or, if no size does, add %s", path, text,
                vs_uncomputed_advice(report), work->command->in_run ? "allow-uncomputed = true to the budget file"
                                                                   : "--allow-uncomputed");
    else
        return true;
    return false;
}

/* A trace that lost events is checked, and cannot be checked completely. */
static void complete(struct check_work *work, const char *path, const struct vs_report *report)
{
    for (size_t i = 0; i < report->dropped_count; i++) {
        if (vs_recording_left_out(&report->recording, report->dropped[i].name))
            continue;
        problem(work, path, "%s: %s %s were not recorded, so the peak may be higher", path,
                report->dropped[i].value, vs_recording_what(report->dropped[i].name));
        return;
    }
    if (vs_recording_sums_old(report))
        problem(work, path, "%s: the last totals were written before the program ended, so the "
                "peak may be higher", path);
}

static void read_trace(struct check_work *work, const char *path)
{
    static const struct vs_part_args whole;
    struct vs_measured *run = &work->runs[work->count];
    struct vs_phase_peaks *peaks = vs_phase_peaks_open();
    const struct vs_observer observer = vs_phase_peaks_observer(peaks);
    struct vs_report_options options = {.sites_max = VS_QUANTITY_SITES_MAX, .all_growth = true,
                                        .observers = &observer, .observer_count = 1};
    if (!vs_tool_report_part(work->command->who, path, work->command->budget.partial, "--partial", &options,
                             &whole, &run->reader, &run->report)) {
        *run = (struct vs_measured){0};
        keep_problem(work, path, vs_tool_failure());
    } else if (!comparable(work, path, run->report)) {
        vs_measured_free(run);
    } else {
        vs_measure(run, peaks);
        work->count++;
        complete(work, path, run->report);
        /* Limits of phases and tests would hold for those that the trace has too many of. */
        const struct vs_budget *budget = &work->command->budget;
        bool asked = budget->baseline != NULL;
        for (size_t i = 0; i < budget->count; i++)
            asked |= budget->limits[i].scope.phase != NULL;
        if (asked && run->phases_full)
            problem(work, path, "%s: %d phases and tests or more, so later ones cannot be "
                                "checked; record "
                    "fewer in one process (pytest -n, or one run per folder of tests)", path,
                        VS_PHASES_MAX - 1);
    }
    vs_phase_peaks_close(peaks);
}

/* Whether process *a* comes before *b*: by its rank in the job, else by its start. Their traces end,
 * and are named, in any order. */
static bool comes_before(const struct vs_measured *a, const struct vs_measured *b)
{
    const struct vs_report *x = a->report, *y = b->report;
    int ranks = vs_job_rank_before(&x->job, &y->job);
    if (ranks)
        return ranks < 0;
    int hosts = strcmp(x->host, y->host);
    if (hosts)
        return hosts < 0;
    if (strcmp(x->boot, y->boot) != 0 || !x->born_ns || !y->born_ns)
        return x->start_realtime_ns < y->start_realtime_ns;
    if (x->born_ns != y->born_ns)
        return x->born_ns < y->born_ns;
    return x->pid < y->pid; /* started within one tick of the kernel's clock */
}

/* The *n*th process of *name* in a baseline: "train.py", "train.py #2". */
static const char *numbered(struct check_work *work, const char *name, uint64_t n)
{
    char text[300];
    snprintf(text, sizeof text, n > 1 ? "%s #%" PRIu64 : "%s", name, n);
    return vs_xarena_text(&work->memory, text);
}

static uint32_t program_number(const struct vs_intern *programs, const struct vs_measured *run)
{
    uint32_t number = 0;
    vs_intern_find(programs, run->process, strlen(run->process), &number);
    return number;
}

/* The traces and stored processes of one program. */
struct named_program {
    size_t verdicts, told_apart; /* stored with arguments */
    uint64_t last;               /* number that was given */
    bool matched;                /* by arguments */
};

/* A process of a baseline, or of the traces. */
struct numbered_process {
    uint32_t program;
    const char *arguments; /* as in a baseline */
    uint64_t number;       /* 3 of "train.py #3"; of a trace its verdict's */
    const char *name;
};

/* The stored processes with arguments, of *programs*. Entries may have been deleted: their numbers have gaps. */
static struct numbered_process *told_apart(const struct vs_baseline *baseline, const struct vs_intern *programs,
                                           struct named_program *of, struct vs_intern *stored, size_t *count)
{
    if (baseline)
        vs_baseline_names(baseline, NULL, NULL, stored);
    struct numbered_process *out = vs_xcalloc(stored->count + 1, sizeof *out);
    for (size_t i = 0; i < stored->count; i++) {
        const char *name = stored->items[i], *mark = strrchr(name, '#');
        struct numbered_process process = {
            .name = name, .number = 1, .arguments = vs_baseline_text(baseline, name, "arguments")};
        bool found = vs_intern_find(programs, name, strlen(name), &process.program);
        if (!found && mark > name && mark[-1] == ' ') {
            char *end;
            process.number = strtoull(mark + 1, &end, 10);
            found = !*end && vs_intern_find(programs, name, (size_t)(mark - 1 - name), &process.program);
        }
        if (!found || !process.arguments)
            continue;
        of[process.program].told_apart++;
        out[(*count)++] = process;
    }
    VS_SORT(out, *count, VS_UP(program), VS_UP(arguments), VS_UP(number));
    return out;
}

/* Gives each program its name in the baseline: that of the one with the same arguments, so that one test of a binary
 * is compared with itself, or else the next number in the order of their start. Where some are told apart by their
 * arguments, the others are new ones; likewise those of an update with fewer traces than the baseline has. */
static void name_programs(struct check_work *work, const struct vs_baseline *baseline,
                          const struct vs_intern *programs, struct named_program *of)
{
    struct vs_intern names = {0}, taken = {0};
    size_t stored_count = 0, count = 0;
    uint32_t at;
    struct numbered_process *stored = told_apart(baseline, programs, of, &names, &stored_count);
    struct numbered_process *traces = vs_xcalloc(work->verdict_count + 1, sizeof *traces);
    for (size_t i = 0; i < work->count; i++) {
        struct vs_measured *run = &work->runs[i];
        at = program_number(programs, run);
        if (of[at].verdicts == 1 && !of[at].told_apart)
            run->arguments = NULL;
    }
    for (size_t i = 0; i < work->verdict_count; i++) {
        const struct vs_measured *run = work->verdicts[i].runs[0];
        char text[VS_BASELINE_ARGUMENTS_MAX];
        if (run->arguments)
            traces[count++] = (struct numbered_process){
                .program = program_number(programs, run), .number = i,
                .arguments = vs_xarena_text(&work->memory, vs_baseline_arguments(text, run->arguments))};
    }
    VS_SORT(traces, count, VS_UP(program), VS_UP(arguments), VS_UP(number));
    for (size_t i = 0, k = 0; i < count && k < stored_count;) {
        int order = vs_then(VS_ORDER(traces[i].program, stored[k].program),
                            strcmp(traces[i].arguments, stored[k].arguments));
        if (order == 0) {
            work->verdicts[traces[i].number].process = vs_xarena_text(&work->memory, stored[k].name);
            vs_intern_text(&taken, stored[k].name);
            of[traces[i].program].matched = true;
        }
        i += order <= 0;
        k += order >= 0;
    }
    for (size_t i = 0; i < work->verdict_count; i++) {
        struct vs_budget_verdict *verdict = &work->verdicts[i];
        struct named_program *program = &of[program_number(programs, verdict->runs[0])];
        bool new = program->matched ||
                   (work->command->update_baseline && program->verdicts < program->told_apart);
        while (!verdict->process) {
            const char *name = numbered(work, verdict->runs[0]->process, ++program->last);
            if (!vs_intern_find(&taken, name, strlen(name), &at) && !(new && vs_baseline_has(baseline, name)))
                verdict->process = name;
        }
        vs_intern_text(&taken, verdict->process);
    }
    free(stored);
    free(traces);
    vs_intern_free(&names);
    vs_intern_free(&taken);
}

int vs_check_baseline_readable(const struct vs_check_command *command, bool *copies)
{
    char why[VS_BUDGET_WHY_MAX];
    struct vs_baseline *baseline = NULL;
    enum vs_err err = command->budget.baseline ? vs_baseline_read(command->budget.baseline, &baseline, why) : VS_OK;
    *copies = !err && baseline && vs_baseline_has_copies(baseline);
    vs_baseline_free(baseline);
    return err ? vs_tool_fail(command->who, "%s", err == VS_ERR_NOMEM ? vs_err_text(err) : why) : 0;
}

static bool open_baseline(struct check_work *work)
{
    char why[VS_BUDGET_WHY_MAX];
    const char *path = work->command->budget.baseline;
    if (!path)
        return true;
    enum vs_err err = vs_baseline_read(path, &work->baseline, why);
    if (err == VS_ERR_NOT_FOUND && work->command->update_baseline)
        return true;
    if (err)
        problem(work, path, "%s", err == VS_ERR_NOMEM ? vs_err_text(err) : why);
    return !err;
}

static bool ended_badly(const struct vs_budget_verdict *verdict)
{
    bool bad = false;
    for (size_t i = 0; i < verdict->count; i++)
        bad |= verdict->rows[i].kind != VS_ROW_QUANTITY;
    return bad;
}

static void update_baseline(struct check_work *work)
{
    const char *who = work->command->who, *path = work->command->budget.baseline;
    struct vs_whole_file file;
    bool bad = work->code == VS_EXIT_UNUSABLE || !work->verdict_count;
    for (size_t i = 0; i < work->verdict_count; i++)
        bad |= ended_badly(&work->verdicts[i]);
    if (bad) {
        raise_code(work, vs_tool_fail(who, "%s was not updated, because a run failed or cannot be "
                                      "used; see above", path));
        return;
    }
    struct vs_baseline *baseline = work->baseline ? work->baseline : vs_baseline_new();
    const char *replaced = NULL; /* the first process that had other arguments */
    size_t replaced_count = 0;
    for (size_t i = 0; i < work->verdict_count; i++) {
        const struct vs_budget_verdict *verdict = &work->verdicts[i];
        if (vs_baseline_other_arguments(baseline, verdict->process, verdict->runs[0]) && !replaced_count++)
            replaced = verdict->process;
        vs_baseline_update(baseline, verdict->process, &verdict->taken, work->command->budget.device_readings);
    }
    int code = VS_EXIT_OK;
    if (!vs_tool_may_overwrite(who, path) || !vs_whole_file_open(who, path, false, &file))
        code = VS_EXIT_UNUSABLE;
    else {
        vs_baseline_write(baseline, file.stream);
        code = vs_whole_file_end(who, &file, code);
    }
    if (!code && work->command->out)
        fprintf(stderr, "%s: %s now has this run; commit it with the change that explains it\n", who, path);
    if (!code && work->command->out && replaced)
        fprintf(stderr, "%s: %zu of its processes had other arguments and %s replaced: '%s'%s\n", who,
                replaced_count, replaced_count == 1 ? "was" : "were", replaced, replaced_count == 1 ? "" : ", …");
    work->baseline = baseline;
    raise_code(work, code);
}

/* Puts the runs of one program side by side, with --take all its traces, and names the programs. */
static void group_runs(struct check_work *work, const struct vs_baseline *baseline)
{
    bool together = work->command->budget.take != VS_TAKE_EACH;
    struct vs_intern programs = {0};
    struct named_program *of = vs_xcalloc(work->count + 1, sizeof *of);
    for (size_t i = 0, placed = 0; i < work->count; i++) {
        struct vs_measured *run = &work->runs[i];
        size_t from = placed;
        struct named_program *program = &of[vs_intern_text(&programs, run->process)];
        if (program->verdicts && together)
            continue;
        program->verdicts++;
        for (size_t k = i; k < work->count && (k == i || together); k++)
            if (strcmp(work->runs[k].process, run->process) == 0)
                work->sorted[placed++] = &work->runs[k];
        work->verdicts[work->verdict_count++] =
            (struct vs_budget_verdict){.runs = &work->sorted[from], .run_count = placed - from};
    }
    name_programs(work, baseline, &programs, of);
    free(of);
    vs_intern_free(&programs);
}

/* An accepted run is not compared with the one that it replaces; limits still hold. */
static void compare_and_update(struct check_work *work)
{
    char why[VS_BUDGET_WHY_MAX];
    struct vs_baseline *before = work->baseline;
    if (work->command->update_baseline)
        work->baseline = NULL;
    group_runs(work, before);
    for (size_t i = 0; i < work->verdict_count; i++) {
        struct vs_budget_verdict *verdict = &work->verdicts[i];
        struct vs_measured **runs = verdict->runs;
        const char *name = verdict->process;
        vs_budget_verdict_build(verdict, runs, verdict->run_count, name, &work->command->budget, work->baseline);
        /* A program that was renamed, or the wrong trace, must not pass for lack of figures. */
        if (work->baseline && !work->command->update_baseline && verdict->count == 0 &&
            !vs_baseline_has(work->baseline, verdict->process))
            problem(work, runs[0]->report->path, "%s: nothing was compared: the baseline has no "
                    "process '%s', and no limit applies to it; %s", runs[0]->report->path, name,
                    strstr(name, " #") ? "if these are runs of one program, add --take median; "
                                         "otherwise add the process with --update-baseline"
                                       : "add it with --update-baseline");
        if (verdict->exceeded)
            raise_code(work, VS_EXIT_NO);
    }
    if (work->baseline && !work->problem_count)
        vs_budget_note_absent(work->verdicts, work->verdict_count, work->baseline);
    work->baseline = before;
    if (work->count && !work->problem_count && vs_budget_unmatched(&work->command->budget, why))
        problem(work, work->runs[0].report->path, "%s", why);
    if (work->command->update_baseline)
        update_baseline(work);
}

int vs_check_traces(struct vs_check_command *command, char *const *paths, size_t count)
{
    struct check_work work = {
        .command = command, .runs = vs_xcalloc(count, sizeof *work.runs),
        .sorted = vs_xcalloc(count, sizeof *work.sorted), .verdicts = vs_xcalloc(count, sizeof *work.verdicts),
        .problems = vs_xcalloc(4 * count + 4, sizeof *work.problems)};
    if (open_baseline(&work)) {
        for (size_t i = 0; i < count; i++)
            read_trace(&work, paths[i]);
        /* Puts the traces of one program in the order of their ranks, and of those without in the
         * order in which the processes were started, so that each has the same number in every
         * run. */
        for (size_t i = 0; i < work.count; i++)
            for (size_t k = i + 1; k < work.count; k++)
                if (strcmp(work.runs[k].program, work.runs[i].program) == 0 &&
                    comes_before(&work.runs[k], &work.runs[i])) {
                    struct vs_measured other = work.runs[i];
                    work.runs[i] = work.runs[k];
                    work.runs[k] = other;
                }
        compare_and_update(&work);
    }
    struct vs_check_result result = {
        .items = work.verdicts, .count = work.verdict_count, .problems = work.problems,
        .problem_count = work.problem_count, .version = VS_VERSION,
        .baseline = command->budget.baseline, .tolerance = command->budget.tolerance};
    int code = vs_check_write(command, &result, work.code);
    for (size_t i = 0; i < work.verdict_count; i++)
        vs_budget_verdict_free(&work.verdicts[i]);
    for (size_t i = 0; i < work.count; i++)
        vs_measured_free(&work.runs[i]);
    vs_baseline_free(work.baseline);
    vs_arena_free_all(&work.memory);
    free(work.runs);
    free(work.sorted);
    free(work.verdicts);
    free(work.problems);
    return code;
}
