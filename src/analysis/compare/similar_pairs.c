/* SPDX-License-Identifier: Apache-2.0
 *
 * A stack is taken apart when a pair of it has no score yet. */
#include "analysis/compare/similar_pairs.h"

#include <stdlib.h>

#include "analysis/compare/similar_stack.h"
#include "base/reading/vs_xalloc.h"

/* The stacks of a side, by their place in its list; NULL: not needed so far. */
struct stacks {
    const struct vs_similar_side *side;
    struct vs_similar_stack **items;
};

static const struct vs_similar_stack *stack_of(struct stacks *stacks, size_t at)
{
    struct vs_similar_stack **stack = &stacks->items[at];
    if (!*stack && (*stack = vs_xcalloc(1, sizeof **stack)) != NULL)
        vs_similar_stack_of(*stack, &stacks->side->named->items[stacks->side->list[at]]);
    return *stack;
}

static void free_stacks(struct stacks *stacks)
{
    for (size_t i = 0; stacks->items && i < stacks->side->count; i++)
        free(stacks->items[i]);
    free(stacks->items);
}

static int more_similar(const void *a, const void *b)
{
    const struct vs_similar_pair *x = a, *y = b;
    if (x->score != y->score)
        return x->score < y->score ? 1 : -1;
    if (x->b != y->b)
        return x->b < y->b ? -1 : 1;
    return x->a < y->a ? -1 : x->a > y->a;
}

/* The score of two sites, by their places in the lists. */
static void score_of(struct vs_map *scores, struct stacks *a, struct stacks *b, size_t i, size_t j,
                     bool sizes, unsigned *score)
{
    uint64_t key = (uint64_t)(a->side->list[i] + 1) << 32 | (b->side->list[j] + 1);
    const uint64_t *known = vs_map_get(scores, key);
    if (known) {
        *score = (unsigned)*known - 1;
        return;
    }
    const struct vs_similar_stack *x = stack_of(a, i), *y = stack_of(b, j);
    if (!x || !y)
        return;
    *score = vs_stack_similarity(x, y, sizes);
    vs_xmap_put(scores, key, *score + 1);
}

static void find(struct vs_similar_pairs *pairs, struct stacks *a, struct stacks *b, bool sizes,
                 unsigned least)
{
    for (size_t j = 0; j < b->side->count; j++) {
        for (size_t i = 0; i < a->side->count; i++) {
            size_t x = a->side->list[i], y = b->side->list[j];
            unsigned score = 0;
            if (sizes && !vs_site_same_size(&a->side->named->items[x], &b->side->named->items[y]))
                continue;
            score_of(&pairs->scores[sizes], a, b, i, j, sizes, &score);
            if (score >= least)
                pairs->items[pairs->count++] = (struct vs_similar_pair){score, x, y};
        }
    }
}

void vs_similar_pairs_find(struct vs_similar_pairs *pairs, const struct vs_similar_side *a,
                           const struct vs_similar_side *b, bool sizes, unsigned least)
{
    struct stacks x = {a, vs_xcalloc(a->count + 1, sizeof *x.items)};
    struct stacks y = {b, vs_xcalloc(b->count + 1, sizeof *y.items)};
    free(pairs->items);
    pairs->count = 0;
    pairs->items = vs_xcalloc(a->count * b->count + 1, sizeof *pairs->items);
    if (x.items && y.items)
        find(pairs, &x, &y, sizes, least);
    free_stacks(&x);
    free_stacks(&y);
    qsort(pairs->items, pairs->count, sizeof *pairs->items, more_similar);
}

void vs_similar_pairs_free(struct vs_similar_pairs *pairs)
{
    vs_map_free(&pairs->scores[0]);
    vs_map_free(&pairs->scores[1]);
    free(pairs->items);
}
