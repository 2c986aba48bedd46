/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. CUPTI delivers the record of a copy after the call; until then its stack waits under
 * its number. Stacks that read the same are one line. Calls, rows and lines are found by hash: a program
 * may copy from very many call sites. */
#include "analysis/budget/copy_lines.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/report/summary.h"
#include "analysis/state/vec.h"
#include "base/vs_map.h"

/* Copies of one stack. */
struct copied {
    uint64_t stack, api, device, bytes, count;
    enum vs_copy_way way;
};

struct copy_calls {
    struct vs_map waiting; /* number of the copy -> index of its call + 1 */
    struct copy_call {
        uint64_t stack, api;
    } *calls;
    size_t call_count, call_capacity;
    struct vs_map by_call; /* hash -> index of the call + 1 */
    struct copied *rows;
    size_t count, capacity;
    struct vs_map by_row;
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

bool vs_copy_goes(enum vs_copy_way way, uint64_t kind)
{
    switch (kind) {
    case VS_COPY_HTOD:
    case VS_COPY_HTOA: return way == VS_COPIES_ALL || way == VS_COPIES_TO_DEVICE;
    case VS_COPY_DTOH:
    case VS_COPY_ATOH: return way == VS_COPIES_ALL || way == VS_COPIES_TO_HOST;
    case VS_COPY_HTOH: return way == VS_COPIES_ALL;
    default: return way == VS_COPIES_ALL || way == VS_COPIES_ON_DEVICE;
    }
}

static bool recorded_calls(const struct vs_report *report)
{
    for (size_t i = 0; i < report->option_count; i++)
        if (strcmp(report->options[i].name, "copy_stacks") == 0)
            return strcmp(report->options[i].value, "on") == 0;
    return false;
}

static enum vs_err call_at(struct copy_calls *calls, uint64_t stack, uint64_t api, size_t *out)
{
    uint64_t key = hash_of(stack, api, 0);
    for (const uint64_t *found; (found = vs_map_get(&calls->by_call, key)) != NULL; key = next_key(key)) {
        *out = (size_t)*found - 1;
        if (calls->calls[*out].stack == stack && calls->calls[*out].api == api)
            return VS_OK;
    }
    *out = calls->call_count;
    enum vs_err err = vs_vec_grow(&calls->calls, &calls->call_capacity, *out + 1, sizeof *calls->calls);
    if (!err)
        err = vs_map_put(&calls->by_call, key, *out + 1);
    if (!err)
        calls->calls[calls->call_count++] = (struct copy_call){stack, api};
    return err;
}

static enum vs_err add_call(struct copy_calls *calls, const struct vs_event *event)
{
    size_t i;
    enum vs_err err = call_at(calls, event->copy_call.stack, event->copy_call.api, &i);
    return err || !event->copy_call.correlation
               ? err : vs_map_put(&calls->waiting, event->copy_call.correlation, i + 1);
}

static enum vs_err row_at(struct copy_calls *calls, const struct copied *like, size_t *out)
{
    uint64_t key = hash_of(like->stack, like->api, like->device << 8 ^ (uint64_t)like->way);
    for (const uint64_t *found; (found = vs_map_get(&calls->by_row, key)) != NULL; key = next_key(key)) {
        const struct copied *row = &calls->rows[*found - 1];
        *out = (size_t)*found - 1;
        if (row->stack == like->stack && row->api == like->api && row->device == like->device &&
            row->way == like->way)
            return VS_OK;
    }
    *out = calls->count;
    enum vs_err err = vs_vec_grow(&calls->rows, &calls->capacity, *out + 1, sizeof *calls->rows);
    if (!err)
        err = vs_map_put(&calls->by_row, key, *out + 1);
    if (!err)
        calls->rows[calls->count++] = *like;
    return err;
}

static enum vs_err add_copy(struct copy_calls *calls, const struct vs_event *event)
{
    uint64_t index = 0;
    enum vs_copy_way way = VS_COPIES_TO_DEVICE;
    if (!event->memcpy.correlation ||
        !vs_map_remove(&calls->waiting, event->memcpy.correlation, &index))
        return VS_OK;
    while (way < VS_COPIES_ON_DEVICE && !vs_copy_goes(way, event->memcpy.copy_kind))
        way++;
    const struct copy_call *call = &calls->calls[index - 1];
    struct copied like = {.stack = call->stack, .api = call->api, .device = event->memcpy.device, .way = way};
    size_t i;
    enum vs_err err = row_at(calls, &like, &i);
    if (err)
        return err;
    calls->rows[i].bytes += event->memcpy.bytes;
    calls->rows[i].count++;
    return VS_OK;
}

static enum vs_err read_calls(struct vs_measured *run, struct copy_calls *calls)
{
    struct vs_event event;
    enum vs_err err = vs_reader_rewind(run->reader);
    while (!err && (err = vs_reader_next(run->reader, &event)) == VS_OK) {
        if (event.kind == VS_EVENT_copy_call)
            err = add_call(calls, &event);
        else if (event.kind == VS_EVENT_memcpy)
            err = add_copy(calls, &event);
    }
    return err == VS_ERR_END ? VS_OK : err;
}

static int more_bytes(const void *a, const void *b)
{
    const struct vs_copy_line *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return x->count < y->count ? 1 : x->count > y->count ? -1 : 0;
}

/* Adds the copies of *from*, which *site* made, to the line that reads the same. */
static enum vs_err add_line(struct vs_map *by_text, struct vs_copy_line *lines, size_t *count,
                            const struct copied *from, const struct vs_report_site *site)
{
    uint64_t key = hash_of(vs_summary_text_hash(site), from->device, from->way);
    size_t at = *count;
    for (const uint64_t *found; (found = vs_map_get(by_text, key)) != NULL; key = next_key(key)) {
        const struct vs_copy_line *line = &lines[*found - 1];
        if (line->way == from->way && line->device == from->device &&
            vs_summary_same_text(&line->site, site)) {
            at = (size_t)*found - 1;
            break;
        }
    }
    if (at == *count) {
        lines[(*count)++] = (struct vs_copy_line){.way = from->way, .device = from->device, .site = *site};
        enum vs_err err = vs_map_put(by_text, key, at + 1);
        if (err)
            return err;
    }
    lines[at].bytes += from->bytes;
    lines[at].count += from->count;
    return VS_OK;
}

static enum vs_err name_lines(struct vs_measured *run, const struct vs_summary *summary,
                              const struct copy_calls *calls)
{
    struct vs_copy_line *lines = vs_arena_alloc(&run->memory, (calls->count + 1) * sizeof *lines);
    enum vs_err err = lines ? VS_OK : VS_ERR_NOMEM;
    struct vs_map by_text = {0};
    size_t count = 0;
    for (size_t i = 0; !err && i < calls->count; i++) {
        const struct copied *from = &calls->rows[i];
        struct vs_report_site site = {
            .level = VS_LEVEL_DEVICE, .stacks = 1,
            .api = vs_summary_copy(&run->memory, vs_reader_string(run->reader, from->api))};
        err = vs_summary_frames(summary, from->stack, 0, &site);
        if (!err)
            err = add_line(&by_text, lines, &count, from, &site);
    }
    vs_map_free(&by_text);
    qsort(lines, err ? 0 : count, sizeof *lines, more_bytes);
    run->copies = lines;
    run->copy_count = count;
    return err;
}

enum vs_err vs_copy_lines_read(struct vs_measured *run)
{
    struct copy_calls calls = {0};
    struct vs_replay *replay = NULL;
    struct vs_symbols *symbols = NULL;
    if (!recorded_calls(run->report))
        return VS_OK;
    enum vs_err err = read_calls(run, &calls);
    if (!err)
        err = vs_replay_open(run->reader, &replay);
    if (!err)
        err = vs_symbols_open(run->reader, &symbols);
    if (!err) {
        struct vs_wrappers none = {0};
        struct vs_summary summary = {.memory = &run->memory, .replay = replay, .symbols = symbols,
                                     .sites_max = calls.count, .wrappers = &none};
        err = name_lines(run, &summary, &calls);
    }
    run->copy_lines_known = !err;
    vs_symbols_close(symbols);
    vs_replay_close(replay);
    vs_map_free(&calls.waiting);
    vs_map_free(&calls.by_call);
    vs_map_free(&calls.by_row);
    free(calls.calls);
    free(calls.rows);
    return err;
}
