/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. Sites are aligned as two texts are by an edit distance: in the order of their lines,
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

/* Of two alignments that differ as much, the one with fewer changed sites is cheaper. */
static uint64_t pair_cost(const struct vs_named_site *a, const struct vs_named_site *b,
                          enum vs_metric metric)
{
    bool same = a->bytes == b->bytes && a->count == b->count;
    return difference(vs_site_amount(a, metric), vs_site_amount(b, metric)) * 1024 + !same;
}

static uint64_t alone_cost(const struct vs_named_site *site, enum vs_metric metric)
{
    return vs_site_amount(site, metric) * 1024 + 1;
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
    for (size_t i = n, j = m; i > 0;) {
        uint64_t pair = j ? cost[i - 1][j - 1] + pair_cost(&now[i - 1], &before[j - 1], metric)
                          : UINT64_MAX;
        if (pair == cost[i][j])
            partner[--i] = j--;
        else if (cost[i - 1][j] + alone_cost(&now[i - 1], metric) == cost[i][j])
            partner[--i] = 0;
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
