/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. */
#include "analysis/report/segment_sites.h"

#include <stdlib.h>

#include "base/vs_map.h"

/* A call site that requested segments. */
struct segment_site {
    struct vs_report_site site;
    uint64_t largest, used_event; /* of its largest segment */
};

static int heavier_site(const void *a, const void *b)
{
    const struct vs_report_site *x = &((const struct segment_site *)a)->site;
    const struct vs_report_site *y = &((const struct segment_site *)b)->site;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return x->count < y->count ? 1 : x->count > y->count ? -1 : 0;
}

static void add_segment(struct segment_site *to, const struct vs_held_segment *segment)
{
    to->site.bytes += segment->bytes;
    to->site.count++;
    if (segment->bytes > to->largest) {
        to->largest = segment->bytes;
        to->used_event = segment->used_event;
    }
}

/* The sites of *all* as a list, with the events of their largest segments where *events* is not NULL. */
static enum vs_err put_segments(struct vs_arena *memory, struct segment_site *all, size_t count,
                                struct vs_report_sites *out, const uint64_t **events)
{
    struct vs_report_site *sites = vs_arena_alloc(memory, (count + 1) * sizeof *sites);
    uint64_t *numbers = vs_arena_alloc(memory, (count + 1) * sizeof *numbers);
    if (!sites || !numbers)
        return VS_ERR_NOMEM;
    qsort(all, count, sizeof *all, heavier_site);
    for (size_t i = 0; i < count; i++) {
        sites[i] = all[i].site;
        numbers[i] = all[i].used_event;
        out->total_bytes += sites[i].bytes;
        out->total_count += sites[i].count;
    }
    out->items = sites;
    out->count = count;
    if (events)
        *events = numbers;
    return VS_OK;
}

enum vs_err vs_segment_sites(const struct vs_summary *summary, const struct vs_held_segment *held,
                             size_t held_count, uint64_t device, struct vs_report_sites *out,
                             const uint64_t **events)
{
    struct segment_site *all = calloc(held_count + 1, sizeof *all);
    enum vs_err err = all ? VS_OK : VS_ERR_NOMEM;
    struct vs_map by_text = {0}; /* hash -> index of the site + 1 */
    size_t count = 0;
    for (size_t i = 0; !err && i < held_count; i++) {
        if (held[i].device != device)
            continue;
        struct segment_site one = {.site = {.level = VS_LEVEL_DEVICE, .api = "", .stacks = 1}};
        err = vs_summary_frames(summary, held[i].stack, 0, &one.site);
        uint64_t *found = NULL, key = err ? 1 : vs_summary_text_hash(&one.site);
        while (!err && (found = vs_map_get(&by_text, key)) != NULL &&
               !vs_summary_same_text(&all[*found - 1].site, &one.site))
            key = key + 1 ? key + 1 : 1;
        if (!err && !found) {
            all[count++] = one;
            err = vs_map_put(&by_text, key, count);
        }
        if (!err)
            add_segment(&all[found ? *found - 1 : count - 1], &held[i]);
    }
    vs_map_free(&by_text);
    if (!err)
        err = put_segments(summary->memory, all, count, out, events);
    free(all);
    return err;
}
