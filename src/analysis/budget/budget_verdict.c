/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/budget/budget_verdict.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/budget/culprits.h"
#include "analysis/budget/verdict_sites.h"
#include "base/reading/vs_intern.h"
#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"
#include "base/vs_size.h"
#include "base/vs_text.h"

#define NAMES_NOTED 3
#define ERROR_OUT_OF_MEMORY 2 /* CUDA_ERROR_OUT_OF_MEMORY */

static void note(struct vs_budget_verdict *out, const char *format, ...) VS_PRINTF(2, 3);
static void note(struct vs_budget_verdict *out, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (out->note_count < sizeof out->notes / sizeof *out->notes)
        out->notes[out->note_count++] = vs_xarena_text(&out->memory, text);
}

/* *pattern* with * and ?; other characters, as the brackets of a test's parameters, are themselves. */
static bool glob(const char *pattern, const char *text)
{
    char plain[8192];
    size_t n = 0;
    if (strcmp(pattern, text) == 0)
        return true;
    for (; *pattern && n < sizeof plain - 2; pattern++) {
        if (strchr("[]\\", *pattern))
            plain[n++] = '\\';
        plain[n++] = *pattern;
    }
    plain[n] = 0;
    return fnmatch(plain, text, 0) == 0;
}

/* The path matches, or the name of its last range. */
static bool phase_matches(const struct vs_budget_scope *scope, const struct vs_quantity *quantity)
{
    if (!scope->phase || !quantity->phase)
        return !scope->phase && !quantity->phase;
    if (scope->test) {
        const char *test = vs_test_name(quantity->range);
        return test && !quantity->nested && glob(scope->phase, test);
    }
    return glob(scope->phase, quantity->phase) || glob(scope->phase, quantity->range);
}

/* Whether limits of *scope* may apply to process *process*. */
static bool applies(const struct vs_budget_scope *scope, const char *process)
{
    static const char *const marks[] = {" #", " rank "};
    char name[256];
    if (!scope->process || glob(scope->process, process))
        return true;
    snprintf(name, sizeof name, "%s", process); /* "train.py" means "train.py rank 1 #2" too */
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        char *mark = strstr(name, marks[i]);
        if (mark)
            *mark = 0;
        if (mark && glob(scope->process, name))
            return true;
    }
    return false;
}

static uint64_t with_tolerance(uint64_t value, const struct vs_budget *budget, bool bytes)
{
    uint64_t more = (uint64_t)((double)value * (double)budget->tolerance_millionths / 1e6);
    if (bytes && budget->tolerance_bytes > more)
        more = budget->tolerance_bytes;
    return value + more;
}

static void add_row(struct vs_budget_verdict *out, const struct vs_budget_row *row)
{
    VS_VEC_ADD(out->rows, out->count, out->capacity, *row);
    out->exceeded += row->exceeded;
}

static bool is_bytes(enum vs_metric metric)
{
    return metric != VS_METRIC_COPIES;
}

/* A row for *taken* with the limit of *limit*, or of the baseline when that is NULL. */
static void compare(struct vs_budget_verdict *out, const struct vs_taken_quantity *taken,
                    const struct vs_budget_limit *limit, const struct vs_budget *budget,
                    const struct vs_baseline *baseline)
{
    const struct vs_quantity *like = &taken->quantity;
    struct vs_budget_row row = {.kind = VS_ROW_QUANTITY, .quantity = *like, .run = taken->run,
                                .runs = taken->runs, .lowest = taken->lowest,
                                .highest = taken->highest, .of_baseline = !limit};
    row.has_baseline = baseline && !like->host && vs_baseline_value(baseline, out->process, like, &row.baseline);
    bool whole = !like->phase && !like->host && like->metric <= VS_METRIC_LIVE_AT_END;
    row.new_device = !limit && whole && !vs_baseline_has_device(baseline, out->process, like->device);
    row.has_baseline |= row.new_device;
    if (!limit && !row.has_baseline)
        return;
    row.from = limit ? limit->from : budget->baseline;
    uint64_t more = with_tolerance(row.baseline, budget, is_bytes(like->metric)) - row.baseline;
    row.limit = limit                            ? limit->amount
                : like->metric != VS_METRIC_FREE ? row.baseline + more
                : more < row.baseline            ? row.baseline - more : 0;
    row.exceeded = like->metric == VS_METRIC_FREE ? row.quantity.value < row.limit
                                                  : row.quantity.value > row.limit;
    bool unsure = !limit && like->metric == VS_METRIC_ALLOCATED && !row.exceeded && like->possible > row.limit;
    out->unsure |= unsure;
    if (unsure)
        return;
    uint64_t allowed = with_tolerance(row.lowest, budget, is_bytes(like->metric));
    row.wide = row.highest > allowed;
    add_row(out, &row);
}

static bool on_device(const struct vs_budget *budget, const struct vs_budget_scope *scope,
                      uint64_t device)
{
    return (!budget->only.one_device || budget->only.device == device) &&
           (!scope->one_device || scope->device == device);
}

static bool limits(const struct vs_budget *budget, const struct vs_budget_limit *limit,
                   const struct vs_quantity *quantity)
{
    return limit->metric == quantity->metric && limit->way == quantity->way &&
           (limit->metric == VS_METRIC_GROWTH || limit->per_step == quantity->per_step) &&
           phase_matches(&limit->scope, quantity) &&
           on_device(budget, &limit->scope, quantity->device);
}

const struct vs_budget_limit *vs_budget_unmatched(const struct vs_budget *budget, char *why)
{
    const struct vs_budget_limit *limit = NULL;
    for (size_t i = 0; i < budget->count && !limit; i++)
        limit = budget->limits[i].matched && !budget->limits[i].missing ? NULL : &budget->limits[i];
    if (!limit)
        return NULL;
    const struct vs_budget_scope *scope = &limit->scope;
    if (limit->missing)
        snprintf(why, VS_BUDGET_WHY_MAX, "%s cannot be checked: %s", limit->from, limit->missing);
    else if (limit->metric == VS_METRIC_TENSORS && limit->process_seen)
        snprintf(why, VS_BUDGET_WHY_MAX, "%s cannot be checked: no tensors of PyTorch were recorded; limit "
                 "max-allocated instead", limit->from);
    else if (limit->unmeasured && limit->metric == VS_METRIC_GROWTH)
        snprintf(why, VS_BUDGET_WHY_MAX, "%s: growth is known from %d completed steps on, and a run has fewer; run "
                 "more of them, or mark them with ranges named \"step N\" if vramscope does not find them",
                 limit->from, VS_GROWTH_STEPS_MIN);
    else if (limit->unmeasured && limit->per_step)
        snprintf(why, VS_BUDGET_WHY_MAX, "%s: the run has no steps, so nothing is known per step; mark "
                 "them with ranges named \"step N\"", limit->from);
    else if (limit->unmeasured)
        snprintf(why, VS_BUDGET_WHY_MAX, "%s: the device's free memory was never read during the run; "
                 "limit max-reserved instead", limit->from);
    else if (scope->process && !limit->process_seen)
        snprintf(why, VS_BUDGET_WHY_MAX, "%s: no trace is of a process '%.200s'; check the name", limit->from,
                 scope->process);
    else if (scope->phase && !limit->phase_seen)
        snprintf(why, VS_BUDGET_WHY_MAX, "%s: no %s '%.200s' occurred; check the name (`vramscope report "
                 "TRACE` lists the phases)", limit->from, scope->test ? "test" : "phase", scope->phase);
    else if (scope->one_device && scope->phase)
        snprintf(why, VS_BUDGET_WHY_MAX, "%s: %s '%.200s' did not use device %" PRIu64, limit->from,
                 scope->test ? "test" : "phase", scope->phase, scope->device);
    else if (scope->one_device)
        snprintf(why, VS_BUDGET_WHY_MAX, "%s: the program did not use device %" PRIu64, limit->from,
                 scope->device);
    else
        snprintf(why, VS_BUDGET_WHY_MAX, "%s: the program used no device", limit->from);
    return limit;
}

/* Why a run lacks what *metric* needs; NULL: no run does. */
static const char *missing_in(const struct vs_budget_verdict *out, enum vs_metric metric)
{
    const char *missing = NULL;
    for (size_t i = 0; i < out->run_count && !missing; i++)
        missing = vs_metric_of_copies(metric)              ? out->runs[i]->copies_missing
                  : metric == VS_METRIC_GROWTH ? out->runs[i]->growth_missing
                                               : NULL;
    return missing;
}

/* Unknown in a run at least. A phase, or a reading, that a run does not have is no reason. */
static bool is_unknown(const struct vs_budget_verdict *out, const struct vs_taken_quantity *taken)
{
    return taken->quantity.unknown || (taken->quantity.metric == VS_METRIC_GROWTH && taken->runs < out->run_count);
}

/* Why *limit* cannot be checked: more may have been in use between two readings, or in allocations that
 * were left out. NULL: it can. */
static const char *in_doubt(struct vs_budget_verdict *out, const struct vs_budget_limit *limit,
                            const struct vs_quantity *quantity)
{
    bool low = limit->metric == VS_METRIC_FREE, peak = limit->metric == VS_METRIC_ALLOCATED;
    if ((limit->metric != VS_METRIC_DEVICE && !low && !peak) ||
        (low ? quantity->value < limit->amount || quantity->possible >= limit->amount
             : quantity->value > limit->amount || quantity->possible <= limit->amount))
        return NULL;
    struct vs_size_pair sizes = vs_sizes_apart(quantity->value, quantity->possible);
    if (peak)
        return vs_xarena_printf(&out->memory, "the peak of tensors and other memory on device %" PRIu64 " is between %s and "
                                "%s: which memory holds tensors is not known of allocations that were not recorded "
                                "(--sample, --min-size, a size limit, a pause); limit max-tensors, which is exact, or record "
                                "all allocations", quantity->device, sizes.a, sizes.b);
    return vs_xarena_printf(&out->memory, "%s device %" PRIu64 " %s %s, and possibly %s between two readings; the trace "
                            "does not show whether managed memory was on the device, or how far stream-ordered pools "
                            "grew; limit max-allocated instead", low ? "free memory of" : "memory in use on",
                            quantity->device, low ? "fell to" : "reached", sizes.a, sizes.b);
}

static void check_limit(struct vs_budget_verdict *out, const struct vs_budget *budget,
                        struct vs_budget_limit *limit, const struct vs_baseline *baseline)
{
    if (!applies(&limit->scope, out->process))
        return;
    limit->process_seen = true;
    if (missing_in(out, limit->metric))
        limit->missing = missing_in(out, limit->metric);
    for (size_t i = 0; i < out->taken.count; i++) {
        const struct vs_quantity *quantity = &out->taken.items[i].quantity;
        limit->phase_seen |= phase_matches(&limit->scope, quantity);
        if (!limits(budget, limit, quantity))
            continue;
        bool unknown = is_unknown(out, &out->taken.items[i]);
        const char *doubt = unknown ? NULL : in_doubt(out, limit, quantity);
        limit->missing = doubt ? doubt : limit->missing;
        limit->unmeasured |= unknown;
        limit->matched |= !unknown;
        if (!unknown && !doubt)
            compare(out, &out->taken.items[i], limit, budget, baseline);
    }
}

static void note_missing(struct vs_budget_verdict *out, const struct vs_baseline *baseline, enum vs_metric metric,
                         const char *what)
{
    uint64_t value;
    bool has = false;
    const char *missing = missing_in(out, metric);
    for (size_t i = 0; missing && i < out->taken.count; i++)
        has |= out->taken.items[i].quantity.metric == metric &&
               vs_baseline_value(baseline, out->process, &out->taken.items[i].quantity, &value);
    if (has)
        note(out, "%s not compared with the baseline: %s", what, missing);
}

/* A note with the names of *all* that are not *known*. */
static void note_others(struct vs_budget_verdict *out, const char *what, const struct vs_intern *all,
                        const struct vs_intern *known, const char *advice)
{
    char text[800] = "";
    size_t others = 0, used = 0;
    uint32_t at;
    for (size_t i = 0; i < all->count; i++) {
        const char *name = all->items[i];
        if (vs_intern_find(known, name, all->lengths[i], &at) || ++others > NAMES_NOTED)
            continue;
        used += (size_t)snprintf(text + used, sizeof text - used, "%s'%.200s'", used ? ", " : "", name);
    }
    if (others > NAMES_NOTED)
        snprintf(text + used, sizeof text - used, " and %zu more", others - NAMES_NOTED);
    if (others)
        note(out, "%s: %s%s", what, text, advice);
}

/* What only the run has, and what only the baseline has: phases, or devices. */
static void note_apart(struct vs_budget_verdict *out, const struct vs_baseline *baseline, bool phases)
{
    struct vs_intern now = {0}, before = {0};
    vs_baseline_names(baseline, out->process, phases ? "phases" : "devices", &before);
    for (size_t i = 0; i < out->taken.count; i++) {
        const struct vs_quantity *quantity = &out->taken.items[i].quantity;
        char device[24];
        snprintf(device, sizeof device, "%" PRIu64, quantity->device);
        if (!phases || quantity->phase)
            vs_intern_text(&now, phases ? quantity->phase : device);
    }
    note_others(out, phases ? "phases and tests that are not in the baseline, and so not compared"
                            : "devices that are not in the baseline, and so compared with 0 B", &now, &before,
                phases ? "; add them with --update-baseline"
                       : "; if they are intended, add them with --update-baseline");
    note_others(out, phases ? "phases and tests of the baseline that did not occur"
                            : "devices of the baseline that were not used", &before, &now, "");
    vs_intern_free(&now);
    vs_intern_free(&before);
}

void vs_budget_note_absent(struct vs_budget_verdict *verdicts, size_t count, const struct vs_baseline *baseline)
{
    struct vs_intern now = {0}, before = {0};
    vs_baseline_names(baseline, NULL, NULL, &before);
    for (size_t i = 0; i < count; i++)
        vs_intern_text(&now, verdicts[i].process);
    if (count)
        note_others(&verdicts[count - 1], "programs of the baseline without a trace here, and so not compared",
                    &before, &now, "");
    vs_intern_free(&now);
    vs_intern_free(&before);
}

/* A baseline of other arguments, allocator, GPU or part of the allocations. */
static void note_setting(struct vs_budget_verdict *out, const struct vs_baseline *baseline)
{
    const struct vs_measured *run = out->runs[0];
    const struct vs_report *report = run->report;
    const char *allocator = vs_baseline_text(baseline, out->process, "allocator");
    if (vs_baseline_other_arguments(baseline, out->process, run))
        note(out, "compared with '%.200s' of the baseline, which had other arguments than '%.300s'", out->process,
             run->arguments);
    out->other_allocator = allocator && *report->policy && strcmp(allocator, report->policy) != 0;
    if (out->other_allocator)
        note(out, "recorded with the allocator %.60s, the baseline with %.60s: reserved memory and readings of "
             "the device are not compared; record with the same --allocator", report->policy, allocator);
    for (size_t i = 0; i < report->device_count; i++) {
        const struct vs_report_device *device = &report->devices[i];
        const char *gpu = vs_baseline_other_gpu(baseline, out->process, device);
        if (gpu)
            note(out, "device %" PRIu64 " is %.100s, in the baseline %.100s: its readings are not compared, and "
                 "libraries may choose other algorithms", device->device, device->name, gpu);
    }
    bool now = report->recording.sample > 1;
    out->sampled = now || vs_baseline_sampled(baseline, out->process);
    if (out->sampled)
        note(out, "%s was recorded with --sample: call sites and the peaks of phases are estimates, and not "
             "compared with the baseline", now ? "this run" : "the baseline");
}

static bool comparable(const struct vs_budget_verdict *out, const struct vs_baseline *baseline,
                       const struct vs_taken_quantity *taken)
{
    const struct vs_quantity *quantity = &taken->quantity;
    bool reading = vs_baseline_is_reading(quantity);
    const struct vs_report *report = taken->run->report;
    return !(out->sampled && quantity->phase) &&
           !(reading && vs_baseline_other_gpu(baseline, out->process, vs_report_device_of(report, quantity->device))) &&
           !(out->other_allocator && (reading || quantity->metric == VS_METRIC_RESERVED));
}

static void check_baseline(struct vs_budget_verdict *out, const struct vs_budget *budget,
                           const struct vs_baseline *baseline)
{
    static const struct vs_budget_scope any;
    const struct vs_taken *taken = &out->taken;
    if (!vs_baseline_has(baseline, out->process)) {
        out->uncompared = true;
        note(out, "%s has no process '%s' yet; add it with --update-baseline",
             budget->baseline, out->process);
        return;
    }
    uint64_t steps = vs_baseline_steps(baseline, out->process);
    if (steps != taken->steps)
        note(out, "the baseline has %" PRIu64 " steps and this run %" PRIu64
             ": totals of the whole run differ for that reason", steps, taken->steps);
    note_setting(out, baseline);
    for (size_t i = 0; i < taken->count; i++) {
        const struct vs_quantity *quantity = &taken->items[i].quantity;
        if (vs_baseline_kept(quantity) && on_device(budget, &any, quantity->device) &&
            comparable(out, baseline, &taken->items[i]))
            compare(out, &taken->items[i], NULL, budget, baseline);
    }
    if (out->unsure)
        note(out, "a peak of tensors and other memory is not compared: it may exceed the baseline in allocations that were "
             "not recorded");
    if (budget->device_readings && !vs_baseline_has_readings(baseline, out->process))
        note(out, "%s has no readings of the device; add them with --device-readings --update-baseline",
             budget->baseline);
    note_missing(out, baseline, VS_METRIC_COPIES, "copies are");
    note_missing(out, baseline, VS_METRIC_GROWTH, "growth per step is");
    if (!budget->only.one_device)
        note_apart(out, baseline, false);
    note_apart(out, baseline, true);
}

bool vs_exit_status(const struct vs_report *report, uint64_t *status)
{
    const struct vs_event_end end = {.reason = report->end_reason, .status = report->end_status};
    return vs_ending_status(report->has_end ? &end : NULL, report->outcome, status);
}

bool vs_budget_allows_exit(const struct vs_budget *budget, uint64_t status)
{
    bool allowed = budget->allow_any_exit || status == 0;
    for (size_t i = 0; i < budget->allow_exit_count; i++)
        allowed |= budget->allow_exit[i] == status;
    return allowed;
}

const struct vs_report_failure *vs_fatal_oom(const struct vs_report *report)
{
    const struct vs_report_failure *found = NULL;
    uint64_t status = 0;
    if (vs_exit_status(report, &status) && !status)
        return NULL;
    for (size_t i = 0; i < report->failure_count; i++) {
        const struct vs_report_failure *failure = &report->failures[i];
        bool memory = failure->framework || failure->error == ERROR_OUT_OF_MEMORY;
        if (memory && !failure->recovered && !failure->workspace)
            found = failure;
    }
    return found;
}

/* How the run ended, as rows of their own where that is bad. */
static void check_end(struct vs_budget_verdict *out, struct vs_measured *run,
                      const struct vs_budget *budget)
{
    uint64_t status = 0;
    bool known = vs_exit_status(run->report, &status);
    const struct vs_report_failure *oom = budget->allow_oom ? NULL : vs_fatal_oom(run->report);
    if (oom) {
        struct vs_budget_row row = {
            .kind = VS_ROW_OOM, .from = "--allow-oom", .exceeded = true, .failure = oom, .run = run,
            .runs = 1, .status = status && !vs_budget_allows_exit(budget, status) ? status : 0,
            .quantity = {.device = oom->device, .event = oom->event,
                                    .time_ns = oom->time_ns, .value = oom->requested,
                                    .place = oom->place ? oom->place : ""}};
        vs_verdict_accuse_failure(&row);
        add_row(out, &row);
    }
    if (!known || vs_budget_allows_exit(budget, status) || (oom && status < 128))
        return;
    struct vs_budget_row row = {.kind = VS_ROW_EXIT, .from = "--allow-exit", .exceeded = true,
                                 .status = status, .run = run, .runs = 1,
                                 .quantity = {.time_ns = run->report->duration_ns, .place = "",
                                              .value = status}};
    add_row(out, &row);
}

/* Numbers the rows that are alike; with *from* only those from the same place. */
static void number_rows(struct vs_budget_verdict *out, bool from)
{
    struct vs_intern subjects = {0};
    size_t *earlier = vs_xcalloc(out->count + 1, sizeof *earlier); /* rows of each subject */
    for (size_t i = 0; i < out->count; i++) {
        struct vs_budget_row *row = &out->rows[i];
        const struct vs_quantity *quantity = &row->quantity;
        char key[VS_QUANTITY_KEY_MAX + 4608];
        snprintf(key, sizeof key, "%d %d %d %d %" PRIu64 " %d %d%s%.4096s%s%s", row->kind,
                 row->of_baseline, quantity->metric, quantity->host, quantity->device, quantity->way,
                 quantity->per_step,
                 from && row->from ? "\n" : "", from && row->from ? row->from : "",
                 quantity->phase ? "\t" : "", quantity->phase ? quantity->phase : "");
        size_t *number = &earlier[vs_intern_text(&subjects, key)];
        *(from ? &row->again : &row->alike) = (*number)++;
    }
    vs_intern_free(&subjects);
    free(earlier);
}

/* Memory that stream-ordered pools keep is the driver's: who limits reserved memory may take it for a part. */
static void note_pools(struct vs_budget_verdict *out)
{
    bool limited = false, device = false;
    uint64_t most = 0;
    for (size_t i = 0; i < out->count; i++) {
        const struct vs_budget_row *row = &out->rows[i];
        limited |= row->kind == VS_ROW_QUANTITY && row->quantity.metric == VS_METRIC_RESERVED && !row->of_baseline;
        device |= row->kind == VS_ROW_QUANTITY && vs_baseline_is_reading(&row->quantity);
    }
    const struct vs_report *report = out->runs[0]->report;
    for (size_t i = 0; i < report->device_count; i++) {
        const struct vs_balance *balance = &report->devices[i].balance_peak;
        if (balance->known && balance->pools_known && balance->pools > most)
            most = balance->pools;
    }
    if (limited && !device && most)
        note(out, "reserved does not include %s that stream-ordered pools cached; --max-device limits "
             "all memory of the device", vs_size_text(most));
}

static void note_stacks(struct vs_budget_verdict *out)
{
    for (size_t i = 0; i < out->count; i++)
        if (out->rows[i].no_stacks) {
            note(out, "the trace was recorded without call stacks, so its lines are not compared with those of the "
                      "baseline; record it without --stacks=none");
            return;
        }
}

/* A trace without function names, or a baseline that was written from one. */
static void note_names(struct vs_budget_verdict *out)
{
    const struct vs_budget_row *apart = NULL, *listed = NULL;
    for (size_t i = 0; i < out->count; i++) {
        const struct vs_budget_row *row = &out->rows[i];
        if (row->names && row->listed && !row->no_stacks && !apart)
            apart = row;
        if (row->culprit_count && !listed)
            listed = row;
    }
    const struct vs_budget_row *row = apart ? apart : listed;
    if (apart ? apart->names == VS_NAMES_LACK_NOW : row && vs_without_names(row->run->report))
        note(out, "the trace has no function names, so %s; run vramscope symbolize %.400s on a machine with "
             "the program's files", apart ? "its lines are not compared with those of the baseline"
                                          : "call sites are addresses", row->run->report->path);
    else if (apart)
        note(out, "the baseline was written from a trace without function names, so its lines are not compared with "
                  "those of this trace; update it from a trace with names");
}

static void note_spread(struct vs_budget_verdict *out)
{
    const struct vs_budget_row *first = NULL;
    size_t wide = 0;
    char more[64] = "";
    for (size_t i = 0; i < out->count; i++) {
        wide += out->rows[i].wide;
        first = first || !out->rows[i].wide ? first : &out->rows[i];
    }
    if (!first)
        return;
    struct vs_size_pair sizes = vs_sizes_apart(first->lowest, first->highest);
    if (!is_bytes(first->quantity.metric)) {
        vs_count_format(sizes.a, first->lowest);
        vs_count_format(sizes.b, first->highest);
    }
    if (wide > 1)
        snprintf(more, sizeof more, ", and %zu more", wide - 1);
    note(out, "the runs differ by more than the tolerance (%s%s%.300s from %s to %s%s), so a limit may hold "
         "or fail by chance; raise --tolerance, or make the program deterministic",
         vs_metric_name(first->quantity.metric), first->quantity.phase ? " in " : "",
         first->quantity.phase ? first->quantity.phase : "",
         sizes.a, sizes.b, more);
}

/* Reads are allowed: the check refuses the trace otherwise. Whether the host reads managed memory is not seen. */
static void note_uncomputed(struct vs_budget_verdict *out)
{
    unsigned long long reads = 0, waits = 0;
    for (size_t i = 0; i < out->run_count; i++)
        for (int what = 0; what < VS_UNCOMPUTED_COUNT; what++)
            *(what == VS_UNCOMPUTED_MANAGED ? &waits : &reads) += out->runs[i]->report->uncomputed[what].total_count;
    if (reads)
        note(out, "%llu read%s of values that were not computed %s allowed: the figures are right only if no "
             "size depends on them", reads, reads == 1 ? "" : "s", reads == 1 ? "is" : "are");
    if (waits)
        note(out, "the host waited %llu time%s for kernels that computed nothing, and may have read managed "
             "memory then: the figures are right only if no size depends on it", waits, waits == 1 ? "" : "s");
}

/* Where no row is about them: a program that ignores them, and ends well, has not done all of its work. */
static void note_failures(struct vs_budget_verdict *out)
{
    uint64_t failed = 0;
    for (size_t i = 0; i < out->run_count; i++)
        failed += out->runs[i]->report->failure_total - out->runs[i]->report->failures_recovered;
    for (size_t i = 0; i < out->count; i++)
        failed *= out->rows[i].kind != VS_ROW_OOM;
    if (failed)
        note(out, "%" PRIu64 " allocation%s failed, and the program did not recover from %s, so these figures "
             "may be too low; vramscope oom explains %s", failed, failed == 1 ? "" : "s",
             failed == 1 ? "it" : "them", failed == 1 ? "it" : "the last one");
}

void vs_budget_verdict_build(struct vs_budget_verdict *out, struct vs_measured **runs, size_t count,
                      const char *process, struct vs_budget *budget,
                      const struct vs_baseline *baseline)
{
    out->runs = runs;
    out->run_count = count;
    out->process = process;
    vs_taken_build(&out->memory, runs, count, budget->take, &out->taken);
    for (size_t i = 0; i < count; i++)
        check_end(out, runs[i], budget);
    for (size_t i = 0; i < budget->count; i++)
        check_limit(out, budget, &budget->limits[i], baseline);
    if (baseline)
        check_baseline(out, budget, baseline);
    for (size_t i = 0; i < count; i++)
        vs_verdict_accuse(out, runs[i], baseline);
    number_rows(out, false);
    number_rows(out, true);
    vs_verdict_fold(out);
    if (out->following)
        note(out, "%zu more %s the baseline for the same reason; --format json lists %s",
             out->following, out->following == 1 ? "quantity exceeds" : "quantities exceed",
             out->following == 1 ? "it" : "them");
    note_stacks(out);
    note_names(out);
    note_spread(out);
    note_pools(out);
    note_failures(out);
    note_uncomputed(out);
}

void vs_budget_verdict_free(struct vs_budget_verdict *verdict)
{
    free(verdict->rows);
    vs_arena_free_all(&verdict->memory);
    *verdict = (struct vs_budget_verdict){0};
}
