/* SPDX-License-Identifier: Apache-2.0
 *
 * An allocation counts for the phase of the thread that made it and
 * for the phases around that, as the replay counts peaks. Phases are never removed, so that their
 * index in the replay is their index here. The open ranges of a thread are those that the replay
 * keeps: its limits of depth and number bound the memory. */
#include "analysis/budget/phase_peaks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/naming/name_text.h"
#include "analysis/state/user_level.h"
#include "base/reading/vs_vec.h"
#include "base/vs_map.h"

#define PATH_TEXT_MAX 8192 /* longer paths are cut */

/* An open range, with the memory in use when it was opened. */
struct phase_range_open {
    uint32_t phase;
    unsigned accounts;
    uint64_t domain, time_ns;
    uint64_t *allocated; /* by account */
};

struct phase_thread {
    struct phase_range_open *ranges; /* outermost first */
    size_t count, capacity;
};

/* As in struct vs_phase, which is freed before the sites at these times are read. */
struct phase_name {
    const char *name, *prefix;
    bool is_step, unnumbered; /* unnumbered: the program's name has no number */
    uint32_t parent;
};

struct vs_phase_peaks {
    struct vs_phase_row *rows;
    struct phase_name *names;
    size_t count, capacity, name_capacity;
    struct phase_thread *threads;
    size_t thread_count, thread_capacity;
    struct vs_map by_tid; /* tid + 1 -> index of the thread */
    struct vs_arena memory;
    bool reports[VS_DEVICES_MAX]; /* a framework reports the account's memory */
    bool full;
    struct vs_place after_last; /* vs_phases.after_last */
};

struct vs_phase_peaks *vs_phase_peaks_open(void)
{
    return vs_xcalloc(1, sizeof(struct vs_phase_peaks));
}

static const char *keep(struct vs_phase_peaks *peaks, const char *text)
{
    return vs_xarena_text(&peaks->memory, text);
}

/* The whole path is the name of the phase in budgets and baselines: names of tests are long, and
 * often differ only at their end. */
static const char *path_of(struct vs_phase_peaks *peaks, const struct vs_phase *phase)
{
    char text[PATH_TEXT_MAX];
    const char *around = phase->parent ? peaks->rows[phase->parent].path : "";
    snprintf(text, sizeof text, "%s%s%s", around, *around ? " / " : "", phase->name ? phase->name : "");
    return keep(peaks, vs_text_clean(text));
}

static struct vs_phase_device *device_of(struct vs_phase_peaks *peaks, uint32_t phase,
                                         unsigned account)
{
    struct vs_phase_row *row = &peaks->rows[phase];
    if (row->count <= account) { /* no more than needed: there may be very many phases */
        struct vs_phase_device *larger = vs_xrealloc(row->devices, account + 1, sizeof *larger);
        memset(&larger[row->count], 0, (account + 1 - row->count) * sizeof *larger);
        row->devices = larger;
        row->count = account + 1;
    }
    return &row->devices[account];
}

static void raise(struct vs_phase_peaks *peaks, const struct vs_replay *replay, uint32_t phase,
                  struct vs_place place, unsigned account)
{
    struct vs_phase_device *device = device_of(peaks, phase, account);
    const struct vs_account *sums = replay->accounts[account];
    if (!device || !sums)
        return;
    const struct vs_steps *steps = &replay->phases.steps;
    if (steps->open && (!device->before || device->raised_by != steps->time_ns)) {
        device->raised_by = steps->time_ns;
        device->before = device->before ? device->before : vs_xarena(&peaks->memory, sizeof device->peak);
        memcpy(device->before, device->peak, sizeof device->peak);
    }
    uint64_t allocated = sums->sums.now.allocated;
    uint64_t now[3] = {vs_user_sums(replay, account).allocated, sums->sums.now.requested,
                       sums->sums.now.reserved};
    for (int m = 0; m < 3; m++)
        if (now[m] > device->peak[m].bytes ||
            (m == VS_METRIC_RESERVED && now[m] == device->peak[m].bytes && allocated > device->peak[m].allocated))
            device->peak[m] = (struct vs_phase_peak){
                .bytes = now[m], .allocated = allocated, .event = replay->events, .place = place,
                .time_ns = vs_replay_since(replay, replay->now_ns)};
}

static void raise_all(struct vs_phase_peaks *peaks, const struct vs_replay *replay,
                      struct vs_place place, unsigned account)
{
    for (uint32_t phase = place.phase; phase && phase < peaks->count;
         phase = peaks->names[phase].parent)
        raise(peaks, replay, phase, place, account);
}

static struct phase_thread *thread_of(struct vs_phase_peaks *peaks, uint32_t tid)
{
    uint64_t number = vs_xmap_number(&peaks->by_tid, (uint64_t)tid + 1, peaks->thread_count);
    peaks->thread_count += number == peaks->thread_count;
    vs_vec_room(&peaks->threads, &peaks->thread_capacity, peaks->thread_count, sizeof *peaks->threads);
    return &peaks->threads[number];
}

/* How many open ranges of *tid* the replay keeps. */
static size_t kept_ranges(const struct vs_replay *replay, uint32_t tid)
{
    const uint64_t *found = vs_map_get(&replay->phases.by_tid, (uint64_t)tid + 1);
    if (!found)
        return 0;
    const struct vs_thread *thread = &replay->phases.threads[*found];
    return thread->depth < thread->capacity ? thread->depth : thread->capacity;
}

static void opened(struct vs_phase_peaks *peaks, const struct vs_replay *replay, uint32_t tid,
                   uint64_t domain)
{
    size_t kept = kept_ranges(replay, tid);
    struct phase_thread *thread = kept ? thread_of(peaks, tid) : NULL;
    if (!thread || thread->count >= kept)
        return; /* the range is not kept, so it has no phase */
    unsigned accounts = replay->account_count < VS_DEVICES_MAX ? replay->account_count : VS_DEVICES_MAX;
    const uint64_t *found = vs_map_get(&replay->phases.by_tid, (uint64_t)tid + 1);
    struct vs_place place = replay->phases.threads[*found].ranges[kept - 1].place;
    struct phase_range_open range = {.phase = place.phase, .accounts = accounts, .domain = domain,
                                     .time_ns = replay->now_ns,
                                     .allocated = vs_xcalloc(accounts + 1, sizeof(uint64_t))};
    VS_VEC_ADD(thread->ranges, thread->count, thread->capacity, range);
    for (unsigned a = 0; a < accounts; a++) {
        range.allocated[a] = vs_user_sums(replay, a).allocated;
        raise_all(peaks, replay, place, a);
    }
}

/* The replay has closed the innermost range of *domain*, unless that was not one that it keeps. */
static void closed(struct vs_phase_peaks *peaks, const struct vs_replay *replay, uint32_t tid,
                   uint64_t domain)
{
    size_t kept = kept_ranges(replay, tid);
    struct phase_thread *thread = thread_of(peaks, tid);
    if (thread->count <= kept)
        return;
    size_t at = thread->count;
    while (at > 0 && thread->ranges[at - 1].domain != domain)
        at--;
    if (!at)
        return;
    const struct phase_range_open *range = &thread->ranges[at - 1];
    for (unsigned a = 0; a < replay->account_count && a < VS_DEVICES_MAX; a++) {
        struct vs_phase_device *device = device_of(peaks, range->phase, a);
        uint64_t now = vs_user_sums(replay, a).allocated;
        uint64_t before = a < range->accounts ? range->allocated[a] : 0;
        if (!device || now <= before || now - before <= device->kept)
            continue;
        device->kept = now - before;
        device->kept_event = replay->events;
        device->kept_from_ns = range->time_ns;
        device->kept_ns = vs_replay_since(replay, replay->now_ns);
    }
    free(thread->ranges[at - 1].allocated);
    thread->count--;
    memmove(&thread->ranges[at - 1], &thread->ranges[at], (thread->count - (at - 1)) * sizeof *thread->ranges);
}

static enum vs_err observe(void *context, struct vs_replay *replay, const struct vs_event *event)
{
    struct vs_phase_peaks *peaks = context;
    peaks->full |= replay->phases.count >= VS_PHASES_MAX;
    if (replay->phases.count < 2 && !replay->phases.ranges_room)
        return VS_OK;
    if (peaks->count < replay->phases.count) {
        size_t count = replay->phases.count;
        vs_vec_room(&peaks->rows, &peaks->capacity, count, sizeof *peaks->rows);
        vs_vec_room(&peaks->names, &peaks->name_capacity, count, sizeof *peaks->names);
        for (; peaks->count < count; peaks->count++) {
            const struct vs_phase *phase = &replay->phases.items[peaks->count];
            const char *path = path_of(peaks, phase), *around = peaks->rows[phase->parent].path;
            size_t before = phase->parent ? strlen(around) + strlen(" / ") : 0;
            peaks->rows[peaks->count] = (struct vs_phase_row){
                .path = path, .nested = phase->parent != 0,
                .name = before < strlen(path) ? path + before : ""};
            peaks->names[peaks->count] = (struct phase_name){
                .name = keep(peaks, phase->name ? phase->name : ""), .is_step = phase->is_step,
                .prefix = keep(peaks, phase->prefix ? phase->prefix : ""),
                .unnumbered = phase->prefix == phase->name, .parent = phase->parent};
        }
    }
    /* Until a framework reports its first block, the memory below its blocks counts in their
     * place. */
    for (unsigned a = 0; a < replay->account_count && a < VS_DEVICES_MAX; a++) {
        const struct vs_user_account *user = &replay->accounts[a]->user;
        if (peaks->reports[a] || !user->reports)
            continue;
        peaks->reports[a] = true;
        for (size_t i = 0; i < peaks->count; i++) {
            struct vs_phase_row *row = &peaks->rows[i];
            uint64_t *bytes = a < row->count ? &row->devices[a].peak[VS_METRIC_ALLOCATED].bytes : NULL;
            if (bytes)
                *bytes = *bytes > user->backing ? *bytes - user->backing : 0;
        }
    }
    for (size_t i = 1; replay->phases.after_last.phase && !peaks->after_last.phase && i < peaks->count; i++)
        for (size_t a = 0; a < peaks->rows[i].count; a++) {
            struct vs_phase_device *device = &peaks->rows[i].devices[a];
            if (device->before && device->raised_by == replay->phases.steps.time_ns &&
                vs_phases_in(&replay->phases, (uint32_t)i, replay->phases.after_last.phase))
                memcpy(device->peak, device->before, sizeof device->peak);
        }
    peaks->after_last = replay->phases.after_last;
    if (event->kind == VS_EVENT_range_push)
        opened(peaks, replay, event->tid, event->range_push.domain);
    else if (event->kind == VS_EVENT_range_pop)
        closed(peaks, replay, event->tid, event->range_pop.domain);
    else if (vs_event_has(event, VS_PROPERTY_ALLOCATES) || event->kind == VS_EVENT_unrecorded)
        for (unsigned a = 0; a < replay->account_count && a < VS_DEVICES_MAX; a++)
            raise_all(peaks, replay, vs_phases_place(&replay->phases, event->tid), a);
    return VS_OK;
}

struct vs_observer vs_phase_peaks_observer(struct vs_phase_peaks *peaks)
{
    return (struct vs_observer){VS_KINDS_EVERY, NULL, observe, peaks};
}

const struct vs_phase_row *vs_phase_peaks_rows(const struct vs_phase_peaks *peaks,
                                                 size_t *count)
{
    *count = peaks->count;
    return peaks->rows;
}

bool vs_phase_peaks_full(const struct vs_phase_peaks *peaks)
{
    return peaks->full;
}

char *vs_phase_peaks_place(const struct vs_phase_peaks *peaks,
                             const struct vs_phase_peak *point, char *out)
{
    uint32_t chain[VS_RANGE_DEPTH_MAX];
    const struct vs_place place = point->place;
    size_t count = 0, used = 0;
    *out = 0;
    if (!place.phase && place.step_known)
        snprintf(out, VS_PLACE_TEXT_MAX, "step %llu", (unsigned long long)place.step);
    for (uint32_t p = place.phase; p && p < peaks->count && count < VS_RANGE_DEPTH_MAX;
         p = peaks->names[p].parent) {
        if (p == peaks->after_last.phase && place.step_known && place.step == peaks->after_last.step)
            return strcpy(out, VS_AFTER_LAST_STEP);
        chain[count++] = p;
    }
    while (count-- > 0 && used < VS_PLACE_TEXT_MAX) {
        const struct phase_name *name = &peaks->names[chain[count]];
        char number[32] = "";
        bool step = name->is_step && place.step_known;
        if (step)
            snprintf(number, sizeof number, "%s%llu", name->unnumbered ? " " : "",
                     (unsigned long long)place.step);
        int n = snprintf(out + used, VS_PLACE_TEXT_MAX - used, "%s%s%s", used ? " / " : "",
                         step ? name->prefix : name->name, number);
        used += n > 0 ? (size_t)n : 0;
    }
    return vs_text_clean(out);
}

void vs_phase_peaks_close(struct vs_phase_peaks *peaks)
{
    if (!peaks)
        return;
    for (size_t i = 0; i < peaks->count; i++)
        free(peaks->rows[i].devices);
    free(peaks->rows);
    free(peaks->names);
    for (size_t t = 0; t < peaks->thread_count; t++) {
        for (size_t i = 0; i < peaks->threads[t].count; i++)
            free(peaks->threads[t].ranges[i].allocated);
        free(peaks->threads[t].ranges);
    }
    free(peaks->threads);
    vs_map_free(&peaks->by_tid);
    vs_arena_free_all(&peaks->memory);
    free(peaks);
}
