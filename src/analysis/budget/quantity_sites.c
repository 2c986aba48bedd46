/* SPDX-License-Identifier: Apache-2.0
 *
 * The report has the sites at the peak of allocated, at the end, and those that grow;
 * for other times the trace is read again. */
#include "analysis/budget/quantity_sites.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/checkpoint/trace_state.h"
#include "analysis/report/held_segments.h"
#include "analysis/report/summary.h"
#include "analysis/state/user_level.h"
#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"

/* The blocks that are live now and were allocated since *from_ns*: what a phase keeps. */
static void sites_since(const struct vs_summary *summary, unsigned account, uint64_t from_ns,
                        struct vs_report_sites *out)
{
    const struct vs_replay *replay = summary->replay;
    struct vs_summary_row *rows = vs_xcalloc(replay->sites.count + 1, sizeof *rows);
    const struct vs_live *live;
    size_t cursor = 0, count = 0;
    while ((live = vs_user_live_next(replay, account, &cursor)) != NULL) {
        if (live->time_ns < from_ns || live->site >= replay->sites.count)
            continue;
        rows[live->site].bytes += live->size;
        rows[live->site].count++;
    }
    for (uint32_t i = 0; i < replay->sites.count; i++) {
        if (!rows[i].count)
            continue;
        struct vs_summary_row row = rows[i];
        row.site = i;
        rows[count++] = row;
    }
    vs_summary_rows(summary, rows, count, out);
    free(rows);
}

/* Memory that the program holds from the device: the live blocks, and what of it is cached. */
static void sites_of_held(const struct vs_summary *summary, const struct vs_held_segments *held,
                          unsigned account, uint64_t device, const struct vs_site_request *request)
{
    struct vs_held_segment *unused = NULL;
    size_t count = 0;
    vs_summary_sites(summary, account, VS_SITES_LIVE, request->out);
    vs_held_unused(held, summary->replay, account, &unused, &count);
    vs_segment_sites(summary, unused, count, device, request->unused);
    free(unused);
}

bool vs_quantity_is_held(const struct vs_quantity *quantity, bool below_tensors)
{
    return quantity->metric == VS_METRIC_RESERVED || quantity->metric == VS_METRIC_DEVICE ||
           quantity->metric == VS_METRIC_FREE ||
           (quantity->metric == VS_METRIC_REQUESTED && below_tensors);
}

/* The call sites of *request* in the state of its time. */
static void name_sites(struct vs_measured *run, const struct vs_trace_state *state,
                       struct vs_symbols *symbols, const struct vs_held_segments *held,
                       const struct vs_site_request *request)
{
    const struct vs_quantity *quantity = request->quantity;
    unsigned account = vs_replay_account(state->replay, quantity->device);
    struct vs_wrappers wrappers;
    if (account == VS_ACCOUNT_NONE)
        return;
    struct vs_summary summary = {.memory = &run->memory, .replay = state->replay, .symbols = symbols,
                                 .sites_max = VS_QUANTITY_SITES_MAX, .wrappers = &wrappers};
    bool tensors = vs_user_level(state->replay, account) == VS_LEVEL_FRAMEWORK;
    bool whole_segments = quantity->metric == VS_METRIC_RESERVED || quantity->metric == VS_METRIC_DEVICE ||
                          quantity->metric == VS_METRIC_FREE;
    bool both = request->unused && vs_quantity_is_held(quantity, tensors);
    struct vs_held_segment *segments = NULL;
    size_t segment_count =
        whole_segments && !both ? vs_held_list(held, quantity->device, &segments) : 0;
    vs_summary_wrappers(&summary, &wrappers);
    if (both)
        sites_of_held(&summary, held, account, quantity->device, request);
    else if (whole_segments && segment_count)
        vs_segment_sites(&summary, segments, segment_count, quantity->device, request->out);
    else if (quantity->metric == VS_METRIC_LIVE_AT_END)
        sites_since(&summary, account, quantity->from_ns, request->out);
    else if (tensors && !quantity->tensors)
        vs_summary_device_sites(&summary, account, VS_SITES_LIVE, request->out);
    else
        vs_summary_sites(&summary, account, VS_SITES_LIVE, request->out);
    free(segments);
}

static uint64_t rounded_up(uint64_t sum, uint64_t steps)
{
    return (sum + steps - 1) / steps;
}

/* Their figures per step add up to the quantity, which is rounded up. */
static void copy_sites(struct vs_measured *run, const struct vs_quantity *quantity,
                       struct vs_report_sites *out)
{
    const struct vs_report_device *device = vs_report_device_of(run->report, quantity->device);
    uint64_t steps = quantity->per_step && run->steps ? run->steps : 1;
    uint64_t bytes = 0, count = 0; /* of the sites so far */
    size_t most = 0;
    for (int kind = 0; kind < VS_COPY_KIND_COUNT; kind++)
        most += device->copy_sites[kind].count;
    struct vs_report_site *sites = vs_xarena(&run->memory, (most + 1) * sizeof *sites);
    for (int kind = 0; kind < VS_COPY_KIND_COUNT; kind++) {
        const struct vs_report_sites *from = &device->copy_sites[kind];
        for (size_t i = 0; vs_copy_goes(quantity->way, (uint64_t)kind) && i < from->count; i++) {
            struct vs_report_site *site = &sites[out->count++];
            *site = from->items[i];
            bytes += site->bytes;
            count += site->count;
            site->bytes = rounded_up(bytes, steps) - out->total_bytes;
            site->count = rounded_up(count, steps) - out->total_count;
            out->total_bytes += site->bytes;
            out->total_count += site->count;
        }
    }
    out->items = sites;
}

/* Call sites that need no other reading of the trace; false when they do. */
static bool known_sites(struct vs_measured *run, const struct vs_quantity *quantity,
                        struct vs_report_sites *out)
{
    const struct vs_report_device *device = vs_report_device_of(run->report, quantity->device);
    bool whole = !quantity->phase;
    const struct vs_report_host *host = &run->report->host_memory;
    *out = (struct vs_report_sites){0};
    if (quantity->host)
        *out = quantity->metric == VS_METRIC_GROWTH ? host->growing : host->at_end;
    if (!device || quantity->host)
        return true;
    if (quantity->metric == VS_METRIC_ALLOCATED && whole)
        *out = device->at_peak;
    else if (quantity->metric == VS_METRIC_LIVE_AT_END && whole)
        *out = device->at_end;
    else if (quantity->metric == VS_METRIC_GROWTH)
        *out = device->growing;
    else if (vs_metric_of_copies(quantity->metric))
        copy_sites(run, quantity, out);
    else
        return !quantity->event;
    return true;
}

static int by_event(const void *a, const void *b)
{
    const struct vs_site_request *x = a, *y = b;
    return VS_ORDER(x->quantity->event, y->quantity->event);
}

void vs_quantity_sites_all(struct vs_measured *run, struct vs_site_request *requests, size_t count)
{
    size_t left = 0;
    for (size_t i = 0; i < count; i++)
        if (!known_sites(run, requests[i].quantity, requests[i].out))
            requests[left++] = requests[i];
    if (!left)
        return;
    qsort(requests, left, sizeof *requests, by_event);
    /* in the order of their times, so that the trace is read once */
    struct vs_trace_state *state = vs_trace_state_open(run->reader);
    struct vs_symbols *symbols = vs_symbols_open(run->reader);
    struct vs_held_segments held = {0};
    vs_reader_rewind(run->reader);
    for (size_t i = 0; i < left; i++) {
        struct vs_event event;
        while (state->replay->events < requests[i].quantity->event &&
               vs_reader_next(run->reader, &event) == VS_OK) {
            vs_held_segments_event(&held, &event);
            vs_trace_state_event(state, &event);
        }
        name_sites(run, state, symbols, &held, &requests[i]);
    }
    vs_symbols_close(symbols);
    vs_trace_state_close(state);
    vs_held_segments_free(&held);
}

void vs_quantity_sites(struct vs_measured *run, const struct vs_quantity *quantity,
                       struct vs_report_sites *out)
{
    struct vs_site_request one = {.quantity = quantity, .out = out};
    vs_quantity_sites_all(run, &one, 1);
}
