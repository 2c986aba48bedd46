/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. The report has the sites at the peak of allocated, at the end, and those that grow;
 * for other moments the trace is read again. Segments of the caching allocator are followed by their
 * own events, because the replay does not keep the stacks that made them. */
#include "analysis/budget/quantity_sites.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/checkpoint/trace_span.h"
#include "analysis/report/summary.h"
#include "analysis/state/user_level.h"
#include "analysis/state/vec.h"
#include "base/vs_map.h"

static const struct vs_report_device *device_of(const struct vs_report *report, uint64_t number)
{
    for (size_t i = 0; i < report->device_count; i++)
        if (report->devices[i].device == number)
            return &report->devices[i];
    return NULL;
}

/* A segment, or mapped memory, and the stack of the request that made it. */
struct held_segment {
    uint64_t device, addr, bytes, stack;
};

struct segments_held {
    struct held_segment *items;
    size_t count, capacity;
};

static enum vs_err hold(struct segments_held *held, struct held_segment segment)
{
    enum vs_err err = vs_vec_grow(&held->items, &held->capacity, held->count + 1, sizeof *held->items);
    if (!err && segment.bytes)
        held->items[held->count++] = segment;
    return err;
}

/* Memory of [addr, addr + bytes) is no longer held; a segment may be released in parts. */
static enum vs_err release(struct segments_held *held, uint64_t device, uint64_t addr, uint64_t bytes)
{
    enum vs_err err = VS_OK;
    for (size_t i = held->count; !err && i-- > 0;) {
        struct held_segment *segment = &held->items[i], whole = *segment;
        uint64_t from = whole.addr > addr ? whole.addr : addr;
        uint64_t end = whole.addr + whole.bytes, to = end < addr + bytes ? end : addr + bytes;
        if (whole.device != device || from >= to)
            continue;
        if (from > whole.addr)
            segment->bytes = from - whole.addr;
        else if (to < end)
            *segment = (struct held_segment){device, to, end - to, whole.stack};
        else
            *segment = held->items[--held->count];
        if (from > whole.addr && to < end)
            err = hold(held, (struct held_segment){device, to, end - to, whole.stack});
    }
    return err;
}

static enum vs_err follow_segments(struct segments_held *held, const struct vs_event *event)
{
    switch (event->kind) {
    case VS_EVENT_segment_alloc:
        return hold(held, (struct held_segment){event->segment_alloc.device, event->segment_alloc.addr,
                                                event->segment_alloc.size, event->segment_alloc.stack});
    case VS_EVENT_segment_map:
        return hold(held, (struct held_segment){event->segment_map.device, event->segment_map.addr,
                                                event->segment_map.reserved, event->segment_map.stack});
    case VS_EVENT_segment_free:
        return release(held, event->segment_free.device, event->segment_free.addr, event->segment_free.size);
    case VS_EVENT_segment_unmap:
        return release(held, event->segment_unmap.device, event->segment_unmap.addr,
                       event->segment_unmap.size);
    default: return VS_OK;
    }
}

/* Reads on up to event *number*. */
static enum vs_err advance(struct vs_reader *reader, struct vs_trace_state *state, uint64_t number,
                           struct segments_held *held)
{
    struct vs_event event;
    enum vs_err err = VS_OK;
    while (!err && state->replay->events < number && (err = vs_reader_next(reader, &event)) == VS_OK) {
        err = follow_segments(held, &event);
        if (!err)
            err = vs_trace_state_event(state, &event);
    }
    return err == VS_ERR_END ? VS_OK : err;
}

static int heavier_site(const void *a, const void *b)
{
    const struct vs_report_site *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return x->count < y->count ? 1 : x->count > y->count ? -1 : 0;
}

/* The segments as a list of sites, those that read the same together. */
static enum vs_err name_segments(const struct vs_summary *summary, const struct segments_held *held,
                                 uint64_t device, struct vs_report_sites *out)
{
    struct vs_report_site *sites = vs_arena_alloc(summary->memory, (held->count + 1) * sizeof *sites);
    enum vs_err err = sites ? VS_OK : VS_ERR_NOMEM;
    struct vs_map by_text = {0}; /* hash -> index of the site + 1 */
    size_t count = 0;
    for (size_t i = 0; !err && i < held->count; i++) {
        if (held->items[i].device != device)
            continue;
        struct vs_report_site site = {.level = VS_LEVEL_DEVICE, .api = "", .stacks = 1,
                                      .bytes = held->items[i].bytes, .count = 1};
        err = vs_summary_frames(summary, held->items[i].stack, 0, &site);
        uint64_t *found = NULL, key = err ? 1 : vs_summary_text_hash(&site);
        while (!err && (found = vs_map_get(&by_text, key)) != NULL &&
               !vs_summary_same_text(&sites[*found - 1], &site))
            key = key + 1 ? key + 1 : 1;
        if (err)
            break;
        if (found) {
            sites[*found - 1].bytes += site.bytes;
            sites[*found - 1].count++;
        } else {
            sites[count++] = site;
            err = vs_map_put(&by_text, key, count);
        }
        out->total_bytes += site.bytes;
        out->total_count++;
    }
    vs_map_free(&by_text);
    if (err)
        return err;
    qsort(sites, count, sizeof *sites, heavier_site);
    out->items = sites;
    out->count = count;
    return VS_OK;
}

/* The blocks that are live now and were allocated since *from_ns*: what a phase keeps. */
static enum vs_err sites_since(const struct vs_summary *summary, unsigned account, uint64_t from_ns,
                               struct vs_report_sites *out)
{
    const struct vs_replay *replay = summary->replay;
    struct vs_summary_row *rows = calloc(replay->sites.count + 1, sizeof *rows);
    const struct vs_live *live;
    size_t cursor = 0, count = 0;
    if (!rows)
        return VS_ERR_NOMEM;
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
    enum vs_err err = vs_summary_rows(summary, rows, count, out);
    free(rows);
    return err;
}

static bool holds_any(const struct segments_held *held, uint64_t device)
{
    bool any = false;
    for (size_t i = 0; i < held->count && !any; i++)
        any = held->items[i].device == device;
    return any;
}

/* The call sites of *quantity* in the state of its moment. */
static enum vs_err name_sites(struct vs_measured *run, const struct vs_trace_state *state,
                              struct vs_symbols *symbols, const struct segments_held *held,
                              const struct vs_quantity *quantity, struct vs_report_sites *out)
{
    unsigned account = vs_replay_account(state->replay, quantity->device);
    struct vs_wrappers wrappers;
    if (account == VS_ACCOUNT_NONE)
        return VS_OK;
    struct vs_summary summary = {.memory = &run->memory, .replay = state->replay, .symbols = symbols,
                                 .sites_max = VS_QUANTITY_SITES_MAX, .wrappers = &wrappers};
    bool tensors = vs_user_level(state->replay, account) == VS_LEVEL_FRAMEWORK;
    bool reserved = quantity->metric == VS_METRIC_RESERVED || quantity->metric == VS_METRIC_DEVICE ||
                    quantity->metric == VS_METRIC_FREE;
    enum vs_err err = vs_summary_wrappers(&summary, &wrappers);
    if (err)
        return err;
    if (reserved && holds_any(held, quantity->device))
        return name_segments(&summary, held, quantity->device, out);
    if (quantity->metric == VS_METRIC_LIVE_AT_END)
        return sites_since(&summary, account, quantity->from_ns, out);
    if (tensors && !quantity->tensors)
        return vs_summary_device_sites(&summary, account, VS_SITES_LIVE, out);
    return vs_summary_sites(&summary, account, VS_SITES_LIVE, out);
}

/* *requests* in the order of their moments: the trace is read once. */
static enum vs_err sites_at(struct vs_measured *run, const struct vs_site_request *requests, size_t count)
{
    struct vs_trace_state *state = NULL;
    struct vs_symbols *symbols = NULL;
    struct segments_held held = {0};
    enum vs_err err = vs_trace_state_open(run->reader, &state);
    if (!err)
        err = vs_symbols_open(run->reader, &symbols);
    if (!err)
        err = vs_reader_rewind(run->reader);
    for (size_t i = 0; !err && i < count; i++) {
        err = advance(run->reader, state, requests[i].quantity->event, &held);
        if (!err)
            err = name_sites(run, state, symbols, &held, requests[i].quantity, requests[i].out);
    }
    vs_symbols_close(symbols);
    vs_trace_state_close(state);
    free(held.items);
    return err;
}

static enum vs_err copy_sites(struct vs_measured *run, const struct vs_quantity *quantity,
                              struct vs_report_sites *out)
{
    struct vs_report_site *sites = vs_arena_alloc(&run->memory, (run->copy_count + 1) * sizeof *sites);
    if (!sites)
        return VS_ERR_NOMEM;
    for (size_t i = 0; i < run->copy_count; i++) {
        const struct vs_copy_line *line = &run->copies[i];
        if (line->device != quantity->device ||
            (quantity->way != VS_COPIES_ALL && quantity->way != line->way))
            continue;
        struct vs_report_site *site = &sites[out->count++];
        uint64_t steps = quantity->per_step && run->steps ? run->steps : 1;
        *site = line->site;
        site->bytes = (line->bytes + steps - 1) / steps;
        site->count = (line->count + steps - 1) / steps;
        out->total_bytes += site->bytes;
        out->total_count += site->count;
    }
    out->items = sites;
    return VS_OK;
}

/* Call sites that need no other reading of the trace; false when they do. */
static bool known_sites(struct vs_measured *run, const struct vs_quantity *quantity,
                        struct vs_report_sites *out, enum vs_err *err)
{
    const struct vs_report_device *device = device_of(run->report, quantity->device);
    bool whole = !quantity->phase;
    *out = (struct vs_report_sites){0};
    if (!device)
        return true;
    if (quantity->metric == VS_METRIC_ALLOCATED && whole)
        *out = device->at_peak;
    else if (quantity->metric == VS_METRIC_LIVE_AT_END && whole)
        *out = device->at_end;
    else if (quantity->metric == VS_METRIC_GROWTH)
        *out = device->growing;
    else if (quantity->metric == VS_METRIC_TRANSFERRED || quantity->metric == VS_METRIC_COPIES)
        *err = copy_sites(run, quantity, out);
    else
        return !quantity->event;
    return true;
}

static int by_event(const void *a, const void *b)
{
    const struct vs_site_request *x = a, *y = b;
    uint64_t first = x->quantity->event, second = y->quantity->event;
    return first < second ? -1 : first > second;
}

enum vs_err vs_quantity_sites_all(struct vs_measured *run, struct vs_site_request *requests, size_t count)
{
    enum vs_err err = VS_OK;
    size_t left = 0;
    for (size_t i = 0; !err && i < count; i++)
        if (!known_sites(run, requests[i].quantity, requests[i].out, &err))
            requests[left++] = requests[i];
    if (err || !left)
        return err;
    qsort(requests, left, sizeof *requests, by_event);
    return sites_at(run, requests, left);
}

enum vs_err vs_quantity_sites(struct vs_measured *run, const struct vs_quantity *quantity,
                              struct vs_report_sites *out)
{
    struct vs_site_request one = {quantity, out};
    return vs_quantity_sites_all(run, &one, 1);
}
