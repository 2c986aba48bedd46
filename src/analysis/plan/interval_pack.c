/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. Blocks that are never freed are at the bottom in the order of their creation. All
 * others are placed one by one, each in the lowest gap among the placed blocks that are alive with
 * it. The order matters: first the blocks alive at the peak, and among them the largest, or those
 * with the largest size times lifetime, or those freed last.
 *
 * Blocks alive with a block: those created during its life are adjacent in the array; those created
 * before are in a list of live blocks stored for every CHECKPOINT-th block; those that live over
 * the bend are in a separate list. */
#include "analysis/plan/interval_pack.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/reading/vs_vec.h"

#define CHECKPOINT 64u
#define BUCKETS 1024u   /* by offset, for the search for gaps */
#define CLOSE 4096      /* within 1/CLOSE of the bound is sufficient */
#define UNPLACED VS_INTERVAL_UNPLACED

struct interval_pack_span {
    uint32_t start, end; /* granules */
};

struct rank {
    uint64_t first, second; /* descending */
    uint32_t block;
};

struct packer {
    struct vs_interval *blocks;
    uint32_t count, bend;
    uint32_t *living;      /* at the checkpoints, without permanent blocks */
    size_t *living_at;     /* start of each checkpoint's list; one more at the end */
    uint32_t *crossing;    /* blocks alive over the bend */
    size_t crossing_count;
    uint64_t *floor;       /* by time: size of the permanent blocks created before it */
    uint64_t *fullest;     /* by block: most granules alive during its life */
    struct interval_pack_span *spans, *sorted;
    struct rank *ranks;
    uint32_t *best;        /* offsets of the best order so far */
    uint64_t bound, best_peak, peak;
};

static bool permanent(const struct packer *p, uint32_t i)
{
    return p->blocks[i].death == p->count && !p->blocks[i].again;
}

/* --- computed before any order --- */

static enum vs_err list_living(struct packer *p)
{
    size_t used = 0, capacity = 0, now = 0;
    uint32_t *live = malloc((p->count + 1) * sizeof *live);
    enum vs_err err = live ? VS_OK : VS_ERR_NOMEM;
    for (uint32_t i = 0; i < p->count && !err; i++) {
        if (i % CHECKPOINT == 0) {
            size_t kept = 0;
            for (size_t k = 0; k < now; k++) {
                if (p->blocks[live[k]].death > i)
                    live[kept++] = live[k];
            }
            now = kept;
            p->living_at[i / CHECKPOINT] = used;
            err = vs_vec_grow(&p->living, &capacity, used + now + 1, sizeof *p->living);
            if (!err)
                memcpy(p->living + used, live, now * sizeof *live);
            used += now;
        }
        if (p->blocks[i].size && !permanent(p, i))
            live[now++] = i;
    }
    p->living_at[(p->count + CHECKPOINT - 1) / CHECKPOINT] = used;
    free(live);
    return err;
}

/* Granules alive by time; the maximum is the bound. */
static void measure_load(struct packer *p, uint64_t *load)
{
    memset(load, 0, (p->count + 1) * sizeof *load);
    for (uint32_t i = 0; i < p->count; i++) {
        const struct vs_interval *b = &p->blocks[i];
        load[i] += b->size;
        load[b->death] -= b->size;
        if (b->again) {
            load[p->bend] += b->size;
            load[b->again] -= b->size;
        }
    }
    uint64_t now = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        now += load[i];
        load[i] = now;
        p->bound = now > p->bound ? now : p->bound;
    }
}

#define STRIDE 64u /* times of one entry in the tables of maxima */

struct load_maxima {
    uint64_t *load;       /* by time */
    uint64_t *tables[32]; /* [k][i]: of 2^k strides from stride i on */
};

static uint64_t higher(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t most(const struct load_maxima *maxima, uint32_t from, uint32_t until)
{
    uint64_t found = 0;
    uint32_t first = (from + STRIDE - 1) / STRIDE, last = until / STRIDE;
    if (first >= last) {
        for (uint32_t i = from; i < until; i++)
            found = higher(found, maxima->load[i]);
        return found;
    }
    for (uint32_t i = from; i < first * STRIDE; i++)
        found = higher(found, maxima->load[i]);
    for (uint32_t i = last * STRIDE; i < until; i++)
        found = higher(found, maxima->load[i]);
    unsigned level = 31u - (unsigned)__builtin_clz(last - first);
    const uint64_t *table = maxima->tables[level];
    return higher(found, higher(table[first], table[last - (UINT32_C(1) << level)]));
}

static enum vs_err make_maxima(struct packer *p, struct load_maxima *maxima)
{
    uint32_t strides = p->count / STRIDE;
    maxima->load = malloc((p->count + 1) * sizeof *maxima->load);
    if (!maxima->load)
        return VS_ERR_NOMEM;
    measure_load(p, maxima->load);
    for (unsigned k = 0; UINT64_C(1) << k <= strides; k++) {
        uint64_t *table = maxima->tables[k] = malloc((strides + 1) * sizeof *table);
        if (!table)
            return VS_ERR_NOMEM;
        for (uint32_t i = 0; i + (UINT64_C(1) << k) <= strides; i++) {
            if (k) {
                const uint64_t *below = maxima->tables[k - 1];
                table[i] = higher(below[i], below[i + (UINT32_C(1) << (k - 1))]);
                continue;
            }
            table[i] = 0;
            for (uint32_t t = i * STRIDE; t < (i + 1) * STRIDE; t++)
                table[i] = higher(table[i], maxima->load[t]);
        }
    }
    return VS_OK;
}

/* For every block the maximum load during its life. */
static enum vs_err measure_fullest(struct packer *p)
{
    struct load_maxima maxima = {0};
    enum vs_err err = make_maxima(p, &maxima);
    for (uint32_t i = 0; i < p->count && !err; i++) {
        p->fullest[i] = most(&maxima, i, p->blocks[i].death);
        if (p->blocks[i].again)
            p->fullest[i] = higher(p->fullest[i], most(&maxima, p->bend, p->blocks[i].again));
    }
    free(maxima.load);
    for (unsigned k = 0; k < 32; k++)
        free(maxima.tables[k]);
    return err;
}

/* Blocks that an order looks at: those created during the life of each, and those in use when it was
 * created. */
static uint64_t visits_of(const struct vs_interval *blocks, uint32_t count, uint64_t *bound)
{
    uint64_t *load = calloc((size_t)count + 1, sizeof *load), alive = 0, visits = 0, bytes = 0;
    uint32_t *ends = calloc((size_t)count + 1, sizeof *ends);
    for (uint32_t i = 0; load && ends && i < count; i++) {
        ends[blocks[i].death]++;
        load[blocks[i].death] += blocks[i].size;
        alive -= ends[i];
        bytes += blocks[i].size - load[i];
        *bound = bytes > *bound ? bytes : *bound;
        visits += alive++ + CHECKPOINT + (blocks[i].death - i) + blocks[i].again;
    }
    visits = load && ends ? visits : UINT64_MAX;
    free(load);
    free(ends);
    return visits;
}

static enum vs_err prepare(struct packer *p)
{
    size_t count = p->count + 1, capacity = 0;
    p->living_at = malloc((count / CHECKPOINT + 2) * sizeof *p->living_at);
    p->floor = malloc((count + 1) * sizeof *p->floor);
    p->fullest = malloc(count * sizeof *p->fullest);
    /* a block that lives over the bend may be found twice in each part of its life */
    p->spans = malloc(4 * count * sizeof *p->spans);
    p->sorted = malloc(4 * count * sizeof *p->sorted);
    p->ranks = malloc(count * sizeof *p->ranks);
    p->best = malloc(count * sizeof *p->best);
    if (!p->living_at || !p->floor || !p->fullest || !p->spans || !p->sorted || !p->ranks ||
        !p->best)
        return VS_ERR_NOMEM;
    p->floor[0] = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        p->floor[i + 1] = p->floor[i] + (permanent(p, i) ? p->blocks[i].size : 0);
        if (!p->blocks[i].again)
            continue;
        if (vs_vec_grow(&p->crossing, &capacity, p->crossing_count + 1, sizeof *p->crossing))
            return VS_ERR_NOMEM;
        p->crossing[p->crossing_count++] = i;
    }
    enum vs_err err = list_living(p);
    return err ? err : measure_fullest(p);
}

static void release(struct packer *p)
{
    free(p->living);
    free(p->living_at);
    free(p->crossing);
    free(p->floor);
    free(p->fullest);
    free(p->spans);
    free(p->sorted);
    free(p->ranks);
    free(p->best);
}

/* --- one block --- */

static inline size_t add_span(struct packer *p, size_t n, const struct vs_interval *b)
{
    if (b->offset != UNPLACED && b->size)
        p->spans[n++] = (struct interval_pack_span){b->offset, b->offset + b->size};
    return n;
}

/* Collects the spans of all placed blocks that are alive in [from, until), except permanent
 * ones. */
static size_t collect(struct packer *p, uint32_t from, uint32_t until, size_t n)
{
    uint32_t point = from / CHECKPOINT;
    for (size_t k = p->living_at[point]; k < p->living_at[point + 1]; k++) {
        const struct vs_interval *b = &p->blocks[p->living[k]];
        if (b->death > from)
            n = add_span(p, n, b);
    }
    for (uint32_t i = point * CHECKPOINT; i < until; i++) {
        const struct vs_interval *b = &p->blocks[i];
        if (b->death > from && !permanent(p, i))
            n = add_span(p, n, b);
    }
    for (size_t k = 0; k < p->crossing_count && until > p->bend; k++) {
        const struct vs_interval *b = &p->blocks[p->crossing[k]];
        if (b->again > from)
            n = add_span(p, n, b);
    }
    return n;
}

static int by_start(const void *a, const void *b)
{
    uint32_t x = ((const struct interval_pack_span *)a)->start, y = ((const struct interval_pack_span *)b)->start;
    return (x > y) - (x < y);
}

static void sort_bucket(struct interval_pack_span *spans, size_t n)
{
    if (n > 24) {
        qsort(spans, n, sizeof *spans, by_start);
        return;
    }
    for (size_t i = 1; i < n; i++) {
        struct interval_pack_span span = spans[i];
        size_t k = i;
        for (; k && spans[k - 1].start > span.start; k--)
            spans[k] = spans[k - 1];
        spans[k] = span;
    }
}

/* The lowest gap of *size* at or above *at*. Buckets are sorted only when reached. */
static uint64_t lowest_gap(struct packer *p, size_t n, uint64_t at, uint32_t size)
{
    uint32_t starts[BUCKETS + 1] = {0}, fill[BUCKETS];
    unsigned shift = 0;
    while (p->peak >> shift >= BUCKETS)
        shift++;
    for (size_t i = 0; i < n; i++)
        starts[(p->spans[i].start >> shift) + 1]++;
    for (unsigned k = 0; k < BUCKETS; k++) {
        fill[k] = starts[k];
        starts[k + 1] += starts[k];
    }
    for (size_t i = 0; i < n; i++)
        p->sorted[fill[p->spans[i].start >> shift]++] = p->spans[i];
    for (unsigned k = 0; k < BUCKETS; k++) {
        struct interval_pack_span *bucket = &p->sorted[starts[k]];
        size_t in_it = starts[k + 1] - starts[k];
        sort_bucket(bucket, in_it);
        for (size_t i = 0; i < in_it; i++) {
            if (bucket[i].start >= at + size)
                return at;
            at = bucket[i].end > at ? bucket[i].end : at;
        }
    }
    return at;
}

static uint64_t place(struct packer *p, uint32_t block)
{
    struct vs_interval *b = &p->blocks[block];
    uint64_t at = p->floor[b->death];
    size_t n = collect(p, block, b->death, 0);
    if (b->again)
        n = collect(p, p->bend, b->again, n);
    return lowest_gap(p, n, at, b->size);
}

/* --- orders --- */

enum order { BY_SIZE, BY_AREA, BY_DEATH, ORDERS };

static void rank_block(const struct packer *p, enum order order, struct rank *rank)
{
    const struct vs_interval *b = &p->blocks[rank->block];
    uint64_t life = b->death - rank->block + (b->again ? b->again - p->bend : 0);
    uint64_t bound = p->bound ? p->bound : 1, death = (uint64_t)b->death + b->again;
    rank->first = p->fullest[rank->block] * 64 / bound;
    switch (order) {
    case BY_AREA: rank->second = b->size * life; break;
    case BY_DEATH: rank->second = death << 27 | (p->count - rank->block); break;
    case BY_SIZE: rank->second = b->size; break;
    case ORDERS: break;
    }
}

static int by_rank(const void *a, const void *b)
{
    const struct rank *x = a, *y = b;
    if (x->first != y->first)
        return x->first > y->first ? -1 : 1;
    if (x->second != y->second)
        return x->second > y->second ? -1 : 1;
    return (x->block > y->block) - (x->block < y->block);
}

/* Places all in the order of the ranks, as long as the result may be better than the best. */
static void run_order(struct packer *p)
{
    p->peak = p->floor[p->count];
    for (uint32_t i = 0; i < p->count; i++)
        p->blocks[i].offset =
            p->blocks[i].size && permanent(p, i) ? (uint32_t)p->floor[i] : UNPLACED;
    for (uint32_t i = 0; i < p->count; i++) {
        uint32_t block = p->ranks[i].block;
        if (!p->blocks[block].size || permanent(p, block))
            continue;
        uint64_t offset = place(p, block), end = offset + p->blocks[block].size;
        if (end >= UNPLACED || end >= p->best_peak)
            return;
        p->blocks[block].offset = (uint32_t)offset;
        p->peak = end > p->peak ? end : p->peak;
    }
    if (p->peak >= p->best_peak)
        return;
    p->best_peak = p->peak;
    for (uint32_t i = 0; i < p->count; i++)
        p->best[i] = p->blocks[i].offset;
}

static void set_order(struct packer *p, enum order order)
{
    for (uint32_t i = 0; i < p->count; i++) {
        p->ranks[i].block = i;
        rank_block(p, order, &p->ranks[i]);
    }
    qsort(p->ranks, p->count, sizeof *p->ranks, by_rank);
}

static void try_orders(struct packer *p, uint64_t visits, uint64_t *budget)
{
    uint64_t good_enough = p->bound + p->bound / CLOSE;
    for (unsigned order = 0; order < ORDERS && p->best_peak > good_enough && visits <= *budget;
         order++) {
        *budget -= visits;
        set_order(p, (enum order)order);
        run_order(p);
    }
}

enum vs_err vs_interval_pack(struct vs_interval *blocks, size_t count, uint32_t bend,
                             uint64_t *budget, struct vs_packing *out)
{
    struct packer p = {.blocks = blocks, .count = (uint32_t)count, .bend = bend};
    memset(out, 0, sizeof *out);
    if (count >= UINT32_C(1) << 27)
        return VS_ERR_LIMIT;
    if (!count)
        return VS_OK;
    uint64_t visits = visits_of(blocks, (uint32_t)count, &out->bound);
    if (visits == UINT64_MAX)
        return VS_ERR_NOMEM;
    if (visits > *budget || visits > VS_INTERVAL_ORDER_MAX || count > VS_INTERVAL_COUNT_MAX) {
        for (size_t i = 0; i < count; i++)
            blocks[i].offset = UNPLACED;
        out->peak = out->bound;
        out->too_long = true;
        return VS_OK;
    }
    enum vs_err err = prepare(&p);
    p.best_peak = UINT64_MAX;
    if (!err && p.bound >= UNPLACED)
        err = VS_ERR_LIMIT;
    if (!err)
        try_orders(&p, visits, budget);
    if (!err && p.best_peak == UINT64_MAX)
        err = VS_ERR_LIMIT;
    for (size_t i = 0; i < count && !err; i++)
        blocks[i].offset = p.best[i];
    out->bound = p.bound;
    out->peak = p.best_peak;
    release(&p);
    return err;
}
