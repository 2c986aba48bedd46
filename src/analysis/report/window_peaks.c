/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. A window is open from the first event at or after its begin to the last one at or before
 * its end. The second reading goes from one time to the next: the begins and the peaks of all windows, in
 * the order of their events. What is live at a begin is kept until the peak of the same window. */
#include "analysis/report/window_peaks.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/report/summary.h"
#include "analysis/state/user_level.h"
#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"

struct open_windows {
    struct vs_report_window *all;
    size_t count, next; /* next: the first that is not open yet */
    size_t *open, open_count;
    uint64_t *begins;   /* of each window: the number of events before it */
    struct vs_arena *memory;
    uint64_t start_ns;
    bool *backing;      /* of each call site, after the first reading: its memory held a framework's blocks */
};

/* The windows have rows for all devices of the replay. */
static void add_devices(struct open_windows *windows, const struct vs_replay *replay,
                        struct vs_report_window *window)
{
    if (window->count >= replay->account_count)
        return;
    struct vs_window_peak *rows = vs_xarena(windows->memory, replay->account_count * sizeof *rows);
    if (window->count)
        memcpy(rows, window->devices, window->count * sizeof *rows);
    for (unsigned a = (unsigned)window->count; a < replay->account_count; a++)
        rows[a] = (struct vs_window_peak){.device = replay->accounts[a]->device,
                                          .level = vs_user_level(replay, a)};
    window->devices = rows;
    window->count = replay->account_count;
}

/* Opens the windows that begin at or before *time_ns* of the trace's clock; UINT64_MAX: all. */
static void open_until(struct open_windows *windows, const struct vs_replay *replay, uint64_t time_ns)
{
    for (; windows->next < windows->count; windows->next++) {
        struct vs_report_window *window = &windows->all[windows->next];
        if (time_ns != UINT64_MAX && (time_ns < windows->start_ns || window->from_ns > time_ns - windows->start_ns))
            break;
        windows->begins[windows->next] = replay->events;
        windows->open[windows->open_count++] = windows->next;
        add_devices(windows, replay, window);
        for (size_t a = 0; a < window->count; a++) {
            uint64_t now = vs_user_sums(replay, (unsigned)a).allocated;
            window->devices[a].begin_bytes = window->devices[a].peak_bytes = window->devices[a].end_bytes = now;
        }
    }
}

static uint64_t without(uint64_t bytes, uint64_t part)
{
    return bytes > part ? bytes - part : 0;
}

/* Live memory of *account* that holds a framework's blocks, and was allocated before *time_ns* of the trace's clock. */
static uint64_t backing_before(const struct vs_replay *replay, unsigned account, uint64_t time_ns)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < replay->device_live.slots; i++) {
        const struct vs_live *live = &replay->device_live.items[i];
        if (live->used && live->counted && live->device == account && live->time_ns < time_ns &&
            replay->sites.items[live->site].backing)
            bytes += live->size;
    }
    return bytes;
}

/* Until a framework reports its first block, the memory below its blocks counts in their place. Then the part of it
 * that was live at the begin, and at the peak, is taken off. A peak that is not above the begin any more is there. */
static void follow_framework(const struct open_windows *windows, const struct vs_replay *replay, unsigned account,
                             const struct vs_report_window *window)
{
    struct vs_window_peak *row = &window->devices[account];
    uint64_t start = windows->start_ns;
    row->level = VS_LEVEL_FRAMEWORK;
    row->begin_bytes = without(row->begin_bytes, backing_before(replay, account, start + window->from_ns));
    row->peak_bytes = without(row->peak_bytes, backing_before(replay, account, start + row->peak_ns + 1));
    if (row->peak_event && row->peak_bytes > row->begin_bytes)
        return;
    row->peak_bytes = row->begin_bytes;
    row->peak_event = row->peak_ns = 0;
}

/* The first reading. Also finds the wrappers of the whole program. */
static void find_peaks(struct vs_reader *reader, struct open_windows *windows, struct vs_symbols *symbols,
                       struct vs_wrappers *wrappers)
{
    struct vs_replay *replay = vs_replay_open(reader);
    struct vs_event event;
    vs_reader_rewind(reader);
    while (vs_reader_next(reader, &event) == VS_OK) {
        size_t open = 0;
        for (size_t i = 0; i < windows->open_count; i++) {
            const struct vs_report_window *window = &windows->all[windows->open[i]];
            if (event.time_ns <= windows->start_ns ||
                event.time_ns - windows->start_ns <= window->to_ns)
                windows->open[open++] = windows->open[i];
        }
        windows->open_count = open;
        open_until(windows, replay, event.time_ns);
        vs_replay_event(replay, &event);
        for (size_t i = 0; i < windows->open_count; i++) {
            struct vs_report_window *window = &windows->all[windows->open[i]];
            add_devices(windows, replay, window);
            for (size_t a = 0; a < window->count; a++) {
                struct vs_window_peak *row = &window->devices[a];
                struct vs_user_sums sums = vs_user_sums(replay, (unsigned)a);
                if (row->level != sums.level)
                    follow_framework(windows, replay, (unsigned)a, window);
                row->end_bytes = sums.allocated;
                if (sums.allocated <= row->peak_bytes)
                    continue;
                row->peak_bytes = sums.allocated;
                row->peak_event = replay->events;
                row->peak_ns = without(replay->now_ns, windows->start_ns);
            }
        }
    }
    open_until(windows, replay, UINT64_MAX);
    const struct vs_summary summary = {.memory = windows->memory, .replay = replay, .symbols = symbols};
    vs_summary_wrappers(&summary, wrappers);
    windows->backing = vs_xarena(windows->memory, replay->sites.count + 1);
    for (uint32_t i = 0; i < replay->sites.count; i++)
        windows->backing[i] = replay->sites.items[i].backing;
    vs_replay_close(replay);
}

/* --- call sites --- */

/* A begin or a peak of one device in one window. */
struct window_point {
    uint64_t event;
    struct vs_window_peak *row;
    struct begin_sites {
        struct vs_summary_row *rows;
        size_t count;
    } *begin; /* the memory that was live at the begin; kept until the peak */
    unsigned account;
    bool peak;
    const bool *backing; /* NULL, or of each call site: it is left out */
};

/* What is live now, by call site, in the order of the sites. Where a framework reports later, what will hold its
 * blocks is left out. The caller frees the rows. */
static struct begin_sites live_sites(const struct vs_replay *replay,
                                     const struct window_point *point)
{
    uint64_t weight = vs_recording_weight(&replay->recording);
    struct begin_sites out = {0};
    const struct vs_live *live;
    size_t cursor = 0, n = 0, capacity = 0;
    while ((live = vs_user_live_next(replay, point->account, &cursor)) != NULL)
        if (!point->backing || !point->backing[live->site])
            VS_VEC_ADD(out.rows, n, capacity,
                       (struct vs_summary_row){live->size * weight, weight, live->site});
    VS_SORT(out.rows, n, VS_UP(site));
    for (size_t i = 0; i < n; i++) {
        if (out.count && out.rows[out.count - 1].site == out.rows[i].site) {
            out.rows[out.count - 1].bytes += out.rows[i].bytes;
            out.rows[out.count - 1].count += out.rows[i].count;
        } else {
            out.rows[out.count++] = out.rows[i];
        }
    }
    return out;
}

/* Lists the sites of *now* that hold more than in *before*, both in the order of sites. */
static void list_above(const struct vs_summary *summary, const struct begin_sites *now,
                       const struct begin_sites *before, struct vs_report_sites *out)
{
    struct vs_summary_row *above = vs_xcalloc(now->count + 1, sizeof *above);
    size_t count = 0;
    for (size_t i = 0, k = 0; i < now->count; i++) {
        const struct vs_summary_row *row = &now->rows[i];
        while (k < before->count && before->rows[k].site < row->site)
            k++;
        bool same = k < before->count && before->rows[k].site == row->site;
        uint64_t bytes = same ? before->rows[k].bytes : 0, blocks = same ? before->rows[k].count
            : 0;
        if (row->bytes > bytes)
            above[count++] = (struct vs_summary_row){row->bytes - bytes,
                                                     without(row->count, blocks), row->site};
    }
    vs_summary_rows(summary, above, count, out);
    free(above);
}

/* The second reading. */
static void list_sites(struct vs_reader *reader, struct vs_summary summary,
                       const struct open_windows *windows)
{
    size_t most = 0, count = 0;
    for (size_t i = 0; i < windows->count; i++)
        most += windows->all[i].count;
    struct begin_sites *begins = vs_xcalloc(most + 1, sizeof *begins);
    struct window_point *points = vs_xcalloc(2 * most + 1, sizeof *points);
    for (size_t i = 0; i < windows->count; i++) {
        for (size_t a = 0; a < windows->all[i].count; a++) {
            struct vs_window_peak *row = &windows->all[i].devices[a];
            if (!row->peak_event)
                continue;
            struct window_point point = {windows->begins[i], row, &begins[count / 2], (unsigned)a,
                                         false,
                                           row->level == VS_LEVEL_FRAMEWORK ? windows->backing : NULL};
            points[count++] = point;
            point.event = row->peak_event;
            point.peak = true;
            points[count++] = point;
        }
    }
    VS_SORT(points, count, VS_UP(event), VS_UP(peak));
    struct vs_replay *replay = count ? vs_replay_open(reader) : NULL;
    struct vs_event event;
    summary.replay = replay;
    vs_reader_rewind(reader);
    for (size_t i = 0; i < count; i++) {
        const struct window_point *point = &points[i];
        while (replay->events < point->event && vs_reader_next(reader, &event) == VS_OK)
            vs_replay_event(replay, &event);
        struct begin_sites now = live_sites(replay, point);
        if (!point->peak) {
            *point->begin = now;
            continue;
        }
        list_above(&summary, &now, point->begin, &point->row->more);
        list_above(&summary, point->begin, &now, &point->row->less);
        free(now.rows);
        free(point->begin->rows);
    }
    vs_replay_close(replay);
    free(begins);
    free(points);
}

void vs_window_peaks(struct vs_reader *reader, struct vs_arena *memory, uint64_t start_ns,
                     struct vs_report_window *windows, size_t count, size_t sites_max)
{
    struct open_windows work = {.all = windows, .count = count, .memory = memory,
                                .start_ns = start_ns, .open =
                                    vs_xcalloc(count + 1, sizeof *work.open),
                                .begins = vs_xcalloc(count + 1, sizeof *work.begins)};
    struct vs_symbols *symbols = vs_symbols_open(reader);
    struct vs_wrappers wrappers;
    VS_SORT(windows, count, VS_UP(from_ns), VS_UP(to_ns));
    find_peaks(reader, &work, symbols, &wrappers);
    const struct vs_summary summary = {.memory = memory, .symbols = symbols, .sites_max = sites_max,
                                       .wrappers = &wrappers};
    list_sites(reader, summary, &work);
    vs_symbols_close(symbols);
    free(work.open);
    free(work.begins);
}
