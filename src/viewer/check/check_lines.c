/* SPDX-License-Identifier: Apache-2.0
 *
 * The list below an exceeded limit: call sites, and of memory held from the device also the sum of what
 * is cached, so that the list adds up to the quantity. */
#include <stdio.h>
#include <string.h>

#include "base/vs_size.h"
#include "viewer/check/check_words.h"

#define CACHED "cached but unused"

static void add(struct vs_check_line *out, size_t *count, const char *words, int64_t bytes, size_t sites)
{
    if (bytes > 0)
        out[(*count)++] = (struct vs_check_line){.words = words, .bytes = bytes, .sites = sites};
}

/* The live blocks, and those that are not listed as one sum. */
static void add_live(const struct vs_budget_row *row, struct vs_check_line *out, size_t *count)
{
    uint64_t left = row->sites.total_bytes;
    size_t listed = 0, all = row->sites.count + row->sites.omitted_count;
    for (size_t i = 0; i < row->culprit_count; i++) {
        if (row->culprits[i].cached)
            continue;
        out[(*count)++].culprit = &row->culprits[i];
        left -= row->culprits[i].bytes;
        listed++;
    }
    if (!row->compared)
        add(out, count, NULL, (int64_t)left, all > listed ? all - listed : 1);
}

/* What is cached, and the requests for the segments. */
static void add_cached(const struct vs_budget_row *row, struct vs_check_line *out, size_t *count)
{
    add(out, count, CACHED, row->compared ? row->unused_more : (int64_t)row->unused.total_bytes, 0);
    for (size_t i = 0; i < row->culprit_count; i++) {
        if (!row->culprits[i].cached)
            continue;
        out[*count].inner = true;
        out[(*count)++].culprit = &row->culprits[i];
    }
}

/* The driver's own cache at the highest reading of the device. */
static int64_t pools_of(const struct vs_budget_row *row)
{
    const struct vs_report *report = row->run->report;
    for (size_t i = 0; i < report->device_count; i++) {
        const struct vs_balance *balance = &report->devices[i].balance_peak;
        if (report->devices[i].device == row->quantity.device)
            return balance->known && balance->pools_known ? (int64_t)balance->pools : 0;
    }
    return 0;
}

size_t vs_check_lines(const struct vs_budget_row *row, struct vs_check_line out[VS_CHECK_LINES_MAX])
{
    size_t count = 0;
    memset(out, 0, VS_CHECK_LINES_MAX * sizeof *out);
    if (!row->two_lists) {
        for (; count < row->culprit_count; count++)
            out[count].culprit = &row->culprits[count];
        return count;
    }
    bool cached_first = row->culprit_count && row->culprits[0].cached;
    if (cached_first)
        add_cached(row, out, &count);
    add_live(row, out, &count);
    if (!cached_first)
        add_cached(row, out, &count);
    int64_t pools = row->compared || row->quantity.metric != VS_METRIC_DEVICE ? 0 : pools_of(row);
    add(out, &count, "cached by stream-ordered pools", pools, 0);
    int64_t rest = (int64_t)(row->quantity.value - row->sites.total_bytes - row->unused.total_bytes -
                             (uint64_t)pools);
    if (!row->compared && row->quantity.metric == VS_METRIC_RESERVED)
        add(out, &count, "in memory of CUDA graphs, and not recorded", rest, 0);
    else if (!row->compared && row->quantity.metric == VS_METRIC_DEVICE)
        add(out, &count, "in CUDA contexts, libraries and other processes", rest, 0);
    return count;
}

char *vs_check_sum_words(char out[VS_CHECK_WORDS_MAX], const struct vs_check_line *line)
{
    char count[VS_SIZE_TEXT_MAX];
    if (line->words)
        snprintf(out, VS_CHECK_WORDS_MAX, "%s", line->words);
    else
        snprintf(out, VS_CHECK_WORDS_MAX, "in %s more line%s", vs_count_format(count, line->sites),
                 line->sites == 1 ? "" : "s");
    return out;
}

char *vs_check_line(char *out, const struct vs_check_result *result, const struct vs_budget_row *row,
                    const struct vs_check_line *line)
{
    char size[VS_SIZE_TEXT_MAX], words[VS_CHECK_WORDS_MAX];
    if (line->culprit)
        return vs_check_culprit(out, result, row, line->culprit);
    snprintf(out, VS_CHECK_LINE_MAX, "%s%s %s", row->compared ? "+" : "",
             vs_size_format(size, (uint64_t)line->bytes), vs_check_sum_words(words, line));
    return out;
}
