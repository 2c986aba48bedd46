/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. Reads of values that were not computed are kinds of their own behind those of copies. Stacks that read the same are one site. */
#include "analysis/report/copy_sites.h"

#include <stdlib.h>

#include "analysis/report/summary.h"
#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"

/* What the copies of a row have in common. */
struct copied {
    uint64_t stack, api, device, kind;
};

struct copy_sum {
    uint64_t bytes, count;
};

/* Counts *count* copies or reads of *bytes* together. */
static void count_row(struct vs_copy_calls *calls, const struct copied *like, uint64_t bytes, uint64_t count)
{
    uint32_t number = vs_intern(&calls->rows, like, sizeof *like);
    vs_vec_room(&calls->sums, &calls->sum_capacity, number + 1, sizeof *calls->sums);
    calls->sums[number].bytes += bytes;
    calls->sums[number].count += count;
}

enum vs_err vs_copy_calls_event(void *context, struct vs_replay *replay,
                                const struct vs_event *event)
{
    struct vs_copy_calls *calls = context;
    (void)replay;
    if (event->kind == VS_EVENT_uncomputed_read) {
        struct copied like = {.stack = event->uncomputed_read.stack,
                              .api = event->uncomputed_read.text,
                              .kind = VS_COPY_KIND_COUNT + event->uncomputed_read.what};
        if (event->uncomputed_read.what < VS_UNCOMPUTED_COUNT)
            count_row(calls, &like, event->uncomputed_read.bytes, 1);
    }
    return VS_OK;
}

void vs_copy_calls_of(struct vs_copy_calls *calls, const struct vs_timeline *timeline)
{
    struct vs_timeline_sums sums;
    for (size_t i = 0; vs_timeline_has_calls(timeline) && i < vs_timeline_rows(timeline); i++) {
        const struct vs_timeline_key *key = vs_timeline_row(timeline, i, &sums);
        struct copied like = {.stack = key->stack, .api = key->api, .device = key->device, .kind = key->kind};
        if (key->what == VS_ROWS_COPIES && (key->stack || key->api))
            count_row(calls, &like, sums.bytes, sums.count);
    }
}

void vs_copy_sites_fill(const struct vs_copy_calls *calls, const struct vs_summary *summary,
                        uint64_t device, int kind, struct vs_report_sites *out)
{
    struct vs_summary plain = *summary; /* functions that allocate are not those that copy */
    plain.wrappers = NULL;
    size_t rows = 0;
    for (size_t i = 0; i < calls->rows.count; i++) {
        const struct copied *row = calls->rows.items[i];
        rows += row->device == device && row->kind == (uint64_t)kind;
    }
    if (!rows)
        return;
    struct vs_site_list list = {.items = vs_xarena(summary->memory, rows * sizeof *list.items)};
    for (size_t i = 0; i < calls->rows.count; i++) {
        const struct copied *from = calls->rows.items[i];
        if (from->device == device && from->kind == (uint64_t)kind)
            vs_site_list_add(&plain, &list, from->stack, vs_summary_name(summary, from->api),
                             calls->sums[i].bytes, calls->sums[i].count, out)->stacks++;
    }
    if (kind < VS_COPY_KIND_COUNT)
        qsort(list.items, list.count, sizeof *list.items, vs_heavier_site);
    vs_site_list_end(summary, &list, out);
}

void vs_copy_calls_free(struct vs_copy_calls *calls)
{
    vs_intern_free(&calls->rows);
    free(calls->sums);
}
