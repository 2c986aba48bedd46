/* SPDX-License-Identifier: Apache-2.0
 *
 * The treap's priorities are a hash of the index of the gap and of a random number,
 * which makes it about 2 log2(n) deep in any order of changes, also in one that a trace was made
 * for; functions recurse to that depth. The places do not depend on it. */
#include "viewer/html/page_rows.h"

#include <stdlib.h>
#include <sys/random.h>

#include "base/reading/vs_vec.h"

#define GRANULE 512
#define AXIS_END (UINT64_C(1) << 62)

static inline uint32_t priority(const struct vs_axis *axis, uint32_t gap)
{
    uint64_t word = (axis->seed + gap) * UINT64_C(0x9e3779b97f4a7c15); /* splitmix64 */
    word = (word ^ (word >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    word = (word ^ (word >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)(word >> 32);
}

static inline void renew(struct vs_axis *axis, uint32_t gap)
{
    struct vs_axis_gap *g = &axis->gaps[gap];
    g->largest = g->size;
    if (g->left && axis->gaps[g->left].largest > g->largest)
        g->largest = axis->gaps[g->left].largest;
    if (g->right && axis->gaps[g->right].largest > g->largest)
        g->largest = axis->gaps[g->right].largest;
}

/* The gaps of *tree* that start before *at* into *low*, the others into *high*. */
static void split(struct vs_axis *axis, uint32_t tree, uint64_t at, uint32_t *low, uint32_t *high)
{
    if (!tree) {
        *low = *high = 0;
        return;
    }
    struct vs_axis_gap *g = &axis->gaps[tree];
    if (g->start < at) {
        split(axis, g->right, at, &g->right, high);
        *low = tree;
    } else {
        split(axis, g->left, at, low, &g->left);
        *high = tree;
    }
    renew(axis, tree);
}

static uint32_t merge(struct vs_axis *axis, uint32_t low, uint32_t high)
{
    if (!low || !high)
        return low ? low : high;
    uint32_t top = axis->gaps[low].priority >= axis->gaps[high].priority ? low : high;
    struct vs_axis_gap *g = &axis->gaps[top];
    if (top == low)
        g->right = merge(axis, g->right, high);
    else
        g->left = merge(axis, low, g->left);
    renew(axis, top);
    return top;
}

/* Puts a gap into the tree, which has none with its start. */
static void add_gap(struct vs_axis *axis, uint64_t start, uint64_t size)
{
    uint32_t gap = axis->unused, *link = &axis->root;
    if (gap) {
        axis->unused = axis->gaps[gap].left;
    } else {
        size_t next = axis->count ? axis->count : 1;
        if (next > UINT32_MAX - 1)
            vs_out_of_memory();
        vs_vec_room(&axis->gaps, &axis->capacity, next + 1, sizeof *axis->gaps);
        axis->count = next + 1;
        gap = (uint32_t)next;
    }
    struct vs_axis_gap *new = &axis->gaps[gap];
    *new = (struct vs_axis_gap){.start = start, .size = size, .priority = priority(axis, gap)};
    while (*link && axis->gaps[*link].priority >= new->priority) {
        struct vs_axis_gap *g = &axis->gaps[*link];
        if (g->largest < size)
            g->largest = size;
        link = start < g->start ? &g->left : &g->right;
    }
    split(axis, *link, start, &new->left, &new->right);
    renew(axis, gap);
    *link = gap;
}

/* Takes the gap at *link* out of the tree. */
static void drop_gap(struct vs_axis *axis, uint32_t *link)
{
    uint32_t gap = *link;
    *link = merge(axis, axis->gaps[gap].left, axis->gaps[gap].right);
    axis->gaps[gap].left = axis->unused;
    axis->unused = gap;
}

static void drop_gap_at(struct vs_axis *axis, uint32_t *link, uint64_t start)
{
    struct vs_axis_gap *g = &axis->gaps[*link];
    if (g->start == start) {
        drop_gap(axis, link);
    } else {
        drop_gap_at(axis, start < g->start ? &g->left : &g->right, start);
        renew(axis, *link);
    }
}

/* Renews the gaps from the one at *link* to the one above *end*, on the way to *start*. */
static void renew_to(struct vs_axis *axis, const uint32_t *link, const uint32_t *end,
                     uint64_t start)
{
    if (link == end)
        return;
    struct vs_axis_gap *g = &axis->gaps[*link];
    renew_to(axis, start < g->start ? &g->left : &g->right, end, start);
    renew(axis, *link);
}

/* Moves the start of the lowest gap of at least *size* behind those bytes; the order of the gaps
 * stays. Returns its old start. */
static uint64_t cut(struct vs_axis *axis, uint64_t size)
{
    uint32_t *link = &axis->root, *top = link; /* top: from here on all have the same largest gap */
    struct vs_axis_gap *g;
    for (;;) {
        g = &axis->gaps[*link];
        uint32_t *next = &g->left;
        if (!*next || axis->gaps[*next].largest < size)
            next = &g->right;
        if (next == &g->right && g->size >= size)
            break;
        if (axis->gaps[*next].largest != g->largest)
            top = next;
        link = next;
    }
    uint64_t place = g->start, before = g->size;
    bool was_largest = before == g->largest;
    if (before == size) {
        drop_gap(axis, link);
    } else {
        g->start += size;
        g->size -= size;
        renew(axis, *link);
    }
    if (was_largest)
        renew_to(axis, top, link, place);
    return place;
}

static uint64_t rounded(uint64_t size)
{
    return size > AXIS_END / 2 ? AXIS_END / 2
           : size             ? (size + GRANULE - 1) / GRANULE * GRANULE
                              : GRANULE;
}

bool vs_axis_take(struct vs_axis *axis, uint64_t size, uint64_t *place)
{
    size = rounded(size);
    if (!axis->count) {
        if (getrandom(&axis->seed, sizeof axis->seed, GRND_NONBLOCK) != sizeof axis->seed)
            axis->seed = (uintptr_t)axis; /* early at boot: where the kernel put the heap */
        add_gap(axis, 0, AXIS_END);
    }
    if (!axis->root || axis->gaps[axis->root].largest < size)
        return false;
    *place = cut(axis, size);
    if (*place + size > axis->end)
        axis->end = *place + size;
    return true;
}

void vs_axis_give(struct vs_axis *axis, uint64_t place, uint64_t size)
{
    uint32_t before = 0, after = 0;
    size = rounded(size);
    for (uint32_t at = axis->root; at;) {
        const struct vs_axis_gap *g = &axis->gaps[at];
        if (g->start < place) {
            before = at;
            at = g->right;
        } else {
            after = at;
            at = g->left;
        }
    }
    bool joins_after = after && axis->gaps[after].start == place + size;
    if (joins_after)
        size += axis->gaps[after].size;
    if (before && axis->gaps[before].start + axis->gaps[before].size == place) {
        if (joins_after)
            drop_gap_at(axis, &axis->root, axis->gaps[after].start);
        place = axis->gaps[before].start;
        size += axis->gaps[before].size;
    } else if (joins_after) {
        before = after;
    } else {
        add_gap(axis, place, size);
        return;
    }
    /* The gap *before* grows, and keeps its rank. */
    axis->gaps[before].start = place;
    axis->gaps[before].size = size;
    for (uint32_t at = axis->root; at;) {
        struct vs_axis_gap *g = &axis->gaps[at];
        if (g->largest < size)
            g->largest = size;
        at = at == before ? 0 : place < g->start ? g->left : g->right;
    }
}

void vs_axis_free(struct vs_axis *axis)
{
    free(axis->gaps);
    *axis = (struct vs_axis){0};
}
