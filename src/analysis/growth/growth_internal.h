/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of the growth tracker: floors, their judge, the loop and the steps; and its state, shared
 * by growth.c, which follows the events, and growth_rows.c, which makes the result. */
#ifndef VS_GROWTH_INTERNAL_H
#define VS_GROWTH_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/growth/growth.h"

/* The floor of live bytes: for each call site and account, the lowest live bytes in each of at most
 * 64 windows of the trace. Memory that is freed within a window does not show; what stays does.
 * All rows share the windows. They are counted in requests (allocations and failures), and double
 * in length whenever there would be more than 64, so that memory and cost do not depend on the
 * length of the trace. Frees after the last request do not count: they are the program's end. */

#define VS_FLOOR_WINDOWS 64u
#define VS_FLOOR_SERIES_MAX 131072u /* 64 MiB; rows beyond have no history */

struct vs_floor_row {
    uint64_t live;     /* after the row's latest change */
    uint64_t lowest;   /* in the current window, without `pending` */
    uint64_t pending;  /* lowest by the frees since the latest request; UINT64_MAX: none */
    uint64_t before;   /* live before these frees */
    uint64_t freed_at; /* the request count of the latest free */
    uint32_t window;   /* of the latest change */
    uint32_t series;   /* index + 1 of its history; 0: zero in all windows before; UINT32_MAX:
                        * not kept */
};

/* A window's begin. */
struct vs_floor_window {
    uint64_t request, event, time_ns;
    uint64_t freed; /* bytes freed before, of all accounts */
};

/* Zero-initialise. */
struct vs_floors {
    struct vs_floor_row *rows; /* by index of the call site */
    size_t count, capacity;
    uint64_t (*series)[VS_FLOOR_WINDOWS];
    size_t series_count, series_capacity;
    uint64_t requests; /* so far */
    uint64_t next_at;  /* the request that begins the next window */
    unsigned shift;    /* a window has 1 << shift requests */
    uint32_t window;   /* the current one */
    struct vs_floor_window windows[VS_FLOOR_WINDOWS];
};

/* vs_floors_row: the row of call site *index*, added when new, at 0 live bytes. Valid
 * until the next call. */
void vs_floors_add(struct vs_floors *floors, size_t index);
static inline struct vs_floor_row *vs_floors_row(struct vs_floors *floors, size_t index)
{
    if (index >= floors->count)
        vs_floors_add(floors, index);
    return &floors->rows[index];
}

/* vs_floors_next: begins the next window; *others* are rows outside the table. */
void vs_floors_next(struct vs_floors *floors, uint64_t event, uint64_t time_ns, uint64_t freed,
                    struct vs_floor_row *others, size_t other_count);

/* vs_floors_roll: brings *row*, last changed in an earlier window, to the current one. */
void vs_floors_roll(struct vs_floors *floors, struct vs_floor_row *row);

/* vs_floors_due: whether the request that is counted next begins a window. */
static inline bool vs_floors_due(const struct vs_floors *floors)
{
    return floors->requests == floors->next_at;
}

/* vs_floors_change: *live* bytes of *row* after a request or a free. */
static inline void vs_floors_change(struct vs_floors *floors, struct vs_floor_row *row,
                                    uint64_t live, bool request)
{
    if (row->window != floors->window)
        vs_floors_roll(floors, row);
    if (request || row->freed_at != floors->requests) {
        if (row->pending < row->lowest)
            row->lowest = row->pending;
        row->pending = UINT64_MAX;
        row->before = row->live;
    }
    if (!request) {
        row->pending = live;
        row->freed_at = floors->requests;
    }
    row->live = live;
}

/* vs_floors_read: the floors of *row* in windows 0 to floors->window. Returns the live bytes
 * before the frees after the last request. */
uint64_t vs_floors_read(const struct vs_floors *floors, const struct vs_floor_row *row,
                        uint64_t out[VS_FLOOR_WINDOWS]);

/* vs_floors_reset: a row that begins with *live* bytes. */
static inline void vs_floors_reset(struct vs_floor_row *row, uint64_t live, uint32_t window)
{
    *row = (struct vs_floor_row){.live = live, .lowest = live, .pending = UINT64_MAX,
                                 .freed_at = UINT64_MAX, .window = window};
}

void vs_floors_free(struct vs_floors *floors);

/* Judges the history of a call site's live bytes: does it grow, since when, until when, and how
 * sure is that. The history is the lowest live bytes in each step, or in a few periods of the trace
 * when there are no steps. What counts is the part that is never freed later: the lowest of all
 * later values. */

/* The periods in which histories are compared; the same for all call sites. Each has whole windows;
 * with steps, each but the first begins with the window in which a step begins. */
struct vs_trend_axis {
    size_t count;                           /* complete periods */
    uint32_t first[VS_FLOOR_WINDOWS + 1];   /* window of each one's begin; [count]: of the rest */
    double at[VS_FLOOR_WINDOWS + 1];        /* its begin, in steps or requests */
    uint32_t windows;                       /* with those of the rest, which is in progress */
    uint64_t warm_up; /* periods that count as the program's start */
};

struct vs_trend {
    enum vs_growth_class class;
    double confidence;
    size_t from, to;  /* periods of the first and of the last growth */
    uint64_t bytes;   /* grown between */
    uint64_t base;    /* what stayed before */
    double slope;     /* bytes for each step or request */
    size_t rises;     /* periods with growth */
    bool replaced;    /* a larger buffer replaces the one before: *slope* is the average */
};

/* vs_trend_sure: how sure it is that what rose *rises* times, and never fell, goes on rising. */
double vs_trend_sure(size_t rises);

/* vs_trend_axis_make: *steps_at*: steps begun before the begin of each window, and before the end
 * of the last; NULL without steps. */
void vs_trend_axis_make(const struct vs_floors *floors, const uint64_t *steps_at,
                        struct vs_trend_axis *out);

/* vs_trend_judge: *floor* is that of each window (vs_floors_read), *held* are the live bytes at the
 * end, *largest* the largest block. */
void vs_trend_judge(const struct vs_trend_axis *axis, const uint64_t *floor, uint64_t held, uint64_t largest,
                    struct vs_trend *out);

/* Finds the loop of a program, such as its training step, in its latest requests. Every call site
 * whose requests come at regular distances may be the loop's mark. Loops are nested: layers in
 * steps, steps between evaluations. A step is the shortest of them at whose begin the live memory
 * is back at its floor: within a step it rises (forward) and falls (backward). The mark is the call
 * site that requests first after the floor. Threads that take turns at a mark have loops of their own,
 * which are not found. */

struct vs_loop_request {
    uint64_t event, time_ns;
    uint64_t level; /* allocated by the account before the request */
    uint64_t size;
    uint32_t site;
    uint32_t account : 8, thread : 24;
};

/* The latest requests. Zero-initialise. */
struct vs_loop_requests {
    struct vs_loop_request *items; /* a ring once it has its full size */
    size_t count, capacity, first;
    uint64_t total; /* requests ever added */
};

/* vs_loop_grow: room for more requests; not more than VS_LOOP_REQUESTS_MAX. */
void vs_loop_grow(struct vs_loop_requests *requests);

/* vs_loop_add: adds a request; the oldest is dropped if there are too many. */
static inline void vs_loop_add(struct vs_loop_requests *requests,
                               const struct vs_loop_request *request)
{
    size_t at = requests->first;
    if (requests->count < VS_LOOP_REQUESTS_MAX) {
        if (requests->count == requests->capacity)
            vs_loop_grow(requests);
        at = requests->count++;
    } else {
        requests->first = (requests->first + 1) & (VS_LOOP_REQUESTS_MAX - 1);
    }
    requests->items[at] = *request;
    requests->total++;
}

/* vs_loop_at: request *index*, from 0 for the oldest kept. */
static inline const struct vs_loop_request *vs_loop_at(const struct vs_loop_requests *requests,
                                                       size_t index)
{
    return &requests->items[(requests->first + index) & (VS_LOOP_REQUESTS_MAX - 1)];
}

struct vs_loop {
    bool found;
    bool sized;          /* requests of other sizes at the site are not the mark */
    uint32_t site;       /* the mark */
    uint32_t begin;      /* a step begins with the first request of this site after the mark */
    uint32_t account;
    uint64_t size;
    uint64_t usual;      /* requests from mark to mark */
    uint64_t repeats;    /* in the kept requests */
    double regular;      /* share of the distances that are usual: 0 to 1 */
};

/* Where a program is in its loop. */
struct vs_loop_place {
    bool marked;        /* there was a mark */
    uint64_t marked_at; /* the request of the latest one */
    bool due;           /* the next step has not begun since */
};

/* vs_loop_begins: whether request number *request* begins a step. A mark sooner than a quarter of
 * the usual distance after the last is none. */
static inline bool vs_loop_begins(const struct vs_loop *loop, struct vs_loop_place *place,
                                  uint64_t request, uint32_t site, uint64_t size)
{
    if (site != loop->site && site != loop->begin)
        return false;
    if (site == loop->site && (!loop->sized || size == loop->size) &&
        (!place->marked || request - place->marked_at >= loop->usual / 4)) {
        place->marked = true;
        place->marked_at = request;
        place->due = true;
    }
    if (site != loop->begin || !place->due)
        return false;
    place->due = false;
    return true;
}

/* vs_loop_find: *out* is not found when nothing repeats at least three times. Cost:
 * linear in the kept requests and in the call sites of the trace, times at most 24 loops. */
void vs_loop_find(const struct vs_loop_requests *requests, struct vs_loop *out);

void vs_loop_free(struct vs_loop_requests *requests);

/* The steps of a program by time, with the bytes of each. At most 65536 rows: beyond that two
 * steps, then four, share a row. */

#define VS_STEP_ROWS_MAX 65536u

/* Zero-initialise. */
struct vs_step_rows {
    struct vs_growth_step *items;
    size_t count, capacity;
    uint64_t stride;     /* 0 before the first step */
    uint64_t in_last;    /* steps of the last row */
    uint64_t begun, done;
    bool open;           /* the last step is in progress */
    uint64_t first_number;
};

/* vs_steps_begin: a step begins at *event*, with *level* bytes allocated. */
void vs_steps_begin(struct vs_step_rows *rows, uint64_t event, uint64_t time_ns, uint64_t level);

/* vs_steps_end: the step in progress ended. */
void vs_steps_end(struct vs_step_rows *rows, uint64_t level);

/* vs_steps_withdraw: the step in progress is none. */
void vs_steps_withdraw(struct vs_step_rows *rows);

/* vs_steps_request: *size* bytes were allocated; *level* bytes are allocated now. */
static inline void vs_steps_request(struct vs_step_rows *rows, uint64_t level, uint64_t size)
{
    if (!rows->open)
        return;
    struct vs_growth_step *row = &rows->items[rows->count - 1];
    row->requested_bytes += size;
    if (level > row->peak_bytes)
        row->peak_bytes = level;
}

/* vs_steps_lower: *backing* of the bytes counted in the step in progress hold a framework's blocks,
 * which are counted from now on instead. */
void vs_steps_lower(struct vs_step_rows *rows, uint64_t backing);

/* vs_steps_clear: no steps; keeps the memory. */
void vs_steps_clear(struct vs_step_rows *rows);

/* vs_steps_summary: fills in the rows and medians of *out*. */
void vs_steps_summary(const struct vs_step_rows *rows, struct vs_growth_steps *out);

/* vs_steps_before: steps begun before event *event*, those before the first row included. */
uint64_t vs_steps_before(const struct vs_step_rows *rows, uint64_t event);

void vs_steps_free(struct vs_step_rows *rows);

struct vs_growth_tracker {
    const struct vs_replay *replay;
    struct vs_floors floors;
    struct vs_floor_row accounts[VS_DEVICES_MAX + 1];
    uint64_t freed;              /* bytes, of all accounts */
    uint64_t kernels;            /* recorded so far */
    struct vs_step_rows marked, found;
    unsigned marked_account;
    bool marked_reports;         /* a framework reports the memory of marked_account */
    uint64_t marks_begun;        /* steps that the replay had begun */
    struct vs_loop_requests requests; /* until the first mark */
    struct vs_loop loop;
    struct vs_loop_place place;
    uint64_t searched, search_at; /* requests at the latest search, and at the next */
    struct vs_growth_row *site_rows;
    size_t site_capacity;
    uint32_t *row_of;            /* by call site: index + 1 in site_rows */
    size_t row_of_count, row_of_capacity;
    struct vs_growth_row account_rows[VS_DEVICES_MAX + 1];
};

/* vs_growth_follow_all: frees of blocks without an event of their own: a context was destroyed, or
 * another block was allocated at their address. */
void vs_growth_follow_all(struct vs_growth_tracker *tracker);

/* vs_growth_search: looks for the loop in the requests so far. */
void vs_growth_search(struct vs_growth_tracker *tracker);

#endif
