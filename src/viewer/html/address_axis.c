/* SPDX-License-Identifier: Apache-2.0
 *
 * A bound that a change made too high is lowered when a search finds nothing below it, so that a
 * search takes about as long as the changes since the one before. Priorities are a hash of where
 * a gap is in memory, which nobody who makes a trace knows: no order of changes makes the tree deep.
 * The places do not depend on it. */
#include "base/reading/vs_xalloc.h"
#include "base/vs_treap.h"
#include "viewer/html/page_rows.h"

#define GRANULE 512
#define AXIS_END (UINT64_C(1) << 62)

static struct vs_axis_gap *gap_node(struct vs_axis_gap *gap) { return gap; }
static struct vs_axis_gap *gap_link(struct vs_axis_gap *gap) { return gap; }
static struct vs_axis_gap **gap_left(struct vs_axis_gap *gap) { return &gap->left; }
static struct vs_axis_gap **gap_right(struct vs_axis_gap *gap) { return &gap->right; }
static bool gap_before(const struct vs_axis_gap *gap, uint64_t at) { return gap->start < at; }
static uint64_t gap_address(const struct vs_axis_gap *gap)
{
    uint64_t word = (uintptr_t)gap * UINT64_C(0xbf58476d1ce4e5b9); /* the tree's own hash keeps the order of steps */
    return word ^ word >> 32;
}
VS_TREAP(gap, struct vs_axis_gap, struct vs_axis_gap *, uint64_t)

/* Something on the way to *start* has become larger, or has other gaps below it. */
static void raise_bounds(struct vs_axis *axis, uint64_t start)
{
    for (struct vs_axis_gap *gap = axis->root; gap; gap = gap->start < start ? gap->right : gap->left)
        gap->largest = AXIS_END;
}

static void add_gap(struct vs_axis *axis, uint64_t start, uint64_t size)
{
    struct vs_axis_gap *gap = axis->unused;
    if (gap)
        axis->unused = gap->left;
    else
        gap = vs_xarena(&axis->memory, sizeof *gap);
    *gap = (struct vs_axis_gap){.start = start, .size = size};
    gap_insert(&axis->root, gap, start);
    raise_bounds(axis, start);
}

static void drop_gap(struct vs_axis *axis, struct vs_axis_gap *gap)
{
    gap_remove(&axis->root, gap, gap->start);
    raise_bounds(axis, gap->start);
    gap->left = axis->unused;
    axis->unused = gap;
}

/* The lowest gap of at least *size*. */
static struct vs_axis_gap *find_gap(struct vs_axis_gap *tree, uint64_t size)
{
    if (!tree || tree->largest < size)
        return NULL;
    struct vs_axis_gap *found = find_gap(tree->left, size);
    if (!found)
        found = tree->size >= size ? tree : find_gap(tree->right, size);
    if (found)
        return found;
    tree->largest = tree->size;
    for (int right = 0; right < 2; right++) {
        const struct vs_axis_gap *child = right ? tree->right : tree->left;
        if (child && child->largest > tree->largest)
            tree->largest = child->largest;
    }
    return NULL;
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
    if (!axis->root && !axis->unused)
        add_gap(axis, 0, AXIS_END);
    struct vs_axis_gap *gap = find_gap(axis->root, size);
    if (!gap)
        return false;
    *place = gap->start;
    gap->start += size; /* the order of the gaps stays */
    gap->size -= size;
    if (!gap->size)
        drop_gap(axis, gap);
    if (*place + size > axis->end)
        axis->end = *place + size;
    return true;
}

void vs_axis_give(struct vs_axis *axis, uint64_t place, uint64_t size)
{
    struct vs_axis_gap *before = gap_last_before(axis->root, place);
    struct vs_axis_gap *after = gap_first_from(axis->root, place);
    size = rounded(size);
    if (after && after->start == place + size) {
        size += after->size;
        drop_gap(axis, after);
    }
    if (!before || before->start + before->size != place) {
        add_gap(axis, place, size);
        return;
    }
    before->size += size;
    raise_bounds(axis, before->start);
}

void vs_axis_free(struct vs_axis *axis)
{
    vs_arena_free_all(&axis->memory);
    *axis = (struct vs_axis){0};
}
