/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. CUPTI delivers the record of a copy after the call; until then its stack waits under
 * its number. Reads of values that were not computed have their stacks themselves, and are kinds of their
 * own behind those of copies, as are waits. Stacks that read the same are one site. */
#include "analysis/report/copy_sites.h"

#include <stdlib.h>

#include "analysis/report/summary.h"
#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"

/* A call that copies. */
struct copy_call {
    uint64_t stack, api;
};

/* What the copies of a row have in common. */
struct copied {
    uint64_t stack, api, device, kind;
};

struct copy_sum {
    uint64_t bytes, count;
};

/* Counts a copy or read of *bytes*. */
static void count_row(struct vs_copy_calls *calls, const struct copied *like, uint64_t bytes)
{
    uint32_t number = vs_intern(&calls->rows, like, sizeof *like);
    vs_vec_room(&calls->sums, &calls->sum_capacity, number + 1, sizeof *calls->sums);
    calls->sums[number].bytes += bytes;
    calls->sums[number].count++;
}

enum vs_err vs_copy_calls_event(void *context, struct vs_replay *replay,
                                const struct vs_event *event)
{
    struct vs_copy_calls *calls = context;
    uint64_t index = 0;
    (void)replay;
    if (event->kind == VS_EVENT_uncomputed_read) {
        struct copied like = {.stack = event->uncomputed_read.stack,
                              .api = event->uncomputed_read.text,
                              .kind = VS_COPY_KIND_COUNT + event->uncomputed_read.what};
        if (event->uncomputed_read.what < VS_UNCOMPUTED_COUNT)
            count_row(calls, &like, event->uncomputed_read.bytes);
    } else if (event->kind == VS_EVENT_sync) {
        struct copied like = {.stack = event->sync.stack, .api = event->sync.api,
                              .device = event->sync.device, .kind = VS_COPY_WAITS};
        if (event->sync.api)
            count_row(calls, &like, event->sync.end_ns > event->sync.start_ns
                                        ? event->sync.end_ns - event->sync.start_ns
                                        : 0);
    } else if (event->kind == VS_EVENT_work_call) {
        struct copy_call call = {event->work_call.stack, event->work_call.api};
        uint32_t number = vs_intern(&calls->calls, &call, sizeof call);
        if (event->work_call.correlation)
            vs_xmap_put(&calls->waiting, event->work_call.correlation, number + 1);
    } else if (event->kind == VS_EVENT_memcpy && event->memcpy.correlation && calls->calls.count &&
               vs_map_remove(&calls->waiting, event->memcpy.correlation, &index)) {
        const struct copy_call *call = calls->calls.items[index - 1];
        uint64_t kind = event->memcpy.copy_kind;
        struct copied like = {.stack = call->stack, .api = call->api,
                              .device = event->memcpy.device,
                              .kind = kind < VS_COPY_KIND_COUNT ? kind : VS_COPY_UNKNOWN};
        count_row(calls, &like, event->memcpy.bytes);
    }
    return VS_OK;
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
    if (kind < VS_COPY_KIND_COUNT || kind == VS_COPY_WAITS)
        qsort(list.items, list.count, sizeof *list.items, vs_heavier_site);
    vs_site_list_end(summary, &list, out);
}

void vs_copy_calls_free(struct vs_copy_calls *calls)
{
    vs_map_free(&calls->waiting);
    vs_intern_free(&calls->calls);
    vs_intern_free(&calls->rows);
    free(calls->sums);
}
