/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. The live blocks of a stream are a sorted array of byte ranges; nothing is shared
 * with the planner's own data. */
#include "support/plan_log.h"

#include <stdlib.h>
#include <string.h>

enum vs_err plan_log_make(const struct request_log *log, bool whole, struct plan_log *out)
{
    static const struct vs_plan_identity identity = {"log", 0, 0};
    struct vs_planner *planner;
    char why[VS_PLAN_WHY_MAX];
    memset(out, 0, sizeof *out);
    enum vs_err err = vs_planner_open(&planner);
    if (err)
        return err;
    for (size_t i = 0; i < log->count && !err; i++) {
        const struct request *r = &log->requests[i];
        if (r->kind == REQUEST_ALLOC)
            err = vs_planner_alloc(planner, r->id + UINT64_C(1), r->size, r->stream);
        else if (r->kind == REQUEST_FREE)
            err = vs_planner_free(planner, r->id + UINT64_C(1));
        else
            err = vs_planner_record(planner, r->id + UINT64_C(1));
    }
    if (!err)
        err = vs_planner_build(planner, &identity, whole, &out->bytes, &out->size, &out->summary);
    vs_planner_close(planner);
    if (!err)
        err = vs_plan_open_bytes(out->bytes, out->size, &out->plan, why);
    return err;
}

void plan_log_free(struct plan_log *plan)
{
    vs_plan_close(&plan->plan);
    free(plan->bytes);
    memset(plan, 0, sizeof *plan);
}

struct range {
    uint64_t start, end;
};

struct lane {
    struct range *live;
    size_t count;
    uint64_t requests;
};

struct where {
    uint32_t lane;
    uint64_t start; /* UINT64_MAX: no place */
};

/* The first range that ends above *at*. */
static size_t find(const struct lane *lane, uint64_t at)
{
    size_t low = 0, high = lane->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (lane->live[middle].end <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static const struct vs_plan_entry *entry_of(const struct vs_plan *plan, uint32_t stream,
                                            uint64_t request)
{
    const struct vs_plan_stream *s = &plan->streams[stream];
    if (request >= s->prologue) {
        if (!s->period)
            return NULL;
        request = s->prologue + (request - s->prologue) % s->period;
    }
    return &plan->entries[s->first + request];
}

static void put(struct lane *lane, const struct vs_plan_entry *e, uint64_t size, uint64_t memory,
                struct plan_log_check *out, struct where *where)
{
    struct range r = {e->offset * VS_PLAN_GRANULE, e->offset * VS_PLAN_GRANULE + size};
    size_t at = find(lane, r.start);
    out->placed++;
    out->outside += r.end > memory;
    if (at < lane->count && lane->live[at].start < r.end) {
        out->overlaps++;
        return;
    }
    memmove(&lane->live[at + 1], &lane->live[at], (lane->count++ - at) * sizeof r);
    lane->live[at] = r;
    where->start = r.start;
}

static void drop(struct lane *lanes, struct where *where)
{
    struct lane *lane = &lanes[where->lane];
    if (where->start == UINT64_MAX)
        return;
    size_t at = find(lane, where->start);
    memmove(&lane->live[at], &lane->live[at + 1], (--lane->count - at) * sizeof *lane->live);
    where->start = UINT64_MAX;
}

/* Streams are numbered by their first request. */
static uint32_t number_of(uint64_t stream, uint64_t *seen, uint32_t *count)
{
    uint32_t i = 0;
    while (i < *count && seen[i] != stream)
        i++;
    if (i == *count)
        seen[(*count)++] = stream;
    return i;
}

void plan_log_examine(const struct request_log *log, const struct plan_log *plan,
                      struct plan_log_check *out)
{
    struct lane lanes[16] = {{0}};
    struct where *where = calloc(log->id_count + 1, sizeof *where);
    uint64_t seen[16];
    uint32_t count = 0;
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < log->count && where; i++) {
        const struct request *r = &log->requests[i];
        struct where *w = &where[r->id];
        if (r->kind == REQUEST_FREE)
            drop(lanes, w);
        if (r->kind != REQUEST_ALLOC)
            continue;
        uint32_t n = number_of(r->stream, seen, &count);
        struct lane *lane = &lanes[n];
        if (!lane->live && !(lane->live = malloc((log->id_count + 1) * sizeof *lane->live)))
            abort();
        *w = (struct where){n, UINT64_MAX};
        const struct vs_plan_entry *e = entry_of(&plan->plan, n, lane->requests++);
        if (e && e->offset != VS_PLAN_NONE && e->granules == (r->size + 511) / 512)
            put(lane, e, (r->size + 511) / 512 * 512, plan->plan.streams[n].granules * VS_PLAN_GRANULE, out, w);
        else
            out->unplaced++;
        uint64_t end = lane->count ? lane->live[lane->count - 1].end : 0;
        out->peak[n] = end > out->peak[n] ? end : out->peak[n];
    }
    for (uint32_t i = 0; i < 16; i++)
        free(lanes[i].live);
    free(where);
}
