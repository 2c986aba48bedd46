/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/merge/merge.h"
#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"

#define CHUNKS_MOST 16                     /* of a run, for the drift, */
#define CHUNK_LEAST 4                      /* of so many differences */
#define DRIFT_LEAST_NS UINT64_C(5000000000) /* shorter runs have none that could be told from scatter */
#define DIFFERENCES_LEAST 3
#define NAMES_WRONG_MOST 10                /* one of so many pairs may be two different collectives */

struct difference {
    uint64_t at_ns; /* of the rank's clock */
    int64_t ns;     /* the reference's clock less that */
};

struct estimate {
    bool known;
    size_t count;
    double offset_ns, drift; /* reference = at + offset + drift * (at - from) */
    uint64_t from_ns, error_ns;
};

bool vs_rank_same_machine(const struct vs_rank *a, const struct vs_rank *b)
{
    return a == b || (*a->boot ? strcmp(a->boot, b->boot) == 0
                               : !*b->boot && *a->host && strcmp(a->host, b->host) == 0);
}

static int order_differences(const void *left, const void *right)
{
    const struct difference *a = left, *b = right;
    return (a->ns > b->ns) - (a->ns < b->ns);
}

static double median_of(struct difference *items, size_t count)
{
    vs_vec_sort(items, count, sizeof *items, order_differences);
    return ((double)items[(count - 1) / 2].ns + (double)items[count / 2].ns) / 2;
}

/* A line through the medians of parts of the run: a single late collective moves neither. */
static struct estimate fit(struct difference *items, size_t count)
{
    struct estimate e = {.count = count};
    if (count < DIFFERENCES_LEAST)
        return e;
    struct difference *sorted = vs_xcalloc(count, sizeof *sorted);
    uint64_t *distances = vs_xcalloc(count, sizeof *distances);
    uint64_t first = items[0].at_ns, last = items[count - 1].at_ns, span = last > first ? last - first : 0;
    size_t chunks = span < DRIFT_LEAST_NS || count < 2 * CHUNK_LEAST ? 1
                    : count / CHUNK_LEAST < CHUNKS_MOST              ? count / CHUNK_LEAST
                                                                     : CHUNKS_MOST;
    double n = (double)chunks, t = 0, d = 0, tt = 0, td = 0;
    e.from_ns = items[0].at_ns;
    for (size_t c = 0; c < chunks; c++) {
        size_t from = count * c / chunks, to = count * (c + 1) / chunks;
        double at = (double)(items[(from + to) / 2].at_ns - e.from_ns);
        memcpy(sorted, items + from, (to - from) * sizeof *sorted);
        double middle = median_of(sorted, to - from);
        t += at;
        d += middle;
        tt += at * at;
        td += at * middle;
    }
    double width = n * tt - t * t;
    e.drift = chunks > 1 && width > 0 ? (n * td - t * d) / width : 0;
    e.offset_ns = (d - e.drift * t) / n;
    for (size_t i = 0; i < count; i++) {
        double line = e.offset_ns + e.drift * (double)(items[i].at_ns - e.from_ns);
        distances[i] = (uint64_t)fabs((double)items[i].ns - line);
    }
    e.error_ns = vs_vec_nth(distances, count, (count - 1) * 9 / 10);
    e.known = true;
    free(sorted);
    free(distances);
    return e;
}

static struct estimate compare_collectives(const struct vs_rank *reference, const struct vs_rank *rank)
{
    const struct vs_meetings *a = &reference->collectives, *b = &rank->collectives;
    struct difference *items = vs_xcalloc(b->count + 1, sizeof *items);
    size_t count = 0, wrong = 0;
    for (size_t i = 0, j = 0; i < a->count && j < b->count;) {
        const struct vs_meeting *m = &a->items[i], *o = &b->items[j];
        if (m->number == o->number && m->name == o->name)
            items[count++] = (struct difference){o->end_ns, (int64_t)(m->end_ns - o->end_ns)};
        wrong += m->number == o->number && m->name != o->name;
        i += m->number <= o->number;
        j += o->number <= m->number;
    }
    struct estimate e = {0};
    if (wrong * NAMES_WRONG_MOST <= count)
        e = fit(items, count);
    free(items);
    return e;
}

static struct estimate compare_steps(const struct vs_rank *reference, const struct vs_rank *rank)
{
    struct difference *items = vs_xcalloc(rank->step_count + 1, sizeof *items);
    size_t count = 0;
    for (size_t i = 0, j = 0; i < reference->step_count && j < rank->step_count;) {
        const struct vs_rank_step *m = &reference->steps[i], *o = &rank->steps[j];
        if (m->number == o->number)
            items[count++] = (struct difference){o->begin_ns, (int64_t)(m->begin_ns - o->begin_ns)};
        i += m->number <= o->number;
        j += o->number <= m->number;
    }
    struct estimate e = fit(items, count);
    free(items);
    return e;
}

void vs_rank_clocks(struct vs_rank *ranks, size_t count)
{
    const struct vs_rank *reference = &ranks[0];
    for (size_t i = 0; i < count; i++) {
        struct vs_rank *rank = &ranks[i];
        const struct vs_rank *known = reference; /* of the same machine */
        rank->clock.from_ns = rank->begin_ns;
        for (size_t j = 1; j < i && !vs_rank_same_machine(known, rank); j++)
            if (vs_rank_same_machine(&ranks[j], rank))
                known = &ranks[j];
        if (vs_rank_same_machine(known, rank)) {
            rank->source = known->source;
            rank->error_ns = known->error_ns;
            rank->meetings = known->meetings;
            rank->clock = known == rank ? rank->clock : known->clock;
            if (known == reference)
                rank->clock = (struct vs_rank_clock){rank->begin_ns, (int64_t)rank->begin_ns, 0};
            continue;
        }
        struct estimate by_collectives = compare_collectives(reference, rank),
                        by_steps = compare_steps(reference, rank), *best = &by_collectives;
        rank->source = VS_CLOCK_COLLECTIVES;
        if (!best->known || (by_steps.known && by_steps.error_ns < best->error_ns / 2)) {
            best = &by_steps;
            rank->source = VS_CLOCK_STEPS;
        }
        if (best->known) {
            rank->clock.from_ns = best->from_ns;
            rank->clock.at_ns = (int64_t)best->from_ns + llround(best->offset_ns);
            rank->clock.drift = best->drift;
            rank->error_ns = best->error_ns;
            rank->meetings = best->count;
        } else {
            rank->source = VS_CLOCK_WALL;
            rank->clock.at_ns = (int64_t)(reference->begin_ns + rank->start_realtime_ns -
                                          reference->start_realtime_ns);
        }
    }
    int64_t begin = INT64_MAX;
    for (size_t i = 0; i < count; i++) {
        const struct vs_rank_clock *c = &ranks[i].clock;
        int64_t since = (int64_t)(ranks[i].begin_ns - c->from_ns);
        int64_t at = c->at_ns + since + (int64_t)(c->drift * (double)since);
        begin = at < begin ? at : begin;
    }
    for (size_t i = 0; i < count; i++)
        ranks[i].clock.at_ns -= begin;
}
