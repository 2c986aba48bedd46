/* SPDX-License-Identifier: Apache-2.0
 *
 * Follows the events of a replay: counts requests, updates the floor of the call site and of the
 * account, and the steps. The loop is searched at the end, when all requests are still there; in a
 * longer trace when the first is about to be dropped, and whenever there are four times as many
 * requests as at the last search, so that its cost per request is small; from then on steps are known
 * as they begin. */
#include "analysis/growth/growth.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/growth/growth_internal.h"
#include "analysis/state/replay_internal.h"
#include "analysis/state/user_level.h"
#include "base/reading/vs_xalloc.h"

#define SEARCH_FACTOR 4u /* so many times the requests of the last search: the next one */

/* Live bytes of an account at the user's level. */
static uint64_t level_of(const struct vs_replay *replay, unsigned account)
{
    const struct vs_account *a = account == VS_ACCOUNT_NONE ? NULL : replay->accounts[account];
    return !a                ? 0
           : a->user.reports ? vs_user_allocated(a)
                             : a->sums.now.allocated;
}

void vs_growth_open(const struct vs_replay *replay, struct vs_growth_tracker **out)
{
    struct vs_growth_tracker *tracker = vs_xcalloc(1, sizeof *tracker);
    tracker->replay = replay;
    tracker->marks_begun = replay->phases.steps.begun;
    tracker->marked_account = VS_ACCOUNT_NONE;
    tracker->search_at = VS_LOOP_REQUESTS_MAX;
    vs_steps_clear(&tracker->marked);
    vs_steps_clear(&tracker->found);
    for (unsigned i = 0; i <= VS_DEVICES_MAX; i++) {
        uint64_t level = replay->accounts[i] ? level_of(replay, i) : 0;
        vs_floors_reset(&tracker->accounts[i], level, 0);
    }
    for (size_t i = 0; i < replay->sites.count; i++)
        vs_floors_reset(vs_floors_row(&tracker->floors, i), replay->sites.items[i].live_bytes, 0);
    *out = tracker;
}

/* Makes the array at *array* one of its own. */
static void copy_array(void *array, size_t capacity, size_t element)
{
    void *old, *copy;
    memcpy(&old, array, sizeof old);
    copy = memcpy(vs_xcalloc(capacity + 1, element), old ? old : "", capacity * element);
    memcpy(array, &copy, sizeof copy);
}

struct vs_growth_tracker *vs_growth_copy(const struct vs_growth_tracker *tracker)
{
    struct vs_growth_tracker *copy = memcpy(vs_xcalloc(1, sizeof *copy), tracker, sizeof *copy);
    struct vs_floors *floors = &copy->floors;
    copy_array(&floors->rows, floors->capacity, sizeof *floors->rows);
    copy_array(&floors->series, floors->series_capacity, sizeof *floors->series);
    copy_array(&copy->marked.items, copy->marked.capacity, sizeof *copy->marked.items);
    copy_array(&copy->found.items, copy->found.capacity, sizeof *copy->found.items);
    copy_array(&copy->requests.items, copy->requests.capacity, sizeof *copy->requests.items);
    copy_array(&copy->site_rows, copy->site_capacity, sizeof *copy->site_rows);
    copy_array(&copy->row_of, copy->row_of_capacity, sizeof *copy->row_of);
    return copy;
}

void vs_growth_close(struct vs_growth_tracker *tracker)
{
    if (!tracker)
        return;
    vs_floors_free(&tracker->floors);
    vs_steps_free(&tracker->marked);
    vs_steps_free(&tracker->found);
    vs_loop_free(&tracker->requests);
    free(tracker->site_rows);
    free(tracker->row_of);
    free(tracker);
}

/* A request of any account begins the next window when the current one is full. */
static inline void count_request(struct vs_growth_tracker *tracker)
{
    const struct vs_replay *replay = tracker->replay;
    if (vs_floors_due(&tracker->floors))
        vs_floors_next(&tracker->floors, replay->events, replay->now_ns, tracker->freed,
                       tracker->accounts, VS_DEVICES_MAX + 1);
    tracker->floors.requests++;
}

/* The steps of the kept requests. */
static void rebuild_steps(struct vs_growth_tracker *tracker)
{
    const struct vs_loop_requests *requests = &tracker->requests;
    const struct vs_loop *loop = &tracker->loop;
    struct vs_step_rows *rows = &tracker->found;
    uint64_t oldest = requests->total - requests->count;
    size_t first = 0; /* kept request that may belong to the loop: one repetition before its
                       * first mark */
    struct vs_loop_place place = {.marked = false};
    for (size_t i = 0; i < requests->count && !place.marked; i++) {
        const struct vs_loop_request *request = vs_loop_at(requests, i);
        vs_loop_begins(loop, &place, i, request->site, request->size);
        first = place.marked && i > 2 * loop->usual ? i - (size_t)(2 * loop->usual) : 0;
    }
    tracker->place = (struct vs_loop_place){.due = loop->begin != loop->site};
    for (size_t i = first; i < requests->count; i++) {
        const struct vs_loop_request *request = vs_loop_at(requests, i);
        if (request->account != loop->account)
            continue;
        if (vs_loop_begins(loop, &tracker->place, oldest + i, request->site, request->size))
            vs_steps_begin(rows, request->event, request->time_ns, request->level);
        vs_steps_request(rows, request->level + request->size, request->size);
    }
    /* steps before the requests that are kept */
    uint64_t all = tracker->replay->sites.items[loop->site].allocs;
    if (oldest && !loop->sized && all > rows->begun) {
        uint64_t earlier = all - rows->begun;
        rows->begun += earlier;
        rows->done += earlier;
        rows->first_number += earlier;
    }
}

void vs_growth_search(struct vs_growth_tracker *tracker)
{
    const struct vs_loop_requests *requests = &tracker->requests;
    struct vs_loop_place place = {.marked = false};
    struct vs_loop found;
    uint64_t steps = 0;
    vs_loop_find(requests, &found);
    tracker->searched = requests->total;
    tracker->search_at = SEARCH_FACTOR * tracker->searched;
    /* Where the known loop still repeats as often as *found* does its steps are kept, because they
     * go back further. */
    bool known = requests->total != requests->count && tracker->loop.found && found.found;
    for (size_t i = 0; known && i < requests->count; i++) {
        const struct vs_loop_request *request = vs_loop_at(requests, i);
        steps += vs_loop_begins(&tracker->loop, &place, i, request->site, request->size);
    }
    if (known && steps * 10 >= found.repeats * 9 && steps * 9 <= found.repeats * 10)
        return;
    tracker->loop = found;
    vs_steps_clear(&tracker->found);
    if (found.found)
        rebuild_steps(tracker);
}

/* A request of *size* bytes at *site*, which the replay has applied. */
static void add_request(struct vs_growth_tracker *tracker, uint32_t site, unsigned account,
                        uint64_t level, uint64_t size, uint32_t thread)
{
    const struct vs_replay *replay = tracker->replay;
    uint64_t before = level > size ? level - size : 0;
    if (tracker->loop.found &&
        vs_loop_begins(&tracker->loop, &tracker->place, tracker->requests.total, site, size))
        vs_steps_begin(&tracker->found, replay->events, replay->now_ns, before);
    if (account == tracker->loop.account)
        vs_steps_request(&tracker->found, level, size);
    const struct vs_loop_request request = {replay->events, replay->now_ns, before, size, site,
                                            account, thread & 0xffffff};
    vs_loop_add(&tracker->requests, &request);
    if (tracker->requests.total >= tracker->search_at)
        vs_growth_search(tracker);
}

static void follow_marks(struct vs_growth_tracker *tracker)
{
    const struct vs_replay *replay = tracker->replay;
    const struct vs_steps *steps = &replay->phases.steps;
    if (replay->step_ended)
        vs_steps_end(&tracker->marked, level_of(replay, tracker->marked_account));
    if (steps->begun < tracker->marks_begun)
        vs_steps_withdraw(&tracker->marked);
    if (steps->begun > tracker->marks_begun) {
        if (tracker->marked.begun == 0) {
            tracker->marked.first_number = steps->number;
            vs_loop_free(&tracker->requests);
            tracker->loop = (struct vs_loop){.found = false};
            tracker->searched = 0; /* requests count from here if the mark is withdrawn */
            tracker->search_at = VS_LOOP_REQUESTS_MAX;
        }
        /* the account whose bytes the marked steps describe: the busiest device when the first
         * begins */
        unsigned account = VS_HOST_INDEX;
        for (unsigned i = 0; i < replay->account_count; i++)
            if (account == VS_HOST_INDEX || replay->accounts[i]->sums.peak.allocated >
                                                replay->accounts[account]->sums.peak.allocated)
                account = i;
        tracker->marked_account = account;
        tracker->marked_reports = replay->accounts[account] && replay->accounts[account]->user.reports;
        vs_steps_begin(&tracker->marked, replay->events, replay->now_ns, level_of(replay, account));
    }
    tracker->marks_begun = steps->begun;
}

void vs_growth_follow_all(struct vs_growth_tracker *tracker)
{
    const struct vs_replay *replay = tracker->replay;
    for (size_t i = 0; i < replay->sites.count; i++) {
        struct vs_floor_row *row = vs_floors_row(&tracker->floors, i);
        uint64_t live = replay->sites.items[i].live_bytes;
        if (row->live != live)
            vs_floors_change(&tracker->floors, row, live, false);
    }
    for (unsigned i = 0; i <= VS_DEVICES_MAX; i++)
        if (replay->accounts[i] && tracker->accounts[i].live != level_of(replay, i))
            vs_floors_change(&tracker->floors, &tracker->accounts[i], level_of(replay, i), false);
}

static void follow_block(struct vs_growth_tracker *tracker, const struct vs_event *event)
{
    const struct vs_replay *replay = tracker->replay;
    const struct vs_site *site = &replay->sites.items[replay->changed_site];
    bool request = event->kind == VS_EVENT_alloc || event->kind == VS_EVENT_framework_alloc;
    unsigned account = site->device;
    const struct vs_account *a = replay->accounts[account];
    /* vs_user_has_site and vs_user_sums for every block of a trace */
    bool counts = a->user.reports ? !site->backing : site->level != VS_LEVEL_FRAMEWORK;
    uint64_t level = a->user.reports ? vs_user_allocated(a) : a->sums.now.allocated;
    if (request && counts)
        count_request(tracker);
    /* the step in progress may begin before the program uses a device, or PyTorch */
    if (tracker->marked_account == VS_HOST_INDEX && account != VS_HOST_INDEX) {
        tracker->marked_account = account;
        tracker->marked_reports = false;
        if (tracker->marked.open) { /* nothing was allocated before */
            struct vs_growth_step *row = &tracker->marked.items[tracker->marked.count - 1];
            row->begin_bytes = row->end_bytes = row->peak_bytes = row->requested_bytes = 0;
        }
    }
    if (account == tracker->marked_account && !tracker->marked_reports && a->user.reports) {
        tracker->marked_reports = true;
        vs_steps_lower(&tracker->marked, a->user.backing);
    }
    struct vs_floor_row *row = vs_floors_row(&tracker->floors, replay->changed_site);
    uint64_t size = site->live_bytes > row->live ? site->live_bytes - row->live : 0;
    if (counts && row->live > site->live_bytes)
        tracker->freed += row->live - site->live_bytes;
    vs_floors_change(&tracker->floors, row, site->live_bytes, request);
    if (!counts)
        return;
    vs_floors_change(&tracker->floors, &tracker->accounts[account], level, request);
    if (!request)
        return;
    if (tracker->marked.begun == 0) {
        add_request(tracker, replay->changed_site, account, level, size, event->tid);
        return;
    }
    if (account == tracker->marked_account)
        vs_steps_request(&tracker->marked, level, size);
}

enum vs_err vs_growth_observe(void *context, struct vs_replay *replay, const struct vs_event *event)
{
    struct vs_growth_tracker *tracker = context;
    if (replay->changed_site != VS_SITE_NONE && event->kind != VS_EVENT_context) {
        follow_block(tracker, event);
        return VS_OK;
    }
    if (event->kind == VS_EVENT_context) {
        vs_growth_follow_all(tracker);
        return VS_OK;
    }
    tracker->kernels += event->kind == VS_EVENT_kernel;
    if (event->kind == VS_EVENT_alloc_failed || event->kind == VS_EVENT_framework_oom)
        count_request(tracker);
    if (replay->step_ended || replay->phases.steps.begun != tracker->marks_begun)
        follow_marks(tracker);
    return VS_OK;
}
