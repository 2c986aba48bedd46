/* SPDX-License-Identifier: Apache-2.0
 *
 * The list below an exceeded limit: call sites, and of memory held from the device also the sum of what
 * is cached, so that the list adds up to the quantity. Memory that was not recorded individually has no
 * call site, but a line of the list. */
#include <stdio.h>
#include <string.h>

#include "base/vs_size.h"
#include "viewer/check/check_words.h"

#define CACHED "cached but unused"
#define SITELESS_MAX 2

static void add_line(struct vs_check_line *out, size_t *count, const char *words, int64_t bytes, size_t sites)
{
    if (bytes > 0)
        out[(*count)++] = (struct vs_check_line){.words = words, .bytes = bytes, .sites = sites};
}

/* The memory at the row's time that was not recorded individually, most first. Against a baseline, which
 * does not have it, at most the bytes that the culprits do not explain. All segments are recorded, so live
 * memory in them without a call site counts as cached. */
static size_t siteless(const struct vs_budget_row *row, struct vs_check_line out[SITELESS_MAX])
{
    const struct vs_report_sites *sites = &row->sites;
    uint64_t left = row->compared && row->quantity.value > row->baseline ? row->quantity.value - row->baseline : 0;
    int64_t most = row->compared ? (int64_t)left : INT64_MAX;
    size_t count = 0;
    if (row->kind != VS_ROW_QUANTITY || row->two_lists)
        return 0;
    for (size_t i = 0; row->compared && i < row->culprit_count; i++)
        most -= row->culprits[i].delta;
    int64_t small = (int64_t)sites->small_bytes, totals = sites->whole_bytes ? vs_report_sites_unlisted(sites)
                                                                            : sites->limit_bytes;
    totals = totals < most ? totals : most;
    most -= totals > 0 ? totals : 0;
    add_line(out, &count, sites->whole_bytes ? "not recorded individually" : "allocated while only totals were recorded",
             totals, 0);
    add_line(out, &count, "in blocks smaller than --min-size, which were only counted", small < most ? small : most, 0);
    if (count == 2 && out[1].bytes > out[0].bytes) {
        struct vs_check_line first = out[0];
        out[0] = out[1];
        out[1] = first;
    }
    return count;
}

bool vs_check_siteless(const struct vs_budget_row *row)
{
    struct vs_check_line lines[SITELESS_MAX];
    if (row->two_lists) /* a segment requested meanwhile has no stack */
        return row->sites.limit_bytes > 0 && row->culprit_count && !row->culprits[0].file;
    return siteless(row, lines) && (!row->culprit_count || lines[0].bytes > row->culprits[0].delta);
}

/* What is cached, and the requests for the segments. */
static void add_cached(const struct vs_budget_row *row, struct vs_check_line *out, size_t *count)
{
    bool totals = row->sites.limit_bytes > 0;
    add_line(out, count, totals ? "cached, or allocated while only totals were recorded" : CACHED,
             row->compared ? row->unused_more : (int64_t)row->unused.total_bytes, 0);
    for (size_t i = 0; i < row->culprit_count; i++) {
        if (!row->culprits[i].cached)
            continue;
        out[*count].inner = true;
        out[(*count)++].culprit = &row->culprits[i];
    }
}

size_t vs_check_lines(const struct vs_budget_row *row, struct vs_check_line out[VS_CHECK_LINES_MAX])
{
    size_t count = 0, at = 0;
    memset(out, 0, VS_CHECK_LINES_MAX * sizeof *out);
    if (!row->two_lists) { /* the culprits, and the memory of no call site: the most first */
        struct vs_check_line none[SITELESS_MAX];
        size_t of_none = siteless(row, none);
        for (size_t i = 0; i < row->culprit_count; i++) {
            while (at < of_none && none[at].bytes > row->culprits[i].delta)
                out[count++] = none[at++];
            out[count++].culprit = &row->culprits[i];
        }
        while (at < of_none)
            out[count++] = none[at++];
        return count;
    }
    bool cached_first = row->culprit_count && row->culprits[0].cached;
    if (cached_first)
        add_cached(row, out, &count);
    /* The live blocks, and those that are not listed as one sum. */
    uint64_t left = row->sites.total_bytes;
    size_t listed = 0, all = row->sites.count + row->sites.omitted_count;
    for (size_t i = 0; i < row->culprit_count; i++) {
        if (row->culprits[i].cached)
            continue;
        out[count++].culprit = &row->culprits[i];
        left -= row->culprits[i].bytes;
        listed++;
    }
    if (!row->compared)
        add_line(out, &count, NULL, (int64_t)left, all > listed ? all - listed : 1);
    if (!cached_first)
        add_cached(row, out, &count);
    /* The driver's own cache at the highest reading of the device. */
    const struct vs_report_device *device = vs_report_device_of(row->run->report,
                                                                row->quantity.device);
    bool read = device && device->balance_peak.known && device->balance_peak.pools_known;
    int64_t pools = 0;
    if (read && !row->compared && row->quantity.metric == VS_METRIC_DEVICE)
        pools = (int64_t)device->balance_peak.pools;
    add_line(out, &count, "cached by stream-ordered pools", pools, 0);
    int64_t rest = (int64_t)(row->quantity.value - row->sites.total_bytes - row->unused.total_bytes -
                             (uint64_t)pools);
    if (!row->compared && row->quantity.metric == VS_METRIC_RESERVED)
        add_line(out, &count, "in memory of CUDA graphs, and not recorded", rest, 0);
    else if (!row->compared && row->quantity.metric == VS_METRIC_DEVICE)
        add_line(out, &count, "in CUDA contexts and graphs, libraries and other processes", rest, 0);
    return count;
}

const char *vs_check_heading(const struct vs_budget_row *row)
{
    if (row->moved)
        return "more than at any peak in the baseline:";
    if (row->compared)
        return "more than in the baseline:";
    if (row->unlisted)
        return "not in the baseline, which leaves out small call sites:";
    if (row->kind == VS_ROW_OOM)
        return "requested by:";
    switch (row->quantity.metric) {
    case VS_METRIC_LIVE_AT_END: return "still allocated:";
    case VS_METRIC_GROWTH: return "grows:";
    case VS_METRIC_TRANSFERRED:
    case VS_METRIC_COPIES:
        return row->of_baseline && !row->listed
                   ? "most copies (the baseline has no lines that copy; update it from a run with --copy-stacks):"
                   : "most copies:";
    default: return "most memory at that moment:";
    }
}

char *vs_check_sum_words(char out[VS_CHECK_WORDS_MAX], const struct vs_check_line *line)
{
    if (line->words)
        snprintf(out, VS_CHECK_WORDS_MAX, "%s", line->words);
    else
        snprintf(out, VS_CHECK_WORDS_MAX, "in %s more line%s", vs_count_text(line->sites),
                 line->sites == 1 ? "" : "s");
    return out;
}

char *vs_check_line(char *out, const struct vs_check_result *result, const struct vs_budget_row *row,
                    const struct vs_check_line *line)
{
    char words[VS_CHECK_WORDS_MAX];
    if (line->culprit)
        return vs_check_culprit(out, result, row, line->culprit);
    snprintf(out, VS_CHECK_LINE_MAX, "%s%s %s", row->compared ? "+" : "",
             vs_size_text((uint64_t)line->bytes), vs_check_sum_words(words, line));
    return out;
}

char *vs_check_reason(char *out, const struct vs_check_result *result, const struct vs_budget_row *row)
{
    struct vs_check_line line[SITELESS_MAX];
    *out = 0;
    if (vs_check_siteless(row) && siteless(row, line))
        return vs_check_line(out, result, row, line);
    return row->culprit_count ? vs_check_culprit(out, result, row, &row->culprits[0]) : out;
}
