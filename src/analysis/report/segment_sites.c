/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. */
#include "analysis/report/segment_sites.h"

#include <stdlib.h>

#include "base/reading/vs_xalloc.h"
#include "base/vs_map.h"

static int heavier_site(const void *a, const void *b)
{
    const struct vs_report_site *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return x->count < y->count ? 1 : x->count > y->count ? -1 : 0;
}

void vs_segment_sites(const struct vs_summary *summary, const struct vs_held_segment *held,
                      size_t held_count, uint64_t device, struct vs_report_sites *out)
{
    struct vs_report_site *all = vs_xcalloc(held_count + 1, sizeof *all);
    struct vs_map by_text = {0}; /* hash -> index of the site + 1 */
    size_t count = 0;
    for (size_t i = 0; i < held_count; i++) {
        if (held[i].device != device)
            continue;
        struct vs_report_site one = {.level = VS_LEVEL_DEVICE, .api = "", .stacks = 1};
        vs_summary_frames(summary, held[i].stack, 0, &one);
        uint64_t *found = NULL, key = vs_summary_text_hash(&one);
        while ((found = vs_map_get(&by_text, key)) != NULL &&
               !vs_summary_same_text(&all[*found - 1], &one))
            key = key + 1 ? key + 1 : 1;
        if (!found) {
            all[count++] = one;
            vs_xmap_put(&by_text, key, count);
        }
        struct vs_report_site *site = &all[found ? *found - 1 : count - 1];
        site->bytes += held[i].bytes;
        site->count++;
    }
    vs_map_free(&by_text);
    struct vs_report_site *sites = vs_xarena(summary->memory, (count + 1) * sizeof *sites);
    qsort(all, count, sizeof *all, heavier_site);
    for (size_t i = 0; i < count; i++) {
        sites[i] = all[i];
        out->total_bytes += sites[i].bytes;
        out->total_count += sites[i].count;
    }
    out->items = sites;
    out->count = count;
    free(all);
}
