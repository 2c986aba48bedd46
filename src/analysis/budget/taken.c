/* SPDX-License-Identifier: Apache-2.0
 *
 * All quantities of all runs get the number of their group by hash, are sorted by
 * group and value, and each group gives one item. */
#include "analysis/budget/taken.h"

#include <stdlib.h>
#include <string.h>

#include "base/reading/vs_xalloc.h"
#include "base/vs_map.h"
#include "base/vs_text.h"

struct taken_sample {
    const struct vs_quantity *quantity;
    struct vs_measured *run;
    size_t group, index; /* index: of the run */
};

struct taken_samples {
    struct taken_sample *items;
    size_t count, groups;
    const struct vs_quantity **first; /* of each group */
    struct vs_map by_hash; /* hash, or the next free number after it -> group + 1 */
};

static bool same_quantity(const struct vs_quantity *a, const struct vs_quantity *b)
{
    return a->metric == b->metric && a->device == b->device && a->host == b->host && a->way == b->way &&
           a->per_step == b->per_step && !a->phase == !b->phase &&
           (!a->phase || strcmp(a->phase, b->phase) == 0);
}

static uint64_t hash_of(const struct vs_quantity *quantity)
{
    uint64_t parts[] = {quantity->metric, quantity->device, quantity->way, quantity->per_step, quantity->host};
    uint64_t hash = vs_text_hash_bytes(VS_TEXT_HASH_START, parts, sizeof parts);
    hash = vs_text_hash(hash, quantity->phase ? quantity->phase : "");
    return hash ? hash : 1;
}

static void group_of(struct taken_samples *all, const struct vs_quantity *quantity, size_t *out)
{
    uint64_t key = hash_of(quantity);
    for (const uint64_t *found; (found = vs_map_get(&all->by_hash, key)) != NULL; key = key + 1 ? key + 1 : 1)
        if (same_quantity(all->first[*found - 1], quantity)) {
            *out = (size_t)*found - 1;
            return;
        }
    *out = all->groups;
    all->first[all->groups++] = quantity;
    vs_xmap_put(&all->by_hash, key, all->groups);
}

static int by_group_and_value(const void *a, const void *b)
{
    const struct taken_sample *x = a, *y = b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (x->quantity->unknown != y->quantity->unknown) /* the values come first */
        return x->quantity->unknown ? 1 : -1;
    if (x->quantity->value != y->quantity->value)
        return x->quantity->value < y->quantity->value ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* The index of the value that is taken of *count* ascending ones. *low*: the lowest is the worst. */
static size_t chosen(size_t count, enum vs_take how, bool low)
{
    if (how == VS_TAKE_MEDIAN)
        return low ? (count - 1) / 2 : count / 2;
    return low ? 0 : count - 1;
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

void vs_taken_build(struct vs_arena *memory, struct vs_measured **runs, size_t count,
                    enum vs_take how, struct vs_taken *out)
{
    struct taken_samples all = {0};
    size_t most = 0;
    for (size_t i = 0; i < count; i++)
        most += runs[i]->count;
    *out = (struct vs_taken){0};
    uint64_t *steps = vs_xcalloc(count + 1, sizeof *steps);
    for (size_t i = 0; i < count; i++)
        steps[i] = runs[i]->steps;
    qsort(steps, count, sizeof *steps, by_number);
    out->steps = steps[chosen(count, how, false)];
    free(steps);
    all.items = vs_xcalloc(most + 1, sizeof *all.items);
    all.first = vs_xcalloc(most + 1, sizeof *all.first);
    for (size_t r = 0; r < count; r++)
        for (size_t i = 0; i < runs[r]->count; i++) {
            struct taken_sample *sample = &all.items[all.count++];
            *sample = (struct taken_sample){&runs[r]->items[i], runs[r], .index = r};
            group_of(&all, sample->quantity, &sample->group);
        }
    qsort(all.items, all.count, sizeof *all.items, by_group_and_value);
    out->items = vs_xarena(memory, (all.groups + 1) * sizeof *out->items);
    for (size_t i = 0, n; i < all.count; i += n) {
        for (n = 1; i + n < all.count && all.items[i + n].group == all.items[i].group;)
            n++;
        const struct taken_sample *samples = &all.items[i];
        size_t known = 0;
        while (known < n && !samples[known].quantity->unknown)
            known++;
        size_t at = known ? chosen(known, how, samples->quantity->metric == VS_METRIC_FREE) : 0;
        out->items[out->count++] = (struct vs_taken_quantity){
            .quantity = *samples[at].quantity, .run = samples[at].run, .runs = known,
            .lowest = samples[0].quantity->value,
            .highest = samples[known ? known - 1 : 0].quantity->value};
    }
    vs_map_free(&all.by_hash);
    free(all.items);
    free(all.first);
}
