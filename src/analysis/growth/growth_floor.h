/* SPDX-License-Identifier: Apache-2.0
 *
 * The floor of live bytes: for each call site and account, the lowest live bytes in each of at most
 * 64 windows of the trace. Memory that is freed within a window does not show; what stays does.
 * All rows share the windows. They are counted in requests (allocations and failures), and double
 * in length whenever there would be more than 64, so that memory and cost do not depend on the
 * length of the trace. Frees after the last request do not count: they are the program's end. */
#ifndef VS_GROWTH_FLOOR_H
#define VS_GROWTH_FLOOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VS_FLOOR_WINDOWS 64u
#define VS_FLOOR_SERIES_MAX 131072u /* 64 MiB; rows beyond have no history */

struct vs_floor_row {
    uint64_t live;     /* after the row's latest change */
    uint64_t lowest;   /* in the current window, without `pending` */
    uint64_t pending;  /* lowest by the frees since the latest request; UINT64_MAX: none */
    uint64_t before;   /* live before these frees */
    uint64_t freed_at; /* the request count of the latest free */
    uint32_t window;   /* of the latest change */
    uint32_t series;   /* index + 1 of its history; 0: zero in all windows before */
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
    uint64_t refused;  /* rows beyond VS_FLOOR_SERIES_MAX */
    uint64_t requests; /* so far */
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
    return floors->requests >> floors->shift != floors->window || floors->requests == 0;
}

/* vs_floors_change: *live* bytes of *row* after a request or a free. */
static inline void vs_floors_change(struct vs_floors *floors, struct vs_floor_row *row,
                                    uint64_t live, bool request)
{
    if (row->window != floors->window)
        vs_floors_roll(floors, row);
    if (row->freed_at != floors->requests || request) {
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

/* vs_floors_judged: false for a row whose history was not kept. */
static inline bool vs_floors_judged(const struct vs_floor_row *row)
{
    return row->series != UINT32_MAX;
}

/* vs_floors_reset: a row that begins with *live* bytes. */
static inline void vs_floors_reset(struct vs_floor_row *row, uint64_t live, uint32_t window)
{
    *row = (struct vs_floor_row){.live = live, .lowest = live, .pending = UINT64_MAX,
                                 .freed_at = UINT64_MAX, .window = window};
}

void vs_floors_free(struct vs_floors *floors);

#endif
