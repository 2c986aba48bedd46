/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/merge/merge.h"
#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"

#define CHUNKS_MOST 16                     /* of a run, for the drift, */
#define CHUNK_LEAST 4                      /* of so many differences */
#define DRIFT_LEAST_NS UINT64_C(5000000000) /* in shorter runs drift and scatter look alike */
#define DRIFT_MOST 1e-3                    /* of any two clocks; more is a job that does not run in step */
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

static double median_of(struct difference *items, size_t count)
{
    VS_SORT(items, count, VS_UP(ns));
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
    e.known = fabs(e.drift) < DRIFT_MOST;
    free(sorted);
    free(distances);
    return e;
}

static struct estimate compare(const struct vs_meetings *a, const struct vs_meetings *b)
{
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

/* By what *rank* does together with the first rank, *reference*. */
static void align(struct vs_rank *rank, const struct vs_rank *reference)
{
    struct estimate by_collectives = compare(&reference->collectives, &rank->collectives),
                    by_steps = compare(&reference->steps, &rank->steps), *best = &by_collectives;
    rank->source = VS_CLOCK_COLLECTIVES;
    if (!best->known || (by_steps.known && by_steps.error_ns < best->error_ns / 2)) {
        best = &by_steps;
        rank->source = VS_CLOCK_STEPS;
    }
    rank->clock = (struct vs_rank_clock){best->from_ns, (int64_t)(best->from_ns + (uint64_t)llround(best->offset_ns)),
                                         best->drift};
    rank->error_ns = best->error_ns;
    rank->meetings = best->count;
    if (best->known)
        return;
    bool dated = rank->start_realtime_ns && reference->start_realtime_ns; /* otherwise they begin together */
    uint64_t apart = dated ? rank->start_realtime_ns - reference->start_realtime_ns : 0;
    rank->clock = (struct vs_rank_clock){rank->begin_ns, (int64_t)(reference->begin_ns + apart), 0};
    rank->source = VS_CLOCK_WALL;
    rank->error_ns = rank->meetings = 0;
}

void vs_rank_clocks(struct vs_rank *ranks, size_t count)
{
    ranks[0].clock = (struct vs_rank_clock){ranks[0].begin_ns, (int64_t)ranks[0].begin_ns, 0};
    int64_t begin = (int64_t)ranks[0].begin_ns;
    for (size_t i = 1; i < count; i++) {
        struct vs_rank *rank = &ranks[i], *first = ranks; /* of its machine */
        while (!vs_rank_same_machine(first, rank))
            first++;
        if (first == rank)
            align(rank, &ranks[0]);
        rank->clock = first->clock;
        rank->source = first->source;
        rank->error_ns = first->error_ns;
        rank->meetings = first->meetings;
        int64_t at = vs_rank_time_signed(&rank->clock, rank->begin_ns);
        begin = at < begin ? at : begin;
    }
    for (size_t i = 0; i < count; i++)
        ranks[i].clock.at_ns = (int64_t)((uint64_t)ranks[i].clock.at_ns - (uint64_t)begin);
}
