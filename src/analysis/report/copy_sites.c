/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. CUPTI delivers the record of a copy after the call; until then its stack waits under
 * its number. Reads of values that were not computed have their stacks themselves, and are kinds of their
 * own behind those of copies. Stacks that read the same are one site. Calls, rows and sites are found by
 * hash: a program may copy from very many call sites. */
#include "analysis/report/copy_sites.h"

#include <stdlib.h>
#include <string.h>

#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"
#include "trace/symbols/demangle.h"

/* Copies of one stack. */
struct copied {
    uint64_t stack, api, device, kind, bytes, count;
};

/* A call that copies. */
struct copy_call {
    uint64_t stack, api;
};

/* Never 0. */
static uint64_t hash_of(uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    const uint64_t parts[] = {a, b, c};
    for (size_t i = 0; i < 3; i++) {
        hash = (hash ^ parts[i]) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 32;
    }
    return hash ? hash : 1;
}

/* The key to try after *key*, when that is another's. */
static uint64_t next_key(uint64_t key)
{
    return key + 1 ? key + 1 : 1;
}

static void call_at(struct vs_copy_calls *calls, uint64_t stack, uint64_t api, size_t *out)
{
    uint64_t key = hash_of(stack, api, 0);
    for (const uint64_t *found; (found = vs_map_get(&calls->by_call, key)) != NULL; key = next_key(key)) {
        *out = (size_t)*found - 1;
        if (calls->calls[*out].stack == stack && calls->calls[*out].api == api)
            return;
    }
    *out = calls->call_count;
    vs_vec_room(&calls->calls, &calls->call_capacity, *out + 1, sizeof *calls->calls);
    vs_xmap_put(&calls->by_call, key, *out + 1);
    calls->calls[calls->call_count++] = (struct copy_call){stack, api};
}

static void add_call(struct vs_copy_calls *calls, const struct vs_event *event)
{
    size_t i;
    call_at(calls, event->copy_call.stack, event->copy_call.api, &i);
    if (event->copy_call.correlation)
        vs_xmap_put(&calls->waiting, event->copy_call.correlation, i + 1);
}

static void row_at(struct vs_copy_calls *calls, const struct copied *like, size_t *out)
{
    uint64_t key = hash_of(like->stack, like->api, like->device << 8 ^ like->kind);
    for (const uint64_t *found; (found = vs_map_get(&calls->by_row, key)) != NULL; key = next_key(key)) {
        const struct copied *row = &calls->rows[*found - 1];
        *out = (size_t)*found - 1;
        if (row->stack == like->stack && row->api == like->api && row->device == like->device &&
            row->kind == like->kind)
            return;
    }
    *out = calls->count;
    vs_vec_room(&calls->rows, &calls->capacity, *out + 1, sizeof *calls->rows);
    vs_xmap_put(&calls->by_row, key, *out + 1);
    calls->rows[calls->count++] = *like;
}

/* Counts a copy or read of *bytes* in the row that is like *like*. */
static void count_row(struct vs_copy_calls *calls, const struct copied *like, uint64_t bytes)
{
    size_t i;
    row_at(calls, like, &i);
    calls->rows[i].bytes += bytes;
    calls->rows[i].count++;
}

static void add_copy(struct vs_copy_calls *calls, const struct vs_event *event)
{
    uint64_t index = 0, kind = event->memcpy.copy_kind;
    if (!event->memcpy.correlation || !calls->call_count ||
        !vs_map_remove(&calls->waiting, event->memcpy.correlation, &index))
        return;
    const struct copy_call *call = &calls->calls[index - 1];
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

void vs_copy_calls_event(struct vs_copy_calls *calls, const struct vs_event *event)
{
    switch (event->kind) {
    case VS_EVENT_uncomputed_read: add_read(calls, event); return;
    case VS_EVENT_copy_call: add_call(calls, event); return;
    case VS_EVENT_memcpy: add_copy(calls, event); return;
    default: return;
    }
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
    for (size_t i = 0; i < calls->count; i++)
        rows += calls->rows[i].device == device && calls->rows[i].kind == kind;
    if (!rows)
        return;
    struct vs_site_list list = {.items = vs_xarena(summary->memory, rows * sizeof *list.items)};
    for (size_t i = 0; i < calls->count; i++) {
        const struct copied *from = &calls->rows[i];
        if (from->device != device || from->kind != kind)
            continue;
        struct vs_report_site site = {
            .level = VS_LEVEL_DEVICE, .stacks = 1, .bytes = from->bytes, .count = from->count,
            .api = name_of(summary, from->api)};
        vs_summary_frames(summary, from->stack, 0, &site);
        struct vs_report_site *same = vs_site_list_same(&list, &site);
        if (same) {
            same->bytes += site.bytes;
            same->count += site.count;
            same->stacks++;
        }
        out->total_bytes += from->bytes;
        out->total_count += from->count;
    }
    if (kind < VS_COPY_KIND_COUNT)
        qsort(list.items, list.count, sizeof *list.items, vs_heavier_site);
    vs_site_list_end(summary, &list, out);
}

static bool recorded_calls(const struct vs_report *report)
{
    for (size_t i = 0; i < report->option_count; i++)
        if (strcmp(report->options[i].name, "copy_stacks") == 0)
            return strcmp(report->options[i].value, "on") == 0;
    return false;
}

void vs_copy_sites_fill(struct vs_report *report, const struct vs_copy_calls *calls,
                        const struct vs_summary *summary)
{
    struct vs_wrappers none = {0};
    struct vs_summary plain = *summary; /* functions that allocate are not those that copy */
    plain.wrappers = &none;
    report->copy_sites_known = !report->part.window && !report->part.moment && recorded_calls(report);
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
    vs_map_free(&calls->by_call);
    vs_map_free(&calls->by_row);
    free(calls->calls);
    free(calls->rows);
}
