/* SPDX-License-Identifier: Apache-2.0
 *
 * Sites are aligned as two texts are by an edit distance: in the order of their lines,
 * where a change costs the bytes that differ, so that an inserted line is the one that is new and the
 * lines after it keep their partners. */
#include "analysis/budget/site_align.h"

#include <string.h>

uint64_t vs_site_amount(const struct vs_named_site *site, enum vs_metric metric)
{
    return metric == VS_METRIC_COPIES ? site->count : site->bytes;
}

static uint64_t difference(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

/* Of alignments that differ by as many bytes, the one whose pairs resemble each other most is cheaper: a
 * site that grew a little and a new one, not one that grew much and another new one. */
#define BYTES_COST (UINT64_C(1) << 20)
#define UNLIKE_COST UINT64_C(1024)

/* More or fewer blocks of one size are the same line at another time rather than another line. */
#define SAME_BLOCKS_COST (BYTES_COST / 4)

static bool same_blocks(const struct vs_named_site *a, const struct vs_named_site *b)
{
    return a->count && b->count && (unsigned __int128)a->bytes * b->count == (unsigned __int128)b->bytes * a->count;
}

static uint64_t pair_cost(const struct vs_named_site *a, const struct vs_named_site *b,
                          enum vs_metric metric)
{
    uint64_t x = vs_site_amount(a, metric), y = vs_site_amount(b, metric), most = x > y ? x : y;
    uint64_t apart = difference(x, y), unlike = a->bytes != b->bytes || a->count != b->count;
    if (apart)
        unlike += (uint64_t)((double)apart / (double)most * (double)UNLIKE_COST);
    return apart * (same_blocks(a, b) ? SAME_BLOCKS_COST : BYTES_COST) + unlike;
}

static uint64_t alone_cost(const struct vs_named_site *site, enum vs_metric metric)
{
    return vs_site_amount(site, metric) * BYTES_COST + UNLIKE_COST;
}

void vs_site_align(const struct vs_named_site *now, size_t n, const struct vs_named_site *before,
                   size_t m, enum vs_metric metric, size_t *partner)
{
    uint64_t cost[VS_SITE_ALIGN_MAX + 1][VS_SITE_ALIGN_MAX + 1];
    for (size_t i = 0; i <= n; i++) {
        for (size_t j = 0; j <= m; j++) {
            uint64_t best = i || j ? UINT64_MAX : 0;
            if (i && j)
                best = cost[i - 1][j - 1] + pair_cost(&now[i - 1], &before[j - 1], metric);
            uint64_t new = i ? cost[i - 1][j] + alone_cost(&now[i - 1], metric) : UINT64_MAX;
            uint64_t gone = j ? cost[i][j - 1] + alone_cost(&before[j - 1], metric) : UINT64_MAX;
            best = new < best ? new : best;
            cost[i][j] = gone < best ? gone : best;
        }
    }
    for (size_t i = n, j = m; i > 0;) { /* of alike sites the last is the new one */
        uint64_t pair = j ? cost[i - 1][j - 1] + pair_cost(&now[i - 1], &before[j - 1], metric)
                          : UINT64_MAX;
        if (cost[i - 1][j] + alone_cost(&now[i - 1], metric) == cost[i][j])
            partner[--i] = 0;
        else if (pair == cost[i][j])
            partner[--i] = j--;
        else
            j--;
    }
}

size_t vs_site_run(const struct vs_named_sites *sites, size_t from)
{
    size_t n = from;
    while (n < sites->count && strcmp(sites->items[n].name, sites->items[from].name) == 0)
        n++;
    return n - from;
}
