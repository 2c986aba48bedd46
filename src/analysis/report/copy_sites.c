/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. CUPTI delivers the record of a copy after the call; until then its stack waits under
 * its number. Reads of values that were not computed have their stacks themselves, and are kinds of their
 * own behind those of copies. Stacks that read the same are one site. */
#include "analysis/report/report_fill.h"

#include <stdlib.h>
#include <string.h>

#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"
#include "trace/symbols/demangle.h"

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

static void add_call(struct vs_copy_calls *calls, const struct vs_event *event)
{
    struct copy_call call = {event->copy_call.stack, event->copy_call.api};
    uint32_t number = vs_intern(&calls->calls, &call, sizeof call);
    if (event->copy_call.correlation)
        vs_xmap_put(&calls->waiting, event->copy_call.correlation, number + 1);
}

/* Counts a copy or read of *bytes*. */
static void count_row(struct vs_copy_calls *calls, const struct copied *like, uint64_t bytes)
{
    uint32_t number = vs_intern(&calls->rows, like, sizeof *like);
    vs_vec_room(&calls->sums, &calls->sum_capacity, number + 1, sizeof *calls->sums);
    calls->sums[number].bytes += bytes;
    calls->sums[number].count++;
}

static void add_copy(struct vs_copy_calls *calls, const struct vs_event *event)
{
    uint64_t index = 0, kind = event->memcpy.copy_kind;
    if (!event->memcpy.correlation || !calls->calls.count ||
        !vs_map_remove(&calls->waiting, event->memcpy.correlation, &index))
        return;
    const struct copy_call *call = calls->calls.items[index - 1];
    struct copied like = {.stack = call->stack, .api = call->api, .device = event->memcpy.device,
                          .kind = kind < VS_COPY_KIND_COUNT ? kind : VS_COPY_UNKNOWN};
    count_row(calls, &like, event->memcpy.bytes);
}

static void add_read(struct vs_copy_calls *calls, const struct vs_event *event)
{
    struct copied like = {.stack = event->uncomputed_read.stack, .api = event->uncomputed_read.text,
                          .kind = VS_COPY_KIND_COUNT + event->uncomputed_read.what};
    if (event->uncomputed_read.what < VS_UNCOMPUTED_COUNT)
        count_row(calls, &like, event->uncomputed_read.bytes);
}

enum vs_err vs_copy_calls_event(void *calls, struct vs_replay *replay, const struct vs_event *event)
{
    (void)replay;
    if (event->kind == VS_EVENT_uncomputed_read)
        add_read(calls, event);
    else if (event->kind == VS_EVENT_copy_call)
        add_call(calls, event);
    else if (event->kind == VS_EVENT_memcpy)
        add_copy(calls, event);
    return VS_OK;
}

/* The name of a function that copies, or of a kernel. */
static const char *name_of(const struct vs_summary *summary, uint64_t id)
{
    const char *name = vs_reader_string(summary->replay->reader, id);
    char *readable = vs_demangle(name);
    const char *kept = vs_text_copy(summary->memory, readable ? readable : name);
    free(readable);
    return kept;
}

/* The sites of the copies of *kind* on *device*; those of reads in their order. */
static void fill_list(const struct vs_copy_calls *calls, const struct vs_summary *summary,
                      uint64_t device, uint64_t kind, struct vs_report_sites *out)
{
    size_t rows = 0;
    for (size_t i = 0; i < calls->rows.count; i++) {
        const struct copied *row = calls->rows.items[i];
        rows += row->device == device && row->kind == kind;
    }
    if (!rows)
        return;
    struct vs_site_list list = {.items = vs_xarena(summary->memory, rows * sizeof *list.items)};
    for (size_t i = 0; i < calls->rows.count; i++) {
        const struct copied *from = calls->rows.items[i];
        const struct copy_sum *sum = &calls->sums[i];
        if (from->device != device || from->kind != kind)
            continue;
        struct vs_report_site site = {
            .level = VS_LEVEL_DEVICE, .stacks = 1, .bytes = sum->bytes, .count = sum->count,
            .api = name_of(summary, from->api)};
        vs_summary_frames(summary, from->stack, 0, &site);
        struct vs_report_site *same = vs_site_list_same(&list, &site);
        if (same) {
            same->bytes += site.bytes;
            same->count += site.count;
            same->stacks++;
        }
        out->total_bytes += sum->bytes;
        out->total_count += sum->count;
    }
    if (kind < VS_COPY_KIND_COUNT)
        qsort(list.items, list.count, sizeof *list.items, vs_heavier_site);
    vs_site_list_end(summary, &list, out);
}

void vs_copy_sites_fill(struct vs_report *report, const struct vs_copy_calls *calls,
                        const struct vs_summary *summary)
{
    struct vs_wrappers none = {0};
    struct vs_summary plain = *summary; /* functions that allocate are not those that copy */
    plain.wrappers = &none;
    const char *calls_recorded = vs_report_option(report, "copy_stacks");
    report->copy_sites_known = !report->part.window && !report->part.moment && calls_recorded &&
                               strcmp(calls_recorded, "on") == 0;
    for (size_t i = 0; i < report->device_count; i++)
        for (int kind = 0; kind < VS_COPY_KIND_COUNT; kind++)
            fill_list(calls, &plain, report->devices[i].device, (uint64_t)kind,
                      &report->devices[i].copy_sites[kind]);
    for (int what = 0; what < VS_UNCOMPUTED_COUNT; what++)
        fill_list(calls, &plain, 0, (uint64_t)(VS_COPY_KIND_COUNT + what), &report->uncomputed[what]);
}

void vs_copy_calls_free(struct vs_copy_calls *calls)
{
    vs_map_free(&calls->waiting);
    vs_intern_free(&calls->calls);
    vs_intern_free(&calls->rows);
    free(calls->sums);
}
