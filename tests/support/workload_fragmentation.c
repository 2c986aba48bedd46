/* SPDX-License-Identifier: Apache-2.0
 *
 * An adversary after Robson: fill memory with blocks of one size, free every other one, request
 * blocks slightly too large for the holes, and so on up to a GiB. Then the same downwards, then
 * with random survivors. Survivors live until the end of their phase. At most 2048 blocks of a size
 * and 12 GiB at once; it knows sizes and order, not addresses. It begins with 256 KiB, or as
 * `_large` with 32 MiB.
 *
 * An allocator that cannot see the future and does not move blocks cannot avoid fragmentation with
 * the small sizes: which block of a page survives is unknown at placement, and a survivor keeps its
 * page. */
#include "support/workload_build.h"

#define LIVE_MAX (12 * GIB)
#define BLOCKS_MAX 2048

struct adversary {
    struct workload *w;
    struct block_list survivors;
    uint64_t live;
    unsigned log_min; /* of the sizes */
};

/* Allocates as many blocks of *bytes* as allowed; every *spared*-th is kept, or with *random* as
 * many at random; the others are freed immediately. */
static void fill_and_thin(struct adversary *a, uint64_t bytes, unsigned spared, bool random)
{
    struct block_list made = {0};
    uint64_t count = (LIVE_MAX - a->live) / bytes;
    if (count > BLOCKS_MAX)
        count = BLOCKS_MAX;
    for (uint64_t i = 0; i < count; i++)
        keep(a->w, &made, bytes);
    for (uint64_t i = 0; i < count; i++) {
        bool stays = random ? random_below(a->w, spared) == 0 : i % spared == 0;
        if (stays) {
            list_add(&a->survivors, made.ids[i]);
            a->live += bytes;
        } else {
            give(a->w, made.ids[i]);
        }
    }
    list_free(&made);
}

static void end_phase(struct adversary *a)
{
    give_all(a->w, &a->survivors);
    a->live = 0;
}

/* A size near 2^log / 4 · *quarters* that is a multiple of 512 and of nothing else. */
static uint64_t odd_size(struct adversary *a, unsigned log, unsigned quarters)
{
    uint64_t base = (UINT64_C(1) << (log - 2)) * quarters;
    return base + 512 * (1 + random_below(a->w, base / 16384));
}

static void upwards(struct adversary *a, unsigned spared, bool random)
{
    for (unsigned log = a->log_min; log <= 30; log++) {
        fill_and_thin(a, odd_size(a, log, 4), spared, random);
        if (log < 30)
            fill_and_thin(a, odd_size(a, log, 6), spared, random);
    }
    end_phase(a);
}

static void adversary(struct workload *w, unsigned log_min, unsigned rounds)
{
    struct adversary a = {.w = w, .log_min = log_min};
    for (unsigned i = 0; i < 3; i++)
        take(w, (256 + random_below(w, 512)) * MIB);
    workload_begins(w);
    for (unsigned round = 0; round < rounds; round++) {
        upwards(&a, 2, false);
        for (unsigned log = 30; log >= a.log_min; log--)
            fill_and_thin(&a, odd_size(&a, log, 4), 2, false);
        end_phase(&a);
        upwards(&a, 4, true);
        /* Generations: half of the oldest die at random before each new size. */
        struct block_list *s = &a.survivors;
        for (unsigned log = a.log_min + 1; log <= 28; log++) {
            fill_and_thin(&a, odd_size(&a, log, 5), 2, true);
            size_t kept = 0;
            for (size_t i = 0; i < s->count; i++) {
                if (random_below(a.w, 4)) {
                    s->ids[kept++] = s->ids[i];
                } else {
                    a.live -= a.w->log->sizes[s->ids[i]];
                    give(a.w, s->ids[i]);
                }
            }
            s->count = kept;
        }
        end_phase(&a);
        upwards(&a, 2, true);
    }
    list_free(&a.survivors);
}

void workload_fragmentation(struct workload *w) { adversary(w, 18, 1); }
void workload_fragmentation_large(struct workload *w) { adversary(w, 25, 12); }
