/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. Runs of RUN requests are looked up by hash; the distance to the last equal run is
 * a vote. Votes are weighted by distance, because the layers of a network repeat too. The distances
 * with most votes are tried in full: the longest stretch where every request equals the one a
 * period later. */
#include "analysis/state/period.h"

#include <stdlib.h>
#include <string.h>

#include "base/reading/vs_xalloc.h"
#include "base/vs_map.h"

#define RUN 16u
#define CANDIDATES 64u
#define REPEATS_MIN 3u
#define RUNS_MAX (UINT32_C(1) << 22) /* different ones: with more nothing repeats, and memory is bounded */

struct period_candidate {
    uint64_t weight;
    uint32_t length;
};

struct stretch {
    uint32_t start, covered; /* requests */
};

/* Enters a candidate into *list*, which is sorted by votes, most first. */
static void keep_heaviest(struct period_candidate *list, size_t *count, struct period_candidate one)
{
    if (*count == CANDIDATES && list[*count - 1].weight >= one.weight)
        return;
    size_t at = *count < CANDIDATES ? (*count)++ : CANDIDATES - 1;
    while (at && (list[at - 1].weight < one.weight ||
                  (list[at - 1].weight == one.weight && list[at - 1].length > one.length))) {
        list[at] = list[at - 1];
        at--;
    }
    list[at] = one;
}

/* votes: distance -> count of runs that equal the run at that distance before. */
static void vote(const uint32_t *sizes, size_t count, struct vs_map *votes)
{
    struct vs_map last = {0}; /* hash of a run -> where it ended last */
    const uint64_t factor = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t hash = 0, oldest = 1;
    for (unsigned i = 0; i < RUN; i++)
        oldest *= factor;
    for (size_t i = 0; i < count && last.count < RUNS_MAX; i++) {
        hash = hash * factor + sizes[i] + 1;
        if (i >= RUN)
            hash -= oldest * (sizes[i - RUN] + UINT64_C(1));
        if (i + 1 < RUN)
            continue;
        uint64_t key = hash ? hash : 1, *before = vs_map_get(&last, key);
        if (before) {
            uint64_t *n = vs_map_get(votes, i - *before);
            if (n)
                ++*n;
            else
                vs_xmap_put(votes, i - *before, 1);
        }
        vs_xmap_put(&last, key, i);
    }
    vs_map_free(&last);
}

static struct stretch longest_stretch(const uint32_t *sizes, size_t count, uint32_t length)
{
    struct stretch best = {0, 0};
    size_t start = 0;
    for (size_t i = 0; i + length <= count; i++) {
        if (i + length < count && sizes[i] == sizes[i + length])
            continue;
        if (i - start + length > best.covered)
            best = (struct stretch){(uint32_t)start, (uint32_t)(i - start + length)};
        start = i + 1;
    }
    return best;
}

enum vs_err vs_period_find(const uint32_t *sizes, size_t count, struct vs_period *out)
{
    struct period_candidate list[CANDIDATES];
    struct stretch stretches[CANDIDATES], best = {0, 0};
    struct vs_map votes = {0};
    size_t listed = 0, cursor = 0;
    memset(out, 0, sizeof *out);
    enum vs_err err = VS_OK;
    vote(sizes, count, &votes);
    const struct vs_map_slot *slot;
    while (!err && (slot = vs_map_next(&votes, &cursor)))
        keep_heaviest(list, &listed,
                      (struct period_candidate){slot->key * slot->value, (uint32_t)slot->key});
    vs_map_free(&votes);
    for (size_t i = 0; i < listed; i++) {
        stretches[i] = longest_stretch(sizes, count, list[i].length);
        if (stretches[i].covered / list[i].length < REPEATS_MIN)
            stretches[i].covered = 0;
        if (stretches[i].covered > best.covered)
            best = stretches[i];
    }
    if (err || best.covered < count / 2 || !best.covered)
        return err;
    for (size_t i = 0; i < listed; i++) {
        if (stretches[i].covered < best.covered - best.covered / 64 ||
            (out->length && out->length <= list[i].length))
            continue;
        *out = (struct vs_period){stretches[i].start, list[i].length,
                                  stretches[i].covered / list[i].length};
    }
    return VS_OK;
}
