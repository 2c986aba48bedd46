/* SPDX-License-Identifier: Apache-2.0
 *
 * All quantities of all runs get the number of their group, are sorted by group and value, and each
 * group gives one item. */
#include "analysis/budget/taken.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/reading/vs_intern.h"
#include "base/reading/vs_xalloc.h"

struct taken_sample {
    const struct vs_quantity *quantity;
    struct vs_measured *run;
    size_t group, index; /* index: of the run */
};

/* The number of the quantity, whichever run it is of. */
static size_t group_of(struct vs_intern *groups, const struct vs_quantity *quantity)
{
    char key[VS_QUANTITY_KEY_MAX];
    snprintf(key, sizeof key, "%d %" PRIu64 " %d %d %d%s%s", quantity->metric, quantity->device,
             quantity->way, quantity->per_step, quantity->host, quantity->phase ? " " : "",
             quantity->phase ? quantity->phase : "");
    return vs_intern_text(groups, key);
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
    struct vs_intern groups = {0};
    size_t most = 0, all = 0;
    for (size_t i = 0; i < count; i++)
        most += runs[i]->count;
    *out = (struct vs_taken){0};
    uint64_t *steps = vs_xcalloc(count + 1, sizeof *steps);
    for (size_t i = 0; i < count; i++)
        steps[i] = runs[i]->steps;
    qsort(steps, count, sizeof *steps, by_number);
    out->steps = steps[chosen(count, how, false)];
    free(steps);
    struct taken_sample *items = vs_xcalloc(most + 1, sizeof *items);
    for (size_t r = 0; r < count; r++)
        for (size_t i = 0; i < runs[r]->count; i++) {
            const struct vs_quantity *quantity = &runs[r]->items[i];
            items[all++] = (struct taken_sample){quantity, runs[r], group_of(&groups, quantity), r};
        }
    qsort(items, all, sizeof *items, by_group_and_value);
    out->items = vs_xarena(memory, (groups.count + 1) * sizeof *out->items);
    for (size_t i = 0, n; i < all; i += n) {
        for (n = 1; i + n < all && items[i + n].group == items[i].group;)
            n++;
        const struct taken_sample *samples = &items[i];
        size_t known = 0;
        while (known < n && !samples[known].quantity->unknown)
            known++;
        size_t at = known ? chosen(known, how, samples->quantity->metric == VS_METRIC_FREE) : 0;
        out->items[out->count++] = (struct vs_taken_quantity){
            .quantity = *samples[at].quantity, .run = samples[at].run, .runs = known,
            .lowest = samples[0].quantity->value,
            .highest = samples[known ? known - 1 : 0].quantity->value};
    }
    vs_intern_free(&groups);
    free(items);
}
