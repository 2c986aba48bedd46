/* SPDX-License-Identifier: Apache-2.0
 *
 * The state of a watched process as figures. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/state/user_level.h"
#include "analysis/watch/watch_internal.h"
#include "base/reading/vs_xalloc.h"
#include "base/vs_clock.h"
#include "base/vs_posix_name.h"

static uint64_t limit_of(const struct vs_watch *w, const struct vs_account *account)
{
    if (!w->limited || account->device >= VS_LIMIT_DEVICES_MAX)
        return 0;
    uint64_t bytes = vs_limit_bytes(&w->limit, (uint32_t)account->device, account->total_bytes);
    return bytes == VS_LIMIT_NONE ? 0 : bytes;
}

/* --- a device --- */

static void fill_use(struct vs_watch *w, unsigned account, struct vs_watch_device *out)
{
    uint64_t now = vs_watch_now_ns(w);
    const struct vs_account *a = w->replay->accounts[account];
    const struct vs_user_sums sums = vs_user_sums(w->replay, account);
    out->device = a->device;
    out->name = vs_reader_string(w->replay->reader, a->name);
    out->simulated = a->simulated != 0;
    out->level = sums.level;
    out->allocated = sums.allocated;
    out->peak = sums.peak->bytes > sums.allocated ? sums.peak->bytes : sums.allocated;
    out->reserved = a->sums.now.reserved;
    out->peak_reserved = a->sums.peak.reserved;
    out->used_known = a->sample_total != 0;
    out->used = a->sample_total > a->sample_free ? a->sample_total - a->sample_free : 0;
    out->total = a->sample_total ? a->sample_total : a->total_bytes;
    out->limit_bytes = limit_of(w, a);
    uint64_t in_use = sums.level == VS_LEVEL_FRAMEWORK
                          ? sums.tensors + (a->sums.now.allocated - sums.backing)
                          : a->sums.now.allocated;
    out->cached = out->reserved > in_use ? out->reserved - in_use : 0;
    if (w->history[account].period_ns) /* the level has not changed since */
        vs_history_level(&w->history[account], now, w->history[account].level);
    out->history = &w->history[account];
    vs_history_rate(out->history, now, &out->bytes_per_second, &out->allocs_per_second);
}

/* The next pass begins when ten times as long has passed as this one took, from *begin_ns* until now. */
static uint64_t next_pass_ns(uint64_t begin_ns)
{
    uint64_t now = vs_clock_ns();
    return now + (now - begin_ns) * 10;
}

/* --- the process --- */

static void describe_ending(const struct vs_watch *w, char *out)
{
    const struct vs_event *end = &w->replay->end;
    unsigned long long status = end->end.status;
    const char *name = vs_signal_name(status);
    enum vs_end_reason reason = (enum vs_end_reason)end->end.reason;
    vs_reader_condition(w->replay->reader, out);
    if (!w->replay->has_end)
        return;
    if (reason == VS_END_EXIT)
        snprintf(out, VS_READER_WHY_MAX, "the program exited with status %llu", status);
    else if (reason == VS_END_EXEC)
        snprintf(out, VS_READER_WHY_MAX, "the process started another program (exec)");
    else if (reason == VS_END_COPY)
        snprintf(out, VS_READER_WHY_MAX, "a copy that the program made while it ran");
    else if (reason == VS_END_SIGNAL || (reason == VS_END_KILLED && status))
        snprintf(out, VS_READER_WHY_MAX, "the program was killed by signal %llu%s%s%s", status,
                 name ? " (SIG" : "", name ? name : "", name ? ")" : "");
}

static void fill_process(const struct vs_watch *w, struct vs_watch_view *out)
{
    const struct vs_replay *replay = w->replay;
    const struct vs_reader *reader = replay->reader;
    const struct vs_event *process = replay->has_process ? &replay->process : NULL;
    uint64_t bytes = vs_reader_bytes(reader), at = vs_reader_position(reader);
    uint64_t start = vs_replay_start_ns(replay), now = vs_watch_now_ns(w);
    out->pid = process ? process->process.pid : 0;
    out->exe = vs_reader_string(reader, process ? process->process.exe : 0);
    out->cmdline = vs_reader_string(reader, process ? process->process.cmdline : 0);
    out->path = w->path;
    out->running = !vs_watch_ended(w);
    out->complete = w->caught_up;
    out->read_share = bytes && !w->caught_up ? (double)at / (double)bytes : 1;
    *out->ending = 0;
    if (!out->running)
        describe_ending(w, out->ending);
    out->run_ns = start && now > start ? now - start : 0;
    out->events = replay->events;
    out->failures = replay->failure_total;
    out->sampled = replay->recording.min_size || replay->recording.sample > 1 ||
                   replay->recording.stage >= VS_RECORDING_TOTALS;
    out->host_bytes = replay->accounts[VS_HOST_INDEX]->sums.now.allocated;
}

void vs_watch_fill(struct vs_watch *w, bool exact, struct vs_watch_view *out)
{
    size_t count = w->replay->account_count;
    uint64_t begin = vs_clock_ns();
    fill_process(w, out);
    if (exact || begin >= w->next_growth_ns) {
        vs_watch_judge(w);
        w->next_growth_ns = next_pass_ns(begin);
    }
    const struct vs_watch_growth *growth = &w->growth;
    out->steps_source = growth->source;
    out->steps_begun = growth->begun;
    out->step_ns = growth->step_ns;
    out->step = growth->source == VS_STEPS_MARKED  ? w->replay->phases.steps.number
                : growth->source == VS_STEPS_FOUND ? growth->begun
                                                   : 0;
    begin = vs_clock_ns();
    bool holes = exact || begin >= w->next_holes_ns;
    if (count > out->device_count)
        out->devices = vs_xrealloc(out->devices, count, sizeof *out->devices);
    out->device_count = count;
    for (unsigned i = 0; i < count; i++) {
        struct vs_watch_device *device = &out->devices[i];
        *device = (struct vs_watch_device){0};
        fill_use(w, i, device);
        vs_watch_fill_growth(w, i, device);
        if (holes)
            vs_watch_fill_holes(w, i, &w->holes[i]);
        device->holes = w->holes[i];
        vs_watch_fill_sites(w, i, device);
    }
    if (holes)
        w->next_holes_ns = next_pass_ns(begin);
}

/* --- a view without its watch --- */

static const char *keep_text(char **to, const char *text)
{
    char *copy = *to;
    size_t bytes = strlen(text) + 1;
    memcpy(copy, text, bytes);
    *to += bytes;
    return copy;
}

void vs_watch_view_keep(struct vs_watch_view *view)
{
    size_t histories = view->device_count * sizeof *view->devices->history;
    size_t bytes = strlen(view->exe) + strlen(view->cmdline) + strlen(view->path) + 3;
    for (size_t i = 0; i < view->device_count; i++)
        bytes += strlen(view->devices[i].name) + 1;
    struct vs_memory_history *history = vs_xcalloc(1, histories + bytes);
    char *text = (char *)history + histories;
    for (size_t i = 0; i < view->device_count; i++) {
        history[i] = *view->devices[i].history;
        view->devices[i].history = &history[i];
        view->devices[i].name = keep_text(&text, view->devices[i].name);
    }
    view->exe = keep_text(&text, view->exe);
    view->cmdline = keep_text(&text, view->cmdline);
    view->path = keep_text(&text, view->path);
    free(view->kept);
    view->kept = history;
}

void vs_watch_view_free(struct vs_watch_view *view)
{
    free(view->devices);
    free(view->kept);
    *view = (struct vs_watch_view){0};
}
