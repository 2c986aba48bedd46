/* SPDX-License-Identifier: Apache-2.0 */
#include "viewer/check/check_words.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/vs_posix_name.h"
#include "base/vs_size.h"
#include "base/vs_text.h"

#define PROGRAM_COLUMNS 100

/* "peak allocated", as the report calls it. */
static const char *label(char *out, size_t size, const struct vs_quantity *quantity)
{
    static const char *const labels[VS_METRIC_COUNT] = {
        "peak allocated", "peak requested", "peak reserved", "live at the end",
        "memory in use on the device", "lowest free memory", "growth per step", "copied", "copies",
        "peak of tensors"};
    const char *text = labels[quantity->metric];
    if (quantity->tensors && quantity->metric == VS_METRIC_ALLOCATED)
        text = quantity->with_others ? "peak of tensors and memory outside PyTorch" : "peak of tensors";
    else if (quantity->phase && quantity->metric == VS_METRIC_LIVE_AT_END)
        text = quantity->tensors && !quantity->with_others ? "tensors live at its end" : "live at its end";
    else if (quantity->tensors && !quantity->with_others && quantity->metric == VS_METRIC_LIVE_AT_END)
        text = "tensors live at the end";
    else if (quantity->host)
        text = quantity->metric == VS_METRIC_GROWTH ? "page-locked memory, growth per step"
                                                    : "page-locked memory live at the end";
    bool copies = vs_metric_of_copies(quantity->metric);
    static const char *const where[] = {"", " to the device", " to the host", " on the device"};
    snprintf(out, size, "%s%s%s", text, copies ? where[quantity->way] : "",
             copies && quantity->per_step ? " per step" : "");
    return out;
}

char *vs_check_subject(char *out, const struct vs_budget_row *row)
{
    char text[128], device[32];
    const struct vs_quantity *quantity = &row->quantity;
    const char *test = vs_test_name(quantity->phase);
    snprintf(device, sizeof device, quantity->host ? "host" : "device %" PRIu64, quantity->device);
    if (row->kind != VS_ROW_QUANTITY) {
        snprintf(out, VS_CHECK_LINE_MAX, "%s", row->kind == VS_ROW_OOM ? "out of memory" : "exit status");
        return out;
    }
    snprintf(out, VS_CHECK_LINE_MAX, "%s: %s%.1000s%s%s", device,
             test ? "test " : quantity->phase ? "phase '" : "",
             test ? test : quantity->phase ? quantity->phase : "",
             test ? ": " : quantity->phase ? "': " : "", label(text, sizeof text, quantity));
    return out;
}

const char *vs_check_trace(const struct vs_budget_row *row)
{
    return row->run->report->path;
}

char *vs_check_amount(char *out, const struct vs_budget_row *row, uint64_t value)
{
    if (row->quantity.metric == VS_METRIC_COPIES)
        return vs_count_format(out, value);
    return vs_size_format(out, value);
}

struct vs_size_pair vs_check_amounts(const struct vs_budget_row *row, uint64_t a, uint64_t b)
{
    struct vs_size_pair pair;
    if (row->quantity.metric != VS_METRIC_COPIES)
        return vs_sizes_apart(a, b);
    vs_count_format(pair.a, a);
    vs_count_format(pair.b, b);
    return pair;
}

char *vs_check_sentence(char *out, const struct vs_budget_row *row)
{
    char subject[VS_CHECK_LINE_MAX], rest[VS_SIZE_TEXT_MAX], share[16];
    if (row->kind != VS_ROW_QUANTITY) {
        uint64_t status = row->status;
        const char *signal = status > 128 ? vs_signal_name(status - 128) : NULL;
        bool exited = row->run->report->has_end && row->run->report->end_reason == VS_END_EXIT;
        int n;
        if (row->kind == VS_ROW_OOM)
            n = snprintf(out, VS_CHECK_LINE_MAX, "the program ran out of memory on device %" PRIu64
                         ": %s requested; allow it with --allow-oom", row->quantity.device,
                         vs_size_text(row->failure->requested));
        else if (status > 128 && !exited)
            n = snprintf(out, VS_CHECK_LINE_MAX,
                         "the program was killed by signal %" PRIu64 "%s%s%s; allow it with",
                         status - 128, signal ? " (SIG" : "", signal ? signal : "", signal ? ")" : "");
        else
            n = snprintf(out, VS_CHECK_LINE_MAX,
                         "the program exited with status %" PRIu64 "%s%s; allow it with",
                         status, signal ? ", as after SIG" : "", signal ? signal : "");
        if (status)
            snprintf(out + n, VS_CHECK_LINE_MAX - (size_t)n, " --allow-exit %" PRIu64, status);
        return out;
    }
    bool low = row->quantity.metric == VS_METRIC_FREE;
    uint64_t value = row->quantity.value, limit = row->of_baseline ? row->baseline : row->limit;
    uint64_t apart = value > limit ? value - limit : limit - value;
    struct vs_size_pair sizes = vs_check_amounts(row, value, limit);
    const char *whose = row->of_baseline ? "the baseline " : "";
    vs_check_subject(subject, row);
    vs_check_amount(rest, row, apart);
    if (!row->exceeded) {
        bool spare = strcmp(rest, sizes.b) != 0 && !row->of_baseline && apart;
        snprintf(out, VS_CHECK_LINE_MAX, "%.1500s %s is %s %s%s%s%s%s", subject, sizes.a,
                 low ? "at least" : "within", whose, sizes.b, spare ? " (" : "", spare ? rest : "",
                 spare ? " to spare)" : "");
        return out;
    }
    int n = snprintf(out, VS_CHECK_LINE_MAX, "%.1500s %s %s %s%s by %s", subject, sizes.a,
                     low ? "is below" : "exceeds", whose, sizes.b, rest);
    if (limit > apart / 10 && n > 0 && n < VS_CHECK_LINE_MAX)
        snprintf(out + n, VS_CHECK_LINE_MAX - (size_t)n, " (%s)", vs_text_percent(share, apart, limit));
    return out;
}

char *vs_check_program(char *out, const struct vs_budget_row *row)
{
    char text[VS_CHECK_LINE_MAX];
    const struct vs_measured *run = row->run;
    if (!run->arguments)
        return strcpy(out, "");
    snprintf(text, sizeof text, "%.200s %.1000s", run->program, run->arguments);
    return vs_text_clip(out, text, PROGRAM_COLUMNS);
}

char *vs_check_point(char *out, const struct vs_budget_row *row)
{
    const struct vs_quantity *quantity = &row->quantity;
    *out = 0;
    if (!quantity->event)
        return out;
    snprintf(out, VS_CHECK_LINE_MAX, "at %s%s%.1500s", vs_time_text(quantity->time_ns),
             *quantity->place ? ", " : "", quantity->place);
    return out;
}

char *vs_check_spread(char *out, const struct vs_budget_row *row)
{
    char low[VS_SIZE_TEXT_MAX], high[VS_SIZE_TEXT_MAX];
    *out = 0;
    if (row->runs > 1 && row->lowest == row->highest)
        snprintf(out, VS_CHECK_LINE_MAX, "the same in %" PRIu64 " runs", row->runs);
    else if (row->runs > 1) {
        struct vs_size_pair pair = vs_check_amounts(row, row->lowest, row->highest);
        snprintf(low, sizeof low, "%s", pair.a);
        snprintf(high, sizeof high, "%s", pair.b);
        snprintf(out, VS_CHECK_LINE_MAX, "%s to %s in %" PRIu64 " runs%s", low, high, row->runs,
                 row->wide ? ", more apart than the tolerance" : "");
    }
    return out;
}

const char *vs_check_path(const struct vs_check_result *result, const char *file)
{
    size_t length = result->root ? strlen(result->root) : 0;
    if (file && length && strncmp(file, result->root, length) == 0 && file[length] == '/')
        return file + length + 1;
    while (file && strncmp(file, "./", 2) == 0)
        file += 2;
    return file;
}

const struct vs_culprit *vs_check_place(const struct vs_check_result *result,
                                        const struct vs_budget_row *row)
{
    const struct vs_culprit *any = NULL;
    for (size_t i = vs_check_siteless(row) ? row->culprit_count : 0; i < row->culprit_count; i++) {
        const struct vs_culprit *culprit = &row->culprits[i];
        if (!culprit->file || !culprit->line)
            continue;
        if (*vs_check_path(result, culprit->file) != '/')
            return culprit;
        any = any ? any : culprit;
    }
    return any;
}

char *vs_check_chain(char *out, const struct vs_culprit *culprit)
{
    struct vs_report_site site = *culprit->site;
    for (size_t i = site.wrappers; !site.line && i < site.frame_count; i++) {
        if (site.frames[i].function != culprit->function || site.frames[i].line != culprit->line)
            continue;
        site.wrappers = i;
        break;
    }
    if (culprit->families == 1 << VS_FAMILY_DEVICE || site.level != VS_LEVEL_DEVICE)
        return vs_text_label(out, &site);
    char text[VS_CHAIN_TEXT_MAX];
    size_t used = 0;
    for (unsigned f = 0; f < VS_FAMILY_COUNT; f++) /* "async + managed: " */
        if (culprit->families >> f & 1)
            used += (size_t)snprintf(out + used, VS_CHAIN_TEXT_MAX - used, "%s%s", used ? " + " : "", vs_family_name(f));
    snprintf(out + used, VS_CHAIN_TEXT_MAX - used, ": %.3800s", vs_text_label(text, &site));
    return out;
}

char *vs_check_culprit(char *out, const struct vs_check_result *result,
                       const struct vs_budget_row *row, const struct vs_culprit *culprit)
{
    static const char *const verbs[] = {"", "new at ", "grown at "};
    char size[VS_SIZE_TEXT_MAX], count[VS_SIZE_TEXT_MAX], chain[VS_CHAIN_TEXT_MAX], where[600];
    bool copies = vs_metric_of_copies(row->quantity.metric);
    const char *path = vs_check_path(result, culprit->file);
    *where = 0;
    if (path && culprit->line && culprit->or_line)
        snprintf(where, sizeof where, "%.500s:%u or line %u, which are alike", path, culprit->line, culprit->or_line);
    else if (path && culprit->line)
        snprintf(where, sizeof where, "%.500s:%u", path, culprit->line);
    vs_check_amount(size, row, (uint64_t)culprit->delta);
    vs_count_format(count, culprit->count);
    vs_check_chain(chain, culprit);
    if (culprit->cached) {
        snprintf(out, VS_CHECK_LINE_MAX, "%s%s%s%s%s cached but unused in %s segment%s, requested by %.1000s",
                 *where ? verbs[culprit->change] : "", where, *where ? ": " : "",
                 culprit->change == VS_CHANGE_HOLDS ? "" : "+", size, count, culprit->count == 1 ? "" : "s", chain);
        return out;
    }
    const char *unit = copies ? (culprit->count == 1 ? " copy" : " copies")
                              : culprit->count == 1 ? " block" : " blocks";
    bool counted = culprit->count && row->quantity.metric != VS_METRIC_COPIES &&
                   row->quantity.metric != VS_METRIC_GROWTH;
    snprintf(out, VS_CHECK_LINE_MAX, "%s%s%s%s%s%s%s%s%s: %.1000s", *where ? verbs[culprit->change] : "",
             where, *where ? ": " : "", culprit->change == VS_CHANGE_HOLDS ? "" : "+", size,
             row->quantity.metric == VS_METRIC_GROWTH   ? " per step"
             : row->quantity.metric == VS_METRIC_COPIES ? " copies" : "",
             counted ? " in " : "", counted ? count : "", counted ? unit : "", chain);
    return out;
}

#define SITES_REPORTED 5 /* by `vramscope report` without --top */

/* The first culprit's place in the list of its time, which is ordered by bytes. */
static size_t rank_of(const struct vs_budget_row *row)
{
    const struct vs_report_site *site = row->culprits[0].site;
    bool listed = site >= row->sites.items && site < row->sites.items + row->sites.count;
    return listed ? (size_t)(site - row->sites.items) : 0;
}

const char *vs_check_more(char *out, const struct vs_budget_row *row, const char **verb)
{
    const struct vs_quantity *quantity = &row->quantity;
    char device[80] = "";
    int n = 0;
    *verb = "vramscope report";
    *out = 0;
    if (row->kind == VS_ROW_OOM)
        *verb = "vramscope oom";
    if (row->kind != VS_ROW_QUANTITY)
        return out;
    if (row->run->report->device_count > 1)
        n = snprintf(device, sizeof device, " --device %" PRIu64, quantity->device);
    if (row->culprit_count && !row->culprits[0].cached && rank_of(row) >= SITES_REPORTED)
        snprintf(device + n, sizeof device - (size_t)n, " --top %zu", rank_of(row) / 10 * 10 + 10);
    if (row->two_lists && quantity->event) /* with the reserved bytes */
        snprintf(out, VS_CHECK_LINE_MAX, "--at @%" PRIu64 "%s", quantity->event, device);
    else
        vs_quantity_options(out, VS_CHECK_LINE_MAX, quantity, device);
    return out;
}

char *vs_check_rule(char *out, const struct vs_budget_row *row)
{
    static const char *const names[VS_METRIC_COUNT] = {
        "peak-allocated", "peak-requested", "peak-reserved", "live-at-end", "device-memory",
        "free-memory", "growth-per-step", "transferred", "copies", "peak-tensors"};
    snprintf(out, 64, "gpu-memory/%s", row->kind == VS_ROW_OOM    ? "out-of-memory"
                                       : row->kind == VS_ROW_EXIT ? "exit-status"
                                                                  : names[row->quantity.metric]);
    return out;
}

static uint64_t mix(uint64_t hash, const char *text)
{
    return vs_text_hash(vs_text_hash(hash, text), "\xff");
}

size_t vs_check_problems_before(const struct vs_check_result *result, size_t index)
{
    size_t count = 0;
    for (size_t i = 0; i < index; i++)
        count += strcmp(result->problems[i].trace, result->problems[index].trace) == 0;
    return count;
}

char *vs_check_fingerprint(char out[17], const struct vs_budget_verdict *verdict,
                           const struct vs_budget_row *row)
{
    char text[VS_SITE_NAME_MAX], subject[VS_CHECK_LINE_MAX], number[24];
    uint64_t hash = mix(VS_TEXT_HASH_START, verdict->process);
    hash = mix(hash, vs_check_subject(subject, row));
    hash = mix(hash, row->of_baseline ? "baseline" : "limit");
    if (row->culprit_count)
        hash = mix(hash, vs_site_stable_name(text, row->culprits[0].site));
    snprintf(number, sizeof number, "%zu", row->alike);
    if (row->alike)
        hash = mix(hash, number);
    snprintf(out, 17, "%016" PRIx64, hash);
    return out;
}
