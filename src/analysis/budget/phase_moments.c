/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. An allocation counts for the phase of the thread that made it and
 * for the phases around that, as the replay counts peaks. Phases are never removed, so that their
 * index in the replay is their index here. The open ranges of a thread are those that the replay
 * keeps: its limits of depth and number bound the memory. */
#include "analysis/budget/phase_moments.h"

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

struct vs_phase_moments {
    struct vs_phase_row *rows;
    struct phase_name *names;
    size_t count, capacity, name_capacity;
    struct phase_thread *threads;
    size_t thread_count, thread_capacity;
    struct vs_map by_tid; /* tid + 1 -> index of the thread + 1 */
    struct vs_arena memory;
    bool reports[VS_DEVICES_MAX]; /* a framework reports the account's memory */
    bool full, failed;
    struct vs_place after_last; /* vs_phases.after_last */
};

struct vs_phase_moments *vs_phase_moments_open(void)
{
    return calloc(1, sizeof(struct vs_phase_moments));
}

static const char *keep(struct vs_phase_moments *moments, const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = vs_arena_alloc(&moments->memory, bytes);
    moments->failed |= !copy;
    return copy ? memcpy(copy, text, bytes) : "";
}

/* The whole path is the name of the phase in budgets and baselines: names of tests are long, and
 * often differ only at their end. */
static const char *path_of(struct vs_phase_moments *moments, const struct vs_phase *phase)
{
    char text[PATH_TEXT_MAX];
    const char *around = phase->parent ? moments->rows[phase->parent].path : "";
    snprintf(text, sizeof text, "%s%s%s", around, *around ? " / " : "", phase->name ? phase->name : "");
    return keep(moments, vs_text_clean(text));
}

static void add_phases(struct vs_phase_moments *moments, const struct vs_replay *replay)
{
    size_t count = replay->phases.count;
    if (vs_vec_grow(&moments->rows, &moments->capacity, count, sizeof *moments->rows) ||
        vs_vec_grow(&moments->names, &moments->name_capacity, count, sizeof *moments->names)) {
        moments->failed = true;
        return;
    }
    for (; moments->count < count; moments->count++) {
        const struct vs_phase *phase = &replay->phases.items[moments->count];
        const char *path = path_of(moments, phase), *around = moments->rows[phase->parent].path;
        size_t before = phase->parent ? strlen(around) + strlen(" / ") : 0;
        moments->rows[moments->count] = (struct vs_phase_row){
            .path = path, .nested = phase->parent != 0,
            .name = before < strlen(path) ? path + before : ""};
        moments->names[moments->count] = (struct phase_name){
            .name = keep(moments, phase->name ? phase->name : ""), .is_step = phase->is_step,
            .prefix = keep(moments, phase->prefix ? phase->prefix : ""),
            .unnumbered = phase->prefix == phase->name, .parent = phase->parent};
    }
}

static struct vs_phase_device *device_of(struct vs_phase_moments *moments, uint32_t phase,
                                         unsigned account)
{
    struct vs_phase_row *row = &moments->rows[phase];
    if (row->count <= account) { /* no more than needed: there may be very many phases */
        struct vs_phase_device *larger = realloc(row->devices, (account + 1) * sizeof *larger);
        if (!larger) {
            moments->failed = true;
            return NULL;
        }
        memset(&larger[row->count], 0, (account + 1 - row->count) * sizeof *larger);
        row->devices = larger;
        row->count = account + 1;
    }
    return &row->devices[account];
}

static void raise(struct vs_phase_moments *moments, const struct vs_replay *replay, uint32_t phase,
                  struct vs_place place, unsigned account)
{
    struct vs_phase_device *device = device_of(moments, phase, account);
    const struct vs_account *sums = replay->accounts[account];
    if (!device || !sums)
        return;
    uint64_t start = vs_replay_start_ns(replay), allocated = sums->sums.now.allocated;
    uint64_t now[3] = {vs_user_sums(replay, account).allocated, sums->sums.now.requested,
                       sums->sums.now.reserved};
    for (int m = 0; m < 3; m++)
        if (now[m] > device->peak[m].bytes ||
            (m == VS_METRIC_RESERVED && now[m] == device->peak[m].bytes && allocated > device->peak[m].allocated))
            device->peak[m] = (struct vs_phase_moment){
                .bytes = now[m], .allocated = allocated, .event = replay->events, .place = place,
                .time_ns = replay->now_ns > start ? replay->now_ns - start : 0};
}

static void raise_all(struct vs_phase_moments *moments, const struct vs_replay *replay,
                      struct vs_place place, unsigned account)
{
    for (uint32_t phase = place.phase; phase && phase < moments->count;
         phase = moments->names[phase].parent)
        raise(moments, replay, phase, place, account);
}

static struct phase_thread *thread_of(struct vs_phase_moments *moments, uint32_t tid)
{
    const uint64_t *found = vs_map_get(&moments->by_tid, (uint64_t)tid + 1);
    if (found)
        return &moments->threads[*found - 1];
    if (vs_vec_grow(&moments->threads, &moments->thread_capacity, moments->thread_count + 1,
                    sizeof *moments->threads) ||
        vs_map_put(&moments->by_tid, (uint64_t)tid + 1, moments->thread_count + 1)) {
        moments->failed = true;
        return NULL;
    }
    return &moments->threads[moments->thread_count++];
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

static void opened(struct vs_phase_moments *moments, const struct vs_replay *replay, uint32_t tid,
                   uint64_t domain)
{
    size_t kept = kept_ranges(replay, tid);
    struct phase_thread *thread = kept ? thread_of(moments, tid) : NULL;
    if (!thread || thread->count >= kept)
        return; /* the range is not kept, so it has no phase */
    unsigned accounts = replay->account_count < VS_DEVICES_MAX ? replay->account_count : VS_DEVICES_MAX;
    struct vs_place place = vs_phases_place(&replay->phases, tid);
    struct phase_range_open range = {.phase = place.phase, .accounts = accounts, .domain = domain,
                                     .time_ns = replay->now_ns,
                                     .allocated = calloc(accounts + 1, sizeof(uint64_t))};
    if (!range.allocated || vs_vec_grow(&thread->ranges, &thread->capacity, thread->count + 1,
                                        sizeof *thread->ranges)) {
        free(range.allocated);
        moments->failed = true;
        return;
    }
    thread->ranges[thread->count++] = range;
    for (unsigned a = 0; a < accounts; a++) {
        range.allocated[a] = vs_user_sums(replay, a).allocated;
        raise_all(moments, replay, place, a);
    }
}

static void note_kept(struct vs_phase_moments *moments, const struct vs_replay *replay,
                      const struct phase_range_open *range)
{
    uint64_t start = vs_replay_start_ns(replay);
    for (unsigned a = 0; a < replay->account_count && a < VS_DEVICES_MAX; a++) {
        struct vs_phase_device *device = device_of(moments, range->phase, a);
        uint64_t now = vs_user_sums(replay, a).allocated;
        uint64_t before = a < range->accounts ? range->allocated[a] : 0;
        uint64_t kept = now > before ? now - before : 0;
        if (!device || kept <= device->kept)
            continue;
        device->kept = kept;
        device->kept_event = replay->events;
        device->kept_from_ns = range->time_ns;
        device->kept_ns = replay->now_ns > start ? replay->now_ns - start : 0;
    }
}

/* The replay has closed the innermost range of *domain*, unless that was not one that it keeps. */
static void closed(struct vs_phase_moments *moments, const struct vs_replay *replay, uint32_t tid,
                   uint64_t domain)
{
    size_t kept = kept_ranges(replay, tid);
    struct phase_thread *thread = thread_of(moments, tid);
    if (!thread || thread->count <= kept)
        return;
    size_t at = thread->count;
    while (at > 0 && thread->ranges[at - 1].domain != domain)
        at--;
    if (!at)
        return;
    note_kept(moments, replay, &thread->ranges[at - 1]);
    free(thread->ranges[at - 1].allocated);
    thread->count--;
    memmove(&thread->ranges[at - 1], &thread->ranges[at], (thread->count - (at - 1)) * sizeof *thread->ranges);
}

/* Until a framework reports its first block, the memory below its blocks counts in their place. */
static void follow_framework(struct vs_phase_moments *moments, const struct vs_replay *replay)
{
    for (unsigned a = 0; a < replay->account_count && a < VS_DEVICES_MAX; a++) {
        const struct vs_user_account *user = &replay->accounts[a]->user;
        if (moments->reports[a] || !user->reports)
            continue;
        moments->reports[a] = true;
        for (size_t i = 0; i < moments->count; i++) {
            struct vs_phase_row *row = &moments->rows[i];
            uint64_t *bytes = a < row->count ? &row->devices[a].peak[VS_METRIC_ALLOCATED].bytes : NULL;
            if (bytes)
                *bytes = *bytes > user->backing ? *bytes - user->backing : 0;
        }
    }
}

void vs_phase_moments_observe(void *context, const struct vs_replay *replay,
                              const struct vs_event *event)
{
    struct vs_phase_moments *moments = context;
    moments->full |= replay->phases.count >= VS_PHASES_MAX;
    if (moments->failed || replay->phases.count < 2)
        return;
    if (moments->count < replay->phases.count)
        add_phases(moments, replay);
    if (moments->failed)
        return;
    follow_framework(moments, replay);
    moments->after_last = replay->phases.after_last;
    if (event->kind == VS_EVENT_range_push)
        opened(moments, replay, event->tid, event->range_push.domain);
    else if (event->kind == VS_EVENT_range_pop)
        closed(moments, replay, event->tid, event->range_pop.domain);
    else if (vs_event_has(event, VS_PROPERTY_ALLOCATES) || event->kind == VS_EVENT_unrecorded)
        for (unsigned a = 0; a < replay->account_count && a < VS_DEVICES_MAX; a++)
            raise_all(moments, replay, vs_phases_place(&replay->phases, event->tid), a);
}

const struct vs_phase_row *vs_phase_moments_rows(const struct vs_phase_moments *moments,
                                                 size_t *count)
{
    *count = moments->count;
    return moments->failed ? NULL : moments->rows;
}

bool vs_phase_moments_full(const struct vs_phase_moments *moments)
{
    return moments->full;
}

char *vs_phase_moments_place(const struct vs_phase_moments *moments,
                             const struct vs_phase_moment *moment, char *out)
{
    uint32_t chain[VS_RANGE_DEPTH_MAX];
    const struct vs_place place = moment->place;
    size_t count = 0, used = 0;
    *out = 0;
    if (!place.phase && place.step_known)
        snprintf(out, VS_PLACE_TEXT_MAX, "step %llu", (unsigned long long)place.step);
    for (uint32_t p = place.phase; p && p < moments->count && count < VS_RANGE_DEPTH_MAX;
         p = moments->names[p].parent) {
        if (p == moments->after_last.phase && place.step_known && place.step == moments->after_last.step)
            return strcpy(out, VS_AFTER_LAST_STEP);
        chain[count++] = p;
    }
    while (count-- > 0 && used < VS_PLACE_TEXT_MAX) {
        const struct phase_name *name = &moments->names[chain[count]];
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

void vs_phase_moments_close(struct vs_phase_moments *moments)
{
    if (!moments)
        return;
    for (size_t i = 0; i < moments->count; i++)
        free(moments->rows[i].devices);
    free(moments->rows);
    free(moments->names);
    for (size_t t = 0; t < moments->thread_count; t++) {
        for (size_t i = 0; i < moments->threads[t].count; i++)
            free(moments->threads[t].ranges[i].allocated);
        free(moments->threads[t].ranges);
    }
    free(moments->threads);
    vs_map_free(&moments->by_tid);
    vs_arena_free_all(&moments->memory);
    free(moments);
}
