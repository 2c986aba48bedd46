/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. CUPTI delivers the record of a copy after the call; until then its stack waits under
 * its number. Stacks that read the same are one line. */
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
    struct copied *rows;
    size_t count, capacity;
};

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

/* Distinct calls are few: numbers of one program's lines. */
static enum vs_err add_call(struct copy_calls *calls, const struct vs_event *event)
{
    uint64_t stack = event->copy_call.stack, api = event->copy_call.api;
    size_t i = 0;
    while (i < calls->call_count && (calls->calls[i].stack != stack || calls->calls[i].api != api))
        i++;
    if (i == calls->call_count) {
        enum vs_err err = vs_vec_grow(&calls->calls, &calls->call_capacity, i + 1, sizeof *calls->calls);
        if (err)
            return err;
        calls->calls[calls->call_count++] = (struct copy_call){stack, api};
    }
    return event->copy_call.correlation ? vs_map_put(&calls->waiting, event->copy_call.correlation, i + 1)
                                        : VS_OK;
}

static enum vs_err add_copy(struct copy_calls *calls, const struct vs_event *event)
{
    uint64_t index = 0, device = event->memcpy.device;
    enum vs_copy_way way = VS_COPIES_TO_DEVICE;
    if (!event->memcpy.correlation ||
        !vs_map_remove(&calls->waiting, event->memcpy.correlation, &index))
        return VS_OK;
    while (way < VS_COPIES_ON_DEVICE && !vs_copy_goes(way, event->memcpy.copy_kind))
        way++;
    const struct copy_call *call = &calls->calls[index - 1];
    size_t i = 0;
    while (i < calls->count && (calls->rows[i].stack != call->stack || calls->rows[i].way != way ||
                                calls->rows[i].device != device))
        i++;
    if (i == calls->count) {
        enum vs_err err = vs_vec_grow(&calls->rows, &calls->capacity, i + 1, sizeof *calls->rows);
        if (err)
            return err;
        calls->rows[calls->count++] = (struct copied){.stack = call->stack, .api = call->api,
                                                      .device = device, .way = way};
    }
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

static enum vs_err name_lines(struct vs_measured *run, const struct vs_summary *summary,
                              const struct copy_calls *calls)
{
    struct vs_copy_line *lines = vs_arena_alloc(&run->memory, (calls->count + 1) * sizeof *lines);
    enum vs_err err = lines ? VS_OK : VS_ERR_NOMEM;
    size_t count = 0;
    for (size_t i = 0; !err && i < calls->count; i++) {
        const struct copied *from = &calls->rows[i];
        struct vs_report_site site = {
            .level = VS_LEVEL_DEVICE, .stacks = 1,
            .api = vs_summary_copy(&run->memory, vs_reader_string(run->reader, from->api))};
        err = vs_summary_frames(summary, from->stack, 0, &site);
        size_t same = 0;
        while (!err && same < count &&
               (lines[same].way != from->way || lines[same].device != from->device ||
                !vs_summary_same_text(&lines[same].site, &site)))
            same++;
        if (err)
            break;
        if (same == count)
            lines[count++] = (struct vs_copy_line){.way = from->way, .device = from->device, .site = site};
        lines[same].bytes += from->bytes;
        lines[same].count += from->count;
    }
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
    free(calls.calls);
    free(calls.rows);
    return err;
}
